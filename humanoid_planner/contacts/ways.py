# SPDX-License-Identifier: Apache-2.0
"""Ways along the edges of a candidate plan, asked when it is found, the least likely first (LazySP, Dellin 2016)."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.contact import Contact
from humanoid_model.errors import InputError
from humanoid_model.progress import Progress, Watch
from humanoid_planner.contacts.contact_problem import ContactProblem
from humanoid_planner.contacts.search_volume import StancePosture
from humanoid_planner.contacts.stance import Couples, PlannedStance, wrapped
from humanoid_planner.motion.generate_motion import FoundWay, MadeStep, MotionMaker
from humanoid_planner.motion.motion import Case, MotionResult, MotionSettings, Transition, find_transitions
from humanoid_planner.motion.step_path import any_way_clear, blocked_ways
from humanoid_planner.posture.tasks.collision_task import CollisionTask

_Edge = tuple[StancePosture, StancePosture]
#: What tells postures of stances apart, and edges.
_Key = tuple[PlannedStance, bytes, bool]
_Pair = tuple[_Key, _Key]
#: Steps of the same contacts so near to each other [m], [rad] are alike.
_NEAR, _NEAR_TURN = 0.15, 0.3
#: A search has all its patience once so many steps alike were refused; each one before halves it.
_PATIENT = 4


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
        put_off: whether a search that is more patient may find one.
    """

    edge: int
    label: str
    why: str
    put_off: bool


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
        self._refused: list[Transition] = []
        self._asked: dict[_Pair, int] = {}
        self._postures: dict[_Key, NDArray[np.float64] | str] = {}
        self._ways: dict[_Pair, FoundWay | MadeStep] = {}
        self._doubts: dict[_Pair, tuple[int, float]] = {}
        self._moved: set[tuple[_Key, _Key, bool]] = set()

    def clear(self, state: StancePosture, stance: PlannedStance) -> bool:
        """Return whether the body that comes has a path clear of the scene's true shapes; takes milliseconds.

        Args:
            state: that it comes from.
            stance: with the contact that it makes.
        """
        transition = self._transition(state.stance, stance, 0)
        if transition.arriving is None:
            return True
        if transition.case is Case.LEFT_AND_CAME:  # where the other body goes isn't known yet
            transition = replace(transition, leaving=None)
        return any_way_clear(self.maker.postures, transition, state.q, state.q, self.maker.settings)

    def refusal(self, states: Sequence[StancePosture], watch: Watch) -> Refusal | None:
        """Ask for the ways of a plan until one is refused; those that are found are kept.

        The edges on which most paths of the moving body are blocked come first, then those whose postures are farther
        apart: what is likely to be refused is so before time is spent on the others. A search is the more patient, the
        more steps like this one were refused before: other footholds cost less. Time laws come when all ways are there.

        Args:
            states: of a plan.
            watch: that ends it.

        Raises:
            CancelledWorkError: the watch ended it.
        """
        self.maker.postures.watch = watch
        edges = list(itertools.pairwise(states))
        while lacking := [index for index, edge in enumerate(edges) if _pair(edge) not in self._ways]:
            index = min(lacking, key=lambda index: self._doubt(edges[index]))
            transition = self._of(edges[index], index)
            alike = sum(_alike(transition, other) for other in self._refused)
            searched = self.maker.settings.searched >> max(_PATIENT - alike, 0) if alike else 0
            why = self._ask(edges[index], transition, watch, searched)
            if why:
                self._refused.append(transition)
                return self._refusal(transition, why, searched)
        for index, edge in enumerate(edges):
            found = self._ways[_pair(edge)]
            if isinstance(found, FoundWay):
                began, transition = time.perf_counter(), self._of(edge, index)
                watch.tell(Progress(f"time law of {transition.label}", index / len(edges), index))
                made = self.maker.timed(found)
                self._record(edge, transition, made if isinstance(made, str) else "", began)
                if isinstance(made, str):
                    return self._refusal(transition, made, self.maker.settings.searched)
                self._ways[_pair(edge)] = made
        return None

    def search(self, states: Sequence[StancePosture], refused: Refusal, watch: Watch) -> bool:
        """Search for a way that was refused before with all patience; see :meth:`refusal`."""
        self.maker.postures.watch = watch
        edge = states[refused.edge], states[refused.edge + 1]
        return not self._ask(edge, self._of(edge, refused.edge), watch, self.maker.settings.searched)

    def _refusal(self, transition: Transition, why: str, searched: int) -> Refusal:
        put_off = searched < self.maker.settings.searched
        self.refusals.append(Refusal(transition.index, transition.label, why, put_off))
        return self.refusals[-1]

    def lacking(self, states: Sequence[StancePosture]) -> int:
        """Return how many ways of a plan aren't known."""
        return sum(not isinstance(self._ways.get(_pair(edge)), MadeStep) for edge in itertools.pairwise(states))

    def motion(self, states: Sequence[StancePosture], why: str) -> MotionResult:
        """Return the motion of a plan as far as its ways are known; ``why`` they don't go on, empty where they do."""
        steps: list[MadeStep] = []
        for index, edge in enumerate(itertools.pairwise(states)):
            found = self._ways.get(_pair(edge))
            if not isinstance(found, MadeStep):
                break
            transition = replace(found.step.transition, index=index)
            steps.append(found._replace(step=replace(found.step, transition=transition)))
        reached = [self._postures.get(_key(state), "") for state in states[: len(steps) + 1]]
        stances = [state.stance.stance(self._couples) for state in states]
        seconds = sum(call.time for call in self.calls)
        return self.maker.motion(stances, [q for q in reached if not isinstance(q, str)], steps, why, seconds)

    def _doubt(self, edge: _Edge) -> tuple[int, float]:
        """Return what sorts a way that is likely to be refused first."""
        if _pair(edge) not in self._doubts:
            (first, last), postures = edge, self.maker.postures
            blocked = blocked_ways(postures, self._of(edge, 0), first.q, last.q, self.maker.settings)
            far = float(np.linalg.norm(pin.difference(postures.robot.model, first.q, last.q)))
            self._doubts[_pair(edge)] = -blocked, -far
        return self._doubts[_pair(edge)]

    def _of(self, edge: _Edge, index: int) -> Transition:
        return self._transition(edge[0].stance, edge[1].stance, index)

    def _transition(self, first: PlannedStance, last: PlannedStance, index: int) -> Transition:
        [transition] = find_transitions([stance.stance(self._couples) for stance in (first, last)])
        return replace(transition, index=index)

    def _ask(self, edge: _Edge, transition: Transition, watch: Watch, searched: int) -> str:
        """Ask for a way and keep it; return why there is none."""
        watch.tell(Progress(f"way of {transition.label}", None, transition.index))
        began, why = time.perf_counter(), "it wasn't asked to the end"
        try:
            found = self._way(edge, transition, searched)
            why = found if isinstance(found, str) else ""
        finally:
            self._record(edge, transition, why, began)
        if not isinstance(found, str):
            self._ways[_pair(edge)] = found
        return why

    def _record(self, edge: _Edge, transition: Transition, why: str, began: float) -> None:
        """Count a question for a way; its time law is part of it."""
        call = WayCall(transition.label, why, time.perf_counter() - began)
        index = self._asked.setdefault(_pair(edge), len(self.calls))
        if index < len(self.calls):
            self.calls[index] = replace(call, time=self.calls[index].time + call.time)
        else:
            self.calls.append(call)

    def _way(self, edge: _Edge, transition: Transition, searched: int) -> FoundWay | str:
        """Return a way between two states, or why there is none.

        Straight ways come first, then those between postures that are nearer to each other, then a search.
        """
        first, last = edge
        start, end = self._posture(first), self._posture(last)
        if isinstance(start, str) or isinstance(end, str):
            return f"a posture {start if isinstance(start, str) else end}"
        found = self.maker.way(transition, start, end, searched=0, narrow=False)
        if not isinstance(found, str):
            return found
        for at_end in (True, False)[: 2 if transition.index else 1]:
            moved = self._nearer(edge, transition, at_end)
            if moved is not None:
                return moved
        if not searched:
            return found
        whole = searched == self.maker.settings.searched
        way = self.maker.way(transition, start, end, straight=whole, searched=searched, narrow=whole)
        return way if not isinstance(way, str) else f"{found}; {way}"

    def _nearer(self, edge: _Edge, transition: Transition, at_end: bool) -> FoundWay | None:
        """Return a way to or from a posture of the same stance that is near to the one at the other end.

        The posture is that of its state from then on: what was found from or to the one before is asked again.
        """
        kept, moved = edge if at_end else edge[::-1]
        if (*_pair(edge), at_end) in self._moved:
            return None
        self._moved.add((*_pair(edge), at_end))
        other = self._posture(kept)
        assert not isinstance(other, str)
        goal = self._goal if moved.at_goal else ()
        found = self.maker.posture(moved.stance.stance(self._couples), other, goal)
        if isinstance(found, str):
            return None
        ends = (other, found) if at_end else (found, other)
        way = self.maker.way(transition, *ends, searched=0, narrow=False)
        if isinstance(way, str):
            return None
        key = _key(moved)
        self._postures[key] = found
        self._ways = {pair: known for pair, known in self._ways.items() if key not in pair}
        return way

    def _posture(self, state: StancePosture) -> NDArray[np.float64] | str:
        """(nq,) posture of the motion, near a state's, or why there is none."""
        key = _key(state)
        if key not in self._postures:
            goal = self._goal if state.at_goal else ()
            self._postures[key] = self.maker.posture(state.stance.stance(self._couples), state.q, goal)
        return self._postures[key]


def _key(state: StancePosture) -> _Key:
    return state.stance, state.q.tobytes(), state.at_goal


def _pair(edge: _Edge) -> _Pair:
    return _key(edge[0]), _key(edge[1])


def _alike(one: Transition, other: Transition) -> bool:
    """Return whether the same contacts change at about the same places."""
    return all(
        _same_place(*pair) for pair in ((one.leaving, other.leaving), (one.arriving, other.arriving))
    )


def _same_place(one: Contact | None, other: Contact | None) -> bool:
    """Return whether two contacts, or none, are of the same location on the same surface, near each other."""
    if one is None or other is None:
        return one is other
    if (one.location.name, one.surface.name) != (other.location.name, other.surface.name):
        return False
    return math.hypot(one.x - other.x, one.y - other.y) < _NEAR and abs(wrapped(one.theta - other.theta)) < _NEAR_TURN
