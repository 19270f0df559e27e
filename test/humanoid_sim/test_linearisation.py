# SPDX-License-Identifier: Apache-2.0
"""A and B of a step are what central differences of the step itself give."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.hinged_rods import four_bar
from fixtures.scenes import ball, box, floor, place, scene, standing
from numpy.testing import assert_allclose, assert_array_equal

from humanoid_model import load_robot
from humanoid_model.errors import InputError, SimulationError
from humanoid_model.scene import PairRule
from humanoid_sim import Controls, Simulation, linearise
from humanoid_sim.simulation import SimulationState


def differences(simulation: Simulation, start: SimulationState, change: float) -> tuple[np.ndarray, np.ndarray]:
    """A, and B by the targets of all driven joints, by central differences of the step."""
    own, model = copy.copy(simulation), simulation.world.model
    nv = start.v.size
    places = [p for robot in simulation.robots.values() if robot.driven_joint_names for p in robot.drive_places()[0]]

    def end(d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        own.restore_state(replace(start, q=pin.integrate(model, start.q, d[:nv]), v=start.v + d[nv : 2 * nv]))
        own.servos.q_target[places] += d[2 * nv :]
        own.step()
        return own.q, own.v

    columns, q_0 = [], end(np.zeros(2 * nv + len(places)))[0]
    for direction in np.eye(2 * nv + len(places)):
        (q, v), (q_before, v_before) = end(change * direction), end(-change * direction)
        moved = pin.difference(model, q_0, q) - pin.difference(model, q_0, q_before)
        columns.append(np.concatenate([moved, v - v_before]) / (2.0 * change))
    derivative = np.array(columns).T
    return derivative[:, : 2 * nv], derivative[:, 2 * nv :]


def check(simulation: Simulation, start: SimulationState, change: float = 1e-7, relative: float = 3e-6) -> None:
    """Compare both, each block of A by its largest entry, a millisecond or 1 at least."""
    found, (A, B) = linearise(simulation, [start]), differences(simulation, start, change)
    nv = start.v.size
    for rows in (slice(0, nv), slice(nv, None)):
        for columns in (slice(0, nv), slice(nv, None)):
            expected, least = A[rows, columns], 1e-3 if rows.start == 0 and columns.start == nv else 1.0
            largest = max(least, np.abs(expected).max())
            assert_allclose(found.A[0][rows, columns], expected, rtol=0, atol=relative * largest)
    if B.size:
        assert_allclose(found.B[0], B, rtol=0, atol=relative * np.abs(B).max())


def at(simulation: Simulation, d: np.ndarray | None = None, v: np.ndarray | None = None) -> SimulationState:
    """Return the state moved by d, with a velocity."""
    start = simulation.save_state()
    return replace(
        start, q=start.q if d is None else pin.integrate(simulation.world.model, start.q, d),
        v=start.v if v is None else np.array(v, dtype=float),
    )  # fmt: skip


@pytest.fixture(scope="module")
def stand() -> Simulation:
    """HRP-2 on its feet."""
    simulation = Simulation(scene(floor(), robots=(standing(load_robot("hrp2")),), friction=0.8))
    simulation.run(0.05)
    return simulation


@pytest.fixture
def shaken(stand: Simulation) -> np.ndarray:
    """Velocities of all joints."""
    return 0.02 * np.random.default_rng(1).standard_normal(stand.v.size)


def moved(**coordinates: float) -> np.ndarray:
    d = np.zeros(36)
    for name, value in coordinates.items():
        d[int(name[1:])] = value
    return d


def test_feet_that_stand_stay(stand: Simulation) -> None:
    """Half a micrometre deep, where the step itself is smooth."""
    check(stand, at(stand, moved(_2=-6e-7 - stand.contacts.gap.min())), 3e-8, 1e-5)


def test_feet_that_land_are_stopped(stand: Simulation, shaken: np.ndarray) -> None:
    """They come down from 0.1 mm and turn; the chest is pushed, a motor is at its limit, joints rub."""
    own = copy.copy(stand)
    own.servos.highest[10] = 5.0
    own.servos.dry_friction[12:20] = 3.0
    own.apply_wrench("hrp2/CHEST_LINK1", [30.0, 0.0, 0.0], point=[0.1, 0.0, 1.0], duration=own.dt)
    start = at(own, moved(_2=1e-4, _3=1e-5), shaken - moved(_2=0.4))
    check(own, start, relative=3e-5)
    own.restore_state(start)
    own.step()
    assert (own.contacts.normal_force > 0.0).any()
    assert own.servos.saturated[10] == 1


def test_feet_that_bounce_leave_as_they_came() -> None:
    """How fast they leave goes with the velocity before."""
    simulation = Simulation(scene(floor(), robots=(standing(load_robot("hrp2")),), friction=0.8, restitution=0.3))
    start = at(simulation, moved(_2=1e-4), -moved(_2=0.4))
    check(simulation, start, 5e-7, 2e-5)
    simulation.restore_state(start)
    simulation.step()
    assert simulation.contacts.velocity[:, 2].max() > 0.05


def test_deep_feet_come_up_and_joints_stop_at_their_limits(stand: Simulation, shaken: np.ndarray) -> None:
    joints = stand.stepping.stepper.joints
    limit = joints.upper[20] - stand.q[joints.idx_q[20]]
    check(stand, at(stand, moved(_2=1e-3, _20=limit - 2e-4), moved(_20=1.0)))
    check(stand, at(stand, moved(_2=-1e-4, _3=1e-5), shaken), relative=1e-3)  # what comes up is solved to 1e-4


THROWN = [0.1, 0.0, -0.3, 0.1, -0.7, 0.9]
FAST = [1.5, 0.2, -0.3, 1.0, -0.7, 4.9]
YIELDS = PairRule("*", "*", compliance=1e-5)
TORQUES = PairRule("*", "*", torsional_friction=0.01, rolling_friction=0.005, viscous_friction=2.0)


@pytest.mark.parametrize(
    ("twist", "rules"),
    [(THROWN, ()), (FAST, ()), (THROWN, (TORQUES,)), (FAST, (TORQUES,)), (FAST, (YIELDS,))],
)
def test_a_ball_rolls_and_slides(twist: list[float], rules: tuple[PairRule, ...]) -> None:
    """Its contact moves over it; torques of friction and compliance go with its load."""
    simulation = Simulation(scene(floor(), ball("ball", 0.1, place(0, 0, 0.1001)), rules=rules))
    check(simulation, at(simulation, v=twist))


def test_a_box_tumbles_and_lands_on_another() -> None:
    """What nothing touches moves by the mean of its velocities; frames of contacts turn with a body."""
    tumbling = Simulation(scene(floor(), box("box", (0.2, 0.3, 0.1), place(0, 0, 1, 0.3, 0.4, 0.1))))
    check(tumbling, at(tumbling, v=[0.5, 0.2, -0.3, 5.0, -7.0, 9.0]))
    two = Simulation(
        scene(
            floor(), box("a", (0.2, 0.3, 0.1), place(0, 0, 0.0501)),
            box("b", (0.2, 0.2, 0.1), place(0.03, 0.02, 0.1502, 0, 0, 0.4)), friction=0.8,
        )
    )  # fmt: skip
    check(two, at(two, v=[0, 0, -0.01, 0, 0, 0, 0, 0, -0.5, 0.01, 0.02, 0]))


def test_a_loop_stays_closed(tmp_path: Path) -> None:
    simulation = four_bar(tmp_path, 20.0)
    simulation.run(0.01)
    check(simulation, simulation.save_state())


def test_efforts_of_some_joints_drive(stand: Simulation) -> None:
    """B by them is B by targets over the servo's stiffness, where servos stay on; a trajectory has a step each."""
    robot = stand.robots["hrp2"]
    names = list(robot.driven_joint_names)[:3]
    q_places, v_places = robot.drive_places(names)
    start = at(stand, moved(_2=1e-4))
    by_target = linearise(stand, [start] * 2, Controls(np.tile(start.q[q_places], (2, 1)), joints=names))
    assert by_target.B.shape == (2, 72, 3)
    assert_array_equal(by_target.A[0], by_target.A[1])
    efforts = start.servos.stiffness[v_places] * (start.servos.q_target - start.q)[q_places]
    by_effort = linearise(stand, [start], Controls(efforts[None], joints=names, by_effort=True))
    own, ends = copy.copy(stand), []
    for change in (1e-3, -1e-3):
        own.restore_state(start)
        own.servos.effort_mode(v_places, efforts + np.array([0.0, change, 0.0]))
        own.step()
        ends.append(own.v)
    assert_allclose(by_effort.B[0, 36:, 1], (ends[0] - ends[1]) / 2e-3, atol=1e-6 * np.abs(by_effort.B).max())


