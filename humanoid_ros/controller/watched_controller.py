# SPDX-License-Identifier: Apache-2.0
"""A walker, or what carries a motion out, with a stated reaction to whatever may be wrong."""

from __future__ import annotations

import math

import numpy as np

from humanoid_control.stepping import Walker
from humanoid_control.stepping.walker import WalkMode
from humanoid_control.tracking import MotionTracker, TrackMode
from humanoid_model.arrays import Array
from humanoid_model.controller import Command, Measurement
from humanoid_model.errors import HumanoidError, InputError
from humanoid_ros.controller.controller_settings import ControllerSettings

_KEPT = 10
"""So many faults are told with a status at most."""

_STILL = 0.01
"""Drives may hold the joints when the centre of mass has gone no further than so [m]"""
_REST = 0.5
"""in so long [s]."""


class WatchedController:
    """Answers measurements with commands that can be sent, or says that the drives are to hold the joints.

    The walker commands. It brings the robot to the posture in which a motion begins; the motion takes over from it when
    its tracker knows how the robot stands, and the walker from a motion that has ended on soles alone, when it is told
    to walk.

    - A sensor is lost for longer than ``patience``: the robot stops, then the drives hold its joints until all are
      back; then it begins anew.
    - The walker fails, or a command isn't finite: the drives hold for ``patience``, then it begins anew.
    - The clock goes back: it begins anew. It goes ahead by more than ``patience``: likewise.
    - The commanded velocity is older than ``velocity_timeout``: the robot stops.
    - It has fallen: the joints are soft until :meth:`restart`, or until the clock goes back.
    - Where a motion was under way it doesn't begin anew: the robot may sit or hang. The drives hold until
      :meth:`restart`, or until the clock goes back.

    Efforts never exceed the joints' limits.

    Attributes:
        walker: that walks.
        tracker: of the newest motion; None before there is any, and after the walker has taken over.
        needed: force-torque sensors that the walker can't do without: those of the soles.
        holding: why the drives hold the joints; empty: they don't.
        missed: why the motion was given up before its beginning; empty: it wasn't.
        faults: what was wrong since they were taken, and what was done.
    """

    def __init__(self, walker: Walker, settings: ControllerSettings) -> None:
        """Begin.

        Args:
            walker: of the robot.
            settings: times and speeds.
        """
        self.walker, self._settings = walker, settings
        robot = walker.robot
        places = [robot.index_v(name) for name in walker.body.joint_names]
        limits = np.array(robot.model.effortLimit)[places]
        self._limits: Array = np.where(limits > 0.0, limits, np.inf)
        soles = [robot.contacts[name].link for name in walker.body.soles]
        self.needed = {
            name for name, one in robot.sensors.items() if one.type == "force_torque" and one.link in soles
        }  # fmt: skip
        self.faults: list[str] = []
        self.restart()

    def restart(self) -> None:
        """Forget all but the sensors' places."""
        self.walker.reset()
        self.walker.walk(0.0)
        self.tracker: MotionTracker | None = None
        self._commander: Walker | MotionTracker = self.walker
        self._next: Walker | MotionTracker | None = None
        self._approach_end, self.missed = math.inf, ""
        self.holding, self._held_until = "", -math.inf
        self._time, self._velocity_end, self._moved = -math.inf, -math.inf, -math.inf
        self._place: Array = np.full(3, np.nan)
        self._lost: dict[str, float] = {}

    @property
    def commander(self) -> Walker | MotionTracker:
        """Who commands."""
        return self._commander

    @property
    def fallen(self) -> bool:
        """Whether the joints are soft."""
        return self._commander.mode in (WalkMode.FALLEN, TrackMode.FALLEN)

    @property
    def knows(self) -> bool:
        """Whether it knows how the robot stands."""
        return self._commander.estimate is not None

    @property
    def moves(self) -> bool:
        """Whether a motion is under way, or about to begin."""
        ended = (TrackMode.DONE, TrackMode.STOPPED, TrackMode.FALLEN)
        return self.tracker is not None and self.tracker.mode not in ended

    def _rests(self) -> bool:
        """Whether it has stood still for a while, so that stiff drives won't upset it."""
        centre = self._commander.body.centre
        steps = self._commander is self.walker and self.walker.mode is not WalkMode.STANDING
        if steps or not np.linalg.norm(centre - self._place) < _STILL:
            self._moved, self._place = self._time, centre.copy()
        return self._time - self._moved >= _REST or not self.knows

    def walk(self, velocity: Array) -> None:
        """Take a commanded velocity: ahead, to the left [m/s], turning to the left [rad/s], shape (3,); it is bounded.

        Raises:
            InputError: a number that isn't finite; a motion is under way, or has left the robot on more than its soles.
        """
        if not np.all(np.isfinite(velocity)):
            raise InputError(f"is {velocity.tolist()}", element="twist", remedy="Give finite numbers")
        if self.tracker is not None and np.any(velocity):
            self._release(self.tracker)
        own = self._settings
        most = np.array([own.fastest, own.fastest_sideways, own.fastest_turn])
        self._velocity_end = self._time + own.velocity_timeout
        self.walker.walk(*(float(one) for one in np.clip(velocity, -most, most)))

    def _release(self, tracker: MotionTracker) -> None:
        """Let the walker take over from a motion."""
        if self.moves:
            raise InputError("comes while a motion is carried out", element="twist", remedy="Cancel the motion first")
        bears = sorted(tracker.bearing)
        if bears != sorted(self.walker.body.soles):
            raise InputError(
                f"comes while the robot stands on {', '.join(bears)}",
                element="twist",
                remedy="The walker begins on both soles: carry out a motion that ends so",
            )
        if self._next is None:
            self._take_over(self.walker)

    def start_error(self, tracker: MotionTracker, positions: Array) -> tuple[str, float]:
        """Return the joint that is farthest from where a motion begins, and how far [rad or m].

        Args:
            tracker: of the motion.
            positions: of the joints of measurements.
        """
        first, robot = tracker.motion.q[0], self.walker.robot
        off = [abs(one - first[robot.index_q(n)]) for n, one in zip(tracker.joint_names, positions, strict=True)]
        worst = int(np.argmax(np.nan_to_num(off, nan=np.inf)))
        return tracker.joint_names[worst], off[worst]

    def can_approach(self, tracker: MotionTracker) -> bool:
        """Whether the walker can bring the robot to where a motion begins: on its soles."""
        return self._commander is self.walker and sorted(tracker.bearing) == sorted(self.walker.body.soles)

    def carry_out(self, tracker: MotionTracker) -> None:
        """Begin a motion; its tracker takes over as soon as the robot is there and it knows how the robot stands.

        Raises:
            InputError: another one is under way, or nobody knows yet how the robot stands.
        """
        problem = self.holding or ("" if self.knows else "it isn't known yet how the robot stands")
        problem = "the robot has fallen" if self.fallen else problem
        if problem or self.moves:
            raise InputError(problem or "another motion is carried out", remedy="Try again later")
        if self._commander is self.walker and self.walker.mode is not WalkMode.STANDING:
            raise InputError(f"the robot is {self.walker.mode.value}", remedy="Let it stand first")
        self.walker.walk(0.0)
        self.tracker, self.missed = tracker, ""
        if self.can_approach(tracker):
            self.walker.stand(tracker.motion.q[0])
            self._approach_end = self._time + self._settings.approach
        else:
            self._take_over(tracker)

    def _approach(self, tracker: MotionTracker, positions: Array) -> None:
        """Let a motion take over once the robot is where it begins; give it up when it doesn't come there in time."""
        joint, off = self.start_error(tracker, positions)
        if self.walker.mode is not WalkMode.STANDING:
            self._give_up(f"the robot had to step on the way to its beginning: it is {self.walker.mode.value}")
        elif off <= self._settings.start_tolerance:
            self._take_over(tracker)
        elif self._time > self._approach_end:
            self._give_up(f"joint '{joint}' stayed {off:.3g} off the first point for {self._settings.approach:g} s")

    def _give_up(self, reason: str) -> None:
        self.missed, self.tracker = reason, None
        self.walker.stand()

    @property
    def _approaches(self) -> bool:
        return self._next is None and self._commander is self.walker and self.tracker is not None

    def stop(self, reason: str) -> None:
        """Stop the motion that is carried out, if there is any, in the stance that the robot has."""
        if self._approaches:
            self._give_up(reason)
        elif self.tracker is not None:
            self.tracker.stop(reason)

    def _take_over(self, successor: Walker | MotionTracker) -> None:
        """Let somebody else command, in the same world, when he is ready."""
        assert self._commander.estimate is not None
        successor.reset(self._commander.estimate.placement_world_base)
        self._next = successor

    def hold(self, reason: str) -> None:
        """Let the drives hold the joints, until measurements come again."""
        if not self.holding:
            self.tell(reason)
        self.holding = reason

    def tell(self, fault: str) -> None:
        """Take note of what was wrong."""
        if fault not in self.faults:
            self.faults = [*self.faults[1 - _KEPT :], fault]

    def update(self, measurement: Measurement) -> Command | None:
        """Answer a measurement.

        Returns:
            The command; None: nothing is commanded, or the joints are to be held as ``holding`` says.
        """
        time, own = measurement.time, self._settings
        if time <= self._time:
            if time > self._time - 1e-6:
                return None
            self.tell(f"the clock went back by {self._time - time:.3f} s: begins anew")
            self.restart()
        elif time > self._time + own.patience and self._time > -math.inf:
            self._miss(time)
        self._time = time
        lost, rests = self._look(measurement), self._rests()
        if lost or time > self._velocity_end:
            self.walker.walk(0.0)
        if lost:
            self.stop(lost)
        if lost and rests:
            self._hold_and_forget(f"{lost} for {own.patience:g} s: joints are held", time)
        if time < self._held_until or (lost and self.holding):
            return None
        self.holding = ""
        try:
            command = self._command(measurement)
        except HumanoidError as error:
            self._hold_and_forget(f"the {self._role} failed: {error}", time + own.patience)
            return None
        if command is None:
            return None
        assert self._commander.estimate is not None
        for fault in self._commander.estimate.faults:
            self.tell(fault)
        if not all(np.isfinite(one).all() for one in (command.efforts, command.positions, command.velocities)):
            self._hold_and_forget("a command isn't finite: joints are held", time + own.patience)
            return None
        efforts = np.clip(command.efforts, -self._limits, self._limits)
        return Command(command.time, command.joints, efforts, command.positions, command.velocities)

    @property
    def _role(self) -> str:
        return "walker" if self._commander is self.walker else "motion"

    def _command(self, measurement: Measurement) -> Command | None:
        """Ask who commands; whoever is to take over listens until he can."""
        if self._approaches and self.tracker is not None:
            self._approach(self.tracker, measurement.joint_positions)
        successor = self._next
        if successor is not None:
            command = None
            try:
                command = successor.update(measurement.time, measurement)
            except HumanoidError as error:
                self.tell(f"can't take over: {error}")
                self._next, self.tracker = None, None if self._commander is self.walker else self.tracker
            if command is not None:
                self._commander, self._next = successor, None
                if self._commander is self.walker:
                    self.tracker = None
                return command
        return self._commander.update(measurement.time, measurement)

    def _miss(self, time: float) -> None:
        """Begin anew after a gap, but not in the middle of a motion."""
        gap = f"nothing was measured for {time - self._time:.3f} s"
        if self._held_until == math.inf or (self._commander is not self.walker and not self.fallen):
            self._hold_and_forget(f"{gap}: joints are held", time)
            return
        self.tell(f"{gap}: begins anew")
        fallen = self.fallen
        self.restart()
        if fallen:
            self.walker.mode = WalkMode.FALLEN

    def _hold_and_forget(self, reason: str, until: float) -> None:
        if self._commander is not self.walker:
            until = math.inf
        self.hold(reason)
        self._held_until = max(self._held_until, until)
        self._commander, self._next, self.tracker = self.walker, None, None
        self.walker.reset()

    def _look(self, measurement: Measurement) -> str:
        """Say which sensor is lost; empty: none."""
        rate, force = measurement.angular_velocity, measurement.specific_force
        wrong = set()
        if rate is None or force is None or not (np.isfinite(rate).all() and np.isfinite(force).all()):
            wrong.add("the inertial unit is silent")
        silent = [
            name for name, q in zip(self.walker.joint_names, measurement.joint_positions, strict=True)
            if not math.isfinite(q)
        ]  # fmt: skip
        wrong |= {f"the encoder of {name} is silent" for name in silent}
        moved = self._commander.sensors if isinstance(self._commander, MotionTracker) else ()
        needed = self.needed.union(moved)
        wrong |= {f"{name} is silent" for name in needed - set(measurement.wrenches)}
        self._lost = {words: self._lost.get(words, measurement.time) for words in wrong}
        late = [words for words, since in self._lost.items() if measurement.time - since >= self._settings.patience]
        return ", ".join(sorted(late)[:3])
