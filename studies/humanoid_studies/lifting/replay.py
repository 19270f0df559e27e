# SPDX-License-Identifier: Apache-2.0
"""Planar lifts played by the whole HRP-2 in the simulator, sampled every 5 ms (specification 000, F156)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from humanoid_model.actuator import Actuator
from humanoid_model.arrays import Array
from humanoid_model.description import Box, Geometry, Inertial, Joint, Link
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_model.robot import Robot
from humanoid_model.scene import PairRule, Scene
from humanoid_model.scene_file import load_scene
from humanoid_sim.actuation.motors import DriveReport, MotorMonitor
from humanoid_sim.actuation.trajectory_player import DEFAULT_PERIOD, TrajectoryPlayer
from humanoid_sim.monitoring.balance import BalanceMonitor, BalanceSeries
from humanoid_sim.simulation import Simulation
from humanoid_studies.lifting.planar_lifter import JOINTS, SHARE_OF_PEAK, PlanarLifter
from humanoid_studies.simulator.experiment_result import Panel
from humanoid_studies.simulator.scene_view import view

BEFORE, AFTER = 0.5, 1.0
"""Rest before and after what is played [s]."""
SOLES_FRICTION = 0.8
_COLOUR = np.array([0.8, 0.3, 0.2, 1.0])
_HALF_WIDTH = 0.2
"""Of the object, drawn from each hand inwards [m]."""
_INTERVAL = 5
"""Steps from one record to the next."""
_FALLEN = 0.2
"""Of the trunk's lean from its plan, beyond which the robot has fallen [rad]."""


def joint_of_side(name: str, side: str) -> str:
    """Return the robot's name of a planar joint on side ``R`` or ``L``."""
    return name if name.startswith("CHEST") else side + name


def lifting_robot(robot: Robot, lifter: PlanarLifter) -> Robot:
    """Return the robot with half of the object in each hand, and motors with nominal and peak torques.

    The halves are rigid with the palms, their masses in the planes of the arms: what hands press against each other
    through the object, which symmetry keeps from moving anything, is left out.

    Args:
        robot: HRP-2.
        lifter: its planar model, with the object.
    """
    held = lifter.held
    links, joints = dict(robot.description.links), dict(robot.description.joints)
    turn = 0.5 * np.diag([held.inertia, held.inertia, held.inertia])
    for side, inwards in (("R", 1.0), ("L", -1.0)):
        name = f"{side}_OBJECT"
        inside = np.array([0.0, inwards * (0.25 - 0.5 * _HALF_WIDTH), (0.5 - held.below) * held.height])
        turned = pin.rpy.rpyToMatrix(0.0, -held.tilt, 0.0)
        place = pin.SE3(turned, turned @ inside)
        box = Geometry(name, Box(np.array([held.depth, _HALF_WIDTH, held.height])), place, _COLOUR)
        inertial = Inertial(0.5 * held.mass, pin.SE3.Identity(), turn)
        links[name] = Link(name, inertial, (box,), (box,))
        at = pin.SE3(np.eye(3), np.array([lifter.reach.real, 0.0, lifter.reach.imag]))
        joints[f"{name}_JOINT"] = Joint(f"{name}_JOINT", "fixed", f"{side}ARM_LINK5", name, at, np.array([1.0, 0, 0]))
    actuators: dict[str, Actuator] = {}
    for name, actuator in robot.actuators.items():
        nominal = actuator.effort
        for k, planar in enumerate(JOINTS):
            if name in (joint_of_side(planar, "R"), joint_of_side(planar, "L")):
                nominal = float(lifter.nominal[k])
        actuators[name] = replace(actuator, effort=nominal / SHARE_OF_PEAK, nominal_effort=nominal)
    return replace(robot, description=replace(robot.description, links=links, joints=joints), actuators=actuators)


