# SPDX-License-Identifier: Apache-2.0
"""Experiment E20: HRP-2 lifts a weight above its head (specification 000 §22, §27, Figs. 5.30-5.35; F151, F155)."""

from __future__ import annotations

import numpy as np

from humanoid_model.arrays import Array
from humanoid_model.robot import load_robot
from humanoid_sim.actuation.motors import parallelogram
from humanoid_sim.simulation import Simulation
from humanoid_studies.lifting.judgement import judge
from humanoid_studies.lifting.planar_lifter import JOINTS, SENSOR_LIMITS, HeldObject, PlanarLifter
from humanoid_studies.lifting.reachable_space import CELL, ReachableSpace, reachable_space
from humanoid_studies.lifting.replay import LiftRun, joint_of_side, lifting_scene, play_lift, sample_times, sampled
from humanoid_studies.lifting.weight_lift import LONGEST, LiftMotion, LiftResult, WeightLift
from humanoid_studies.simulator.experiment_result import Curve, ExperimentResult, Panel, Row, curve

OBJECT = HeldObject(8.4, 0.15, 0.3)
HEAVY = HeldObject(23.4, 0.1, 0.3)
"""Its height is our choice; of the first one all is the thesis'."""
SLOWER = 5.0
LEGS, ARMS = 13, 37
"""Angles tried of each joint for the reachable spaces."""
_ANGLES = {"hanging": 0.5 * np.pi, "ahead": 0.0, "above": -0.5 * np.pi}


def thesis_postures(lifter: PlanarLifter) -> tuple[Array, Array]:
    """(7,) joint angles of start and end, from the places of hip, shoulder and object in thesis §5.2.2.3."""
    start = lifter.posture(-0.1 + 0.63j, -0.039 + 1.156j, 0.26 + 0.65j, 0.5 * np.pi)
    end = lifter.posture(-0.12 + 0.30j, -0.043 + 0.824j, 0.20 + 1.30j, -0.5 * np.pi)
    return start, end


def replay(lift: WeightLift, motion: LiftMotion, *, looks: int = 0, progress: bool = False) -> LiftRun:
    """Play a lift, sampled every 5 ms with its torques, in the simulator.

    Args:
        lift: its problem.
        motion: of it.
        looks: number of views, evenly spread.
        progress: shows a bar.
    """
    times = sample_times(motion.duration)
    series = lift.series(motion, times)
    simulation = Simulation(lifting_scene(load_robot("hrp2"), lift.lifter, motion.points[0]))
    instants = tuple(np.linspace(0.0, motion.duration, looks)) if looks else ()
    trajectory = sampled(times, series.q, series.v, series.torques)
    return play_lift(simulation, lift.lifter, trajectory, instants=instants, progress=progress)


def run(*, progress: bool = False) -> ExperimentResult:
    """Find the reachable spaces, optimise both lifts, and play the first one at its own pace and five times slower.

    Args:
        progress: shows bars.
    """
    robot = load_robot("hrp2")
    light, heavy = PlanarLifter(robot, OBJECT), PlanarLifter(robot, HEAVY)
    spaces = {
        (name, lifter.held.mass): reachable_space(lifter, angle, legs=LEGS, arms=ARMS)
        for lifter in (light, heavy)
        for name, angle in _ANGLES.items()
    }
    lift = WeightLift(light, *thesis_postures(light))
    found = lift.solve()
    heavy_lift = WeightLift(
        heavy, spaces["hanging", HEAVY.mass].lightest(), spaces["above", HEAVY.mass].lightest()
    )
    heavy_found = heavy_lift.solve()
    quick = replay(lift, found.motion, looks=4, progress=progress)
    slow = replay(lift, found.motion.slower(SLOWER), progress=progress)
    heavy_run = replay(heavy_lift, heavy_found.motion, progress=progress)
    rows = [
        *_space_rows(spaces),
        *_lift_rows("8.4 kg", "1.68", light, lift, found, quick),
        *_slow_rows(found.motion, slow),
        *_lift_rows("23.4 kg", "", heavy, heavy_lift, heavy_found, heavy_run),
    ]
    panels = (
        *(_space_panel(name, spaces) for name in ("hanging", "above")),
        *quick.views,
        *_limit_panels(light, quick, slow),
        *_hand_panels(lift, found.motion, quick),
    )
    return ExperimentResult("E20", "Lifting a weight above the head", tuple(rows), panels)


def _space_rows(spaces: dict[tuple[str, float], ReachableSpace]) -> list[Row]:
    rows = []
    for name in _ANGLES:
        small, large = (spaces[name, held.mass].area for held in (HEAVY, OBJECT))
        if name == "ahead":
            rows += [
                Row(f"static space, {held.mass:g} kg {name}", "empty", spaces[name, held.mass].area, "m²",
                    not len(spaces[name, held.mass].cells))
                for held in (OBJECT, HEAVY)
            ]  # fmt: skip
        else:
            rows += [
                Row(f"static space, 8.4 kg {name}", "", large, "m²", large > 0.0),
                Row(f"static space, 23.4 kg {name}", "smaller", small, "m²", 0.0 < small < large),
            ]
    return rows


