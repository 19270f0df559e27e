# SPDX-License-Identifier: Apache-2.0
"""Frictional contact problems and their solvers."""
