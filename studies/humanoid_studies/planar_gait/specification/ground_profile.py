# SPDX-License-Identifier: Apache-2.0
"""The ground that a gait walks on: level, or the stairs that its footholds lie on."""

from __future__ import annotations

import itertools

import numpy as np

from humanoid_model.ground_profile import GroundProfile
from humanoid_studies.planar_gait.specification.gait_plan import GaitPlan

_SAME = 1e-9


def ground_profile(plan: GaitPlan) -> GroundProfile:
    """Ground under the footholds of a gait.

    An edge lies where it leaves the feet most room: going up at the heel of the foot above it, going down at the toe of
    the foot above it, as the phases themselves have it (:mod:`humanoid_studies.planar_gait.specification.stairs`).
    """
    toes: list[complex] = []
    for phase, offset in zip(plan.phases, plan.offsets, strict=True):
        here, spec = complex(*offset), phase.spec
        toes.append(here)
        if spec.before is not None:
            toes.append(here - spec.before.foothold)
        for step in (spec.own, spec.next_step):
            if step is not None:
                toes.append(here + step.foothold)
    toes.sort(key=lambda toe: toe.real)
    edges, heights = [], [toes[0].imag]
    for behind, ahead in itertools.pairwise(toes):
        if abs(ahead.imag - behind.imag) < _SAME:
            continue
        edges.append(ahead.real - plan.walker.foot_length if ahead.imag > behind.imag else behind.real)
        heights.append(ahead.imag)
    return GroundProfile(np.array(edges, dtype=float), np.array(heights))
