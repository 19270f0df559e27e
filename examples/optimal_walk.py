# SPDX-License-Identifier: Apache-2.0
"""BIP2000, HRP-2, TALOS or G1 walks: least-effort steps of the sagittal plane, lifted to all joints, in the simulator.

Run with ``OPENBLAS_NUM_THREADS=1 python examples/optimal_walk.py walk.png``, and with ``--robot hrp2``,
``--robot talos --swing 0.75 --steps 4`` or ``--robot g1 --stride 0.75 --steps 6``, whose descriptions come with
``pip install example-robot-data==6.0.0``. With ``--stabilise`` torques bring it back to its plan, which a floor that
isn't level needs: ``--slope 2 --stabilise``. With ``--robot hrp2 --bridge`` the controller bridge drives the simulator
of a stack that is started for it; the picture then shows forces predicted and measured.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import matplotlib
import numpy as np
import pinocchio as pin
from scipy.spatial import ConvexHull
from tqdm import tqdm

from humanoid_control.tracking import MotionTracker
from humanoid_model import HumanoidError, InputError, Robot, Scene, load_robot, load_scene, with_robot
from humanoid_model.progress import progress_bar
from humanoid_planner.gait import MAX_CYCLES, gait_motion
from humanoid_planner.gait.lift import (
    SWING_FROM_REST,
    LiftedGait,
    LiftSettings,
    level_lift,
    level_walk,
    lift_gait,
    whole_trajectory,
    with_reserves,
)
from humanoid_planner.gait.models import project_to_sagittal_plane
from humanoid_sim import Simulation
from humanoid_sim.actuation import TrajectoryPlayer
from humanoid_sim.control import ControllerInLoop
from humanoid_sim.monitoring import BalanceMonitor

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SCENES = {"bip": "bip_walk", "hrp2": "stand"}
"""Where each robot walks; others stand on HRP-2's floor."""
OTHERS = ("talos", "g1")
"""Robots of example-robot-data that walk."""
BRIDGE_FRICTION = 0.5
"""That the bridge holds planned forces to: balance.friction of config/bridge/hrp2.yaml."""
STEEPEST = 30.0
"""Slope that is taken: soles begin to slide on steeper ones [degrees]."""
STANDING = 2.0
"""Time that the robot is watched after the walk [s]."""


@dataclass(frozen=True)
class Walked:
    """What came of a walk.

    Attributes:
        fallen: time of a fall, None without one [s].
        steps: feet put down.
        speed: mean over the steady steps [m/s].
        astray: greatest distance of the pelvis from its plan, along x, y and z, shape (3,) [m].
        joint_error: greatest one [rad]; 0 where no servos follow the plan.
        margin: least one of the measured zero-moment point inside the support, in single support; NaN after a fall
            before it [m].
        peaks: greatest share of its effort limit that each joint needed, by name.
        times: of the postures [s].
        postures: every 10 ms, shape (k, nq).
    """

    fallen: float | None
    steps: int
    speed: float
    astray: np.ndarray
    joint_error: float
    margin: float
    peaks: dict[str, float]
    times: np.ndarray
    postures: np.ndarray


def plan(
    steady: int = 10,
    robot: str = "bip",
    stride: float = 1.0,
    swing: float = SWING_FROM_REST,
    friction: float | None = None,
) -> LiftedGait:
    """So many steady steps (BIP2000: 0.4 m at 0.53 m/s), two shorter steps before and two after them.

    Args:
        steady: number of them.
        robot: its name.
        stride: in strides of the same Froude number; small soles need shorter ones.
        swing: duration of the first and the last one for legs of BIP2000's length [s].
        friction: that planned forces keep to; None: the level walk's own.
    """
    projection = with_reserves(project_to_sagittal_plane(load_robot(robot)))
    with progress_bar(sys.stderr) as progress:
        gait = level_walk(projection, steady, progress=progress, stride=stride, swing=swing)
        lift = level_lift(projection)
        settings = dataclasses.replace(lift, friction=friction or lift.friction)
        return lift_gait(gait, projection, settings, progress)


