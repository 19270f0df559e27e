# SPDX-License-Identifier: Apache-2.0
"""What a contact planner is asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import ArrayLike

from humanoid_model.checks import check_count, check_number
from humanoid_model.contact import Stance
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene
from humanoid_planner.contacts.contact_space import StancePosture
from humanoid_planner.contacts.posture_caller import TasksOfStance
from humanoid_planner.contacts.potentials.stance_terms import StanceTerm
from humanoid_planner.contacts.stances.candidates import Candidates, SearchVolumes
from humanoid_planner.contacts.stances.stance_set import StanceMetric
from humanoid_planner.optimisation.result import SolverOptions
from humanoid_planner.posture import CollisionModel, Criterion, Task

#: What one posture may take. The iterations decide, so that a plan is the same on a busy machine.
POSTURE = SolverOptions(max_iterations=40, time_limit=60.0)


@dataclass(frozen=True, eq=False)
class ContactProblem:
    """A planning problem.

    Attributes:
        robot: that moves.
        scene: around it, fixed.
        start: contacts at the beginning, all bearing.
        goal: tasks of the last posture.
        locations: names of the robot's locations that may hold.
        candidates: where couples may hold.
        method: "bfp" takes all children of a stance, "vbfp" the best one of each couple, which needs search volumes.
        potential: U_T of the posture, which guides the search; None for zero.
        terms: U_S, bonus and penalty of the stance.
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
        children: most children by new contacts of a link. Places are tried in the order of the potential that the
            parent's posture would have, moved with the middle of the contacts, until so many have a posture; the
            others come when no node is left, again so many at a time. None for all children, as the thesis has it.
        pre_contact: ask first whether a location comes near its surface; None does with search volumes.
        reach: leave out stances whose contacts are proved to be too far apart.
        balance: leave out stances whose bearing contacts are proved not to carry the robot.
        goal_below: U_T at and above which a node isn't tried for the goal.
        way_exists: tells whether there is a way from a node to its child; None for always.
        goal_way_exists: likewise from a node to its goal posture.
        goal_holds: pairs of a location's name and a surface's that hold at the end, whatever the posture.
        failure_penalty: what a waiting stance is put off by, in units of the potential, for each posture that wasn't
            found among the children of stances of the same couples; zero for the thesis' order.
        options: of the solver for each posture.
        requirements: what else postures fulfil, see :class:`humanoid_planner.posture.PostureRequirements`.

    Raises:
        InputError: a number that can't be used.
    """

    robot: Robot
    scene: Scene
    start: Stance
    goal: Sequence[Task]
    locations: Sequence[str]
    candidates: Candidates | SearchVolumes
    method: str = "bfp"
    potential: Criterion | None = None
    terms: Sequence[StanceTerm] = ()
    criterion: Criterion | None = None
    surfaces: Sequence[str] | None = None
    forbidden: Collection[tuple[str, str]] = ()
    posture: ArrayLike | None = None
    tasks: TasksOfStance = ()
    collisions: bool | CollisionModel = True
    metric: StanceMetric = field(default_factory=StanceMetric)
    threshold: float = math.inf
    seed: int = 0
    children: int | None = None
    pre_contact: bool | None = None
    reach: bool = True
    balance: bool = True
    goal_below: float = math.inf
    way_exists: Callable[[StancePosture, StancePosture], bool] | None = None
    goal_way_exists: Callable[[StancePosture, StancePosture], bool] | None = None
    goal_holds: Collection[tuple[str, str]] = ()
    failure_penalty: float = 0.0
    options: SolverOptions = POSTURE
    requirements: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_count(self.seed, "seed")
        if self.children is not None:
            check_count(self.children, "children", 1)
        check_number(self.failure_penalty, "failure_penalty")
        if math.isnan(self.goal_below):
            raise InputError("is NaN", element="goal_below", remedy="Give a number, or infinity for none")
