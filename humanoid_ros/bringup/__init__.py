# SPDX-License-Identifier: Apache-2.0
"""Which nodes make the stack, and how they are started and stopped together."""
