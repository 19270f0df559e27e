# SPDX-License-Identifier: Apache-2.0
"""What a posture has to fulfil besides holding its stance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from humanoid_model.fields import Described, choice, flag, number
from humanoid_model.scene import Scene
from humanoid_planner.posture.collision.collision_model import CollisionModel
from humanoid_planner.posture.collision.collision_task import CollisionTask
from humanoid_planner.posture.problem.criterion import Criterion
from humanoid_planner.posture.problem.force_model import Load
from humanoid_planner.posture.tasks.task import Task

#: How equilibrium is tested, with the names of messages' constants.
STABILITIES = {
    "auto": "AUTO",
    "none": "NO_STABILITY",
    "polygon": "SUPPORT_POLYGON",
    "forces": "CONTACT_FORCES",
    "polytope": "FORCE_POLYTOPE",
}


@dataclass(frozen=True, eq=False)
class PostureRequirements(Described):
    """Tasks, equilibrium, collisions and criterion of a posture.

    Attributes:
        scene: that the surfaces belong to; None puts them into the world.
        tasks: more to fulfil.
        criterion: to minimise; None takes any posture.
        loads: known wrenches on links; need forces.
        gravity: (3,) [m/s^2]; None takes the scene's.
        extra_lower: lower bounds of extra variables that tasks use.
        extra_upper: their upper bounds.

    Raises:
        InputError: a number or a word that can't be used.
    """

    scene: Scene | None = None
    tasks: Sequence[Task] = ()
    criterion: Criterion | None = None
    stability: str = choice(
        "auto", STABILITIES, "how equilibrium is tested; auto takes the polygon where it suffices, else forces"
    )
    torque_limits: bool = flag(False, "respect the joints' effort limits; needs forces")
    torque_variables: bool = flag(
        False, "make the torques variables of their own instead of eliminating them by (3.67)"
    )
    collisions: bool | CollisionModel | CollisionTask = flag(
        False, "keep the robot clear of itself and of the scene; a model made before, or distances of one's own"
    )
    collision_margin: float = number(
        0.0, "smallest distance of bodies that may not touch, beyond the margin of their volumes", "m"
    )
    loads: Sequence[Load] = ()
    friction: float | None = number(None, "coefficient of all contacts, whatever the scene says", low=0.0)
    gravity: ArrayLike | None = None
    joint_margin: float = number(0.0, "distance from the joint limits", "rad or m", low=0.0)
    stability_margin: float = number(
        0.0,
        "smallest margin: of the centre of mass to the polygon's edge [m], of every contact force to its cone's "
        "boundary [N], or of the weight to the polytope [N]",
        "m or N",
        low=0.0,
    )
    centre_margin: float = number(
        0.0,
        "smallest distance of the centre of mass, seen from above, from where the contacts lose balance whatever the "
        "joints bear; asked beside the stability by forces, whose own margin is in newtons",
        "m",
        low=0.0,
    )
    extra_lower: ArrayLike = ()
    extra_upper: ArrayLike = ()
