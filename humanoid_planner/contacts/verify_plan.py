# SPDX-License-Identifier: Apache-2.0
"""A verifier of plans that shares nothing with the planner but their data.

Frames and torques are Pinocchio's, collisions those of the true shapes by coal, forces scipy's linear programs. None of
the planner's distances, kinematics or equilibrium tests is used. Shapes of the robot may be in each other as deep as
they are in its own postures, each pair of shapes for itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, QhullError

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.contact import Contact, ContactKind, Stance
from humanoid_model.errors import InputError
from humanoid_model.fields import Described, number
from humanoid_model.progress import Progress, ProgressCallback, Watch
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene
from humanoid_model.self_overlap import self_overlap

#: Edges of the pyramids inside the friction cones. A posture on its very limit is found up to 2 % beyond it.
_FACETS = 16
_DIRECTIONS = 8
#: Cosine of the angle between a level surface's normal and the vertical, and gravity along z.
_LEVEL = 1.0 - 1e-9
#: The centre of mass is moved no farther than this when its margin is measured [m].
_FARTHEST = 0.5


@dataclass(frozen=True)
class PlanLimits(Described):
    """What a plan may be off by."""

    joint: float = number(1e-4, "beyond a joint's limits", "rad or m", low=0.0)
    drift: float = number(1e-3, "of a contact's corners from their places", "m", low=0.0)
    penetration: float = number(
        1e-3,
        "of shapes that may not touch; a robot's own may be this much deeper in each other than in its own postures",
        "m", low=0.0,
    )  # fmt: skip
    seat: float = number(5e-3, "of a contact's link in the body that it holds on", "m", low=0.0)
    margin: float = number(
        -1e-4,
        "smallest distance of the centre of mass from where balance is lost; a little below zero, as postures lie on "
        "the bounds of what is allowed within their solver's tolerance",
        "m",
    )  # fmt: skip
    torque: float = number(1.0, "largest effort as a part of its limit", low=0.0)
    step_joint: float = number(
        np.deg2rad(0.5), "largest change of a joint between consecutive postures of a motion", "rad or m", low=0.0
    )
    step_base: float = number(2e-3, "largest way of the base between them", "m", low=0.0)


@dataclass(frozen=True)
class PlanViolation:
    """What is wrong, and where.

    Attributes:
        stance: index of the stance.
        sample: index of the posture within it.
        kind: "order", "number", "joint limit", "drift", "collision", "balance", "torque" or "step"; of a motion
            "force", "dynamics", "speed" and "course" too.
        what: in words.
        links: of the robot that run into something.
    """

    stance: int
    sample: int
    kind: str
    what: str
    links: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlanVerdict:
    """What a verification found.

    Attributes:
        success: whether all was looked at and nothing is wrong.
        violations: all that was found.
        postures: number that was looked at.
        drift: largest of a contact [m].
        margin: smallest of the centre of mass [m], to the contacts' hull where they are level; minus infinity where a
            posture doesn't balance.
        torque: largest effort as a part of its limit.
        ended: why not all was looked at; empty where it was.
    """

    success: bool
    violations: tuple[PlanViolation, ...]
    postures: int
    drift: float
    margin: float
    torque: float
    ended: str = ""


def verify_plan(
    robot: Robot,
    scene: Scene,
    stances: Sequence[Stance],
    motion: Sequence[ArrayLike],
    limits: PlanLimits | None = None,
    *,
    time_limit: float = math.inf,
    progress: ProgressCallback | None = None,
) -> PlanVerdict:
    """Look at every posture of a plan, or of a motion along it.

    Args:
        robot: that moves.
        scene: around it.
        stances: of the plan; contacts of the kind RELEASED hold without force.
        motion: for each stance its posture (nq,), or a walk (k, nq) through it whose steps are checked too.
        limits: what is allowed.
        time_limit: wall-clock time [s]; what was found until then is returned, without success.
        progress: told now and then; returns True to cancel, likewise.

    Raises:
        InputError: as many stances as parts of the motion aren't given, or a contact names no body of the scene.
    """
    if len(stances) != len(motion) or not stances:
        raise InputError(
            f"has {len(motion)} parts for {len(stances)} stances", element="motion", remedy="Give one for each stance"
        )
    look, watch = PlanLook(robot, scene, limits or PlanLimits()), Watch(progress, time_limit)
    for index, (stance, part) in enumerate(zip(stances, motion, strict=True)):
        watch.now = Progress(f"stance {index} of {len(stances)}", index / len(stances), index)
        if index:
            look.order(index, stances[index - 1], stance)
        before = None
        for sample, q in enumerate(np.atleast_2d(np.asarray(part, dtype=float))):
            if watch.over():
                break
            if look.posture(index, sample, stance, q) and before is not None:
                look.step(index, sample, before, q)
            before = q
    whole = not look.violations and not watch.why
    violations = tuple(look.violations)
    return PlanVerdict(whole, violations, look.postures, look.drift, look.margin, look.torque, watch.why)


class PlanLook:
    """Models of robot and scene, and what was found so far."""

    def __init__(self, robot: Robot, scene: Scene, limits: PlanLimits) -> None:
        self._robot, self._scene, self._limits = robot, scene, limits
        self._data = robot.model.createData()
        self._bodies = {body.name: body for body in scene.bodies}
        self._name = next((one.name for one in scene.robots if one.robot is robot), robot.name)
        self._links = robot.collision_model
        self._own = self._links.createData()
        self._of_link = [
            robot.model.frames[item.parentFrame].name if item.parentFrame < robot.model.nframes else ""
            for item in self._links.geometryObjects
        ]
        self._itself = self_overlap(robot)
        self._shapes = [
            (body.name, coal_geometry(geometry.shape), _transform(body.placement_world_body * geometry.placement))
            for body in scene.bodies
            for geometry in body.geometries
        ]
        self.violations: list[PlanViolation] = []
        self.postures, self.drift, self.margin, self.torque = 0, 0.0, np.inf, 0.0

    def say(self, stance: int, sample: int, kind: str, what: str, links: tuple[str, ...] = ()) -> None:
        """Remember what is wrong."""
        self.violations.append(PlanViolation(stance, sample, kind, what, links))

    def order(self, index: int, before: Stance, after: Stance) -> None:
        """Stances differ by one contact, and a contact bears in the stance after it was new at the earliest."""
        goes, comes = before.lacking_in(after), after.lacking_in(before)
        if not before.is_neighbour(after) and not _one_goes_one_comes(goes, comes):
            names = ", ".join(sorted({contact.location.name for contact in (*goes, *comes)}))
            self.say(index, 0, "order", f"the contacts of {names} change at once")
        for contact in comes:
            if contact.kind is ContactKind.FIXED:
                self.say(index, 0, "order", f"{contact.location.name} bears before it held")

    def posture(self, index: int, sample: int, stance: Stance, q: NDArray[np.float64]) -> bool:
        """Look at one posture at rest; False where its numbers can't be used."""
        if not self.place(index, sample, stance, q):
            return False
        margin, torque = self._balance(stance, q)
        self.margin, self.torque = min(self.margin, margin), max(self.torque, torque)
        if margin < self._limits.margin:
            self.say(index, sample, "balance", f"the centre of mass has a margin of {margin:.4g} m")
        elif torque > self._limits.torque:
            self.say(index, sample, "torque", f"a joint needs {torque:.3g} of its limit")
        return True

    def place(self, index: int, sample: int, stance: Stance, q: NDArray[np.float64]) -> bool:
        """Look at where a posture is: numbers, limits, contacts, collisions; False where the numbers can't be used."""
        model = self._robot.model
        self.postures += 1
        good = q.shape == (model.nq,) and bool(np.isfinite(q).all())
        if not good or not pin.isNormalized(model, q, 1e-4):
            self.say(index, sample, "number", f"the posture isn't {model.nq} finite numbers with unit quaternions")
            return False
        for name, excess in self._beyond_limits(q):
            self.say(index, sample, "joint limit", f"{name} is {excess:.4g} beyond its limit")
        pin.computeAllTerms(model, self._data, q, np.zeros(model.nv))
        pin.framesForwardKinematics(model, self._data, q)
        for contact in stance.contacts:
            off = self._off_its_place(contact)
            self.drift = max(self.drift, off)
            if off > self._limits.drift:
                self.say(index, sample, "drift", f"{contact.location.name} is {off:.4g} m off {contact.surface.name}")
        for what, links in self._collisions(stance, q):
            self.say(index, sample, "collision", what, links)
        return True

    def step(self, index: int, sample: int, before: NDArray[np.float64], q: NDArray[np.float64]) -> None:
        """Check that the way from the posture before isn't longer than a step."""
        model = self._robot.model
        change = np.abs(pin.difference(model, before, q))
        base = 6 if self._robot.base_joint is not None else 0
        way = float(np.linalg.norm(change[:3])) if base else 0.0
        turn = float(change[3 if base else 0 :].max(initial=0.0))
        if way > self._limits.step_base + 1e-9 or turn > self._limits.step_joint + 1e-9:
            self.say(index, sample, "step", f"the base moves {way:.4g} m, a joint turns {turn:.4g} rad")

    def _beyond_limits(self, q: NDArray[np.float64]) -> Iterator[tuple[str, float]]:
        model, limits = self._robot.model, self._robot.limits
        for name in self._robot.joint_names:
            joint = model.joints[model.getJointId(name)]
            for k in range(joint.idx_q, joint.idx_q + joint.nq):
                excess = max(limits.lower[k] - q[k], q[k] - limits.upper[k])
                if excess > self._limits.joint:
                    yield name, float(excess)

    def seat(self, contact: Contact) -> pin.SE3:
        """Frame of a contact in the world, by the scene alone."""
        body = self._bodies.get(contact.surface.body)
        if body is None:
            raise InputError(
                f"'{contact.surface.body}' is no body of scene '{self._scene.name}'",
                element=f"contact of {contact.location.name}",
            )
        return body.placement_world_body * contact.surface.placement_body_surface * contact.placement_surface_patch

    def friction(self, contact: Contact) -> float:
        """Coefficient of a contact, by the scene."""
        return self._scene.pairs(f"{self._name}/{contact.location.link}", contact.surface.body).friction

    def _off_its_place(self, contact: Contact) -> float:
        """Largest distance of a corner from its place [m]; a corner beside the surface counts too."""
        link = self._data.oMf[self._robot.model.getFrameId(contact.location.link)]
        seat, location = self.seat(contact), contact.location
        corners = np.column_stack([location.patch, np.zeros(len(location.patch))])
        corners = np.vstack([corners, [0, 0, 0]])
        here = [link.act(location.placement_link_patch.act(corner)) for corner in corners]
        off = max(float(np.linalg.norm(a - seat.act(b))) for a, b in zip(here, corners, strict=True))
        if contact.surface.polygon is not None:
            turn, at = pin.utils.rotate("z", contact.theta)[:2, :2], np.array([contact.x, contact.y])
            flat = [turn @ corner + at for corner in contact.touching]
            if not any(_inside(point, contact.surface.polygon) for point in [*flat, np.mean(flat, axis=0)]):
                return np.inf
        return off

    def _collisions(self, stance: Stance, q: NDArray[np.float64]) -> Iterator[tuple[str, tuple[str, ...]]]:
        for overlap in self._itself.overlaps(q, self._limits.penetration):
            yield str(overlap), tuple(name.rpartition("/")[0] for name in (overlap.first, overlap.second))
        pin.updateGeometryPlacements(self._robot.model, self._data, self._links, self._own, q)
        seats = {(contact.location.link, contact.surface.body) for contact in stance.contacts}
        request = coal.CollisionRequest()
        request.num_max_contacts = 20
        for i, item in enumerate(self._links.geometryObjects):
            place = _transform(self._own.oMg[i])
            for body, shape, where in self._shapes:
                result = coal.CollisionResult()
                coal.collide(item.geometry, place, shape, where, request, result)
                allowed = self._limits.seat if (self._of_link[i], body) in seats else self._limits.penetration
                if result.isCollision() and _depth(result) > allowed:
                    yield f"{self._of_link[i]} is {_depth(result):.4g} m in {body}", (self._of_link[i],)

    def _balance(self, stance: Stance, q: NDArray[np.float64]) -> tuple[float, float]:
        """Return the margin of the centre of mass, and the least part of the effort limits that holds the posture."""
        model, data = self._robot.model, self._data
        com, mass = data.com[0], pin.computeTotalMass(model)
        gravity = np.asarray(self._scene.gravity, dtype=float)
        forces, points, jacobians = [np.zeros((0, 3))], [np.zeros((0, 3))], [np.zeros((0, model.nv))]
        level = True
        for contact in stance.contacts:
            if not contact.kind.bears:
                continue
            friction = self.friction(contact)
            seat, frame = self.seat(contact), model.getFrameId(contact.location.link)
            upright = float(seat.rotation[:, 2] @ gravity) <= -_LEVEL * float(np.linalg.norm(gravity))
            level = level and upright and gravity[2] < 0.0 and not contact.bilateral
            J = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)
            angle = 2 * np.pi * np.arange(_FACETS) / _FACETS
            edges = np.column_stack([friction * np.cos(angle), friction * np.sin(angle), np.ones(_FACETS)])
            patch = np.column_stack([contact.touching, np.zeros(len(contact.touching))])
            corners = patch @ seat.rotation.T + seat.translation
            forces.append(np.tile(edges @ seat.rotation.T, (len(corners), 1)))
            points.append(np.repeat(corners, _FACETS, axis=0))
            moments = np.cross(points[-1] - data.oMf[frame].translation, forces[-1])
            jacobians.append(forces[-1] @ J[:3] + moments @ J[3:])
        F, X, jacobian = np.vstack(forces), np.vstack(points), np.vstack(jacobians)
        if not len(F):
            return -np.inf, np.inf
        wrench = np.vstack([F.T, np.cross(X - com, F).T])
        unit = mass * max(float(np.linalg.norm(gravity)), 1e-9)
        load = np.concatenate([-mass * gravity, np.zeros(3)]) / unit
        # On level contacts vertical forces hold what is above their hull: a margin that needs no linear programs.
        margin = _above_hull(com, X) if level else -np.inf
        if margin < self._limits.margin:
            margin = min(_farthest(wrench, load, np.cross(-mass * gravity / unit, d)) for d in _around())
        if margin == -np.inf:
            return margin, np.inf
        # What the centre of mass may be outside, forces may leave of its moment: else none would do there.
        lean = max(0.0, -self._limits.margin) if margin < 0.0 else 0.0
        return margin, self._effort(wrench, load, jacobian.T, unit, q, lean)

    def _effort(
        self,
        wrench: NDArray[np.float64],
        load: NDArray[np.float64],
        jacobians: NDArray[np.float64],
        unit: float,
        q: NDArray[np.float64],
        lean: float,
    ) -> float:
        model = self._robot.model
        weight = pin.computeGeneralizedGravity(model, self._data, q)
        limits = self._robot.limits.effort
        rows = [k for k in range(6 if self._robot.base_joint is not None else 0, model.nv) if np.isfinite(limits[k])]
        if not rows:
            return 0.0
        count, scale = wrench.shape[1], limits[rows]
        A = np.vstack([-jacobians[rows] * unit / scale[:, None], jacobians[rows] * unit / scale[:, None]])
        A = np.hstack([A, -np.ones((len(A), 1)), np.zeros((len(A), 2))])
        b = np.concatenate([-weight[rows] / scale, weight[rows] / scale])
        cost = np.zeros(count + 3)
        cost[count] = 1.0
        levers = np.vstack([np.zeros((3, 2)), np.cross(load[:3], np.eye(3)[:2]).T])
        equal = np.hstack([wrench, np.zeros((6, 1)), levers])
        bounds = [(0, None)] * (count + 1) + [(-lean, lean)] * 2
        solved = linprog(cost, A_ub=A, b_ub=b, A_eq=equal, b_eq=load, bounds=bounds, method="highs")
        return float(solved.fun) if solved.status == 0 else np.inf


