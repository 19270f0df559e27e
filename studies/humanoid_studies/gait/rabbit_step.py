# SPDX-License-Identifier: Apache-2.0
"""RABBIT's step with the weights of the reference solutions (specification 003 sections 4.2 and 4.3)."""

from __future__ import annotations

import math
from functools import cache

from humanoid_studies.planar_gait.models.rabbit import load_rabbit
from humanoid_studies.planar_gait.optimal_control.effort import QuadraticEffort
from humanoid_studies.planar_gait.optimal_control.penalties import Penalties
from humanoid_studies.planar_gait.solvers.synthesize_gait import (
    GaitSettings,
    GaitSolution,
    PhaseSettings,
    synthesize_gait,
)
from humanoid_studies.planar_gait.specification.phase_spec import cyclic_walk
from humanoid_studies.planar_gait.specification.step_data import load_walk
from humanoid_studies.planar_gait.specification.walker import RabbitWalker

WEIGHT = 392.4
"""Of RABBIT [N]."""


@cache
def step(
    ankle_torque: bool = True, force_weight: float = 0.1, friction: float = math.inf, clearance: bool = False
) -> GaitSolution:
    """Double and single support of the published step.

    Args:
        ankle_torque: whether the ground turns the stance shank (ER-19).
        force_weight: mu_f in double support.
        friction: that the maximising control keeps the front tip to.
        clearance: whether the swinging tip is kept above the ground.
    """
    effort = QuadraticEffort(force_weight=force_weight, force_scale=1e-2)
    settings = GaitSettings(
        PhaseSettings(effort), PhaseSettings(effort, Penalties() if clearance else Penalties(inequality=0.0))
    )
    walker = RabbitWalker(load_rabbit(), ankle_torque, friction)
    return synthesize_gait(walker, cyclic_walk(load_walk("rabbit")), settings)
