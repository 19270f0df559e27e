# SPDX-License-Identifier: Apache-2.0
"""All contact points of a world at its present placement."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.apart import load, load_called
from humanoid_model.checks import check_known
from humanoid_model.description import Box, HalfSpace, Shape
from humanoid_model.errors import InputError
from humanoid_model.scene import CONTACT_METHODS
from humanoid_sim.detection.backends import BACKENDS
from humanoid_sim.detection.broad_phase import place_shapes
from humanoid_sim.detection.contact_points import ContactPoints, PairClasses
from humanoid_sim.detection.face_contact import VERTICES
from humanoid_sim.detection.half_space import Feature, PlaneTable, feature_table, features_of, point_features
from humanoid_sim.detection.mesh_contact import MESH_POINTS, mesh_contact
from humanoid_sim.detection.self_collision import find_self_collision
from humanoid_sim.detection.shape_table import (
    AttachedShapes,
    JointMotion,
    MeshPoints,
    PlacedShapes,
    Pose,
    ShapeTable,
    shape_table,
)
from humanoid_sim.detection.solids import SolidShape, TriangleMesh, bounding_tree, solids_of
from humanoid_sim.detection.special_pair import PairContact, ShapeMotion, SpecialPair, warm_up_pairs
from humanoid_sim.detection.world_contacts import (
    BLOCK,
    DISTANCE,
    MORE_PAIRS,
    MORE_POINTS,
    MORE_SLOTS,
    DetectionRecord,
    DetectionRoom,
    PairTable,
    PointTable,
    WorldShapes,
    detection_record,
    keep_blocks,
    recorded_contacts,
    slot_block,
    spread_slots,
    world_contacts,
)
from humanoid_sim.world.world import World, WorldBody

_MESH_BLOCKS = 4
"""Blocks of slots of a pair with a mesh: enough for ``MESH_POINTS``."""

SlotState = tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""What :meth:`ContactDetector.save` returns."""

CONTACT_MARGIN = 2e-3
"""Shapes nearer than this are handed to the contact solver, which decides whether they touch [m]."""