def _above_hull(com: NDArray[np.float64], points: NDArray[np.float64]) -> float:
    """Distance of the centre of mass from the edge of the points' hull, seen from above; negative outside [m]."""
    try:
        hull = ConvexHull(points[:, :2])
    except QhullError:  # points on a line
        return -np.inf
    return float(-(hull.equations[:, :2] @ com[:2] + hull.equations[:, 2]).max())


def _around() -> Iterator[NDArray[np.float64]]:
    for angle in 2 * np.pi * np.arange(_DIRECTIONS) / _DIRECTIONS:
        yield np.array([np.cos(angle), np.sin(angle), 0.0])


def _farthest(wrench: NDArray[np.float64], load: NDArray[np.float64], lever: NDArray[np.float64]) -> float:
    """How far the centre of mass can go in a direction [m]; minus infinity where it doesn't balance where it is."""
    count = wrench.shape[1]
    # Moving the centre of mass by s d changes the moment about the old one that forces have to give by s (d x f).
    equal = np.hstack([wrench, np.concatenate([np.zeros(3), lever])[:, None]])
    cost = np.zeros(count + 1)
    cost[-1] = -1.0
    bounds = [(0, None)] * count + [(0, _FARTHEST)]
    solved = linprog(cost, A_eq=equal, b_eq=load, bounds=bounds, method="highs")
    return float(-solved.fun) if solved.status == 0 else -np.inf


def _depth(result: coal.CollisionResult) -> float:
    """Deepest penetration of the contacts that were found [m]."""
    return max((-contact.penetration_depth for contact in result.getContacts()), default=0.0)


def _transform(place: pin.SE3) -> coal.Transform3s:
    return coal.Transform3s(place.rotation, place.translation)


def _one_goes_one_comes(goes: Sequence[Contact], comes: Sequence[Contact]) -> bool:
    """Return whether what goes didn't bear any more, and what comes doesn't bear yet."""
    return len(goes) <= 1 and len(comes) <= 1 and not any(contact.kind.bears for contact in [*goes, *comes])


def _inside(point: NDArray[np.float64], polygon: NDArray[np.float64]) -> bool:
    start = np.asarray(polygon, dtype=float)
    edges = np.roll(start, -1, axis=0) - start
    away = point - start
    return bool((edges[:, 0] * away[:, 1] - edges[:, 1] * away[:, 0]).min() >= -1e-6)
