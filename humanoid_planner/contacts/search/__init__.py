# SPDX-License-Identifier: Apache-2.0
"""Best-first search over anything that has a potential and children."""
