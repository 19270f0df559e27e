# SPDX-License-Identifier: Apache-2.0
"""Experiment E18: HRP-2 presses a beam; what its hand's force sensor reads (specification 000 §27, N14, F149)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin

from humanoid_model.scene import Scene
from humanoid_model.scene_file import load_scene
from humanoid_sim.simulation import Simulation
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve
from humanoid_studies.simulator.leaning import JointGoal, joint_trajectory
from humanoid_studies.simulator.scene_view import view

HAND_MASS = 0.770
"""What the thesis' sensor carries [kg]; 7.55 N."""
FRICTION = 0.1
"""Between hand and beam."""
UPRIGHT, BENT, RAISED, FORWARD, END = 1.0, 3.0, 5.2, 7.0, 9.0
"""Until when it stands upright, bends, has raised the arm, has moved it forward; end [s]."""
_RAISING, _STARTING = 4.0, 5.5
"""When it begins to raise the arm and to move it forward [s]."""
SENSOR = "right_wrist"
_GOALS = (
    JointGoal(UPRIGHT, {}),
    JointGoal(
        BENT,
        {"*LEG_JOINT2": -0.454, "*LEG_JOINT3": 0.873, "*LEG_JOINT4": -0.419, "*ARM_JOINT0": 0.26, "*ARM_JOINT3": -0.52},
    ),
    JointGoal(_RAISING, {}),
    JointGoal(RAISED, {"RARM_JOINT0": 0.2, "RARM_JOINT3": -0.2 - 0.5 * np.pi}),
    JointGoal(_STARTING, {}),
    JointGoal(FORWARD, {"RARM_JOINT0": -0.55, "RARM_JOINT3": 0.55 - 0.5 * np.pi}),
)
"""The forearm stays horizontal while the hand goes forward."""
_STIFF, _DAMPED = 2e4, 1e3
"""Servos of the arm hardly give way, as the geared ones of the robot [N m/rad, N m s/rad]."""
_CUT = 15.0
"""The sensor's curves are drawn up to this [N]."""


