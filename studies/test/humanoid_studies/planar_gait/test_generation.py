# SPDX-License-Identifier: Apache-2.0
"""Gaits from specifications: costs of the references, progress and cancel, and what is refused field by field."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fixtures.gait_models import CYCLIC, RABBIT_WALK
from fixtures.gait_oracles import ORACLES

from humanoid_model.errors import InputError
from humanoid_model.ground_profile import LEVEL, GroundProfile
from humanoid_model.motion_verdict import judge_motion
from humanoid_model.progress import Progress
from humanoid_studies.planar_gait import (
    GaitBounds,
    GaitDefaults,
    GaitResult,
    GaitSettings,
    GaitSolverOptions,
    GaitSpec,
    GaitWeights,
    GlobalSettings,
    PhaseKind,
    PhaseSpec,
    cyclic_walk,
    generate_gait,
    generation,
    load_gait_model,
    load_walk,
    walk_between_rests,
)
from humanoid_studies.planar_gait.global_step import solve_whole
from humanoid_studies.planar_gait.global_step.global_gait import GlobalStatus
from humanoid_studies.planar_gait.solvers.synthesize_gait import synthesize_gait
from humanoid_studies.planar_gait.specification.gait_spec import GaitStage, StageQuantity
from humanoid_studies.planar_gait.trajectory import from_solution

pytestmark = pytest.mark.feature("003-F106")

STEP = cyclic_walk(RABBIT_WALK)
DIRECT = GaitSolverOptions(method="direct", time_limit=600.0)  # takes the least time


@pytest.fixture(scope="module")
def told() -> list[Progress]:
    return []


@pytest.fixture(scope="module")
def rabbit(told: list[Progress]) -> GaitResult:
    return generate_gait(GaitSpec("rabbit", STEP, cycles=2, options=DIRECT), told.append)


def test_bips_single_support_costs_what_the_reference_does() -> None:
    result = generate_gait(GaitSpec(phases=cyclic_walk(CYCLIC)[1:]))
    assert result.phases[0].cost == pytest.approx(ORACLES["bip_ssp_cyclic"]["J_pmp"], rel=1e-3)
    assert result.cost == result.phases[0].cost


def test_a_gait_whose_foot_pulls_is_no_success_and_says_so_first(rabbit: GaitResult) -> None:
    """The thesis' step holds the stance tip down: at its end, where it is worst, by the force that the phase tells."""
    (pull,) = rabbit.phases[1].forces["stance_tip"].normal[-1]
    assert pull < -600.0
    assert rabbit.phases[1].converged
    assert not rabbit.success
    assert rabbit.message.startswith(f"converged, but front_tip: normal force exceeded by {-pull:.3g} N")
    assert f"{pull:.4g} at {rabbit.duration:.3f} s, 0 allowed" in rabbit.message


def test_a_gait_has_its_sums_trajectory_and_figure(rabbit: GaitResult) -> None:
    assert rabbit.kinds == (PhaseKind.DOUBLE_SUPPORT, PhaseKind.SINGLE_SUPPORT)
    assert rabbit.starts == (0.0, RABBIT_WALK.double_support)
    assert rabbit.speed == pytest.approx(RABBIT_WALK.mean_speed)
    assert rabbit.distance == pytest.approx(RABBIT_WALK.step.step_length)
    assert rabbit.trajectory is not None
    assert rabbit.trajectory.duration == pytest.approx(2.0 * rabbit.duration)
    assert rabbit.figure is not None
    assert rabbit.figure.times[-1] == pytest.approx(2.0 * rabbit.duration)


@pytest.mark.parametrize("cycles", [1, 5])
def test_a_step_of_a_speed_walks_and_is_judged_whatever_its_repetitions(
    monkeypatch: pytest.MonkeyPatch, cycles: int
) -> None:
    """What is judged is the motion: with a ground 1 m above it the same step is no success."""
    spec = GaitSpec("rabbit", speed=0.5, step_length=0.25, cycles=cycles, options=DIRECT)
    result = generate_gait(spec)
    assert (result.success, result.message) == (True, "")
    assert result.motion is not None
    assert result.motion.duration == pytest.approx(cycles * 0.5)
    high = GroundProfile(np.zeros(0), np.ones(1))
    monkeypatch.setattr(generation, "ground_profile", lambda _: high)
    buried = generate_gait(spec)
    assert not buried.success
    assert re.match(r"converged, but height of the (held|swinging) (rear|front)_tip exceeded by 1", buried.message)


def test_a_step_of_one_problem_keeps_its_swinging_foot_off_the_ground() -> None:
    """BIP's sole, whose legs are solved once more in each other's parts, is 2 mm up but at the ends of its way."""
    result = generate_gait(GaitSpec("bip", speed=0.9, step_length=0.55, options=DIRECT))
    assert (result.success, result.message) == (True, "")
    assert result.exchanged is not None
    for phase in (result.phases[-1], result.exchanged.phases[-1]):
        share = phase.t / phase.duration
        way = (share > 0.1) & (share < 0.9)
        for name in ("swing_heel", "swing_toe"):
            assert phase.problem.model.points[name].position(phase.q)[way, 1].min() > 1.9e-3


