# SPDX-License-Identifier: Apache-2.0
"""A joint trajectory controller in ROS: its action, topics, service, and what its clients send."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future as ThreadFuture
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance, JointTrajectoryControllerState
from control_msgs.srv import QueryTrajectoryState
from numpy.typing import NDArray
from rclpy.action import CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage

from humanoid_model.errors import HumanoidError
from humanoid_model.fields import Described, flag, number
from humanoid_ros.messages.conversions import duration, seconds, stamp
from humanoid_ros.messages.serialized_message import SerializedMessage
from humanoid_ros.node.answering_node import AnsweringActionServer, AnsweringNode
from humanoid_ros.node.qos import COMMAND, STATE
from humanoid_ros.node.service_workers import answer_of, waking_future
from humanoid_ros.simulator.heard_publisher import HeardPublisher
from humanoid_ros.simulator.simulation_loop import SimulationLoop
from humanoid_sim.control.joint_trajectory_controller import JointTrajectoryController, Outcome
from humanoid_sim.control.trajectory_request import (
    GivenTrajectory,
    MotionCode,
    Tolerances,
    TrajectoryRequest,
    TrajectoryRequestError,
    check_trajectory,
)


def given_trajectory(message: JointTrajectoryMessage) -> GivenTrajectory:
    """Return what a message asks for, not checked."""
    points = message.points
    return GivenTrajectory(
        message.joint_names,
        [seconds(point.time_from_start) for point in points],
        (
            [np.array(point.positions) for point in points],
            [_given(point.velocities) for point in points],
            [_given(point.accelerations) for point in points],
        ),
        [np.array(point.effort) for point in points] if any(len(point.effort) for point in points) else None,
        seconds(message.header.stamp) or None,
    )


def read_tolerances(goal: FollowJointTrajectory.Goal, joints: Sequence[str], defaults: Tolerances) -> Tolerances:
    """Return tolerances of a goal: positive values count, 0 keeps the default, a negative one takes the limit away.

    Raises:
        TrajectoryRequestError: an unknown joint, or a value that isn't a number.
    """
    path = _merge(goal.path_tolerance, joints, defaults.path, "path_tolerance")
    end = _merge(goal.goal_tolerance, joints, defaults.goal, "goal_tolerance")
    for field in ("component_path_tolerance", "component_goal_tolerance"):
        if getattr(goal, field):
            raise _refusal("is for joints of several degrees of freedom", field, "Leave it empty")
    given = seconds(goal.goal_time_tolerance)
    goal_time = defaults.goal_time if given == 0.0 else max(given, 0.0)
    return Tolerances(path, end, goal_time)


def check_single_dof(goal: FollowJointTrajectory.Goal) -> None:
    """Refuse what only joints of several degrees of freedom could follow.

    Raises:
        TrajectoryRequestError: the goal has a multi_dof_trajectory.
    """
    multi = goal.multi_dof_trajectory
    if multi.joint_names or multi.points:
        raise _refusal(
            f"names {list(multi.joint_names)}",
            "multi_dof_trajectory",
            "This controller's joints have one degree of freedom each; use trajectory",
        )


def _merge(
    given: Sequence[JointTolerance], joints: Sequence[str], defaults: NDArray[np.float64], field: str
) -> NDArray[np.float64]:
    merged = defaults.copy()
    for tolerance in given:
        if tolerance.name not in joints:
            raise TrajectoryRequestError(
                f"'{tolerance.name}' is none of the controller's joints",
                code=MotionCode.INVALID_JOINTS,
                element=field,
                remedy=f"The controller's joints are {', '.join(joints)}",
            )
        column = joints.index(tolerance.name)
        for row, quantity in enumerate(("position", "velocity", "acceleration")):
            value = getattr(tolerance, quantity)
            if np.isnan(value):
                raise _refusal(
                    f"{quantity} of joint '{tolerance.name}' is nan",
                    field,
                    "Give a positive number, 0 for the default or -1 for no limit",
                )
            if value != 0.0:
                merged[row, column] = max(value, 0.0)
    return merged


def _given(values: Sequence[float]) -> NDArray[np.float64] | None:
    return np.array(values) if len(values) else None


def _refusal(problem: str, element: str, remedy: str) -> TrajectoryRequestError:
    return TrajectoryRequestError(problem, element=element, remedy=remedy)


def trajectory_point(rows: NDArray[np.float64], time: float) -> JointTrajectoryPoint:
    """Point message of positions, velocities and accelerations, (3, n), at a time of a trajectory [s]."""
    point = JointTrajectoryPoint()
    point.positions, point.velocities, point.accelerations = rows.tolist()
    point.time_from_start = duration(time)
    return point


Result = FollowJointTrajectory.Result


@dataclass(frozen=True)
class ControllerSettings(Described):
    """What the node's parameters say to every controller."""

    partial: bool = flag(False, "whether a trajectory may leave out joints of its controller; they are held")
    moving_end: bool = flag(False, "whether the last point of a trajectory may have a velocity")
    path: float = number(0.0, "joint error allowed while moving; 0: any", "rad or m", low=0.0, high=1e6)
    goal: float = number(0.05, "joint error allowed at the end of a goal; 0: any", "rad or m", low=0.0, high=1e6)
    stopped_velocity: float = number(0.01, "velocity allowed at the end; 0: any", "rad/s, m/s", low=0.0, high=1e6)
    goal_time: float = number(5.0, "how late the end may be reached; 0: any time", "s", low=0.0, high=1e6)

    def tolerances(self, count: int) -> Tolerances:
        """Default tolerances of ``count`` joints."""
        return Tolerances.uniform(count, self.path, self.goal, self.stopped_velocity, self.goal_time)


