# SPDX-License-Identifier: Apache-2.0
"""Planning contacts: which location on which surface, in which order, with a posture at each step (Alg. 2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.contact import ContactKind, Stance
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene
from humanoid_planner.contacts.contact_space import ContactSpace, StancePosture
from humanoid_planner.contacts.plan import ContactPlan, PlanStatistics
from humanoid_planner.contacts.posture_caller import PostureCaller, TasksOfStance
from humanoid_planner.contacts.potentials.stance_terms import StanceTerm
from humanoid_planner.contacts.search.best_first import BestFirstSearch, End, SearchWatch
from humanoid_planner.contacts.search.tree_file import load_tree, save_tree
from humanoid_planner.contacts.shorten import shorten
from humanoid_planner.contacts.stances.candidates import (
    Candidates,
    PredefinedCandidates,
    SearchVolumes,
)
from humanoid_planner.contacts.stances.couples import Couples
from humanoid_planner.contacts.stances.planned_stance import Hold, PlannedStance
from humanoid_planner.contacts.stances.stance_set import StanceMetric
from humanoid_planner.optimisation.result import SolverOptions
from humanoid_planner.posture import CollisionModel, Criterion, Task, generate_posture

#: What one posture may take. The iterations decide, so that a plan is the same on a busy machine.
POSTURE = SolverOptions(max_iterations=40, time_limit=5.0)


class ContactPlanner:
    """A search for a plan that can be run, looked at, saved and run on.

    Attributes:
        space: what is searched.
        search: the tree.
    """

    def __init__(
        self,
        robot: Robot,
        scene: Scene,
        start: Stance,
        goal: Sequence[Task],
        *,
        locations: Sequence[str],
        candidates: Candidates | SearchVolumes,
        method: str = "bfp",
        potential: Criterion | None = None,
        terms: Sequence[StanceTerm] = (),
        criterion: Criterion | None = None,
        surfaces: Sequence[str] | None = None,
        forbidden: Collection[tuple[str, str]] = (),
        posture: ArrayLike | None = None,
        tasks: TasksOfStance = (),
        collisions: bool | CollisionModel = True,
        metric: StanceMetric | None = None,
        threshold: float = math.inf,
        seed: int = 0,
        pre_contact: bool | None = None,
        reach: bool = True,
        balance: bool = True,
        goal_below: float = math.inf,
        way_exists: Callable[[StancePosture, StancePosture], bool] | None = None,
        goal_way_exists: Callable[[StancePosture, StancePosture], bool] | None = None,
        options: SolverOptions | None = None,
        tree: str | Path | None = None,
        **problem: Any,
    ) -> None:
        """Takes a planning problem.

        Args:
            robot: that moves.
            scene: around it, fixed.
            start: contacts at the beginning, all bearing.
            goal: tasks of the last posture.
            locations: names of the robot's locations that may hold.
            candidates: where couples may hold.
            method: "bfp" takes all sons of a stance, "vbfp" the best one of each couple, which needs search volumes.
            potential: U_T of the posture, which guides the search; None for zero.
            terms: U_S, bonus and malus of the stance.
            criterion: of all postures; None for ``potential``, as VBFP needs it.
            surfaces: names of surfaces that may be held on; None for all.
            forbidden: pairs of a location's or link's name and a surface's that must not hold.
            posture: (nq,) at the beginning, or near it; None takes the robot's usual one.
            tasks: that all postures fulfil, or what makes them for a stance.
            collisions: keep clear of itself and of the scene; a model made before, or False for the thesis' first
                scenarios.
            metric: equality of stances.
            threshold: M; nodes of this potential and above are left out.
            seed: of random candidates; the plan is the same for a seed.
            pre_contact: ask first whether a location comes near its surface; None does with search volumes.
            reach: leave out stances whose contacts are proved to be too far apart.
            balance: leave out stances whose bearing contacts are proved not to carry the robot.
            goal_below: U_T at and above which a node isn't tried for the goal.
            way_exists: tells whether there is a way from a node to its son; None for always.
            goal_way_exists: likewise from a node to its goal posture.
            options: of the solver for each posture.
            tree: file of a search of the same problem that goes on.
            **problem: what else postures fulfil, see :class:`humanoid_planner.posture.PostureProblem`.

        Raises:
            InputError: something can't be used, or there is no posture at the start.
        """
        couples = Couples(robot, scene, locations, surfaces, forbidden)
        if isinstance(candidates, PredefinedCandidates):
            candidates.check(couples)
        if not goal:
            raise InputError("is empty", element="goal", remedy="Give at least one task of the last posture")
        model = CollisionModel(robot, scene) if collisions is True else (collisions or None)
        caller = PostureCaller(
            robot,
            scene,
            potential if criterion is None else criterion,
            tasks,
            model,
            options or POSTURE,
            problem,
        )
        self.space = ContactSpace(
            couples,
            caller,
            candidates,
            potential,
            terms,
            goal,
            metric or StanceMetric(),
            method,
            seed,
            isinstance(candidates, SearchVolumes) if pre_contact is None else pre_contact,
            reach,
            balance,
            goal_below,
            way_exists,
            goal_way_exists,
        )
        self._name = f"{robot.name} in {scene.name}"
        if tree is not None:
            self.search: BestFirstSearch[StancePosture] = load_tree(self.space, tree, self._name)
            return
        first = _planned(start, couples)
        q = robot.default_posture if posture is None else np.asarray(posture, dtype=float)
        result = caller.call("start", first.stance(couples), q)
        if not result.success:
            # The same again with the generator's own patience, which also says why.
            whole = generate_posture(
                robot, first.stance(couples), initial=q, scene=scene, criterion=caller.criterion,
                collisions=model or False, **problem,
            )  # fmt: skip
            if not whole.success:
                raise InputError(f"has no posture: {whole.explanation}", element="start")
            result = whole
        self.search = BestFirstSearch(self.space, StancePosture(first, result.q), threshold)

    def run(
        self, *, time_limit: float = math.inf, max_nodes: float = math.inf, progress: SearchWatch | None = None
    ) -> ContactPlan:
        """Searches until the goal is reached or a limit ends it; goes on where the last run ended.

        Args:
            time_limit: of this run [s].
            max_nodes: in the tree.
            progress: told before every posture that is sought; returns True to cancel.
        """
        return self._plan(self.search.run(time_limit=time_limit, max_nodes=max_nodes, progress=progress))

    def plan(self) -> ContactPlan:
        """The plan to the goal or to the best node so far; may be asked while the search is halted."""
        return self._plan(End.GOAL if self.search.goal is not None else End.CANCELLED)

    def shortened(self) -> ContactPlan:
        """The plan so far without the contacts that it can do without."""
        end = End.GOAL if self.search.goal is not None else End.CANCELLED
        return self._plan(end, shorten([node.state for node in self.search.path()], self.space))

    def save(self, path: str | Path) -> None:
        """Writes the tree, for ``tree`` of a planner of the same problem."""
        save_tree(self.search, path, self._name)

    def _plan(self, end: End, states: list[StancePosture] | None = None) -> ContactPlan:
        search, space = self.search, self.space
        states = [node.state for node in search.path()] if states is None else states
        success = search.goal is not None
        return ContactPlan(
            success,
            end,
            f"Found: {end.value}." if success else self._why(end),
            tuple(state.stance for state in states),
            tuple(space.stance_of(state) for state in states),
            tuple(state.q for state in states),
            tuple(space.potential(state) for state in states),
            PlanStatistics(len(search.nodes), search.expanded, space.counts, tuple(space.caller.calls), search.time),
        )

    def _why(self, end: End) -> str:
        """What keeps the nearest stance from the goal."""
        caller, best = self.space.caller, self.search.best.state
        stance = best.stance.settled().stance(self.space.couples)
        apart = caller.impossible(stance, self.space.goal)
        if not apart:
            result = caller.call("goal", stance, best.q, self.space.goal)
            worst = [str(violation) for violation in result.violations[:2]]
            apart = "; ".join(worst) or "the way to the goal posture was refused"
        names = ", ".join(f"{contact.location.name} on {contact.surface.name}" for contact in stance.contacts)
        return f"No plan: {end.value}. The nearest stance ({names}) doesn't allow the goal: {apart}."


def plan_contacts(
    robot: Robot,
    scene: Scene,
    start: Stance,
    goal: Sequence[Task],
    *,
    time_limit: float = math.inf,
    max_nodes: float = math.inf,
    progress: SearchWatch | None = None,
    **problem: Any,
) -> ContactPlan:
    """Finds stances and postures from a start to a goal.

    Args:
        robot: that moves.
        scene: around it.
        start: contacts at the beginning.
        goal: tasks of the last posture.
        time_limit: [s].
        max_nodes: in the tree.
        progress: told before every posture that is sought; returns True to cancel.
        **problem: see :class:`ContactPlanner`; ``locations`` and ``candidates`` have to be given.

    Returns:
        The plan; without success, that to the stance of lowest potential, with the reason.

    Raises:
        InputError: something can't be used, or there is no posture at the start.
    """
    planner = ContactPlanner(robot, scene, start, goal, **problem)
    return planner.run(time_limit=time_limit, max_nodes=max_nodes, progress=progress)


def _planned(start: Stance, couples: Couples) -> PlannedStance:
    """A stance in the planner's terms.

    Raises:
        InputError: no contact, one of a couple that isn't planned with, or of a kind that doesn't hold still.
    """
    if not start.contacts:
        raise InputError("has no contact", element="start", remedy="Give the contacts that the robot begins on")
    for contact in start.contacts:
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
