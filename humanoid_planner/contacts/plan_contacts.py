# SPDX-License-Identifier: Apache-2.0
"""Planning contacts: which location on which surface, in which order, with a posture at each step (Alg. 2)."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Collection, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from humanoid_model.contact import ContactKind, Stance
from humanoid_model.errors import InputError
from humanoid_model.progress import CancelledWorkError, ProgressCallback, Watch
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene
from humanoid_planner.contacts.best_first import BestFirstSearch, End, Node, load_tree, save_tree
from humanoid_planner.contacts.candidates import PredefinedCandidates
from humanoid_planner.contacts.contact_problem import ContactProblem
from humanoid_planner.contacts.contact_space import ContactSpace
from humanoid_planner.contacts.plan import ContactPlan, PlanStatistics, shorten, smooth
from humanoid_planner.contacts.posture_caller import PostureCaller, PostureWorkers
from humanoid_planner.contacts.search_volume import StancePosture
from humanoid_planner.contacts.stance import Couples, Hold, PlannedStance
from humanoid_planner.contacts.ways import Refusal, Ways
from humanoid_planner.motion.generate_motion import JOINT_MARGIN
from humanoid_planner.motion.motion import MotionSettings
from humanoid_planner.motion.stance_postures import POSTURES
from humanoid_planner.posture import Task, generate_posture
from humanoid_planner.posture.generate import solve_problem
from humanoid_planner.posture.problem import PostureProblem

#: Surfaces that an explanation names.
_TOLD = 3


class ContactPlanner:
    """A search for a plan that can be run, looked at, saved and run on.

    Attributes:
        space: what is searched.
        search: the tree.
        ways: between its postures, where a plan has to have a motion; None otherwise.
    """

    def __init__(
        self, problem: ContactProblem, *, motion: bool | MotionSettings = False, tree: str | Path | None = None
    ) -> None:
        """Take a planning problem.

        Args:
            problem: what is asked for.
            motion: find plans that have a motion, of such settings; postures keep its reserve from the start.
            tree: file of a search of the same problem that goes on.

        Raises:
            InputError: something can't be used, or there is no posture at the start.
        """
        robot, scene = problem.robot, problem.scene
        couples = Couples(robot, scene, problem.locations, problem.surfaces, problem.forbidden)
        if isinstance(problem.candidates, PredefinedCandidates):
            problem.candidates.check(couples)
        if not problem.goal:
            raise InputError("is empty", element="goal", remedy="Give at least one task of the last posture")
        q = robot.default_posture if problem.start_posture is None else np.asarray(problem.start_posture, dtype=float)
        _check_goal(robot, scene, [*problem.goal, *problem.tasks], q)
        wanted = problem.of_postures()
        settings = MotionSettings() if motion is True else motion or None
        self.ways = None if settings is None else Ways(problem, couples, settings)
        caller = PostureCaller(robot, scene, wanted, problem.options, problem.stance_tasks)
        if settings is not None:
            wanted = replace(wanted, joint_margin=max(wanted.joint_margin, JOINT_MARGIN), torque_limits=True)
            caller = replace(caller, wanted=wanted, reserve=settings.reserve, effort=POSTURES * settings.effort)
        clear = None if self.ways is None else self.ways.clear
        self.space = ContactSpace(couples, caller, problem, _held_at_goal(problem.goal_holds, couples), clear)
        self._name = f"{robot.name} in {scene.name}"
        #: Plans with a way whose search was put off, and what was cut off with it.
        self._put_off: list[tuple[list[Node[StancePosture]], Refusal, list[Node[StancePosture]]]] = []
        if tree is not None:
            self.search: BestFirstSearch[StancePosture] = load_tree(self.space, tree, self._name)
            return
        first = _planned(problem.start, couples)
        result = caller.call("start", first.stance(couples), q)
        if not result.success:
            # The same again with the generator's own patience, which also says why.
            made = PostureProblem(robot, first.stance(couples), wanted, start=q)
            whole = solve_problem(made, q)
            if not whole.success:
                raise InputError(f"has no posture: {whole.explanation}", element="start")
            result = whole
        self.search = BestFirstSearch(self.space, StancePosture(first, result.q), problem.max_potential)

    def run(
        self,
        *,
        time_limit: float = math.inf,
        max_nodes: float = math.inf,
        progress: ProgressCallback | None = None,
        executor: Executor | None = None,
    ) -> ContactPlan:
        """Search until the goal is reached or a limit ends it; goes on where the last run ended.

        Args:
            time_limit: of this run [s].
            max_nodes: in the tree.
            progress: told before every posture that is sought, and now and then meanwhile; returns True to cancel.
            executor: whose workers seek the postures of a node's children; the plan is the same.

        Raises:
            InputError: the problem can't be sent to the workers.
            WorkerError: one died; the search is as it was before that node, and can be saved or run on.
        """
        self.space.workers = None if executor is None else PostureWorkers(executor, self.space.caller)
        finish = time.perf_counter() + time_limit
        while True:
            left = finish - time.perf_counter()
            end = self.search.run(time_limit=left, max_nodes=max_nodes, progress=progress)
            watch = Watch(progress, finish - time.perf_counter())
            try:
                if self.ways is None or not self._goes_on(self.ways, end, watch):
                    return self._plan(end)
            except CancelledWorkError:
                return self._plan(End.CANCELLED if time.perf_counter() < finish else End.TIME)

    def _goes_on(self, ways: Ways, end: End, watch: Watch) -> bool:
        """Ask for the ways of the plan that was found; return whether the search goes on, one of them being refused.

        Where nothing else is left, searches for ways that were put off are made up for.
        """
        if end is End.GOAL:
            path = self.search.path()
            refusal = ways.refusal([node.state for node in path], watch)
            if refusal is None:
                return False
            cut = self.search.close(path[refusal.edge + 1])
            if refusal.put_off:
                self._put_off.append((path, refusal, cut))
            return True
        while end in (End.EMPTY, End.NODES) and self._put_off:
            # The one that was nearest to having a motion first.
            path, refusal, cut = self._put_off.pop()
            if not path[refusal.edge].closed and ways.search([node.state for node in path], refusal, watch):
                self.search.reopen(cut, path[-1])
                return True
        return False

    def plan(self) -> ContactPlan:
        """Return the plan to the goal or to the best node so far; may be asked while the search runs, by any thread."""
        return self._plan(End.CANCELLED)

    @property
    def statistics(self) -> PlanStatistics:
        """What the search took so far; its time is that of the runs that have ended."""
        search, space = self.search, self.space
        ways = () if self.ways is None else tuple(self.ways.calls)
        spent = search.time + sum(call.time for call in ways)
        return PlanStatistics(len(search.nodes), search.expanded, space.counts, tuple(space.caller.calls), spent, ways)

    def shortened(self, *, time_limit: float = math.inf, progress: ProgressCallback | None = None) -> ContactPlan:
        """Return the plan so far without the contacts that it can do without, as far as a time [s] allows."""
        watch, states = Watch(progress, time_limit), [node.state for node in self.search.path()]
        return self._tidied(End.CANCELLED, states, shorten(states, self.space, watch), watch)

    def smoothed(
        self,
        plan: ContactPlan | None = None,
        *,
        time_limit: float = math.inf,
        progress: ProgressCallback | None = None,
    ) -> ContactPlan:
        """Return a plan, None for that so far, with its postures nearer to each other, as far as a time [s] allows."""
        plan, watch = self.plan() if plan is None else plan, Watch(progress, time_limit)
        at_goal = [plan.success and index == len(plan) - 1 for index in range(len(plan))]
        states = [StancePosture(*given) for given in zip(plan.planned, plan.postures, at_goal, strict=True)]
        return self._tidied(plan.end, states, smooth(states, self.space, watch), watch)

    def _tidied(
        self, end: End, before: list[StancePosture], states: list[StancePosture], watch: Watch
    ) -> ContactPlan:
        """Return the plan of other states; where one of these has no way to the next, that of those before."""
        if self.ways is not None and self.search.goal is not None:
            try:
                states = before if self.ways.refusal(states, watch) else states
            except CancelledWorkError:
                states = before
        return self._plan(end, [(state, self.space.potential(state)) for state in states])

    def save(self, path: str | Path) -> None:
        """Write the tree, for ``tree`` of a planner of the same problem."""
        save_tree(self.search, path, self._name)

    def _plan(self, end: End, way: list[tuple[StancePosture, float]] | None = None) -> ContactPlan:
        """Return the plan of a way, None for the search's; ``end`` tells why it isn't one if it isn't."""
        search, space = self.search, self.space
        # Potentials are those of the nodes: finding them again would move the robot that the search works with.
        way = [(node.state, node.potential) for node in search.path()] if way is None else way
        states = [state for state, _ in way]
        lacking = 0 if self.ways is None else self.ways.lacking(states)
        success = search.goal is not None and not lacking
        why = f"Found: {End.GOAL.value}."
        if success:
            end = End.GOAL
        elif search.goal is not None:
            why = f"No plan: {end.value}. The goal is reached, but {lacking} of {len(way) - 1} ways aren't known yet."
        else:
            why = self._why(end)
        return ContactPlan(
            success,
            end,
            why,
            tuple(state.stance for state in states),
            tuple(state.stance.stance(space.couples) for state in states),
            tuple(state.q for state in states),
            tuple(potential for _, potential in way),
            self.statistics,
            None if self.ways is None else self.ways.motion(states, "" if success else why),
        )

    def _why(self, end: End) -> str:
        """Return what keeps the nearest stance from the goal."""
        space, best = self.space, self.search.best
        if best.index not in space.far_from_goal and end in (End.EMPTY, End.NODES):
            space.finish(best, lambda: False)
        stance = best.state.stance.settled().stance(space.couples)
        names = ", ".join(f"{contact.location.name} on {contact.surface.name}" for contact in stance.contacts)
        why = space.far_from_goal.get(best.index)
        said = "wasn't asked for the goal yet" if why is None else f"doesn't allow the goal: {why}"
        unheld = self._unheld()
        refused = "" if self.ways is None or not self.ways.refusals else f" {self._refusal(self.ways.refusals)}"
        return f"No plan: {end.value}. The nearest stance ({names}) {said}.{unheld}{refused}"

    def _refusal(self, refusals: Sequence[Refusal]) -> str:
        """Return which stance couldn't be left: the one farthest on."""
        last = max(refusals, key=lambda one: one.edge)
        return f"{len(refusals)} plans had a step without a way, the farthest of them {last.label}: {last.why}."

    def _unheld(self) -> str:
        """Return which surfaces no stance holds on, and what keeps the robot off."""
        space, refusals = self.space, self.space.refusals.copy()
        told: list[str] = []
        couples = space.couples
        held = {hold.couple % len(couples.surfaces) for node in self.search.nodes for hold in node.state.stance.holds}
        for index in sorted({couple % len(couples.surfaces) for couple in couples.allowed} - held):
            name = couples.surfaces[index].name
            reasons = Counter({why: n for (surface, why), n in refusals.items() if surface == name})
            of_surface = [couple for couple in couples.allowed if couple % len(couples.surfaces) == index]
            never = [space.candidates.why_none(couples, couple) for couple in of_surface]
            if all(never):
                told.append(f"{name} ({', '.join(dict.fromkeys(never))})")
            elif reasons:
                [(why, count)] = reasons.most_common(1)
                told.append(f"{name} ({why}, {count} of {reasons.total()} times)")
            else:
                told.append(f"{name} (never within reach)")
        more = f" and {len(told) - _TOLD} more" if len(told) > _TOLD else ""
        return f" Nothing holds on {', '.join(told[:_TOLD])}{more}." if told else ""


