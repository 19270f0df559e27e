# SPDX-License-Identifier: Apache-2.0
"""Logs of ROS 2 messages in one MCAP file, written without ROS 2 (specification 000, F024).

Topics, types and frames are those that the simulator node publishes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_model.extensions import optional_library
from humanoid_model.files import find_resource
from humanoid_sim.contact.solve import ContactStatus
from humanoid_sim.recording.tables import Recorder, moving_bodies, robot_zero_moment_point
from humanoid_sim.world.simulated_robot import SimulatedRobot

if TYPE_CHECKING:
    from rosbags.typesys.store import Typestore

    from humanoid_sim.simulation import Simulation


_OWN = ("ContactForce", "ContactForces", "SolverStatus", "StageTime", "SimulationStatus")


@cache
def ros_types() -> Typestore:
    """Return types of ROS 2 Jazzy and those of ``msg/`` that a log holds.

    Raises:
        MissingLibraryError: the library ``rosbags`` is not installed.
    """
    typesys = optional_library("rosbags.typesys", "simulation", element="record")
    store: Typestore = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
    for name in _OWN:
        text = find_resource(f"msg/{name}.msg").read_text(encoding="utf-8")
        store.register(typesys.get_types_from_msg(text, f"humanoid_stack/msg/{name}"))
    return store


WORLD = "world"
"""Name of the world frame."""

Message = tuple[str, str, Any]
"""Topic, type and message."""

NO_CONTACT = 3
"""SolverStatus of a step without contacts."""

SOLVER_STATUS = {
    ContactStatus.CONVERGED: 0,
    ContactStatus.APPROXIMATE: 5,
    ContactStatus.NOT_CONVERGED: 1,
    ContactStatus.TIME_LIMIT: 2,
}
"""How a contact solver ended, as SolverStatus has it; what is not plainly converged says so in the message, too."""


class RosMessages:
    """Makes the messages of one simulation.

    As in the node, topics and frames of a scene's only robot have no prefix; of several robots each has ``<robot>/``.
    """

    def __init__(self, simulation: Simulation) -> None:
        """Prepare for a simulation.

        Raises:
            InputError: a library is missing.
        """
        self._types = ros_types().types
        robots = list(simulation.robots)
        self._prefix = {name: "" if len(robots) == 1 else f"{name}/" for name in robots}
        self._frames = {
            f"{name}/{link}": f"{prefix}{link}"
            for name, prefix in self._prefix.items()
            for link in simulation.robots[name].robot.description.links
        }
        self._groups: dict[str, Callable[[Simulation, Any], Iterator[Message]]] = {
            "contacts": self._contacts,
            "balance": self._balance,
            "joints": self._joints,
            "bodies": self._bodies,
            "sensors": self._sensors,
        }
        self._status_groups = {"energy", "solver", "profile"}

    def constant(self, simulation: Simulation) -> Iterator[Message]:
        """Yield messages that are the same all the time: the robots' descriptions."""
        for name, robot in simulation.robots.items():
            text = self._make("std_msgs/msg/String", data=robot.robot.urdf)
            yield f"/{self._prefix[name]}robot_description", "std_msgs/msg/String", text

    def of_step(self, simulation: Simulation, groups: tuple[str, ...]) -> Iterator[Message]:
        """Yield messages of the last step.

        Args:
            simulation: after the step.
            groups: names of :data:`~humanoid_sim.recording.tables.TABLES`.
        """
        stamp = self._stamp(simulation)
        yield "/clock", "rosgraph_msgs/msg/Clock", self._make("rosgraph_msgs/msg/Clock", clock=stamp)
        for group in groups:
            if group in self._groups:
                yield from self._groups[group](simulation, stamp)
        if self._status_groups.intersection(groups):
            yield self._status(simulation, stamp)

    # -- groups ------------------------------------------------------------------------------

    def _contacts(self, simulation: Simulation, stamp: Any) -> Iterator[Message]:
        contacts = simulation.contacts
        rows = [
            self._make(
                "humanoid_stack/msg/ContactForce",
                body_a=a,
                body_b=b,
                position=self._point(contacts.position[i]),
                normal=self._vector(contacts.normal[i]),
                force=self._vector(contacts.force[i]),
                torque=self._vector(contacts.torque[i]),
                gap=float(contacts.gap[i]),
                friction=float(contacts.friction[i]),
                state=int(contacts.state[i]),
            )
            for i, (a, b) in enumerate(contacts.bodies)
        ]
        kind = "humanoid_stack/msg/ContactForces"
        yield "/contacts", kind, self._make(kind, header=self._header(stamp, WORLD), contacts=rows)

    def _balance(self, simulation: Simulation, stamp: Any) -> Iterator[Message]:
        contacts, gravity = simulation.contacts, np.asarray(simulation.scene.gravity)
        size = float(np.linalg.norm(gravity))
        kind = "geometry_msgs/msg/PointStamped"
        for name, robot in simulation.robots.items():
            points = {"centre_of_mass": robot.centre_of_mass}
            if size > 0.0:
                points["zero_moment_point"] = robot_zero_moment_point(contacts, name, -gravity / size)
            for topic, point in points.items():
                message = self._make(kind, header=self._header(stamp, WORLD), point=self._point(point))
                yield f"/{self._prefix[name]}{topic}", kind, message

    def _joints(self, simulation: Simulation, stamp: Any) -> Iterator[Message]:
        kind = "sensor_msgs/msg/JointState"
        for name, robot in simulation.robots.items():
            message = self._make(
                kind,
                header=self._header(stamp, WORLD),
                name=list(robot.joint_names),
                position=robot.joint_positions,
                velocity=robot.joint_velocities,
                effort=robot.joint_efforts,
            )
            yield f"/{self._prefix[name]}joint_states", kind, message

    def _bodies(self, simulation: Simulation, stamp: Any) -> Iterator[Message]:
        transforms = []
        R, p = simulation.joint_placements()
        for body in simulation.world.bodies:
            frame = self._frames.get(body.name, body.name)
            placement = pin.SE3(R[body.joint], p[body.joint]) * body.placement_joint_body
            transforms.append(
                self._make(
                    "geometry_msgs/msg/TransformStamped",
                    header=self._header(stamp, WORLD),
                    child_frame_id=frame,
                    transform=self._make(
                        "geometry_msgs/msg/Transform",
                        translation=self._vector(placement.translation),
                        rotation=self._quaternion(placement),
                    ),
                )
            )
        yield "/tf", "tf2_msgs/msg/TFMessage", self._make("tf2_msgs/msg/TFMessage", transforms=transforms)
        kind = "nav_msgs/msg/Odometry"
        for name, placement, twist in moving_bodies(simulation):
            robot = name.split("/")[0]
            prefix = self._prefix.get(robot, f"bodies/{robot}/")
            message = self._make(
                kind,
                header=self._header(stamp, WORLD),
                child_frame_id=self._frames.get(name, name),
                pose=self._make(
                    "geometry_msgs/msg/PoseWithCovariance",
                    pose=self._make(
                        "geometry_msgs/msg/Pose",
                        position=self._point(placement.translation),
                        orientation=self._quaternion(placement),
                    ),
                    covariance=np.zeros(36),
                ),
                twist=self._make(
                    "geometry_msgs/msg/TwistWithCovariance",
                    twist=self._make(
                        "geometry_msgs/msg/Twist", linear=self._vector(twist[:3]), angular=self._vector(twist[3:])
                    ),
                    covariance=np.zeros(36),
                ),
            )
            yield f"/{prefix}odometry", kind, message

    def _sensors(self, simulation: Simulation, stamp: Any) -> Iterator[Message]:
        kind = "geometry_msgs/msg/WrenchStamped"
        for name, robot in simulation.robots.items():
            prefix = self._prefix[name]
            for sensor in _force_sensors(robot):
                wrench = robot.wrench(sensor)
                message = self._make(
                    kind,
                    header=self._header(stamp, f"{prefix}{sensor}_frame"),
                    wrench=self._make(
                        "geometry_msgs/msg/Wrench", force=self._vector(wrench[:3]), torque=self._vector(wrench[3:])
                    ),
                )
                yield f"/{prefix}wrenches/{sensor}", kind, message

    def _status(self, simulation: Simulation, stamp: Any) -> Message:
        energy, profile = simulation.energy(), simulation.profile
        result = simulation.solver
        solver = {
            "method": simulation.method,
            "status": NO_CONTACT,
            "message": "",
            "contacts": 0,
            "iterations": 0,
            "complementarity": 0.0,
            "cone": 0.0,
            "dissipation": 0.0,
            "time": 0.0,
        }
        if result is not None:
            solver.update(
                status=SOLVER_STATUS[result.status],
                message=""
                if result.status is ContactStatus.CONVERGED
                else f"{result.status.value}, relative residual {result.residuals.natural_map:.2g}",
                contacts=len(result.impulses),
                iterations=int(result.iterations),
                complementarity=float(result.residuals.complementarity),
                cone=float(result.residuals.cone),
                dissipation=float(result.residuals.dissipation),
                time=float(result.time),
            )
        means = profile.stages
        kind = "humanoid_stack/msg/SimulationStatus"
        message = self._make(
            kind,
            header=self._header(stamp, WORLD),
            scene=simulation.scene.name,
            time=simulation.time,
            step=simulation.step_count,
            time_step=simulation.dt,
            paused=False,
            pause_reason="",
            real_time_factor=profile.real_time_factor(simulation.dt) if profile.steps else 0.0,
            requested_real_time_factor=0.0,
            step_seconds=profile.mean,
            max_step_seconds=profile.longest,
            kinetic_energy=energy.kinetic,
            potential_energy=energy.potential,
            total_energy=energy.total,
            solver=self._make("humanoid_stack/msg/SolverStatus", **solver),
            profile=[
                self._make("humanoid_stack/msg/StageTime", stage=stage, last=last, mean=means[stage])
                for stage, last in profile.last.items()
            ],
        )
        return "/status", kind, message

    # -- parts -------------------------------------------------------------------------------

    def _make(self, kind: str, **fields: Any) -> Any:
        return self._types[kind](**fields)

    def _stamp(self, simulation: Simulation) -> Any:
        seconds, nanoseconds = divmod(nanoseconds_of(simulation), 1_000_000_000)
        return self._make("builtin_interfaces/msg/Time", sec=seconds, nanosec=nanoseconds)

    def _header(self, stamp: Any, frame: str) -> Any:
        return self._make("std_msgs/msg/Header", stamp=stamp, frame_id=frame)

    def _vector(self, values: NDArray[np.float64]) -> Any:
        x, y, z = values.tolist()
        return self._make("geometry_msgs/msg/Vector3", x=x, y=y, z=z)

    def _point(self, values: NDArray[np.float64]) -> Any:
        x, y, z = values.tolist()
        return self._make("geometry_msgs/msg/Point", x=x, y=y, z=z)

    def _quaternion(self, placement: pin.SE3) -> Any:
        x, y, z, w = pin.SE3ToXYZQUAT(placement)[3:].tolist()
        return self._make("geometry_msgs/msg/Quaternion", x=x, y=y, z=z, w=w)


