# SPDX-License-Identifier: Apache-2.0
"""One motion while it is executed: its commands, what is watched, and how it ends."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from humanoid_stack.action import ExecuteTrajectory
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.task import Future

from humanoid_ros.controller_bridge.bridge_settings import BridgeSettings, BridgeTolerances, Fault, Stop
from humanoid_ros.controller_bridge.controller_outputs import ControllerOutput, Form, Reference, TrajectoryOutput, now
from humanoid_ros.controller_bridge.measured_joints import MeasuredJoints
from humanoid_ros.controller_bridge.trajectory_request import CheckedMotion
from humanoid_ros.node.executor_future import waking_future
from humanoid_sim.control.joint_path import PathPoints
from humanoid_sim.control.path_timing import PathPlace, PathTiming
from humanoid_sim.control.soft_stop import led_to_stand, next_stop

Result = ExecuteTrajectory.Result

RUN = 0.6
"""Share of a window's horizon that runs at speed; the rest brakes to rest."""
LONGEST_WINDOW = 2.0
"""Of one that leads to a place to stand; where the next one is further away, it brakes within the horizon [s]."""
RENEWED = 0.25
"""Share of what a window that leads to a place to stand runs at speed, after which the next one is sent."""
RAREST = 0.1
"""Time from one window to the next at most, and between goals that follow one that is behind at least [s]."""
BEHIND = 0.01
"""A controller whose reference is nearer to where it should be isn't behind [rad or m]."""
LONGEST = 0.5
"""How far back on the path a controller that is behind is looked for [s]."""
JUMP = 0.05
"""A clock that goes back, or gains on the machine's own, by more than this was set [s]."""
CODES = {
    Fault.CANCEL: Result.STOPPED,
    Fault.TRACKING: Result.TOLERANCE_VIOLATED,
    Fault.CONTROLLER: Result.CONTROLLER_LOST,
    Fault.STALE_STATE: Result.STALE_STATE,
    Fault.EMERGENCY_STOP: Result.EMERGENCY_STOP,
    Fault.DEACTIVATE: Result.STOPPED,
}


@dataclass(frozen=True)
class Trouble:
    """Why a motion ends early.

    Attributes:
        fault: of what kind.
        words: what happened.
        controller: that failed, or has the joint that did; empty: none.
    """

    fault: Fault
    words: str
    controller: str = ""


