# SPDX-License-Identifier: Apache-2.0
"""Postures along a motion: those of the plan with a reserve of balance, and those between them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.arrays import Array
from humanoid_model.contact import Contact, ContactLocation, Stance
from humanoid_model.progress import Watch
from humanoid_model.robot import Robot
from humanoid_model.scene import DEFAULT_FRICTION, PairRule, Scene
from humanoid_planner.equilibrium.force_distribution import INSIDE
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.motion.body_clearance import BodyClearance
from humanoid_planner.optimisation.program import SolverOptions
from humanoid_planner.posture import CollisionModel, Criterion, NearReference, PostureResult, Task
from humanoid_planner.posture.generate import solve_problem
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements
from humanoid_planner.posture.tasks.collision_task import CollisionTask
from humanoid_planner.posture.tasks.contact import PlacedContact, place_contact
from humanoid_planner.posture.tasks.link_tasks import frame_at
from humanoid_planner.posture.tasks.state import ForceModel, PostureState
from humanoid_planner.posture.tasks.task import GeometricTask

#: Part of a motion's efforts that postures may take; what is between them may take all.
POSTURES = 0.95
_OPTIONS = SolverOptions(max_iterations=150, time_limit=10.0)
#: Passes of Newton's method onto contacts; from a spline through postures that hold them two or three do.
_PASSES = 8
_CLOSED = 1e-10
#: By how much margins of distances may be missed between projected postures [m].
_NEAR = 2e-3
#: By how much a joint may be beyond its limit between projected postures, which keep off it [rad] or [m].
_BEYOND = 1e-5
#: Distance to a bound of a task from which on it is held [m] or [rad], and of the base in derivatives.
_EDGE, _STEP = 1e-9, 1e-6
#: So many times the reserve postures keep where they can; slow motions are those along the edge of balance.
_WIDE = 2.0
#: Distance that they keep beside where they can: the spline through them comes nearer [m].
_CLEAR = 3e-3


@dataclass
class StancePostures:
    """Postures of one robot in one scene.

    Attributes:
        robot: whose postures they are.
        scene: around it.
        reserve: that forces keep from the edges of contact patches [m].
        effort: share of the joints' effort limits.
        collisions: None to let bodies pass through each other.
        tasks: that all postures fulfil.
        requirements: more of what a :class:`PostureRequirements` takes.
        watch: tells of the work, and ends it: all that takes long here raises a ``CancelledWorkError`` then.
        calls: of the posture generator.
        bodies: distances of moving bodies from the scene.
    """

    robot: Robot
    scene: Scene
    reserve: float
    effort: float
    collisions: CollisionModel | None
    tasks: Sequence[Task]
    requirements: dict[str, Any]
    watch: Watch = field(default_factory=Watch)
    calls: int = 0
    _distances: dict[tuple[tuple[tuple[str, str], ...], float], CollisionTask | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.kinematics = RobotKinematics(self.robot)
        self.kinematics.variables.effort[:] *= self.effort
        self.bodies = BodyClearance(self.robot, self.scene)
        gravity = np.asarray(self.scene.gravity, dtype=float)
        self._data = self.robot.model.createData()
        self._state = PostureState(self.kinematics, ForceModel(self.kinematics, (), (), gravity), 0)

    def with_reserve(self, reserve: float) -> StancePostures:
        """Return the same with another reserve [m]."""
        other = copy.copy(self)
        other.reserve = reserve
        return other

    @property
    def pulls_tasks(self) -> bool:
        """Whether :meth:`pulled` knows all tasks."""
        return all(isinstance(task, GeometricTask) for task in self.tasks)

    def regenerate(self, stance: Stance, q: NDArray[np.float64], more: Sequence[Task] = ()) -> PostureResult:
        """Return the posture of a stance nearest to one of a plan (nq,), with the reserve."""
        criterion = NearReference(self.kinematics, q, base=True)
        return self._solve(stance, stance, q, criterion, more, explain=True)

    def between(
        self,
        held: Stance,
        near: Stance,
        goal: NDArray[np.float64],
        before: NDArray[np.float64],
        moving: Sequence[tuple[ContactLocation, pin.SE3]],
        turn: float = 0.0,
    ) -> PostureResult:
        """Return the posture that is nearest to a point of the straight line between two (7.2).

        Args:
            held: contacts that hold and bear.
            near: the same and contacts that a moving body is near to, whose surfaces it may come close to.
            goal: (nq,) of the line.
            before: (nq,) posture before, where the search begins.
            moving: contact frames that are led, in the world.
            turn: angle by which they may be turned from there [rad].
        """
        tasks = []
        for location, place in moving:
            frame, name = location.placement_link_patch, f"way of {location.name}"
            tasks.append(frame_at(self.kinematics, location.link, frame, place, 0.0, turn, name))
        return self._solve(held, near, before, NearReference(self.kinematics, goal, base=True), tasks)

    def _solve(
        self,
        stance: Stance,
        near: Stance,
        start: NDArray[np.float64],
        criterion: Criterion,
        more: Sequence[Task],
        explain: bool = False,
    ) -> PostureResult:
        tasks = [*self.tasks, *more]
        compound = None if self.collisions is None else self.collisions.compound_task(self.kinematics)
        tasks += [] if compound is None else [compound]
        # Time laws and torques take forces from pyramids inside the cones: so do postures where they can.
        attempts = (_WIDE * self.reserve, _CLEAR, INSIDE), (self.reserve, 0.0, INSIDE), (self.reserve, 0.0, 1.0)
        friction = self.requirements.get("friction")
        for index, (reserve, clearance, share) in enumerate(attempts, 1):
            wanted = PostureRequirements(
                scene=_slippery(self.scene, share),
                tasks=tasks,
                criterion=criterion,
                collisions=False if self.collisions is None else self.distances(near, clearance) or False,
                **{**self.requirements, "friction": None if friction is None else share * friction},
            )
            inner = Stance(tuple(inset_contact(contact, reserve) for contact in stance.contacts))
            problem = PostureProblem(self.robot, inner, wanted, start=start, kinematics=self.kinematics)
            self.calls += 1
            told = explain and index == len(attempts)
            options = replace(_OPTIONS, stop=self.watch.over)
            result = solve_problem(problem, start, options=options, explain=told, restarts=0)
            self.watch.check()
            if result.success:
                break
        return result

    def distances(self, stance: Stance, clearance: float = 0.0) -> CollisionTask | None:
        """Return distances to keep while the robot is in or near a stance, and by how much more [m]."""
        assert self.collisions is not None
        key = tuple((contact.location.name, contact.surface.name) for contact in stance.contacts), clearance
        if key not in self._distances:
            self._distances[key] = self.collisions.task(stance, margin=clearance)
        return self._distances[key]

    def clash(self, near: Stance, q: NDArray[np.float64], missed: float = _NEAR) -> str:
        """Return what is too near or beyond its limit at a posture near a stance; empty if nothing is.

        Args:
            near: contacts that may be near.
            q: (nq,) posture.
            missed: by how much margins of distances may be missed [m].
        """
        x, variables = self._move(q), self.kinematics.variables
        beyond = np.maximum(variables.lower - x, x - variables.upper)
        joint = int(np.argmax(beyond))
        if beyond[joint] > _BEYOND:
            return f"{self.kinematics.names[joint]} is {beyond[joint]:.3g} beyond its limit"
        distances = None if self.collisions is None else self.distances(near)
        if distances is None:
            return ""
        missing = distances.lower - distances.value(self._state)
        worst = int(np.argmax(missing))
        return f"{distances.labels[worst]}: {1e3 * missing[worst]:.1f} mm too near" if missing[worst] > missed else ""

    def pulled(
        self, q: NDArray[np.float64], frames: Sequence[tuple[ContactLocation, pin.SE3]]
    ) -> NDArray[np.float64] | None:
        """Return the nearest configuration with frames at their places and tasks fulfilled; None where it isn't found.

        By Newton's method; tasks that aren't geometric are left as they are.

        Args:
            q: (nq,) to begin with.
            frames: of locations, and where they have to be in the world.
        """
        self.watch.check()
        for _ in range(_PASSES):
            errors, rows = frame_errors(self.robot, self._data, q, frames)
            lacking, more = self._task_errors(q)
            errors, rows = np.concatenate([errors, lacking]), np.vstack([rows, more])
            if np.abs(errors).max(initial=0.0) < _CLOSED:
                return q
            q = pin.integrate(self.robot.model, q, np.linalg.lstsq(rows, errors, rcond=1e-8)[0])
        return None

    def _task_errors(self, q: NDArray[np.float64]) -> tuple[Array, Array]:
        """(k,) values that tasks lack to their bounds, and (k, nv) how the robot moves them."""
        found: list[tuple[Array, Array]] = [(np.zeros(0), np.zeros((0, self.robot.model.nv)))]
        tasks = [task for task in self.tasks if isinstance(task, GeometricTask)]
        if tasks:
            self._move(q)
            moves = self._coordinate_rates(q)
        for task in tasks:
            values = np.array(task.value(self._state))
            lacking = np.clip(values, task.lower, task.upper) - values
            # Bounds that a step would leave again take part from their edge on.
            near = (values - task.lower < _EDGE) | (task.upper - values < _EDGE)
            found.append((lacking[near], task.jacobian(self._state)[near] @ moves))
        return np.concatenate([errors for errors, _ in found]), np.vstack([rows for _, rows in found])

    def _move(self, q: NDArray[np.float64]) -> Array:
        """(nx,) coordinates that the state is moved to; the kinematics may have been elsewhere since."""
        x = self.kinematics.coordinates(q)
        self._state.set(x)
        self.kinematics.set(x)
        return x

    def _coordinate_rates(self, q: NDArray[np.float64]) -> Array:
        """(nx, nv) how the kinematics' coordinates move with the velocity; the base's by differences."""
        model, kinematics = self.robot.model, self.kinematics
        rates = np.zeros((kinematics.size, model.nv))
        for column, name in enumerate(kinematics.names):
            if name in self.robot.joint_names:
                rates[column, self.robot.index_v(name)] = 1.0
        assert self.robot.base_joint is not None
        first = model.joints[self.robot.base_joint].idx_v
        for column in range(first, first + model.joints[self.robot.base_joint].nv):
            step = np.zeros(model.nv)
            step[column] = _STEP
            ahead, behind = (kinematics.coordinates(pin.integrate(model, q, way)) for way in (step, -step))
            rates[:, column] = (ahead - behind) / (2.0 * _STEP)
        return rates

    def placed(self, contact: Contact) -> PlacedContact:
        """Return a contact with its place in the world and its friction."""
        return place_contact(contact, self.kinematics, self.scene, self.requirements.get("friction"))


def _slippery(scene: Scene, share: float) -> Scene:
    """Return a scene whose bodies have a share of their friction."""
    rules = [PairRule("*", "*", DEFAULT_FRICTION), *scene.rules]
    return replace(
        scene,
        rules=tuple(rule if rule.friction is None else replace(rule, friction=share * rule.friction) for rule in rules),
    )


def inset_contact(contact: Contact, reserve: float) -> Contact:
    """Return a contact whose patch is smaller by a reserve all around [m]; points and edges stay as they are."""
    patch = inset_patch(contact.location.patch, reserve)
    return replace(contact, location=replace(contact.location, patch=patch))


def inset_patch(patch: Array, reserve: float) -> Array:
    """(k, 2) vertices of a convex patch moved inwards such that all edges are a reserve farther in [m].

    A patch that is too narrow for that keeps a fifth of its width.
    """
    if len(patch) < 3 or reserve <= 0.0:
        return np.array(patch)
    edges = np.roll(patch, -1, axis=0) - patch
    normals = np.column_stack([-edges[:, 1], edges[:, 0]]) / np.linalg.norm(edges, axis=1)[:, None]
    middle = patch.mean(axis=0)
    depth = float(np.einsum("ij,ij->i", middle - patch, normals).min())
    offset = np.einsum("ij,ij->i", normals, patch) + min(reserve, 0.8 * depth)
    corners = [
        np.linalg.solve(np.array([normals[k - 1], normals[k]]), [offset[k - 1], offset[k]]) for k in range(len(patch))
    ]
    return np.array(corners)


def frame_errors(
    robot: Robot, data: pin.Data, q: NDArray[np.float64], frames: Sequence[tuple[ContactLocation, pin.SE3]]
) -> tuple[Array, Array]:
    """(6k,) motions that frames lack to their places, and (6k, nv) how the robot moves them."""
    pin.computeJointJacobians(robot.model, data, q)
    errors, rows = [np.zeros(0)], [np.zeros((0, robot.model.nv))]
    for location, place in frames:
        link = robot.parts.links[location.link]
        own = link.placement_joint_link * location.placement_link_patch
        errors.append(pin.log6((data.oMi[link.joint_id] * own).actInv(place)).vector)
        J = pin.getJointJacobian(robot.model, data, link.joint_id, pin.ReferenceFrame.LOCAL)
        rows.append(own.toActionMatrixInverse() @ J)
    return np.concatenate(errors), np.vstack(rows)
