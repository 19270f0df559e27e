# SPDX-License-Identifier: Apache-2.0
"""Nonlinear programs and the solvers for them."""
