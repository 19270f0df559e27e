# SPDX-License-Identifier: Apache-2.0
"""What a client tells the controller, and hears of it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from geometry_msgs.msg import TwistStamped
from humanoid_stack.action import CarryOut
from humanoid_stack.msg import ControllerStatus
from humanoid_stack.msg import WholeBodyTrajectory as WholeBodyMessage
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.clock import Clock, ClockType
from rclpy.publisher import Publisher

from humanoid_model.progress import ProgressCallback
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory
from humanoid_ros.client.connection import Member, StackError, Task, path_progress, result_reader
from humanoid_ros.client.requests import numbers
from humanoid_ros.messages.motion_messages import whole_body_message
from humanoid_ros.node.qos import COMMAND, NEWEST

AGAIN = 0.1
"""A velocity is said so often: the controller forgets one that isn't renewed [s of wall-clock time]."""
_READ = result_reader((CarryOut.Result.INVALID, CarryOut.Result.WRONG_START))


class ControllerMethods(Member):
    """A robot that is kept on its feet, and walks."""

    def __init__(self, robot: str = "hrp2", **settings: Any) -> None:
        """As :class:`Member`; listens from now on."""
        super().__init__(robot, **settings)
        self._balance: ControllerStatus | None = None
        self._velocity = TwistStamped()
        self.node.create_subscription(ControllerStatus, "controller/status", self._on_balance, NEWEST)

    @property
    def balance(self) -> ControllerStatus:
        """The newest status of the controller: mode, DCM, margin, next step, faults, late ticks.

        Raises:
            StackError: no controller tells any.
        """
        self._balance = None
        status: ControllerStatus = self._heard(lambda: self._balance, "the status of a controller")
        return status

    def activate_controller(self, *, active: bool = True) -> None:
        """Let the controller balance the robot from now on, or leave the joints to the drives; it is configured then.

        Raises:
            StackError: no controller is there, or it can't: its log says why.
        """
        call = self._connection.call
        state = call(GetState, "controller/get_state", GetState.Request()).current_state.id
        steps = [Transition.TRANSITION_CONFIGURE] if state == State.PRIMARY_STATE_UNCONFIGURED else []
        if active != (state == State.PRIMARY_STATE_ACTIVE):
            steps.append(Transition.TRANSITION_ACTIVATE if active else Transition.TRANSITION_DEACTIVATE)
        for step in steps:
            request = ChangeState.Request(transition=Transition(id=step))
            if not call(ChangeState, "controller/change_state", request).success:
                raise StackError("The controller can't change its state: its log says why")

    def carry_out(
        self,
        motion: WholeBodyTrajectory | WholeBodyMessage,
        *,
        progress: ProgressCallback | None = None,
        timeout: float | None = None,
    ) -> CarryOut.Result:
        """Let the robot carry a motion out with feedback: balanced by its sensors, its contacts closed by force.

        Args:
            motion: of the whole robot, with contacts; the robot has to be where it begins.
            progress: told the share that is done, and as result the feedback message; True stops the motion.
            timeout: longest wait [s], after which the motion is cancelled.

        Returns:
            The action's result; one without success tells why it ended, where, and on what the robot stands.

        Raises:
            InputError: the motion was refused for a field, which it names.
            StackError: no controller is there.
        """
        return self.begin_carry_out(motion).result(timeout, progress)

    def begin_carry_out(self, motion: WholeBodyTrajectory | WholeBodyMessage) -> Task[CarryOut.Result]:
        """As :meth:`carry_out`, without waiting for the end."""
        message = whole_body_message(motion, "world") if isinstance(motion, WholeBodyTrajectory) else motion
        goal = CarryOut.Goal(trajectory=message)
        return self._connection.start(CarryOut, "carry_out", goal, _READ, path_progress("carrying out"))

    def walk(self, forward: float, sideways: float = 0.0, turn: float = 0.0) -> None:
        """Walk from now on, as long as this process lives; zeros let the robot stop, which it does side by side.

        Args:
            forward: velocity ahead [m/s].
            sideways: to the left [m/s].
            turn: to the left [rad/s].

        Raises:
            InputError: a number that isn't finite.
            StackError: no controller is there.
        """
        x, y, rate = (float(one) for one in numbers([forward, sideways, turn], "velocity", 3))
        command = TwistStamped()
        command.twist.linear.x, command.twist.linear.y, command.twist.angular.z = x, y, rate
        self._velocity = command
        publisher = self._velocities
        self._heard(lambda: publisher.get_subscription_count() > 0, "a controller that walks")
        publisher.publish(command)

    @cached_property
    def _velocities(self) -> Publisher:
        publisher = self.node.create_publisher(TwistStamped, "cmd_vel", COMMAND)

        def again() -> None:
            twist = self._velocity.twist
            if twist.linear.x or twist.linear.y or twist.angular.z:
                publisher.publish(self._velocity)

        self.node.create_timer(AGAIN, again, clock=Clock(clock_type=ClockType.STEADY_TIME))
        return publisher

    def _on_balance(self, message: ControllerStatus) -> None:
        self._balance = message
