# SPDX-License-Identifier: Apache-2.0
"""Ways along the edges of a candidate plan, asked when it is found, the least likely first (LazySP, Dellin 2016)."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_model.progress import Progress, Watch
from humanoid_planner.contacts.contact_problem import ContactProblem
from humanoid_planner.contacts.search_volume import StancePosture
from humanoid_planner.contacts.stance import Couples, PlannedStance
from humanoid_planner.motion.generate_motion import MadeStep, MotionMaker
from humanoid_planner.motion.motion import MotionResult, MotionSettings, Transition, find_transitions
from humanoid_planner.motion.step_path import blocked_ways
from humanoid_planner.posture.tasks.collision_task import CollisionTask

#: What tells postures of stances apart.
_Key = tuple[PlannedStance, bytes, bool]


@dataclass(frozen=True)
class WayCall:
    """One question for a way.

    Attributes:
        label: what moves.
        refusal: why there is none; empty where there is one.
        time: wall-clock time that it took [s].
    """

    label: str
    refusal: str
    time: float


@dataclass(frozen=True)
class Refusal:
    """An edge of a plan without a way.

    Attributes:
        edge: index of the stance that can't be left.
        label: what would move.
        why: there is no way.
    """

    edge: int
    label: str
    why: str


class Ways:
    """Ways between postures of one problem, each asked once and kept.

    Postures of a plan are found with the reserve of its motion; here they are brought to those of the motion, which
    keep more where they can. A motion's step needs no test of a shared centre of mass: each posture balances on a part
    of the contacts that hold all the while, and what balances is convex.

    Attributes:
        calls: questions in their order.
        refusals: edges of candidate plans that have no way, in their order.
    """

    def __init__(self, problem: ContactProblem, couples: Couples, settings: MotionSettings) -> None:
        """Take a problem and how its motion is to be.

        Raises:
            InputError: durations or points of steps are given, whose indices nobody knows yet, or distances of one's
                own.
        """
        if settings.durations or settings.via:
            raise InputError(
                "are given by the index of a step",
                element="durations and via",
                remedy="Give them to generate_motion with a plan that is known",
            )
        if isinstance(problem.collisions, CollisionTask):
            raise InputError(
                "is a CollisionTask",
                element="collisions",
                remedy="Give a CollisionModel: a motion has distances for each of its stances",
            )
        self._couples, self._goal = couples, problem.goal
        wanted = {"friction": problem.friction, "loads": problem.loads, "gravity": problem.gravity}
        self.maker = MotionMaker.of(problem.robot, problem.scene, settings, problem.collisions, problem.tasks, **wanted)
        self.calls: list[WayCall] = []
        self.refusals: list[Refusal] = []
        self._postures: dict[_Key, NDArray[np.float64] | str] = {}
        self._steps: dict[tuple[_Key, _Key], MadeStep | str] = {}
        self._doubts: dict[tuple[_Key, _Key], tuple[int, float]] = {}
        self._moved: set[tuple[_Key, _Key, bool]] = set()

    def refusal(self, states: Sequence[StancePosture], watch: Watch) -> Refusal | None:
        """Ask for the ways of a plan until one is refused; those that are found are kept.

        The edges on which most paths of the moving body are blocked come first, then those whose postures are farther
        apart: what is likely to be refused is so before time is spent on the others.

        Args:
            states: of a plan.
            watch: that ends it.

        Raises:
            CancelledWorkError: the watch ended it.
        """
        self.maker.postures.watch = watch
        edges = list(itertools.pairwise(states))
        while lacking := [index for index, pair in enumerate(edges) if not self._known(*pair)]:
            index = min(lacking, key=lambda index: self._doubt(*edges[index]))
            label = self._transition(*edges[index], index).label
            watch.tell(Progress(f"way of {label}", index / len(edges), index))
            found = self._ask(*edges[index], label, index == 0)
            if isinstance(found, str):
                self.refusals.append(Refusal(index, label, found))
                return self.refusals[-1]
        return None

    def _known(self, first: StancePosture, last: StancePosture) -> bool:
        return isinstance(self._steps.get((_key(first), _key(last))), MadeStep)

    def lacking(self, states: Sequence[StancePosture]) -> int:
        """Return how many ways of a plan aren't known."""
        return sum(not self._known(*pair) for pair in itertools.pairwise(states))

    def motion(self, states: Sequence[StancePosture], why: str) -> MotionResult:
        """Return the motion of a plan as far as its ways are known; ``why`` they don't go on, empty where they do."""
        steps: list[MadeStep] = []
        for index, pair in enumerate(itertools.pairwise(map(_key, states))):
            found = self._steps.get(pair)
            if not isinstance(found, MadeStep):
                break
            transition = replace(found.step.transition, index=index)
            steps.append(found._replace(step=replace(found.step, transition=transition)))
        reached = [self._postures.get(_key(state), "") for state in states[: len(steps) + 1]]
        stances = [state.stance.stance(self._couples) for state in states]
        seconds = sum(call.time for call in self.calls)
        return self.maker.motion(stances, [q for q in reached if not isinstance(q, str)], steps, why, seconds)

    def _doubt(self, first: StancePosture, last: StancePosture) -> tuple[int, float]:
        """Return what sorts a way that is likely to be refused first."""
        pair = _key(first), _key(last)
        if pair not in self._doubts:
            postures, transition = self.maker.postures, self._transition(first, last, 0)
            blocked = blocked_ways(postures, transition, first.q, last.q, self.maker.settings)
            far = float(np.linalg.norm(pin.difference(postures.robot.model, first.q, last.q)))
            self._doubts[pair] = -blocked, -far
        return self._doubts[pair]

    def _transition(self, first: StancePosture, last: StancePosture, index: int) -> Transition:
        [transition] = find_transitions([state.stance.stance(self._couples) for state in (first, last)])
        return replace(transition, index=index)

    def _ask(self, first: StancePosture, last: StancePosture, label: str, begins: bool) -> MadeStep | str:
        pair = _key(first), _key(last)
        if pair not in self._steps:
            began, why = time.perf_counter(), "it wasn't asked to the end"
            try:
                found = self._step(first, last, begins)
                self._steps[pair] = found
                why = found if isinstance(found, str) else ""
            finally:
                self.calls.append(WayCall(label, why, time.perf_counter() - began))
        return self._steps[pair]

    def _step(self, first: StancePosture, last: StancePosture, begins: bool) -> MadeStep | str:
        """Return a step between two states, the first of which begins the plan or not; or why there is none.

        Straight ways come first, then those between postures that are nearer to each other, then a search.
        """
        start, end = self._posture(first), self._posture(last)
        if isinstance(start, str) or isinstance(end, str):
            return f"a posture {start if isinstance(start, str) else end}"
        transition = self._transition(first, last, 0)
        found = self.maker.step(transition, start, end, search=False)
        if isinstance(found, MadeStep):
            return found
        for at_end in (True, False)[: 1 if begins else 2]:
            moved = self._nearer(first, last, at_end)
            if moved is not None:
                return moved
        searched = self.maker.step(transition, start, end, straight=False)
        return searched if isinstance(searched, MadeStep) else f"{found}; {searched}" if searched else found

    def _nearer(self, first: StancePosture, last: StancePosture, at_end: bool) -> MadeStep | None:
        """Return a step to or from a posture of the same stance that is near to the one at the other end.

        The posture is that of its state from then on: what was found from or to the one before is asked again.
        """
        kept, moved = (first, last) if at_end else (last, first)
        tried = _key(first), _key(last), at_end
        if tried in self._moved:
            return None
        self._moved.add(tried)
        other = self._posture(kept)
        assert not isinstance(other, str)
        goal = self._goal if moved.at_goal else ()
        found = self.maker.posture(moved.stance.stance(self._couples), other, goal)
        if isinstance(found, str):
            return None
        ends = (other, found) if at_end else (found, other)
        step = self.maker.step(self._transition(first, last, 0), *ends, search=False)
        if isinstance(step, str):
            return None
        key = _key(moved)
        self._postures[key] = found
        self._steps = {
            pair: made for pair, made in self._steps.items() if key not in pair or not isinstance(made, MadeStep)
        }
        return step

    def _posture(self, state: StancePosture) -> NDArray[np.float64] | str:
        """(nq,) posture of the motion, near a state's, or why there is none."""
        key = _key(state)
        if key not in self._postures:
            goal = self._goal if state.at_goal else ()
            self._postures[key] = self.maker.posture(state.stance.stance(self._couples), state.q, goal)
        return self._postures[key]


def _key(state: StancePosture) -> _Key:
    return state.stance, state.q.tobytes(), state.at_goal
