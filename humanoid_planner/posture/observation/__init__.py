# SPDX-License-Identifier: Apache-2.0
"""Postures from which a robot sees what it should."""

from humanoid_planner.posture.observation.next_best_view import next_best_view

__all__ = ["next_best_view"]
