# SPDX-License-Identifier: Apache-2.0
"""Everything that ROS sees of one simulated robot: topics, commands, controllers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from humanoid_stack.msg import JointCommand

from humanoid_model.description import JointLimit
from humanoid_model.errors import InputError
from humanoid_ros.messages.conversions import check_finite
from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.qos import COMMAND
from humanoid_ros.node.reading_thread import ReadingThread
from humanoid_ros.simulator.joint_trajectory_server import ControllerSettings, JointTrajectoryServer
from humanoid_ros.simulator.lockstep import PromisedCommands
from humanoid_ros.simulator.robot_topics import RobotTopics
from humanoid_ros.simulator.simulation_loop import SimulationLoop
from humanoid_sim.control.joint_commands import JointCommands
from humanoid_sim.control.joint_trajectory_controller import JointTrajectoryController
from humanoid_sim.control.trajectory_request import JointLimits
from humanoid_sim.sensing import NoisySensors
from humanoid_sim.world.simulated_robot import SimulatedRobot

WHOLE_BODY = "whole_body"
"""Name of the controller of all driven joints."""


class RobotInterface:
    """Topics of a robot, its command topics, one controller per limb and one of the whole body.

    Attributes:
        topics: what it publishes.
        commands: owners of its joints.
        servers: its controllers.
        promised: when the next command on a topic is due.
    """

    def __init__(
        self,
        node: AnsweringNode,
        loop: SimulationLoop,
        robot: SimulatedRobot,
        prefix: str,
        world: str,
        sensors: NoisySensors | None,
        *,
        period: float,
        settings: ControllerSettings,
        interpolate_from_desired_state: bool,
    ) -> None:
        """Create all entities of a robot.

        Args:
            node: that offers them.
            loop: runs the simulation.
            robot: the robot.
            prefix: of names and frames, ``""`` or ``"robot/"``.
            world: name of the world frame.
            sensors: what it measures; ideal readings if not given.
            period: time between two updates of a controller [s].
            settings: of the controllers.
            interpolate_from_desired_state: where trajectories begin.
        """
        self._node = node
        self._loop = loop
        self._prefix = prefix
        self.topics = RobotTopics(node, robot, prefix, world, sensors)
        self.commands = JointCommands(robot)
        self.promised = PromisedCommands(f"{prefix}commands", self.commands, node.get_logger().warning)
        joints = robot.robot.description.joints
        self.servers = [
            JointTrajectoryServer(
                node,
                prefix,
                JointTrajectoryController(
                    name,
                    members,
                    self.commands,
                    continuous=[joint for joint in members if joints[joint].type == "continuous"],
                    limits=_limits([joints[joint].limit for joint in members]),
                    period=period,
                    interpolate_from_desired_state=interpolate_from_desired_state,
                ),
                loop,
                settings,
            )
            for name, members in controlled_joints(robot).items()
        ]
        self._reading = ReadingThread(
            node,
            [
                (JointCommand, f"{prefix}commands/{quantity}", take, COMMAND)
                for quantity, take in (("effort", self._on_effort), ("position", self._on_position))
            ],
        )

    async def destroy(self) -> None:
        """Take all entities off the graph, once the results of goals are sent."""
        for server in self.servers:
            await server.goals_ended()
            server.destroy()
        self._reading.close()
        self.topics.destroy()

    # In the simulation's thread -------------------------------------------------------------------

    @property
    def moving(self) -> bool:
        """Whether a controller has a trajectory."""
        return any(server.controller.moving for server in self.servers)

    def control(self, now: float) -> None:
        """Update the controllers that have a trajectory."""
        moving = [server.controller for server in self.servers if server.controller.moving]
        if moving:
            state = self.commands.joint_state()
            for controller in moving:
                controller.update(now, *state)

    def publish_controllers(self) -> None:
        """Publish the state of each controller."""
        positions, velocities = self.commands.joint_state()
        for server in self.servers:
            server.publish_state(positions, velocities)

    def publish_feedback(self) -> None:
        """Send the feedback of each goal."""
        positions, velocities = self.commands.joint_state()
        for server in self.servers:
            server.publish_feedback(positions, velocities)

    def restart(self, reason: str) -> None:
        """End all motions, after the robot has been put elsewhere."""
        self.commands.restart(reason)
        self.promised.forget()

    # In the thread that reads commands ------------------------------------------------------------

    def _on_position(self, message: JointCommand, _: int) -> None:
        def command() -> None:
            indices, positions = self._values(message.names, message.positions, "positions")
            velocities, efforts, stiffness, damping = (
                self._array(message.names, getattr(message, name), name) if len(getattr(message, name)) else None
                for name in ("velocities", "efforts", "stiffness", "damping")
            )
            if (stiffness is None) != (damping is None):
                raise InputError("is given alone", element="stiffness", remedy="Give damping beside it, or neither")
            gains = None if stiffness is None or damping is None else np.stack([stiffness, damping])
            self.commands.take(indices, None, "Preempted by a position command.")
            self.commands.set_positions(indices, positions, velocities, efforts, gains)
            self.promised.take(message, indices, self._loop.simulation.time)

        self._execute(command, f"{self._prefix}commands/position")

    def _on_effort(self, message: JointCommand, _: int) -> None:
        def command() -> None:
            for name in ("positions", "velocities", "stiffness", "damping"):
                if values := getattr(message, name):
                    raise InputError(
                        f"has {len(values)} values", element=name, remedy="Leave it empty on this topic"
                    )
            indices, efforts = self._values(message.names, message.efforts, "efforts")
            self.commands.take(indices, None, "Preempted by an effort command.")
            self.commands.set_efforts(indices, efforts)
            self.promised.take(message, indices, self._loop.simulation.time)

        self._execute(command, f"{self._prefix}commands/effort")

    def _execute(self, command: Callable[[], None], topic: str) -> None:
        def guarded() -> None:
            try:
                command()
            except InputError as error:
                self._node.refusals.refuse(topic, str(error))

        self._loop.call(guarded)

    def _values(self, names: Sequence[str], values: Sequence[float], field: str) -> tuple[np.ndarray, np.ndarray]:
        """Return places of the joints and their values, checked."""
        if not names:
            raise InputError("is empty", element="names", remedy="Name the joints to command")
        indices = self.commands.indices(names)
        return indices, self._array(names, values, field)

    @staticmethod
    def _array(names: Sequence[str], values: Sequence[float], field: str) -> np.ndarray:
        """Return values of joints, one each, checked."""
        if len(values) != len(names):
            raise InputError(
                f"has {len(values)} values for {len(names)} names",
                element=field,
                remedy="Give one value per joint",
            )
        array = np.array(values)
        check_finite(array, field)
        return array


def _limits(given: Sequence[JointLimit | None]) -> JointLimits:
    """Return limits of joints; a velocity of 0 in a URDF means that nobody has filled it in."""
    limits = JointLimits.none(len(given))
    for i, limit in enumerate(given):
        if limit is not None:
            limits.lower[i], limits.upper[i] = limit.lower, limit.upper
            limits.velocity[i] = limit.velocity or math.inf
    return limits


def controlled_joints(robot: SimulatedRobot) -> Mapping[str, Sequence[str]]:
    """Return joints of each controller by its name: the limbs, and all driven joints as the whole body.

    A joint that a spring moves or that mimics another one can't be commanded.
    """
    model = robot.robot
    passive = {*model.springs, *model.mimics}
    for ball in passive & set(model.ball_joints):
        passive.update(model.ball_joints[ball])
    limbs: dict[str, list[str]] = {}
    for name, members in model.limbs.items():
        joints = [joint for member in members for joint in model.ball_joints.get(member, (member,))]
        driven = [joint for joint in joints if joint in robot.joint_names and joint not in passive]
        if driven:
            limbs[name] = driven
    whole = [joint for joint in robot.joint_names if joint not in passive]
    if whole:
        limbs[WHOLE_BODY] = whole
    return limbs
