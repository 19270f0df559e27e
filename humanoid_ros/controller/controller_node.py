# SPDX-License-Identifier: Apache-2.0
"""The controller: a managed node that keeps a robot on its feet and lets it walk as it is told."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration, Time
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import TransformStamped, TwistStamped, WrenchStamped
from humanoid_stack.action import CarryOut
from humanoid_stack.msg import ControllerStatus, JointCommand
from nav_msgs.msg import Odometry
from rclpy.action import CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from sensor_msgs.msg import Imu, JointState
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from humanoid_control.stepping import Walker
from humanoid_model.arrays import Array
from humanoid_model.controller import Command, Measurement
from humanoid_model.errors import HumanoidError, InputError
from humanoid_ros.controller.balance_messages import (
    Punctuality,
    balance_markers,
    fill_balance,
    odometry_message,
    odometry_numbers,
)
from humanoid_ros.controller.controller_settings import (
    ControllerSettings,
    declare_controller,
    new_walker,
    standing_posture,
)
from humanoid_ros.controller.gathered_readings import GatheredReadings
from humanoid_ros.controller.running_motion import MotionRefusedError, RunningMotion, new_tracker
from humanoid_ros.controller.watched_controller import WatchedController
from humanoid_ros.messages.conversions import array, duration, seconds, stamp
from humanoid_ros.messages.link_transforms import write_transforms
from humanoid_ros.messages.serialized_message import SerializedMessage
from humanoid_ros.node.answering_node import AnsweringActionServer, ManagedNode, conclude
from humanoid_ros.node.diagnostics import declare_diagnostics_rate, publish_diagnostics
from humanoid_ros.node.parameter_declaration import flag, values
from humanoid_ros.node.qos import COMMAND, NEWEST_OF_ANY, SENSOR, STATE, TRANSFORMS
from humanoid_ros.node.reading_thread import ReadingThread
from humanoid_ros.node.run import run, settle_memory
from humanoid_ros.node.service_workers import waking_future

LOOK = 0.02
"""Time between two looks at whether measurements come [s]."""
CALLS = 10
"""A hold is said again so often, each at a look: who is to hold may only just have come."""


class ControllerNode(ManagedNode):
    """Balances a robot; see docs/control.md, and docs/interfaces.md for its interfaces and parameters.

    Unconfigured it has read nothing; inactive it listens and commands nothing; active it commands the joints. Its clock
    is that of the measurements' stamps.

    Raises:
        HumanoidError: its robot can't be read or walk, and it starts by itself.
    """

    def __init__(self) -> None:
        super().__init__("controller")
        self._declare_parameters()
        self._walker: WatchedController | None = None
        self._active, self._busy = False, threading.RLock()
        self._problem: HumanoidError | None = None
        self._ends: list[Any] = []
        self._motion: RunningMotion | None = None
        self._status = ControllerStatus()
        # As long as the node: who waits for the end of a motion is answered, whatever becomes of the robot's topics.
        self._motions = AnsweringActionServer(
            self, CarryOut, "carry_out", self._carry_out, cancel_callback=self._on_cancel, callback_group=self.group
        )
        publish_diagnostics(self, "controller", self._diagnostics, self._health)
        if flag(self, "autostart"):
            self.trigger_configure()
            if self._problem is not None:
                raise self._problem
            self.trigger_activate()

    def _declare_parameters(self) -> None:
        declare_controller(self)
        declare_diagnostics_rate(self)

    # Life -------------------------------------------------------------------------------------------------------------

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read the robot, and join its topics."""
        try:
            self._settings = settings = ControllerSettings(**values(self, ControllerSettings))
            walker = new_walker(self, settings)
        except HumanoidError as problem:
            self._problem = problem
            self.refusals.refuse("configure", problem)
            return TransitionCallbackReturn.FAILURE
        self._problem = None
        self._walker = WatchedController(walker, settings)
        sensors = walker.robot.sensors
        wrenches = sorted(self._walker.needed)
        self._readings = GatheredReadings(walker.joint_names, wrenches, settings.patience)
        self._base = slice(*(walker.robot.model.joints[walker.robot.base_joint].idx_v + np.array([0, 6])))
        self._punctuality, self._looks_to_call = Punctuality(), 0
        self._heard = self._answered = self._drawn = self._placed = 0.0
        self._positions: Array = np.full(len(walker.joint_names), np.nan)
        base = settings.base_frame or walker.robot.description.root
        self._odometry = odometry_message(settings.odom_frame, base)
        transform = TransformStamped(child_frame_id=base)
        transform.header.frame_id = settings.odom_frame
        self._transform = SerializedMessage(TFMessage(transforms=[transform]), 7, write_transforms)
        self._joint_command: SerializedMessage | None = None
        self._held: JointCommand | None = None
        self._warm_up(walker)
        self._join(settings, wrenches, [name for name, sensor in sensors.items() if sensor.type == "imu"])
        self.get_logger().info(f"balances {walker.robot.name}")
        return TransitionCallbackReturn.SUCCESS

    def _warm_up(self, walker: Walker) -> None:
        """Let what is compiled at its first use be ready before the robot depends on it."""
        robot = walker.robot
        q = robot.posture(standing_posture(robot, self._settings))
        joints = np.array([q[robot.index_q(name)] for name in walker.joint_names])
        pressed = np.array([0.0, 0.0, 0.5 * 9.81 * robot.total_mass, 0.0, 0.0, 0.0])
        wrenches = {name: pressed for name, sensor in robot.sensors.items() if sensor.type == "force_torque"}
        for tick in range(20):
            told = Measurement(0.002 * tick, joints, 0.0 * joints, np.zeros(3), np.array([0.0, 0.0, 9.81]), wrenches)
            walker.update(0.002 * tick, told)
            walker.walk(0.1)
        walker.walk(0.0)
        walker.reset()
        settle_memory()

    def _join(self, settings: ControllerSettings, wrenches: list[str], imus: list[str]) -> None:
        unit = "imu" if len(imus) == 1 else f"imu/{imus[0]}"  # as the simulator calls them
        subscribe, publish = self.create_subscription, self.create_publisher
        self._commands = publish(JointCommand, "commands/position", COMMAND)
        self._odometries, self._transforms = publish(Odometry, "odom", STATE), None
        if settings.publish_tf:
            self._transforms = publish(TFMessage, "/tf", TRANSFORMS)
        self._statuses = publish(ControllerStatus, "controller/status", STATE)
        self._markers = publish(MarkerArray, "controller/markers", STATE)
        publishers = [self._commands, self._odometries, self._statuses, self._markers]
        velocities = subscribe(TwistStamped, "cmd_vel", self._on_velocity, NEWEST_OF_ANY)
        forces = [(WrenchStamped, f"wrenches/{name}", partial(self._on_wrench, name), SENSOR) for name in wrenches]
        reading = ReadingThread(
            self,
            [(Imu, unit, self._on_imu, SENSOR), *forces, (JointState, "joint_states", self._on_joints, STATE)],
            serialized=True,
        )
        self._listening = set(wrenches)
        timer = self.create_timer(LOOK, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))
        if self._transforms is not None:
            publishers.append(self._transforms)
        self._ends = [
            reading.close,
            partial(self.destroy_timer, timer),
            partial(self.destroy_subscription, velocities),
            *(partial(self.destroy_publisher, one) for one in publishers),
        ]

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Command the robot, from now on."""
        assert self._walker is not None
        with self._busy:
            self._walker.restart()
            self._active = True
        return TransitionCallbackReturn.SUCCESS

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let the drives hold the joints where they are."""
        self._release()
        return TransitionCallbackReturn.SUCCESS

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Leave the robot's topics."""
        self._leave()
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let the drives hold the joints, and leave for good."""
        self._release()
        self._leave()
        return TransitionCallbackReturn.SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let the drives hold the joints, and end as finalized."""
        self._release()
        return TransitionCallbackReturn.FAILURE

    async def close(self) -> None:
        """Let the drives hold the joints."""
        self._release()

    @property
    def busy(self) -> bool:
        """Whether a client waits for the end of its motion."""
        return self._motion is not None

    def _release(self) -> None:
        """Command nothing from now on: the drives hold the joints, and a motion has ended."""
        with self._busy:
            if self._active:
                self._active = False
                self._hold()
            if self._motion is not None and self._walker is not None:
                self._motion.look(self._walker, self._active)

    def destroy_node(self) -> None:
        """Leave."""
        self._leave()
        self._motions.destroy()
        super().destroy_node()

    def _leave(self) -> None:
        with self._busy:
            self._walker = None
        for end in self._ends:
            end()
        self._ends = []

    # Measurements -----------------------------------------------------------------------------------------------------

    def _on_joints(self, message: bytes, received: int) -> None:
        self._arrived = received or time.time_ns()
        self._heard = self._now()
        with self._busy:
            self._answer(self._readings.take_joints(message, self._heard))
        if self._readings.malformed and self._walker is not None:
            self._walker.tell(self._readings.malformed)

    def _on_imu(self, message: bytes, _: int) -> None:
        self._answer(self._readings.take_imu(message, self._heard))

    def _on_wrench(self, name: str, message: bytes, _: int) -> None:
        with self._busy:  # those of the hands have a thread of their own
            self._answer(self._readings.take_wrench(name, message, self._heard))

    def _now(self) -> float:
        return float(self.get_clock().now().nanoseconds) * 1e-9

    def _answer(self, measurements: list[Measurement]) -> None:
        for measurement in measurements:
            with self._busy:
                if self._walker is not None:
                    self._tick(self._walker, measurement)

    def _tick(self, walker: WatchedController, measurement: Measurement) -> None:
        """Answer a measurement; what it costs is told."""
        finite = np.isfinite(measurement.joint_positions)
        self._positions[finite] = measurement.joint_positions[finite]
        if not self._active:
            return
        held = walker.holding
        command = walker.update(measurement)
        if command is not None:
            self._send(command)
            self._punctuality.take(measurement.time, 1e-9 * (time.time_ns() - self._arrived))
        elif walker.holding and not held:
            self._hold()
        self._publish(walker, measurement.time)

    def _send(self, command: Command) -> None:
        if self._joint_command is None:
            n = len(command.joints)
            message = JointCommand(names=list(command.joints))
            message.stiffness, message.damping = [self._settings.stiffness] * n, [self._settings.damping] * n
            self._joint_command = SerializedMessage(message, 3 * n, _write_command, times=2)
        ticks = max(command.time - self._answered, 0.0) if self._answered else 0.0
        self._answered = command.time
        period = duration(self._settings.ticks_ahead * min(ticks, 0.02))
        numbers = np.concatenate([command.positions, command.velocities, command.efforts])
        self._commands.publish(self._joint_command.filled(numbers, stamp(command.time), period))

    def _hold(self) -> None:
        """Let the drives hold the joints where they were measured last."""
        if self._walker is None:
            return
        walker = self._walker.walker
        driven = set(walker.body.joint_names)
        at = {
            name: float(q) for name, q in zip(walker.joint_names, self._positions, strict=True)
            if name in driven and np.isfinite(q)
        }  # fmt: skip
        self._held = JointCommand(names=list(at), positions=list(at.values())) if at else None
        self._looks_to_call = CALLS
        self._say_hold()

    def _say_hold(self) -> None:
        if self._held is not None:
            self._commands.publish(self._held)
        self._looks_to_call -= 1

    def _look(self) -> None:
        """See whether measurements come."""
        walker = self._walker
        if walker is None:
            return
        with self._busy:
            if self._motion is not None:
                self._motion.look(walker, self._active)
            silence = self._now() - self._heard
            if self._active and walker.knows and not walker.fallen and silence > self._settings.patience:
                if not walker.holding:
                    walker.hold(f"no joint states for {self._settings.patience:g} s: joints are held")
                    self._hold()
            elif self._looks_to_call > 0 and (walker.holding or not self._active):
                self._say_hold()

    def _on_velocity(self, message: TwistStamped) -> None:
        if self._walker is None or not self._active:
            return
        try:
            age = self._now() - seconds(message.header.stamp) if seconds(message.header.stamp) else 0.0
            if age > self._settings.velocity_timeout:
                raise InputError(f"is {age:.2f} s old", element="header.stamp", remedy="Send newer ones, or stamp 0")
            turn = float(message.twist.angular.z)
            with self._busy:
                self._walker.walk(np.array([*array(message.twist.linear)[:2], turn]))
        except InputError as error:
            self.refusals.refuse("cmd_vel", error)

    # Motions ----------------------------------------------------------------------------------------------------------

    async def _carry_out(self, handle: ServerGoalHandle) -> CarryOut.Result:
        try:
            motion = self._begin(handle)
        except MotionRefusedError as problem:
            handle.abort()
            return CarryOut.Result(message=self.refusals.refuse("carry_out", problem), code=problem.code)
        except Exception as problem:
            handle.abort()
            return CarryOut.Result(message=self.refusals.refuse("carry_out", problem), code=CarryOut.Result.INVALID)
        result: CarryOut.Result = await motion.ended
        self._motion = None
        self.get_logger().info(result.message)
        conclude(handle, result.success)
        return result

    def _begin(self, handle: ServerGoalHandle) -> RunningMotion:
        """Let the walker give way to a motion.

        Raises:
            MotionRefusedError: not now, or not from here.
            InputError: the motion is malformed.
        """
        walker = self._walker
        if walker is None or not self._active:
            raise MotionRefusedError("the controller is inactive", CarryOut.Result.NOT_READY, remedy="Activate it")
        tracker = new_tracker(handle.request.trajectory, walker, self._positions, self._settings)
        silent = set(tracker.sensors) - self._listening
        if silent:
            topics = [(WrenchStamped, f"wrenches/{name}", partial(self._on_wrench, name), SENSOR) for name in silent]
            self._readings.listen(silent)
            self._ends.insert(0, ReadingThread(self, topics, serialized=True).close)
            self._listening |= silent
        with self._busy:
            try:
                walker.carry_out(tracker)
            except InputError as problem:
                raise MotionRefusedError(problem.problem, CarryOut.Result.NOT_READY, remedy=problem.remedy) from problem
            self._motion = RunningMotion(handle, tracker, waking_future(self))
        return self._motion

    def _on_cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        with self._busy:
            if self._walker is not None and self._motion is not None and self._motion.handle is handle:
                self._walker.stop("cancelled")
        return CancelResponse.ACCEPT

    # Tell -------------------------------------------------------------------------------------------------------------

    def _publish(self, walker: WatchedController, now: float) -> None:
        """Publish what is due at a time of the measurements [s]."""
        estimate, settings = walker.commander.estimate, self._settings
        if estimate is not None and not 0.0 <= now - self._placed < 0.999 / settings.odometry_rate:
            self._placed = now
            numbers, at = odometry_numbers(estimate, self._base), stamp(estimate.time)
            self._odometries.publish(self._odometry.filled(numbers, at))
            if self._transforms is not None:
                self._transforms.publish(self._transform.filled(numbers[:7], at))
        if not 0.0 <= now - self._drawn < 0.999 / settings.status_rate:
            self._drawn = now
            self._statuses.publish(self._new_status(walker, now))
            if estimate is not None and self._markers.get_subscription_count():
                self._markers.publish(balance_markers(self._status, walker.commander))

    def _new_status(self, walker: WatchedController, now: float) -> ControllerStatus:
        status = self._status = ControllerStatus()
        status.header.stamp, status.header.frame_id = stamp(now), self._settings.odom_frame
        if walker.knows:
            fill_balance(status, walker.commander)
        if walker.holding:
            status.mode = ControllerStatus.HOLDING
        status.faults, walker.faults = walker.faults, []
        for fault in status.faults:
            self.get_logger().warning(fault, throttle_duration_sec=1.0)
        status.ticks, status.late_ticks = self._punctuality.ticks, self._punctuality.late
        status.tick_seconds, status.max_tick_seconds = self._punctuality.since()
        return status

    def _health(self) -> tuple[bytes, str]:
        walker = self._walker
        if walker is None:
            return DiagnosticStatus.WARN, "not configured"
        if walker.fallen:
            return DiagnosticStatus.ERROR, "the robot has fallen: its joints are soft"
        if walker.holding:
            return DiagnosticStatus.ERROR, walker.holding
        if not self._active:
            return DiagnosticStatus.WARN, "inactive"
        if not walker.knows:
            return DiagnosticStatus.WARN, "waits for measurements"
        return DiagnosticStatus.OK, walker.commander.mode.value

    def _diagnostics(self) -> dict[str, str]:
        status = self._status
        return {
            "state": self._state_machine.current_state[1],
            "robot": "" if self._walker is None else self._walker.walker.robot.name,
            "ticks": str(status.ticks),
            "late ticks": str(status.late_ticks),
            "mean tick [ms]": f"{1e3 * status.tick_seconds:.2f}",
            "longest tick [ms]": f"{1e3 * status.max_tick_seconds:.2f}",
            "DCM inside the soles [m]": f"{status.margin:.3f}",
            "last faults": "; ".join(status.faults),
            "requests refused": str(self.refusals.count),
            "last refusal": self.refusals.last,
        }


def _write_command(message: JointCommand, values: list[float], time: Time, period: Duration) -> None:
    message.header.stamp, message.period, n = time, period, len(message.names)
    message.positions, message.velocities, message.efforts = values[:n], values[n : 2 * n], values[2 * n :]


def main() -> None:
    """Run the node until SIGINT or SIGTERM."""
    run("controller", ControllerNode)
