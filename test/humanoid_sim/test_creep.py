# SPDX-License-Identifier: Apache-2.0
"""What Coulomb's law lets rest stays where it is."""

import math

import numpy as np
import pytest
from fixtures.scenes import body, box, floor, place, scene

from humanoid_model.description import HalfSpace
from humanoid_sim import Simulation

MICROMETRE = 1e-6
SOLES = ("hrp2/r_sole", "hrp2/l_sole")
CORNERS = np.array([[x, y, 0.0] for x in (-0.11, 0.11) for y in (-0.065, 0.065)])


def soles(simulation: Simulation) -> np.ndarray:
    """Corners of both soles in the world, shape (8, 3)."""
    return np.array([simulation.placement(name).act(corner) for name in SOLES for corner in CORNERS])


def creep(simulation: Simulation, seconds: float, points) -> float:
    """Largest distance of any point from where it was after a second, looked at every 10 ms."""
    simulation.run(1.0)
    start, furthest = points(simulation), 0.0
    for _ in range(round(seconds / 0.01)):
        simulation.run(0.01)
        furthest = max(furthest, float(np.linalg.norm(points(simulation) - start, axis=1).max()))
    return furthest


def on_slope(share: float, friction: float, yaw: float) -> tuple[Simulation, object]:
    """A block, turned about the slope's normal, where its weight asks for a part of the cone."""
    angle = math.atan(share * friction)
    slope = body("slope", HalfSpace(), 0.0, np.zeros((3, 3)), place(0, 0, 0, pitch=angle))
    block = box("block", (0.2, 0.2, 0.1), place(0, 0, 0, pitch=angle) * place(0, 0, 0.05, yaw=yaw))
    simulation = Simulation(scene(slope, block, friction=friction, gravity=(0.0, 0.0, -9.81)))
    corners = [np.array([x, y, -0.05]) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]

    def points(running: Simulation) -> np.ndarray:
        return np.array([running.placement("block").act(corner) for corner in corners])

    return simulation, points


@pytest.mark.parametrize("seconds", [5.0, pytest.param(60.0, marks=pytest.mark.slow)])
def test_feet_of_a_standing_robot_stay(seconds: float) -> None:
    assert creep(Simulation("stand"), seconds, soles) < MICROMETRE


@pytest.mark.parametrize("seconds", [5.0, pytest.param(60.0, marks=pytest.mark.slow)])
def test_feet_of_a_robot_stay_while_it_is_pushed(seconds: float) -> None:
    """20 N sideways at the waist all the time: friction holds a load that never ends."""
    simulation = Simulation("stand")
    simulation.apply_wrench("hrp2/WAIST", [0.0, 20.0, 0.0], duration=seconds + 2.0)
    assert creep(simulation, seconds, soles) < MICROMETRE
    assert simulation.contacts.force[:, 1].sum() == pytest.approx(-20.0, abs=1e-3)


@pytest.mark.parametrize("seconds", [5.0, pytest.param(60.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("yaw", [0.0, 0.6])
def test_a_block_near_the_edge_of_the_cone_stays(seconds: float, yaw: float) -> None:
    simulation, points = on_slope(0.95, 0.5, yaw)
    assert creep(simulation, seconds, points) < MICROMETRE
    assert len(simulation.contacts) == 4


def test_a_block_just_beyond_the_cone_slides_as_it_should() -> None:
    """At 105 % it is off by g (sin a - mu cos a), from the first step on: what holds it before is friction alone."""
    simulation, points = on_slope(1.05, 0.5, 0.0)
    before = points(simulation)
    simulation.run(1.0)
    angle = math.atan(1.05 * 0.5)
    acceleration = 9.81 * (math.sin(angle) - 0.5 * math.cos(angle))
    travelled = np.linalg.norm(points(simulation) - before, axis=1)
    np.testing.assert_allclose(travelled, 0.5 * acceleration, rtol=2e-3)


def test_a_box_with_a_steady_push_below_friction_stays() -> None:
    """A push of 95 % of what friction holds, not through the contacts' middle, neither moves nor turns the box."""
    simulation = Simulation(scene(floor(), box("box", (0.2, 0.2, 0.1), place(0, 0, 0.05), 2.0), friction=0.5))
    limit = 0.5 * 2.0 * 9.8
    simulation.apply_wrench("box", [0.0, 0.95 * limit, 0.0], point=[0.0, 0.0, 0.0], duration=10.0)
    corners = [np.array([x, y, -0.05]) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    moved = creep(
        simulation, 5.0, lambda running: np.array([running.placement("box").act(corner) for corner in corners])
    )
    assert moved < MICROMETRE
