# SPDX-License-Identifier: Apache-2.0
"""The deformable soles of a world within a simulation step: their contacts, their compliance, their deformation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.description import HalfSpace, Shape, Sphere
from humanoid_model.errors import InputError
from humanoid_sim.detection.contact_points import ContactPoints
from humanoid_sim.detection.solids import solids_of
from humanoid_sim.detection.special_pair import surface_mesh
from humanoid_sim.flexibility.deformable_sole import DeformableSole
from humanoid_sim.flexibility.sole_kernels import (
    ContactsOfSole,
    FoundContacts,
    add_compliance,
    ask_exact_positions,
    ball_contacts,
    deform,
    half_space_nodes,
    place_vertices,
    speed_bounds,
    triangle_nodes,
)
from humanoid_sim.world.world import World, WorldBody

_MARGIN = 1e-4
"""Nodes nearer to the ground than this are handed to the contact solver [m]."""
_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class _Ground:
    """What one sole may touch: places in the table of a kind, with friction."""

    planes: list[tuple[int, float]]
    balls: NDArray[np.int64]
    ball_friction: NDArray[np.float64]
    triangles: NDArray[np.int64]
    triangle_friction: NDArray[np.float64]


class SoleContacts:
    r"""All deformable soles of a world, as a step uses them (specification 000 §§13.3, 17.6 and 18).

    A sole touches half-spaces, height fields and other fixed shapes with its nodes, and balls (grains, which may move)
    and the corners of the fixed shapes with the triangles of its surface. Moving shapes but balls it doesn't feel;
    they meet the rigid body that it is glued to. Each contact has restitution 0 (§4.3.5) and the sole's body as body a.

    Within a step the methods are called in the order of :meth:`detect`, :meth:`add_to_problem` and :meth:`update`, the
    latter two for each sole: soles of two robots may be in two problems. A problem can be posed again after the update;
    it is that of the displacements at the detection.

    Attributes:
        soles: by name of the body that they are glued to.
        places: first contact of each sole among the contacts of the step, and one past its last, in the order of
            :attr:`soles`.
        slot_count: number of contact slots that the soles need.
    """

    def __init__(self, world: World, soles: Mapping[str, DeformableSole]) -> None:
        """Find what the soles of a world may touch.

        Args:
            world: the world.
            soles: by name of the body that they are glued to, in its frame.

        Raises:
            InputError: unknown body, or a mesh file that can't be read.
        """
        for name in soles:
            if name not in world.index:
                raise InputError(f"there is no body '{name}'", element="soles", remedy="Name a body of the scene")
        self.soles = dict(soles)
        self._soles = list(soles.values())
        self._world = world
        self._bodies = [world.bodies[world.index[name]] for name in soles]
        self._collect(world)
        self._ground = [self._ground_of(body) for body in self._bodies]
        self._vertices = [np.empty_like(sole.vertices) for sole in soles.values()]
        self._before = [sole.U.copy() for sole in soles.values()]
        self._R = [np.eye(3) for _ in soles]
        self.places: list[tuple[int, int]] = [(0, 0) for _ in soles]
        self._first = 0
        self._first_slot = 0
        capacity, slots = 0, 0
        self._slot_starts = []
        for sole, ground in zip(soles.values(), self._ground, strict=True):
            self._slot_starts.append(slots)
            slots += sole.free * (len(ground.planes) + 1) + len(ground.balls)
            capacity += sole.free * (len(ground.planes) + 1) + len(ground.balls)
        self.slot_count = slots
        self._capacity = capacity
        self._found = FoundContacts.of_size(capacity)
        self._signs = np.ones(capacity)

    # Preparation -------------------------------------------------------------------------------------------

    def _collect(self, world: World) -> None:
        planes: list[tuple[WorldBody, pin.SE3]] = []
        centres, radii, ball_joints, ball_bodies = [], [], [], []
        corners, corner_bodies = [np.zeros((0, 3, 3))], []
        for body in world.bodies:
            for shape, place in body.shapes:
                where = body.placement_joint_body * place
                if isinstance(shape, HalfSpace):
                    planes.append((body, where))
                    continue
                points, size = np.zeros((0, 3)), 0.0
                if isinstance(shape, Sphere):
                    points, size = where.translation[None], shape.radius
                elif body.joint == 0:
                    triangles = _triangles(shape) @ where.rotation.T + where.translation
                    corners.append(triangles)
                    corner_bodies += [world.index[body.name]] * len(triangles)
                    points = np.unique(triangles.reshape(-1, 3), axis=0)
                centres.append(points)
                radii += [size] * len(points)
                ball_joints += [body.joint] * len(points)
                ball_bodies += [world.index[body.name]] * len(points)
        self._planes = planes
        self._centres = np.vstack([np.zeros((0, 3)), *centres])
        self._radii = np.array(radii, dtype=float)
        self._ball_joints = np.array(ball_joints, dtype=np.int64)
        self._ball_bodies = np.array(ball_bodies, dtype=np.int64)
        self._corners = np.vstack(corners)
        self._corner_bodies = np.array(corner_bodies, dtype=np.int64)

    def _ground_of(self, body: WorldBody) -> _Ground:
        scene, names = self._world.scene, [other.name for other in self._world.bodies]
        owners = [other.owner for other in self._world.bodies]
        friction = np.full(len(names), -1.0)
        for i, name in enumerate(names):
            if owners[i] != body.owner and scene.collides(body.name, name):
                friction[i] = scene.pairs(body.name, name).friction
        index = self._world.index
        planes = [
            (i, float(friction[index[other.name]]))
            for i, (other, _) in enumerate(self._planes)
            if friction[index[other.name]] >= 0.0
        ]
        balls = np.flatnonzero(friction[self._ball_bodies] >= 0.0) if self._ball_bodies.size else np.zeros(0, np.int64)
        triangles = (
            np.flatnonzero(friction[self._corner_bodies] >= 0.0) if self._corner_bodies.size else np.zeros(0, np.int64)
        )
        return _Ground(
            planes,
            balls,
            friction[self._ball_bodies[balls]],
            triangles,
            friction[self._corner_bodies[triangles]],
        )

    # Every step --------------------------------------------------------------------------------------------

    def detect(
        self,
        R: NDArray[np.float64],
        p: NDArray[np.float64],
        twists: NDArray[np.float64],
        dt: float,
        points: ContactPoints,
        first_slot: int,
    ) -> ContactPoints:
        """Place the soles and add their contacts behind those that there are.

        Args:
            R: rotations of the joint frames, shape (njoints, 3, 3).
            p: origins of the joint frames in the world [m], shape (njoints, 3).
            twists: world twists of the joints at the world origin, linear first, shape (njoints, 6).
            dt: time step [s].
            points: contacts of the step so far.
            first_slot: slots of all other contacts are below it, those of the soles from there on.

        Returns:
            ``points``, or where they didn't fit a larger object in its place.
        """
        while len(points.gaps) < points.size + self._capacity:
            points = points.enlarged()
        self._first = points.size
        self._first_slot = first_slot
        centres = self._centres
        if np.any(self._ball_joints):
            centres = np.einsum("bij,bj->bi", R[self._ball_joints], centres) + p[self._ball_joints]
        for s, (sole, body, ground) in enumerate(zip(self.soles.values(), self._bodies, self._ground, strict=True)):
            joint = body.joint
            R_sole = R[joint] @ body.placement_joint_body.rotation
            p_sole = R[joint] @ body.placement_joint_body.translation + p[joint]
            self._R[s] = R_sole
            world = self._vertices[s]
            self._before[s][:] = sole.U
            place_vertices(R_sole, p_sole, sole.vertices, sole.U, world)
            reach = _MARGIN + 2.0 * dt * speed_bounds(world, twists[joint], _UP)[0]
            start = points.size
            self._touch_planes(s, sole, ground, R, p, twists, dt, points)
            self._touch_balls(s, sole, ground, centres, reach, points)
            self._touch_triangles(s, sole, ground, reach, points)
            self.places[s] = start, points.size
            points.joint_a[start : points.size] = joint
            points.body_a[start : points.size] = self._world.index[body.name]
            points.restitution[start : points.size] = 0.0
            points.corner[start : points.size] = True
        return points

    def _take(self, points: ContactPoints, count: int, slots: NDArray[np.int64]) -> slice:
        """Copy contacts found behind the others."""
        placed = slice(points.size, points.size + count)
        kept = slice(points.size - self._first, points.size - self._first + count)
        found = self._found
        points.positions[placed], points.normals[placed] = found.positions[kept], found.normals[kept]
        points.gaps[placed] = np.maximum(found.gaps[kept], 0.0)  # what is inside is put right here, not by a correction
        points.slots[placed] = self._first_slot + slots
        points.size += count
        return placed

    def _touch_planes(
        self,
        s: int,
        sole: DeformableSole,
        ground: _Ground,
        R: NDArray[np.float64],
        p: NDArray[np.float64],
        twists: NDArray[np.float64],
        dt: float,
        points: ContactPoints,
    ) -> None:
        twist = twists[self._bodies[s].joint]
        for rank, (plane, friction) in enumerate(ground.planes):
            other, place = self._planes[plane]
            normal = R[other.joint] @ place.rotation[:, 2]
            offset = float(normal @ (R[other.joint] @ place.translation + p[other.joint]))
            reach = _MARGIN + 2.0 * dt * speed_bounds(self._vertices[s], twists[other.joint] - twist, normal)[1]
            before = points.size - self._first
            count = half_space_nodes(
                self._R[s], self._vertices[s], sole.U, normal, offset, reach, before, self._found
            ) - before  # fmt: skip
            nodes = self._found.vertices[before : before + count, 0]
            placed = self._take(points, count, self._slot_starts[s] + rank * sole.free + nodes)
            points.friction[placed] = friction
            points.joint_b[placed] = other.joint
            points.body_b[placed] = self._world.index[other.name]

    def _touch_balls(
        self,
        s: int,
        sole: DeformableSole,
        ground: _Ground,
        centres: NDArray[np.float64],
        reach: float,
        points: ContactPoints,
    ) -> None:
        if ground.balls.size == 0:
            return
        before = points.size - self._first
        count = ball_contacts(
            self._vertices[s], sole.triangles, centres[ground.balls], self._radii[ground.balls], reach, sole.depth,
            before, self._found,
        ) - before  # fmt: skip
        found = self._found.other[before : before + count]
        slots = self._slot_starts[s] + sole.free * (len(ground.planes) + 1) + found
        placed = self._take(points, count, slots)
        points.friction[placed] = ground.ball_friction[found]
        points.joint_b[placed] = self._ball_joints[ground.balls[found]]
        points.body_b[placed] = self._ball_bodies[ground.balls[found]]

    def _touch_triangles(
        self, s: int, sole: DeformableSole, ground: _Ground, reach: float, points: ContactPoints
    ) -> None:
        if ground.triangles.size == 0:
            return
        before = points.size - self._first
        count = triangle_nodes(
            self._vertices[s], sole.free, self._corners[ground.triangles], reach, sole.depth,
            before, self._found,
        ) - before  # fmt: skip
        nodes, found = self._found.vertices[before : before + count, 0], self._found.other[before : before + count]
        placed = self._take(points, count, self._slot_starts[s] + len(ground.planes) * sole.free + nodes)
        points.friction[placed] = ground.triangle_friction[found]
        points.joint_b[placed] = 0
        points.body_b[placed] = self._corner_bodies[ground.triangles[found]]

    def add_to_problem(
        self,
        sole: int,
        frames: NDArray[np.float64],
        rows: NDArray[np.int64],
        dt: float,
        W: NDArray[np.float64],
        v_free: NDArray[np.float64],
    ) -> None:
        r"""Add a sole to the contact problem of the rigid bodies (thesis equations 4.21 and 4.32).

        Args:
            sole: its place in :attr:`soles` and :attr:`places`.
            frames: contact frames (n, t1, t2) of all contacts as rows, shape (m or more, 3, 3).
            rows: row of the normal of each of the sole's contacts in the problem, shape (c,).
            dt: time step [s].
            W: Delassus operator of the rigid bodies, added to, shape (rows, rows).
            v_free: free velocities with the shifts for gaps in them, added to, shape (rows,).
        """
        body, contacts = self._soles[sole], self._contacts(sole, frames, rows)
        start, end = self.places[sole]
        gaps = self._found.gaps[start - self._first : end - self._first]
        ask_exact_positions(gaps, np.maximum(gaps, 0.0), rows, dt, v_free)
        add_compliance(self._R[sole], body.S, self._before[sole], contacts, dt, W, v_free)

    def update(
        self, sole: int, frames: NDArray[np.float64], rows: NDArray[np.int64], forces: NDArray[np.float64]
    ) -> None:
        """Deform a sole under the forces that the contact problem gave.

        Args:
            sole: as in :meth:`add_to_problem`.
            frames: same.
            rows: same.
            forces: solution of the problem [N], shape (rows,).
        """
        body = self._soles[sole]
        deform(self._R[sole], body.S, self._contacts(sole, frames, rows), forces, body.U)

    def _contacts(self, sole: int, frames: NDArray[np.float64], rows: NDArray[np.int64]) -> ContactsOfSole:
        """Return the sole's contacts in a problem."""
        start, end = self.places[sole]
        kept = slice(start - self._first, end - self._first)
        found = self._found
        return ContactsOfSole(
            np.arange(start, end), rows, self._signs[kept], found.vertices[kept], found.weights[kept], frames
        )

    def save(self) -> dict[str, NDArray[np.float64]]:
        """Return copies of the displacements by body: all that a sole remembers."""
        return {name: sole.U.copy() for name, sole in self.soles.items()}

    def restore(self, state: Mapping[str, NDArray[np.float64]]) -> None:
        """Go back to what :meth:`save` returned."""
        for name, sole in self.soles.items():
            sole.U[:] = state[name]


def _triangles(shape: Shape) -> NDArray[np.float64]:
    """Return corners of the triangles of a shape's surface, counter-clockwise from outside [m], shape (t, 3, 3).

    Round shapes are approximated; a mesh stands for what it collides as.

    Raises:
        InputError: a mesh file can't be read.
    """
    corners = np.vstack([surface_mesh(solid).triangles for solid in solids_of(shape)])
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return np.asarray(corners[normals.any(axis=1)])
