# SPDX-License-Identifier: Apache-2.0
"""Boundary states of phases from minimal data of a step, and the maps between phases."""