class Execution:
    """Commands the controllers along a path until its end, or until something stops it.

    All controllers start at one stamp. Goals and windows are stamped too, so how late a message arrives doesn't matter
    within the horizon. A window ends at rest: without the next one a controller stands within the horizon, or where the
    bridge's file says so at the next place where the robot can stand. Where a controller is behind on the path, because
    its windows came too late or by itself, the motion goes on from there.

    Attributes:
        ended: completed with the result, once.
    """

    def __init__(
        self,
        node: Node,
        settings: BridgeSettings,
        motion: CheckedMotion,
        timing: PathTiming,
        outputs: Mapping[str, ControllerOutput],
        measured: MeasuredJoints,
        tolerances: BridgeTolerances,
    ) -> None:
        """Prepare; :meth:`start` begins.

        Args:
            node: whose clock counts.
            settings: of the bridge.
            motion: what to execute.
            timing: of its path, which begins at the common start.
            outputs: controllers to use, by key.
            measured: where the joints are.
            tolerances: to watch.
        """
        self.ended: Future = waking_future(node)
        self._max_error = 0.0, ""
        self._node = node
        self._settings = settings
        self._motion = motion
        self._timing = timing
        self._begin = timing.changes[0]
        self._outputs = dict(outputs)
        self._measured = measured
        self._tolerances = tolerances
        self._joints = motion.path.joint_names
        self._owner = {joint: key for key, output in outputs.items() for joint in output.settings.joints}
        held = {key: measured.of(output.settings.joints) for key, output in outputs.items()}
        self._held: dict[str, NDArray[np.float64]] = held
        self._trouble: Trouble | None = None
        self._fills_until = math.inf
        self._tail: PathTiming | None = None
        self._windows_end = self._goals_sent = -math.inf
        self._goals_due = False
        self._late = 0
        self._reached = -math.inf, -math.inf
        self._streamed = self._renewed = -math.inf
        self._simulated = node.get_parameter("use_sim_time").get_parameter_value().bool_value
        self._last_read = time.monotonic()
        self._last_now = now(node)
        self._set_back, self._stamp_before = "", -math.inf
        self._last_tick = self._last_moved = time.monotonic()
        self._begun = False
        self._errors: NDArray[np.float64] = np.zeros(len(self._joints))

    @property
    def timing(self) -> PathTiming:
        """When the motion is where on its path."""
        return self._timing

    @property
    def place(self) -> tuple[float, PathPlace]:
        """The time now [s], and where on the path the joints should be."""
        clock = now(self._node)
        return clock, self._timing.at(clock)

    @property
    def worst(self) -> tuple[float, str]:
        """Largest joint error at the last look [rad or m], and whose it is."""
        worst = int(np.argmax(np.nan_to_num(np.abs(self._errors), nan=math.inf)))
        return abs(float(self._errors[worst])), self._joints[worst]

    def start(self) -> None:
        """Send all controllers their first commands."""
        for output in self._outputs.values():
            output.begin()
        self._send_goals(self._begin)
        self._stream(self._begin)
        self._last_tick = time.monotonic()

    def tick(self) -> None:
        """Look at everything, and send what is due."""
        if self.ended.done():
            return
        read, clock, wall = time.monotonic(), now(self._node), time.monotonic()
        hung, self._last_tick = wall - self._last_tick, wall
        if self._has_goals and hung > self._settings.timing.watchdog:
            # The guard has cancelled the goals, or is about to.
            self.stop(Trouble(Fault.CONTROLLER, f"the bridge hung for {hung:.2f} s"), hold=True)
            return
        if clock < self._last_now - JUMP:
            self._set_back = self._set_back or f"time went back from {self._last_now:.3f} to {clock:.3f} s"
        if self._set_back:
            if self._measured.stamp > clock + JUMP:
                self._stamp_before = self._measured.stamp
            if self._measured.stamp == self._stamp_before and wall - self._last_moved < self._settings.timing.clock:
                return  # the joints are those of the time before: held there, a robot that was set back would move
            self.stop(Trouble(Fault.STALE_STATE, self._set_back), hold=True)
            return
        # A simulation's clock comes by messages, which may be as late as it may stand still.
        gain = self._settings.timing.clock if self._simulated else wall - self._last_read + JUMP
        if clock > self._last_now + gain:
            words = f"time went ahead from {self._last_now:.3f} to {clock:.3f} s"
            self.stop(Trouble(Fault.STALE_STATE, words), hold=True)
            return
        if clock > self._last_now:
            self._last_moved = wall
        elif wall - self._last_moved > self._settings.timing.clock:
            words = (
                f"time has stood still at {clock:.3f} s for {self._settings.timing.clock:g} s; "
                f"the bridge's last look was {hung:.2f} s ago"
            )
            self.stop(Trouble(Fault.STALE_STATE, words), hold=True)
            return
        self._last_now, self._last_read = clock, read
        trouble = self._lost() or self._stale() or self._wait_for_controllers() or self._astray(clock)
        if trouble is not None:
            self.stop(trouble)
            if self.ended.done():
                return
        # By the clock of the motion: a simulation that is slow isn't sent more for it. Half of a period: a clock that
        # comes in steps would make this skip every other look.
        if clock >= max(self._begin, self._streamed + 0.5 / self._settings.timing.rate):
            self._catch_up(clock)
            self._stream(clock)
            self._streamed = clock
        # Near the end the goal before leads to the same place, and controllers refuse one whose end has passed.
        soon = self._timing.end - clock < self._settings.timing.horizon
        if self._goals_due and not soon and clock > self._goals_sent + RAREST:
            self._send_goals(clock)
        if clock >= self._timing.end:
            self._finish(clock)

    def stop(self, trouble: Trouble, *, hold: bool = False) -> None:
        """End the motion as the bridge's file says.

        Args:
            trouble: why.
            hold: at once, whatever the file says.
        """
        if self.ended.done():
            return
        clock = now(self._node)
        at_once = hold or self._settings.stops[trouble.fault] is Stop.HOLD or clock < self._begin
        if self._trouble is not None and not at_once:
            return  # it is stopping already
        self._trouble = self._trouble or trouble
        place = self._timing.at(clock)
        if at_once:
            self._hold()
            self._end(trouble, f"held at once at {place.position:.3f} s of the path")
            return
        least = place.position + self._timing.braking_distance(place.speed)
        if self._motion.stops is None:
            if least < self._timing.length:
                self._timing.stop(clock, least)
        else:
            found = next_stop(self._motion.stops, place.position)
            if found is not None:
                self._timing.stop(clock, found.stand)
        self._renewed = -math.inf
        self._send_goals(clock)
        self._node.get_logger().warning(
            f"{trouble.words}; goes on along the path from {place.position:.3f} to {self._timing.end_position:.3f} s"
        )

    # ------------------------------------------------------------------------------------------------------------------

    def _lost(self) -> Trouble | None:
        """Return what has become of a controller; a lost one is commanded no more."""
        for key, output in list(self._outputs.items()):
            reason = output.lost or output.absent()
            if not reason and isinstance(output, TrajectoryOutput):
                silent = output.silence()
                if silent > self._settings.timing.state_age:
                    reason = f"no controller_state has come for {silent:.2f} s"
            if not reason and self._last_now > self._begin and not self._begun and not output.accepted:
                reason = f"it didn't answer within {self._settings.timing.lead:g} s"
            if reason:
                output.hold(self._measured.of(output.settings.joints))
                if not self._begun:
                    self._hold()
                    self._end(Trouble(Fault.CONTROLLER, reason, key), "it never began", Result.NO_CONTROLLER)
                    return None
                del self._outputs[key]
                if not self._outputs:
                    self._end(Trouble(Fault.CONTROLLER, f"controller '{key}' is lost: {reason}", key), "none is left")
                return Trouble(Fault.CONTROLLER, f"controller '{key}' is lost: {reason}", key)
        if self._last_now > self._begin:
            self._begun = True
        return None

    def _stale(self) -> Trouble | None:
        age = self._measured.age()
        if age <= self._settings.timing.state_age:
            return None
        return Trouble(Fault.STALE_STATE, f"the newest joint states are {age:.2f} s old")

    def _astray(self, clock: float) -> Trouble | None:
        """Compare the joints with where they should have been when they were measured."""
        stamp = min(self._measured.stamp, clock)
        desired = self._motion.path.at(self._timing, stamp).positions
        self._errors = desired - self._measured.of(self._joints)
        error, joint = self.worst
        if stamp > self._begin and error > self._max_error[0]:
            self._max_error = error, joint
        if error <= self._tolerances.path or stamp < self._begin:
            return None
        position = self._timing.at(stamp).position
        words = (
            f"joint '{joint}' is off by {error:.4g} at {position:.3f} s of the path, the tolerance is "
            f"{self._tolerances.path:g}"
        )
        return Trouble(Fault.TRACKING, words, self._owner.get(joint, ""))

    def _wait_for_controllers(self) -> Trouble | None:
        """Go on from where the last controller is, if one that gets windows is behind; goals bring theirs along."""
        if self._trouble is not None and self._trouble.fault is Fault.TRACKING:
            return None
        behind = []
        for key, output in self._outputs.items():
            if not isinstance(output, TrajectoryOutput) or output.form is not Form.WINDOW:
                continue
            reference = output.news()
            place = None if reference is None else self._place_of(key, reference)
            if reference is not None and place is not None:
                behind.append((place.position, reference.time, place))
        if not behind:
            return None
        position, time, place = min(behind)
        self._restart(time, place)
        if position > self._reached[0] + 1e-3:
            self._reached = position, time
        elif time - self._reached[1] > self._settings.timing.clock:
            words = f"the controllers have stood at {position:.3f} s of the path for {time - self._reached[1]:.1f} s"
            return Trouble(Fault.TRACKING, words)
        return None

    def _place_of(self, key: str, reference: Reference) -> PathPlace | None:
        """Return where on the path a controller is that is behind; None if it isn't, or isn't on the path."""
        if reference.time <= self._begin:
            return None
        pairs = [
            (i, self._joints.index(joint))
            for i, joint in enumerate(self._outputs[key].settings.joints)
            if joint in self._joints
        ]
        own, columns = (list(side) for side in zip(*pairs, strict=True))
        told, sample = reference.positions[own], self._motion.path.trajectory.sample

        def off(position: float) -> float:
            return float(np.abs(sample(position).positions[columns] - told).max())

        expected = self._timing.at(reference.time).position
        if off(expected) <= BEHIND:
            return None
        tried = np.arange(expected, max(expected - LONGEST, 0.0), -0.005)
        errors = [off(float(position)) for position in tried]
        best = int(np.argmin(errors))
        if best == 0 or errors[best] > 0.5 * errors[0]:
            return None
        along = sample(tried[best]).velocities[columns]
        speed = float(reference.velocities[own] @ along) / max(float(along @ along), 1e-9)
        return PathPlace(float(tried[best]), min(max(speed, 0.0), self._timing.speed), 0.0)

    def _catch_up(self, clock: float) -> None:
        """Go on from where windows have braked on the path, if the next one comes too late."""
        if self._tail is None or clock <= self._fills_until:
            return
        place = self._tail.at(clock)
        if place.position < self._timing.at(clock).position - 1e-6:
            self._restart(clock, place)

    def _restart(self, time: float, place: PathPlace) -> None:
        """Go on from a place at which controllers with windows are; those with goals come back to it."""
        self._late += 1
        self._renewed = -math.inf
        self._goals_due = True
        self._timing.restart(time, place)

    def _stream(self, clock: float) -> None:
        """Send windows and set points that are due now."""
        forms = {output.form for output in self._outputs.values()}
        if Form.WINDOW in forms and clock < self._timing.end and clock >= self._renewed:
            timing = self._settings.timing
            run, start = RUN * timing.horizon, max(clock, self._begin)
            places = self._motion.stops if self._settings.stops[Fault.SILENCE] is Stop.PATH else None
            led = None if places is None else led_to_stand(self._timing, places, start + run, LONGEST_WINDOW)
            self._tail, self._fills_until = led or (
                self._timing.braked(start + run, timing.horizon - run),
                start + run,
            )
            self._renewed = -math.inf if led is None else start + min(RENEWED * (self._fills_until - start), RAREST)
            self._windows_end = max(start + timing.horizon, self._tail.end)
            self._give(Form.WINDOW, self._motion.path.points(self._tail, clock, self._windows_end))
        if Form.SET_POINT in forms and clock >= self._begin:
            soon = clock + 1.0 / self._settings.timing.rate
            self._give(Form.SET_POINT, self._motion.path.points(self._timing, soon, soon))

    @property
    def _has_goals(self) -> bool:
        return any(output.form is Form.GOAL for output in self._outputs.values())

    def _send_goals(self, clock: float) -> None:
        self._goals_sent, self._goals_due = clock, False
        if clock < self._timing.end and self._has_goals:
            self._give(Form.GOAL, self._motion.path.points(self._timing, clock, math.inf))

    def _give(self, form: Form, points: PathPoints) -> None:
        for key, output in self._outputs.items():
            if output.form is form:
                output.send(self._of(key, points))

    def _of(self, key: str, points: PathPoints) -> PathPoints:
        """Return a controller's part of the points; its joints that the path doesn't move stay where they were."""
        joints, count = self._outputs[key].settings.joints, len(points.times)
        moved = [(i, self._joints.index(joint)) for i, joint in enumerate(joints) if joint in self._joints]
        to, columns = [i for i, _ in moved], [column for _, column in moved]

        def part(rows: NDArray[np.float64] | None, rest: NDArray[np.float64]) -> NDArray[np.float64] | None:
            if rows is None:
                return None
            full = np.tile(rest, (count, 1))
            full[:, to] = rows[:, columns]
            return full

        zero = np.zeros(len(joints))
        positions = part(points.positions, self._held[key])
        assert positions is not None
        rest = (part(rows, zero) for rows in (points.velocities, points.accelerations, points.efforts))
        return PathPoints(points.times, positions, *rest)

    def _hold(self) -> None:
        for output in self._outputs.values():
            output.hold(self._measured.of(output.settings.joints))

    def _finish(self, clock: float) -> None:
        """End at the path's end or where it was stopped, as soon as the joints are there and no window goes on."""
        error, joint = self.worst
        end = max(self._timing.end, self._windows_end)
        there = all(output.done for output in self._outputs.values()) and self._measured.stamp >= end
        late = clock - end > self._tolerances.goal_time
        if not there and not late:
            return
        if self._trouble is not None:
            place = f"stands at {self._timing.end_position:.3f} s of the path"
            if self._motion.stops is not None and self._timing.end_position >= self._timing.length:
                place += ", its end: on the way there was no place to stand"
            self._end(self._trouble, place)
        elif error <= self._tolerances.goal and there:
            self._end(None, "the end is reached")
        elif late:
            words = (
                f"joint '{joint}' is off by {error:.4g}, {clock - self._timing.end:.2f} s after the end; the "
                f"tolerances are {self._tolerances.goal:g} and {self._tolerances.goal_time:g} s"
                if error > self._tolerances.goal
                else "a controller hasn't told that it is at its goal"
            )
            self._hold()
            self._end(Trouble(Fault.TRACKING, words, self._owner.get(joint, "")), "held")

    def _end(self, trouble: Trouble | None, how: str, code: int | None = None) -> None:
        position = min(self._timing.at(now(self._node)).position, self._timing.end_position)
        result = Result(success=trouble is None, path_time=position)
        result.message = how if trouble is None else f"{trouble.words}; {how}"
        if self._late:
            result.message += f"; windows came too late {self._late} times"
        if trouble is not None:
            result.code = CODES[trouble.fault] if code is None else code
            result.controller = trouble.controller
        if self._motion.balance is not None and self._motion.stops is not None:
            standing = self._motion.balance.margin(position, 0.0)
            result.stable = bool(standing >= self._settings.balance.stop_margin)
            result.stance = list(self._motion.balance.bearing(position))
        result.max_joint_error, result.max_joint_error_joint = self._max_error
        self.ended.set_result(result)
