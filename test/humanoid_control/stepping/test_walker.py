# SPDX-License-Identifier: Apache-2.0
"""The walker in the simulator, on ideal sensors: it stands, walks, turns, is pushed, and begins again."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from humanoid_control.stepping.walker import Walker, WalkMode
from humanoid_control.stepping.walker_settings import WalkerSettings
from humanoid_model import load_robot, load_scene
from humanoid_model.controller import Measurement
from humanoid_model.errors import InputError
from humanoid_model.scene import SceneRobot
from humanoid_sim import Simulation
from humanoid_sim.control import ControllerInLoop
from humanoid_sim.control.controller_in_loop import measure
from humanoid_sim.sensing import NoisySensors

POSTURES = {"hrp2": "half_sitting", "bip": "standing", "g1": "standing", "talos": "half_sitting"}


def walking(name="bip", settings=None, robot=None, scene="walk", **loop):
    """Simulation of a robot that a walker moves, and the walker."""
    robot = robot or load_robot(name)
    placed = SceneRobot(name, robot, POSTURES[name], pin.SE3.Identity(), robot.postures[POSTURES[name]])
    simulation = Simulation(dataclasses.replace(load_scene(scene), robots=(placed,)))
    sensors = loop.get("sensors")
    if sensors is not None:
        simulation.add_module(sensors)
    module = ControllerInLoop(name, Walker(robot, POSTURES[name], settings), **loop)
    simulation.add_module(module)
    return simulation, module


def stands(simulation, name="bip"):
    own = simulation.robots[name]
    base, height = own.placement_world_base, own.robot.postures[POSTURES[name]][2]
    return base.translation[2] > 0.75 * height and base.rotation[2, 2] > 0.9


def test_it_stands_walks_at_the_velocity_and_stops_beside_its_feet():
    simulation, loop = walking()
    simulation.run(0.6)
    assert loop.controller.mode is WalkMode.STANDING
    loop.controller.walk(0.2)
    simulation.run(2.4)
    begin = simulation.robots["bip"].placement_world_base.translation.copy()
    simulation.run(2.0)
    way = simulation.robots["bip"].placement_world_base.translation - begin
    assert way[0] == pytest.approx(0.4, abs=0.06)
    assert abs(way[1]) < 0.12
    loop.controller.walk(0.0)
    simulation.run(2.5)
    assert loop.controller.mode is WalkMode.STANDING
    assert np.linalg.norm(simulation.robots["bip"].twist_base[:3]) < 0.1
    assert stands(simulation)


def bend(robot, q, knee, more=None):
    """A configuration of HRP-2 with knees bent further by an angle and its soles as they were; other joints by name."""
    q = q.copy()
    for side in "RL":
        for joint, share in ((2, -0.5), (3, 1.0), (4, -0.5)):
            q[robot.index_q(f"{side}LEG_JOINT{joint}")] += share * knee
    for name, angle in (more or {}).items():
        q[robot.index_q(name)] = angle
    return q


def test_it_stands_in_another_posture_until_it_walks():
    simulation, loop = walking("hrp2")
    simulation.run(0.3)
    walker, own = loop.controller, simulation.robots["hrp2"]
    q = bend(walker.robot, walker.robot.posture("half_sitting"), 0.3, {"RARM_JOINT3": -1.2, "CHEST_JOINT1": 0.25})
    for wrong in (q[:-1], np.full_like(q, np.nan)):
        with pytest.raises(InputError, match="q"):
            walker.stand(wrong)
    walker.stand(q)
    simulation.run(2.5)
    assert walker.mode is WalkMode.STANDING
    np.testing.assert_allclose(own.q[7:], q[7:], atol=0.05)
    walker.walk(0.1)
    simulation.run(2.0)
    walker.walk(0.0)
    simulation.run(3.0)
    assert walker.mode is WalkMode.STANDING
    usual = walker.robot.posture("half_sitting")[walker.robot.index_q("RARM_JOINT3")]
    assert own.q[walker.robot.index_q("RARM_JOINT3")] == pytest.approx(usual, abs=0.05)
    assert stands(simulation, "hrp2")


def test_a_push_beyond_its_soles_makes_it_step_and_stand_again():
    simulation, loop = walking()
    simulation.run(0.5)
    impulse = 0.6 * simulation.robots["bip"].robot.total_mass
    simulation.apply_wrench("bip/trunk", [impulse / 0.1, 0.0, 0.0], duration=0.1)
    modes = set()
    for _ in range(3500):
        simulation.step()
        modes.add(loop.controller.mode)
    assert modes == {WalkMode.STANDING, WalkMode.STEPPING}
    assert loop.controller.mode is WalkMode.STANDING
    assert stands(simulation)
    assert simulation.robots["bip"].placement_world_base.translation[0] > 0.05


def apart(one, other):
    """Distance along the best separating edge of two convex polygons (k, 2); negative where they overlap [m]."""
    gaps = []
    for own, away in ((one, other), (other, one)):
        edges = np.roll(own, -1, axis=0) - own
        normals = np.column_stack([edges[:, 1], -edges[:, 0]]) / np.linalg.norm(edges, axis=1)[:, None]
        for normal in (*normals, *-normals):
            gaps.append(float((away @ normal).min() - (own @ normal).max()))
    return max(gaps)


@pytest.mark.parametrize("seed", range(2))
def test_feet_that_are_pushed_together_while_they_turn_land_beside_each_other(seed):
    rng = np.random.default_rng(seed)
    simulation, loop = walking("hrp2")
    walker, least = loop.controller, np.inf
    walker.walk(0.1)
    simulation.run(1.0)
    for k in range(8):
        walker.walk(float(rng.uniform(-0.1, 0.3)), float(rng.uniform(-0.1, 0.1)), 0.9 * (-1) ** k)
        side = 1.0 if walker.stance == "right_sole" else -1.0
        push = [0.0, -0.25 * side * walker.robot.total_mass / 0.1, 0.0]
        simulation.apply_wrench("hrp2/WAIST", push, duration=0.1)
        for _ in range(500):
            simulation.step()
            if walker.footstep is not None:
                landing, stance = walker.footstep[0], walker.body.sole(walker.stance)
                free = walker.body.soles["left_sole" if walker.stance == "right_sole" else "right_sole"].patch
                corners = [
                    patch @ placement.rotation[:2, :2].T + placement.translation[:2]
                    for patch, placement in ((free, landing), (walker.body.soles[walker.stance].patch, stance))
                ]
                least = min(least, apart(*corners))
    assert stands(simulation, "hrp2")
    assert 0.015 < least < 0.06


def test_the_same_measurements_give_the_same_commands_bit_for_bit():
    sensors = NoisySensors(3)
    simulation, loop = walking(sensors=sensors)
    loop.controller.walk(0.2)
    simulation.run(1.2)
    one, other, heard = copy.deepcopy(loop.controller), copy.deepcopy(loop.controller), []
    while len(heard) < 50:
        simulation.step()
        if simulation.step_count % 2 == 0:
            heard.append((simulation.time, measure(simulation, "bip", sensors)))
    for each in heard:
        np.testing.assert_array_equal(one.update(*each).efforts, other.update(*each).efforts)


def test_a_saved_simulation_goes_on_as_it_did():
    simulation, loop = walking()
    loop.controller.walk(0.2)
    simulation.run(1.0)
    state = simulation.save_state()
    simulation.run(0.5)
    q = simulation.q.copy()
    simulation.restore_state(state)
    simulation.run(0.5)
    np.testing.assert_array_equal(simulation.q, q)


def test_one_that_lies_is_soft():
    simulation, loop = walking()
    simulation.run(0.2)
    simulation.apply_wrench("bip/trunk", [9000.0, 9000.0, 0.0], duration=0.2)
    simulation.run(2.5)
    assert loop.controller.mode is WalkMode.FALLEN
    v = simulation.robots["bip"].joint_velocities
    assert np.abs(loop.command.efforts).max() <= 5.0 * max(np.abs(v).max() + 5.0, 1.0)


def test_nothing_is_commanded_before_there_is_a_state():
    robot = load_robot("bip")
    walker = Walker(robot, "standing")
    blind = Measurement(0.0, np.zeros(len(robot.joint_names)))
    assert walker.update(0.0, blind) is None


def test_one_that_is_dropped_is_held_until_it_knows_which_way_is_up():
    simulation, loop = walking()
    own = simulation.robots["bip"]
    q = own.q
    q[2] += 0.02
    own.set_state(q)
    simulation.run(0.03)
    assert loop.command is None, "in free fall nothing tells the vertical"
    simulation.run(0.8)
    assert loop.command is not None
    assert loop.controller.mode is WalkMode.STANDING
    assert stands(simulation)


def test_bad_requests_are_named():
    robot = load_robot("bip")
    with pytest.raises(InputError, match="velocity"):
        Walker(robot, "standing").walk(float("nan"))
    lost = robot.postures["standing"] * np.nan
    with pytest.raises(InputError, match="q"):
        Walker(robot, "standing").respond(0.0, lost, np.zeros(robot.model.nv), {"left_sole": 0.0, "right_sole": 0.0})
    with pytest.raises(InputError, match="v"):
        Walker(robot, "standing").respond(0.0, robot.postures["standing"], lost[:-1], {})
    with pytest.raises(InputError, match="fixed base"):
        Walker(load_robot("five_bar"), "zero")
    with pytest.raises(InputError, match="posture"):
        Walker(robot, "nowhere")
    with pytest.raises(InputError, match="margin"):
        WalkerSettings(margin=0.0)
    with pytest.raises(InputError, match="shortest"):
        WalkerSettings(shortest=0.6)
