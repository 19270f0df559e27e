# SPDX-License-Identifier: Apache-2.0
"""Forces from accelerations, beside the velocity form of the simulator (features F063 and F064)."""

from __future__ import annotations

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import ball, body, box, floor, place, scene
from numpy.testing import assert_allclose

from humanoid_model.description import Sphere
from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_sim.contact.impact import LcpStatus, solve_lcp
from humanoid_sim.contact.solve import ContactProblem, solve_contacts
from humanoid_studies.contact.acceleration_level import solve_accelerations

G = 9.8


def corners(mass: float) -> np.ndarray:
    """Normal operator of the four lower corners of a box of 0.5 x 0.5 x 0.1 m."""
    offsets = np.array([[1, 1], [1, -1], [-1, -1], [-1, 1]]) * 0.25
    J = np.column_stack([np.ones(4), offsets[:, 1], -offsets[:, 0]])
    inertia = mass * (0.5**2 + 0.1**2) / 12.0
    return J @ np.diag([1.0 / mass, 1.0 / inertia, 1.0 / inertia]) @ J.T


@pytest.mark.feature("000-F064")
def test_a_box_at_rest_is_carried() -> None:
    """The forces sum to m g, as those of the simulator, and no corner accelerates."""
    result = solve_accelerations(corners(2.0), np.full(4, -G))
    assert result.status is LcpStatus.SOLVED
    assert result.forces.sum() == pytest.approx(2.0 * G, rel=1e-12)
    assert result.forces.min() >= 0.0
    assert_allclose(result.accelerations, 0.0, atol=1e-12)
    resting = box("box", (0.5, 0.5, 0.1), place(0, 0, 0.05), mass=2.0)
    simulation = Simulation(scene(floor(), resting, friction=0.0))
    simulation.step()
    assert simulation.contacts.normal_force.sum() == pytest.approx(result.forces.sum(), rel=1e-9)


def test_what_is_lifted_is_let_go() -> None:
    result = solve_accelerations(corners(2.0), np.full(4, 0.5))
    assert_allclose(result.forces, 0.0, atol=0.0)
    assert_allclose(result.accelerations, 0.5)


LENGTH, MASS, RADIUS, TILT, RATE = 1.0, 2.0, 0.02, 0.3, 1.0


def leaning(dt: float) -> Simulation:
    """A rod about its middle, that topples on its round, slippery foot."""
    inertia = MASS * LENGTH**2 / 12.0 * np.diag([1.0, 1.0, 0.01])
    foot = np.array([0.5 * LENGTH * np.sin(TILT), -0.5 * LENGTH * np.cos(TILT)])  # x and z from the middle
    rod = body(
        "rod", Sphere(RADIUS), MASS, inertia, place(0, 0, RADIUS - foot[1], pitch=-TILT),
        np.array([0, 0, 0, 0, -RATE, 0]),
    )  # fmt: skip
    geometry = dataclasses.replace(rod.geometries[0], placement=place(0, 0, -0.5 * LENGTH))
    simulation = Simulation(
        scene(floor(), dataclasses.replace(rod, geometries=(geometry,)), friction=0.0), dt=dt
    )
    simulation.v[2] = RATE * foot[0]  # the foot slides along the floor
    return simulation


def force_from_accelerations(simulation: Simulation) -> float:
    """Of the foot in the state before the last step, by Pinocchio's matrices."""
    model, q, v = simulation.world.model, simulation.q_before, simulation.v_before
    data = model.createData()
    free = pin.aba(model, data, q, v, np.zeros(model.nv))
    joint = simulation.world.bodies[simulation.world.index["rod"]].joint
    pin.forwardKinematics(model, data, q, v, free)
    arm = data.oMi[joint].rotation @ np.array([0.0, 0.0, -0.5 * LENGTH])
    turn = pin.getVelocity(model, data, joint, pin.LOCAL_WORLD_ALIGNED).angular
    middle = pin.getClassicalAcceleration(model, data, joint, pin.LOCAL_WORLD_ALIGNED)
    a = middle.linear + np.cross(middle.angular, arm) + np.cross(turn, np.cross(turn, arm))
    pin.computeJointJacobians(model, data, q)
    rows = pin.getJointJacobian(model, data, joint, pin.LOCAL_WORLD_ALIGNED)
    J = rows[2] + np.cross(rows[3:].T, arm)[:, 2]
    M = np.triu(pin.crba(model, data, q, pin.Convention.WORLD))
    M = M + np.triu(M, 1).T
    return float(solve_accelerations([[J @ np.linalg.solve(M, J)]], [a[2]]).forces[0])


