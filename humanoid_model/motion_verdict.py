# SPDX-License-Identifier: Apache-2.0
"""Whether a whole-body motion walks: by Pinocchio and the robot's own limits alone, whatever made it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.arrays import Array
from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import Geometry
from humanoid_model.ground_profile import GroundProfile
from humanoid_model.violation import Limit, Violation, ViolationKind, worst_first
from humanoid_model.whole_body_trajectory import ContactSpan, PlannedForce, WholeBodyTrajectory

ANGLE = 2e-3
"""Way beyond the end of a range that counts as none [rad or m]: what penalties leave over."""
RATE, EFFORT = 1e-2, 1e-3
"""Shares of their limits by which a speed and an effort may be exceeded: transcriptions keep them at their nodes."""
JUMP = 1e-6
"""Jump of a position or velocity that counts as none [m, rad, and per s]: what players take."""
RATES, CHANGES = 0.1, 0.2
"""Difference of velocities from those of the positions, and of their changes between samples from what accelerations
make, that count as none [per s]: transcriptions on the default meshes leave half of them."""
PLACE = 1e-3
"""By which a sole that is held may be off the ground, or slide on it [m]."""
SWING = 1e-4
"""By which a sole in the air may be lower than it has to be: it would touch the ground [m]."""
LIFTED = 5e-4
"""Least height of a sole on its way [m]: BIP2000, whose servos are off by that, stumbles over its soles below it."""
LIFTING = 0.1
"""Share of a swing at either end in which the sole may be lower."""
FORCE = 0.5
"""Of a normal force below zero that counts as none [N]."""
FRICTION = 1e-3
"""Share by which a friction coefficient may be exceeded."""
BALANCE = 2e-3
"""Of the weight: generalised force without cause that counts as none, on arms of a metre."""
PULL = 1e-2
"""Of a normal impulse below zero that counts as none [N s]."""
IMPULSE = 2e-3
"""Of the mass times 1 m/s: jump of the momentum without cause that counts as none, on arms of a metre."""
_SIDES = 8
"""Parts of each side of a sole whose ends are looked at where the ground has edges."""


def judge_motion(
    motion: WholeBodyTrajectory, ground: GroundProfile, friction: float, obstacles: Sequence[Geometry] = ()
) -> tuple[Violation, ...]:
    """Return what a motion doesn't keep, the worst first; nothing of a motion that walks.

    Looked at are, sample by sample: ranges, speeds and efforts of driven joints; jumps where a time is given twice, and
    between samples whether velocities and accelerations are those of the positions; soles below the ground, or hardly
    above it on their way, held ones off it or sliding; forces that pull, need more friction, or act above the ground;
    and inverse dynamics: planned efforts, forces and impulses have to be what the motion takes.

    Args:
        motion: with planned efforts and forces.
        ground: that it walks on.
        friction: coefficient of the ground.
        obstacles: shapes placed in the world that no collision shape of the robot may be in.
    """
    judge = _Judge(motion, ground, friction)
    found = [judge.joints(), judge.kinematics(), judge.soles(), judge.forces(), judge.dynamics(), judge.impacts()]
    return worst_first([own for kind in (*found, judge.clearances(obstacles)) for own in kind])


@dataclass(frozen=True, eq=False)
class _Judge:
    """One motion being judged."""

    motion: WholeBodyTrajectory
    ground: GroundProfile
    friction: float

    def joints(self) -> Iterator[Violation]:
        """Yield ranges, speeds and efforts."""
        motion, robot = self.motion, self.motion.robot
        limits, t = robot.limits, motion.times
        columns = zip(motion.joint_names, motion.positions.T, motion.velocities.T, motion.torques.T, strict=True)
        for name, q, v, tau in columns:
            at, own = robot.index_q(name), robot.index_v(name)
            speed, effort = float(limits.velocity[own]), float(limits.effort[own])
            yield from Limit(ViolationKind.RANGE, f"{name}: least position", "rad", ANGLE, True).check(
                t, q, limits.lower[at]
            )
            yield from Limit(ViolationKind.RANGE, f"{name}: greatest position", "rad", ANGLE).check(
                t, q, limits.upper[at]
            )
            for kind, what, unit, values, most, share in (
                (ViolationKind.RATE, "speed", "rad/s", v, speed, RATE),
                (ViolationKind.BOUND, "effort", "N m", tau, effort, EFFORT),
            ):
                if most < np.inf:
                    tolerance = share * max(most, 1.0)
                    yield from Limit(kind, f"{name}: {what}", unit, tolerance).check(t, np.abs(values), most)

    def kinematics(self) -> Iterator[Violation]:
        """Yield jumps, and derivatives that aren't: positions run as polynomials between samples."""
        motion, model = self.motion, self.motion.robot.model
        h, t = np.diff(motion.times), motion.times[:-1]
        step = np.array([pin.difference(model, q, after) for q, after in zip(motion.q, motion.q[1:], strict=False)])
        twice = h == 0.0
        given = np.isin(t, [impact.time for impact in motion.impacts])  # :meth:`impacts` looks at these
        jumps = np.diff(motion.v, axis=0)
        for what, change, rows in (("position", step, twice), ("velocity", jumps, twice & ~given)):
            yield from Limit(ViolationKind.JUMP, f"jump of a {what}", "", JUMP).check(
                t[rows], np.abs(change[rows]).max(axis=1, initial=0.0), 0.0
            )
        between, h = np.flatnonzero(~twice), h[~twice, None]
        v, a = motion.v, motion.a
        mean = 0.5 * (v[between] + v[between + 1]) + h / 12.0 * (a[between] - a[between + 1])
        off = np.abs(step[between] / h - mean).max(axis=1)
        yield from Limit(ViolationKind.JUMP, "velocity that isn't that of the position", "per s", RATES).check(
            t[between], off, 0.0
        )
        off = np.abs(v[between + 1] - v[between] - 0.5 * h * (a[between] + a[between + 1])).max(axis=1)
        yield from Limit(ViolationKind.JUMP, "change of velocity that no acceleration makes", "per s", CHANGES).check(
            t[between], off, 0.0
        )

    def soles(self) -> Iterator[Violation]:
        """Yield soles below the ground, hardly above it, and held ones off it or sliding; and grasps that slip."""
        motion, robot = self.motion, self.motion.robot
        for span in motion.contacts:
            on = robot.parts.links.get(span.contact.surface.body)
            if on is not None and on.joint_id:
                yield from self._grasped(span, span.contact.surface.body)
        for name, location in robot.contacts.items():
            spans = [span for span in motion.contacts if span.location == name]
            if not location.support:
                continue
            outline = self._placed(location.link, self._outline(location.vertices_link))
            held: NDArray[np.bool_] = np.zeros(len(motion.times), dtype=bool)
            for span in spans:
                inside = (motion.times >= span.start) & (motion.times <= span.end)
                held |= inside
                yield from self._held(span, np.flatnonzero(inside).astype(np.int64))
            above = (outline[..., 2] - self._heights(outline[..., 0]).min(axis=0)).min(axis=1)
            for what, rows, tolerance in (("held", held, PLACE), ("swinging", ~held, SWING)):
                limit = Limit(ViolationKind.CLEARANCE, f"height of the {what} {name}", "m", tolerance, True)
                yield from limit.check(motion.times[rows], above[rows], self._least_heights(held)[rows])

    def _least_heights(self, held: NDArray[np.bool_]) -> Array:
        """(K,) least heights of a sole above the ground that is held so long [m]."""
        least, t = np.zeros(len(held)), self.motion.times
        changes = np.flatnonzero(np.diff(np.concatenate([[True], held, [True]]).astype(int)))
        for first, end in changes.reshape(-1, 2):
            share = (t[first:end] - t[first]) / max(t[end - 1] - t[first], 1e-9)
            least[first:end] = np.where(np.abs(share - 0.5) <= 0.5 - LIFTING, LIFTED, 0.0)
        return least

    def _held(self, span: ContactSpan, rows: NDArray[np.int64]) -> Iterator[Violation]:
        if not span.contact.kind.bears or not len(rows):
            return
        t = self.motion.times[rows]
        corners = self._placed(span.contact.location.link, span.corners_link)[rows]
        above = (corners[..., 2] - self._heights(corners[..., 0]).max(axis=0)).max(axis=1)
        what = f"{span.part} of {span.location}" if span.part != "sole" else span.location
        yield from Limit(ViolationKind.CLOSURE, f"height of {what}, which bears,", "m", PLACE).check(t, above, 0.0)
        slid = np.linalg.norm(corners[..., :2] - corners[0, :, :2], axis=2).max(axis=1)
        yield from Limit(ViolationKind.CLOSURE, f"slide of {what}", "m", PLACE).check(t, slid, 0.0)

    def _grasped(self, span: ContactSpan, link: str) -> Iterator[Violation]:
        """Yield how far a contact with another link isn't where it belongs on that."""
        inside = (self.motion.times >= span.start) & (self.motion.times <= span.end)
        contact, robot = span.contact, self.motion.robot
        frame = contact.surface.placement_body_surface * contact.placement_surface_patch
        back = contact.location.placement_link_patch
        belongs = np.array([frame.act(back.actInv(corner)) for corner in span.corners_link])
        off = []
        for q in self.motion.q[inside]:
            links = robot.link_placements(q)
            between = links[link].inverse() * links[contact.location.link]
            off.append(max(np.linalg.norm(between.act(c) - b) for c, b in zip(span.corners_link, belongs, strict=True)))
        limit = Limit(ViolationKind.CLOSURE, f"distance of {span.location} from where it holds {link}", "m", PLACE)
        yield from limit.check(self.motion.times[inside], np.array(off), 0.0)

    def forces(self) -> Iterator[Violation]:
        """Yield forces, and impulses, that pull, slip, or act above the ground."""
        motion = self.motion
        if motion.forces:
            yield from self._pressing(motion.times, motion.forces, "N")
        if motion.impacts:
            times = np.array([impact.time for impact in motion.impacts])
            yield from self._pressing(times, [impact.impulses for impact in motion.impacts], "N s")

    def _pressing(
        self, times: Array, samples: Sequence[Sequence[PlannedForce]], unit: str
    ) -> Iterator[Violation]:
        what, none = ("force", FORCE) if unit == "N" else ("impulse", PULL)
        names = sorted({force.location for sample in samples for force in sample})
        for name in names:
            own = [[force for force in sample if force.location == name] for sample in samples]
            normals = [[float(force.force @ force.normal) for force in sample] for sample in own]
            least = np.array([min(sample, default=0.0) for sample in normals])
            if any(span.location == name and span.contact.bilateral for span in self.motion.contacts):
                continue
            pulls = Limit(ViolationKind.ROOT_FOOT_PULLS, f"{name}: normal {what}", unit, none, True)
            yield from pulls.check(times, least, 0.0)
            total = np.array([sum((force.force for force in sample), np.zeros(3)) for sample in own])
            normal = np.array([sum(sample) for sample in normals])
            along = np.linalg.norm(
                total - normal[:, None] * np.array([s[0].normal if s else np.zeros(3) for s in own]), axis=1
            )
            slips = Limit(ViolationKind.FRICTION, f"{name}: friction {self.friction:g}", unit, self.friction * none)
            along[normal < -none] = 0.0  # it pulls, whatever its friction
            yield from slips.check(times, along, (1.0 + FRICTION) * self.friction * np.maximum(normal, 0.0))
            if not self.motion.robot.contacts[name].support:
                continue
            high = [
                max((self._above(force.place) for force in sample if abs(force.force).max() > none), default=0.0)
                for sample in own
            ]
            aloft = Limit(ViolationKind.CLOSURE, f"{name}: height of a {what} above the ground", "m", PLACE)
            yield from aloft.check(times, high, 0.0)

    def dynamics(self) -> Iterator[Violation]:
        """Yield what no planned effort or force is the cause of, coordinate by coordinate."""
        motion, robot = self.motion, self.motion.robot
        model, data = robot.model, robot.model.createData()
        rest = np.empty_like(motion.v)
        for k, (q, v, a) in enumerate(zip(motion.q, motion.v, motion.a, strict=True)):
            outer = self._outer(data, q, motion.forces[k] if motion.forces else ())
            rest[k] = pin.rnea(model, data, q, v, a, outer) - motion.tau[k]
        weight = sum(inertia.mass for inertia in model.inertias) * float(np.linalg.norm(model.gravity.linear))
        for column, (name, unit) in enumerate(_coordinates(model)):
            limit = Limit(ViolationKind.DYNAMICS, f"{name} that nothing gives", unit, BALANCE * weight)
            yield from limit.check(motion.times, np.abs(rest[:, column]), 0.0)

    def impacts(self) -> Iterator[Violation]:
        """Yield jumps of the momentum that no planned impulse is the cause of."""
        motion, model = self.motion, self.motion.robot.model
        data = model.createData()
        mass = sum(inertia.mass for inertia in model.inertias)
        for impact in motion.impacts:
            (rows,) = np.nonzero(motion.times == impact.time)
            if len(rows) < 2:  # at an end of the motion: what is on the other side isn't in it
                continue
            q = motion.q[rows[0]]
            jump = pin.crba(model, data, q) @ (motion.v[rows[1]] - motion.v[rows[0]])
            for joint, impulse in enumerate(self._outer(data, q, impact.impulses)):
                J = pin.computeJointJacobian(model, data, q, joint) if joint else np.zeros((6, model.nv))
                jump -= J.T @ impulse.vector
            limit = Limit(ViolationKind.DYNAMICS, "jump of the momentum that nothing gives", "N s", IMPULSE * mass)
            yield from limit.check(np.array([impact.time]), np.abs(jump).max(keepdims=True), 0.0)

    def _outer(self, data: pin.Data, q: Array, forces: Sequence[PlannedForce]) -> pin.StdVec_Force:
        """Return the forces of the scene on each joint, in its frame."""
        robot, outer = self.motion.robot, pin.StdVec_Force()
        pin.forwardKinematics(robot.model, data, q)
        outer.extend([pin.Force.Zero() for _ in range(robot.model.njoints)])
        for force in forces:
            wrench = pin.Force(force.force, np.cross(force.place, force.force))
            for link, sign in ((robot.contacts[force.location].link, 1.0), (force.link, -1.0)):
                if link:
                    joint = robot.parts.links[link].joint_id
                    outer[joint] += data.oMi[joint].actInv(sign * wrench)
        return outer

    def clearances(self, obstacles: Sequence[Geometry]) -> Iterator[Violation]:
        """Yield how deep the robot's shapes are in others."""
        motion, robot = self.motion, self.motion.robot
        data, names = robot.model.createData(), [one.name or "an obstacle" for one in obstacles]
        there = [(coal_geometry(one.shape), _placed(one.placement)) for one in obstacles]
        links = robot.description.links.values() if obstacles else ()
        own = [(link.name, coal_geometry(part.shape), part.placement) for link in links for part in link.collisions]
        depths = np.zeros((len(motion.times), len(own), len(there)))
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        for k, q in enumerate(motion.q if own else ()):
            pin.forwardKinematics(robot.model, data, q)
            for i, (link, shape, placement) in enumerate(own):
                carrier = robot.parts.links[link]
                place = _placed(data.oMi[carrier.joint_id] * carrier.placement_joint_link * placement)
                for j, (obstacle, at) in enumerate(there):
                    result.clear()
                    depths[k, i, j] = -coal.distance(shape, place, obstacle, at, request, result)
        for i, (link, _, _) in enumerate(own):
            for j, name in enumerate(names):
                limit = Limit(ViolationKind.CLEARANCE, f"depth of {link} in {name}", "m", SWING)
                yield from limit.check(motion.times, np.maximum(depths[:, i, j], 0.0), 0.0)

    # Places ---------------------------------------------------------------------------------------------------------

    def _placed(self, link: str, points: Array) -> Array:
        """(K, k, 3) points of a link in the world [m]."""
        robot, data = self.motion.robot, self.motion.robot.model.createData()
        part = robot.parts.links[link]
        own = points @ part.placement_joint_link.rotation.T + part.placement_joint_link.translation
        placed = np.empty((len(self.motion.times), *points.shape))
        for k, q in enumerate(self.motion.q):
            pin.forwardKinematics(robot.model, data, q)
            place = data.oMi[part.joint_id]
            placed[k] = own @ place.rotation.T + place.translation
        return placed

    def _outline(self, corners: Array) -> Array:
        """Corners, and places on the sides between them where a stair's edge may be."""
        if not len(self.ground.edges):
            return corners
        shares = np.linspace(0.0, 1.0, _SIDES, endpoint=False)[:, None, None]
        return np.asarray(((1.0 - shares) * corners + shares * np.roll(corners, -1, axis=0)).reshape(-1, 3))

    def _heights(self, x: Array) -> Array:
        """(2, ...) heights of the ground a tolerance behind and ahead: at an edge either side holds a sole [m]."""
        return np.stack([self.ground.height(x - PLACE), self.ground.height(x + PLACE)])

    def _above(self, place: Array) -> float:
        return float(place[2] - self._heights(place[0]).max())


def _placed(placement: pin.SE3) -> coal.Transform3s:
    return coal.Transform3s(placement.rotation, placement.translation)


def _coordinates(model: pin.Model) -> list[tuple[str, str]]:
    """(nv,) names of generalised forces, and their units."""
    found = [("", "")] * model.nv
    for name, joint in zip(model.names[1:], model.joints[1:], strict=True):
        if joint.nv == 1:
            found[joint.idx_v] = f"{name}: effort", "N m"
        for part in range(joint.nv if joint.nv > 1 else 0):
            what, unit = (("force", "N"), ("moment", "N m"))[part // 3]
            found[joint.idx_v + part] = f"{name}: {what} along its {'xyz'[part % 3]}", unit
    return found