def whole_configuration(robot: Robot, lifter: PlanarLifter, q: Array) -> Array:
    """(nq,) configuration of the robot at planar angles (7,), feet flat on z = 0, ankles at x = 0."""
    posture = robot.posture("zero")
    for name, angle in zip(JOINTS, q, strict=True):
        for side in "RL":
            posture[robot.index_q(joint_of_side(name, side))] = angle
    theta = lifter.absolute @ q
    x, z = lifter.point("waist").position(theta)
    return robot.place_base(posture, pin.SE3(pin.rpy.rpyToMatrix(0.0, -theta[2], 0.0), np.array([x, 0.0, z])))


def lifting_scene(robot: Robot, lifter: PlanarLifter, q: Array, *, ground_friction: float | None = None) -> Scene:
    """Return HRP-2 with the object in its hands at planar angles (7,).

    Args:
        robot: HRP-2.
        lifter: its planar model, with the object.
        q: (7,) [rad].
        ground_friction: between object and ground; None where they don't meet.
    """
    scene = load_scene("stand")
    loaded = lifting_robot(robot, lifter)
    placed = replace(scene.robots[0], robot=loaded, q=whole_configuration(robot, lifter, q))
    rules = [PairRule("*", "*", friction=SOLES_FRICTION)]
    rests = ground_friction is not None
    rules.append(PairRule("hrp2/*_OBJECT", "*", friction=ground_friction, collide=rests))
    gravity = np.array([0.0, 0.0, -lifter.tree.gravity])
    return replace(scene, robots=(placed,), rules=tuple(rules), gravity=gravity)


def joint_columns() -> tuple[list[str], list[int]]:
    """Return the robot's names of both sides' joints, and the planar joint that each of them follows."""
    columns = [(joint_of_side(name, side), k) for k, name in enumerate(JOINTS) for side in "RL"]
    chosen = list(dict.fromkeys(columns))
    return [name for name, _ in chosen], [k for _, k in chosen]


def sampled(
    time: Array, q: Array, v: Array, torques: Array | None = None, *, offset: float = 0.0
) -> JointTrajectory:
    """Return the trajectory of both sides' joints through samples of the planar ones.

    Args:
        time: (K,) [s].
        q: (K, 7) [rad].
        v: (K, 7) [rad/s].
        torques: (K, 7) fed forward [N m].
        offset: added to times [s].
    """
    names, places = joint_columns()
    return JointTrajectory(
        names,
        time + offset,
        q[:, places],
        v[:, places],
        efforts=None if torques is None else torques[:, places],
    )


def sample_times(duration: float) -> Array:
    """(K,) times of the robot's control loop, every 5 ms, and the end [s]."""
    return np.append(np.arange(0.0, duration - 0.5 * DEFAULT_PERIOD, DEFAULT_PERIOD), duration)


@dataclass(frozen=True, eq=False)
class LiftRun:
    """What a replay saw, one entry every 5 steps.

    Attributes:
        time: since the lift began [s], shape (k,).
        wrench: of the right wrist's sensor in the hand's frame [N, N m], shape (k, 6).
        object_force: of the ground on the object, on both halves together [N], shape (k, 3).
        object_pressed: centre of that pressure, x; not a number in the air [m], shape (k,).
        object_place: middle of the object [m], shape (k, 3).
        feet_force: of the ground on the feet [N], shape (k, 3).
        zero_moment_point: of all that stands on the ground, x [m], shape (k,).
        feet_slip: largest way of a foot along the ground so far [m], shape (k,).
        drives: what motors were asked for from the beginning of the lift to its end.
        balance: at the same instants, from the beginning of the run.
        monitor: of the motors.
        fell: whether the trunk left its plan.
        joint_error: largest distance of a joint from its plan [rad].
        views: of the instants asked for.
    """

    time: Array
    wrench: Array
    object_force: Array
    object_pressed: Array
    object_place: Array
    feet_force: Array
    zero_moment_point: Array
    feet_slip: Array
    drives: list[DriveReport]
    balance: BalanceSeries
    monitor: MotorMonitor
    fell: bool
    joint_error: float
    views: tuple[Panel, ...]


