# SPDX-License-Identifier: Apache-2.0
"""Ends of the five-link biped's phases in closed form (specification 003 sections 2.14.1, 2.14.4 and 2.15)."""

from __future__ import annotations

import math

import numpy as np

from humanoid_studies.planar_gait.mechanism.two_link_leg import leg_angles, leg_rates
from humanoid_studies.planar_gait.models.rabbit import Rabbit
from humanoid_studies.planar_gait.specification.boundary_state import BoundaryState
from humanoid_studies.planar_gait.specification.step_data import RestData, StepData


def double_support_start(rabbit: Rabbit, step: StepData) -> BoundaryState:
    """State in which the front foot touches, without impact.

    Raises:
        InputError: a leg can't reach, or would be straight.
    """
    return _closed(rabbit, step, step.initial_hip, step.initial_hip_velocity, step.initial_trunk_angle, "at the start")


def double_support_end(rabbit: Rabbit, step: StepData) -> BoundaryState:
    """State in which the rear foot leaves.

    Raises:
        InputError: a leg can't reach, or would be straight.
    """
    return _closed(rabbit, step, step.final_hip, step.final_hip_velocity, step.final_trunk_angle, "at the end")


def single_from_double(state: BoundaryState) -> BoundaryState:
    """Return end of double support as start of single support: the front leg becomes the stance leg (section 2.15)."""
    order, shift = [3, 2, 1, 0, 4], np.array([math.pi, math.pi, -math.pi, -math.pi, 0.0])
    return BoundaryState(state.q[order] + shift, state.v[order])


def single_from_touch_down(state: BoundaryState) -> BoundaryState:
    """Return the beginning of double support as end of the single support before it: the same angles."""
    return BoundaryState(state.q.copy(), state.v.copy())


def rest(rabbit: Rabbit, data: RestData) -> BoundaryState:
    """Standing still with both tips together, as a state of single support.

    Raises:
        InputError: the legs don't reach the hip, or would be straight.
    """
    r1, r2, _, _ = rabbit.lengths
    q1, q2 = leg_angles(complex(data.hip_ahead, data.hip_height), r1, r2, 1, "legs at rest")
    return BoundaryState(np.array([q1, q2, q2 - math.pi, q1 - math.pi, data.trunk_angle]), np.zeros(5))


def _closed(rabbit: Rabbit, step: StepData, hip: complex, speed: complex, trunk: float, when: str) -> BoundaryState:
    """Both feet on the ground, knees bent forward, the hip moving."""
    r1, r2, r3, r4 = rabbit.lengths
    q1, q2 = leg_angles(hip, r1, r2, 1, f"rear leg {when}")
    q3, q4 = leg_angles(step.foothold - hip, r3, r4, -1, f"front leg {when}")
    v1, v2 = leg_rates(q1, q2, r1, r2, speed)
    v3, v4 = leg_rates(q3, q4, r3, r4, -speed)
    return BoundaryState(np.array([q1, q2, q3, q4, trunk]), np.array([v1, v2, v3, v4, 0.0]))