def nanoseconds_of(simulation: Simulation) -> int:
    """Return the simulated time in nanoseconds, rounded."""
    return round(simulation.time * 1e9)


def _force_sensors(robot: SimulatedRobot) -> list[str]:
    return [sensor.name for sensor in robot.robot.sensors.values() if sensor.type == "force_torque"]


LATCHED_PROFILE = """\
- history: keep_last
  depth: 1
  reliability: reliable
  durability: transient_local
  deadline: {sec: 9223372036, nsec: 854775807}
  lifespan: {sec: 9223372036, nsec: 854775807}
  liveliness: automatic
  liveliness_lease_duration: {sec: 9223372036, nsec: 854775807}
  avoid_ros_namespace_conventions: false
"""
"""Quality of service of topics that keep their last message for late listeners, as rosbag2 writes it."""


class McapRecorder(Recorder):
    """Writes what the simulator node would publish, as ``ros2 bag record --storage mcap`` would store it.

    ``ros2 bag play``, Foxglove and PlotJuggler read the file as it is. Stamps are simulated time.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        every: int = 10,
        groups: Sequence[str] | None = None,
        name: str = "mcap",
    ) -> None:
        """Record into a file, which is made when the module is added.

        Args:
            path: of the file, which ends in ``.mcap``; one that is there is replaced.
            every: steps from one record to the next.
            groups: of :data:`~humanoid_sim.recording.tables.TABLES`; all if not given. ``energy``, ``solver`` and
                ``profile`` share the topic ``/status``.
            name: of the module.

        Raises:
            InputError: another ending, or see :class:`~humanoid_sim.recording.tables.Recorder`.
        """
        super().__init__(name, path, every, groups)
        if self.path.suffix != ".mcap":
            raise InputError(f"the log is '{path}'", element="record", remedy="Give a file that ends in .mcap")
        self._messages: RosMessages | None = None
        self._file: IO[bytes] | None = None
        self._writer: Any = None
        self._channels: dict[str, int] = {}
        self._schemas: dict[str, int] = {}

    def attach(self, simulation: Simulation) -> None:
        """Open the file.

        Raises:
            InputError: a library is missing, or the file can't be written.
        """
        self._messages = RosMessages(simulation)
        mcap = optional_library("mcap.writer", "simulation", element="record")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("wb")
        except OSError as problem:
            raise InputError(
                f"no log can be written there: {problem.strerror}",
                source=self.path,
                element="record",
                remedy="Name a file to write to",
            ) from problem
        self._writer = mcap.Writer(self._file)
        self._writer.start(profile="ros2", library="humanoid_sim")
        self._channels, self._schemas = {}, {}
        for topic, kind, message in self._messages.constant(simulation):
            self._write(topic, kind, message, nanoseconds_of(simulation), LATCHED_PROFILE)

    def record(self, simulation: Simulation) -> None:
        """Write the messages of the last step."""
        assert self._messages is not None
        time = nanoseconds_of(simulation)
        for topic, kind, message in self._messages.of_step(simulation, self.groups):
            self._write(topic, kind, message, time, "")

    def detach(self, simulation: Simulation) -> None:
        """Write the index and close the file."""
        assert self._file is not None
        with self._file:
            self._writer.finish()

    def _write(self, topic: str, kind: str, message: Any, time: int, qos: str) -> None:
        store = ros_types()
        if topic not in self._channels:
            if kind not in self._schemas:
                definition, _ = store.generate_msgdef(kind, ros_version=2)
                self._schemas[kind] = self._writer.register_schema(kind, "ros2msg", definition.encode())
            self._channels[topic] = self._writer.register_channel(
                topic, "cdr", self._schemas[kind], {"offered_qos_profiles": qos}
            )
        data = bytes(store.serialize_cdr(message, kind))
        self._writer.add_message(self._channels[topic], time, data, time)
