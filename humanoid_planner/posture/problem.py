# SPDX-License-Identifier: Apache-2.0
"""A posture problem: what a robot has to hold, reach, bear and keep clear of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.checks import check_array
from humanoid_model.contact import Stance
from humanoid_model.errors import InputError
from humanoid_model.fields import Described, choice, flag, number
from humanoid_model.robot import Robot
from humanoid_model.scene import STANDARD_GRAVITY, Scene
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.program import PostureProgram
from humanoid_planner.posture.tasks.collision_model import CollisionModel
from humanoid_planner.posture.tasks.collision_task import CollisionTask
from humanoid_planner.posture.tasks.contact import PlacedContact, place_contact
from humanoid_planner.posture.tasks.contact_task import ContactTask
from humanoid_planner.posture.tasks.criteria import Criterion, LeastTorque, NoCriterion, WeightedSum
from humanoid_planner.posture.tasks.force_tasks import (
    ForceBalance,
    FrictionCones,
    FrictionPyramids,
    TorqueLimits,
    TorqueVariables,
    cone_lift,
)
from humanoid_planner.posture.tasks.stability import choose_stability, polygon_task, polytope_task, region_task
from humanoid_planner.posture.tasks.state import ForceModel, Load, PostureState
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


#: Contact points that bear force in one posture, by how equilibrium is tested: each has a cone and eight facets of a
#: pyramid, and a polytope's half-spaces grow with more than the square of their number.
MAX_POINTS = {"forces": 256, "polytope": 64}
#: Beyond this pitch of the base the angles are counted from the start's orientation instead of the world's axes [rad].
_STEEP = 1.0
#: Median distance of contacts from their places beyond which a start is moved to them [m].
_FAR = 0.5
#: Length of the arm that tells a contact's direction when it is [m].
_ARM = 0.1


class PostureProblem:
    """Everything that a posture has to fulfil, ready for a solver (specification 001 section 4.1).

    Attributes:
        kinematics: of the robot.
        contacts: of the stance, their frames found.
        tasks: all of them: contacts, the user's, stability, forces, torques, collisions.
        stability: "none", "polygon", "forces" or "polytope".
        force_model: forces; without variables unless the stability is by forces.
        state: variables.
        criterion: what is minimised.
        loads: known wrenches on links.
        torque_limits: whether the joints' effort limits are respected.
        program: for solvers.
        collisions: the distances, None without.
    """

    def __init__(
        self,
        robot: Robot,
        stance: Stance,
        requirements: PostureRequirements | None = None,
        *,
        start: ArrayLike | None = None,
        kinematics: RobotKinematics | None = None,
    ) -> None:
        """Put a problem together.

        Args:
            robot: whose posture it is.
            stance: contacts to hold.
            requirements: what else it has to fulfil; None for nothing but equilibrium.
            start: (nq,) posture near which the search will be; a steep base is described by angles counted from its
                own.
            kinematics: of the robot, to be used again.

        Raises:
            InputError: something can't be used; it names field, value and remedy.
        """
        wanted = requirements or PostureRequirements()
        friction, scene = wanted.friction, wanted.scene
        self.kinematics = kinematics or RobotKinematics(robot)
        if start is not None:
            self._set_reference(np.asarray(start, dtype=float))
        gravity = wanted.gravity
        if gravity is None:
            gravity = STANDARD_GRAVITY if scene is None else scene.gravity
        self.gravity = check_array(gravity, "gravity")
        self._check_links(stance)
        self.contacts = tuple(place_contact(contact, self.kinematics, scene, friction) for contact in stance.contacts)
        _check_loads(wanted.loads, self.kinematics)
        self.loads = tuple(wanted.loads)
        self.torque_limits = wanted.torque_limits
        self.stability = self._choose(wanted)
        bearing = self.contacts if self.stability == "forces" else ()
        _check_points(self.stability, self.contacts)
        self.force_model = ForceModel(self.kinematics, bearing, wanted.loads, self.gravity)
        driven = int(self.kinematics.variables.driven.sum()) if wanted.torque_variables else 0
        extras = np.asarray(wanted.extra_lower, dtype=float), np.asarray(wanted.extra_upper, dtype=float)
        self.state = PostureState(self.kinematics, self.force_model, driven + len(extras[0]))
        self.collisions: CollisionTask | None = None
        compound = None
        if isinstance(wanted.collisions, CollisionTask):
            self.collisions = wanted.collisions
        elif wanted.collisions:
            model = CollisionModel(robot, scene) if wanted.collisions is True else wanted.collisions
            self.collisions = model.task(stance, margin=wanted.collision_margin)
            compound = model.compound_task(self.kinematics)
        self.user_tasks = tuple(wanted.tasks)
        self.tasks: tuple[Task, ...] = (
            *(ContactTask(placed) for placed in self.contacts),
            *self.user_tasks,
            *self._stability_tasks(wanted),
            *(task for task in (self.collisions, compound) if task is not None),
        )
        self.criterion = wanted.criterion or NoCriterion()
        self.criterion.bind(self.kinematics)
        lower, upper = self._bounds(wanted.joint_margin, wanted.stability_margin)
        torque_bound: NDArray[np.float64] = np.ones(driven)
        if driven:
            torque_task = next(task for task in self.tasks if isinstance(task, TorqueVariables))
            free = ~np.isfinite(torque_task.limits) | (not wanted.torque_limits)
            torque_bound = np.where(free, np.inf, np.minimum(torque_task.limits, 1.0))
        self.program = PostureProgram(
            self.state,
            self.tasks,
            self.criterion,
            np.concatenate([lower, -torque_bound, extras[0]]),
            np.concatenate([upper, torque_bound, extras[1]]),
        )

    def start(self, q: ArrayLike, forces: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """(n,) variables at a posture: within the bounds, the weight shared among the contact points.

        A posture whose contacts are farther than half a metre from their places is moved there as a whole, and turned
        about the vertical: a search needn't walk.

        Args:
            q: (nq,) posture in Pinocchio's order.
            forces: (k, 3) contact forces in the world [N]; None shares the weight.

        Raises:
            InputError: wrong length, or numbers that aren't finite.
        """
        program, state = self.program, self.state
        x: NDArray[np.float64] = np.zeros(state.size)
        x[: state.first_force] = self._near_contacts(self.kinematics.coordinates(q))
        x = np.clip(x, program.lower, program.upper)
        state.set(x)
        model = state.place_forces()
        if model.size:
            frames = model.frames_of_points() / model.weight
            if forces is None:
                up = -self.gravity / max(float(np.linalg.norm(self.gravity)), 1e-12)
                lift = np.maximum(frames[:, :, 2] @ up, 0.0)
                normal = lift / (lift @ lift) if lift.sum() > 0.1 else np.full(len(frames), 0.02)
                values = np.column_stack([np.zeros((len(frames), 2)), np.maximum(normal, 0.02)])
            else:
                values = np.einsum("eji,ej->ei", frames, np.asarray(forces)) / model.weight
            x[state.first_force : state.first_extra] = values.ravel()
        torques = next((task for task in self.tasks if isinstance(task, TorqueVariables)), None)
        x = np.clip(x, program.lower, program.upper)
        if torques is not None:
            state.set(x)
            efforts = state.efforts[torques.rows] / torques.units
            x[state.first_extra : state.first_extra + len(torques.rows)] = efforts
        return np.asarray(np.clip(x, program.lower, program.upper))

    def _near_contacts(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(nx,) variables, a floating base that is far away moved to where the stance's contacts fit best."""
        variables, kinematics = self.kinematics.variables, self.kinematics
        fixed = [placed for placed in self.contacts if placed.fixed_in_world]
        if variables.base is None or not fixed:
            return x
        kinematics.set(x)
        here, there = [], []
        for placed in fixed:
            kinematics.place_body(placed.body)
            R, p = kinematics.rotations[placed.body], kinematics.origins[placed.body]
            patch, target = placed.placement_body_patch, placed.placement_ground_contact
            for along in (np.zeros(3), _ARM * np.eye(3)[0]):
                here.append(p + R @ patch.act(along))
                there.append(target.act(along))
        start, end = np.array(here), np.array(there)
        if np.median(np.linalg.norm(end - start, axis=1)) < _FAR:
            return x
        a, b = start - start.mean(axis=0), end - end.mean(axis=0)
        # The turn about the vertical that fits best has a closed form.
        angle = np.arctan2((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum(), (a[:, :2] * b[:, :2]).sum())
        motion = pin.SE3(pin.utils.rotate("z", float(angle)), np.zeros(3))
        motion = pin.SE3(motion.rotation, end.mean(axis=0) - motion.rotation @ start.mean(axis=0))
        robot = kinematics.robot
        q = kinematics.configuration(x)
        return kinematics.coordinates(robot.place_base(q, motion * robot.placement_base(q)))

    def posture(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(nq,) posture of the variables (n,)."""
        return self.kinematics.configuration(x[: self.state.first_force])

    def _set_reference(self, q: NDArray[np.float64]) -> None:
        variables = self.kinematics.variables
        if variables.base is None:
            return
        variables.tree.joints["rotation"][variables.base[1] - 2] = np.eye(3)
        x = self.kinematics.coordinates(q)  # raises for a posture that can't be used
        if abs(x[variables.tree.joints["idx_q"][variables.base[1] - 1]]) > _STEEP:
            self.kinematics.set_reference(q)

    def _check_links(self, stance: Stance) -> None:
        seen: dict[str, str] = {}
        for contact in stance.contacts:
            location = contact.location
            if location.link in seen:
                raise InputError(
                    f"link '{location.link}' has the locations {seen[location.link]} and {location.name}",
                    element="stance",
                    remedy="Give each link one contact at most",
                )
            seen[location.link] = location.name

    def _choose(self, wanted: PostureRequirements) -> str:
        stability, loads = wanted.stability, wanted.loads
        needed = wanted.torque_limits or wanted.torque_variables or bool(loads) or _needs_forces(wanted.criterion)
        needed = needed or wanted.centre_margin > 0.0
        if stability == "auto":
            fixed = self.kinematics.variables.base is None
            if fixed and not any(placed.contact.kind.bears for placed in self.contacts):
                return "forces" if needed else "none"
            return "forces" if needed else choose_stability(self.contacts, loads, self.gravity)
        if needed and stability != "forces":
            raise InputError(
                f"is '{stability}', but torque limits, torques, loads, least torque and centre_margin "
                "need contact forces",
                element="stability",
                remedy="Choose the stability forces",
            )
        return stability

    def _stability_tasks(self, wanted: PostureRequirements) -> list[Task]:
        loads, margin = wanted.loads, wanted.stability_margin
        if self.stability == "none":
            return []
        if self.stability == "polygon":
            return [polygon_task(self.kinematics, self.contacts, self.gravity, margin)]
        if self.stability == "polytope":
            bearing = ForceModel(self.kinematics, self.contacts, loads, self.gravity)
            return [polytope_task(bearing, self.kinematics.total_mass, loads, margin)]
        model = self.force_model
        tasks: list[Task] = []
        if self.kinematics.variables.base is not None:
            tasks.append(ForceBalance(model))
            if wanted.centre_margin > 0.0 and model.points:
                tasks.append(region_task(model, self.kinematics.total_mass, loads, wanted.centre_margin))
        cones = FrictionCones(model, margin)
        if cones.size:
            tasks += [cones, FrictionPyramids(model, margin)]
        limits = TorqueLimits(model, self.state, wanted.torque_limits and not wanted.torque_variables)
        if limits.size:
            tasks.append(limits)
        if wanted.torque_variables:
            tasks.append(TorqueVariables(model, self.state))
        return tasks

    def _bounds(self, joint_margin: float, stability_margin: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        variables = self.kinematics.variables
        margin = np.where(variables.driven, joint_margin, 0.0)
        lower, upper = variables.lower + margin, variables.upper - margin
        crossing = np.flatnonzero(lower > upper)
        if len(crossing):
            name = variables.names[crossing[0]]
            raise InputError(
                f"{joint_margin:g} leaves nothing of the range of joint '{name}'",
                element="joint_margin",
                remedy=f"Give at most {float((variables.upper - variables.lower)[crossing[0]]) / 2:.4g}",
            )
        model = self.force_model
        force_lower = np.full((len(model.points), 3), -math.inf)
        force_upper = np.full((len(model.points), 3), math.inf)
        pushing = ~model.bilateral
        lift = cone_lift(model.friction, stability_margin) / model.weight
        force_lower[pushing, 2] = lift[pushing]
        slippery = pushing & (model.friction == 0)
        force_lower[slippery, :2] = force_upper[slippery, :2] = 0.0
        return np.concatenate([lower, force_lower.ravel()]), np.concatenate([upper, force_upper.ravel()])


def _check_points(stability: str, contacts: Sequence[PlacedContact]) -> None:
    if stability not in MAX_POINTS:
        return
    counts = {placed.contact.location.name: len(placed.bearing) for placed in contacts if placed.contact.kind.bears}
    total, most = sum(counts.values()), MAX_POINTS[stability]
    if total > most:
        largest = max(counts, key=lambda name: counts[name])
        raise InputError(
            f"{total} points bear force, {counts[largest]} of them of '{largest}'",
            element="stance",
            remedy=f"Give patches of fewer vertices, {most} points in all for the stability {stability}",
        )


def _needs_forces(criterion: Criterion | None) -> bool:
    if isinstance(criterion, WeightedSum):
        return any(_needs_forces(term) for _, term in criterion.terms)
    return isinstance(criterion, LeastTorque)


def _check_loads(loads: Sequence[Load], kinematics: RobotKinematics) -> None:
    for index, load in enumerate(loads):
        kinematics.body_of(load.link)
        for field in ("force", "point", "couple"):
            check_array(getattr(load, field), f"{field} of load {index} on link '{load.link}'")


def surface_frame(placed: PlacedContact, kinematics: RobotKinematics) -> pin.SE3:
    """World placement of the frame that a contact is held at, at the kinematics' configuration."""
    if placed.ground == 0:
        return placed.placement_ground_contact
    kinematics.place_body(placed.ground)
    body = pin.SE3(kinematics.rotations[placed.ground].copy(), kinematics.origins[placed.ground].copy())
    return body * placed.placement_ground_contact