def test_the_simulation_stays_as_it_is(stand: Simulation) -> None:
    before, forces = stand.save_state(), stand.contacts.force
    linearise(stand)
    assert_array_equal(stand.q, before.q)
    assert_array_equal(stand.contacts.force, forces)


def test_borders_are_told() -> None:
    """A ball that touches without a load, one pushed as hard as friction holds, a turning box that slides."""
    simulation = Simulation(scene(floor(), ball("ball", 0.1, place(0, 0, 0.1)), gravity=(0, 0, 0)))
    assert linearise(simulation).borders == [["ball on floor: closed without a force"]]
    pushed = Simulation(scene(floor(), ball("ball", 0.1, place(0, 0, 0.1)), friction=0.5))
    pushed.apply_wrench("ball", [0.5 * 9.8, 0, 0], [0, -0.49, 0], duration=1.0)
    assert linearise(pushed).borders == [["ball on floor: at the edge of sliding"]]
    box_slides = Simulation(scene(floor(), box("box", (0.2, 0.3, 0.1), place(0, 0, 0.05))))
    told = linearise(box_slides, [at(box_slides, v=[0.5, 0.2, 0, 0, 0, 1.0])]).borders[0]
    assert told[0] == "contacts that slide share their load in more ways than one"


def test_what_has_no_derivative_is_refused() -> None:
    with pytest.raises(InputError, match="StagedStepping"):
        linearise(Simulation("soft_soles"))
    simulation = Simulation(scene(floor(), ball("ball", 0.1, place(0, 0, 0.1)), restitution=0.5))
    with pytest.raises(SimulationError, match="bounces"):
        linearise(simulation, [at(simulation, v=[0, 0, -1, 0, 0, 0])])
