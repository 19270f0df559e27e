# SPDX-License-Identifier: Apache-2.0
"""Phases from their data: ends, sequences, and what is refused."""

import math
import re

import numpy as np
import pytest
from fixtures.gait_models import BIP, BRAKING, CYCLIC, FROM_UPRIGHT, MODELS, RABBIT, RABBIT_WALK
from fixtures.gait_oracles import ORACLES

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.specification.phase_spec import (
    PhaseKind,
    PhaseSpec,
    cyclic_walk,
    plan_phase,
    walk_between_rests,
    walk_through,
)
from humanoid_studies.planar_gait.specification.step_data import RestData, load_walk
from humanoid_studies.planar_gait.specification.walker import BipWalker, RabbitWalker

WALKER = BipWalker(BIP)
STEP = CYCLIC.step


@pytest.mark.feature("003-F043")
def test_the_five_phases_are_those_of_the_reference_solutions():  # F-043, F-056 to F-059
    specs = walk_between_rests(FROM_UPRIGHT, BRAKING)
    assert [spec.kind.label for spec in specs] == [
        "start",
        "double_support",
        "single_support",
        "double_support",
        "stop",
    ]
    assert [spec.duration for spec in specs] == [0.45, 0.17, 0.5, 0.186, 0.5]
    cases = ["bip_ssp_start", "bip_dsp_cyclic", "bip_ssp_cyclic", "bip_dsp_brake", "bip_ssp_stop"]
    for spec, case in zip(specs, cases, strict=True):
        phase = plan_phase(WALKER, spec)
        assert spec.duration == ORACLES[case]["T"]
        np.testing.assert_allclose(phase.start.phase_variables(MODELS[case]), ORACLES[case]["x0"], atol=1e-12)
        np.testing.assert_allclose(phase.end.phase_variables(phase.model), ORACLES[case]["x1"], atol=1e-12)


def test_rabbits_phases():
    double, single = (plan_phase(RabbitWalker(RABBIT, ankle_torque=True), spec) for spec in cyclic_walk(RABBIT_WALK))
    assert double.double
    assert double.advance == 0.45 + 0j
    assert not single.double
    assert single.advance == 0j
    assert single.model.torque_count == 5
    np.testing.assert_allclose(
        single.start.phase_variables(single.model), ORACLES["rabbit_ssp_5torques"]["x0"], atol=1e-12
    )
    assert len(cyclic_walk(RABBIT_WALK, 4)) == 8


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        (PhaseKind.DOUBLE_SUPPORT, {}, "step: is empty, but a phase of kind DOUBLE_SUPPORT needs it. Give step length"),
        (PhaseKind.SINGLE_SUPPORT, {"next_step": STEP}, "step: is empty, but a phase of kind SINGLE_SUPPORT needs it"),
        (PhaseKind.START, {"next_step": STEP}, "rest: is empty, but a phase of kind START needs it. Give how it rests"),
        (PhaseKind.STOP, {"rest": RestData()}, "step: is empty, but a phase of kind STOP needs it"),
    ],
)
def test_data_that_are_missing(kind, data, message):
    with pytest.raises(InputError, match=re.escape(message)):
        plan_phase(WALKER, PhaseSpec(kind, 0.2, **data))


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        (PhaseKind.DOUBLE_SUPPORT, {"rest": RestData()}, "rest: is given, but a phase of kind DOUBLE_SUPPORT has none"),
        (PhaseKind.START, {"step": STEP}, "step: is given, but a phase of kind START has none. Leave it empty"),
        (PhaseKind.BRAKE, {"step": STEP}, "step.final_hip_velocity: is 0.75 m/s, not below 0.75 m/s before"),
        (PhaseKind.STOP, {"final_state": (0.0, math.nan)}, "final_state: is [0.0, nan]. Give finite numbers"),
        ("stop", {}, "kind: is 'stop'. Use one of PhaseKind.DOUBLE_SUPPORT, PhaseKind.SINGLE_SUPPORT"),
    ],
)
def test_data_of_another_kind(kind, data, message):
    with pytest.raises(InputError, match=re.escape(message)):
        PhaseSpec(kind, 0.2, **data)


@pytest.mark.parametrize("duration", [-0.1, math.nan, math.inf])
def test_no_duration(duration):
    with pytest.raises(InputError, match="duration: is"):
        PhaseSpec(PhaseKind.DOUBLE_SUPPORT, duration, step=STEP)


def test_unreachable_hip_is_told_by_the_leg():
    spec = PhaseSpec(PhaseKind.DOUBLE_SUPPORT, 0.17, step=STEP.replace(final_hip=0.2 + 0.95j))
    with pytest.raises(InputError, match="rear leg at the end: has to span"):
        plan_phase(WALKER, spec)
    with pytest.raises(InputError, match="cycles: is 0"):
        cyclic_walk(CYCLIC, 0)


def test_a_walk_through_any_steps_starts_joins_and_stops():
    first, last = load_walk("bip2000_first"), load_walk("bip2000_last")
    specs = walk_through((first, last), first.rest, last.rest, 0.7, 0.8)
    assert [spec.kind for spec in specs] == [
        PhaseKind.START,
        PhaseKind.DOUBLE_SUPPORT,
        PhaseKind.SINGLE_SUPPORT,
        PhaseKind.DOUBLE_SUPPORT,
        PhaseKind.STOP,
    ]
    assert [spec.duration for spec in specs] == [0.7, 0.2, 0.55, 0.2, 0.8]
    assert specs[0].next_step is first.step
    assert (specs[2].step, specs[2].next_step) == (first.step, last.step)
    assert (specs[-1].step, specs[-1].rest) == (last.step, last.rest)
    with pytest.raises(InputError, match="no step"):
        walk_through((), first.rest, last.rest)
