# SPDX-License-Identifier: Apache-2.0
"""Ends of the seven-link biped's phases in closed form (specification 003 sections 2.14 and 2.15; Annex A)."""

from __future__ import annotations

import cmath
import math

import numpy as np

from humanoid_studies.planar_gait.mechanism.two_link_leg import leg_angles, leg_rates
from humanoid_studies.planar_gait.models.bip import Bip
from humanoid_studies.planar_gait.specification.boundary_state import BoundaryState
from humanoid_studies.planar_gait.specification.step_data import RestData, StepData


def double_support_start(bip: Bip, step: StepData) -> BoundaryState:
    """Return the front heel touches without impact, the sole at delta; the rear foot is flat and still (Annex A a, b).

    The front foot doesn't turn on its shank (A.11), which is what fixes its rate. A sole that comes down level, which
    the thesis doesn't have, stands still at once: its toe would strike the ground otherwise.

    Raises:
        InputError: a leg can't reach, or would be straight.
    """
    foot = bip.foot
    r = [bip.segments[name].length for name in ("rear_shank", "rear_thigh", "front_thigh", "front_shank")]
    hip, speed = step.initial_hip, step.initial_hip_velocity
    q1 = math.pi - foot.toe_angle
    q2, q3 = leg_angles(hip - cmath.rect(foot.ankle_toe, q1), r[0], r[1], 1, "rear leg at the start")
    v2, v3 = leg_rates(q2, q3, r[0], r[1], speed)
    q6 = foot.heel_angle + step.initial_sole_angle - math.pi
    heel = step.foothold - foot.length
    ankle = heel - cmath.rect(foot.ankle_heel, q6)
    q4, q5 = leg_angles(ankle - hip, r[2], r[3], -1, "front leg at the start")
    if step.initial_sole_angle == 0.0:
        v4, v5 = leg_rates(q4, q5, r[2], r[3], -speed)
        return BoundaryState(
            np.array([q1, q2, q3, q4, q5, q6, step.initial_trunk_angle]), np.array([0.0, v2, v3, v4, v5, 0.0, 0.0])
        )
    # Shank and foot turn as one link from the knee to the heel: (A.12), (A.13).
    lower = cmath.rect(r[3], q5) + cmath.rect(foot.ankle_heel, q6)
    v4, v5 = leg_rates(q4, cmath.phase(lower), r[2], abs(lower), -speed)
    q = np.array([q1, q2, q3, q4, q5, q6, step.initial_trunk_angle])
    return BoundaryState(q, np.array([0.0, v2, v3, v4, v5, v5, 0.0]))


def double_support_end(bip: Bip, step: StepData) -> BoundaryState:
    """Return the front foot is flat and still, the rear one pivots on its toe (Annex A c, d; v_4^f restored, ER-09).

    Raises:
        InputError: a leg can't reach, or would be straight.
    """
    foot = bip.foot
    r = [bip.segments[name].length for name in ("rear_shank", "rear_thigh", "front_thigh", "front_shank")]
    hip, speed = step.final_hip, step.final_hip_velocity
    q1, v1 = math.pi - foot.toe_angle + step.final_rear_foot_angle, step.final_rear_foot_rate
    ankle = cmath.rect(foot.ankle_toe, q1)
    q2, q3 = leg_angles(hip - ankle, r[0], r[1], 1, "rear leg at the end")
    v2, v3 = leg_rates(q2, q3, r[0], r[1], speed - 1j * v1 * ankle)
    q6 = foot.heel_angle - math.pi
    front_ankle = step.foothold - foot.length - cmath.rect(foot.ankle_heel, q6)
    q4, q5 = leg_angles(front_ankle - hip, r[2], r[3], -1, "front leg at the end")
    v4, v5 = leg_rates(q4, q5, r[2], r[3], -speed)
    q = np.array([q1, q2, q3, q4, q5, q6, step.final_trunk_angle])
    return BoundaryState(q, np.array([v1, v2, v3, v4, v5, 0.0, 0.0]))


def single_from_double(state: BoundaryState) -> BoundaryState:
    """Return end of double support as beginning of single support (Fig. III-25a): the front leg becomes the stance leg.

    The rear foot's axis, from toe to ankle, becomes the swing foot's, from ankle to toe.
    """
    order = [4, 3, 2, 1, 0, 6]
    shift = np.array([math.pi, math.pi, -math.pi, -math.pi, -math.pi, 0.0])
    return BoundaryState(state.q[order] + shift, state.v[order])


def single_from_touch_down(bip: Bip, state: BoundaryState) -> BoundaryState:
    """Return the beginning of double support as end of the single support before it (Fig. III-25b).

    The foot's axis turns from the heel to the toe: q_5^S = q_6^D + alpha_p.
    """
    q = state.q[1:].copy()
    q[4] += bip.foot.ankle_angle
    return BoundaryState(q, state.v[1:].copy())


def double_from_single(bip: Bip, state: BoundaryState) -> BoundaryState:
    """Return end of single support as beginning of double support: the inverse of :func:`single_from_touch_down`."""
    q = np.concatenate([[math.pi - bip.foot.toe_angle], state.q])
    q[5] -= bip.foot.ankle_angle
    return BoundaryState(q, np.concatenate([[0.0], state.v]))


def rest(bip: Bip, data: RestData) -> BoundaryState:
    """Standing still, feet together and flat, as a state of single support (section 2.14.4).

    Raises:
        InputError: the legs don't reach the hip, or would be straight.
    """
    r1, r2 = bip.segments["rear_shank"].length, bip.segments["rear_thigh"].length
    hip = complex(data.hip_ahead, data.hip_height - bip.foot.ankle_height)
    q1, q2 = leg_angles(hip, r1, r2, 1, "legs at rest")
    q = np.array([q1, q2, q2 - math.pi, q1 - math.pi, -bip.foot.toe_angle, data.trunk_angle])
    return BoundaryState(q, np.zeros(6))
