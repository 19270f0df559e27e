# SPDX-License-Identifier: Apache-2.0
"""Gaits from specifications: costs of the references, progress and cancel, and what is refused field by field."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from fixtures.gait_models import CYCLIC, RABBIT_WALK
from fixtures.gait_oracles import ORACLES

from humanoid_model.errors import InputError
from humanoid_model.progress import Progress
from humanoid_planner.gait import (
    GaitBounds,
    GaitDefaults,
    GaitResult,
    GaitSettings,
    GaitSolverOptions,
    GaitSpec,
    GaitStage,
    GaitWeights,
    GlobalSettings,
    PhaseKind,
    PhaseSpec,
    StageQuantity,
    cyclic_walk,
    generate_gait,
    load_gait_model,
    synthesize_gait,
)

STEP = cyclic_walk(RABBIT_WALK)
DIRECT = GaitSolverOptions(method="direct")  # takes the least time


@pytest.fixture(scope="module")
def told() -> list[Progress]:
    return []


@pytest.fixture(scope="module")
def rabbit(told: list[Progress]) -> GaitResult:
    return generate_gait(GaitSpec("rabbit", STEP, cycles=2, options=DIRECT), told.append)


def test_bips_single_support_costs_what_the_reference_does() -> None:
    result = generate_gait(GaitSpec(phases=cyclic_walk(CYCLIC)[1:]))
    assert result.success, result.message
    assert result.phases[0].cost == pytest.approx(ORACLES["bip_ssp_cyclic"]["J_pmp"], rel=1e-3)
    assert result.cost == result.phases[0].cost


def test_a_gait_has_its_sums_trajectory_and_figure(rabbit: GaitResult) -> None:
    assert rabbit.success, rabbit.message
    assert rabbit.kinds == (PhaseKind.DOUBLE_SUPPORT, PhaseKind.SINGLE_SUPPORT)
    assert rabbit.starts == (0.0, RABBIT_WALK.double_support)
    assert rabbit.speed == pytest.approx(RABBIT_WALK.mean_speed)
    assert rabbit.distance == pytest.approx(RABBIT_WALK.step.step_length)
    assert rabbit.trajectory is not None
    assert rabbit.trajectory.duration == pytest.approx(2.0 * rabbit.duration)
    assert rabbit.figure is not None
    assert rabbit.figure.times[-1] == pytest.approx(2.0 * rabbit.duration)


def test_progress_tells_phases_and_what_is_solved(rabbit: GaitResult, told: list[Progress]) -> None:
    assert {item.part for item in told} == {0, 1}
    solved = [item.result for item in told if item.result is not None]
    assert all(isinstance(item, GaitResult) for item in solved)
    assert [len(item.phases) for item in solved if isinstance(item, GaitResult)] == [1, 2]
    assert told[0].stage == "double support"


def test_a_cancelled_gait_ends_with_the_phase_under_way() -> None:
    result = generate_gait(GaitSpec("rabbit", STEP, options=DIRECT), lambda item: item.part == 1)
    assert not result.success
    assert result.message.startswith("phases[1]: not converged: stopped")
    assert len(result.phases) == 2
    assert result.trajectory is None


def test_settings_in_full_give_the_phases_of_synthesize_gait() -> None:
    """On an executor as well; the walker is left as it was made."""
    settings = GaitSettings(friction=0.5)
    model = load_gait_model("rabbit").with_contacts(0.5)
    expected = synthesize_gait(model.walking(), STEP, settings)
    with ThreadPoolExecutor(1) as executor:
        for taken in (None, executor):
            result = generate_gait(GaitSpec(model, STEP, settings=settings), executor=taken)
            for phase, other in zip(result.phases, expected.phases, strict=True):
                np.testing.assert_array_equal(phase.u, other.u)


def test_an_end_out_of_reach_is_a_result_with_its_reason() -> None:
    far = dataclasses.replace(STEP[0], step=RABBIT_WALK.step.replace(initial_hip=0.15 + 0.95j))
    result = generate_gait(GaitSpec("rabbit", (far,)))
    assert not result.success
    assert result.message.startswith("phases[0]: rear leg at the start: has to span")
    assert (result.phases, result.kinds) == ((), (PhaseKind.DOUBLE_SUPPORT,))


def test_defaults_stand_for_what_is_left_open() -> None:
    defaults = GaitDefaults(model="rabbit", friction=0.4, closure=2e4, time_limit=7.0)
    spec = GaitSpec(phases=STEP, weights=GaitWeights(range=0.5), defaults=defaults)
    assert (spec.name, spec.friction, spec.time_limit) == ("rabbit", 0.4, 7.0)
    assert (spec.penalties.closure, spec.penalties.range_weight) == (2e4, 0.5)
    half = dataclasses.replace(spec, options=GaitSolverOptions(stages=(GaitStage(StageQuantity.CLOSURE, (1e4,)),)))
    assert half.synthesis.schedule[0].values == (0.5,)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"settings": GlobalSettings()}, "settings: are GlobalSettings. Give GaitSettings"),
        (
            {"settings": GaitSettings(), "bounds": GaitBounds(friction=0.5)},
            "bounds.friction: is given, but settings are, too. Leave it out, or settings",
        ),
        (
            {"settings": GaitSettings(), "options": GaitSolverOptions(max_nodes=50)},
            "options.max_nodes: is given, but settings are, too",
        ),
        ({"cycles": 0}, "cycles: is 0. Give at most 1000"),
        ({"cycles": "3"}, "cycles: is '3'. Give a whole number"),
        ({"cycles": 1.5}, "cycles: is 1.5. Give a whole number"),
        ({"phases": ("walk",)}, "phases[0]: is 'walk'. Give PhaseSpec"),
        ({"phases": None}, "phases: is None. Give a tuple of PhaseSpec"),
        ({"phases": (), "speed": "fast"}, "speed: is 'fast'. Give a finite number"),
        ({"phases": (), "speed": "fast", "lift": True}, "speed: is 'fast'. Give a finite number"),
        ({"phases": (), "speed": 0.5, "step_length": "long"}, "step_length: is 'long'. Give a finite number of 0 or"),
        ({"model": 3}, "model: is 3. Give str or GaitModel"),
        ({"options": "direct"}, "options: is 'direct'. Give GaitSolverOptions"),
        ({"lift": "yes"}, "lift: is 'yes'. Give bool"),
        ({"options": GaitSolverOptions(time_limit="1")}, "options.time_limit: is '1' s. Give one above 0"),
        ({"options": GaitSolverOptions(max_nodes=30.5)}, "options.max_nodes: is 30.5. Give a whole number"),
        ({"options": GaitSolverOptions(stages=("a",))}, "options.stages[0]: is 'a'. Give GaitStage"),
        ({"phases": (PhaseSpec(PhaseKind.START, 0.4, next_step=RABBIT_WALK.step),)}, "phases[0].rest.hip_height: is 0"),
        ({"phases": (PhaseSpec(PhaseKind.STOP, 0.4),)}, "phases[0].rest.hip_height: is 0, but it isn't known how"),
    ],
)
def test_what_cannot_be_is_refused_by_its_field(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        generate_gait(GaitSpec(**{"model": "rabbit", "phases": STEP, **fields}))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GaitBounds(friction="x"), "bounds.friction: is 'x'. Give a finite number above 0"),
        (lambda: GaitBounds(min_controls=("x",)), "bounds.min_controls: is ('x',). Give numbers"),
        (lambda: GaitBounds(clearance="x"), "bounds.clearance: is 'x'. Give a finite number of 0 or more"),
        (lambda: GaitBounds(obstacles=(3,)), "bounds.obstacles[0]: is 3. Give Obstacle"),
        (lambda: GaitWeights(control_sizes="x"), "weights.control_sizes: is 'x'. Give numbers"),
        (lambda: GaitStage(StageQuantity.CLOSURE, "x").checked("stage"), "stage.values: is 'x'. Give numbers"),
    ],
)
def test_parts_of_a_specification_that_are_no_numbers_are_refused_by_their_field(
    make: Callable[[], Any], message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        make()
