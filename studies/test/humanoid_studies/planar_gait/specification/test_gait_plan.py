# SPDX-License-Identifier: Apache-2.0
"""Phases in a row: continuity in the world (U-14), periodicity, sums, and the arithmetic oracles of section 4.5."""

import functools
import re

import numpy as np
import pytest
from fixtures.gait_models import BIP, BRAKING, CYCLIC, FROM_UPRIGHT, RABBIT, RABBIT_WALK
from fixtures.gait_oracles import ORACLES

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.specification.boundary_state import BoundaryState
from humanoid_studies.planar_gait.specification.gait_plan import GaitPlan, GaitTotals, plan_gait
from humanoid_studies.planar_gait.specification.phase_spec import (
    PhaseKind,
    PhaseSpec,
    cyclic_walk,
    plan_phase,
    walk_between_rests,
)
from humanoid_studies.planar_gait.specification.step_data import RestData, WalkData
from humanoid_studies.planar_gait.specification.walker import BipWalker, RabbitWalker

WALKER = BipWalker(BIP)


@functools.cache
def five() -> GaitPlan:
    """The five phases of the thesis."""
    return plan_gait(WALKER, walk_between_rests(FROM_UPRIGHT, BRAKING))


def rabbits() -> GaitPlan:
    """Two cycles."""
    return plan_gait(RabbitWalker(RABBIT), cyclic_walk(RABBIT_WALK, 2))


@pytest.mark.feature("003-F052", "003-F053", "003-F054")
@pytest.mark.parametrize("plan", [five, rabbits])
def test_nothing_jumps(plan):  # U-14, F-052 to F-054
    for jump in plan().jumps():
        assert jump.place < 1e-12
        assert jump.velocity < 1e-12
        assert jump.rate < 1e-12


def test_a_jump_is_seen():
    state = five().phases[1].end
    moved = BoundaryState(state.q + 1e-3 * np.eye(7)[2], state.v)  # the rear thigh, which only knee and ankle feel
    assert five().jump(1, before=moved).place == pytest.approx(0.41e-3, rel=0.1)
    faster = BoundaryState(state.q, state.v + 0.1 * np.eye(7)[6])
    jump = five().jump(1, before=faster)
    assert jump.rate == pytest.approx(0.1)
    assert jump.place < 1e-12
    assert not jump.within()


@pytest.mark.feature("003-F055")
def test_cyclic_walk_advances_by_the_step_length():  # F-055
    plan = plan_gait(WALKER, cyclic_walk(CYCLIC, 5), offset=2.0)
    np.testing.assert_allclose(plan.offsets[:, 0], 2.0 + 0.5 * np.array([0, 1, 1, 2, 2, 3, 3, 4, 4, 5]), atol=1e-15)
    np.testing.assert_allclose(plan.next_offset, [4.5, 0.0])
    assert not plan.offsets[:, 1].any()
    assert plan.distance == pytest.approx(5 * 0.5, abs=1e-12)
    last, first = plan.phases[-1], plan.phases[0]
    # The end of the last swing is the beginning of the first double support, 2.5 m on.
    np.testing.assert_allclose(
        plan.place(9, "hip", last.end.q) - plan.place(0, "hip", first.start.q), [2.5, 0.0], atol=1e-12
    )
    np.testing.assert_allclose(WALKER.single_from_touch_down(first.start).q, last.end.q, atol=1e-15)


@pytest.mark.feature("003-F059")
def test_five_phases():
    assert five().duration == pytest.approx(1.806, abs=1e-12)  # B6
    np.testing.assert_allclose(five().starts, [0.0, 0.45, 0.62, 1.12, 1.306], atol=1e-12)
    np.testing.assert_allclose(five().offsets[:, 0], [0.0, 0.0, 0.5, 0.5, 1.0])
    assert five().distance == pytest.approx(1.0, abs=1e-12)  # from rest to rest, two steps