def plan_contacts(
    problem: ContactProblem,
    *,
    motion: bool | MotionSettings = False,
    time_limit: float = math.inf,
    max_nodes: float = math.inf,
    progress: ProgressCallback | None = None,
    executor: Executor | None = None,
) -> ContactPlan:
    """Find stances and postures from a start to a goal.

    Args:
        problem: what is asked for.
        motion: find a plan that has a motion, and return it with that; True, or settings of the motion. A step without
            a way is cut off, and the search goes on.
        time_limit: [s].
        max_nodes: in the tree.
        progress: told before every posture that is sought, and now and then meanwhile; returns True to cancel.
        executor: whose workers seek the postures of a node's children; the plan is the same.

    Returns:
        The plan; without success, that to the stance of lowest potential, with the reason.

    Raises:
        InputError: something can't be used, or there is no posture at the start.
        WorkerError: a worker of the executor died; see :class:`ContactPlanner` for a search that outlives that.
    """
    planner = ContactPlanner(problem, motion=motion)
    return planner.run(time_limit=time_limit, max_nodes=max_nodes, progress=progress, executor=executor)


def _check_goal(robot: Robot, scene: Scene, tasks: Sequence[Task], q: NDArray[np.float64]) -> None:
    """Raise an InputError for tasks that no posture fulfils, whatever it holds; it takes milliseconds from (nq,) q."""
    found = generate_posture(robot, Stance(()), initial=q, scene=scene, tasks=tasks, stability="none")
    if found.conflicting:
        raise InputError(f"no posture fulfils it, whatever it holds. {found.explanation}".rstrip("."), element="goal")


