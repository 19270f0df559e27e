# SPDX-License-Identifier: Apache-2.0
"""BIP2000 or HRP-2 walks on the running stack: its gait comes from ``generate_gait``, its controller plays it.

In one terminal ``scripts/run python -m humanoid_ros.bringup scene=bip_walk``, in another one ``scripts/run python
examples/walk_over_ros.py``. HRP-2 walks in the scene ``stand``, with ``--robot hrp2``.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import rclpy
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from humanoid_stack.action import GenerateGait
from humanoid_stack.msg import Gait, GaitRequest, GaitSolverOptions, WholeBodyTrajectory
from humanoid_stack.srv import SetState
from nav_msgs.msg import Odometry
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

PATIENCE = 20.0
"""How long the stack's nodes may take to be there [s]."""
TOLD = 0.5
"""Simulated time between two lines about where the robot is [s]."""
FALLEN = 0.7
"""Height of the base, as a part of that at the start, below which the robot has fallen."""


class Walker(Node):
    """Asks for a walk, has it played, and watches."""

    def __init__(self) -> None:
        super().__init__("walker")
        self._generator = ActionClient(self, GenerateGait, "generate_gait")
        self._controller = ActionClient(self, FollowJointTrajectory, "whole_body_controller/follow_joint_trajectory")
        self._state = self.create_client(SetState, "set_state")
        self.create_subscription(Odometry, "odometry", self._on_odometry, 10)
        self.place: tuple[float, float, float, float] | None = None
        self._told = -math.inf
        self._watching = False

    def plan(self, robot: str, steady: int, limit: int) -> Gait:
        """The whole robot's gait with so many steady steps, planned within a time limit [s]."""
        request = GaitRequest(model=robot, lift=True, cycles=steady)
        request.options = GaitSolverOptions(time_limit=Duration(sec=limit))
        result = self._result(self._generator, GenerateGait.Goal(request=request), self._on_progress)
        if not result.success:
            raise SystemExit(result.message)
        print(result.message or "every limit is kept")
        return result.gait

    def stand(self, trajectory: WholeBodyTrajectory) -> None:
        """Put the simulated robot where the walk begins."""
        if not self._state.wait_for_service(PATIENCE):
            raise SystemExit("nobody offers set_state: is a simulator running?")
        request = SetState.Request(name=trajectory.robot, set_pose=True, pose=trajectory.base[0])
        request.joint_names = trajectory.joints.joint_names
        request.joint_positions = trajectory.joints.points[0].positions
        answer = self._wait(self._state.call_async(request))
        if not answer.success:
            raise SystemExit(answer.message)

    def walk(self, trajectory: WholeBodyTrajectory) -> bool:
        """Play the joints' motion with its torques fed forward; whether the robot stands in the end."""
        self._watching = True
        result = self._result(self._controller, FollowJointTrajectory.Goal(trajectory=trajectory.joints))
        self._watching = False
        print(result.error_string)
        end = trajectory.base[-1].position
        assert self.place is not None
        _, x, y, z = self.place
        print(f"ends at x {x:.3f}, y {y:.3f}, z {z:.3f} m; planned {end.x:.3f}, {end.y:.3f}, {end.z:.3f} m")
        return z > FALLEN * trajectory.base[0].position.z

    def _on_progress(self, message: Any) -> None:
        news = message.feedback
        figures = "" if math.isnan(news.residual) else f", residual {news.residual:.1e}"
        print(f"phase {news.phase + 1}: {news.stage}{figures}")

    def _on_odometry(self, message: Odometry) -> None:
        place = message.pose.pose.position
        time = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        self.place = time, place.x, place.y, place.z
        if self._watching and time >= self._told + TOLD:
            self._told = time
            print(f"{time:6.1f} s: x {place.x:6.3f}, y {place.y:6.3f}, z {place.z:6.3f} m")

    def _result(self, client: ActionClient, goal: Any, feedback: Any = None) -> Any:
        if not client.wait_for_server(PATIENCE):
            raise SystemExit("the action isn't there: is the stack running?")
        handle = self._wait(client.send_goal_async(goal, feedback))
        if not handle.accepted:
            raise SystemExit("the goal was rejected")
        try:
            return self._wait(handle.get_result_async()).result
        except KeyboardInterrupt:
            self._wait(handle.cancel_goal_async())
            raise SystemExit("cancelled") from None

    def _wait(self, future: Any) -> Any:
        rclpy.spin_until_future_complete(self, future)
        return future.result()


def main() -> None:
    """Plan, stand, walk, tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robot", default="bip", help="that is in the simulator's scene")
    parser.add_argument("--steps", type=int, default=4, help="steady steps")
    parser.add_argument("--time-limit", type=int, default=120, help="for planning [s]")
    chosen = parser.parse_args()
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)  # Ctrl-C cancels what is under way
    walker = Walker()
    gait = walker.plan(chosen.robot, chosen.steps, chosen.time_limit)
    print(f"{gait.distance:.2f} m; zero-moment point {1e3 * gait.margin:.0f} mm or more inside what bears")
    walker.stand(gait.trajectory)
    stands = walker.walk(gait.trajectory)
    print("stands" if stands else "fell")
    walker.destroy_node()
    rclpy.shutdown()


if __name__ == "__main__":
    main()
