# SPDX-License-Identifier: Apache-2.0
"""A mechanism of a MAD file is dragged while it runs, and what its drives did then moves it in the simulator.

``scripts/run python examples/drag_and_simulate.py drag.png`` starts the kinematics node with a Gough platform, drags
its tool by twists, as a space mouse would, and simulates the drives' recorded motion: links with masses, gravity, loops
held by the contact solver. ``--hand 20`` opens the page instead: what you drag there for 20 s counts. ``--mechanism``
takes another MAD file with loops, drives and a tool.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
import pinocchio as pin
from scipy.interpolate import CubicSpline

from humanoid_kinematics import Mechanism, MechanismSolver, Relay, load_mechanism
from humanoid_kinematics.analysis.recording import Recording
from humanoid_model import HumanoidError, InputError, Scene, SceneRobot
from humanoid_model.files import save_picture
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_sim import Simulation
from humanoid_sim.actuation import TrajectoryPlayer

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SPAN = (0.08, 0.04, 0.10)
"""How far the tool is dragged forward, sideways and in turning about the vertical [m, m, rad]."""
KNOTS = 0.1
"""Time between points of the drives' recorded motion that the simulated drives follow [s]."""


def drag(mechanism: str, tool: str, name: str, path: str, duration: float, hand: bool) -> None:
    """Let the kinematics node run, and drag the tool.

    Args:
        mechanism: name or path of the file.
        tool: to drag.
        name: of the mechanism, and of its topics.
        path: CSV that the node records to.
        duration: wall-clock time [s].
        hand: nothing but open the page: a person drags.
    """
    from dataclasses import replace

    from geometry_msgs.msg import Twist, Vector3

    from humanoid_ros.bringup.node_list import list_nodes
    from humanoid_ros.bringup.start_stack import processes
    from humanoid_ros.bringup.supervisor import Supervisor
    from humanoid_ros.client.connection import Connection

    nodes = [
        replace(node, parameters={**node.parameters, "record": path}) if node.name == "kinematics" else node
        for node in list_nodes("kinematics", {"mechanism": mechanism, "viewer": "true" if hand else "false"})
    ]
    with Supervisor(processes(nodes)) as supervisor:
        connection = Connection("", 60.0, supervisor.check)
        twists = connection.node.create_publisher(Twist, f"{name}/{tool}/twist", 1)
        try:
            connection.wait(twists.get_subscription_count, "the kinematics node", 60.0)
            begin = time.monotonic()
            while (now := time.monotonic() - begin) < duration:
                supervisor.check()
                rate = 2.0 * np.pi / duration
                # There and back along x, twice as often aside and about z, from rest to rest.
                x, y, turn = (
                    0.5 * span * often * rate * np.sin(often * rate * now)
                    for span, often in zip(SPAN, (1, 2, 2), strict=True)
                )
                if not hand:
                    twists.publish(Twist(linear=Vector3(x=x, y=y), angular=Vector3(z=turn)))
                time.sleep(0.01)
        finally:
            connection.close()