def test_stairs_are_judged_as_what_they_are() -> None:
    """On level ground the lower foot would be far in it."""
    down = cyclic_walk(load_walk("bip_stairs_down"))
    result = generate_gait(GaitSpec("bip", down, one_problem=True, options=DIRECT))
    assert result.success or result.message.startswith("converged, but ")
    assert "height" not in result.message
    assert result.motion is not None
    assert any(item.value < -0.02 for item in judge_motion(result.motion, LEVEL, 0.6) if item.unit == "m")


def test_gaits_to_be_lifted_keep_their_swinging_foot_up_unless_told() -> None:
    for lift, given, kept in ((True, 0.0, 5e-3), (True, 0.02, 0.02), (False, 0.0, 0.0)):
        phases = walk_between_rests(load_walk("bip_cyclic"), load_walk("bip_braking"))
        spec = GaitSpec("bip", phases, lift=lift, bounds=GaitBounds(clearance=given))
        assert spec.penalties.clearance == kept


def test_a_front_foot_that_turns_into_the_ground_is_no_success() -> None:
    """The thesis' landing in one phase, whose toe force acts from the beginning."""
    settings = GlobalSettings(landing="whole", foot_lift=2e-3)
    options = GaitSolverOptions(method="direct")
    spec = GaitSpec("bip", speed=0.656, step_length=0.478, settings=settings, options=options)
    result = generate_gait(spec)
    assert not result.success
    assert result.message.startswith("converged, but front_sole: height of a force above the ground exceeded by 0.0")
    sunk = re.search(r"height of the held front_sole exceeded by ([\d.]+) m", result.message)
    assert sunk is not None
    assert float(sunk[1]) == pytest.approx(0.012, abs=1e-3)


def test_a_robot_in_space_walks_in_its_sagittal_plane_only_lifted() -> None:
    result = generate_gait(GaitSpec("hrp2", speed=0.4, step_length=0.3, options=DIRECT))
    assert not result.success
    assert result.message.startswith("converged, but root_joint: moment along its x that nothing gives exceeded by ")
    assert result.message.endswith("a robot in space isn't balanced: set lift")
    motion = result.motion
    assert motion is not None
    robot = motion.robot
    for k in (0, len(motion.times) // 2):
        links = robot.link_placements(motion.q[k])
        for force in motion.forces[k]:
            sole = robot.contacts[force.location]
            assert force.place[1] == pytest.approx((links[sole.link] * sole.placement_link_patch).translation[1])
            assert abs(force.place[1]) > 0.05


def test_a_proof_leaves_time_for_the_exchange_of_the_legs(monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as the first solution took; and that one stands where the time isn't enough to solve it once more."""
    given: list[GlobalSettings] = []

    def solve(*_: Any, settings: GlobalSettings, neighbour: Any = None, **__: Any) -> Any:
        given.append(settings)
        status = GlobalStatus.CONVERGED if neighbour is None else GlobalStatus.NOT_CONVERGED
        return SimpleNamespace(seconds=10.0, status=status, converged=status is GlobalStatus.CONVERGED)

    monkeypatch.setattr(solve_whole, "optimize_step", solve)
    for name, left in (("bip", 20.0), ("five_links", 30.0)):
        model = load_gait_model("bip")
        if name != "bip":
            model = dataclasses.replace(model, robot=None)  # nothing is exchanged without a robot
        found: list[Any] = []
        spec = GaitSpec(model, speed=0.6, options=GaitSolverOptions(time_limit=40.0))
        assert solve_whole.solve_whole(spec, model, (), None, found.append) is found[0]
        assert given[-1].time_limit == left


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
        (lambda: GaitBounds(friction="x"), "bounds.friction: is 'x'. Give a finite number of 0 or more"),
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


def test_phases_join_as_exactly_as_players_want(monkeypatch: pytest.MonkeyPatch) -> None:
    """Off by as much as a solver of one problem may leave, they begin with the state that the next one has."""
    result = generate_gait(GaitSpec("rabbit", speed=0.5, step_length=0.25, options=DIRECT))
    trajectory = result.trajectory
    assert trajectory is not None
    (twice,) = np.flatnonzero(np.diff(trajectory.times) == 0.0)
    whole = from_solution._piece

    def off(*arguments: Any) -> dict[str, np.ndarray]:
        piece = whole(*arguments)
        piece["v"] = piece["v"] + (1e-5 if arguments[2] == 0 else 0.0)
        return piece

    monkeypatch.setattr(from_solution, "_piece", off)
    joined = dataclasses.replace(result).trajectory
    assert joined is not None
    np.testing.assert_allclose(joined.v[twice - 1] - trajectory.v[twice - 1], 1e-5, rtol=1e-3)
    np.testing.assert_array_equal(joined.v[twice], joined.v[twice + 1])
    np.testing.assert_array_equal(joined.v[twice + 1], trajectory.v[twice + 1])
