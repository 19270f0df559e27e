# SPDX-License-Identifier: Apache-2.0
"""Distances of a robot to itself and to its surroundings as tasks."""
