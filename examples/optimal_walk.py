# SPDX-License-Identifier: Apache-2.0
"""A walk of least effort, from rest to rest: planned in space with all joints, walked in the simulator.

Run with ``python examples/optimal_walk.py walk.png``: HRP-2 follows the plan by servos, the
planned efforts added. ``--slope 5`` and ``--turn 20`` walk up a floor that rises by 5 degrees, and a curve; with
``--feedback`` a controller carries the plan out, with ``--bridge`` the controller bridge drives the simulator of a
stack that is started for it. ``--robot talos`` and ``--robot g1`` come with ``pip install example-robot-data==6.0.0``.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from time import perf_counter

import matplotlib
import numpy as np
import pinocchio as pin

from examples.play_plan import draw_played
from humanoid_control.tracking import MotionTracker
from humanoid_gait import Walk, WalkRequest, generate_gait
from humanoid_model import HumanoidError, InputError, Robot, Scene, load_robot, load_scene, with_robot
from humanoid_model.files import check_picture, save_picture
from humanoid_model.progress import progress_bar
from humanoid_sim import Simulation
from humanoid_sim.playback import PlayedMotion, play_motion

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SCENES = {"bip": "bip_walk", "hrp2": "stand"}
"""Where each robot walks; others stand on HRP-2's floor."""
OTHERS = ("talos", "g1")
"""Robots of example-robot-data that walk."""
BRIDGE_FRICTION = 0.5
"""That the bridge holds planned forces to: balance.friction of config/bridge/hrp2.yaml."""


def plan(robot: Robot, request: WalkRequest, steps: int) -> Walk:
    """Return a walk from rest to rest.

    Raises:
        HumanoidError: there is none.
    """
    with progress_bar(sys.stderr) as progress:
        walk = generate_gait(robot, request, steps, start=True, stop=True, progress=progress)
    if not walk.success:
        raise HumanoidError(walk.message)
    return walk


def own_scene(robot: Robot, slope: float = 0.0) -> Scene:
    """Return the scene of a robot, or HRP-2's with the robot in its place; its floor rises ahead by an angle [rad]."""
    name = SCENES.get(robot.name)
    scene = with_robot(load_scene(SCENES["hrp2"]), robot) if name is None else load_scene(name)
    tilt = pin.SE3(pin.utils.rotate("y", -slope), np.zeros(3))
    bodies = (dataclasses.replace(one, placement_world_body=tilt) if one.name == "floor" else one
              for one in scene.bodies)
    return dataclasses.replace(scene, bodies=tuple(bodies)) if slope else scene


def play(walk: Walk, scene: Scene, feedback: bool) -> PlayedMotion:
    """Return what the simulator made of a walk, by servos and planned efforts, or with feedback."""
    controller = MotionTracker(walk.motion) if feedback else None
    with progress_bar(sys.stderr) as progress:
        return play_motion(
            Simulation(scene), scene.robots[0].name, walk.motion, controller=controller, after=2.0, progress=progress
        )


def play_by_bridge(walk: Walk, pace: float) -> PlayedMotion:
    """Return what the bridge made of HRP-2's walk, at simulated seconds per second."""
    from examples.through_bridge import play_through_bridge, running_stack

    with running_stack(SCENES["hrp2"], pace) as stack:
        return play_through_bridge(stack, walk.motion)


def main(arguments: Sequence[str] | None = None) -> int:
    """Plan, walk, tell, draw.

    Args:
        arguments: words of the command line; None: those of this process.

    Returns:
        0 where it stands in the end, 1 if not, 2 where something given can't be used.
    """
    try:
        return _main(arguments)
    except HumanoidError as problem:
        print(f"optimal_walk: {problem}", file=sys.stderr)
        return 2


def _main(arguments: Sequence[str] | None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("picture", nargs="?", default="optimal_walk.png")
    parser.add_argument("--robot", choices=(*SCENES, *OTHERS), default="hrp2")
    parser.add_argument("--steps", type=int, default=6, help="between the first and the last one")
    parser.add_argument("--length", type=float, default=0.25, help="of a step [m]")
    parser.add_argument("--turn", type=float, default=0.0, help="in two steps, to the left [degrees]")
    parser.add_argument("--slope", type=float, default=0.0, help="of the floor ahead [degrees]")
    parser.add_argument("--feedback", action="store_true", help="carried out by a controller")
    parser.add_argument("--bridge", action="store_true", help="HRP-2 through the controller bridge, on a level floor")
    parser.add_argument("--pace", type=float, default=1.0, help="of the bridge's simulator; below 1 on a busy machine")
    chosen = parser.parse_args(arguments)
    if chosen.bridge and (chosen.robot != "hrp2" or chosen.slope or chosen.feedback):
        raise InputError("is for HRP-2 on a level floor", element="bridge", remedy="Give --robot hrp2, no slope")
    check_picture(chosen.picture)
    slope, turn = np.radians([chosen.slope, chosen.turn]).tolist()
    request = WalkRequest(
        chosen.length, turn=turn, slope=slope, friction=BRIDGE_FRICTION if chosen.bridge else 0.6
    )
    robot = load_robot(chosen.robot)
    began = perf_counter()
    walk = plan(robot, request, chosen.steps)
    print(f"planned in {perf_counter() - began:.1f} s: {walk.report()}")
    began = perf_counter()
    if chosen.bridge:
        played = play_by_bridge(walk, chosen.pace)
    else:
        played = play(walk, own_scene(robot, slope), chosen.feedback)
    print(f"played in {perf_counter() - began:.1f} s: {played.report()}")
    figure = plt.figure(figsize=(11, 11), layout="constrained")
    draw_played(figure, played)
    save_picture(figure, chosen.picture)
    plt.close(figure)
    print(f"written: {chosen.picture}")
    return 0 if played.fallen is None else 1


if __name__ == "__main__":
    sys.exit(main())
