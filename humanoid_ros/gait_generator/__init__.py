# SPDX-License-Identifier: Apache-2.0
"""The gait generator node: optimal gaits, shown and played."""
