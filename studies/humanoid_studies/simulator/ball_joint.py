# SPDX-License-Identifier: Apache-2.0
"""Experiment E8: parametrisations of a ball joint, and what ball joints cost (specification 000 §27, F039-F041)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np
import pinocchio as pin
from tqdm import tqdm

from humanoid_model.files import find_resource
from humanoid_model.robot import load_robot
from humanoid_model.scene import Scene, SceneRobot
from humanoid_model.scene_file import load_scene
from humanoid_sim.simulation import Simulation
from humanoid_studies.rotation.ball_pendulum import PARAMETRISATIONS, BallPendulumRun, swing_ball_pendulum
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve

_SMALLEST = 1e-17
"""What a logarithmic axis shows of an exact zero."""
_ROUNDS, _STEPS = 20, 50
"""The two avatars take turns in so many rounds of so many steps; the fastest round of each counts."""


def run(speed: float = 12.0, duration: float = 10.0, *, progress: bool = False) -> ExperimentResult:
    """Whirl a rod on a ball joint with each parametrisation, then time an avatar with and without ball joints.

    Args:
        speed: angular velocity of the rod at the start [rad/s]; beyond 10.84 it goes round and round.
        duration: of the swing [s].
        progress: shows a bar.
    """
    runs: dict[str, BallPendulumRun] = {}
    for name in tqdm(PARAMETRISATIONS, unit="parametrisation", disable=not progress):
        runs[name] = swing_ball_pendulum(name, speed=speed, duration=duration)
    quaternion, vector = runs["quaternion"], runs["rotation_vector"]
    thesis, turned = runs["three_angles_thesis"], runs["three_angles"]
    away = float(quaternion.out_of_plane.max())
    slower = vector.seconds / quaternion.seconds
    ball, hinges = step_times()
    rows = (
        Row("quaternion: out of the plane", "< 1e-9", away, "m", away < 1e-9),
        Row("quaternion: error of the norm", "< 1e-12", quaternion.norm_error, "", quaternion.norm_error < 1e-12),
        Row("quaternion: error of the angle", "", float(quaternion.angle_error.max()), "rad"),
        Row("rotation vector: error of the angle", "correct", e := float(vector.angle_error.max()), "rad", e < 1e-8),
        Row("rotation vector: replaced", "", vector.reparametrised, "times"),
        Row("rotation vector: time / quaternion's", "> 1", slower, "", slower > 1.0, wall_clock=True),
        Row("three angles: flagged steps", "failure flagged", thesis.flagged, "", thesis.flagged > 0),
        Row("three angles: out of the plane", "deviates", e := float(thesis.out_of_plane.max()), "m", e > 1e-3),
        Row("three angles, nodes turned: out of the plane", "", float(turned.out_of_plane.max()), "m"),
        Row("avatar with ball joints: step", "", 1e6 * ball, "µs", wall_clock=True),
        Row("its time / that with hinges", "1 ± 0.2", ball / hinges, "", abs(ball / hinges - 1) < 0.2, wall_clock=True),
    )
    return ExperimentResult("E8", "Parametrisations of a ball joint", rows, _panels(list(runs.values())))


def hinged_avatar() -> Scene:
    """Return the scene ``avatar`` with three hinges and massless links between them in place of each ball joint."""
    scene = load_scene("avatar")
    placed = scene.robots[0]
    robot = load_robot(find_resource("urdf/avatar.urdf").read_text(encoding="utf-8"), floating_base=True)
    positions = Simulation(scene).robots[placed.name]
    q = pin.neutral(robot.model)
    q[:7] = placed.q[:7]
    for name, angle in zip(positions.joint_names, positions.joint_positions, strict=True):
        q[robot.model.joints[robot.model.getJointId(name)].idx_q] = angle
    hinged = SceneRobot(placed.name, robot, "zero", placed.placement, q, placed.label)
    return replace(scene, robots=(hinged,))


def step_times() -> tuple[float, float]:
    """Return seconds of a step of the standing avatar with ball joints and with hinges."""
    simulations = [Simulation("avatar"), Simulation(hinged_avatar())]
    best = [np.inf, np.inf]
    for _ in range(_ROUNDS):
        for i, simulation in enumerate(simulations):
            simulation.reset()
            begin = perf_counter()
            for _ in range(_STEPS):
                simulation.step()
            best[i] = min(best[i], (perf_counter() - begin) / _STEPS)
    return best[0], best[1]


def _panels(runs: Sequence[BallPendulumRun]) -> tuple[Panel, ...]:
    def curves(name: str) -> tuple:
        return tuple(
            curve(run.time, np.maximum(getattr(run, name), _SMALLEST), run.parametrisation.replace("_", " "))
            for run in runs
        )

    turns = tuple(
        curve(run.time, run.angle / (2.0 * np.pi), run.parametrisation.replace("_", " "), "dashed" if i % 2 else "line")
        for i, run in enumerate(runs)
    )
    bound = curve(runs[0].time[[0, -1]], [1e-9] * 2, "1e-9 m", "dashed", "grey")
    return (
        Panel("time [s]", "angle [turns]", turns, "angle of the swing"),
        Panel("time [s]", "distance [m]", (*curves("out_of_plane"), bound), "centre out of the plane", y_log=True),
        Panel("time [s]", "angle [rad]", curves("axis_drift"), "axis of the swing turned away", y_log=True),
    )
