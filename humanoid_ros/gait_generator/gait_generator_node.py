# SPDX-License-Identifier: Apache-2.0
"""The gait generator node: optimal gaits, the states at the ends of steps, and gaits that are shown and played.

Gaits are worked out in processes; the service and the action `generate_gait` hand requests to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from builtin_interfaces.msg import Time
from humanoid_stack.action import GenerateGait as GenerateGaitAction
from humanoid_stack.msg import Gait, GaitRequest, WholeBodyTrajectory
from humanoid_stack.srv import ComputeGaitStates, GenerateGait
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.serialization import deserialize_message, serialize_message
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

from humanoid_model.checks import check_known
from humanoid_model.errors import InputError
from humanoid_model.fields import descriptions
from humanoid_model.progress import Progress
from humanoid_planner.gait import GaitDefaults, load_gait_model
from humanoid_planner.gait.specification.gait_model import FootSizes
from humanoid_planner.gait.specification.gait_spec import METHODS
from humanoid_ros.gait_generator.gait_markers import strip_markers
from humanoid_ros.gait_generator.gait_replay import MODES, ONCE, GaitReplay
from humanoid_ros.gait_generator.gait_worker import compute_states
from humanoid_ros.messages.conversions import seconds
from humanoid_ros.node.diagnostics import declare_diagnostics_rate, publish_diagnostics
from humanoid_ros.node.parameter_declaration import (
    declare_field,
    declare_flag,
    declare_number,
    declare_text,
    declare_whole,
    flag,
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
    limit_field = "options.time_limit"

    def time_limit(self, request: GaitRequest) -> float:
        """Wall-clock time that a request may take [s]."""
        return seconds(request.options.time_limit) or self._defaults().time_limit

    def read(self, progress: Progress) -> tuple[GenerateGaitAction.Feedback | None, Gait | None]:
        """Return feedback of a stage, or what is solved so far."""
        if isinstance(progress.result, bytes):
            return None, deserialize_message(progress.result, Gait)
        feedback = GenerateGaitAction.Feedback(
            phase=progress.part,
            stage=progress.stage,
            residual=progress.residual,
            nodes=progress.nodes,
            cost=progress.cost,
        )
        return feedback, None

    def take(self, content: Gait, success: bool) -> None:
        """Stamp a gait; draw and play one that is solved, also where it doesn't keep everything."""
        content.header.stamp = self._node.get_clock().now().to_msg()
        if success or content.trajectory.joints.points:
            self._show(content)


STATES = "compute_gait_states"


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
        self._check_parameters({name: text(self, name) for name in ("model", "method", "replay")})
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
        self._replay = GaitReplay(self, number(self, "replay_rate"), self._world, number(self, "arrow_scale"))
        self.workers = RequestWorkers(self)
        self.workers.offer(ComputeGaitStates, STATES, self._compute_states)
        workers = ProcessWorkers(whole(self, "processes"), MODULE, number(self, "process_idle_time"))
        self._requests = GaitRequests(self, workers, self._defaults, self._show)
        self.workers.requests = (self._requests,)
        self.create_service(Trigger, "replay_gait", self._on_replay, callback_group=self.group)
        refuse_unusable(self, self._check_parameters)
        publish_diagnostics(self, "gaits", self._diagnostics)
        self.get_logger().info(f"generates gaits of {text(self, 'model')} unless told otherwise")

    # Parameters ---------------------------------------------------------------------------------------------------

    def _declare_parameters(self) -> None:
        declare_diagnostics_rate(self)
        for name, one in descriptions(GaitDefaults).items():
            declare_field(self, name, one)
        declare_number(self, "foot_length", 0.0, 0.0, 1.0, "Heel to toe of bip [m]; 0: that of its file")
        declare_number(self, "ankle_height", 0.0, 0.0, 0.5, "Of bip's ankle above the sole [m]; 0: that of its file")
        declare_flag(
            self,
            "ankle_torque",
            FootSizes().ankle_torque,
            "Whether the ground turns rabbit's stance shank; its gaits are no trajectory of a robot then",
        )
        declare_whole(self, "processes", 2, 1, 64, "Requests that are worked on at a time", read_only=True)
        declare_number(self, "process_idle_time", IDLE_TIME, 0.0, 86400.0, IDLE_TIME_MEANING, read_only=True)
        declare_text(self, "world_frame", "world", "Name of the frame that gaits are drawn in", read_only=True)
        declare_whole(self, "figures", 12, 2, 500, "Stick figures in the markers of a gait")
        declare_number(self, "arrow_scale", 0.0006, 1e-6, 1.0, "Length of an arrow per force [m/N]", read_only=True)
        declare_text(self, "replay", ONCE, f"How a new gait is played: {', '.join(MODES)}")
        declare_number(
            self, "replay_rate", 30.0, 1.0, 200.0, "Messages per second of a gait that is played [Hz]", read_only=True
        )

    def _check_parameters(self, new: Mapping[str, Any]) -> None:
        """Raise a HumanoidError for a value that can't be used."""
        if "model" in new:
            with requested_reading(new["model"]):
                load_gait_model(check_requested(new["model"], "model"), FootSizes(), "model")
        if "method" in new:
            check_known(new["method"], METHODS, "method", "method")
        if "replay" in new:
            check_known(new["replay"], MODES, "replay", "way to play")
        least, greatest = new.get("min_duration"), new.get("max_duration")
        if least is not None and least >= number(self, "max_duration"):
            raise InputError(f"is {least:g} s", element="min_duration", remedy="Give less than max_duration")
        if greatest is not None and greatest <= number(self, "min_duration"):
            raise InputError(f"is {greatest:g} s", element="max_duration", remedy="Give more than min_duration")

    def _defaults(self) -> GaitDefaults:
        return GaitDefaults(
            feet=FootSizes(number(self, "foot_length"), number(self, "ankle_height"), flag(self, "ankle_torque")),
            **values(self, GaitDefaults),
        )

    # Answers ------------------------------------------------------------------------------------------------------

    def _compute_states(self, request: ComputeGaitStates.Request, response: ComputeGaitStates.Response) -> None:
        answer = compute_states(bytes(serialize_message(request)), self._defaults(), lambda _: None)
        found = deserialize_message(answer, ComputeGaitStates.Response)
        for name in response.get_fields_and_field_types():
            setattr(response, name, getattr(found, name))

    def _show(self, gait: Gait) -> None:
        """Publish, draw and play a gait."""
        self._gait.publish(gait)
        if gait.trajectory.joints.points:
            self._trajectory.publish(gait.trajectory)
            self._joints.publish(gait.trajectory.joints)
        self._shown = gait, gait.header.stamp
        self._draw()
        self._replay.play(gait, text(self, "replay"))

    def _draw(self) -> None:
        """Draw the last gait for subscribers, outside the answers' way."""
        if self._shown is None or self._markers.get_subscription_count() == 0:
            return
        gait, stamp = self._shown
        settings = whole(self, "figures"), number(self, "arrow_scale")
        self.workers.follow_up(
            lambda: self._markers.publish(strip_markers(gait.figure, self._world, stamp, *settings))
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
            "model": text(self, "model"),
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
