# SPDX-License-Identifier: Apache-2.0
"""A motion that a client has asked the controller to carry out."""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_stack.action import CarryOut
from humanoid_stack.msg import WholeBodyTrajectory as WholeBodyMessage
from rclpy.action.server import ServerGoalHandle
from rclpy.task import Future

from humanoid_control.tracking import MotionTracker, TrackMode
from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_ros.controller.controller_settings import ControllerSettings
from humanoid_ros.controller.watched_controller import WatchedController
from humanoid_ros.messages.conversions import stamp
from humanoid_ros.messages.received_motion import read_motion

Result = CarryOut.Result
LOOKS = 5
"""Looks at the robot from one feedback to the next."""


class MotionRefusedError(InputError):
    """A motion that can't be carried out now, or not from here.

    Attributes:
        code: of the result.
    """

    def __init__(self, problem: str, code: int, *, element: str | None = None, remedy: str | None = None) -> None:
        super().__init__(problem, element=element, remedy=remedy)
        self.code = code


def new_tracker(
    message: WholeBodyMessage, controller: WatchedController, positions: Array, settings: ControllerSettings
) -> MotionTracker:
    """Return what carries a client's motion out.

    Args:
        message: of the client.
        controller: of the robot that is to move.
        positions: measured, of the controller's joints [rad or m].
        settings: how far the robot may be from the beginning.

    Raises:
        InputError: the motion is malformed, or without base and contacts.
        MotionRefusedError: the robot isn't where it begins, and can't be brought there.
    """
    walker = controller.walker
    measured = dict(zip(walker.joint_names, positions.tolist(), strict=True))
    _, motion = read_motion(message, walker.robot, measured)
    if motion is None or not motion.contacts:
        raise InputError(
            "is empty", element="trajectory.contacts", remedy="Give base and contacts: the robot balances on them"
        )
    tracker = MotionTracker(motion)
    joint, off = controller.start_error(tracker, positions)
    if not off <= settings.start_tolerance and not controller.can_approach(tracker):
        raise MotionRefusedError(
            f"joint '{joint}' is {off:.3g} off the first point",
            Result.WRONG_START,
            element="trajectory.joints.points[0]",
            remedy=f"Bring the robot there first: within start_tolerance, {settings.start_tolerance:g}",
        )
    return tracker


@dataclass
class RunningMotion:
    """A goal that is carried out.

    Attributes:
        handle: of the goal.
        tracker: that carries it out.
        ended: gets the action's result.
    """

    handle: ServerGoalHandle
    tracker: MotionTracker
    ended: Future
    _looks: int = 0

    def look(self, controller: WatchedController, active: bool) -> None:
        """See how it goes on, and tell the client; in the executor."""
        if self.ended.done():
            return
        tracker, end = self.tracker, float(self.tracker.motion.times[-1])
        if active and controller.missed and controller.tracker is None:
            code = Result.CANCELLED if self.handle.is_cancel_requested else Result.WRONG_START
            self._end(code, f"wasn't begun: {controller.missed}")
        elif not active or controller.tracker is not tracker:
            reason = controller.holding or "the controller was deactivated or began anew"
            self._end(Result.HELD, f"ended at {tracker.phase:.2f} of {end:.2f} s: {reason}")
        elif tracker.mode is TrackMode.FALLEN:
            self._end(Result.FALLEN, f"fell at {tracker.phase:.2f} of {end:.2f} s: {tracker.reason}")
        elif tracker.mode is TrackMode.STOPPED:
            code = Result.CANCELLED if self.handle.is_cancel_requested else Result.CONTACT_MISSING
            self._end(code, f"stands at {tracker.phase:.2f} of {end:.2f} s: {tracker.reason}")
        elif tracker.mode is TrackMode.DONE:
            self._end(Result.DONE, f"carried out in {end:.2f} s of the motion")
        else:
            self._looks += 1
            if self._looks % LOOKS == 0 and tracker.estimate is not None and self.handle.is_active:
                self.handle.publish_feedback(self._feedback(tracker.estimate.time, end))

    def _feedback(self, time: float, end: float) -> CarryOut.Feedback:
        tracker = self.tracker
        return CarryOut.Feedback(
            stamp=stamp(time), path_time=tracker.phase, duration=end, contacts=list(tracker.bearing),
            distance=tracker.distance, waits=tracker.mode is TrackMode.WAITING,
        )  # fmt: skip

    def _end(self, code: int, message: str) -> None:
        tracker = self.tracker
        self.ended.set_result(
            Result(
                success=code == Result.DONE, message=message, code=code, contacts=list(tracker.bearing),
                path_time=min(tracker.phase, float(tracker.motion.times[-1])),
            )
        )  # fmt: skip
