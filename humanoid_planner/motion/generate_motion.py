# SPDX-License-Identifier: Apache-2.0
"""From a plan of contacts to a motion over time (specification 001 section 8)."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from humanoid_model.arrays import Array, Reals
from humanoid_model.configuration_path import ConfigurationPath
from humanoid_model.contact import Contact, Stance
from humanoid_model.errors import InputError
from humanoid_model.joint_trajectory import PathPlace, TimeLaw
from humanoid_model.progress import CancelledWorkError, Progress, ProgressCallback, Watch
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene
from humanoid_model.whole_body_trajectory import ContactSpan, WholeBodyTrajectory
from humanoid_planner.motion.motion import MotionResult, MotionSettings, MotionStep, Plan, Transition, find_transitions
from humanoid_planner.motion.stance_postures import POSTURES, StancePostures
from humanoid_planner.motion.step_path import find_step_path
from humanoid_planner.motion.time_laws import (
    BalancedPath,
    BalancedSample,
    PathLimits,
    SinusoidalLaw,
    fastest_law,
    rests,
    smoothed,
)
from humanoid_planner.posture import CollisionModel, Task

#: Steps of a walk that is verified: of a joint and of the base, a little less than what a verification takes.
_JOINT_STEP, _BASE_STEP = math.radians(0.45), 1.8e-3
#: Grid points of a time law: fewest, most, and way of a joint [rad] or of the base [m] from one to the next.
_FEWEST, _MOST, _GRID = 30, 100, 0.02
#: Passes that round the kinks of the fastest law.
_SMOOTHING = 10
#: How often a law that nothing carries between its grid points is made slower, and by how much.
_SLOWER, _STRETCH = 5, 1.25
#: Distance from the joint limits where none is asked for [rad] or [m].
JOINT_MARGIN = 0.01


def generate_motion(
    robot: Robot,
    scene: Scene,
    plan: Plan,
    *,
    settings: MotionSettings | None = None,
    collisions: bool | CollisionModel = True,
    tasks: Sequence[Task] = (),
    goal: Sequence[Task] = (),
    time_limit: float = math.inf,
    progress: ProgressCallback | None = None,
    **requirements: Any,
) -> MotionResult:
    """Turn a plan into a motion of the whole robot.

    Each posture of the plan is found again with a reserve of balance; where a step fails with it, with the least one.
    Between two of them the robot holds the contacts that both have; a hand or foot that moves follows a path along the
    normals and a spline, and the rest of the robot stays as near to the straight line as contacts, limits, balance and
    collisions allow (7.2). The robot is at rest where contacts change.

    Args:
        robot: that moves.
        scene: around it.
        plan: stances and postures.
        settings: how it moves.
        collisions: keep clear of itself and of the scene; a model made before, or False.
        tasks: that all postures keep to, a glass that stays upright for example.
        goal: that the last posture fulfils; without them it is only near the plan's.
        time_limit: wall-clock time [s].
        progress: told before every step, and now and then meanwhile; returns True to cancel.
        **requirements: what else postures fulfil, see :class:`humanoid_planner.posture.problem.PostureRequirements`.

    Returns:
        The motion; after a failure, a cancel or the time limit the part before it, with the reason.

    Raises:
        InputError: something can't be used; it names field, value and remedy.
    """
    began, watch = time.perf_counter(), Watch(progress, time_limit)
    if len(plan.stances) != len(plan.postures):
        raise InputError(
            f"has {len(plan.postures)} postures for {len(plan.stances)} stances",
            element="plan",
            remedy="Give a posture for each stance",
        )
    maker = MotionMaker.of(robot, scene, settings or MotionSettings(), collisions, tasks, **requirements)
    maker.postures.watch = watch
    transitions = find_transitions(plan.stances)
    count = len(transitions)
    steps: list[MadeStep] = []
    reached: list[Array] = []
    why = ""
    for index, (stance, q) in enumerate(zip(plan.stances, plan.postures, strict=True)):
        label = transitions[index].label if index < count else "trajectory"
        try:
            watch.tell(Progress(label, index / (count + 1), index))
            posture = maker.posture(stance, q, goal if index == count else ())
            if isinstance(posture, str):
                why = f"Posture {index} of the plan {posture}"
                break
            if index:
                found = maker.way(transitions[index - 1], reached[-1], posture)
                step = found if isinstance(found, str) else maker.timed(found)
                if isinstance(step, str):
                    why = f"No way at {transitions[index - 1].label}: {step}."
                    break
                steps.append(step)
            reached.append(posture)
        except CancelledWorkError:
            why = f"Ended at {label}: {watch.why}."
            break
    return maker.motion(plan.stances, reached, steps, why, time.perf_counter() - began)


class FoundWay(NamedTuple):
    """A way from one posture to the next, whether it had to be searched for, and its reserve [m]."""

    transition: Transition
    path: ConfigurationPath
    searched: bool
    reserve: float


class MadeStep(NamedTuple):
    """A step that begins at zero, its samples over time, and the robot at rest at its end."""

    step: MotionStep
    samples: list[tuple[float, BalancedSample]]
    rest: BalancedSample


@dataclass
class MotionMaker:
    """Makes postures and steps of motions.

    Attributes:
        postures: of a robot in a scene.
        settings: how it moves.
    """

    postures: StancePostures
    settings: MotionSettings
    #: Postures that have the least reserve only.
    _narrow: set[bytes] = field(default_factory=set)

    @staticmethod
    def of(
        robot: Robot,
        scene: Scene,
        settings: MotionSettings,
        collisions: bool | CollisionModel,
        tasks: Sequence[Task],
        **requirements: Any,
    ) -> MotionMaker:
        """Return a maker; see :func:`generate_motion`.

        Raises:
            InputError: the robot is fixed to the world.
        """
        if robot.base_joint is None:
            raise InputError(
                f"'{robot.name}' has a fixed base", element="robot", remedy="Give one with a floating base"
            )
        model = CollisionModel(robot, scene) if collisions is True else (collisions or None)
        wanted = {"joint_margin": JOINT_MARGIN, "torque_limits": True, **requirements}
        effort = POSTURES * settings.effort
        return MotionMaker(StancePostures(robot, scene, settings.reserve, effort, model, tasks, wanted), settings)

    def motion(
        self, stances: Sequence[Stance], reached: Sequence[Array], made: Sequence[MadeStep], why: str, seconds: float
    ) -> MotionResult:
        """Put steps of a plan together.

        Args:
            stances: of the plan.
            reached: (nq,) postures of the stances as far as the steps go, from :meth:`posture`.
            made: steps between them.
            why: they don't go to the plan's end; empty where they do.
            seconds: that they took.
        """
        pause, now = self.settings.pause, 0.0
        steps: list[MotionStep] = []
        samples: list[tuple[float, BalancedSample]] = []
        for step, walked, rest in made:
            steps.append(replace(step, start=now))
            samples += [(now + at, sample) for at, sample in walked]
            waits = [0.0, pause] if pause else [0.0] * (len(steps) == len(stances) - 1)
            samples += [(now + step.duration + wait, rest) for wait in waits]
            now += step.duration + pause
        narrow = [str(step.transition.index) for step in steps if step.reserve < self.settings.reserve]
        less = f" Steps {', '.join(narrow)} keep a reserve of {1e3 * self._least:g} mm only." if narrow else ""
        return MotionResult(
            not why,
            why or f"Found: {len(steps)} steps in {now:.1f} s.{less}",
            self._trajectory(steps, samples) if steps else None,
            tuple(steps),
            tuple(stances[: len(steps) + bool(reached)]),
            tuple(reached[: len(steps) + 1]),
            seconds,
        )

    def posture(self, stance: Stance, q: Array, goal: Sequence[Task] = ()) -> Array | str:
        """(nq,) posture of a stance with the reserve, or the least one, near one of a plan; or why there is none."""
        whole, near = "", np.asarray(q, dtype=float)
        for postures in (self.postures, self.postures.with_reserve(self._least)):
            result = postures.regenerate(stance, near, goal)
            if result.success:
                # The solver's tolerance would be a jump from the end of a step to the beginning of the next one.
                placed = [(one.location, postures.placed(one).placement_ground_contact) for one in stance.contacts]
                exact = postures.pulled(result.q, placed)
                found = result.q if exact is None else exact
                if postures.reserve < self.settings.reserve:
                    self._narrow.add(found.tobytes())
                return found
            whole = whole or result.explanation
            if self._least == self.settings.reserve:
                break
        return (
            f"can't be had with a reserve of {self._least:g} m "
            f"and {self.settings.effort:.0%} of the effort limits: {whole}"
        )

    @property
    def _least(self) -> float:
        return min(self.settings.least_reserve, self.settings.reserve)

    def way(
        self,
        transition: Transition,
        first: Array,
        last: Array,
        *,
        straight: bool = True,
        searched: int | None = None,
        narrow: bool = True,
    ) -> FoundWay | str:
        """Return a way from one posture to the next, or why there is none.

        Args:
            transition: of the contacts.
            first: (nq,) posture of :meth:`posture` at its beginning.
            last: (nq,) likewise at its end.
            straight: try ways along the straight line between them.
            searched: postures of a search where there is none of these; None for those of the settings.
            narrow: try again with the least reserve where there is none with the whole one.
        """
        wanted = self.settings if searched is None else replace(self.settings, searched=searched)
        reserves = [] if {first.tobytes(), last.tobytes()} & self._narrow else [wanted.reserve]
        if not reserves or (narrow and self._least < wanted.reserve):
            reserves.append(self._least)
        why = ""
        for reserve in reserves:
            found = self._way(transition, first, last, straight, replace(wanted, reserve=reserve))
            if not isinstance(found, str):
                return found
            why = why or found
        return why

    def _way(
        self, transition: Transition, first: Array, last: Array, straight: bool, settings: MotionSettings
    ) -> FoundWay | str:
        watch, postures = self.postures.watch, self.postures.with_reserve(settings.reserve)

        def restless(path: ConfigurationPath) -> float | None:
            balanced, limits = self._balanced(transition, path, settings.reserve), self._limits()
            for s in map(float, _grid(path)):
                watch.check()
                if not rests(balanced.dynamics(s), limits):
                    return s
            return None

        found = find_step_path(postures, transition, first, last, settings, restless, straight=straight)
        return found if isinstance(found, str) else FoundWay(transition, *found, settings.reserve)

    def timed(self, way: FoundWay) -> MadeStep | str:
        """Return a way over time, or what keeps the robot from going it."""
        settings, (transition, path, searched, reserve) = self.settings, way
        balanced = self._balanced(transition, path, reserve)
        law = self._law(balanced, _grid(path))
        if isinstance(law, str):
            return law
        law = law.slower(settings.durations.get(transition.index, 0.0))
        samples = self._samples(balanced, law)
        for _ in range(_SLOWER):
            # Between grid points of a bent path the fastest law may ask a little more than at them.
            if not isinstance(samples, str):
                break
            law = law.slower(_STRETCH * law.duration)
            samples = self._samples(balanced, law)
        if isinstance(samples, str):
            return samples
        rest = balanced.sample(PathPlace(1.0, 0.0, 0.0))
        if rest is None:
            return "no forces within friction and efforts hold the robot at its end"
        walk = np.array([path.at(s) for s in _fine(path)])
        return MadeStep(MotionStep(transition, 0.0, law.duration, walk, searched, reserve), samples, rest)

    def _balanced(self, transition: Transition, path: ConfigurationPath, reserve: float) -> BalancedPath:
        held = [self.postures.placed(contact) for contact in transition.held.contacts]
        return BalancedPath(self.postures.robot, path, transition, held, 0.5 * reserve, self.settings.effort)

    def _samples(
        self, balanced: BalancedPath, law: TimeLaw | SinusoidalLaw
    ) -> list[tuple[float, BalancedSample]] | str:
        """Return samples at each control period, or what keeps the robot from them."""
        period = self.settings.period
        times = [*np.arange(0.0, law.duration - 0.5 * period, period), law.duration]
        samples: list[tuple[float, BalancedSample]] = []
        for at in times:
            self.postures.watch.check()
            sample = balanced.sample(law.at(float(at)))
            if sample is None:
                return f"no forces within friction and efforts carry the robot {at:.2f} s after its beginning"
            samples.append((float(at), sample))
        return samples

    def _limits(self) -> PathLimits:
        settings, limits = self.settings, self.postures.robot.limits
        speed = np.minimum(settings.speed * limits.velocity[6:], settings.joint_speed)
        return PathLimits(speed, np.full(len(speed), settings.acceleration), settings.effort * limits.effort[6:])

    def _law(self, balanced: BalancedPath, grid: Reals) -> TimeLaw | SinusoidalLaw | str:
        limits = self._limits()
        if self.settings.law == "sinusoidal":
            slopes = np.array([balanced.path.slope(s)[6:] for s in grid])
            return SinusoidalLaw(slopes, limits.speed, self.settings.period)
        law = fastest_law([balanced.dynamics(s) for s in grid], limits, self.postures.watch)
        if isinstance(law, TimeLaw):
            law = smoothed(law, _SMOOTHING)
            return law.slower(law.duration / self.settings.pace)
        return f"the time law stands still at {grid[law]:.0%} of the way"

    def _trajectory(
        self, steps: Sequence[MotionStep], samples: Sequence[tuple[float, BalancedSample]]
    ) -> WholeBodyTrajectory:
        ends = [step.start for step in steps[1:]] + [samples[-1][0]]
        return WholeBodyTrajectory(
            self.postures.robot,
            [at for at, _ in samples],
            [item.q for _, item in samples],
            [item.v for _, item in samples],
            [item.a for _, item in samples],
            list(_spans(steps, ends)),
            tau=[item.tau for _, item in samples],
            forces=[item.forces for _, item in samples],
            zero_moment_point=[item.zero_moment_point for _, item in samples],
        )


def _grid(path: ConfigurationPath) -> Reals:
    """(m,) even parameters for a time law."""
    return np.linspace(0.0, 1.0, int(np.clip(_way(path, 1.0, 1.0) / _GRID, _FEWEST, _MOST)) + 1)


def _fine(path: ConfigurationPath) -> Reals:
    """(k,) parameters of a walk that is verified, as near to each other as its steps may be long."""
    s = np.linspace(0.0, 1.0, 401)
    ways = np.array([_ways_at(path, float(x)) for x in s])
    dense = np.maximum(ways[:, 0] / _JOINT_STEP, ways[:, 1] / _BASE_STEP)
    # Between two of these the way may be faster than at both.
    dense = 1.05 * np.maximum(dense, np.maximum(np.roll(dense, 1), np.roll(dense, -1)))
    count = np.concatenate([[0.0], np.cumsum(0.5 * (dense[1:] + dense[:-1]) * np.diff(s))])
    return np.asarray(np.interp(np.linspace(0.0, count[-1], max(math.ceil(count[-1]), 1) + 1), count, s))


def _way(path: ConfigurationPath, joint: float, base: float) -> float:
    """Return how often the fastest joint goes a way, or the base another, if it went on as at its fastest."""
    ways = np.array([_ways_at(path, float(s)) for s in np.linspace(0.0, 1.0, 101)])
    return float(max(ways[:, 0].max() / joint, ways[:, 1].max() / base))


def _ways_at(path: ConfigurationPath, s: float) -> tuple[float, float]:
    """Speed per ds/dt of the fastest joint or the base's turn [rad], and of the base [m]."""
    slope = path.slope(s)
    return float(np.abs(slope[3:]).max()), float(np.linalg.norm(slope[:3]))


def _spans(steps: Sequence[MotionStep], ends: Sequence[float]) -> Iterator[ContactSpan]:
    """Contacts from the steps that hold them, each as long as it holds without a break."""
    held: dict[tuple[str, str, float, float, float], tuple[Contact, float]] = {}
    for step, end in zip(steps, ends, strict=True):
        now = {contact.place: contact for contact in step.transition.held.contacts}
        for key in [key for key in held if key not in now]:
            contact, start = held.pop(key)
            yield ContactSpan(contact, start, step.start)
        for key, contact in now.items():
            held.setdefault(key, (contact, step.start))
        last = end
    for contact, start in held.values():
        yield ContactSpan(contact, start, last)
