# SPDX-License-Identifier: Apache-2.0
"""HRP-2 walks on the running stack: its gait comes from ``generate_gait``, its controller plays it.

In one terminal ``scripts/run python -m humanoid_ros.bringup``, in another one ``scripts/run python
examples/walk_over_ros.py``.
"""

from __future__ import annotations

import argparse
import math

from humanoid_gait import WalkRequest
from humanoid_model import HumanoidError
from humanoid_model.progress import Progress
from humanoid_ros.client import HumanoidStack

TOLD = 0.5
"""Simulated time between two lines about where the robot is [s]."""
FALLEN = 0.7
"""Height of the base, as a part of that at the start, below which the robot has fallen."""


def walk(robot: str, length: float, steps: int, limit: float) -> bool:
    """Plan, stand, walk, tell.

    Args:
        robot: in the simulator's scene.
        length: of a step [m].
        steps: between the first and the last one.
        limit: wall-clock time for planning [s].

    Returns:
        Whether the robot stands in the end.
    """
    with HumanoidStack(robot) as stack:
        result = stack.gait(
            WalkRequest(length), steps=steps, start=True, stop=True, time_limit=limit, progress=print_progress
        )
        if not result.success:
            raise SystemExit(result.message)
        gait, trajectory = result.gait, result.gait.trajectory
        print(f"{gait.distance:.2f} m in {gait.duration:.1f} s, cost of transport {gait.cost_of_transport:.2f}")
        stack.stand(trajectory)
        next_line = -math.inf

        def print_place(_: Progress) -> None:
            nonlocal next_line
            state = stack.state
            if state.time >= next_line and state.base is not None:
                next_line = state.time + TOLD
                x, y, z = state.base.translation
                print(f"{state.time:6.1f} s: x {x:6.3f}, y {y:6.3f}, z {z:6.3f} m")

        print(stack.follow(trajectory, progress=print_place).message)
        base, end = stack.state.base, trajectory.base[-1].position
        assert base is not None
        x, y, z = base.translation
        print(f"ends at x {x:.3f}, y {y:.3f}, z {z:.3f} m; planned {end.x:.3f}, {end.y:.3f}, {end.z:.3f} m")
        return bool(z > FALLEN * trajectory.base[0].position.z)


def print_progress(news: Progress) -> None:
    """Say how far the planning is."""
    figures = "" if math.isnan(news.residual) else f", residual {news.residual:.1e}"
    print(f"{news.stage}, iteration {news.iteration}{figures}")


def main() -> None:
    """Walk as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robot", default="hrp2", help="that is in the simulator's scene")
    parser.add_argument("--length", type=float, default=0.25, help="of a step [m]")
    parser.add_argument("--steps", type=int, default=4, help="between the first and the last one")
    parser.add_argument("--time-limit", type=float, default=120.0, help="for planning [s]")
    chosen = parser.parse_args()
    try:
        print("stands" if walk(chosen.robot, chosen.length, chosen.steps, chosen.time_limit) else "fell")
    except HumanoidError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
