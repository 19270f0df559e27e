# SPDX-License-Identifier: Apache-2.0
"""The kinematics node: mechanisms that are loaded, driven, edited, switched, recorded and replayed while they run."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pinocchio as pin
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from humanoid_stack.srv import LoadMechanism, SelectDevice, SetMechanismParameters
from rclpy.clock import Clock, ClockType
from rclpy.parameter import Parameter
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from humanoid_kinematics import LiveScene, load_scene
from humanoid_kinematics.devices.device import JOY_MAPPINGS
from humanoid_kinematics.live.live_mechanism import PROFILES, ROBUST
from humanoid_kinematics.live.newest_commands import LiveLimits
from humanoid_kinematics.mad.load import read_scene, renamed_scene
from humanoid_model.checks import check_known
from humanoid_model.description import Shape
from humanoid_model.errors import HumanoidError, InputError
from humanoid_ros.kinematics.mechanism_messages import link_change
from humanoid_ros.kinematics.mechanism_topics import MechanismTopics, RelayTopics, check_topics, topic_name
from humanoid_ros.kinematics.recorded_motions import MotionReplays, MotionWriter
from humanoid_ros.kinematics.tool_topics import DeviceTopics, ToolTrajectories
from humanoid_ros.messages.markers import take_obstacles
from humanoid_ros.messages.request_fields import pose
from humanoid_ros.node.answering_node import AnsweringNode, shortened
from humanoid_ros.node.diagnostics import declare_diagnostics_rate, publish_diagnostics
from humanoid_ros.node.parameter_declaration import (
    declare_flag,
    declare_number,
    declare_text,
    declare_texts,
    flag,
    number,
    refuse_unusable,
    text,
    texts,
)
from humanoid_ros.node.qos import LATCHED, NEWEST, TRANSFORMS
from humanoid_ros.node.requested_files import check_requested, check_written, next_free, requested_reading
from humanoid_ros.node.run import run
from humanoid_ros.node.service_workers import answer_of

LONGEST = 0.1
"""A longer time from one look at the clock to the next counts as so much: nothing jumps after the node was held up [s].
"""


class KinematicsNode(AnsweringNode):
    """Runs mechanisms; see docs/interfaces.md for its services, actions, topics and parameters.

    Attributes:
        scene: the mechanisms that run.

    Raises:
        HumanoidError: a parameter can't be used.
    """

    def __init__(self) -> None:
        super().__init__("kinematics")
        self._declare_parameters()
        warnings.showwarning = lambda message, *_: self.get_logger().warning(str(message))
        self._worker = ThreadPoolExecutor(1, "mechanism")
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._tf = self.create_publisher(TFMessage, "/tf", TRANSFORMS)
        self._static = self.create_publisher(TFMessage, "/tf_static", LATCHED)
        self._text = self.create_publisher(String, "mechanism_description", LATCHED)
        self.scene: LiveScene
        self._devices: DeviceTopics
        self._topics: dict[str, MechanismTopics] = {}
        self._trajectories: list[ToolTrajectories] = []
        self._relay: RelayTopics | None = None
        self._writer: MotionWriter | None = None
        self._obstacles: dict[str, tuple[Shape, pin.SE3]] = {}
        self._requested = ""  # what the request names or holds that the scene came by
        self._take(self._read(text(self, "mechanism"), "", text(self, "name")))
        self._change({name: self.get_parameter(name).value for name in ("profile", "open_loops")})
        self._record(text(self, "record") and next_free(text(self, "record")))
        self._replays = MotionReplays(self, lambda: self.scene.mechanisms, self._worker)
        self.offer(LoadMechanism, "load_mechanism", self._on_load)
        self.offer(SetMechanismParameters, "set_mechanism_parameters", self._on_edit)
        self.offer(SelectDevice, "select_device", self._on_select)
        self.create_subscription(PoseStamped, "view", self._on_view, NEWEST, callback_group=self.group)
        self.create_subscription(MarkerArray, "obstacles", self._on_obstacles, LATCHED, callback_group=self.group)
        refuse_unusable(self, self._change)
        self._told = 0  # of the refusals, by diagnostics
        publish_diagnostics(self, "mechanisms", self._diagnostics, self._health)
        self._last = self._steady.now()
        self.create_timer(1.0 / number(self, "publish_rate"), self._tick, clock=self._steady, callback_group=self.group)

    def _declare_parameters(self) -> None:
        limits = LiveLimits()
        declare_diagnostics_rate(self)
        declare_text(self, "mechanism", "cross", "Mechanism at first: a name, or the path of a file", read_only=True)
        declare_text(self, "name", "", "Its name, and that of its topics; empty: that of its file", read_only=True)
        declare_number(self, "publish_rate", 60.0, 1.0, 1000.0, "Messages out per second [Hz]", read_only=True)
        declare_number(self, "tick_rate", 1000.0, 1.0, 10000.0, "Ticks of the solver per second of motion [Hz]")
        declare_number(self, "linear_speed", limits.linear, 1e-6, 100.0, "Highest of tools and slides [m/s]")
        declare_number(self, "angular_speed", limits.angular, 1e-6, 100.0, "Highest of tools and joints [rad/s]")
        declare_number(self, "command_timeout", limits.timeout, 0.01, 10.0, "How long a velocity lasts [s]")
        declare_text(self, "profile", ROBUST, f"Solver: {', '.join(PROFILES)}")
        declare_texts(self, "open_loops", "Loops let go of; mechanism/loop where there are several mechanisms")
        declare_text(self, "record", "", "CSV or MCAP file of the motion; empty: none")
        declare_flag(self, "overwrite", False, "Whether record may name a file that is there, which is replaced")
        declare_texts(self, "tools", "Links beside the file's tools with topics of their own", read_only=True)
        declare_texts(self, "devices", "Devices beside the file's, each name:kind", read_only=True)
        declare_text(self, "joystick", "spacenav", f"What axes of joy mean: {', '.join(JOY_MAPPINGS)}", read_only=True)
        declare_texts(self, "driven", "Joints with motors; empty: as the file says", read_only=True)
        declare_text(self, "relay", "", "Topic of driven joints that are completed; empty: none", read_only=True)
        declare_flag(self, "relay_efforts", False, "Whether efforts are told too", read_only=True)
        declare_texts(self, "standing", "Joints that are told the drives' efforts", read_only=True)
        declare_text(self, "world_frame", "world", "Name of the world frame", read_only=True)

    def _change(self, values: Mapping[str, Any]) -> None:
        """Take new values of parameters; raise a HumanoidError for one that can't be used."""
        if "profile" in values or "open_loops" in values:
            loops = values.get("open_loops", texts(self, "open_loops"))
            self.scene.switch(values.get("profile", text(self, "profile")), [loop for loop in loops if loop])
        if "record" in values:
            overwrite = values.get("overwrite", flag(self, "overwrite"))
            self._record(values["record"] and check_written(values["record"], "record", overwrite=overwrite), overwrite)
        speeds = {name: values.get(name, number(self, name)) for name in ("linear_speed", "angular_speed")}
        timeout = values.get("command_timeout", number(self, "command_timeout"))
        for live in self.scene.mechanisms.values():
            live.commands.limits = LiveLimits(speeds["linear_speed"], speeds["angular_speed"], timeout)

    # Mechanisms ---------------------------------------------------------------------------------------------------

    def _read(self, path: str, content: str, name: str, requested: str = "") -> LiveScene:
        """Load a file, or a text if there is no path; confined, where a request names or holds it."""
        if not path and not content:
            raise InputError("is empty, and so is text", element="path", remedy="Give a file's path, or its text")
        with requested_reading(requested):
            scene = load_scene(path) if path else read_scene(content)
            if not scene.mechanisms:
                raise InputError("describes no mechanism", element="path" if path else "text", remedy="Describe one")
            live = LiveScene(renamed_scene(scene, topic_name(name)) if name else scene)
        live.prepare()
        return live

    def _take(self, scene: LiveScene) -> None:
        """Let a scene run in the place of the one before, which stays if this one can't be used."""
        made: list[Any] = []
        try:
            devices = DeviceTopics(self, scene, texts(self, "devices"), self._joystick())
            made.append(devices)
            topics: dict[str, MechanismTopics] = {}
            check_topics(scene.mechanisms, "mechanism")
            for name, live in scene.mechanisms.items():
                topics[name] = MechanismTopics(self, live, name, text(self, "world_frame"), texts(self, "tools"))
                made.append(topics[name])
                topics[name].set_obstacles(self._obstacles)
            driven = tuple(texts(self, "driven"))
            trajectories = [ToolTrajectories(self, each, driven, self._worker) for each in topics.values()]
            made += trajectories
            relay = self._make_relay(list(topics.values()), driven)
        except HumanoidError:
            for each in made:
                each.destroy()
            raise
        old: list[Any] = [*self._topics.values(), *self._trajectories, *([self._relay] if self._relay else [])]
        if self._topics:
            self._end_recording()
            self._replays.stop("another mechanism was loaded")
            old.append(self._devices)
        for each in old:
            each.destroy()
        self.scene, self._topics, self._trajectories, self._relay = scene, topics, trajectories, relay
        self._devices = devices
        self._describe()

    def _make_relay(self, topics: list[MechanismTopics], driven: tuple[str, ...]) -> RelayTopics | None:
        source = text(self, "relay")
        if not source:
            return None
        if len(topics) > 1:
            raise InputError(f"is '{source}'", element="relay", remedy="Load a file with one mechanism to relay")
        efforts, standing = flag(self, "relay_efforts"), texts(self, "standing")
        return RelayTopics(self, topics[0], source, driven, standing, efforts=efforts)

    def _joystick(self) -> Any:
        name = text(self, "joystick")
        return JOY_MAPPINGS[check_known(name, JOY_MAPPINGS, "joystick", "joystick")]

    def _describe(self) -> None:
        self._static.publish(TFMessage(transforms=[each for topics in self._topics.values() for each in topics.fixed]))
        self._text.publish(String(data=self.scene.text))

    # Answers ------------------------------------------------------------------------------------------------------

    async def _on_load(self, request: LoadMechanism.Request, response: LoadMechanism.Response) -> None:
        path = ",".join(check_requested(part, "path") for part in request.path.split(","))
        named = path or request.text
        scene = await answer_of(self, self._worker.submit(self._read, path, request.text, request.name, named))
        scene.switch(text(self, "profile"), ())
        self._take(scene)
        self._requested = named
        self._change({})
        self.set_parameters([Parameter("open_loops", value=[""]), Parameter("record", value="")])
        several = len(scene.mechanisms) > 1
        response.names = list(scene.mechanisms)
        for name, live in scene.mechanisms.items():
            joints = live.mechanism.robot.joint_names
            response.joint_names += [f"{name}/{joint}" if several else joint for joint in joints]
            response.loops += len(live.mechanism.loops)
            response.mobility += live.state().mobility
            response.closure = max(response.closure, live.gap)

    async def _on_edit(
        self, request: SetMechanismParameters.Request, response: SetMechanismParameters.Response
    ) -> None:
        name = request.mechanism or next(iter(self.scene.mechanisms))
        with requested_reading(self._requested):
            self.scene.edit(name, [link_change(link) for link in request.links])
        response.closure = self.scene.mechanisms[name].gap
        self._topics[name].describe()
        if self._relay is not None:
            self._relay.rebuild()
        self._describe()

    async def _on_select(self, request: SelectDevice.Request, response: SelectDevice.Response) -> None:
        self._devices.select(request)

    def _on_view(self, message: PoseStamped) -> None:
        try:
            view = pose(message.pose, "pose")
        except HumanoidError as problem:
            self.refusals.refuse("view", problem)
            return
        for live in self.scene.mechanisms.values():
            live.commands.view = view

    def _on_obstacles(self, message: MarkerArray) -> None:
        obstacles = dict(self._obstacles)
        problems = take_obstacles(message, obstacles, text(self, "world_frame"))
        try:
            for topics in self._topics.values():
                topics.set_obstacles(obstacles)
            self._obstacles = obstacles
        except HumanoidError as problem:
            problems.append(str(problem))
        for why in problems:
            self.refusals.refuse("obstacles", why)

    # Motion -------------------------------------------------------------------------------------------------------

    def _tick(self) -> None:
        now = self._steady.now()
        dt = min(1e-9 * (now - self._last).nanoseconds, LONGEST)
        self._last = now
        if dt <= 0.0:
            return
        running = dict(self.scene.mechanisms)
        for name in self._replays.names:
            self._replays.advance(name, dt)
            running.pop(name, None)
        if self._relay is not None:
            for live in running.values():
                live.place(self._relay.relay.solver.q, dt)
            running.clear()
        self._devices.give(dt)
        for live in running.values():
            live.tick(dt, max(1, round(dt * number(self, "tick_rate"))))
        stamp = self.get_clock().now().to_msg()
        moved = []
        for topics in self._topics.values():
            moved += topics.publish(stamp, self._writer, joints=self._relay is None)
        self._tf.publish(TFMessage(transforms=moved))

    def _record(self, path: str, overwrite: bool = False) -> None:
        """Record to a file from now on, and end the one before; empty: to none."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()
        if path:
            names = {topics.name: topics.live for topics in self._topics.values()}
            self._writer = MotionWriter(path, names, overwrite=overwrite)

    def _end_recording(self) -> None:
        try:
            self._record("")
        except HumanoidError as problem:
            self.refusals.refuse("record", problem)

    # Node ---------------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """End what is recorded and replayed."""
        self._replays.stop("the node is shut down")
        self._end_recording()

    @property
    def busy(self) -> bool:
        """Whether a motion is replayed."""
        return bool(self._replays.names)

    def destroy_node(self) -> None:
        """Take the action off the graph first."""
        self._replays.destroy()
        self._worker.shutdown(wait=False, cancel_futures=True)
        super().destroy_node()

    def _health(self) -> tuple[bytes, str]:
        """Warn of what goes wrong now, and of what was refused since the last time."""
        told, self._told = self._told, self.refusals.count
        shared = [topics.name for topics in self._topics.values() if topics.shared]
        if shared:
            names = ", ".join(f"{name}/joint_states" for name in shared)
            return DiagnosticStatus.WARN, f"another node publishes {names} too: give one of them another name"
        if self._relay is not None and self._relay.reason:
            return DiagnosticStatus.WARN, f"not completed: {shortened(self._relay.reason)}"
        if self.refusals.count > told:
            return DiagnosticStatus.WARN, f"refused {self.refusals.count - told}, the last {self.refusals.last}"
        return DiagnosticStatus.OK, "busy" if self.busy else "idle"

    def _diagnostics(self) -> dict[str, str]:
        mechanisms = self.scene.mechanisms
        return {
            "mechanisms": ", ".join(mechanisms),
            "profile": ", ".join({live.profile for live in mechanisms.values()}),
            "status": ", ".join(live.status for live in mechanisms.values()),
            "largest gap of a loop [m or rad]": f"{max(live.gap for live in mechanisms.values()):.1e}",
            "open loops": ", ".join(loop for live in mechanisms.values() for loop in live.open_loops),
            "relay": "" if self._relay is None else shortened(self._relay.reason) or "complete",
            "replayed": ", ".join(self._replays.names),
            "recorded": "" if self._writer is None else self._writer.path,
            "requests refused": str(self.refusals.count),
            "last refusal": self.refusals.last,
        }


def main() -> None:
    """Run the node until SIGINT or SIGTERM."""
    run("kinematics", KinematicsNode)