def _held_at_goal(pairs: Collection[tuple[str, str]], couples: Couples) -> frozenset[int]:
    """Return the couples that hold at the end.

    Raises:
        InputError: one that isn't planned with or is forbidden, or two of a link.
    """
    held: dict[str, str] = {}
    for location, surface in pairs:
        couple = couples.number_of(location, surface, "goal_holds")
        name, link = f"{location} on {surface}", couples.location(couple).link
        if couple not in couples.allowed:
            raise InputError(f"{name} is forbidden", element="goal_holds", remedy="Allow it, or leave it out")
        if held.setdefault(link, name) != name:
            raise InputError(
                f"{held[link]} and {name} are both of {link}", element="goal_holds", remedy="Give one pair of each link"
            )
    return frozenset(couples.number_of(*pair) for pair in pairs)


def _planned(start: Stance, couples: Couples) -> PlannedStance:
    """Return a stance in the planner's terms.

    Raises:
        InputError: no contact, two of a link, one of a couple that isn't planned with, or of a kind that doesn't hold
            still.
    """
    if not start.contacts:
        raise InputError("has no contact", element="start", remedy="Give the contacts that the robot begins on")
    holding: dict[str, str] = {}
    for contact in start.contacts:
        name, link = contact.location.name, contact.location.link
        if link in holding:
            raise InputError(
                f"holds {holding[link]} and {name}, which are both of {link}",
                element="start",
                remedy="Give one contact of each link: children gain none on a link that holds",
            )
        holding[link] = name
        if contact.kind is not ContactKind.FIXED:
            raise InputError(
                f"holds {contact.location.name} as {contact.kind.name}", element="start", remedy="Give FIXED contacts"
            )
    return PlannedStance(
        tuple(
            Hold(couples.number_of(contact.location.name, contact.surface.name), contact.x, contact.y, contact.theta)
            for contact in start.contacts
        )
    )
