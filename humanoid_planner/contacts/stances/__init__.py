# SPDX-License-Identifier: Apache-2.0
"""Stances as the planner sees them: couples, roles, order and equality, candidates of new contacts."""
