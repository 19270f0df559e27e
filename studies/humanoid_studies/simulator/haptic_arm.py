# SPDX-License-Identifier: Apache-2.0
"""Experiment E10: a user leads HRP-2's hand to an object, its gripper closes, both lift it (specification 000 §27)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from tqdm import tqdm

from humanoid_model.description import Box, Shape
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_model.scene import PairRule, Scene, SceneBody, SceneRobot, place_robot
from humanoid_sim.interaction import AttachMode, ScriptedDevice
from humanoid_sim.interaction.joint_admittance import JointAdmittance
from humanoid_sim.simulation import Simulation
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve
from humanoid_studies.simulator.gripping_hand import CENTRE, CLOSED, JAWS, hrp2_with_jaws
from humanoid_studies.simulator.made_scene import GRAVITY, made_body, made_scene
from humanoid_studies.simulator.scene_view import view

BENT, TAKEN, THERE, CLOSING, LIFTING, LIFTED, END = 4.0, 12.5, 16.5, 17.5, 18.8, 19.6, 22.5
"""Legs and arms are bent, the user takes the hand, is at the object, the jaws begin to close, lift begins, ends [s]."""
CLOSING_TIME = 0.9
"""Of the jaws, from open to as far as they want to go [s]."""
UP = 0.08
"""How far the user lifts [m]."""
MASS = 1.75
"""Of the object [kg]."""
STIFFNESS, ROTATIONAL_STIFFNESS = 500.0, 10.0
"""Of the coupling to the hand [N/m, N m/rad]; the thesis gives none."""
INERTIA, DAMPING = 0.1, 1.0
"""Of the yielding arm, in equation 3.65 [kg m^2, N m s/rad]; the thesis gives none."""
HANDLE = np.array([0.6, -0.25, 0.93])
"""Where the nearer handle is [m]."""
ARM = tuple(f"RARM_JOINT{i}" for i in range(7))
_BENT_ARMS = {"ARM_JOINT0": 0.3, "ARM_JOINT1": 0.0, "ARM_JOINT3": -0.3 - 0.5 * np.pi, "ARM_JOINT6": 0.0}
_BODY, _BAR, _POST = np.array([0.1, 0.2, 0.08]), np.array([0.04, 0.12, 0.02]), np.array([0.04, 0.01, 0.02])
_REACH = 0.11
"""From the middle of the object to that of a handle's bar [m]."""
_WINDOW, _DROP = 0.5, 0.2


@dataclass(frozen=True, eq=False)
class Session:
    """What one run saw, one entry per step unless told otherwise.

    Attributes:
        time: s, shape (n,).
        hand: middle between the pads [m], shape (n, 3).
        object: where the object is [m], shape (n, 3).
        force: of the user on the hand [N], shape (n, 3).
        jaws: contact force of the jaws on the object [N], shape (n, 3).
        grip: smaller of the two jaws' normal forces [N], shape (n,).
        support: upward force on the object of all that is no jaw [N], shape (n,).
        knee: angle of the right knee [rad], shape (n,).
        tilt: of the object about y, in the hand [rad], shape (n,).
        slid: how far the object's handle is ahead of the middle between the pads, along the forearm [m], shape (n,).
        views: from the side.
    """

    time: NDArray[np.float64]
    hand: NDArray[np.float64]
    object: NDArray[np.float64]
    force: NDArray[np.float64]
    jaws: NDArray[np.float64]
    grip: NDArray[np.float64]
    support: NDArray[np.float64]
    knee: NDArray[np.float64]
    tilt: NDArray[np.float64]
    slid: NDArray[np.float64]
    views: tuple[Panel, ...]


