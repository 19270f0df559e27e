# SPDX-License-Identifier: Apache-2.0
"""The gait generator node: optimal walks, shown and played.

Walks are worked out in processes; the service and the action `generate_gait` hand requests to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from builtin_interfaces.msg import Time
from humanoid_stack.action import GenerateGait as GenerateGaitAction
from humanoid_stack.msg import Gait, GaitRequest, WholeBodyTrajectory
from humanoid_stack.srv import GenerateGait
from rclpy.event_handler import PublisherEventCallbacks
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

from humanoid_model import load_robot
from humanoid_model.checks import check_known
from humanoid_model.fields import descriptions
from humanoid_model.progress import Progress
from humanoid_ros.gait_generator.gait_markers import gait_markers
from humanoid_ros.gait_generator.gait_replay import MODES, ONCE, GaitReplay
from humanoid_ros.gait_generator.gait_request import GaitDefaults
from humanoid_ros.messages.conversions import seconds
from humanoid_ros.node.diagnostics import declare_diagnostics_rate, publish_diagnostics
from humanoid_ros.node.parameter_declaration import (
    declare_field,
    declare_number,
    declare_text,
    declare_whole,
    number,
    refuse_unusable,
    text,
    values,
    whole,
)
from humanoid_ros.node.process_requests import ProcessRequests, RequestWorkers
from humanoid_ros.node.process_workers import IDLE_TIME, IDLE_TIME_MEANING, ProcessWorkers
from humanoid_ros.node.qos import LATCHED
from humanoid_ros.node.requested_files import check_requested, requested_reading
from humanoid_ros.node.run import run
from humanoid_ros.node.service_workers import ServingNode

MODULE = "humanoid_ros.gait_generator.gait_worker"


class GaitRequests(ProcessRequests):
    """Gaits; several requests are worked on at a time, each in a process of its own."""

    name, service, action = "generate_gait", GenerateGait, GenerateGaitAction
    field, content = "gait", Gait
    function = f"{MODULE}:generate"

    def time_limit(self, request: GaitRequest) -> float:
        """Wall-clock time that a request may take [s]."""
        return seconds(request.time_limit) or self._defaults().time_limit

    def read(self, progress: Progress) -> tuple[GenerateGaitAction.Feedback, None]:
        """Return feedback of a stage."""
        feedback = GenerateGaitAction.Feedback(
            stage=progress.stage, iteration=progress.iteration, residual=progress.residual, cost=progress.cost
        )
        return feedback, None

    def take(self, content: Gait, success: bool) -> None:
        """Stamp a gait; draw and play it if it walks."""
        content.header.stamp = self._node.get_clock().now().to_msg()
        if success:
            self._show(content)


class GaitGeneratorNode(ServingNode):
    """Generates gaits; see docs/interfaces.md for its services, actions, topics and parameters.

    Attributes:
        workers: answer the requests.

    Raises:
        HumanoidError: a parameter can't be used.
    """

    def __init__(self) -> None:
        super().__init__("gait_generator")
        self._declare_parameters()
        self._check_parameters({"replay": text(self, "replay")})
        self._walker = text(self, "robot"), load_robot(text(self, "robot"), geometry=False)
        self._world = text(self, "world_frame")
        self._shown: tuple[Gait, Time] | None = None
        self._markers = self.create_publisher(
            MarkerArray,
            "gait_markers",
            LATCHED,
            event_callbacks=PublisherEventCallbacks(matched=lambda _: self._draw()),
        )
        self._gait = self.create_publisher(Gait, "gait", LATCHED)
        self._trajectory = self.create_publisher(WholeBodyTrajectory, "trajectory", LATCHED)
        self._joints = self.create_publisher(JointTrajectory, "joint_trajectory", LATCHED)
        self._replay = GaitReplay(self, number(self, "replay_rate"), self._world)
        self.workers = RequestWorkers(self)
        workers = ProcessWorkers(whole(self, "processes"), MODULE, number(self, "process_idle_time"))
        self._requests = GaitRequests(self, workers, self._defaults, self._show)
        self.workers.requests = (self._requests,)
        self.create_service(Trigger, "replay_gait", self._on_replay, callback_group=self.group)
        refuse_unusable(self, self._check_parameters)
        publish_diagnostics(self, "gaits", self._diagnostics)
        self.get_logger().info(f"generates gaits of {text(self, 'robot')} unless told otherwise")

    # Parameters ---------------------------------------------------------------------------------------------------

    def _declare_parameters(self) -> None:
        declare_diagnostics_rate(self)
        for name, one in descriptions(GaitDefaults).items():
            declare_field(self, name, one)
        declare_whole(self, "processes", 2, 1, 64, "Requests that are worked on at a time", read_only=True)
        declare_number(self, "process_idle_time", IDLE_TIME, 0.0, 86400.0, IDLE_TIME_MEANING, read_only=True)
        declare_text(self, "world_frame", "world", "Name of the frame that gaits are drawn in", read_only=True)
        declare_whole(self, "figures", 12, 2, 500, "Instants whose forces the markers of a gait show")
        declare_number(self, "arrow_scale", 0.0006, 1e-6, 1.0, "Length of an arrow per force [m/N]", read_only=True)
        declare_text(self, "replay", ONCE, f"How a new gait is played: {', '.join(MODES)}")
        declare_number(
            self, "replay_rate", 30.0, 1.0, 200.0, "Messages per second of a gait that is played [Hz]", read_only=True
        )

    def _check_parameters(self, new: Mapping[str, Any]) -> None:
        """Raise a HumanoidError for a value that can't be used."""
        if "robot" in new:
            with requested_reading(new["robot"]):
                load_robot(check_requested(new["robot"], "robot"), geometry=False)
        if "replay" in new:
            check_known(new["replay"], MODES, "replay", "way to play")

    def _defaults(self) -> GaitDefaults:
        return GaitDefaults(**values(self, GaitDefaults))

    # Answers ------------------------------------------------------------------------------------------------------

    def _show(self, gait: Gait) -> None:
        """Publish, draw and play a gait."""
        self._gait.publish(gait)
        self._trajectory.publish(gait.trajectory)
        self._joints.publish(gait.trajectory.joints)
        if gait.robot != self._walker[0]:
            self._walker = gait.robot, load_robot(gait.robot, geometry=False)
        self._shown = gait, gait.header.stamp
        self._draw()
        self._replay.play(gait, self._walker[1], text(self, "replay"))

    def _draw(self) -> None:
        """Draw the last gait for subscribers, outside the answers' way."""
        if self._shown is None or self._markers.get_subscription_count() == 0:
            return
        (gait, stamp), robot = self._shown, self._walker[1]
        settings = whole(self, "figures"), number(self, "arrow_scale")
        self.workers.follow_up(
            lambda: self._markers.publish(gait_markers(gait.trajectory, robot, self._world, stamp, *settings))
        )

    def _on_replay(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = self._replay.again()
        response.message = "" if response.success else "There is no gait yet. Generate one."
        return response

    # Diagnostics --------------------------------------------------------------------------------------------------

    def _diagnostics(self) -> dict[str, str]:
        counts = self._requests.counts
        mean = counts.seconds / counts.answered if counts.answered else 0.0
        return {
            "robot": text(self, "robot"),
            "gaits generated": str(counts.answered),
            "gaits not solved": str(counts.failed),
            "requests cancelled": str(counts.cancelled),
            "requests refused": str(self.refusals.count),
            "requests under way": str(self._requests.under_way),
            "mean time per gait [s]": f"{mean:.2f}",
            "last refusal": self.refusals.last,
            "playing": str(self._replay.playing).lower(),
        }


def main() -> None:
    """Run the node until SIGINT or SIGTERM."""
    run("gait_generator", GaitGeneratorNode)