def planned(gait: LiftedGait) -> str:
    """Return what the plan asks of the robot, a line for each figure."""
    limits, errors = gait.robot.limits.effort, 1e3 * gait.filter_errors
    rows = [gait.robot.index_v(name) for name in gait.robot.actuators]
    in_plane = np.vstack([phase.sagittal.q for phase in gait.phases])
    bending = [k for k in map(gait.robot.index_q, gait.robot.actuators) if np.ptp(in_plane[:, k]) > 0.0]
    sway, friction, changed, moving, steady = [], 0.0, 0.0, np.zeros(len(rows)), np.zeros(len(rows))
    middle = range(len(gait.phases) // 3, 2 * len(gait.phases) // 3)
    for number, phase in enumerate(gait.phases):
        shares = (np.abs(phase.torques[:, rows]) / limits[rows]).max(axis=0)
        moving = np.maximum(moving, shares)
        if number in middle:
            steady = np.maximum(steady, shares)
            sway += [phase.q[:, 1].min(), phase.q[:, 1].max()]
        total = phase.forces.sum(axis=1)
        friction = max(friction, float((np.hypot(total[:, 0], total[:, 1]) / total[:, 2]).max()))
        changed = max(changed, float(np.abs(phase.q - phase.sagittal.q)[:, bending].max()))
    inside = [1e3 * float(phase.margin.min()) for phase in gait.phases]
    return "\n".join(
        [
            f"zero-moment point at least {min(inside):.0f} mm inside, {min(inside[k] for k in middle):.0f} mm midway",
            f"dynamic filter: {', '.join(f'{error:.2g}' for error in errors)} mm off after each pass",
            f"sway of the pelvis midway {1e3 * min(sway):.0f} to {1e3 * max(sway):.0f} mm",
            f"sagittal angles change by {np.degrees(changed):.1f} degrees at most, friction {friction:.2f}",
            f"torques {100 * moving.max():.0f} % of the limits ({list(gait.robot.actuators)[int(moving.argmax())]}), "
            f"{100 * steady.max():.0f} % midway",
        ]
    )


def own_scene(robot: Robot) -> Scene:
    """Return the scene of a robot, or HRP-2's with the robot in its place."""
    if robot.name in SCENES:
        return load_scene(SCENES[robot.name])
    return with_robot(load_scene(SCENES["hrp2"]), robot)


def sloping_floor(scene: Scene, degrees: float) -> Scene:
    """Return a scene, its floor turned about the robot's feet such that it rises ahead.

    Raises:
        InputError: it is steeper than :data:`STEEPEST`.
    """
    if not abs(degrees) <= STEEPEST:
        raise InputError(
            f"is {degrees:g} degrees", element="slope", remedy=f"Give one from {-STEEPEST:g} to {STEEPEST:g} degrees"
        )
    tilt = pin.SE3(pin.rpy.rpyToMatrix(0.0, -np.radians(degrees), 0.0), np.zeros(3))
    bodies = tuple(
        dataclasses.replace(body, placement_world_body=tilt) if body.name == "floor" else body for body in scene.bodies
    )
    return dataclasses.replace(scene, bodies=bodies)


def playing(gait: LiftedGait, stabilise: bool = False, scene: Scene | None = None) -> Simulation:
    """Return a simulation with the robot where a gait begins, and what plays the gait, its first module.

    Args:
        gait: of the robot in the scene.
        stabilise: by torques that bring it back to its plan; else servos with the robot's own gains follow it, the
            planned torques added.
        scene: with the robot alone; None: its own one.
    """
    simulation, trajectory = Simulation(scene or own_scene(gait.robot)), whole_trajectory(gait)
    (name,) = simulation.robots
    walker = simulation.robots[name]
    walker.set_state(trajectory.q[0])
    motion = gait_motion(trajectory, walker.robot, LiftSettings().friction, gait)
    player = TrajectoryPlayer(name, motion.joint_trajectory())
    simulation.add_module(ControllerInLoop(name, MotionTracker(motion)) if stabilise else player)
    return simulation


def walk(gait: LiftedGait, stabilise: bool = False, scene: Scene | None = None) -> Walked:
    """Plays a gait; arguments are those of :func:`playing`."""
    simulation, trajectory = playing(gait, stabilise, scene), whole_trajectory(gait)
    (name,) = simulation.robots
    (player,) = simulation.modules.values()
    walker = simulation.robots[name]
    balance = BalanceMonitor(name, interval=2)
    simulation.add_module(balance)
    limits = np.array([walker.robot.limits.effort[walker.robot.index_v(name)] for name in walker.joint_names])
    peaks, astray = np.zeros(len(limits)), np.zeros(3)
    kept = trajectory.increasing
    clock = np.arange(0.0, trajectory.duration, simulation.dt)
    planned = np.array([np.interp(clock, trajectory.times[kept], x) for x in trajectory.q[kept, :3].T]).T
    times, postures, fallen = [], [], None
    bar = tqdm(total=round((trajectory.duration + STANDING) / simulation.dt), unit="step", leave=False, disable=None)
    while simulation.time < trajectory.duration + STANDING:
        bar.update()
        if simulation.step_count % 10 == 0:
            times.append(simulation.time)
            postures.append(walker.q.copy())
        simulation.step()
        place = walker.placement_world_base.translation
        if place[2] < 0.7 * trajectory.q[0, 2]:
            fallen = simulation.time
            break
        peaks = np.maximum(peaks, np.abs(walker.joint_efforts) / limits)
        if simulation.step_count < len(planned):
            astray = np.maximum(astray, np.abs(place - planned[simulation.step_count]))
    bar.close()
    landings = [contact.start for contact in trajectory.contacts if contact.part == "sole" and contact.start > 0.0]
    reached = [time for time in landings if fallen is None or time < fallen]
    first, last = landings[1], landings[-2]
    x = np.interp([first, last], times, np.array(postures)[:, 0])
    single = np.zeros(len(balance.series.time), dtype=bool)
    for phase in gait.phases:
        if len(phase.bearings) == 1:
            # Not while the other foot is landing or leaving.
            single |= (balance.series.time > phase.t[0] + 0.02) & (balance.series.time < phase.t[-1] - 0.02)
    return Walked(
        fallen,
        len(reached),
        float((x[1] - x[0]) / (last - first)),
        astray,
        float(player.tracking_error.largest.max()) if isinstance(player, TrajectoryPlayer) else 0.0,
        float(np.nanmin(balance.series.margin[single])) if single.any() else math.nan,
        dict(zip(walker.joint_names, peaks.tolist(), strict=True)),
        np.array(times),
        np.array(postures),
    )


def walk_through_bridge(gait: LiftedGait, pace: float, picture: str) -> int:
    """Walk HRP-2 through the bridge, report and draw.

    Args:
        gait: of HRP-2.
        pace: simulated seconds per second.
        picture: file to draw into.

    Returns:
        0 where it stands in the end, 1 if not.
    """
    from examples.play_plan import draw_played
    from examples.through_bridge import play_through_bridge, running_stack

    trajectory = whole_trajectory(gait)
    motion = gait_motion(trajectory, gait.robot, BRIDGE_FRICTION, gait)
    with running_stack(SCENES["hrp2"], pace) as stack:
        began = perf_counter()
        played = play_through_bridge(stack, motion)
    landed = sum(contact.part == "sole" and contact.start > 0.0 for contact in trajectory.contacts)
    print(f"{landed} steps, {motion.duration:.1f} s in {perf_counter() - began:.1f} s; {played.report()}")
    figure = plt.figure(figsize=(11, 7), layout="constrained")
    draw_played(figure, played)
    figure.savefig(picture, dpi=80)
    plt.close(figure)
    print(f"written: {picture}")
    return 0 if played.fallen is None else 1


def draw(robot: Robot, walked: Walked, path: str) -> None:
    """Strip from the side and from behind: start, two steady steps, stop."""
    figure, axes = plt.subplots(4, 1, figsize=(11, 9.2), layout="constrained")
    end = walked.fallen or walked.times[-1]
    spans = [(1.0, 3.8, 0.2, 0), (4.4, 6.0, 0.115, 0), (end - 6.1, end - 3.3, 0.2, 0), (1.0, 5.2, 0.3, 1)]
    for axis, (first, last, every, along) in zip(axes, spans, strict=True):
        for index, time in enumerate(np.arange(max(first, 0.0), min(last, end), every)):
            at = min(int(np.searchsorted(walked.times, time)), len(walked.times) - 1)
            q = walked.postures[at]
            _figure(robot, axis, q, along, 0.65 * index - (q[0] if along == 0 else 0.0))
            axis.text(0.65 * index, -0.12, f"{time:.2f} s", ha="center", fontsize=7, color="0.3")
        view = "from behind" if along else "from the right"
        axis.set(title=f"{view}, figures moved apart", ylabel="z [m]", xticks=[], ylim=(-0.17, 1.78))
        axis.set_aspect("equal")
        axis.axhline(0.0, color="0.3", linewidth=0.8)
    figure.savefig(path, dpi=80)
    plt.close(figure)


def _figure(robot: Robot, axis: plt.Axes, q: np.ndarray, along: int, offset: float) -> None:
    """Outlines of all shapes, seen along y (``along`` 0) or along x (1: from behind, y to the left)."""
    data, geometry = robot.model.createData(), robot.collision_model.createData()
    pin.updateGeometryPlacements(robot.model, data, robot.collision_model, geometry, q)
    sides = {
        robot.parts.joint_ids[joint]: "tab:red" if limb.startswith("right") else "tab:blue"
        for limb, joints in robot.limbs.items()
        if limb.startswith(("right", "left"))
        for joint in joints
    }
    shapes = []
    for shape, place in zip(robot.collision_model.geometryObjects, geometry.oMg, strict=True):
        box = shape.geometry
        box.computeLocalAABB()
        low, high = box.aabb_local.min_, box.aabb_local.max_
        corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
        world = corners @ place.rotation.T + place.translation
        flat = np.column_stack([(world[:, 0] if along == 0 else -world[:, 1]) + offset, world[:, 2]])
        depth = place.translation[1] if along == 0 else -place.translation[0]
        shapes.append((depth, sides.get(shape.parentJoint, "0.55"), flat[ConvexHull(flat).vertices]))
    for _, colour, outline in sorted(shapes, key=lambda item: -item[0]):
        axis.fill(*outline.T, facecolor=colour, edgecolor="k", linewidth=0.3, alpha=0.55)


def check_picture(path: Path) -> None:
    """Refuse a picture that couldn't be written once all is done.

    Raises:
        InputError: its folder isn't there or can't be written into, or matplotlib doesn't know its format.
    """
    formats = plt.figure().canvas.get_supported_filetypes()
    plt.close()
    if not path.parent.is_dir():
        problem = f"'{path.parent}' isn't a folder"
    elif path.is_dir():
        problem = "is a folder"
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        problem = "can't be written"
    elif path.suffix and path.suffix[1:].lower() not in formats:
        problem = f"'{path.suffix}' is no format of pictures"
    else:
        return
    raise InputError(problem, source=path, element="picture", remedy="Give a .png in a folder that exists")


def main(arguments: Sequence[str] | None = None) -> int:
    """Plan, walk, tell, draw.

    Args:
        arguments: words of the command line; None: those of this process.

    Returns:
        0, or 2 where something given can't be used.
    """
    try:
        return _main(arguments)
    except HumanoidError as problem:
        print(f"optimal_walk: {problem}", file=sys.stderr)
        return 2


def _main(arguments: Sequence[str] | None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("picture", nargs="?", default="optimal_walk.png")
    parser.add_argument("--robot", choices=(*SCENES, *OTHERS), default="bip")
    parser.add_argument("--steps", type=int, default=10, help="steady steps")
    parser.add_argument("--stride", type=float, default=1.0, help="share of a whole stride")
    parser.add_argument("--swing", type=float, default=SWING_FROM_REST, help="first and last one of BIP2000's legs, s")
    parser.add_argument("--slope", type=float, default=0.0, help="of the floor, degrees")
    parser.add_argument("--stabilise", action="store_true", help="by torques that bring it back to its plan")
    parser.add_argument("--bridge", action="store_true", help="HRP-2 through the controller bridge, on a level floor")
    parser.add_argument("--pace", type=float, default=1.0, help="of the bridge's simulator; below 1 on a busy machine")
    chosen = parser.parse_args(arguments)
    if not 1 <= chosen.steps <= MAX_CYCLES:
        raise InputError(f"is {chosen.steps}", element="steps", remedy=f"Give a number from 1 to {MAX_CYCLES}")
    if chosen.bridge and (chosen.robot != "hrp2" or chosen.slope or chosen.stabilise):
        raise InputError("is for HRP-2 on a level floor", element="bridge", remedy="Give --robot hrp2, no slope")
    check_picture(Path(chosen.picture))
    floor = sloping_floor(own_scene(load_robot(chosen.robot)), chosen.slope)
    began = perf_counter()
    friction = BRIDGE_FRICTION if chosen.bridge else None
    gait = plan(chosen.steps, chosen.robot, chosen.stride, chosen.swing, friction)
    print(f"planned in {perf_counter() - began:.1f} s:\n{planned(gait)}\nwalked:")
    if chosen.bridge:
        return walk_through_bridge(gait, chosen.pace, chosen.picture)
    walked = walk(gait, chosen.stabilise, floor)
    worst = max(walked.peaks, key=lambda name: walked.peaks[name])
    print("stands" if walked.fallen is None else f"fell at {walked.fallen:.2f} s", f"after {walked.steps} steps")
    print(f"{walked.speed:.3f} m/s over the steady steps")
    print("pelvis off its plan by at most " + ", ".join(f"{1e3 * d:.1f}" for d in walked.astray) + " mm in x, y, z")
    if not chosen.stabilise:
        print(f"joints by at most {np.degrees(walked.joint_error):.2f} degrees")
    print(f"zero-moment point at least {1e3 * walked.margin:.0f} mm inside, measured in single support")
    print(f"{worst} needs most of its effort limit: {100 * walked.peaks[worst]:.0f} %")
    draw(gait.robot, walked, chosen.picture)
    print(f"written: {chosen.picture}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
