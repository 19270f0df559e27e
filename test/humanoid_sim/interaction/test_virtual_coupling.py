# SPDX-License-Identifier: Apache-2.0
"""The coupling (3.63): its signs, its damping rule, its bounds."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import ball, place, scene
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_sim.interaction import AttachMode, ScriptedDevice
from humanoid_sim.interaction.device import DeviceSample
from humanoid_sim.interaction.virtual_coupling import BodyPoint, PointState, VirtualCoupling, stable_stiffness


def test_force_is_that_of_the_printed_law() -> None:
    """k_v = 41.83 N s/m for 1.75 kg and 500 N/m (§26.2), and it pulls the pointer to the object."""
    coupling = VirtualCoupling.for_object(1.75, np.eye(6) / 1.75, 1e-3, stiffness=500.0)
    assert coupling.damping == pytest.approx(41.833, abs=1e-3)
    assert not coupling.limited
    point = PointState(np.array([0.0, 0.0, 0.1]), np.eye(3), np.array([0.0, 0.2, 0.0]), np.zeros(3))
    pointer = DeviceSample(place(0, 0, 0.3), np.array([0.0, 0.0, 0.1]))
    assert_allclose(
        coupling.force_on_pointer(point, pointer), [0.0, 41.833 * 0.2, 500.0 * -0.2 + 41.833 * -0.1], atol=1e-3
    )


def test_torque_turns_the_pointer_towards_the_object() -> None:
    coupling = VirtualCoupling.for_object(1.0, np.eye(6), 1e-3, stiffness=100.0, rotational_stiffness=3.0)
    turned = pin.exp3(np.array([0.0, 0.0, 0.2]))
    point = PointState(np.zeros(3), turned, np.zeros(3), np.array([0.5, 0.0, 0.0]))
    torque = coupling.torque_on_pointer(point, DeviceSample(pin.SE3.Identity()), np.eye(3))
    assert_allclose(torque, [np.sqrt(2 * 3.0) * 0.5, 0.0, 3.0 * 0.2], atol=1e-12)


def oscillation(stiffness: float, mass: float) -> np.ndarray:
    """Height of a weightless-free body that is attached to a pointer 1 cm beside it, relative to it."""
    ball_scene = scene(ball("ball", 0.05, place(0, 0, 0), mass=mass), gravity=(0.0, 0.0, 0.0))
    simulation = Simulation(ball_scene, dt=1e-4)
    # The pointer jumps by 1 cm at 1 ms, after it has taken hold.
    device = ScriptedDevice([0.0, 1e-3, 1.01e-3], [[0, 0, 0], [0, 0, 0], [0, 0, 0.01]], presses=[(0, 9)], rate=1e4)
    simulation.add_module(AttachMode(device, stiffness=stiffness))
    heights = []
    simulation.run(0.6, lambda s: heights.append(s.bodies["ball"].placement_world_body.translation[2]))
    return np.array(heights)


@pytest.mark.feature("000-F112")
@pytest.mark.parametrize(("stiffness", "mass"), [(500.0, 1.75), (2000.0, 0.5)])
def test_damping_ratio_is_one_over_root_two(stiffness: float, mass: float) -> None:
    """Of the step response x'' = w^2 (u - x) + 2 zeta w (u' - x'), simulated and in closed form.

    The pointer moves within 10 us, so that damping acts on its velocity as an impulse; the response is that of
    (2 zeta w s + w^2) / (s^2 + 2 zeta w s + w^2).
    """
    heights = oscillation(stiffness, mass) / 0.01
    w, zeta = np.sqrt(stiffness / mass), 1.0 / np.sqrt(2.0)
    wd = w * np.sqrt(1.0 - zeta**2)
    t = (np.arange(len(heights)) + 1) * 1e-4 - 1e-3

    def response(ratio: float, shares_impulse: float) -> np.ndarray:
        decay, ringing = np.exp(-ratio * w * t), w * np.sqrt(1.0 - ratio**2)
        step = 1.0 - decay * (np.cos(ringing * t) + ratio * w / ringing * np.sin(ringing * t))
        impulse = decay * np.sin(ringing * t) / ringing * 2.0 * ratio * w
        return np.where(t > 0.0, step + shares_impulse * impulse, 0.0)

    # The ticks never see the pointer while it moves, so no impulse acts: the plain step response.
    assert wd > 0.0
    assert np.abs(heights - response(zeta, 0.0)).max() < 0.01
    overshoot = heights.max() - 1.0
    measured = -np.log(overshoot) / np.sqrt(np.pi**2 + np.log(overshoot) ** 2)
    assert measured == pytest.approx(0.7071, abs=0.01)


def test_stable_stiffness_is_just_that() -> None:
    """The bound keeps both roots inside the unit circle, and beyond twice its square there is one outside."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        mass, light, period = rng.uniform(0.1, 50), rng.uniform(0.05, 1.0), 10 ** rng.uniform(-4, -2)
        mobility = 1.0 / (light * mass)  # the point may feel less than the whole mass
        k = stable_stiffness(np.inf, mass, mobility, period)

        def roots(stiffness: float, mass: float = mass, mobility: float = mobility, period: float = period) -> float:
            a = stiffness * period**2 * mobility
            b = np.sqrt(2 * mass * stiffness) * period * mobility
            return float(np.abs(np.roots([1.0, -(2 - a - b), 1.0 - b])).max())

        assert roots(k) < 1.0
        assert roots(6.0 * k) > 1.0
        assert stable_stiffness(0.5 * k, mass, mobility, period) == 0.5 * k
    assert stable_stiffness(1e9, 1.0, 0.0, 1e-3) == 1e9


