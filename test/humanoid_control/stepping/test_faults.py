# SPDX-License-Identifier: Apache-2.0
"""Walkers in the simulator whose sensors and programs fail: what is said of it, and that nothing wild is commanded."""

from __future__ import annotations

import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from humanoid_control.stepping.walker import Walker, WalkMode
from humanoid_model import load_robot
from humanoid_model.whole_body_dynamics import WholeBodyProgram
from humanoid_sim import Simulation
from humanoid_sim.control import ControllerInLoop
from humanoid_sim.sensing import NoisySensors, with_usual_noise

TICK = 2e-3


class Failing:
    """A walker whose measurements pass through something that spoils them, its commands looked at."""

    def __init__(self, walker):
        self.walker, self.spoil, self.commands, self.faults = walker, None, [], set()

    def update(self, time, measurement):
        if self.spoil is not None:
            measurement = self.spoil(time, measurement)
        command = self.walker.update(time, measurement)
        if command is not None:
            self.commands.append(command)
            self.faults |= set(self.walker.estimate.faults)
        return command


def failing(seed=1, walks=1.0):
    """BIP that walks ahead for so long [s]."""
    robot = with_usual_noise(load_robot("bip"), np.random.default_rng(seed))
    simulation, sensors = Simulation("bip_stand"), NoisySensors(seed)
    controller = Failing(Walker(robot, "standing"))
    simulation.add_module(sensors)
    simulation.add_module(ControllerInLoop("bip", controller, sensors=sensors, period=TICK))
    simulation.run(0.4)
    if walks:
        controller.walker.walk(0.2)
        simulation.run(walks)
    return simulation, controller


def upright(simulation):
    return simulation.robots["bip"].placement_world_base.rotation[2, 2] > 0.95


def check_commands(controller):
    """All are finite, within limits, and none jumps by more than the documented bound."""
    body, commands = controller.walker.body, controller.commands
    most, fastest = body.robot.limits.effort[body.columns], body.robot.limits.velocity[body.columns]
    efforts, positions, speeds = (
        np.array([getattr(command, name) for command in commands]) for name in ("efforts", "positions", "velocities")
    )
    assert np.isfinite([efforts, positions, speeds]).all()
    assert (np.abs(efforts) <= most).all()
    assert (np.abs(speeds) <= fastest).all()
    spans = np.maximum(np.diff([command.time for command in commands]), 0.0)[:, None]
    assert (np.abs(np.diff(efforts, axis=0)) <= 250.0 * spans * most + 1e-9).all()
    assert (np.abs(np.diff(positions, axis=0)) <= 2.0 * spans * fastest + 1e-9).all()


def spoiled_wrench(how):
    """The right ankle's wrench as it was when this began, or with a fifth of the weight that isn't there."""
    first = {}

    def spoil(time, measurement):
        read = measurement.wrenches["right_ankle"]
        more = read + np.array([0.0, 0.0, 200.0, 0.0, 0.0, 0.0])
        wrong = first.setdefault("wrench", read) if how == "stuck" else more
        return dataclasses.replace(measurement, wrenches={**measurement.wrenches, "right_ankle": wrong})

    return spoil


@pytest.mark.parametrize("how", ["stuck", "contact where there is none"])
def test_a_walk_goes_on_when_an_ankle_s_wrench_is_wrong(how):
    simulation, controller = failing()
    controller.spoil = spoiled_wrench(how)
    own = simulation.robots["bip"]
    begin = own.placement_world_base.translation[0]
    simulation.run(2.0)
    assert upright(simulation)
    assert controller.walker.mode is WalkMode.STEPPING
    assert own.placement_world_base.translation[0] > begin + 0.2
    assert any("no wrench of right_ankle" in fault for fault in controller.faults) == (how == "stuck")
    check_commands(controller)


