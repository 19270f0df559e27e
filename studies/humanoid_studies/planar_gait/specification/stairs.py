# SPDX-License-Identifier: Apache-2.0
"""The ground that a swinging foot has to stay above where the feet stand on different heights."""

from __future__ import annotations

import dataclasses

from humanoid_studies.planar_gait.optimal_control.penalties import Obstacle, Penalties
from humanoid_studies.planar_gait.specification.step_data import StepData

_FAR = 100.0
"""Length of a stair without end [m]."""


def over_stairs(penalties: Penalties, previous: StepData, following: StepData, foot_length: float) -> Penalties:
    """Return penalties of a single support with the stairs that its foot leaves, passes and reaches.

    An edge is where it leaves the feet most room: going up at the heel of the foot above it, going down at the toe of
    the foot above it.

    Args:
        penalties: on level ground.
        previous: double support before, from which the swinging foot leaves.
        following: double support after, in which it stands on the next stair.
        foot_length: heel to toe; 0 of a robot without feet [m].

    Returns:
        The penalties with bumps for the stairs; the same on level ground.
    """
    below = 0.0
    obstacles = list(penalties.obstacles)
    if previous.step_height > 0.0:
        obstacles.append(_ahead(-foot_length, previous.step_height))
        below += previous.step_height
    elif previous.step_height < 0.0:
        obstacles.append(_behind(-previous.step_length, -previous.step_height))
    if following.step_height > 0.0:
        obstacles.append(_ahead(following.step_length - foot_length, following.step_height))
    elif following.step_height < 0.0:
        obstacles.append(_behind(0.0, -following.step_height))
        below -= following.step_height
    return dataclasses.replace(penalties, clearance=penalties.clearance - below, obstacles=tuple(obstacles))


def _ahead(edge: float, height: float) -> Obstacle:
    return Obstacle(edge + 0.5 * _FAR, _FAR, height)


def _behind(edge: float, height: float) -> Obstacle:
    return Obstacle(edge - 0.5 * _FAR, _FAR, height)