def run(*, progress: bool = False) -> ExperimentResult:
    """Let a scripted user do it.

    Args:
        progress: shows a bar.
    """
    s = session(progress=progress)
    time, size = s.time, np.linalg.norm(s.force, axis=1)
    bent = _first(time, s.knee > 0.99 * s.knee[-1])
    taken = _first(time, size > 0.0)
    begin, there = s.hand[time >= TAKEN][0], s.hand[time >= CLOSING][0]
    straight = float(abs(there[0] - begin[0]) / np.linalg.norm(there - begin))
    touched = _first(time, np.linalg.norm(s.jaws, axis=1) > 0.0)
    gripped = _first(time, s.grip > 1.0, touched)
    seating = (time >= CLOSING) & (time < LIFTING)
    peak = int(np.flatnonzero(seating)[np.argmax(s.force[seating, 0])])
    after = (time > time[peak]) & (time < time[peak] + _DROP)
    drop = float(s.force[peak, 0] - s.force[after, 0].min())
    turned = float(np.ptp(s.tilt[seating]))
    airborne = float(time[np.flatnonzero(s.support > 0.0)[-1]])
    events = [bent, taken, touched, gripped, float(time[peak]), airborne]
    ordered = bool(np.all(np.diff(events) > 0.0))
    held = time > END - 0.5
    carried, table = float(s.jaws[held, 2].mean()), float(s.support[held].max())
    raised = float(s.object[-1, 2] - s.object[0, 2])
    slips = 1e3 * float(np.ptp(s.slid[(time > airborne) | held]))
    swings = amplitudes(s)
    decay = float((swings[1:] / swings[:-1]).max())
    rows = (
        Row("legs and arms are bent at", "4", bent, "s", abs(bent - BENT) < 0.5),
        Row("user takes the hand at", "12.5", taken, "s", abs(taken - TAKEN) < 0.01),
        Row("share of x in the hand's way", "mostly x", straight, "", straight > 0.9),
        Row("first jaw touches the handle at", "after 17.5", touched, "s", touched > CLOSING),
        Row("second jaw does at", "", gripped, "s", gripped > touched),
        Row("object turns in the gripper by", "re-seats", 1e3 * turned, "mrad", turned > 0.01),
        Row("user's force along x peaks at", "18.2", float(time[peak]), "s", abs(time[peak] - 18.2) < 0.3),
        Row("peak, then", "", float(s.force[peak, 0]), "N"),
        Row("drop within 0.2 s", "drops", drop, "N", drop > 0.3 * s.force[peak, 0]),
        Row("x of the hand at the peak", "-0.164", float(s.hand[peak, 0] - begin[0]), "m"),
        Row("object leaves the table at", "then lift", airborne, "s", LIFTING < airborne < LIFTED),
        Row("events are in this order (1)", "yes", int(ordered), "", ordered),
        Row("jaws carry", "17.15", carried, "N", abs(carried / (MASS * GRAVITY) - 1.0) < 0.01),
        Row("all else carries", "0", table, "N", table == 0.0),
        Row("object is raised by", "", 1e3 * raised, "mm", abs(raised - UP) < 0.02),
        Row("and slides in the gripper by", "", slips, "mm", slips < 1.0),
        Row("swing of the force after the lift", "", float(swings[0]), "N", swings[0] > 1.0),
        Row("at the end", "decays", float(swings[-1]), "N", swings[-1] < 0.1 * swings[0]),
        Row("largest ratio of two that follow", "< 1", decay, "", decay < 1.0),
    )
    late = time > TAKEN
    closing = time > CLOSING
    last = s.views[-1]
    path = curve(s.hand[late, 0], s.hand[late, 2], "way of the hand", colour="black")
    panels = (
        *s.views[:-1],
        Panel(last.x_label, last.y_label, (*last.curves, path), last.title, equal=True),
        Panel(
            "time [s]", "force of the user [N]", tuple(curve(time[late], s.force[late, i], "xyz"[i]) for i in range(3))
        ),
        Panel("x of the hand [m]", "force of the user along x [N]", (curve(s.hand[late, 0], s.force[late, 0]),)),
        Panel(
            "time [s]",
            "on the object [N]",
            (
                curve(time[closing], s.support[closing], "from the table"),
                curve(time[closing], s.grip[closing], "grip"),
                curve(time[closing], s.jaws[closing, 2], "jaws, upwards"),
                curve([CLOSING, END], [MASS * GRAVITY] * 2, "weight", "dashed", "grey"),
            ),
        ),
    )
    return ExperimentResult("E10", "Haptic manipulation of HRP-2's arm", rows, panels)


def amplitudes(s: Session) -> NDArray[np.float64]:
    """Return how far the user's force swings after the lift, in one window after the other [N], shape (n,).

    Args:
        s: the run; a window is longer than a swing lasts.
    """
    count = int((END - LIFTED) / _WINDOW + 1e-9)
    edges = LIFTED + _WINDOW * np.arange(count + 1)
    windows = [s.force[(s.time > begin) & (s.time <= end)] for begin, end in pairwise(edges)]
    return np.array([float(np.ptp(window, axis=0).max()) for window in windows])


def _first(time: NDArray[np.float64], happens: NDArray[np.bool_], after: float = 0.0) -> float:
    """When something happens first after an instant [s]; not a number if never."""
    at = np.flatnonzero(happens & (time >= after))
    return float(time[at[0]]) if at.size else float("nan")


def scene() -> Scene:
    """HRP-2 with jaws, upright; before it a table with an object that has a handle on each side."""
    robot = hrp2_with_jaws()
    here = pin.SE3.Identity()
    placed = SceneRobot("hrp2", robot, "zero", here, place_robot(robot, "zero", here))
    centre = HANDLE + np.array([_REACH, 0.0, 0.0])
    top = float(centre[2] - 0.5 * _BODY[2])
    size = np.array([0.4, 0.6, top])
    middle = np.array([centre[0] - 0.5 * _BODY[0] - 0.01 + 0.5 * size[0], centre[1], 0.5 * top])
    table = made_body("table", [(Box(size), here)], 0.0, pin.SE3(np.eye(3), middle))
    rules = (PairRule("*", "*", friction=0.6), PairRule("hrp2/RARM_JAW_*", "object", friction=0.8))
    return made_scene("two handles", (table, _two_handles(centre)), robots=(placed,), rules=rules)