def run(*, progress: bool = False) -> ExperimentResult:
    """Bend, raise the forearm to the horizontal, move it forward against the beam, and stay.

    Args:
        progress: shows a bar.
    """
    simulation = Simulation(beam_scene())
    robot = simulation.robots["hrp2"]
    arm = [name for name in robot.joint_names if name.startswith("RARM")]
    robot.set_gains(np.full(len(arm), _STIFF), np.full(len(arm), _DAMPED), joints=arm)
    driven = robot.driven_joint_names
    places = [robot.joint_names.index(name) for name in driven]
    trajectory = joint_trajectory(driven, robot.joint_positions[places], _GOALS)
    rows, views = [], []
    weight = HAND_MASS * 9.8

    def watch(simulation: Simulation) -> None:
        contacts = simulation.contacts
        touching = [i for i, pair in enumerate(contacts.bodies) if "beam" in pair]
        normal = contacts.normal_force[touching]
        across = contacts.force[touching] - normal[:, None] * contacts.normal[touching]
        excess = float((np.linalg.norm(across, axis=1) - FRICTION * normal).max(initial=0.0))
        slide = float(np.linalg.norm(contacts.velocity[touching], axis=1).max(initial=0.0)) if normal.sum() > 0 else 0.0
        rows.append((simulation.time, *robot.wrench(SENSOR)[:3], normal.sum(), excess, slide))
        if any(abs(simulation.time - t) < 0.5 * simulation.dt for t in (BENT, RAISED, END)):
            views.append(view(simulation, f"after {simulation.time:g} s"))
        point = trajectory.at(min(simulation.time, FORWARD))
        robot.set_position_target(np.array(point.positions), np.array(point.velocities), joints=driven)

    simulation.run(END, watch, progress=progress)
    time, x, y, z, pressed, excess, slide = np.array(rows).T

    def mean(values: np.ndarray, begin: float, end: float) -> float:
        return float(values[(time > begin) & (time < end)].mean())

    touch = float(time[np.argmax(pressed > 0.0)]) if (pressed > 0.0).any() else float("nan")
    still = (RAISED + 0.15, _STARTING)
    z_up, y_up = mean(z, 0.5, UPRIGHT), mean(y, 0.5, UPRIGHT)
    z_level, y_level = mean(z, *still), mean(y, *still)
    max_x = float(np.abs(x[time < touch]).max())
    peak = float(pressed.max())
    final = mean(pressed, END - 0.5, END)
    z_final, y_final = mean(z, END - 0.5, END), mean(y, END - 0.5, END)
    slid, way = float(slide[time > touch].max()), float(slide[time > touch].sum() * simulation.dt)
    lacks = abs(y_final - weight) / (FRICTION * final)
    swing = z[time > FORWARD]
    table = (
        Row("z upright", "7.55", z_up, "N", abs(z_up / weight - 1.0) < 0.01),
        Row("y upright", "0", y_up, "N", abs(y_up) < 0.01 * weight),
        Row("z, arm horizontal", "0", z_level, "N", abs(z_level) < 0.01 * weight),
        Row("y, arm horizontal", "7.55", y_level, "N", abs(y_level / weight - 1.0) < 0.01),
        Row("x before the contact, largest", "≈ 0", max_x, "N", max_x < 0.1 * weight),
        Row("hand touches the beam", "6.5", touch, "s", abs(touch - 6.5) < 0.2),
        Row("peak of the pressing force", "a peak at the contact", peak, "N", peak > final),
        Row("pressing force at the end", "positive", final, "N", final > 1.0),
        Row("−z at the end", "the pressing force", -z_final, "N", abs(-z_final / final - 1.0) < 0.05),
        Row("y at the end", "≈ 7.55", y_final, "N", abs(y_final / weight - 1.0) < 0.05),
        Row("what lacks of it over the beam's friction", "≤ 1", lacks, "", lacks <= 1.0),
        Row("the hand slips by", "a small slip", 1e3 * way, "mm", 0.0 < 1e3 * way < 10.0),
        Row("fastest slip of the hand", "", 1e3 * slid, "mm/s"),
        Row("largest force outside the friction cone", "0", float(excess.max()), "N", float(excess.max()) < 1e-6),
        Row("swing of z after 7 s", "flexible ankles", float(np.ptp(swing)), "N"),
    )
    read = {"x": x, "y": y, "z": z}
    curves = tuple(curve(time, np.clip(force, -_CUT, _CUT), name) for name, force in read.items())
    late = time > 6.0
    pressing = (curve(time[late], pressed[late], "contact force"), curve(time[late], -z[late], "−z of the sensor"))
    panels = (
        *views,
        Panel("time [s]", "force at the hand's sensor [N]", curves, f"sensor, weight included, cut at {_CUT:g} N"),
        Panel("time [s]", "[N]", pressing, "pressing"),
    )
    return ExperimentResult("E18", "A force sensor while a hand presses a beam", table, panels)


def beam_scene() -> Scene:
    """Return scene ``beam`` with the thesis' hand: its weight, its sensor's z along the hand, y to the rear."""
    scene = load_scene("beam")
    placed = scene.robots[0]
    robot = placed.robot
    links = dict(robot.description.links)
    carried = ("RARM_LINK5", "RARM_LINK6")
    inertials = {name: links[name].inertial for name in carried}
    total = sum(inertial.mass for inertial in inertials.values() if inertial is not None)
    for name, inertial in inertials.items():
        assert inertial is not None
        share = HAND_MASS / total
        lighter = replace(inertial, mass=share * inertial.mass, inertia=share * inertial.inertia)
        links[name] = replace(links[name], inertial=lighter)
    turned = pin.SE3(pin.rpy.rpyToMatrix(0.0, np.pi, 0.5 * np.pi), np.zeros(3))
    sensors = {**robot.sensors, SENSOR: replace(robot.sensors[SENSOR], placement_link_sensor=turned)}
    changed = replace(robot, description=replace(robot.description, links=links), sensors=sensors)
    return replace(scene, robots=(replace(placed, robot=changed),))