@pytest.mark.parametrize("rate", [1000.0, 100.0])
def test_no_stiffness_makes_a_held_object_explode(rate: float) -> None:
    """1e12 N/m asked for, at two rates: the object follows the pointer, and its energy stays small."""
    simulation = Simulation(scene(ball("ball", 0.05, place(0, 0, 0), mass=0.3)))
    device = ScriptedDevice(
        [0.0, 0.05, 0.5], [[0.03, 0, 0], [0.03, 0, 0], [0.03, 0.2, 0]], presses=[(0.0, 9.0)], rate=rate
    )
    hold = AttachMode(device, stiffness=1e12, rotational_stiffness=1e12)
    simulation.add_module(hold)
    energies: list[float] = []
    simulation.run(1.0, lambda s: energies.append(s.energy().kinetic))
    assert hold.coupling is not None
    assert hold.coupling.limited
    assert max(energies) < 0.5
    assert energies[-1] < 1e-6
    point = simulation.bodies["ball"].placement_world_body.act(np.array([0.03, 0.0, 0.0]))
    assert_allclose(point, [0.03, 0.2, -0.3 * 9.8 / hold.coupling.stiffness], atol=1e-4)


def test_forces_stay_below_their_cap() -> None:
    coupling = VirtualCoupling.for_object(1.0, np.eye(6), 1e-3, stiffness=100.0, max_force=5.0)
    point = PointState(np.array([3.0, 4.0, 0.0]), np.eye(3), np.zeros(3), np.zeros(3))
    force = coupling.force_on_pointer(point, DeviceSample(pin.SE3.Identity()))
    assert_allclose(force, [3.0, 4.0, 0.0])


@pytest.mark.parametrize(
    "wrong", [{"stiffness": 0.0}, {"stiffness": np.nan}, {"max_force": -1.0}, {"rotational_stiffness": -1.0}]
)
def test_bad_values_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        VirtualCoupling.for_object(1.0, np.eye(6), 1e-3, **{"stiffness": 100.0, **wrong})


def test_mobility_of_a_point_is_what_a_force_on_it_does() -> None:
    """Against one step of the simulation itself, on a link of HRP-2 and on a free body."""
    for name, body in (("stand", "hrp2/RARM_LINK6"), ("box_on_slope", "ball")):
        local = np.array([0.02, -0.03, 0.05])
        pushes = (np.zeros(3), np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0]))
        speeds = []
        for force in pushes:
            simulation = Simulation(name)
            for robot in simulation.robots.values():
                robot.set_gains(0.0 * robot.joint_positions, 0.0 * robot.joint_positions)
            simulation.world.model.gravity.linear = np.zeros(3)
            simulation.servos.passive_damping[:] = 0.0
            point = BodyPoint(simulation, body, local)
            for tree in simulation.world.robots.values():
                simulation.q[tree.q.start + 2] += 1.0  # off the ground
            for tree in simulation.world.free_bodies.values():
                simulation.q[tree.q.start + 2] += 1.0
            mobility = point.mobility(simulation)
            simulation.apply_wrench(body, force, point=point.state(simulation).position, duration=simulation.dt)
            before = point.state(simulation).velocity
            q = simulation.q.copy()
            simulation.step()
            simulation.q = q
            speeds.append((point.state(simulation).velocity - before) / simulation.dt)
        assert_allclose(speeds[1] - speeds[0], mobility[:3, 0], rtol=1e-6, atol=1e-9)
        assert_allclose(speeds[2] - speeds[0], mobility[:3, 2], rtol=1e-6, atol=1e-9)