def _two_handles(centre: NDArray[np.float64]) -> SceneBody:
    """Return a box with a bar before and behind it, each on two posts."""
    shapes: list[tuple[Shape, pin.SE3]] = [(Box(_BODY), pin.SE3.Identity())]
    for side in (-1.0, 1.0):
        shapes.append((Box(_BAR), pin.SE3(np.eye(3), np.array([side * _REACH, 0.0, 0.0]))))
        between = side * 0.5 * (0.5 * _BODY[0] + _REACH - 0.5 * _BAR[0])
        for y in (-0.055, 0.055):
            shapes.append((Box(_POST), pin.SE3(np.eye(3), np.array([between, y, 0.0]))))
    return made_body("object", shapes, MASS, pin.SE3(np.eye(3), centre))


def session(*, progress: bool = False) -> Session:
    """Bend, let the user lead the hand to the object, close the jaws, lift.

    Args:
        progress: shows a bar.
    """
    simulation = Simulation(scene())
    robot = simulation.robots["hrp2"]
    goal = dict(zip(robot.joint_names, robot.joint_positions.tolist(), strict=True))
    start = list(goal.values())
    for leg in ("RLEG", "LLEG"):
        goal.update({f"{leg}_JOINT2": -0.453785606, f"{leg}_JOINT3": 0.872664626, f"{leg}_JOINT4": -0.41887902})
    goal.update({side + joint: angle for side in "RL" for joint, angle in _BENT_ARMS.items()})
    rest = np.zeros((2, len(goal)))
    bending = JointTrajectory(tuple(goal), [0.0, BENT], [start, list(goal.values())], rest, rest)
    closing = JointTrajectory(
        JAWS, [CLOSING, CLOSING + CLOSING_TIME], [[0.0, 0.0], [CLOSED, CLOSED]], np.zeros((2, 2)), np.zeros((2, 2))
    )
    rows, views = [], []
    hand: AttachMode | None = None
    looks = [TAKEN, CLOSING, END - 0.5]
    bar = tqdm(total=round(END / simulation.dt), unit="step", disable=not progress)
    while simulation.time < END - 0.5 * simulation.dt:
        now = simulation.time
        if now <= BENT:
            at = bending.at(now)
            robot.set_position_target(at.positions, at.velocities)
        if hand is None and now >= TAKEN - 0.1:
            hand = _user(simulation)
            simulation.add_module(hand)
            simulation.add_module(JointAdmittance("hrp2", ARM, inertia=INERTIA, damping=DAMPING))
        jaw = closing.at(now)
        robot.set_position_target(jaw.positions, jaw.velocities, joints=JAWS)
        simulation.step()
        bar.update()
        rows.append(_seen(simulation, hand))
        if looks and simulation.time >= looks[0]:
            views.append(view(simulation, f"after {looks.pop(0):g} s"))
    bar.close()
    table = np.array(rows)
    return Session(
        table[:, 0], table[:, 1:4], table[:, 4:7], table[:, 7:10], table[:, 10:13], table[:, 13], table[:, 14],
        table[:, 15], table[:, 16], table[:, 17], tuple(views),
    )  # fmt: skip


def _user(simulation: Simulation) -> AttachMode:
    """Take the hand where it is, leads it to the handle, lifts."""
    at = simulation.robots["hrp2"].placement("RARM_LINK6").act(np.array(CENTRE))
    path = [at, at, HANDLE, HANDLE, HANDLE + np.array([0.0, 0.0, UP])]
    return AttachMode(
        ScriptedDevice([0.0, TAKEN, THERE, LIFTING, LIFTED], path, presses=[(TAKEN, END + 1.0)]),
        body="hrp2/RARM_LINK6",
        stiffness=STIFFNESS,
        rotational_stiffness=ROTATIONAL_STIFFNESS,
    )


def _seen(simulation: Simulation, hand: AttachMode | None) -> tuple[float, ...]:
    """Return a row of the log."""
    robot, contacts = simulation.robots["hrp2"], simulation.contacts
    by_jaw, pressed, support = np.zeros(3), np.zeros(2), 0.0
    for (first, second), force, normal in zip(contacts.bodies, contacts.force, contacts.normal_force, strict=True):
        if "object" not in (first, second):
            continue
        other, on_object = (second, force) if first == "object" else (first, -force)
        if "RARM_JAW_LINK" in other:
            by_jaw += on_object
            pressed[int(other[-1])] += abs(normal)
        else:
            support += float(on_object[2])
    user: NDArray[np.float64] = np.zeros(3)
    if hand is not None:
        for acting in hand.forces:
            user = user + acting.force
    link, held = robot.placement("RARM_LINK6"), simulation.bodies["object"].placement_world_body
    place, in_hand = link.act(np.array(CENTRE)), link.actInv(held)
    handle = in_hand.act(np.array([-_REACH, 0.0, 0.0]))
    ahead = -in_hand.rotation[:, 0]  # the hand's -z is along the object's x when both are level
    tilt = float(np.arctan2(ahead[0], ahead[2]))
    knee = float(robot.joint_positions[robot.joint_names.index("RLEG_JOINT3")])
    grip = float(pressed.min())
    slid = float(CENTRE[2] - handle[2])
    return (
        simulation.time, *place, *held.translation, *user, *by_jaw, grip, support, knee, tilt, slid,
    )  # fmt: skip
