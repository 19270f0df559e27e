# SPDX-License-Identifier: Apache-2.0
"""A walk of several steps is one motion: parts that meet, contacts in a row, and a verdict over all of it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from humanoid_gait import Cycle, Walk, WalkRequest, generate_gait
from humanoid_gait.generation import cycles_of, further
from humanoid_gait.repeat import joined, moved, repeated
from humanoid_model import InputError, Robot, load_robot
from humanoid_model.ground_profile import GroundProfile
from humanoid_model.progress import Progress

pytestmark = pytest.mark.feature("003-F055", "003-F062")
REQUEST = WalkRequest(0.2, intervals=(3, 8))


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("hrp2", geometry=False)


@pytest.fixture(scope="module")
def told() -> list[Progress]:
    return []


@pytest.fixture(scope="module")
def walk(robot: Robot, told: list[Progress]) -> Walk:
    return generate_gait(robot, REQUEST, 3, progress=told.append)


def test_steps_follow_one_another(walk: Walk) -> None:
    assert walk.success, walk.message
    motion, cycle = walk.motion, walk.parts["cycle"]
    assert motion.duration == pytest.approx(3 * sum(cycle.durations))
    assert walk.distance == pytest.approx(0.6, abs=0.02)  # and what the base goes aside
    assert walk.speed == pytest.approx(0.2 / sum(cycle.durations))
    assert walk.cost == pytest.approx(3 * cycle.cost)
    twice = np.flatnonzero(np.diff(motion.times) == 0.0)
    assert len(twice) == 5
    np.testing.assert_array_equal(motion.q[twice], motion.q[twice + 1])
    np.testing.assert_array_equal(motion.v[twice], motion.v[twice + 1])
    landings = sorted((span.start, span.location) for span in motion.contacts if span.start > 0.0)
    np.testing.assert_allclose([start for start, _ in landings], [0.75, 1.5])  # the third one ends the motion
    assert {location for _, location in landings} == {"left_sole", "right_sole"}


def test_energy_is_the_joints_power(walk: Walk, robot: Robot) -> None:
    motion = walk.motion
    fine = np.linspace(0.0, motion.duration, 4001)
    names = [robot.index_v(name) for name in robot.joint_names]
    power = [np.abs(sample.tau[names] * sample.v[names]).sum() for sample in map(motion.at, fine)]
    assert walk.energy == pytest.approx(np.trapezoid(power, fine), rel=0.02)
    weight = sum(one.mass for one in robot.model.inertias) * 9.81
    assert walk.cost_of_transport == pytest.approx(walk.energy / (weight * walk.distance), rel=1e-6)


def test_iterations_are_told(walk: Walk, told: list[Progress]) -> None:
    own = [item for item in told if item.stage == "cycle: iterates"]
    assert own
    assert all(np.diff([item.iteration for item in own]) > 0)
    assert max(item.iteration for item in own) <= walk.parts["cycle"].solution.iterations
    assert own[-1].residual < own[0].residual


def test_joined_motions_have_their_forces_and_times(walk: Walk) -> None:
    single = walk.parts["cycle"].motion
    cycle = walk.parts["cycle"].problem.end
    assert isinstance(cycle, Cycle)
    both = joined([repeated(single, cycle, 2), moved(single, cycle, 2)])
    assert both.duration == pytest.approx(walk.motion.duration)
    np.testing.assert_allclose(both.q, walk.motion.q, atol=1e-9)
    places = [[force.place for force in sample] for sample in both.forces]
    wanted = [[force.place for force in sample] for sample in walk.motion.forces]
    np.testing.assert_allclose(np.concatenate(places), np.concatenate(wanted), atol=1e-9)
    once = moved(single, replace(cycle, mirrored=False), 1)
    np.testing.assert_allclose(once.q[:, :3], [cycle.step.act(place) for place in single.q[:, :3]], atol=1e-12)


def test_a_cancel_leaves_the_last_iterate(robot: Robot) -> None:
    walk = generate_gait(robot, REQUEST, start=True, progress=lambda item: item.iteration > 0)
    assert not walk.success
    assert walk.message.startswith("cycle: the solver says: it was cancelled")
    assert list(walk.parts) == ["cycle"]
    assert len(walk.motion.times) > 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"length": math.nan}, "length: is nan"),
        ({"side": math.inf}, "side: is inf"),
        ({"slope": 0.8}, "slope: is 0.8. Give a finite number from -0.5 to 0.5"),
        ({"width": -0.1}, "width: is -0.1"),
        ({"clearance": -0.1}, "clearance: is -0.1"),
        ({"friction": -0.5}, "friction: is -0.5"),
        ({"single": 0.0}, "single: is 0.0. Give seconds above 0"),
        ({"double": (0.3, 0.1)}, r"double: is \(0.3, 0.1\)"),
        ({"settle": math.nan}, "settle: is nan"),
        ({"intervals": (0, 8)}, r"intervals: are \(0, 8\)"),
        ({"turn": 0.3, "rise": 0.1}, "turn: is 0.3. Turn on level ground"),
    ],
)
def test_what_cannot_be_walked_is_refused(robot: Robot, changes: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        generate_gait(robot, replace(REQUEST, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("steps", [0, 1001])
def test_numbers_of_steps_have_ends(robot: Robot, steps: int) -> None:
    with pytest.raises(InputError, match=f"steps: is {steps}. Give a number from 1 to 1000"):
        generate_gait(robot, REQUEST, steps)


def test_strides_have_two_steps() -> None:
    step, stride = Cycle(pin.SE3.Identity(), mirrored=True), Cycle(pin.SE3.Identity())
    assert [cycles_of(step, steps) for steps in (1, 2, 5)] == [1, 2, 5]
    assert [cycles_of(stride, steps) for steps in (1, 2, 5)] == [1, 1, 3]


def test_stairs_go_on_as_far_as_the_walk() -> None:
    stairs = GroundProfile(np.array([0.0, 0.3]), np.array([0.0, 0.1, 0.2]))
    longer = further(stairs, 5)
    x = np.array([-1.31, -0.1, 0.1, 0.4, 1.7])
    np.testing.assert_allclose(longer.height(x), [-0.4, 0.0, 0.1, 0.2, 0.6], atol=1e-12)
    assert further(GroundProfile(np.zeros(0), np.zeros(1), 0.1), 5).slope == 0.1


@pytest.mark.slow
@pytest.mark.feature("003-F056", "003-F058", "003-F059")
@pytest.mark.parametrize("request_", [WalkRequest(0.25), WalkRequest(0.2, turn=0.3), WalkRequest(0.2, slope=0.1)])
def test_walks_begin_and_end_at_rest(robot: Robot, request_: WalkRequest) -> None:
    walk = generate_gait(robot, request_, 4, start=True, stop=True)
    assert walk.success, walk.message
    np.testing.assert_allclose(walk.motion.v[[0, -1]], 0.0, atol=1e-6)
    for name in ("left_sole", "right_sole"):
        link = robot.contacts[name].link
        first, last = (robot.link_placements(walk.motion.q[k])[link].rotation for k in (0, -1))
        assert pin.rpy.matrixToRpy(last @ first.T)[2] == pytest.approx(2.5 * request_.turn, abs=1e-3)
