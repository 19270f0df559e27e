# SPDX-License-Identifier: Apache-2.0
"""One motion while it is executed: its commands, what is watched, and how it ends."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from humanoid_stack.action import ExecuteTrajectory
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.task import Future

from humanoid_control.execution.path_timing import PathTiming
from humanoid_control.execution.soft_stop import led_to_stand, next_stop
from humanoid_model.joint_trajectory import JointTrajectory, PathPlace, retimed
from humanoid_ros.controller_bridge.bridge_settings import BridgeSettings, BridgeTolerances, Fault, Stop
from humanoid_ros.controller_bridge.controller_outputs import ControllerOutput, Form, Reference, TrajectoryOutput, now
from humanoid_ros.controller_bridge.trajectory_request import CheckedMotion
from humanoid_ros.controller_bridge.watches import MeasuredJoints
from humanoid_ros.node.service_workers import waking_future

Result = ExecuteTrajectory.Result

RUN = 0.6
"""Share of a window's horizon that runs at speed; the rest brakes to rest."""
LONGEST_WINDOW = 2.0
"""Of one that leads to a place to stand; where the next one is further away, it brakes within the horizon [s]."""
RENEWED = 0.25
"""Share of what a window that leads to a place to stand runs at speed, after which the next one is sent."""
GOAL_RUN = 0.5
"""How long a goal that leads to a place to stand runs at speed at least [s]."""
GOAL_RENEWED = 0.5
"""Share of what it runs at speed, after which the next one is sent."""
RAREST = 0.1
"""Time from one window to the next at most, and between goals that follow one that is behind at least [s]."""
BEHIND = 0.01
"""A controller whose reference is nearer to where it should be isn't behind [rad or m]."""
LONGEST = 0.5
"""How far back on the path a controller that is behind is looked for [s]."""
TOLD = 0.1
"""How long after a stop joints and controllers are waited for, before it is told that they aren't there [s]."""
RATES, LOOKS = 6, 5
"""How many rates of braking are tried, and at how many moments each is looked at."""
JUMP = 0.05
"""A clock that goes back, or gains on the machine's own, by more than this was set [s]."""
CODES = {
    Fault.CANCEL: Result.STOPPED,
    Fault.TRACKING: Result.TOLERANCE_VIOLATED,
    Fault.CONTROLLER: Result.CONTROLLER_LOST,
    Fault.STALE_STATE: Result.STALE_STATE,
    Fault.EMERGENCY_STOP: Result.EMERGENCY_STOP,
    Fault.FALL: Result.FALL,
    Fault.CLIENT: Result.CLIENT_LOST,
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


Watch = Callable[[float], Trouble | None]
"""Looks at what may end a motion that is at a place on its path [s]."""


@dataclass(frozen=True)
class Lead:
    """Where controllers go with what they were sent last, when nothing more comes.

    Attributes:
        timing: of the path.
        until: when it begins to brake [s].
        renewed: when the next one is due [s].
        end: when the controllers stand [s].
    """

    timing: PathTiming
    until: float
    renewed: float
    end: float


class Execution:
    """Commands the controllers along a path until its end, or until something stops it.

    All controllers start at one stamp. Goals and windows are stamped too, so how late a message arrives doesn't matter
    within the horizon. A window ends at rest: without the next one a controller stands within the horizon, or where the
    bridge's file says so at the next place where the robot can stand; goals lead there too then. Where a controller is
    behind on the path, because its windows came too late or by itself, the motion goes on from there.

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
        watches: Sequence[Watch] = (),
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
            watches: what else may end it.
        """
        self.ended: Future = waking_future(node)
        self._max_error = 0.0, ""
        self._node = node
        self._settings = settings
        self._motion = motion
        self._timing = timing
        self._begin = float(timing.law.times[0])
        self._outputs = dict(outputs)
        self._measured = measured
        self._tolerances = tolerances
        self._joints = motion.path.joint_names
        self._owner = {joint: key for key, output in outputs.items() for joint in output.settings.joints}
        held = {key: measured.of(output.settings.joints) for key, output in outputs.items()}
        self._held: dict[str, NDArray[np.float64]] = held
        self._trouble: Trouble | None = None
        self._watches = watches
        self._lead: Lead | None = None
        self._stop_by = math.inf
        self._was_stale, self._silent = False, set[str]()
        self._goals_sent = -math.inf
        self._goals_due = False
        self._late = 0
        self._reached = -math.inf, -math.inf
        self._streamed = -math.inf
        self._set_point = math.inf, 0.0
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

    @property
    def guarded(self) -> bool:
        """Whether goals go on when the bridge is gone, so that they have to be cancelled for it."""
        return self._has_goals and not self._led

    def start(self) -> None:
        """Send all controllers their first commands."""
        for output in self._outputs.values():
            output.begin()
        self._stream(self._begin)
        self._send_goals(self._begin)
        self._last_tick = time.monotonic()

    def tick(self) -> None:
        """Look at everything, and send what is due."""
        if self.ended.done():
            return
        read, clock, wall = time.monotonic(), now(self._node), time.monotonic()
        hung, self._last_tick = wall - self._last_tick, wall
        if self.guarded and hung > self._settings.timing.watchdog:
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
        self._catch_up(clock)
        for trouble in self._troubles(clock):
            self.stop(trouble)
        if clock > self._stop_by and self._trouble is not None:
            self._hold()
            self._end(self._trouble, "it couldn't be stopped on the path and is held")
        if self.ended.done():
            return
        # By the clock of the motion: a simulation that is slow isn't sent more for it. Half of a period: a clock that
        # comes in steps would make this skip every other look.
        if clock >= max(self._begin, self._streamed + 0.5 / self._settings.timing.rate):
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
        # Before it was seen to begin, a goal sent now would replace the one whose answer is still looked for.
        at_once = hold or self._settings.stops[trouble.fault] is Stop.HOLD or not self._begun
        if self._trouble is not None and not at_once:
            return  # it is stopping already
        self._trouble = self._trouble or trouble
        if not at_once:
            self._catch_up(clock)
        place = self._timing.at(clock)
        if at_once:
            self._hold()
            self._end(trouble, f"held at once at {place.position:.3f} s of the path")
            return
        if self._motion.stops is None:
            rate = self._hardest(place)
            least = place.position + 0.5 * place.speed**2 / rate
            if least < self._timing.length:
                self._timing.stop(clock, least, rate)
        else:
            found = next_stop(self._motion.stops, place.position)
            if found is not None:
                self._timing.stop(clock, found.stand, found.acceleration)
        # Windows that come late on a busy machine put the end off; what never comes mustn't keep the bridge.
        self._stop_by = self._timing.end + self._settings.timing.clock
        self._lead = None
        self._stream(clock)
        self._send_goals(clock)
        self._node.get_logger().warning(
            f"{trouble.words}; goes on along the path from {place.position:.3f} to {self._timing.end_position:.3f} s"
        )

    # ------------------------------------------------------------------------------------------------------------------

    def _troubles(self, clock: float) -> Iterator[Trouble]:
        """Look at all that may end the motion."""
        position = self._timing.at(clock).position
        for look in (self._lost, self._stale, self._wait_for_controllers, partial(self._astray, clock)):
            trouble = look()
            if self.ended.done():
                return
            if trouble is not None:
                yield trouble
        for watch in self._watches:
            trouble = watch(position)
            if trouble is not None:
                yield trouble

    def _hardest(self, place: PathPlace) -> float:
        """Return with how much a motion without contacts is braked from a place on the path [1/s]."""
        least, most = self._settings.timing.acceleration, self._settings.timing.braking
        for rate in np.geomspace(most, least, RATES)[:-1].tolist():
            times = np.linspace(0.0, place.speed / rate, LOOKS)
            ways = place.position + times * (place.speed - 0.5 * rate * times)
            if all(
                self._motion.keeps_acceleration_bounds(float(way), place.speed - rate * time, -rate)
                for way, time in zip(ways, times, strict=True)
            ):
                return float(rate)
        return least

    def _lost(self) -> Trouble | None:
        """Return what has become of a controller; a lost one is commanded no more."""
        for key, output in list(self._outputs.items()):
            reason = output.lost or output.absent()
            if not reason and isinstance(output, TrajectoryOutput):
                silent = output.silence()
                # At the second look, as joint states.
                if silent > self._settings.timing.state_age and key in self._silent:
                    reason = f"no controller_state has come for {silent:.2f} s"
                (self._silent.add if silent > self._settings.timing.state_age else self._silent.discard)(key)
            if not reason and self._last_now > self._begin and not self._begun and not output.accepted:
                reason = f"it didn't answer within {self._settings.timing.lead:g} s"
            if reason:
                self._hold_one(key)
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
        timing = self._settings.timing
        # A simulation's clock comes by messages of its own, which joint states may overtake.
        ahead = timing.clock if self._simulated else timing.state_age
        words = self._measured.stale(self._watched, timing.state_age, ahead)
        # At the second look: the first one after the bridge was held up comes before the messages that have waited.
        before, self._was_stale = self._was_stale, bool(words)
        return Trouble(Fault.STALE_STATE, words) if words and before else None

    def _astray(self, clock: float) -> Trouble | None:
        """Compare the joints with where they should have been when they were measured."""
        times = np.minimum(self._measured.times(self._joints), clock)
        desired = self._errors.copy()
        for when in np.unique(times):
            chosen = times == when
            desired[chosen] = self._motion.path.at(self._timing.at(float(when)).position).positions[chosen]
        self._errors = np.where(times < self._begin, 0.0, desired - self._measured.of(self._joints))
        error, joint = self.worst
        if error > self._max_error[0]:
            self._max_error = error, joint
        if error <= self._tolerances.path:
            return None
        position = self._timing.at(clock).position
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
        told, sample = reference.positions[own], self._motion.path.at

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
        """Go on from where controllers have come to on the path, if what comes next comes too late for them."""
        places = []
        if self._lead is not None and clock > self._lead.until:
            places.append(self._lead.timing.at(clock))
        if Form.SET_POINT in self._forms and clock > self._set_point[0] + self._settings.timing.horizon:
            places.append(PathPlace(self._set_point[1], 0.0, 0.0))  # there they stand
        if places and min(places).position < self._timing.at(clock).position - 1e-6:
            self._restart(clock, min(places))

    def _restart(self, time: float, place: PathPlace) -> None:
        """Go on from a place at which controllers with windows are; those with goals come back to it."""
        self._late += 1
        self._lead = None
        self._goals_due = True
        self._timing.restart(time, place)

    def _stream(self, clock: float) -> None:
        """Send windows and set points that are due now."""
        led = self._has_goals and self._led
        due = clock < self._timing.end and (self._lead is None or clock >= self._lead.renewed)
        if due and (Form.WINDOW in self._forms or led):
            self._lead = self._next_lead(clock)
            self._goals_due = self._goals_due or led
            if Form.WINDOW in self._forms:
                points = retimed(self._motion.path, self._lead.timing.law, clock, self._lead.end)
                self._give(Form.WINDOW, points, self._lead.until if self._lead.until < self._timing.end else 0.0)
        if Form.SET_POINT in self._forms and clock >= self._begin:
            soon = clock + 1.0 / self._settings.timing.rate
            self._set_point = soon, self._timing.at(soon).position
            self._give(Form.SET_POINT, retimed(self._motion.path, self._timing.law, soon, soon))

    def _next_lead(self, clock: float) -> Lead:
        """Return where controllers go with what they are sent now."""
        horizon, start, goals = self._settings.timing.horizon, max(clock, self._begin), self._has_goals
        run = RUN * horizon
        if self._led:
            assert self._motion.stops is not None
            # Controllers with windows are led as far as those with goals beside them: the robot is one.
            run, longest = (GOAL_RUN, math.inf) if goals else (run, LONGEST_WINDOW)
            led = led_to_stand(self._timing, self._motion.stops, start + run, longest)
            if led is not None:
                tail, until = led
                wait = GOAL_RENEWED * (until - start) if goals else min(RENEWED * (until - start), RAREST)
                renewed = math.inf if goals and tail is self._timing else start + wait
                return Lead(tail, until, renewed, max(start + horizon, tail.end))
        tail = self._timing.braked(start + run, horizon - run)
        return Lead(tail, start + run, -math.inf, max(start + horizon, tail.end))

    @property
    def _forms(self) -> set[Form]:
        return {output.form for output in self._outputs.values()}

    @property
    def _led(self) -> bool:
        """Whether what controllers are sent leads to a place to stand."""
        return self._motion.stops is not None and self._settings.stops[Fault.SILENCE] is Stop.PATH

    @property
    def _has_goals(self) -> bool:
        return Form.GOAL in self._forms

    @property
    def _watched(self) -> tuple[str, ...]:
        """Joints of all controllers that are commanded."""
        return tuple(joint for output in self._outputs.values() for joint in output.settings.joints)

    def _send_goals(self, clock: float) -> None:
        self._goals_sent, self._goals_due = clock, False
        if clock < self._timing.end and self._has_goals:
            tail = self._lead.timing if self._led and self._lead is not None else self._timing
            self._give(Form.GOAL, retimed(self._motion.path, tail.law, clock, math.inf))

    def _give(self, form: Form, points: JointTrajectory, until: float = 0.0) -> None:
        for key, output in self._outputs.items():
            if output.form is form:
                output.send(self._of(key, points), until)

    def _of(self, key: str, points: JointTrajectory) -> JointTrajectory:
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
        derived = (points.velocities, points.accelerations, points.efforts)
        velocities, accelerations, efforts = (part(rows, zero) for rows in derived)
        return JointTrajectory(joints, points.times, positions, velocities, accelerations, efforts=efforts)

    def _hold(self) -> None:
        for key in self._outputs:
            self._hold_one(key)

    def _hold_one(self, key: str) -> None:
        """Hold a controller's joints where they are; those that aren't measured any more where they should be."""
        output = self._outputs[key]
        joints = output.settings.joints
        positions = self._measured.of(joints)
        old = self._last_now - self._measured.times(joints) > self._settings.timing.state_age
        if old.any() and not self._set_back:
            place = retimed(self._motion.path, self._timing.law, self._last_now, self._last_now)
            positions[old] = self._of(key, place).positions[0][old]
        output.hold(positions)

    def _finish(self, clock: float) -> None:
        """End at the path's end or where it was stopped, as soon as the joints are there and no window goes on."""
        error, joint = self.worst
        end = max(self._timing.end, -math.inf if self._lead is None else self._lead.end)
        measured = bool((self._measured.times(self._watched) >= end).all())
        undone = [key for key, output in self._outputs.items() if not output.done]
        there = not undone and measured
        # Joints that aren't measured any more aren't waited for.
        stopping = TOLD if undone or not self._was_stale else 0.0
        patience = self._tolerances.goal_time if self._trouble is None else stopping
        late = clock - end > patience
        if not there and not late:
            return
        if self._trouble is not None:
            place = f"stands at {self._timing.end_position:.3f} s of the path"
            if self._motion.stops is not None and self._timing.end_position >= self._timing.length:
                place += ", its end: on the way there was no place to stand"
            if not there:
                place += ", where its joints haven't come yet" if measured else ", where its joints aren't measured"
            # The goal that stops one may have come too late or never: it would go on with the goal before.
            for key in undone:
                self._hold_one(key)
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
