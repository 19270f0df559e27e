# SPDX-License-Identifier: Apache-2.0
"""HRP-2 walks through the controller bridge, which drives the simulator's controllers as it would a robot's.

In one terminal ``scripts/run python -m humanoid_ros.bringup scene=walk bridge=hrp2``, in another one
``scripts/run python examples/walk_through_bridge.py``. With ``--stop 3`` the walk is cancelled in the middle of a step:
the robot goes on to the next place on its path where it can stand, and stands there.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from humanoid_control.walking import generate_walk, plan_footsteps
from humanoid_model import HumanoidError
from humanoid_model.progress import Progress
from humanoid_planner.equilibrium.force_distribution import MotionBalance
from humanoid_ros.client import HumanoidStack
from humanoid_ros.messages.motion_messages import whole_body_message

FRICTION = 0.7
STOOD = 2.0
"""Simulated time for which the robot has to stand in the end [s]."""


def walk(steps: int, length: float, speed: float, stop: float) -> bool:
    """Plan, check, walk, tell.

    Args:
        steps: how many.
        length: of one [m].
        speed: along the path, as a share of the walk's own.
        stop: when the walk is cancelled, in its own time [s]; 0: not at all.

    Returns:
        Whether the robot stands in the end.
    """
    with HumanoidStack("hrp2") as stack:
        began = time.monotonic()
        robot = stack.robot
        motion = generate_walk(robot, plan_footsteps(robot, "half_sitting", steps=steps, length=length), "half_sitting")
        whole = motion.motion(robot)
        planned = time.monotonic() - began
        balance = MotionBalance(whole, FRICTION)
        margin = min(balance.margin(float(when), speed) for when in whole.times)
        message = whole_body_message(whole, "world")
        stack.stand(message)
        stack.run(1.0)
        print(stack.execute(message, speed=speed, dry_run=True).message)
        began = time.monotonic()

        def news(progress: Progress) -> bool:
            told = progress.result
            print(f"\r{told.path_time:5.2f} of {told.duration:.2f} s, speed {told.speed:.2f}", end="", flush=True)
            return 0.0 < stop <= told.path_time

        result = stack.execute(message, speed=speed, progress=news)
        print()
        executed = time.monotonic() - began
        stack.run(STOOD)
        base = stack.state.base
        assert base is not None
        there = np.array([np.interp(result.path_time, motion.times, column) for column in motion.base[:, :3].T])
        away = float(np.linalg.norm(base.translation - there))
        stands = bool(base.translation[2] > 0.9 * there[2])
        print(f"{'done' if result.success else 'stopped'}: {result.message}")
        print(f"margin   {margin:.0f} N or more along the plan, friction {FRICTION:g}")
        print(f"tracking {1e3 * result.max_joint_error:.1f} mrad at most, of {result.max_joint_error_joint}")
        stance = " and ".join(result.stance)
        print(f"place    {result.path_time:.2f} s of the path, on {stance}; {1e3 * away:.0f} mm away")
        print(f"times    {planned:.1f} s to plan, {executed:.1f} s to execute {whole.duration:.1f} s")
        print(f"after {STOOD:g} s it {'stands' if stands else 'has fallen'}")
        return stands


def main() -> None:
    """Walk as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--length", type=float, default=0.2, help="of a step [m]")
    parser.add_argument("--speed", type=float, default=1.0, help="along the path, as a share of the walk's own")
    parser.add_argument("--stop", type=float, default=0.0, help="cancel at this time of the walk [s]; 0: don't")
    chosen = parser.parse_args()
    try:
        stands = walk(chosen.steps, chosen.length, chosen.speed, chosen.stop)
    except HumanoidError as error:
        raise SystemExit(str(error)) from None
    raise SystemExit(0 if stands else 1)


if __name__ == "__main__":
    main()
