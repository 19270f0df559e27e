# SPDX-License-Identifier: Apache-2.0
"""Whole scenes for any integrator: the same dynamics as the simulator, orders with rotations and moving inertia."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures.integration_problems import advance, measured_order
from fixtures.scenes import body, box, floor, place, scene, standing
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from humanoid_model import load_robot
from humanoid_model.description import Box
from humanoid_model.scene import SceneRobot
from humanoid_sim import Simulation
from humanoid_sim.world.world import World
from humanoid_studies.integration.catalogue import find_integrator
from humanoid_studies.integration.mechanical_system import MechanicalSystem
from humanoid_studies.integration.world_system import WorldSystem

INERTIA = np.diag([0.02, 0.05, 0.04])
SPIN = np.array([1.0, 0.3, -0.2, 3.0, 1.0, -2.0])


def spinning() -> WorldSystem:
    thrown = body("thrown", Box(np.array([0.3, 0.2, 0.1])), 1.0, INERTIA, place(0, 0, 2, 0.3, 0.2, 0.1), SPIN)
    return WorldSystem(World(scene(thrown)))


def turned(system: WorldSystem, duration: float) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and body rates of the thrown body, from Euler's equations for scipy."""

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        w = y[9:]
        R = y[:9].reshape(3, 3)
        return np.concatenate([(R @ pin.skew(w)).reshape(-1), np.linalg.solve(INERTIA, -np.cross(w, INERTIA @ w))])

    R = pin.Quaternion(system.world.q[3:7]).matrix()
    y = solve_ivp(rates, (0, duration), np.concatenate([R.reshape(-1), SPIN[3:]]), rtol=1e-12, atol=1e-13).y[:, -1]
    return y[:9].reshape(3, 3), y[9:]


@pytest.mark.feature("000-F077")
@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("explicit_euler", 1),
        ("verlet", 2),
        ("rk2", 2),
        ("rk4", 4),
        ("implicit_euler", 1),
        ("theta", 2),
        ("moreau", 1),
        ("potra_trapezoid", 2),
        ("event_driven", 4),
    ],
)
def test_order_with_quaternions(name: str, order: int) -> None:
    """A body that tumbles: angle between computed and true orientation, and body rates."""
    system, duration = spinning(), 0.3
    R, w = turned(system, duration)

    def error(steps: int) -> float:
        q, v = advance(find_integrator(name), system, system.world.q, system.world.v, duration, steps)
        angle = np.linalg.norm(pin.log3(R.T @ pin.Quaternion(q[3:7] / np.linalg.norm(q[3:7])).matrix()))
        return float(max(angle, np.abs(v[3:] - w).max()))

    assert measured_order(error, (8, 16, 32) if order == 4 else (40, 80, 160)) == pytest.approx(order, abs=0.12)


@pytest.mark.parametrize(
    ("name", "order"),
    [("verlet", 2), ("rk4", 4), ("theta", 2), ("moreau", 1), ("foerg", 1), ("potra_trapezoid", 2)],
)
def test_order_with_an_inertia_that_moves(name: str, order: int) -> None:
    """A falling arm of two links without servos, against scipy on Pinocchio's forward dynamics."""
    arm = load_robot("robot_2r_a")
    placed = SceneRobot("arm", arm, "zero", pin.SE3.Identity(), np.array(arm.postures["zero"]))
    system = WorldSystem(World(scene(robots=(placed,), gravity=(3.0, -9.8, 1.0))))
    system.servos.stiffness[:] = system.servos.damping[:] = 0.0
    model = system.world.model
    data = model.createData()
    duration = 0.4
    start = np.array([0.4, -0.8]), np.array([1.0, 2.0])

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        passive = -system.servos.passive_damping * y[2:]
        return np.concatenate([y[2:], pin.aba(model, data, y[:2], y[2:], passive)])

    reference = solve_ivp(rates, (0, duration), np.concatenate(start), rtol=1e-12, atol=1e-13).y[:, -1]

    def error(steps: int) -> float:
        return float(
            np.abs(np.concatenate(advance(find_integrator(name), system, *start, duration, steps)) - reference).max()
        )

    assert measured_order(error, (64, 128, 256) if order == 4 else (40, 80, 160)) == pytest.approx(order, abs=0.12)


