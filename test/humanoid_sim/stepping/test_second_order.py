# SPDX-License-Identifier: Apache-2.0
"""Free motion keeps energy and momentum: spinning bodies, chains, loops; contacts make no energy of it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from fixtures.hinged_rods import four_bar, hinge, mechanism, rod
from fixtures.scenes import ball, body, box, floor, place, scene
from numpy.testing import assert_allclose

from humanoid_model.description import Box
from humanoid_sim import Simulation

INERTIA = np.diag([0.02, 0.05, 0.06])
G = np.array([0.0, 0.0, -9.8])


def thrown(speed: float, com: np.ndarray) -> Simulation:
    """A body without symmetry that spins about no axis of its own, high above nothing."""
    spin = speed * np.array([0.3, 1.0, 0.2]) / np.linalg.norm([0.3, 1.0, 0.2])
    own = body(
        "body", Box(np.array([0.1, 0.2, 0.3])), 2.0, INERTIA, place(0, 0, 50, 0.3, 0.2, 0.1),
        np.concatenate([[1.0, 2.0, 3.0], spin]),
    )  # fmt: skip
    return Simulation(scene(dataclasses.replace(own, com=com)))


def motion(simulation: Simulation, com: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centre of mass, its velocity, angular momentum about it, in the world."""
    own = simulation.bodies["body"]
    M, twist = own.placement_world_body, own.twist
    velocity = M.rotation @ (twist[:3] + np.cross(twist[3:], com))
    return M.act(com), velocity, M.rotation @ INERTIA @ twist[3:]


@pytest.mark.feature("000-F045")
@pytest.mark.parametrize("com", [np.zeros(3), np.array([0.1, -0.05, 0.2])])
@pytest.mark.parametrize("speed", [20.0, 100.0])
def test_a_spinning_body_keeps_energy_and_momentum(speed: float, com: np.ndarray) -> None:
    """5 s at 20 and 100 rad/s: to rounding, and its centre of mass on the parabola."""
    simulation = thrown(speed, com)
    energy, (c, v, L) = simulation.energy(), motion(simulation, com)
    simulation.run(5.0)
    assert simulation.energy().total == pytest.approx(energy.total, abs=1e-9 * energy.kinetic)
    found = motion(simulation, com)
    assert_allclose(found[0], c + 5.0 * v + 12.5 * G, atol=1e-10)
    assert_allclose(found[1], v + 5.0 * G, atol=1e-10)
    assert_allclose(found[2], L, atol=1e-11 * np.linalg.norm(L))


def test_torque_and_force_change_momentum_as_newton_says() -> None:
    com = np.array([0.1, -0.05, 0.2])
    simulation = thrown(10.0, com)
    c, v, L = motion(simulation, com)
    simulation.apply_wrench("body", [1.0, 2.0, 0.0], [0.01, 0.02, 0.03], duration=2.0)
    simulation.run(2.0)
    found, a = motion(simulation, com), G + np.array([0.5, 1.0, 0.0])
    assert_allclose(found[0], c + 2.0 * v + 2.0 * a, atol=1e-10)
    assert_allclose(found[1], v + 2.0 * a, atol=1e-10)
    assert_allclose(found[2], L + np.array([0.02, 0.04, 0.06]), atol=1e-11)


def energies(simulation: Simulation, seconds: float) -> tuple[np.ndarray, float]:
    """Changes of the energy in the course of a run, and the largest kinetic energy on the way."""
    begin, changes, kinetic = simulation.energy().total, [], 0.0
    for _ in range(round(seconds / 0.1)):
        simulation.run(0.1)
        now = simulation.energy()
        changes.append(now.total - begin)
        kinetic = max(kinetic, now.kinetic)
    return np.array(changes), kinetic


def test_a_chain_of_ten_links_keeps_its_energy(tmp_path: Path) -> None:
    """It whirls at up to 60 rad/s for 20 s: energy oscillates, most where it cracks like a whip.

    It is chaotic: starts 1e-9 rad apart end 1.1 % below their energy, deviation 0.9 %, and oscillate by 8.8 %,
    deviation 1.9 %. Bounds are five deviations away; gyroscopic forces taken at the step's start lose 40 %.
    """
    links = "".join(
        rod(f"l{i}") + hinge(f"j{i}", f"l{i - 1}" if i else "ground", f"l{i}", "0 0 -0.3" if i else "0 0 4")
        for i in range(10)
    )
    simulation = mechanism(tmp_path, "chain", links)
    q = np.zeros(10)
    q[0] = 1.5
    simulation.robots["chain"].set_state(q)
    changes, kinetic = energies(simulation, 20.0)
    assert np.abs(simulation.v).max() > 10.0
    assert abs(changes[-50:].mean()) < 0.06 * kinetic
    assert np.abs(changes).max() < 0.2 * kinetic


@pytest.mark.parametrize("speed", [0.0, 20.0])
def test_a_four_bar_keeps_its_energy(tmp_path: Path, speed: float) -> None:
    """A minute of swinging and of whirling: within 1 % all the time, its loop closed."""
    simulation = four_bar(tmp_path, speed)
    robot = simulation.robots["four_bar"]
    changes, kinetic = energies(simulation, 60.0)
    assert np.abs(changes).max() < 0.01 * kinetic
    ends = robot.placement("coupler").act(np.array([0, 0, -0.5])), robot.placement("rocker").act(np.array([0, 0, -0.3]))
    assert np.linalg.norm(ends[0] - ends[1]) < 1e-9


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.9])
def test_tumbling_bodies_bounce_without_gaining_energy(restitution: float) -> None:
    """A box and a ball thrown at the floor with spin: no step raises the energy by more than a thousandth."""
    twist = np.array([1.0, 0.5, -2.0, 12.0, -7.0, 15.0])
    simulation = Simulation(
        scene(
            floor(), box("box", (0.1, 0.2, 0.3), place(0, 0, 0.5, 0.4, 0.7), twist=twist),
            ball("ball", 0.1, place(2, 0, 0.5), twist=twist), restitution=restitution,
        )
    )  # fmt: skip
    begin = last = simulation.energy()
    for _ in range(2000):
        simulation.step()
        now = simulation.energy()
        assert now.total - last.total < 1e-3 * begin.total
        last = now
    assert last.total < begin.total


def test_a_ball_that_bounces_elastically_neither_gains_nor_loses() -> None:
    """Twenty bounces: when it strikes within a step isn't known, and must not count one way."""
    simulation = Simulation(scene(floor(), ball("ball", 0.1, place(0, 0, 1.1)), restitution=1.0))
    changes, kinetic = energies(simulation, 18.0)
    assert np.abs(changes).max() < 0.02 * kinetic