class ContactDetector:
    """Finds where the bodies of a world touch.

    One compiled call: shapes against half-spaces, by their features, and all other pairs, of which only those are
    looked at whose bounding boxes meet; meshes and the methods of single pairs follow. A link with a support contact
    (a sole) touches half-spaces with the corners of that contact instead of its shapes. Links of one robot touch each
    other where the scene says ``self_collision`` (:mod:`humanoid_sim.detection.self_collision`).

    With coal as the backend it finds the distance, normal and nearest points of each pair whose boxes meet; what is
    made of them (clipped faces, slots) is the same. Half-spaces have closed forms either way.

    Room for pairs, points and slots grows as needed; a slot once given to a pair stays the pair's.

    Attributes:
        points: the contact points that :meth:`detect` found last.
        slot_count: values in ``points.slots`` are below it; it can grow in :meth:`detect`.
        compiled: whether :func:`~humanoid_sim.detection.world_contacts.recorded_contacts` finds all contacts.
        overlaps: pairs of bodies whose method is 'boolean' and that overlap.
        has_pairs: whether any two shapes can touch, besides half-spaces.
        contact_times: by pair of bodies whose method is 'continuous', time until they touch for the first time if they
            move on as they do now [s]; pairs that don't touch within two steps are not in it.
    """

    def __init__(self, world: World, backend: str = BACKENDS[0]) -> None:
        """Prepare features, shapes and trees.

        Args:
            world: the bodies.
            backend: what finds the distances of pairs, one of :data:`~humanoid_sim.detection.backends.BACKENDS`.

        Raises:
            InputError: a mesh file can't be read; an unknown backend, or coal for a mesh that collides triangle by
                triangle.
        """
        check_known(backend, BACKENDS, "detection", "detection")
        self._world = world
        self._backend = backend
        self._record: DetectionRecord | None = None
        self._recorded: ContactPoints | None = None
        names = [body.name for body in world.bodies]
        self._names = names
        self._classes = PairClasses.of_scene(world.scene, names)
        owners = {name: i for i, name in enumerate(dict.fromkeys(body.owner for body in world.bodies))}
        self._owner = np.array([owners[body.owner] for body in world.bodies], dtype=np.int64)
        groups: list[tuple[int, int, list[Feature]]] = []
        planes: list[tuple[WorldBody, pin.SE3]] = []
        shapes: list[tuple[WorldBody, pin.SE3, SolidShape]] = []
        for body in world.bodies:
            placed = [(shape, body.placement_joint_body * place) for shape, place in body.shapes]
            planes += [(body, place) for shape, place in placed if isinstance(shape, HalfSpace)]
            solid = [(shape, place) for shape, place in placed if not isinstance(shape, HalfSpace)]
            shapes += [(body, place, part) for shape, place in solid for part in solids_of(shape)]
            groups.append((body.joint, world.index[body.name], self._features(body, solid)))
        self._features_table = feature_table(groups)
        self._planes = self._plane_table(planes)
        shapes.sort(key=lambda entry: entry[0].joint == 0)  # those that move first
        self._solids = [solid for _, _, solid in shapes]
        self._table: ShapeTable = shape_table(self._solids)
        meshes = [body.name for body, _, solid in shapes if isinstance(solid, TriangleMesh)]
        if backend == "coal" and meshes:
            raise InputError(
                f"'{meshes[0]}' collides triangle by triangle, which coal knows no depth of",
                element="detection",
                remedy="Give its mesh a convex collision, or take the detection 'compiled'",
            )
        self._shapes = self._world_shapes(shapes)
        self._place_fixed()
        self._first_pair_slot = int(self._features_table.slot[-1]) * len(planes)
        n = len(shapes)
        self._most_blocks = min(n * (n - 1) // 2, 64 + 8 * n) + 4
        self._make_room(pairs=64 + 8 * n, points=64 + min(64 * n, 16 * BLOCK + 8 * n))
        self._make_slots()
        self._mesh_room = MeshPoints.of_size(MESH_POINTS)
        self._special_pairs: dict[int, SpecialPair] = {}
        self._special_planes = self._find_special_planes(planes)
        with_shapes = np.unique(self._owner[self._shapes.body])
        self.has_pairs = (
            bool(self._special_planes) or len(with_shapes) > 1 or bool(self._shapes.links.any())
        )
        own = self._backend == "compiled"
        self.compiled = bool(own and np.all(self._table.mesh < 0) and np.all(self._classes.method <= DISTANCE))
        self.overlaps: list[tuple[str, str]] = []
        self.contact_times: dict[tuple[str, str], float] = {}

    # Preparation -------------------------------------------------------------------------------------------

    @staticmethod
    def _features(body: WorldBody, solid: Sequence[tuple[Shape, pin.SE3]]) -> list[Feature]:
        if len(body.corners) > 0:
            return [corner.moved(body.placement_joint_body) for corner in point_features(body.corners)]
        return [feature.moved(place) for shape, place in solid for feature in features_of(shape)]

    def _plane_table(self, planes: list[tuple[WorldBody, pin.SE3]]) -> PlaneTable:
        index = self._world.index
        return PlaneTable(
            joint=np.array([body.joint for body, _ in planes], dtype=np.int64),
            body=np.array([index[body.name] for body, _ in planes], dtype=np.int64),
            normal=np.array([place.rotation[:, 2] for _, place in planes]).reshape(-1, 3),
            point=np.array([place.translation for _, place in planes]).reshape(-1, 3),
        )

    def _world_shapes(self, shapes: list[tuple[WorldBody, pin.SE3, SolidShape]]) -> WorldShapes:
        moving = sum(body.joint != 0 for body, _, _ in shapes)
        bodies, owners = self._world.bodies, int(self._owner.max()) + 1
        link, link_pairs = np.zeros(len(bodies), dtype=np.int64), [np.zeros(0, dtype=np.bool_)]
        links, link_start = np.zeros(owners, dtype=np.int64), np.zeros(owners, dtype=np.int64)
        for placed in self._world.scene.robots if self._world.scene.self_collision else ():
            found = find_self_collision(placed.robot, placed.q)
            for number, name in enumerate(found.links):
                link[self._world.index[f"{placed.name}/{name}"]] = number
            owner = self._owner[self._world.index[f"{placed.name}/{found.links[0]}"]]
            links[owner], link_start[owner] = len(found.links), sum(len(part) for part in link_pairs)
            link_pairs.append(found.allowed.ravel())
        return WorldShapes(
            moving=moving,
            joint=np.array([body.joint for body, _, _ in shapes], dtype=np.int64),
            body=np.array([self._world.index[body.name] for body, _, _ in shapes], dtype=np.int64),
            rotation=np.array([place.rotation for _, place, _ in shapes]).reshape(-1, 3, 3),
            origin=np.array([place.translation for _, place, _ in shapes]).reshape(-1, 3),
            node_box=np.zeros((0, 6)),
            node_child=np.zeros((0, 2), dtype=np.int64),
            leaf=np.zeros(0, dtype=np.int64),
            owner=self._owner,
            body_class=self._classes.body,
            method=self._pair_methods(),
            friction=self._classes.friction,
            restitution=self._classes.restitution,
            link=link,
            links=links,
            link_start=link_start,
            link_pairs=np.concatenate(link_pairs),
        )

    def _pair_methods(self) -> NDArray[np.int64]:
        """Return methods of pairs as the compiled code takes them: with coal all of them are left to the caller."""
        method = self._classes.method
        return np.where(method >= 0, len(CONTACT_METHODS), method) if self._backend == "coal" else method

    def _place_fixed(self) -> None:
        """Places of the shapes that don't move, and the tree of them."""
        n, moving = len(self._shapes.joint), self._shapes.moving
        self._placed = PlacedShapes.of_size(n)
        self._order = np.arange(moving)
        self._found = np.zeros(max(n - moving, 1), dtype=np.int64)
        if n == moving:
            return
        world = JointMotion(np.eye(3)[None], np.zeros((1, 3)), np.zeros((1, 6)))
        attached = AttachedShapes(self._shapes.joint, self._shapes.rotation, self._shapes.origin)
        place_shapes(self._table, moving, n, world, attached, CONTACT_MARGIN, 0.0, self._placed)
        order, node_box, node_child = bounding_tree(self._placed.boxes[moving:, :3], self._placed.boxes[moving:, 3:])
        self._shapes = self._shapes._replace(
            node_box=node_box, node_child=node_child, leaf=(moving + order).astype(np.int64)
        )

    def _make_room(self, pairs: int = 0, points: int = 0) -> None:
        if pairs:
            self._candidates = np.zeros((pairs, 2), dtype=np.int64)
            self._near, self._special = np.zeros(pairs, dtype=np.int64), np.zeros(pairs, dtype=np.int64)
            self._record = None
        if points:
            self.points = ContactPoints(points)

    def _make_slots(self) -> None:
        """Make a larger table of the pairs that have slots; those that had some keep them."""
        size = 2
        while size < 4 * self._most_blocks:
            size *= 2
        self._block_keys: NDArray[np.int64] = np.full(size, -1, dtype=np.int64)
        self._blocks: NDArray[np.int64] = np.zeros(size, dtype=np.int64)
        self._used = np.zeros(2, dtype=np.int64)
        self.slot_count = self._first_pair_slot + self._most_blocks * BLOCK
        self._record = None

    def warm_up(self) -> None:
        """Compile or load what contacts that may come need."""
        load_called([recorded_contacts], () if self.has_pairs else (world_contacts,))
        if not self.compiled:
            pose = Pose(np.eye(3), np.zeros(3))
            load(mesh_contact, self._table, 0, 0, pose, pose, 0.0, self._mesh_room)
            load_called([mesh_contact])
            warm_up_pairs(self._backend)

    # Every step --------------------------------------------------------------------------------------------

    def detect(
        self,
        R: NDArray[np.float64],
        p: NDArray[np.float64],
        twists: NDArray[np.float64],
        dt: float,
    ) -> ContactPoints:
        """Find the contact points.

        Args:
            R: rotations of the joint frames, shape (njoints, 3, 3).
            p: origins of the joint frames in the world [m], shape (njoints, 3).
            twists: world twists of the joints at the world origin, linear part first, shape (njoints, 6).
            dt: time step, for what will arrive during the step [s].

        Returns:
            :attr:`points`, overwritten, or a larger object in its place.
        """
        while True:
            count, special_count = recorded_contacts(self.record(), R, p, twists, CONTACT_MARGIN, dt)
            if count < 0:
                self.grow(count)
                continue
            self.points.size = count
            if not self.compiled:
                self.overlaps.clear()
                self.contact_times.clear()
                if special_count > 0 or self._special_planes:
                    self._add_special(special_count, R, p, twists, dt)
            return self.points

    def record(self) -> DetectionRecord:
        """Return the arrays of the compiled detection, which writes into :attr:`points`; good until something grows."""
        if self._record is None or self.points is not self._recorded:
            numbers = np.array([self._most_blocks, self._first_pair_slot, self.has_pairs], dtype=np.int64)
            room = DetectionRoom(
                *self._placed, self._order, self._candidates, self._found, self._near, self._special,
                self._block_keys, self._blocks, self._used, numbers,
            )  # fmt: skip
            self._recorded_arrays = (
                self._features_table, self._planes, PairTable.of_classes(self._owner, self._classes),
                PointTable.of_points(self.points), self._table, self._shapes, room,
            )  # fmt: skip
            self._record = detection_record(*self._recorded_arrays)
            self._recorded = self.points
        return self._record

    def save(self) -> SlotState:
        """Return which slots pairs have, for another detector of the same scene to go on with the same numbers."""
        return self._most_blocks, self._block_keys.copy(), self._blocks.copy(), self._used.copy()

    def restore(self, state: SlotState) -> None:
        """Take over the slots that :meth:`save` returned."""
        most_blocks, keys, blocks, used = state
        if most_blocks != self._most_blocks:
            self._most_blocks = most_blocks
            self._make_slots()
        self._block_keys[:], self._blocks[:], self._used[:] = keys, blocks, used

    def copy(self) -> ContactDetector:
        """Return a detector of the same bodies, with the same slots, that shares nothing that detection writes."""
        twin = copy.copy(self)
        twin._placed = PlacedShapes(*(array.copy() for array in self._placed))
        twin._order, twin._found = self._order.copy(), self._found.copy()
        twin._make_room(pairs=len(self._near), points=len(self.points.gaps))
        twin._make_slots()
        twin.restore(self.save())
        twin._mesh_room = MeshPoints.of_size(MESH_POINTS)
        twin._special_pairs, twin.overlaps, twin.contact_times = {}, [], {}
        return twin

    # Methods chosen for single pairs -------------------------------------------------------------------------

    def _find_special_planes(self, planes: list[tuple[WorldBody, pin.SE3]]) -> list[tuple[int, int]]:
        """Shapes and half-spaces whose method is not compiled."""
        found = []
        for plane, (ground, _) in enumerate(planes):
            b = self._world.index[ground.name]
            for shape in range(len(self._solids)):
                a = int(self._shapes.body[shape])
                method = self._classes.method[self._classes.body[a], self._classes.body[b]]
                moves = self._shapes.joint[shape] != self._planes.joint[plane]
                if method > DISTANCE and moves and self._owner[a] != self._owner[b]:
                    found.append((shape, plane))
        return found

    def _add_special(
        self,
        count: int,
        R: NDArray[np.float64],
        p: NDArray[np.float64],
        twists: NDArray[np.float64],
        dt: float,
    ) -> None:
        n = len(self._solids)
        for key in self._special[:count].tolist():
            i, j = divmod(key, n)
            a, b = int(self._shapes.body[i]), int(self._shapes.body[j])
            method = self._classes.method[self._classes.body[a], self._classes.body[b]]
            if method <= DISTANCE and self._backend == "compiled":
                self._add_mesh_pair(key, i, j)
                continue
            if key not in self._special_pairs:
                self._special_pairs[key] = SpecialPair(self._solids[i], self._solids[j], self._backend)
            self._add_pair(key, i, self._motion(i, twists), j, int(self._shapes.body[j]), self._motion(j, twists), dt)
        for i, plane in self._special_planes:
            # The half-space below the shape is a cube, large enough for whatever the shape can reach.
            half = self._table.half[i]
            size = float(4.0 * np.linalg.norm(half) + 4.0 * self._placed.travels[i] + 1.0)
            key = n * n + plane * n + i
            joint = self._planes.joint[plane]
            normal, point = R[joint] @ self._planes.normal[plane], R[joint] @ self._planes.point[plane] + p[joint]
            motion = self._motion(i, twists)
            centre = motion.p + motion.R @ self._table.centre[i]
            height = float(normal @ (centre - point))
            if not height - np.linalg.norm(half) <= CONTACT_MARGIN + self._placed.travels[i]:
                continue
            if key not in self._special_pairs or self._special_pairs[key].table.half[1, 0] < 0.4 * size:
                self._special_pairs[key] = SpecialPair(self._solids[i], Box(np.full(3, size)), self._backend)
            edge = 2.0 * self._special_pairs[key].table.half[1, 0]
            rotation = _upright(normal)
            below = centre - (height + 0.5 * edge) * normal
            ground = ShapeMotion(rotation, below, below, np.zeros(3), np.zeros(3))
            self._add_pair(key, i, motion, -1 - plane, int(self._planes.body[plane]), ground, dt)

    def _motion(self, shape: int, twists: NDArray[np.float64]) -> ShapeMotion:
        R, p, twist = self._placed.rotations[shape], self._placed.origins[shape], twists[self._shapes.joint[shape]]
        centre = p + R @ self._table.centre[shape]
        return ShapeMotion(R, p, centre, twist[:3] + np.cross(twist[3:], centre), twist[3:])

    def _add_mesh_pair(self, key: int, i: int, j: int) -> None:
        """Append the contact points of a pair one of which is a mesh."""
        placed = self._placed
        pose_i, pose_j = (Pose(placed.rotations[s], placed.origins[s]) for s in (i, j))
        reach = CONTACT_MARGIN + self._placed.travels[i] + self._placed.travels[j]
        size = mesh_contact(self._table, i, j, pose_i, pose_j, reach, self._mesh_room)
        a, b = int(self._shapes.body[i]), int(self._shapes.body[j])
        if self._classes.method[self._classes.body[a], self._classes.body[b]] == DISTANCE:
            size = min(size, 1)  # the first point is the nearest
        if size > 0:
            joints = int(self._shapes.joint[i]), int(self._shapes.joint[j])
            self._append(key, joints, (a, b), *(array[:size] for array in self._mesh_room))

    def _add_pair(
        self, key: int, i: int, first: ShapeMotion, j: int, b: int, second: ShapeMotion, dt: float
    ) -> None:
        """Append the contact points of a pair; ``j`` is -1 - plane for a half-space, ``b`` its body."""
        a = int(self._shapes.body[i])
        pair, classes = self._special_pairs[key], self._classes
        kinds = int(classes.body[a]), int(classes.body[b])
        method = CONTACT_METHODS[int(classes.method[kinds])]
        names = self._names[a], self._names[b]
        contact: PairContact | None = None
        if method in ("patch", "distance"):
            reach = CONTACT_MARGIN + self._placed.travels[i] + self._placed.travels[j]
            contact = pair.patch(first, second, reach) if method == "patch" else pair.nearest(first, second, reach)
        elif method == "boolean":
            if pair.overlap(first, second) and names not in self.overlaps:
                self.overlaps.append(names)
        elif method == "penetration":
            contact = pair.penetration(first, second)
        else:
            contact = pair.patch(first, second, CONTACT_MARGIN)
            if contact is None or contact.gaps.min() > 0.0:
                time = pair.time_of_contact(first, second, 2.0 * dt)
                if time < np.inf:
                    self.contact_times[names] = min(time, self.contact_times.get(names, np.inf))
                    contact = pair.swept(first, second, time, CONTACT_MARGIN)
            else:
                self.contact_times[names] = 0.0
        if contact is None:
            return
        other = self._shapes.joint[j] if j >= 0 else self._planes.joint[-1 - j]
        joints = int(self._shapes.joint[i]), int(other)
        self._append(key, joints, (a, b), contact.positions, contact.normal, contact.gaps, contact.features)
        if method == "patch":
            new = slice(self.points.size - len(contact.gaps), self.points.size)
            self.points.corner[new] = contact.features < 2 * VERTICES

    def _append(
        self,
        key: int,
        joints: tuple[int, int],
        bodies: tuple[int, int],
        positions: NDArray[np.float64],
        normals: NDArray[np.float64],
        gaps: NDArray[np.float64],
        features: NDArray[np.int64],
    ) -> None:
        """Append contact points of one pair to :attr:`points`."""
        size = len(gaps)
        while self.points.size + size > len(self.points.gaps):
            self.points = self.points.enlarged()
        width = _MESH_BLOCKS if normals.ndim == 2 else 1  # a mesh touches with many normals
        block = slot_block(key, width, self._block_keys, self._blocks, self._used, self._most_blocks)
        while block < 0:
            self.grow(MORE_SLOTS)
            block = slot_block(key, width, self._block_keys, self._blocks, self._used, self._most_blocks)
        places = np.zeros(size, dtype=np.int64)
        spread_slots(features, size, width * BLOCK, places)
        points = self.points
        new = slice(points.size, points.size + size)
        kinds = int(self._classes.body[bodies[0]]), int(self._classes.body[bodies[1]])
        points.positions[new], points.normals[new], points.gaps[new] = positions, normals, gaps
        points.friction[new] = self._classes.friction[kinds]
        points.restitution[new] = self._classes.restitution[kinds]
        points.joint_a[new], points.joint_b[new] = joints
        points.body_a[new], points.body_b[new] = bodies
        points.corner[new] = False
        points.slots[new] = self._first_pair_slot + BLOCK * block + places
        points.size = new.stop

    def grow(self, lacking: int) -> None:
        """Make room for more.

        Args:
            lacking: ``MORE_PAIRS``, ``MORE_POINTS`` or ``MORE_SLOTS``.
        """
        if lacking == MORE_PAIRS:
            self._make_room(pairs=2 * len(self._near))
        elif lacking == MORE_POINTS:
            self._make_room(points=2 * len(self.points.gaps))
        else:
            assert lacking == MORE_SLOTS
            keys, blocks, used = self._block_keys, self._blocks, self._used
            self._most_blocks *= 2
            self._make_slots()
            keep_blocks(keys, blocks, self._block_keys, self._blocks)
            self._used[:] = used


def _upright(normal: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a rotation whose z axis is a unit vector."""
    least = np.eye(3)[np.abs(normal).argmin()]
    x = np.cross(least, normal)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(normal, x), normal])
