# SPDX-License-Identifier: Apache-2.0
"""Experiment E3: HRP-2 walks with a large box laid across its arms, and falls (specification 000 §27, Fig. 3.6)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin

from humanoid_control.walking import generate_walk, plan_footsteps
from humanoid_model import PairRule, Scene, SceneBody, load_scene
from humanoid_model.description import Box, Geometry
from humanoid_model.inertia import uniform_inertia
from humanoid_model.scene import place_robot
from humanoid_sim.simulation import Simulation
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve
from humanoid_studies.simulator.walk_run import run_walk

POSTURE = "arms_forward"
"""Of the arms while walking."""
BOX_SIZE = (0.3, 0.8, 0.3)
"""m; the thesis says that it is large."""
BOX_MASS = 10.0
"""kg; the pattern doesn't know of it."""
BOX_PLACE = (0.42, 0.08, 1.335)
"""Of its centre at the start: on both forearms, 8 cm to the left [m]."""
DURATION = 10.0
"""Of the run [s]."""


def box_scene() -> Scene:
    """Return the scene ``walk`` with the arms forward and the box on them."""
    scene = load_scene("walk")
    placed = scene.robots[0]
    q = place_robot(placed.robot, POSTURE, placed.placement)
    shape = (Geometry("box", Box(np.array(BOX_SIZE)), pin.SE3.Identity(), np.array([0.7, 0.5, 0.3, 1.0])),)
    inertia = uniform_inertia(shape, BOX_MASS)
    assert inertia is not None
    place = pin.SE3(np.eye(3), np.array(BOX_PLACE))
    box = SceneBody(
        "box", "a large box", BOX_MASS, np.array(inertia.lever), np.array(inertia.inertia), place, np.zeros(6), shape
    )
    return replace(
        scene,
        robots=(replace(placed, posture=POSTURE, q=q),),
        bodies=(*scene.bodies, box),
        rules=(*scene.rules, PairRule("hrp2/*", "box", friction=0.4)),
    )


def run(*, progress: bool = False) -> ExperimentResult:
    """Walk with the box until robot and box lie on the floor.

    Args:
        progress: shows a bar.
    """
    scene = box_scene()
    robot = scene.robots[0].robot
    pattern = generate_walk(robot, plan_footsteps(robot, POSTURE), POSTURE)
    simulation = Simulation(scene)
    energies, boxes, sideways, depths = [], [], [], []

    def watch(simulation: Simulation) -> None:
        """Energy, the box's height, where the torso is, how deep anything is inside of something."""
        energies.append(simulation.energy().total)
        boxes.append(float(simulation.placement("box").translation[2]))
        sideways.append(simulation.robots["hrp2"].placement("CHEST_LINK1").translation[:2].copy())
        gaps = simulation.contacts.gap
        depths.append(-float(gaps.min()) if len(gaps) else 0.0)

    seen = run_walk(
        simulation, pattern, stop_fallen=False, duration=DURATION, after_step=watch, progress="box" if progress else ""
    )
    energy = np.array(energies)
    gained = float(energy.max() - energy[0])
    still = float(np.abs(simulation.v).max())
    torso = np.array(sideways)
    fell = seen.fell_at
    aside = float(torso[-1, 1] - torso[0, 1])
    box_down = boxes[-1] < max(BOX_SIZE)
    rows = (
        Row("robot falls", "yes", np.nan if fell is None else fell, "s", fell is not None),
        Row("torso has moved aside", "sideways", aside, "m"),
        Row("box's height at the end", "on the floor", boxes[-1], "m", box_down),
        Row("most contact points at once", "> 20", float(seen.contacts.max()), "", bool(seen.contacts.max() > 20)),
        Row("energy: most above the start", "finite", gained, "J", bool(np.isfinite(energy).all() and gained < 60.0)),
        Row("deepest overlap", "", 1e3 * max(depths), "mm"),
        Row("fastest coordinate at the end", "at rest", still, "m/s, rad/s", still < 0.5),
    )
    panels = (
        Panel(
            "time [s]", "m",
            (curve(seen.time, seen.torso_height, "torso"), curve(seen.time, boxes, "box")), "Heights",
        ),
        Panel("time [s]", "", (curve(seen.time, seen.contacts),), "Contact points"),
        Panel("time [s]", "J", (curve(seen.time, energy),), "Energy"),
    )  # fmt: skip
    return ExperimentResult("E3", "A large box carried while walking", rows, panels)