@pytest.mark.parametrize("height", [0.08, -0.06])
def test_stairs(height):
    """Steps up or down: nothing jumps, every sole comes down on its stair, the hip rises with them."""
    level = CYCLIC.step
    step = level.replace(
        step_height=height,
        step_length=0.4,
        initial_hip=level.initial_hip - 0.03 + (-0.06j if height > 0 else height * 1j - 0.02j),
        final_hip=level.final_hip + (0.3j * height if height > 0 else -0.02j),
    )
    walk = WalkData(step, 0.2, 0.6)
    plan = plan_gait(WALKER, cyclic_walk(walk, 3))
    assert all(jump.within(1e-12) for jump in plan.jumps())
    np.testing.assert_allclose(plan.offsets[::2], [[0.4 * i, height * i] for i in range(3)], atol=1e-15)
    np.testing.assert_allclose(plan.next_offset, [1.2, 3 * height], atol=1e-15)
    for index in (0, 2, 4):
        phase = plan.phases[index]
        stair = height * (index // 2 + 1)
        assert plan.place(index, "front_heel", phase.start.q)[1] == pytest.approx(stair, abs=1e-12)
        for point in ("front_heel", "front_toe"):
            assert plan.place(index, point, phase.end.q)[1] == pytest.approx(stair, abs=1e-12)
        swing = plan.phases[index + 1]
        assert plan.place(index + 1, "swing_toe", swing.start.q)[1] == pytest.approx(stair - height, abs=1e-12)
    rabbit_step = RABBIT_WALK.step.replace(
        step_height=0.05, step_length=0.4, initial_hip=0.12 + 0.7j, final_hip=0.22 + 0.73j
    )
    rabbit = plan_gait(RabbitWalker(RABBIT), cyclic_walk(WalkData(rabbit_step, 0.1, 0.4), 2))
    assert all(jump.within(1e-12) for jump in rabbit.jumps())
    np.testing.assert_allclose(rabbit.next_offset, [0.8, 0.1], atol=1e-15)


def test_ends_are_held_against_ranges_and_rates():
    assert [phase.limit_violations() for phase in five().phases] == [()] * 5
    knees = CYCLIC.step.replace(final_rear_foot_rate=-9.0, final_hip=0.2 + 0.38j)
    (phase, _) = (plan_phase(WALKER, spec) for spec in cyclic_walk(WalkData(knees, 0.2, 0.5)))
    messages = phase.limit_violations()
    assert any("front_knee is at" in message and "its range is 0 to 2.2" in message for message in messages)
    assert any("rear_ankle turns at" in message and "its limit is 6" in message for message in messages)


@pytest.mark.feature("003-F062", "003-F105")
def test_arithmetic_of_the_thesis():  # section 4.5
    totals = five().totals([81.9, 96.3, 109.5, 112.1, 105.1])
    assert totals.energy == pytest.approx(504.9, abs=1e-9)
    cyclic = plan_gait(WALKER, cyclic_walk(CYCLIC)).totals([96.3, 109.5])
    assert cyclic.energy == pytest.approx(205.8, abs=1e-9)
    assert cyclic.mean_power == pytest.approx(307.2, abs=0.05)
    assert 3.6 * cyclic.mean_speed == pytest.approx(2.7, abs=0.05)
    rabbit = plan_gait(RabbitWalker(RABBIT), cyclic_walk(RABBIT_WALK)).totals([6.7, 18.2])
    assert rabbit.energy == pytest.approx(24.9)
    assert rabbit.mean_power == pytest.approx(47.0, abs=0.5)
    assert rabbit.mean_speed == pytest.approx(0.852, abs=5e-4)
    assert cyclic.cost_of_transport(104.81 * 9.81) == pytest.approx(205.8 / (104.81 * 9.81 * 0.5))


def test_sums_of_the_reference_solutions():
    cases = ["bip_ssp_start", "bip_dsp_cyclic", "bip_ssp_cyclic", "bip_dsp_brake", "bip_ssp_stop"]
    totals = five().totals([ORACLES[case]["E_abs"] for case in cases])
    assert totals.energy == pytest.approx(420.5, abs=0.05)
    assert totals.energy == pytest.approx(504.9, rel=0.35)  # T-oracle
    step = plan_gait(WALKER, cyclic_walk(CYCLIC)).totals([ORACLES[case]["E_abs"] for case in cases[1:3]])
    assert step.energy == pytest.approx(178.1, abs=0.05)
    assert step.mean_power == pytest.approx(266.0, abs=0.5)


def test_what_is_refused():
    cyclic = cyclic_walk(CYCLIC)
    with pytest.raises(InputError, match="no phase"):
        plan_gait(WALKER, ())
    with pytest.raises(InputError, match="double_support follows double_support"):
        plan_gait(WALKER, (cyclic[0], cyclic[0]))
    with pytest.raises(InputError, match="stop follows single_support"):
        plan_gait(WALKER, (cyclic[1], PhaseSpec(PhaseKind.STOP, 0.5, step=CYCLIC.step, rest=RestData())))
    other = PhaseSpec(PhaseKind.DOUBLE_SUPPORT, 0.2, step=CYCLIC.step.replace(initial_hip_velocity=0.7 - 0.2j))
    with pytest.raises(InputError, match=re.escape("from phase 1 to 2: jumps by")):
        plan_gait(WALKER, (cyclic[1], other))
    with pytest.raises(InputError, match="energies: are"):
        five().totals([1.0])
    with pytest.raises(InputError, match="energies: are"):
        five().totals([1.0, 1.0, 1.0, 1.0, float("nan")])
    with pytest.raises(InputError, match="cost of transport: weight 0"):
        GaitTotals(1.0, 1.0, 1.0).cost_of_transport(0.0)
