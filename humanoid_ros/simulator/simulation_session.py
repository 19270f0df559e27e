# SPDX-License-Identifier: Apache-2.0
"""One scene that is being simulated, with everything that ROS sees of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin
from geometry_msgs.msg import TransformStamped
from humanoid_stack.srv import AttachDevice
from sensor_msgs.msg import TimeReference
from tf2_msgs.msg import TFMessage

from humanoid_model.errors import InputError, SimulationError
from humanoid_model.fields import Described, flag, number
from humanoid_ros.messages.conversions import fill_transform, stamp
from humanoid_ros.messages.link_transforms import write_transforms
from humanoid_ros.messages.markers import scene_markers, scene_view
from humanoid_ros.messages.serialized_message import SerializedMessage
from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.qos import COMMAND
from humanoid_ros.simulator.device_interface import DeviceInterface
from humanoid_ros.simulator.heard_publisher import Schedule
from humanoid_ros.simulator.joint_trajectory_server import ControllerSettings
from humanoid_ros.simulator.lockstep import TOPIC as LOCKSTEP
from humanoid_ros.simulator.lockstep import Lockstep
from humanoid_ros.simulator.robot_interface import RobotInterface
from humanoid_ros.simulator.scene_requests import apply_state
from humanoid_ros.simulator.simulation_loop import LoopReport, SimulationLoop
from humanoid_ros.simulator.simulation_markers import DrawnTrace
from humanoid_ros.simulator.simulation_report import UnsolvedSteps, diagnostics, simulation_status
from humanoid_ros.simulator.simulation_topics import SimulationTopics
from humanoid_sim import Simulation
from humanoid_sim.endless_fall import EndlessFall
from humanoid_sim.sensing import NoisySensors
from humanoid_sim.sensing.inertial_means import InertialMeans
from humanoid_sim.simulation import SimulationState
from humanoid_sim.state_file import read_state, write_state

ATTENTION = 0.005
"""While a controller moves, steps are made at least this often, so that its client soon hears of the end [s]."""
GREETING = 0.5
"""Time for which a newcomer is told the state of a simulation that stands still, with each status [s]."""


def _rate(default: float, of: str) -> Any:
    meaning = f"messages per simulated second of {of}; a whole number of steps lies between two"
    return number(default, meaning, "Hz", low=0.1, high=10000.0)


@dataclass(frozen=True)
class SessionSettings(Described):
    """What the node's parameters of the same names say to a session.

    Attributes:
        controllers: settings of the controllers.
        devices: names of the devices that are coupled when a scene is loaded.
        traces: bodies and links whose ways are drawn.
    """

    real_time_factor: float = number(
        1.0, "simulated seconds per second to aim at; 0: as fast as possible", low=0.0, high=100.0
    )
    lockstep: float = number(
        0.0, "how long time waits for a command that was promised on lockstep; 0: not at all", "s of wall-clock time",
        low=0.0, high=3600.0,
    )  # fmt: skip
    clock_rate: float = _rate(100.0, "/clock")
    joint_state_rate: float = _rate(100.0, "joint_states")
    transform_rate: float = _rate(50.0, "/tf")
    odometry_rate: float = _rate(100.0, "odometry")
    imu_rate: float = _rate(100.0, "imu, and sensors of kinds that users have added")
    wrench_rate: float = _rate(100.0, "wrenches/<sensor>")
    camera_rate: float = _rate(10.0, "cameras/<sensor>/image_raw, depth and camera_info")
    contact_rate: float = _rate(50.0, "contacts")
    marker_rate: float = _rate(25.0, "markers")
    controller_state_rate: float = _rate(50.0, "<limb>_controller/controller_state")
    action_monitor_rate: float = _rate(20.0, "the feedback of trajectory goals")
    device_rate: float = _rate(200.0, "devices/<device>/force")
    trace_rate: float = _rate(5.0, "traces")
    command_timeout: float = number(
        0.1, "joints are held where they are so long after a command on a topic was due that its forerunner promised",
        "s of simulated time", low=0.0, high=3600.0,
    )  # fmt: skip
    control_rate: float = number(
        1000.0, "updates of a moving controller per simulated second", "Hz", low=1.0, high=10000.0
    )
    status_rate: float = number(10.0, "messages per wall-clock second of status", "Hz", low=0.1, high=100.0)
    diagnostics_rate: float = number(1.0, "likewise of /diagnostics", "Hz", low=0.1, high=10.0)
    interpolate_from_desired_state: bool = flag(
        True, "whether a trajectory begins where the joints should be instead of where they are"
    )
    controllers: ControllerSettings = field(default_factory=ControllerSettings)
    devices: tuple[str, ...] = ()
    traces: tuple[str, ...] = ()


class SimulationSession:
    """Simulates a scene and publishes it; made anew for every scene.

    Attributes:
        simulation: only the loop's thread may touch it.
        loop: runs it.
        robots: what ROS sees of the robots.
        devices: what ROS devices do to the scene.
    """

    def __init__(
        self,
        node: AnsweringNode,
        topics: SimulationTopics,
        simulation: Simulation,
        settings: SessionSettings,
        *,
        paused: bool,
    ) -> None:
        """Set up; :meth:`start` lets time go.

        Args:
            node: that offers the topics.
            topics: those of all scenes.
            simulation: of the scene.
            settings: rates and controllers.
            paused: whether to begin paused.
        """
        self._node = node
        self._topics = topics
        self.simulation = simulation
        self.loop = SimulationLoop(simulation, self, paused=paused)
        several = len(simulation.robots) > 1
        noisy = simulation.modules.get(NoisySensors.name)
        sensors = noisy if isinstance(noisy, NoisySensors) else None
        self._means = InertialMeans(sensors=sensors)
        self._control_steps = self._steps(settings.control_rate)
        self._attention = self._steps(1.0 / ATTENTION)
        self.robots = [
            RobotInterface(
                node,
                self.loop,
                robot,
                f"{name}/" if several else "",
                topics.world,
                sensors,
                period=self._control_steps * simulation.dt,
                settings=settings.controllers,
                interpolate_from_desired_state=settings.interpolate_from_desired_state,
            )
            for name, robot in simulation.robots.items()
        ]
        servers = [server for robot in self.robots for server in robot.servers]
        self._lockstep = Lockstep(servers, [robot.promised for robot in self.robots], node.get_logger().warning)
        self._promises = node.create_subscription(TimeReference, LOCKSTEP, self._on_promise, COMMAND)
        self.devices = DeviceInterface(node, simulation, self.loop, topics.world)
        for device in settings.devices:
            self.devices.couple(AttachDevice.Request(device=device, mode=AttachDevice.Request.ATTACH))
        self._unsolved = UnsolvedSteps()
        self._falls = EndlessFall(simulation)
        self._kept: SimulationState | None = None
        self._trace: DrawnTrace | None = None
        self._soles = {body if several else body.split("/", 1)[1]: sole for body, sole in simulation.soles.items()}
        self._bodies = [name for name, body in simulation.bodies.items() if not body.fixed]
        fixed = [transform for robot in self.robots for transform in robot.topics.transforms.fixed]
        moving = [transform for robot in self.robots for transform in robot.topics.transforms.moving]
        for name, body in simulation.bodies.items():
            transform = TransformStamped()
            transform.header.frame_id, transform.child_frame_id = topics.world, name
            fill_transform(transform.transform, body.placement_world_body)
            (fixed if body.fixed else moving).append(transform)
        self._transforms = SerializedMessage(TFMessage(transforms=moving), 7 * len(moving), write_transforms)
        self._next_diagnostics = 0.0
        self._greeted: list[Callable[[], None]] = []
        self._greeting_end = 0.0
        self.configure(settings)
        topics.publish_static_transforms(fixed)
        scene = simulation.scene
        topics.publish_scene(scene_markers(scene, topics.world, set(self._bodies)), scene_view(scene, topics.world))

    def configure(self, settings: SessionSettings) -> None:
        """Take over rates and controller settings; in the loop's thread once it runs."""
        self.loop.real_time_factor = settings.real_time_factor
        self._patience = settings.lockstep
        self.loop.report_period = 1.0 / settings.status_rate
        self._diagnostics_period = 1.0 / settings.diagnostics_rate
        for robot in self.robots:
            robot.promised.silence = settings.command_timeout
            for server in robot.servers:
                server.settings = settings.controllers
        topics, robots = self._topics, [robot.topics for robot in self.robots]
        servers = [server for robot in self.robots for server in robot.servers]
        schedule = Schedule()
        for rate, publish, heard in (
            (settings.clock_rate, self._publish_clock, [topics.clock]),
            (settings.joint_state_rate, self._publish_joints, [robot.joints for robot in robots]),
            (settings.transform_rate, self._publish_transforms, [topics.transforms]),
            (settings.odometry_rate, self._publish_odometry, [robot.odometry for robot in robots if robot.odometry]),
            (settings.imu_rate, self._publish_imus, [imu.topic for robot in robots for imu in robot.imus]),
            (settings.wrench_rate, self._publish_wrenches, [own.topic for robot in robots for own in robot.wrenches]),
            (settings.imu_rate, self._publish_readings, [own.topic for robot in robots for own in robot.readings]),
            (settings.camera_rate, self._publish_cameras, [own for robot in robots for own in robot.camera_topics]),
            (settings.contact_rate, self._publish_contacts, [topics.contacts]),
            (settings.marker_rate, self._publish_markers, [topics.contact_markers, topics.sole_markers]),
            (settings.controller_state_rate, self._publish_controllers, [server.states for server in servers]),
            (settings.trace_rate, self._publish_traces, [topics.traces]),
        ):
            schedule.add(self._steps(rate), publish, partial(iter, heard))
        schedule.add(self._steps(settings.action_monitor_rate), self._publish_feedback, None)
        schedule.add(self._steps(settings.device_rate), self.devices.publish, lambda: self.devices.forces)
        schedule.look()
        self._schedule = schedule
        self._trace_bodies(settings.traces)

    def start(self) -> None:
        """Publish the start and let time go."""
        self.after_jump()
        self.loop.start()

    def stop(self, reason: str) -> None:
        """Stop the simulation for good and end all motions."""
        self.loop.shutdown()
        for robot in self.robots:
            robot.restart(reason)

    async def destroy(self) -> None:
        """Take robots and devices off the graph."""
        self._node.destroy_subscription(self._promises)
        self.devices.destroy()
        for robot in self.robots:
            await robot.destroy()

    # What services ask for, in the loop's thread --------------------------------------------------

    def reset(self) -> None:
        """Bring everything back to the start: state, controllers, time."""
        self.loop.reset()
        for robot in self.robots:
            robot.restart("The simulation was reset.")

    def set_state(self, request: object) -> None:
        """Put a robot or a body elsewhere; a robot whose joints were set holds them there."""
        name, joints_moved = apply_state(self.simulation, request)
        if joints_moved:
            self.simulation.robots[name].hold()
            for robot in self.robots:
                if robot.topics.robot.name == name:
                    robot.restart("The robot's state was set.")
        # Not the sensors: what they feel is of the last step, which the new state has nothing to do with.
        self._publish_joints()
        self._publish_transforms()
        self._publish_odometry()

    def save_state(self, path: str) -> float:
        """Keep the state in a file, or in memory if the path is empty.

        Returns:
            Simulated time of it [s].

        Raises:
            InputError: the file can't be written.
        """
        if path:
            write_state(self.simulation, path)
        else:
            self._kept = self.simulation.save_state()
        return self.simulation.time

    def restore_state(self, path: str) -> float:
        """Go on from a kept state; motions end.

        Returns:
            Simulated time of it [s].

        Raises:
            InputError: nothing is kept, or a file that doesn't fit; all stays as it was.
        """
        self.loop.jump(partial(self._restore, path), "a restored state")
        for robot in self.robots:
            robot.restart("A saved state was restored.")
        if self._trace is not None:
            self._trace.clear()
        return self.simulation.time

    def _restore(self, path: str) -> None:
        if path:
            read_state(self.simulation, path)
        elif self._kept is not None:
            self.simulation.restore_state(self._kept)
        else:
            raise InputError(
                "is empty, and no state of this scene is in memory",
                element="path",
                remedy="Save one first with an empty path, or give a file",
            )

    def _trace_bodies(self, bodies: tuple[str, ...]) -> None:
        """Draw the ways of these bodies from now on."""
        names = () if self._trace is None else self._trace.names
        known = tuple(body for body in bodies if body in self.simulation.world.index)
        if known == names:
            return
        if self._trace is not None:
            self.simulation.remove_module(self._trace.name)
        self._trace = DrawnTrace(known, spacing=0.002, every=10, most=600) if known else None
        if self._trace is not None:
            self.simulation.add_module(self._trace)

    # LoopListener ---------------------------------------------------------------------------------

    def before_step(self) -> int:
        """Update the controllers if it is time to; returns steps until it is again, or may be."""
        for robot in self.robots:
            robot.promised.look(self.simulation.time)
        if not self._moving():
            return self._schedule.due(self.simulation.step_count)
        since = self.simulation.step_count % self._control_steps
        if since == 0:
            now = self.simulation.time
            for robot in self.robots:
                robot.control(now)
        return self._control_steps - since

    def after_step(self) -> None:
        """Publish what is due.

        Raises:
            SimulationError: a robot has fallen out of the scene.
        """
        self._schedule.publish(self.simulation.step_count)
        fallen = self._falls.problem()
        if fallen:
            raise SimulationError(fallen)

    def due(self) -> int:
        """Return steps until something is due; a hand at a device and a goal's client wait for no longer than so."""
        if self.devices.names:
            return 1
        due = self._schedule.due(self.simulation.step_count)
        return self._attention if due > self._attention and self._moving() else due

    def room(self) -> int:
        """Return steps until a command has to come; who is waited for is told the time that waits."""
        waited = self._lockstep.waits
        room = self._lockstep.room(self.simulation.time, self.simulation.dt, self._patience)
        if self._lockstep.waits and not waited:
            self._publish_clock()
        return room

    def look(self) -> None:
        """See who listens; who comes while time stands still is told the state."""
        news = self._schedule.look()
        measured = any(imu.topic.heard for robot in self.robots for imu in robot.topics.imus)
        if measured != (self._means.name in self.simulation.modules):
            if measured:
                self.simulation.add_module(self._means)
            else:
                self.simulation.remove_module(self._means.name)
        if news:
            self._greeted += [publish for publish in news if publish not in self._greeted]
            self._greeting_end = time.monotonic() + GREETING

    def after_jump(self) -> None:
        """Publish everything."""
        self._schedule.publish_all()

    def report(self, report: LoopReport) -> None:
        """Publish the status, and diagnostics now and then."""
        self._greet(report.paused)
        self._unsolved.take(self.simulation)
        now = stamp(self.simulation.time)
        status = simulation_status(self.simulation, report, self.loop.real_time_factor, now, self._topics.world)
        wall, clocks = time.monotonic(), self._topics.other_clocks
        due = wall >= self._next_diagnostics
        if due:
            clocks.look()
        status.pause_reason = status.pause_reason or clocks.problem
        self._topics.publish_status(status)
        self.simulation.profile.reset()
        self.devices.release_silent()
        if due or report.failure:
            self._next_diagnostics = wall + self._diagnostics_period
            message = diagnostics(
                status,
                self._unsolved,
                self._node.get_fully_qualified_name(),
                self._node.refusals,
                self._node.get_clock().now().to_msg(),
            )
            self._topics.publish_diagnostics(message)
            self._unsolved.forget()

    def failed(self, message: str, details: str) -> None:
        """Say in the log why the simulation stands still."""
        self._node.get_logger().error(f"the simulation is paused: {message}\n{details}".rstrip())

    # In the executor ------------------------------------------------------------------------------

    def _on_promise(self, message: TimeReference) -> None:
        def take() -> None:
            try:
                self._lockstep.promise(message)
            except InputError as error:
                self._node.refusals.refuse(LOCKSTEP, str(error))

        self.loop.call(take)

    # ----------------------------------------------------------------------------------------------

    def _moving(self) -> bool:
        return any(robot.moving for robot in self.robots)

    def _greet(self, paused: bool) -> None:
        """Tell those who came lately the state, if no step will do so.

        More than once: this end of a connection may be ready before the other.
        """
        if paused:
            for publish in self._greeted:
                publish()
        if not paused or time.monotonic() > self._greeting_end:
            self._greeted = []

    def _steps(self, rate: float) -> int:
        """Whole number of steps between two messages of a rate [Hz]."""
        return max(round(1.0 / (rate * self.simulation.dt)), 1)

    def _publish_clock(self) -> None:
        self._topics.publish_clock(stamp(self.simulation.time))

    def _publish_joints(self) -> None:
        now = stamp(self.simulation.time)
        for robot in self.robots:
            robot.topics.publish_joints(now)

    def _publish_transforms(self) -> None:
        robots = [robot.topics.transforms.values(robot.topics.robot.q) for robot in self.robots]
        bodies = [pin.SE3ToXYZQUAT(self.simulation.bodies[name].placement_world_body) for name in self._bodies]
        if robots or bodies:
            values = np.concatenate([own.reshape(-1) for own in (*robots, *bodies)])
            self._topics.transforms.publish(self._transforms.filled(values, stamp(self.simulation.time)))

    def _publish_odometry(self) -> None:
        now = stamp(self.simulation.time)
        for robot in self.robots:
            robot.topics.publish_odometry(now)

    def _publish_imus(self) -> None:
        now = stamp(self.simulation.time)
        for robot in self.robots:
            robot.topics.publish_imus(self._means, now)

    def _publish_wrenches(self) -> None:
        now = stamp(self.simulation.time)
        for robot in self.robots:
            robot.topics.publish_wrenches(now)

    def _publish_readings(self) -> None:
        now = stamp(self.simulation.time)
        for robot in self.robots:
            robot.topics.publish_readings(now)

    def _publish_cameras(self) -> None:
        now = stamp(self.simulation.time)
        for robot in self.robots:
            robot.topics.publish_cameras(now)

    def _publish_contacts(self) -> None:
        self._topics.publish_contacts(self.simulation, stamp(self.simulation.time))

    def _publish_markers(self) -> None:
        now = stamp(self.simulation.time)
        self._topics.publish_markers(self.simulation, now)
        self._topics.publish_soles(self._soles, now)

    def _publish_traces(self) -> None:
        self._topics.publish_traces(self._trace, stamp(self.simulation.time))

    def _publish_controllers(self) -> None:
        for robot in self.robots:
            robot.publish_controllers()

    def _publish_feedback(self) -> None:
        for robot in self.robots:
            robot.publish_feedback()