@pytest.fixture(scope="module")
def hrp2() -> Simulation:
    return Simulation(scene(floor(), robots=(standing(load_robot("hrp2")),)))


def test_derivatives_of_a_robot_with_servos(hrp2: Simulation) -> None:
    """Pinocchio's, with the servos', against finite differences, with and without an acceleration."""
    system = WorldSystem(hrp2.world)
    rng = np.random.default_rng(0)
    q = system.integrate(hrp2.world.q, 0.1 * rng.normal(size=system.nv))
    v, a = rng.normal(size=system.nv), rng.normal(size=system.nv)
    for acceleration in (None, a):
        given = system.derivatives(0.0, q, v, acceleration)
        numeric = MechanicalSystem.derivatives(system, 0.0, q, v, acceleration)
        for one, other in zip(given, numeric, strict=True):
            assert_allclose(one, other, atol=1e-4)


def free_steps(speed: float, dt: float) -> tuple[Simulation, np.ndarray, np.ndarray]:
    """HRP-2 after a step in flight, servos unsaturated; q and v after a semi-implicit step with Pinocchio."""
    rng = np.random.default_rng(1)
    hrp2 = Simulation(scene(floor(), robots=(standing(load_robot("hrp2")),)), dt=dt)
    system = WorldSystem(hrp2.world)
    for servos in (hrp2.servos, system.servos):
        servos.lowest[:], servos.highest[:] = -1e9, 1e9
    q = system.integrate(hrp2.world.q, 0.1 * rng.normal(size=system.nv))
    q[2] += 1.0
    v = speed * rng.normal(size=system.nv)
    hrp2.q, hrp2.v = q.copy(), v.copy()
    hrp2.step()
    step = find_integrator("foerg").step(system, q, v, dt)
    return hrp2, step.q, step.v


@pytest.mark.feature("000-F082")
def test_slow_free_motion_of_a_robot_is_the_simulators() -> None:
    hrp2, q, v = free_steps(0.01, 1e-3)
    assert_allclose(v, hrp2.v, atol=1e-9)
    assert_allclose(q, hrp2.q, atol=1e-12)


def test_fast_free_motion_of_a_robot_is_the_simulators_to_first_order() -> None:
    """The simulator takes gyroscopic forces at the mean velocity: steps differ by some quarter when they are halved."""
    whole, half = (np.linalg.norm(v - hrp2.v) for hrp2, _, v in (free_steps(1.0, dt) for dt in (2e-4, 1e-4)))
    assert 3.0 < whole / half < 5.0
    assert whole < 1e-4


def test_standing_robot_is_carried(hrp2: Simulation) -> None:
    """Feet don't move while the joints give way to the weight, the floor carries it, in every kind of scheme."""
    system = WorldSystem(hrp2.world)
    weight = pin.computeTotalMass(hrp2.world.model) * 9.8
    for name in ("foerg", "moreau", "implicit_euler", "potra_trapezoid"):
        q, v, integrator = hrp2.world.q, hrp2.world.v, find_integrator(name)
        start = system.contacts(q, v, 1e-3)
        for k in range(60):
            q, v, forces = integrator.step(system, q, v, 1e-3, 1e-3 * k)
        end = system.contacts(q, v, 1e-3)
        assert forces.converged
        assert forces.forces[:, 0].sum() == pytest.approx(weight, rel=0.02)
        assert_allclose(end.positions, start.positions[[start.ids.tolist().index(i) for i in end.ids]], atol=2e-6)


def test_contact_rows_are_velocities_of_points() -> None:
    """Two boxes that touch, both moving: rows give the velocity of a's point relative to b's."""
    lower = box("lower", (0.4, 0.4, 0.2), place(0, 0, 1.0, 0.0, 0.0, 0.3))
    upper = box("upper", (0.2, 0.2, 0.2), place(0.05, 0, 1.2, 0.0, 0.0, 0.1))
    system = WorldSystem(World(scene(lower, upper)))
    rng = np.random.default_rng(2)
    q, v = system.world.q, rng.normal(size=system.nv)
    contacts = system.contacts(q, v, 1e-3)
    assert len(contacts) >= 4
    names = [body.name for body in system.world.bodies]
    for i in range(len(contacts)):
        velocity = np.zeros(3)
        for index, sign in zip(contacts.bodies[i], (1.0, -1.0), strict=True):
            place_in = system.world.free_bodies[names[index]]
            x, R = q[place_in.q][:3], pin.Quaternion(q[place_in.q][3:]).matrix()
            linear, angular = v[place_in.v][:3], R @ v[place_in.v][3:]
            velocity += sign * (linear + np.cross(angular, contacts.positions[i] - x))
        assert_allclose(contacts.velocities(v)[i], contacts.frames[i] @ velocity, atol=1e-12)


