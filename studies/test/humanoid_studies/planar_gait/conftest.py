# SPDX-License-Identifier: Apache-2.0
"""Gaits that tests share: RABBIT's cyclic walk, BIP's cyclic step, and one that was stopped."""

import pytest
from fixtures.gait_models import BIP, CYCLIC, RABBIT, RABBIT_WALK

from humanoid_studies.planar_gait.optimal_control.effort import QuadraticEffort
from humanoid_studies.planar_gait.optimal_control.penalties import Penalties
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSettings, PhaseSettings, synthesize_gait
from humanoid_studies.planar_gait.specification.phase_spec import cyclic_walk
from humanoid_studies.planar_gait.specification.walker import BipWalker, RabbitWalker

_EFFORT = QuadraticEffort(force_weight=0.1, force_scale=1e-2)
_SETTINGS = GaitSettings(PhaseSettings(_EFFORT), PhaseSettings(_EFFORT, Penalties(inequality=0.0)))


@pytest.fixture(scope="session")
def rabbit_gait():
    """Two cycles, the stance tip driven."""
    return synthesize_gait(RabbitWalker(RABBIT, ankle_torque=True), cyclic_walk(RABBIT_WALK, 2), _SETTINGS)


@pytest.fixture(scope="session")
def bip_gait():
    """Two cycles; nothing holds the stance foot down."""
    return synthesize_gait(BipWalker(BIP, min_toe_force=6.0), cyclic_walk(CYCLIC, 2))


@pytest.fixture(scope="session")
def stopped_gait():
    """Stopped at once."""
    return synthesize_gait(
        RabbitWalker(RABBIT, ankle_torque=True), cyclic_walk(RABBIT_WALK), _SETTINGS, progress=lambda _: True
    )