@pytest.mark.parametrize("what", ["not finite", "0.5 m/s too fast", "0.1 rad aslant"])
def test_an_estimate_that_is_far_off_begins_anew_and_the_robot_stays_up(what):
    simulation, controller = failing()
    state = controller.walker._estimator._filter.state
    if what == "not finite":
        state.vectors[0, 0] = np.nan
    elif what == "0.5 m/s too fast":
        state.vectors[0, 0] += 0.5
    else:
        state.rotations[0] = pin.exp3(np.array([0.0, 0.1, 0.0])) @ state.rotations[0]
    simulation.run(2.0)
    assert upright(simulation)
    assert any("begin anew" in fault or "begins anew" in fault for fault in controller.faults)
    estimate = controller.walker.estimate
    truth = simulation.robots["bip"].placement_world_base.rotation[2]
    assert np.linalg.norm(estimate.base[2] - truth) < 0.02
    check_commands(controller)


def test_a_robot_whose_programs_have_no_answer_for_a_while_walks_on_and_for_long_goes_soft(monkeypatch):
    simulation, controller = failing()
    ticks, solve = [0], WholeBodyProgram.solve

    def now_and_then(program):
        ticks[0] += 1
        return None if ticks[0] % 60 < 6 else solve(program)

    monkeypatch.setattr(WholeBodyProgram, "solve", now_and_then)
    simulation.run(1.5)
    assert upright(simulation)
    assert controller.walker.mode is WalkMode.STEPPING
    monkeypatch.setattr(WholeBodyProgram, "solve", lambda program: None)
    simulation.run(0.09)
    assert controller.walker.mode is WalkMode.STEPPING
    simulation.run(0.05)
    assert controller.walker.mode is WalkMode.FALLEN
    simulation.run(0.2)
    speeds = controller.walker.body.v[controller.walker.body.columns]
    np.testing.assert_allclose(controller.commands[-1].efforts, -5.0 * speeds, atol=1e-9)
    check_commands(controller)


def test_a_joint_that_is_pressed_to_the_end_of_its_range_stays_in_it_and_the_robot_up():
    simulation, controller = failing(walks=0.0)
    own = simulation.robots["bip"]
    place, limits = own.robot.index_q("trunk_pitch"), own.robot.limits
    simulation.apply_wrench("bip/trunk", [-120.0, 0.0, 0.0], [0.0, -60.0, 0.0], duration=0.3)
    least = np.inf
    for _ in range(1500):
        simulation.step()
        least = min(least, own.q[place] - limits.lower[place])
        assert controller.walker.body.solved
    assert abs(least) < 0.003
    assert upright(simulation)
    check_commands(controller)


def anything(rng):
    """Spoils measurements by chance: silence, not numbers, wild, stuck and old readings, contacts told, clocks."""
    kind, since = "nothing", [0.0]
    old = []

    def spoil(time, measurement):
        nonlocal kind
        old.append(measurement)
        if time > since[0]:
            kind = str(rng.choice(["nothing", "blind", "nan", "wild", "stuck", "old", "told", "clock", "jump"]))
            since[0] = time + rng.uniform(0.002, 0.15)
        change = {}
        if kind == "blind":
            change = {"angular_velocity": None, "specific_force": None, "wrenches": {}}
        elif kind in ("nan", "wild"):
            value = np.nan if kind == "nan" else 10.0 ** rng.uniform(0.0, 300.0)
            name = str(rng.choice(["joint_positions", "joint_velocities", "angular_velocity", "specific_force"]))
            reading = np.array(getattr(measurement, name))
            reading[rng.integers(len(reading))] = value
            change = {name: reading, "wrenches": {key: value * w for key, w in measurement.wrenches.items()}}
        elif kind == "stuck":
            change = {"wrenches": old[0].wrenches}
        elif kind == "old":
            return old[-int(rng.integers(1, min(len(old), 30) + 1))]
        elif kind == "told":
            change = {"contacts": {name: float(rng.random()) for name in ("left_sole", "right_sole")}}
        elif kind == "clock":
            change = {"time": measurement.time + float(rng.choice([-1.0, 1.0, 1e9]))}
        elif kind == "jump":
            positions = measurement.joint_positions
            change = {"joint_positions": positions + rng.normal(size=len(positions))}
        return dataclasses.replace(measurement, **change)

    return spoil


@pytest.mark.parametrize("seed", range(3))
def test_whatever_sensors_say_commands_are_finite_within_limits_and_do_not_jump(seed):
    simulation, controller = failing(seed, walks=0.3)
    controller.spoil = anything(np.random.default_rng(seed))
    simulation.run(2.0)
    assert len(controller.commands) > 900
    assert controller.faults
    check_commands(controller)