class JointTrajectoryServer:
    """Offers a controller under ``<name>_controller/``.

    ``follow_joint_trajectory`` executes a trajectory and watches it, ``joint_trajectory`` executes one without an
    answer, ``query_state`` tells set points, ``controller_state`` the state.

    ros2_control rejects a goal that it can't execute, which leaves no way to say why. Here such a goal is accepted
    and aborted at once, with the error code and the reason in the result; what moves goes on moving.

    Attributes:
        controller: the controller; only the simulation's thread may touch it.
        name: under which it is offered.
        newest: stamp of the trajectory by topic that it took last [s], minus infinity before one and behind a goal;
            likewise.
        settings: of new trajectories.
        states: where its state is published.
    """

    def __init__(
        self,
        node: AnsweringNode,
        prefix: str,
        controller: JointTrajectoryController,
        loop: SimulationLoop,
        settings: ControllerSettings,
    ) -> None:
        """Create the entities.

        Args:
            node: that offers them.
            prefix: of their names, ``""`` or ``"robot/"``.
            controller: to offer.
            loop: runs the simulation.
            settings: of new trajectories.
        """
        self.controller = controller
        self.settings = settings
        self._node = node
        self._loop = loop
        self.name = f"{prefix}{controller.name}_controller"
        self.newest = -math.inf
        self._finishers: dict[bytes, Callable[[Outcome], None]] = {}
        self._feedback: ServerGoalHandle | None = None
        self._idle: Future | None = None
        self.states = HeardPublisher(node, JointTrajectoryControllerState, f"{self.name}/controller_state", STATE)
        message = JointTrajectoryControllerState(joint_names=list(controller.joints), speed_scaling_factor=1.0)
        self._state_message = SerializedMessage(message, 12 * len(controller.joints), _write_state, times=2)
        self._subscription = node.create_subscription(
            JointTrajectory,
            f"{self.name}/joint_trajectory",
            self._on_trajectory,
            COMMAND,
            callback_group=node.group,
        )
        self._query = node.create_service(
            QueryTrajectoryState, f"{self.name}/query_state", self._on_query, callback_group=node.group
        )
        self._actions = AnsweringActionServer(
            node,
            FollowJointTrajectory,
            f"{self.name}/follow_joint_trajectory",
            self._follow,
            cancel_callback=self._on_cancel,
            callback_group=node.group,
        )

    async def goals_ended(self) -> None:
        """Wait until no goal is executed any more and all results are on their way."""
        if self._finishers:
            self._idle = waking_future(self._node)
            await self._idle
            # Results are sent by tasks of the executor that are waiting in front of this one.
            sent = waking_future(self._node)
            executor = self._node.executor
            assert executor is not None
            executor.create_task(sent.set_result, None)
            await sent

    def destroy(self) -> None:
        """Take everything off the graph."""
        self._actions.destroy()
        self._node.destroy_service(self._query)
        self._node.destroy_subscription(self._subscription)
        self.states.destroy()

    # In the simulation's thread -------------------------------------------------------------------

    def publish_state(self, positions: NDArray[np.float64], velocities: NDArray[np.float64]) -> None:
        """Publish the controller's state, if anyone listens; given are those of all joints of the robot."""
        if not self.states.heard:
            return
        now = self._loop.simulation.time
        state = self.controller.state(now, positions, velocities)
        rows = np.concatenate([state.desired, state.actual, state.error, state.output])
        self.states.publish(self._state_message.filled(rows.reshape(-1), stamp(now), duration(state.time)))

    def publish_feedback(self, positions: NDArray[np.float64], velocities: NDArray[np.float64]) -> None:
        """Send feedback to the client of the present goal, if there is one; given are all joints of the robot."""
        handle = self._feedback
        if handle is None:
            return
        now = self._loop.simulation.time
        state = self.controller.state(now, positions, velocities)
        feedback = FollowJointTrajectory.Feedback()
        feedback.header.stamp = stamp(now)
        feedback.joint_names = list(self.controller.joints)
        feedback.desired = trajectory_point(state.desired, state.time)
        feedback.actual = trajectory_point(state.actual, state.time)
        feedback.error = trajectory_point(state.error, state.time)
        handle.publish_feedback(feedback)

    # In the executor ------------------------------------------------------------------------------

    def _read(self, message: JointTrajectory) -> TrajectoryRequest:
        return check_trajectory(
            given_trajectory(message),
            self.controller.joints,
            self._loop.simulation.time,
            limits=self.controller.limits,
            partial=self.settings.partial,
            moving_end=self.settings.moving_end,
        )

    async def _follow(self, handle: ServerGoalHandle) -> FollowJointTrajectory.Result:
        goal = handle.request
        try:
            check_single_dof(goal)
            request = self._read(goal.trajectory)
            defaults = self.settings.tolerances(len(self.controller.joints))
            tolerances = read_tolerances(goal, self.controller.joints, defaults)
        except TrajectoryRequestError as error:
            self._node.refusals.refuse(f"{self.name}/follow_joint_trajectory", str(error))
            handle.abort()
            return Result(error_code=int(error.code), error_string=str(error))
        ended = waking_future(self._node)

        def finish(outcome: Outcome) -> None:
            if self._feedback is handle:
                self._feedback = None
            ended.set_result(outcome)

        def start() -> None:
            self.controller.start(request, tolerances, self._loop.simulation.time, finish)
            self.newest = -math.inf
            self._feedback = handle

        key = bytes(handle.goal_id.uuid)
        self._finishers[key] = finish
        self._loop.call(start).add_done_callback(partial(_finish_if_not_started, finish))
        outcome = await ended
        del self._finishers[key]
        if not self._finishers and self._idle is not None:
            self._idle.set_result(None)
        if outcome.successful:
            handle.succeed()
        elif handle.is_cancel_requested:
            handle.canceled()
            return Result(error_code=Result.SUCCESSFUL, error_string=outcome.text)
        else:
            handle.abort()
            self._tell_end(outcome)
        return Result(error_code=int(outcome.code), error_string=outcome.text)

    def _on_cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        finish = self._finishers.get(bytes(handle.goal_id.uuid))
        if finish is None:
            return CancelResponse.REJECT
        self._loop.call(lambda: self.controller.cancel_motion_of(finish, "Canceled; the joints are held."))
        return CancelResponse.ACCEPT

    def _on_trajectory(self, message: JointTrajectory) -> None:
        topic = f"{self.name}/joint_trajectory"
        if not message.points and not message.joint_names:
            self._loop.call(lambda: self.controller.cancel("Canceled by an empty trajectory."))
            return
        try:
            request = self._read(message)
        except TrajectoryRequestError as error:
            self._node.refusals.refuse(topic, str(error))
            return
        # Nobody waits for this one's end: to hold the joints elsewhere, seconds later, would help nobody.
        defaults = self.settings.tolerances(len(self.controller.joints))
        tolerances = replace(defaults, goal=np.zeros_like(defaults.goal))

        def finish(outcome: Outcome) -> None:
            if not outcome.successful and not outcome.replaced:
                self._tell_end(outcome)

        def start() -> None:
            try:
                self.controller.start(request, tolerances, self._loop.simulation.time, finish)
            except TrajectoryRequestError as error:
                self._node.refusals.refuse(topic, str(error))
            else:
                self.newest = self._loop.simulation.time if request.start is None else request.start

        self._loop.call(start)

    def _tell_end(self, outcome: Outcome) -> None:
        self._node.get_logger().warning(f"{self.name}: the motion has ended: {outcome.text}")

    async def _on_query(
        self, request: QueryTrajectoryState.Request, response: QueryTrajectoryState.Response
    ) -> QueryTrajectoryState.Response:
        asked = self._loop.call(lambda: self.controller.sample(self._loop.simulation.time, seconds(request.time)))
        try:
            sample = await answer_of(self._node, asked)
        except HumanoidError as error:
            response.message = str(error)
            return response
        if sample is None:
            response.message = f"time: {seconds(request.time):g} s has passed. Give a time from now on."
            return response
        response.success = True
        response.name = list(self.controller.joints)
        response.position = sample.positions.tolist()
        response.velocity = sample.velocities.tolist()
        response.acceleration = sample.accelerations.tolist()
        return response


def _write_state(message: JointTrajectoryControllerState, values: list[float], now: Time, since: Time) -> None:
    """Write four points of positions, velocities and accelerations, the time, and that since the motion began."""
    count = len(message.joint_names)
    message.header.stamp = now
    rows = [values[i * count : (i + 1) * count] for i in range(12)]
    for index, point in enumerate((message.reference, message.feedback, message.error, message.output)):
        point.positions, point.velocities, point.accelerations = rows[3 * index : 3 * index + 3]
        point.time_from_start = Duration(sec=since.sec, nanosec=since.nanosec)


def _finish_if_not_started(finish: Callable[[Outcome], None], started: ThreadFuture[None]) -> None:
    error = started.exception()
    if error is not None:
        finish(Outcome(MotionCode.INVALID_GOAL, str(error)))