@pytest.mark.feature("000-F077")
def test_rows_of_joint_limits_are_the_rates_of_their_gaps(hrp2: Simulation) -> None:
    """Lower and upper limits against central differences of their gaps, and both ends of each joint are there."""
    system = WorldSystem(hrp2.world)
    rng = np.random.default_rng(4)
    q, v, step = hrp2.world.q, rng.normal(size=system.nv), 1e-6
    here, ahead, behind = (
        system.contacts(system.integrate(q, s * v), v, 1e6) for s in (0.0, step, -step)  # far ahead: all are listed
    )
    limits = here.where(here.coordinates >= 0)
    model = hrp2.world.model
    joints = [joint for joint in model.joints[1:] if joint.nq == 1 and model.upperPositionLimit[joint.idx_q] < 1e10]
    assert sorted(limits.coordinates.tolist()) == sorted(2 * [joint.idx_v for joint in joints])
    assert limits.gaps.min() > 0.0
    gaps = [dict(zip(c.ids.tolist(), c.gaps, strict=True)) for c in (ahead, behind)]
    for number, rate in zip(limits.ids.tolist(), limits.velocities(v), strict=True):
        assert rate[0] == pytest.approx((gaps[0][number] - gaps[1][number]) / (2.0 * step), abs=1e-8)
        assert not rate[1:].any()
    assert not limits.friction.any()
    assert not limits.restitution.any()


def test_servos_are_limited_and_then_no_longer_stiff(hrp2: Simulation) -> None:
    """A joint far from its target gets its limit, whose derivative is zero; the others keep their gains."""
    system = WorldSystem(hrp2.world)
    joint = hrp2.world.model.joints[hrp2.world.robots["hrp2"].joints["RARM_JOINT3"]]
    q = hrp2.world.q.copy()
    q[joint.idx_q] -= 0.5
    efforts, (stiffness, damping) = system.servo_efforts(q, hrp2.world.v), system.impedance(0.0, q, hrp2.world.v)
    assert efforts[joint.idx_v] == system.servos.highest[joint.idx_v]
    assert stiffness[joint.idx_v, joint.idx_v] == 0.0
    assert damping[joint.idx_v, joint.idx_v] == system.servos.passive_damping[joint.idx_v]
    others = np.delete(np.diag(stiffness), joint.idx_v)
    assert_allclose(others, np.delete(system.servos.stiffness, joint.idx_v))


def test_external_efforts_act() -> None:
    system = spinning()
    before = system.acceleration(0.0, system.world.q, system.world.v)
    system.external[:3] = [1.0, 2.0, 3.0]
    assert_allclose(system.acceleration(0.0, system.world.q, system.world.v)[:3] - before[:3], [1.0, 2.0, 3.0])


@pytest.mark.parametrize("name", ["jean", "potra_trapezoid"])
def test_a_tumbling_box_comes_to_rest(name: str) -> None:
    """Thrown on the floor: energy never grows by more than the scheme's error, and its weight is carried."""
    thrown = box("box", (0.3, 0.3, 0.1), place(0, 0, 0.12, 0.3, 0.2, 0.1), twist=np.array([0.5, 0, 0, 0, 0, 0]))
    system = WorldSystem(World(scene(floor(), thrown, restitution=0.2)))
    integrator = find_integrator(name)
    q, v = system.world.q, system.world.v
    highest = system.energy(q, v)
    for k in range(150):
        q, v, forces = integrator.step(system, q, v, 4e-3, 4e-3 * k)
        energy = system.energy(q, v)
        assert energy < highest + 1e-4
        highest = min(highest, energy)
    assert q[2] == pytest.approx(0.05, abs=1e-3)
    assert np.abs(v).max() < 1e-3
    assert forces.forces[:, 0].sum() == pytest.approx(9.8, rel=1e-3)
