# SPDX-License-Identifier: Apache-2.0
"""What a posture has to fulfil besides holding its stance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from humanoid_model.scene import Scene
from humanoid_planner.posture.collision.collision_model import CollisionModel
from humanoid_planner.posture.collision.collision_task import CollisionTask
from humanoid_planner.posture.problem.criterion import Criterion
from humanoid_planner.posture.problem.force_model import Load
from humanoid_planner.posture.tasks.task import Task

STABILITIES = ("auto", "none", "polygon", "forces", "polytope")


@dataclass(frozen=True, eq=False)
class PostureRequirements:
    """Tasks, equilibrium, collisions and criterion of a posture.

    Attributes:
        scene: that the surfaces belong to; None puts them into the world.
        tasks: more to fulfil.
        criterion: to minimise; None takes any posture.
        stability: how equilibrium is tested, one of STABILITIES; "auto" takes the polygon where it suffices.
        torque_limits: respect the joints' effort limits; needs forces.
        torque_variables: make the torques variables of their own instead of eliminating them by (3.67).
        collisions: keep the robot clear of itself and of the scene; a model made before, or distances of one's own.
        collision_margin: smallest distance of bodies that may not touch, beyond the margin of their volumes [m].
        loads: known wrenches on links; need forces.
        friction: coefficient of all contacts, whatever the scene says.
        gravity: (3,) [m/s^2]; None takes the scene's.
        joint_margin: distance from the joint limits [rad] or [m].
        stability_margin: smallest margin: of the centre of mass to the polygon's edge [m], of every contact force
            to its cone's boundary [N], or of the weight to the polytope [N].
        centre_margin: smallest distance of the centre of mass, seen from above, from where the contacts lose balance
            whatever the joints bear [m]; asked beside the stability by forces, whose own margin is in newtons.
        extra_lower: lower bounds of extra variables that tasks use.
        extra_upper: their upper bounds.
    """

    scene: Scene | None = None
    tasks: Sequence[Task] = ()
    criterion: Criterion | None = None
    stability: str = "auto"
    torque_limits: bool = False
    torque_variables: bool = False
    collisions: bool | CollisionModel | CollisionTask = False
    collision_margin: float = 0.0
    loads: Sequence[Load] = ()
    friction: float | None = None
    gravity: ArrayLike | None = None
    joint_margin: float = 0.0
    stability_margin: float = 0.0
    centre_margin: float = 0.0
    extra_lower: ArrayLike = ()
    extra_upper: ArrayLike = ()