def _lift_rows(
    name: str, thesis: str, lifter: PlanarLifter, lift: WeightLift, found: LiftResult, run: LiftRun
) -> list[Row]:
    excess = max((one.share for one in judge(lift, found.motion).violations.values()), default=0.0)
    T = found.motion.duration
    during = (run.time > 0.0) & (run.time <= T)
    peak = max(report.load for report in run.drives)
    # Along, across, moment: the hand's frame has z along it and y to the left.
    sensor = np.abs(run.wrench[during][:, [2, 0, 4]]).max(axis=0)
    zmp = run.zero_moment_point
    raised = float(run.object_place[-1, 2] - run.object_place[0, 2])
    planned = lift.lifter.grip.position(lifter.absolute @ lift.end)[1] - lift.lifter.grip.position(
        lifter.absolute @ lift.start
    )[1]
    return [
        Row(f"{name}: duration", thesis or "< 3", T, "s", found.solved and T < LONGEST),
        Row(f"{name}: energy (5.29)", "", found.energy, "J"),
        Row(f"{name}: largest excess between instants", "0", 100.0 * excess, "%", excess < 0.03),
        Row(f"{name}: replayed, object raised by", f"{planned:.3f}", raised, "m", abs(raised - planned) < 5e-3),
        Row(f"{name}: most of a motor's peak limits", "< 1", peak, "", peak < 1.0),
        Row(f"{name}: force along the hand", "< 200", sensor[0], "N", sensor[0] < SENSOR_LIMITS[0]),
        Row(f"{name}: force across the hand", "< 100", sensor[1], "N", sensor[1] < SENSOR_LIMITS[1]),
        Row(f"{name}: moment at the hand", "< 5", sensor[2], "N m", sensor[2] < SENSOR_LIMITS[2]),
        Row(f"{name}: zero-moment point, rearmost", f"> {lifter.sole[0]:g}", float(zmp.min()), "m",
            float(zmp.min()) > lifter.sole[0]),
        Row(f"{name}: zero-moment point, foremost", f"< {lifter.sole[1]:g}", float(zmp.max()), "m",
            float(zmp.max()) < lifter.sole[1]),
        Row(f"{name}: feet slip by", "0", 1e3 * float(run.feet_slip[-1]), "mm",
            run.feet_slip[-1] < 1e-3 and not run.fell),
    ]  # fmt: skip


def _slow_rows(motion: LiftMotion, slow: LiftRun) -> list[Row]:
    T = SLOWER * motion.duration
    nominal = max(report.nominal_load for report in slow.drives)
    longest = max(report.longest_peak for report in slow.drives)
    moment = float(np.abs(slow.wrench[slow.time <= T, 4]).max())
    return [
        Row("8.4 kg slowly: duration", "8 to 10, > 3", T, "s", T > LONGEST),
        Row("8.4 kg slowly: most of the nominal limits, which then hold", "> 1", nominal, "", nominal > 1.0),
        Row("8.4 kg slowly: longest beyond them at a stretch", "", longest, "s"),
        Row("8.4 kg slowly: moment at the hand", "", moment, "N m", moment > SENSOR_LIMITS[2]),
    ]


def _space_panel(name: str, spaces: dict[tuple[str, float], ReachableSpace]) -> Panel:
    curves = []
    for held, colour in ((OBJECT, "#2ca02c"), (HEAVY, "#d62728")):
        cells = spaces[name, held.mass].cells
        shift = CELL * (0.35 if held is OBJECT else 0.65)
        curves.append(curve(cells[:, 0] + shift, cells[:, 1] + shift, f"{held.mass:g} kg", "points", colour))
    return Panel("x [m]", "z [m]", tuple(curves), f"static space, object {name}; ahead it is empty", equal=True)


def _limit_panels(lifter: PlanarLifter, quick: LiftRun, slow: LiftRun) -> list[Panel]:
    """Torque and speed of shoulder, elbow and wrist within the motors' parallelograms (Fig. 5.33)."""
    panels = []
    for k in (4, 5, 6):
        name = joint_of_side(JOINTS[k], "R")
        curves: list[Curve] = []
        for torque, label, colour in ((lifter.peak[k], "peak", "black"), (lifter.nominal[k], "nominal", "green")):
            corners = parallelogram(float(lifter.speed[k]), float(torque))
            closed = np.vstack([corners, corners[:1]])
            curves.append(curve(closed[:, 0], closed[:, 1], label, colour=colour))
        for played, label, colour in ((quick, "replayed", "#1f77b4"), (slow, "5 times slower", "#d62728")):
            series, i = played.monitor.series, played.monitor.drives.place(name)
            curves.append(curve(series.effort[:, i], series.speed[:, i], label, colour=colour))
        panels.append(Panel("torque [N m]", "speed [rad/s]", tuple(curves), name))
    return panels


def _hand_panels(lift: WeightLift, motion: LiftMotion, quick: LiftRun) -> list[Panel]:
    series = lift.series(motion)
    lower, upper = lift.lifter.sole
    ends = np.array([quick.time[0], quick.time[-1]])
    return [
        Panel(
            "time [s]",
            "N, N m",
            (
                curve(quick.time, quick.wrench[:, 2], "along the hand"),
                curve(quick.time, quick.wrench[:, 0], "across it"),
                curve(quick.time, 10.0 * quick.wrench[:, 4], "moment × 10"),
                curve(series.time, 10.0 * series.sensor[:, 2], "planned", "dashed"),
            ),
            "at one wrist's sensor",
        ),
        Panel(
            "time [s]",
            "x [m]",
            (
                curve(quick.time, quick.zero_moment_point, "simulated"),
                curve(series.time, series.zero_moment_point, "planned", "dashed"),
                curve(ends, [lower, lower], "heel and toe", "dashed", "red"),
                curve(ends, [upper, upper], "", "dashed", "red"),
            ),
            "zero-moment point",
        ),
    ]
