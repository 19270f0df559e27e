# SPDX-License-Identifier: Apache-2.0
"""A controller that makes joints follow trajectories, with the rules of ros2_control's joint_trajectory_controller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_model.joint_trajectory import JointSample, JointTrajectory, warm_up_sampling
from humanoid_sim.control.joint_commands import JointCommands
from humanoid_sim.control.trajectory_request import (
    JointLimits,
    MotionCode,
    Tolerances,
    TrajectoryRequest,
    TrajectoryRequestError,
    check_way,
)

_QUANTITIES = ("position", "velocity", "acceleration")
_INSTANT = 1e-6
"""As good as no time, over which means of efforts are their values [s]."""


@dataclass(frozen=True)
class Outcome:
    """How a motion ended.

    Attributes:
        code: in one word.
        text: in words.
        replaced: whether another trajectory of the same controller ended it, as of a stream of them.
    """

    code: MotionCode
    text: str
    replaced: bool = False

    @property
    def successful(self) -> bool:
        """Whether the goal was reached."""
        return self.code is MotionCode.SUCCESSFUL


@dataclass(frozen=True)
class ControllerState:
    """State of a controller at one time; rows are positions, velocities and accelerations, shape (3, n).

    Attributes:
        time: since the start of the trajectory [s].
        desired: where the joints should be.
        actual: where they are.
        error: the difference; of continuous joints within half a turn.
        output: commands of the joints for the next control period.
    """

    time: float
    desired: NDArray[np.float64]
    actual: NDArray[np.float64]
    error: NDArray[np.float64]
    output: NDArray[np.float64]


@dataclass
class _Motion:
    """A trajectory that is followed, or will be from its start time on."""

    request: TrajectoryRequest
    tolerances: Tolerances
    finish: Callable[[Outcome], None]
    start: float | None  # none: at the next update
    trajectory: JointTrajectory | None = None
    checked: bool = False


class JointTrajectoryController:
    """Follows one trajectory at a time and watches tolerances.

    Efforts of a trajectory are fed forward beside the servos, of each control period their mean over it; on the way to
    the first point still to come they grow from zero. A new trajectory ends the one before with ``INVALID_GOAL``; one
    that starts later leaves the joints to the old one until then. From the present state to the first point still to
    come runs the same kind of polynomial as between points. Without a trajectory the joints keep their last target.

    Attributes:
        name: for example ``right_arm``.
        joints: names, in the order of all arrays here.
        limits: of the joints.
        interpolate_from_desired_state: whether trajectories begin where the joints should be, instead of where
            they are.
    """

    def __init__(
        self,
        name: str,
        joints: Sequence[str],
        commands: JointCommands,
        *,
        continuous: Sequence[str] = (),
        limits: JointLimits,
        period: float,
        interpolate_from_desired_state: bool,
    ) -> None:
        """Make a controller without a trajectory.

        Args:
            name: of the controller.
            joints: its joints.
            commands: through which it moves them.
            continuous: those of the joints that turn without limits.
            limits: of the joints.
            period: time between two updates [s].
            interpolate_from_desired_state: see the attribute.
        """
        self.name = name
        self.joints = tuple(joints)
        self.limits = limits
        self._commands = commands
        self._indices = commands.indices(self.joints)
        self._wraps = np.array([joint in continuous for joint in self.joints])
        self._any_wraps = bool(self._wraps.any())
        self._period = period
        self.interpolate_from_desired_state = interpolate_from_desired_state
        self._motion: _Motion | None = None
        self._next: _Motion | None = None
        self._target: NDArray[np.float64] | None = None
        self._efforts = np.zeros(len(self.joints))
        self._last_velocity: tuple[float, NDArray[np.float64]] | None = None
        self._state: ControllerState | None = None
        warm_up_sampling()

    @property
    def moving(self) -> bool:
        """Whether there is a trajectory to follow, now or later."""
        return self._motion is not None or self._next is not None

    def start(
        self,
        request: TrajectoryRequest,
        tolerances: Tolerances,
        now: float,
        finish: Callable[[Outcome], None],
    ) -> None:
        """Follow a trajectory; it replaces the present one at its start time.

        Args:
            request: the checked trajectory.
            tolerances: to watch.
            now: simulated time [s].
            finish: called once, when the motion has ended; not if this raises.

        Raises:
            TrajectoryRequestError: the joints are too slow to get to its first point; all stays as it was. Of one that
                starts later that is seen then, and is how it ends.
        """
        preempted = Outcome(MotionCode.INVALID_GOAL, "Preempted by a new trajectory of this controller.", True)
        motion = _Motion(request, tolerances, finish, request.start)
        at_once = motion.start is None or motion.start <= now
        if at_once:
            motion.trajectory = self._join(motion, now)
            motion.start = now if motion.start is None else motion.start
        self._commands.take(self._indices, self, f"Preempted by a trajectory of {self.name}_controller.")
        self._end_next(preempted)
        if not at_once:
            # The old motion goes on until then, but no goal watches it any more.
            if self._motion is not None:
                self._motion.finish(preempted)
                self._motion.finish = _nobody
            self._next = motion
        else:
            self._end_motion(preempted)
            self._motion = motion
            self._state = None

    def cancel(self, text: str) -> None:
        """End the motion and hold the joints where they are."""
        held = self.moving
        self._end_all(Outcome(MotionCode.INVALID_GOAL, text))
        if held:
            self._hold()

    def cancel_motion_of(self, finish: Callable[[Outcome], None], text: str) -> None:
        """Cancel, if the present or next motion is the one that was started with ``finish``."""
        for motion in (self._motion, self._next):
            if motion is not None and motion.finish is finish:
                self.cancel(text)
                return

    def release(self, reason: str) -> None:
        """End the motion; the joints belong to another commander."""
        self._end_all(Outcome(MotionCode.INVALID_GOAL, reason))
        self._target, self._efforts = None, np.zeros(len(self.joints))

    def update(self, now: float, positions: NDArray[np.float64], velocities: NDArray[np.float64]) -> None:
        """Watch the tolerances and command the joints for the next control period.

        Args:
            now: simulated time [s].
            positions: of all joints of the robot [rad or m].
            velocities: of all joints of the robot [rad/s or m/s].
        """
        later = self._next
        if later is not None and later.start is not None and now >= later.start - 1e-9:
            self._next = None
            try:
                later.trajectory = self._join(later, now)
            except TrajectoryRequestError as refusal:
                later.finish(Outcome(refusal.code, str(refusal)))
            else:
                self._end_motion(Outcome(MotionCode.INVALID_GOAL, "Preempted by a new trajectory.", True))
                self._motion = later
        motion = self._motion
        if motion is None:
            return
        assert motion.trajectory is not None
        actual = self._actual(now, positions, velocities)
        begun = self._target is not None and motion.checked
        desired = self._target if begun else np.array(motion.trajectory.at(now))
        assert desired is not None
        error = self._error(desired, actual)
        outcome = self._judge(motion, now, error)
        if outcome is not None and not outcome.successful:
            self._set_state(now, motion, desired, actual, error)
            self._end_motion(outcome)
            self._hold()
            return
        self._command(motion.trajectory, now)
        self._set_state(now, motion, desired, actual, error)
        if outcome is not None:
            self._end_motion(outcome)
            self._target = None

    def sample(self, now: float, time: float) -> JointSample | None:
        """Return where the joints should be at a time from now on; None for a time in the past."""
        if time < now:
            return None
        motion = self._motion
        later = self._next
        if later is not None and later.start is not None and time >= later.start:
            motion = later
        if motion is None:
            zero = np.zeros(len(self.joints))
            return JointSample(self._commands.positions[self._indices], zero, zero)
        trajectory = motion.trajectory or self._join(motion, now)
        return trajectory.at(time)

    def state(self, now: float, positions: NDArray[np.float64], velocities: NDArray[np.float64]) -> ControllerState:
        """Return the state at the last update; of a controller without a trajectory, the state now.

        Args:
            now: simulated time [s].
            positions: of all joints of the robot [rad or m].
            velocities: of all joints of the robot [rad/s or m/s].
        """
        if self._motion is not None and self._state is not None:
            return self._state
        actual = self._actual(now, positions, velocities)
        desired = np.zeros_like(actual)
        desired[0] = self._commands.positions[self._indices]
        return ControllerState(0.0, desired, actual, self._error(desired, actual), desired)

    # ----------------------------------------------------------------------------------------------

    def _actual(
        self, now: float, positions: NDArray[np.float64], velocities: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        velocity = velocities[self._indices]
        last = self._last_velocity
        acceleration = np.zeros_like(velocity)
        if last is not None and 0.0 < now - last[0] < 1.5 * self._period:
            acceleration = (velocity - last[1]) / (now - last[0])
        self._last_velocity = (now, velocity)
        return np.array([positions[self._indices], velocity, acceleration])

    def _error(self, desired: NDArray[np.float64], actual: NDArray[np.float64]) -> NDArray[np.float64]:
        error = desired - actual
        if self._any_wraps:
            turns = np.round(error[0] / (2.0 * np.pi))
            error[0] -= np.where(self._wraps, turns * 2.0 * np.pi, 0.0)
        return error

    def _join(self, motion: _Motion, now: float) -> JointTrajectory:
        """Return the motion's trajectory in simulated time, from the present state on, for all joints.

        Raises:
            TrajectoryRequestError: the joints are too slow for the way to its first point.
        """
        state: NDArray[np.float64] = np.zeros((3, len(self.joints)))
        state[0] = self._commands.positions[self._indices]
        if not self.interpolate_from_desired_state:
            state[:2] = [values[self._indices] for values in self._commands.joint_state()]
        elif self._target is not None:
            state = self._target
        request = motion.request
        held = np.zeros_like(state)
        held[0] = self._commands.positions[self._indices]
        begin = now if motion.start is None else motion.start
        times = begin + request.points.times
        # One that has ended before it was begun leads to its last point.
        first = min(int(np.searchsorted(times, now - 1e-9)), len(times) - 1)
        turns = np.zeros(len(self.joints))
        chosen = request.indices
        points = request.points
        turns[chosen] = 2.0 * np.pi * np.round((state[0][chosen] - points.positions[first]) / (2.0 * np.pi))
        turns[~self._wraps] = 0.0
        rows: list[list[NDArray[np.float64] | None]] = []
        for order, given in enumerate((points.positions, points.velocities, points.accelerations)):
            values = np.tile(held[order], (len(times) - first, 1))
            values[:, chosen] = np.nan if given is None else given[first:]
            values += turns if order == 0 else 0.0
            rows.append([None if np.isnan(row).any() else row for row in values])
        efforts: NDArray[np.float64] | None = None
        if points.efforts is not None:
            efforts = np.zeros((len(times) - first, len(self.joints)))
            efforts[:, chosen] = points.efforts[first:]
        later = times[first:]
        lead = later[0] - now
        if lead > 1e-9:
            if efforts is not None:
                # Of a trajectory that has begun those of now; to one that begins later lead those that act.
                acting = self._efforts.copy()
                if first > 0:
                    acting[:] = 0.0
                    acting[chosen] = points.mean_efforts(now - begin, now - begin + _INSTANT)
                efforts = np.vstack([acting, efforts])
            for order, full in enumerate(rows):
                full.insert(0, state[order] if full[0] is not None else None)
            later = np.concatenate([[now], later])
        joined = JointTrajectory(self.joints, later, *rows, efforts=efforts)
        check_way(joined, state[0], lead if lead > 1e-9 else 0.0, first, self.limits)
        return joined

    def _judge(self, motion: _Motion, now: float, error: NDArray[np.float64]) -> Outcome | None:
        """Return how the motion has ended, None while it goes on."""
        assert motion.trajectory is not None
        end = motion.trajectory.end_time
        moving = now < end - 1e-9
        tolerances = motion.tolerances
        if moving or not motion.checked:
            motion.checked = True
            violation = self._violation(error, tolerances.path)
            if violation:
                return Outcome(MotionCode.PATH_TOLERANCE_VIOLATED, f"Path tolerance: {violation}.")
        if moving:
            return None
        violation = self._violation(error, tolerances.goal)
        if not violation:
            return Outcome(MotionCode.SUCCESSFUL, "Goal reached.")
        if tolerances.goal_time > 0.0 and now - end > tolerances.goal_time:
            return Outcome(
                MotionCode.GOAL_TOLERANCE_VIOLATED,
                f"Goal tolerance: {violation}, {now - end:.3f} s after the trajectory's end; "
                f"goal_time_tolerance is {tolerances.goal_time:g} s.",
            )
        return None

    def _violation(self, error: NDArray[np.float64], limits: NDArray[np.float64]) -> str:
        if not limits.any():
            return ""
        broken = (limits > 0.0) & (np.abs(error) > limits)
        if not broken.any():
            return ""
        row, column = np.argwhere(broken)[0]
        return (
            f"{_QUANTITIES[row]} of joint '{self.joints[column]}' is off by {error[row, column]:.4g}, "
            f"the tolerance is {limits[row, column]:.4g}"
        )

    def _command(self, trajectory: JointTrajectory, now: float) -> None:
        later = now + self._period
        sample = trajectory.at(later)
        self._target = np.array(sample)
        efforts = trajectory.mean_efforts(now, later) if trajectory.efforts is not None else None
        self._commands.set_positions(self._indices, sample.positions, sample.velocities, efforts)
        self._efforts = np.zeros(len(self.joints)) if efforts is None else efforts

    def _hold(self) -> None:
        positions, _ = self._commands.joint_state()
        self._commands.set_positions(self._indices, positions[self._indices])
        self._target, self._efforts = None, np.zeros(len(self.joints))

    def _set_state(
        self,
        now: float,
        motion: _Motion,
        desired: NDArray[np.float64],
        actual: NDArray[np.float64],
        error: NDArray[np.float64],
    ) -> None:
        output = desired if self._target is None else self._target
        assert motion.start is not None
        self._state = ControllerState(now - motion.start, desired, actual, error, output)

    def _end_all(self, outcome: Outcome) -> None:
        self._end_next(outcome)
        self._end_motion(outcome)

    def _end_motion(self, outcome: Outcome) -> None:
        motion, self._motion = self._motion, None
        if motion is not None:
            motion.finish(outcome)

    def _end_next(self, outcome: Outcome) -> None:
        motion, self._next = self._next, None
        if motion is not None:
            motion.finish(outcome)


def _nobody(outcome: Outcome) -> None:
    """Nobody waits for the end of a motion whose goal has been preempted."""