def play_lift(
    simulation: Simulation,
    lifter: PlanarLifter,
    trajectory: JointTrajectory,
    *,
    instants: tuple[float, ...] = (),
    progress: bool = False,
) -> LiftRun:
    """Play a trajectory on the servos and watch hands, object, feet and motors.

    Args:
        simulation: of :func:`lifting_scene`.
        lifter: the planar model.
        trajectory: of :func:`sampled`; it is held for a while before and after.
        instants: when to look from the side, from the beginning of the trajectory [s].
        progress: shows a bar.
    """
    robot = simulation.robots["hrp2"]
    player = TrajectoryPlayer("hrp2", trajectory, start_time=BEFORE - trajectory.start_time)
    motors, balance = MotorMonitor("hrp2", _INTERVAL), BalanceMonitor("hrp2", _INTERVAL)
    start = [robot.placement(f"{side}LEG_LINK5").translation for side in "RL"]
    rows: list[Array] = []
    views: list[Panel] = []
    waiting = list(instants)
    worst_lean, slip = 0.0, 0.0
    names = list(trajectory.joint_names)
    turned = np.zeros((len(names),))
    for joint, sign in (("RLEG_JOINT4", 1.0), ("RLEG_JOINT3", 1.0), ("RLEG_JOINT2", 1.0)):
        turned[names.index(joint)] = sign

    def watch(simulation: Simulation) -> None:
        nonlocal worst_lean, slip
        now = simulation.time - BEFORE
        if waiting and now >= waiting[0] - 1e-9:
            views.append(view(simulation, f"after {waiting.pop(0):.2f} s"))
        if simulation.step_count % _INTERVAL:
            return
        planned = -float(turned @ trajectory.at(now + trajectory.start_time).positions)
        R = robot.placement_world_base.rotation
        worst_lean = max(worst_lean, abs(float(np.arctan2(R[0, 2], R[2, 2])) - planned))
        force = {"object": np.zeros(3), "feet": np.zeros(3)}
        moment = {"object": 0.0, "feet": 0.0}
        contacts = simulation.contacts
        for (a, b), at, pushed in zip(contacts.bodies, contacts.position, contacts.force, strict=True):
            own, sign = (a, 1.0) if a.startswith("hrp2/") else (b, -1.0)
            part = "object" if own.endswith("OBJECT") else "feet"
            force[part] += sign * pushed
            moment[part] += sign * pushed[2] * at[0]
        feet = [robot.placement(f"{side}LEG_LINK5").translation for side in "RL"]
        slip = max([slip, *(float(np.linalg.norm((p - s)[:2])) for p, s in zip(feet, start, strict=True))])
        held = np.mean([robot.placement(f"{side}_OBJECT").translation for side in "RL"], axis=0)
        on_feet, on_object = force["feet"][2], force["object"][2]
        pressed = moment["object"] / on_object if on_object > 0.0 else np.nan
        both = on_feet + on_object
        zmp = (moment["feet"] + moment["object"]) / both if both > 0.0 else np.nan
        wrench = robot.wrench("right_wrist")
        rows.append(np.hstack([now, wrench, force["object"], pressed, held, force["feet"], zmp, slip]))

    simulation.add_module(player)
    simulation.run(BEFORE)
    for module in (motors, balance):
        simulation.add_module(module)
    span = trajectory.end_time - trajectory.start_time
    simulation.run(span, watch, progress=progress)
    drives = motors.report()
    simulation.run(AFTER, watch, progress=progress)
    table = np.array(rows)
    return LiftRun(
        table[:, 0], table[:, 1:7], table[:, 7:10], table[:, 10], table[:, 11:14], table[:, 14:17], table[:, 17],
        table[:, 18],
        drives, balance.series, motors, worst_lean > _FALLEN, float(player.tracking_error.largest.max()),
        tuple(views),
    )  # fmt: skip