@pytest.mark.feature("000-F063")
def test_the_velocity_form_tends_to_it() -> None:
    """Half the step, half the difference: forces of a toppling rod 0.2 s after its release, its axis turning."""
    differences = []
    for dt in (2e-3, 1e-3, 5e-4):
        simulation = leaning(dt)
        simulation.run(0.2)
        expected = force_from_accelerations(simulation)
        assert expected < 0.95 * 2.0 * G  # not just the weight
        differences.append(abs(simulation.contacts.normal_force.sum() / expected - 1.0))
    assert differences[0] < 0.02
    assert_allclose(np.array(differences[:-1]) / differences[1:], 2.0, atol=0.15)


def test_it_knows_no_impact() -> None:
    """A ball that arrives: the force carries its weight and leaves the velocity; the velocity form stops the ball."""
    dt, speed = 1e-3, 1.0
    force = solve_accelerations([[1.0]], [-G]).forces[0]
    assert force == pytest.approx(G)
    assert -speed + dt * (force - G) == pytest.approx(-speed)
    arriving = ball("ball", 0.1, place(0, 0, 0.1), twist=np.array([0, 0, -speed, 0, 0, 0]))
    simulation = Simulation(scene(floor(), arriving))
    simulation.step()
    assert simulation.v[2] == pytest.approx(0.0, abs=1e-9)
    assert simulation.contacts.normal_force.sum() == pytest.approx(speed / dt + G, rel=1e-9)


def test_painleves_rod_has_a_solution_in_velocities_only() -> None:
    """A rod that slides into the ground at tan(angle) = 2 with mu = 2 > 4/3.

    With :math:`f_t = -\\mu f_n` the normal acceleration under a force is negative: no force holds the rod up, and none
    isn't enough. In velocities it jams within the step.
    """
    mass, mu, dt = 1.0, 2.0, 1e-3
    s, c = 2.0 / np.sqrt(5.0), 1.0 / np.sqrt(5.0)
    coupling = 3.0 * s * c / mass  # uniform rod: I = m l^2 / 12
    normal, tangential = (1.0 + 3.0 * c * c) / mass, (1.0 + 3.0 * s * s) / mass
    assert normal - mu * coupling < 0.0
    assert solve_lcp([[normal - mu * coupling]], [-G]).status is not LcpStatus.SOLVED
    W = dt * np.array([[normal, coupling, 0.0], [coupling, tangential, 0.0], [0.0, 0.0, 1.0 / mass]])
    result = solve_contacts(ContactProblem(W, [-dt * G, 0.5, 0.0], mu), tolerance=1e-10)
    assert result.converged
    normal_force, friction = result.impulses[0, :2]
    assert normal_force > 1.0 / dt * 0.1  # an impact without a collision
    assert abs(friction) <= mu * normal_force * (1.0 + 1e-9)
    assert_allclose(result.velocities, 0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("Lambda", "a", "says"),
    [
        (np.eye(2), [-1.0], "Lambda_nn has shape"),
        (np.eye(1), [np.nan], r"a_free\[0\] is nan"),
        ([[1.0, 0.5], [0.0, 1.0]], [-1.0, -1.0], "not symmetric"),
        ([[0.0]], [-1.0], r"Lambda_nn\[0, 0\] is 0"),
    ],
)
def test_bad_problems_are_refused(Lambda: object, a: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        solve_accelerations(Lambda, a)  # type: ignore[arg-type]