def simulate(mechanism: Mechanism, tool: str, motion: Recording, picture: str) -> int:
    """Move the drives in the simulator as they moved; report and draw.

    Returns:
        0 where loops and tool keep to the motion, 1 if not.
    """
    robot, drives = mechanism.robot, mechanism.driven or ()
    kept = [0]
    for index, now in enumerate(motion.times):
        if now >= motion.times[kept[-1]] + KNOTS:
            kept.append(index)
    knots = np.array(motion.times)[kept] - motion.times[0]
    columns = [robot.index_q(joint) for joint in drives]
    spline = CubicSpline(knots, np.array(motion.configurations)[np.ix_(kept, columns)], bc_type="clamped")
    times = np.arange(0.0, knots[-1], 0.01)
    # What the weight asks of the drives over the loops is fed forward; masses in motion are left to the servos.
    relay, weights = Relay(mechanism), []
    for positions in spline(times):
        relay.update(positions)
        weights.append(relay.holding_efforts())
    plan = JointTrajectory(drives, times, spline(times), spline(times, 1), spline(times, 2), efforts=weights)

    q = motion.configurations[0]
    simulation = Simulation(Scene("dragged", robots=(SceneRobot("m", robot, "zero", pin.SE3.Identity(), q),)))
    own = simulation.robots["m"]
    simulation.add_module(TrajectoryPlayer("m", plan))
    begun, rows, goal = time.perf_counter(), [], MechanismSolver(mechanism)
    while simulation.time < times[-1]:
        simulation.run(0.01)
        now = min(simulation.time, times[-1])
        # The dragged mechanism where these drives are, its loops closed: what is recorded lies between two instants.
        closing = goal.close(motion.at(now + motion.times[0]), held=tuple(drives))
        wanted, there = goal.placement(tool), own.placement(tool)
        ends = (own.placement(loop.link_a) * loop.placement_a for loop in mechanism.loops)
        others = (own.placement(loop.link_b) * loop.placement_b for loop in mechanism.loops)
        gap = max(float(np.linalg.norm(a.translation - b.translation)) for a, b in zip(ends, others, strict=True))
        efforts = [own.joint_efforts[own.joint_names.index(joint)] for joint in drives]
        rows.append((now, there.translation, wanted.translation, gap, efforts, closing.closed))
    spent = time.perf_counter() - begun
    clock, path, dragged, gaps, efforts, closed = (np.array(column) for column in zip(*rows, strict=True))
    off = np.linalg.norm(path - dragged, axis=1)
    success = bool(off.max() < 2e-3 and gaps.max() < 1e-5 and closed.all())
    mass = sum(inertia.mass for inertia in robot.model.inertias)
    print(
        f"{'holds' if success else 'DOES NOT HOLD'}: {mechanism.name}, {len(robot.joint_names)} joints, "
        f"{len(drives)} drives, {len(mechanism.loops)} loops, {mass:.1f} kg ({robot.approximate})\n"
        f"dragged: {len(motion.times)} instants in {clock[-1]:.1f} s, loops closed to "
        f"{max(max(motion.series(f'gap/{loop.name}')) for loop in mechanism.loops):.1e} m\n"
        f"tracking: simulated tool within {1e3 * off.max():.3f} mm of the dragged one, over "
        f"{1e3 * np.ptp(dragged, axis=0).max():.0f} mm\n"
        f"margin: simulated loops open by {1e6 * gaps.max():.3f} µm at most; drives need up to "
        f"{np.abs(efforts).max():.0f} N\n"
        f"times: {clock[-1]:.1f} s simulated in {spent:.1f} s, {1e6 * simulation.profile.mean:.0f} µs a step"
    )
    slides = np.array([robot.description.joints[joint].type == "prismatic" for joint in drives])
    groups = [(unit, chosen) for unit, chosen in (("N", slides), ("N m", ~slides)) if chosen.any()]
    figure, (left, *rights) = plt.subplots(1, 1 + len(groups), figsize=(6 + 5 * len(groups), 4.5), layout="constrained")
    left.plot(*(1e3 * dragged[:, :2].T), linewidth=3, alpha=0.4, label="dragged")
    left.plot(*(1e3 * path[:, :2].T), "k", linewidth=0.8, label="simulated")
    left.set(xlabel="x [mm]", ylabel="y [mm]", title=f"{mechanism.name}: way of its tool {tool}", aspect="equal")
    left.legend()
    for right, (unit, chosen) in zip(rights, groups, strict=True):
        right.plot(clock, efforts[:, chosen], label=[joint for joint, own in zip(drives, chosen, strict=True) if own])
        right.set(xlabel="time [s]", ylabel=f"efforts of the drives [{unit}]")
        right.legend(ncols=2, loc="upper left", bbox_to_anchor=(0.0, -0.12))
    save_picture(figure, picture)
    plt.close(figure)
    print(f"written: {picture}")
    return 0 if success else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Drag, record, simulate.

    Args:
        arguments: words of the command line; None: those of this process.

    Returns:
        0 where the simulation keeps to what was dragged, 1 if not, 2 where something given can't be used.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", nargs="?", default="drag_and_simulate.png")
    parser.add_argument("--mechanism", default="gough", help="name, or path of a MAD file")
    parser.add_argument("--hand", type=float, default=0.0, help="drag it yourself on the page for so long [s]")
    parser.add_argument("--duration", type=float, default=6.0, help="of the drag [s]")
    chosen = parser.parse_args(arguments)
    try:
        mechanism = load_mechanism(chosen.mechanism)
        if not (mechanism.driven and mechanism.tools and mechanism.loops):
            raise InputError("has no drives, tool or loop", source=chosen.mechanism, remedy="Give one that has")
        tool = mechanism.tools[0].name
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "drag.csv")
            drag(chosen.mechanism, tool, mechanism.name, path, chosen.hand or chosen.duration, chosen.hand > 0.0)
            return simulate(mechanism, tool, Recording.read_csv(path), chosen.picture)
    except HumanoidError as problem:
        print(f"drag_and_simulate: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
