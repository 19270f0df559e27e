# SPDX-License-Identifier: Apache-2.0
"""Postures in time: trajectories, and following a moving target."""
