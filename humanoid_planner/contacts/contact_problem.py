# SPDX-License-Identifier: Apache-2.0
"""What a contact planner is asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields

from numpy.typing import ArrayLike

from humanoid_model.contact import Stance
from humanoid_model.errors import InputError
from humanoid_model.fields import choice, count, flag, number
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene
from humanoid_planner.contacts.candidates import Candidates, SearchVolumes
from humanoid_planner.contacts.potentials import StanceTerm
from humanoid_planner.contacts.search_volume import StancePosture
from humanoid_planner.contacts.stance import RADIAN, TOLERANCE, StanceMetric
from humanoid_planner.optimisation.program import SolverOptions
from humanoid_planner.posture import CollisionModel, Criterion, Task
from humanoid_planner.posture.problem import PostureRequirements
from humanoid_planner.posture.tasks.collision_task import CollisionTask

#: What one posture may take. The iterations decide, so that a plan is the same on a busy machine.
POSTURE = SolverOptions(max_iterations=40, time_limit=60.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class ContactProblem(PostureRequirements):
    """A planning problem: what all postures fulfil, and how stances are sought.

    Attributes:
        robot: that moves.
        scene: around it, fixed.
        start: contacts at the beginning, all bearing.
        goal: tasks of the last posture.
        locations: names of the robot's locations that may hold.
        candidates: where couples may hold.
        potential: U_T of the posture, which guides the search; None for zero.
        terms: U_S, bonus and penalty of the stance.
        criterion: of all postures; None for ``potential``, as VBFP needs it.
        surfaces: names of surfaces that may be held on; None for all.
        forbidden: pairs of a location's or link's name and a surface's that must not hold.
        start_posture: (nq,) at the beginning, or near it; None takes the robot's usual one.
        stance_tasks: makes more tasks for a stance (a look at the new contact, a glass once it is held).
        way_exists: tells whether there is a way from a node to its child; None for always.
        goal_way_exists: likewise from a node to its goal posture.
        goal_holds: pairs of a location's name and a surface's that hold at the end, whatever the posture.
        options: of the solver for each posture.

    Raises:
        InputError: a number or a word that can't be used.
    """

    robot: Robot
    scene: Scene
    start: Stance
    goal: Sequence[Task]
    locations: Sequence[str]
    candidates: Candidates | SearchVolumes
    method: str = choice(
        "bfp", ("bfp", "vbfp"),
        "bfp takes all children of a stance, vbfp the best one of each couple, which needs search volumes",
    )  # fmt: skip
    potential: Criterion | None = None
    terms: Sequence[StanceTerm] = ()
    surfaces: Sequence[str] | None = None
    forbidden: Collection[tuple[str, str]] = ()
    start_posture: ArrayLike | None = None
    stance_tasks: Callable[[Stance], Sequence[Task]] | None = None
    collisions: bool | CollisionModel | CollisionTask = flag(
        True, "keep clear of itself and of the scene; a model made before, or False for the thesis' first scenarios"
    )
    contact_spacing: float = number(
        TOLERANCE, "contacts of one pair closer than this are the same", "m", low=0.0, above=True
    )
    contact_angle_spacing: float = number(TOLERANCE / RADIAN, "likewise for the angle", "rad", low=0.0, above=True)
    max_potential: float = number(math.inf, "M; nodes of this potential and above are left out")
    seed: int = count(0, "of random candidates; the plan is the same for a seed")
    children: int | None = count(
        None,
        "most children by new contacts of a link. Places are tried in the order of the potential that the parent's "
        "posture would have, moved with the middle of the contacts, until so many have a posture; the others come "
        "when no node is left, again so many at a time. Open for all children, as the thesis has it",
        low=1,
    )
    pre_contact: str = choice(
        "where_chosen", ("where_chosen", "always", "never"), "ask first whether a location comes near its surface"
    )
    reach: bool = flag(True, "leave out stances whose contacts are proved to be too far apart")
    balance: bool = flag(True, "leave out stances whose bearing contacts are proved not to carry the robot")
    goal_potential: float = number(math.inf, "U_T at and above which a node isn't tried for the goal")
    way_exists: Callable[[StancePosture, StancePosture], bool] | None = None
    goal_way_exists: Callable[[StancePosture, StancePosture], bool] | None = None
    goal_holds: Collection[tuple[str, str]] = ()
    failure_penalty: float = number(
        0.0,
        "what a waiting stance is put off by, in units of the potential, for each posture that wasn't found among the "
        "children of stances of the same couples; zero for the thesis' order",
        low=0.0,
    )
    options: SolverOptions = POSTURE

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method == "vbfp" and not isinstance(self.candidates, SearchVolumes):
            raise InputError(
                f"are {type(self.candidates).__name__}", element="candidates of vbfp", remedy="Give SearchVolumes"
            )
        if self.children is not None and (self.asks_pre_contact or not isinstance(self.candidates, Candidates)):
            raise InputError(
                f"is {self.children}",
                element="children",
                remedy="Give it with places that are named beforehand and no pre-contacts, or leave it out",
            )

    @property
    def metric(self) -> StanceMetric:
        """Equality of stances."""
        return StanceMetric(self.contact_spacing, self.contact_spacing / self.contact_angle_spacing)

    @property
    def asks_pre_contact(self) -> bool:
        """Whether a location's coming near its surface is asked first."""
        chosen = isinstance(self.candidates, SearchVolumes)
        return chosen if self.pre_contact == "where_chosen" else self.pre_contact == "always"

    def of_postures(self) -> PostureRequirements:
        """Return what all postures fulfil, with a model of the collisions where they are avoided."""
        own = {one.name: getattr(self, one.name) for one in fields(PostureRequirements)}
        model = CollisionModel(self.robot, self.scene) if self.collisions is True else self.collisions
        criterion = self.potential if self.criterion is None else self.criterion
        return PostureRequirements(**{**own, "criterion": criterion, "collisions": model})
