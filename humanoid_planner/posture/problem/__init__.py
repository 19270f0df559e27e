# SPDX-License-Identifier: Apache-2.0
"""Posture problems: state, forces, criteria, the nonlinear program, and what came of it."""
