# SPDX-License-Identifier: Apache-2.0
"""Whole-body control: inverse dynamics as a quadratic program over tasks and contact forces."""
