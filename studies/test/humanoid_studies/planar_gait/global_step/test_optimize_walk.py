# SPDX-License-Identifier: Apache-2.0
"""Walks between rests, all of whose transitions are free."""

import numpy as np
import pytest
from fixtures.gait_models import BIP, BRAKING, CYCLIC, RABBIT

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.global_step.global_settings import GlobalSettings
from humanoid_studies.planar_gait.global_step.optimize_step import optimize_walk
from humanoid_studies.planar_gait.global_step.step_guess import scaled_walk
from humanoid_studies.planar_gait.specification.phase_spec import PhaseKind, PhaseSpec, cyclic_walk, walk_between_rests
from humanoid_studies.planar_gait.specification.step_data import RestData
from humanoid_studies.planar_gait.specification.walker import BipWalker, RabbitWalker

COARSE = GlobalSettings(double_intervals=8, single_intervals=14)


@pytest.mark.slow
def test_bip_starts_walks_and_stops():
    walker = BipWalker(BIP)
    found = optimize_walk(walker, walk_between_rests(CYCLIC, BRAKING), settings=COARSE, prove=False)
    assert found.converged, found.message
    kinds = [phase.spec.kind for phase in found.gait.plan.phases]
    assert kinds[0] is PhaseKind.START
    assert kinds[-1] is PhaseKind.STOP
    assert len(kinds) == 7  # each double support in two parts
    first, last = found.gait.phases[0], found.gait.phases[-1]
    for solution, place, data in ((first, 0, CYCLIC.rest), (last, -1, BRAKING.rest)):
        rest = walker.rest(data)
        np.testing.assert_allclose(solution.q[place], rest.q, atol=1e-7)
        np.testing.assert_allclose(solution.v[place], 0.0, atol=1e-7)
    assert all(jump.within(1e-4) for jump in found.gait.jumps())
    assert found.gait.plan.distance == pytest.approx(found.distance, abs=1e-4)
    assert not any(solution.violations for solution in found.gait.phases)


@pytest.mark.slow
def test_speed_and_step_length_may_be_asked():
    walker = RabbitWalker(RABBIT, ankle_torque=True)
    walk = scaled_walk(walker, 0.6, 0.35)
    rest = RestData(hip_height=0.75)
    specs = (
        PhaseSpec(PhaseKind.START, 0.6, next_step=walk.step, rest=rest),
        PhaseSpec(PhaseKind.DOUBLE_SUPPORT, 0.1, step=walk.step),
        PhaseSpec(PhaseKind.STOP, 0.6, step=walk.step, rest=rest),
    )
    found = optimize_walk(walker, specs, speed=0.3, step_length=0.35, settings=COARSE, prove=False)
    assert found.converged, found.message
    assert found.speed == pytest.approx(0.3, rel=1e-6)
    assert found.step_length == pytest.approx(0.35)


@pytest.mark.parametrize("wrong", ["cyclic", "no stop", "empty", "two doubles"])
def test_what_is_no_walk_between_rests_is_refused(wrong):
    whole = walk_between_rests(CYCLIC, BRAKING)
    specs = {
        "cyclic": cyclic_walk(CYCLIC),
        "no stop": whole[:-1],
        "empty": (),
        "two doubles": (whole[0], whole[1], whole[1], whole[-1]),
    }[wrong]
    with pytest.raises(InputError, match="take turns"):
        optimize_walk(BipWalker(BIP), specs)


def test_stairs_beside_a_rest_are_refused():
    step = CYCLIC.step.replace(step_height=0.08, final_hip=0.2 + 0.87j, initial_hip=0.07 + 0.84j)
    specs = (
        PhaseSpec(PhaseKind.START, 0.5, next_step=step, rest=CYCLIC.rest),
        PhaseSpec(PhaseKind.DOUBLE_SUPPORT, 0.2, step=step),
        PhaseSpec(PhaseKind.STOP, 0.5, step=step, rest=BRAKING.rest),
    )
    with pytest.raises(InputError, match="next to a rest"):
        optimize_walk(BipWalker(BIP), specs, step_length=0.5)
