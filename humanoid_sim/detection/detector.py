# SPDX-License-Identifier: Apache-2.0
"""All contact points of a world at its present placement."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.description import HalfSpace, Shape
from humanoid_sim.detection.broad_phase import place_shapes
from humanoid_sim.detection.contact_points import ContactPoints
from humanoid_sim.detection.half_space import (
    Feature,
    PlaneTable,
    feature_table,
    features_of,
    half_space_contacts,
    point_features,
)
from humanoid_sim.detection.pair_classes import PairClasses
from humanoid_sim.detection.shape_table import ShapeTable, SolidShape, shape_table
from humanoid_sim.detection.solids import solids_of
from humanoid_sim.detection.triangle_mesh import bounding_tree
from humanoid_sim.detection.world_contacts import (
    BLOCK,
    MORE_PAIRS,
    MORE_POINTS,
    MORE_SLOTS,
    WorldShapes,
    keep_blocks,
    world_contacts,
)
from humanoid_sim.world import World, WorldBody

CONTACT_MARGIN = 2e-3
"""Shapes nearer than this are handed to the contact solver, which decides whether they touch [m]."""


class ContactDetector:
    """Finds where the bodies of a world touch.

    Two compiled calls: shapes against half-spaces, by their features, and all other pairs, of which only those are looked
    at whose bounding boxes meet. A link with a support contact (a sole) touches half-spaces with the corners of
    that contact instead of its shapes.

    Room for pairs, points and slots grows as needed; a slot once given to a pair stays the pair's.

    Attributes:
        points: the contact points that :meth:`detect` found last.
        slot_count: values in ``points.slots`` are below it; it can grow in :meth:`detect`.
    """

    def __init__(self, world: World) -> None:
        """Prepare features, shapes and trees.

        Raises:
            InputError: a mesh file can't be read.
        """
        self._world = world
        names = [body.name for body in world.bodies]
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
        self._table: ShapeTable = shape_table([solid for _, _, solid in shapes])
        self._shapes = self._world_shapes(shapes)
        self._place_fixed()
        self._first_pair_slot = int(self._features_table.slot[-1]) * len(planes)
        n = len(shapes)
        self._most_blocks = min(n * (n - 1) // 2, 64 + 8 * n) + 4
        self._make_room(pairs=64 + 8 * n, points=64 + min(64 * n, 16 * BLOCK + 8 * n))
        self._make_slots()

    # Preparation -------------------------------------------------------------------------------------------

    @staticmethod
    def _features(body: WorldBody, solid: list[tuple[Shape, pin.SE3]]) -> list[Feature]:
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
        owners = int(self._owner.max()) + 1 if len(self._owner) else 0
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
            method=self._classes.method,
            friction=self._classes.friction,
            restitution=self._classes.restitution,
            link=np.zeros(len(self._world.bodies), dtype=np.int64),
            links=np.zeros(owners, dtype=np.int64),
            link_start=np.zeros(owners, dtype=np.int64),
            link_pairs=np.zeros(0, dtype=np.bool_),
        )

    def _place_fixed(self) -> None:
        """Places of the shapes that don't move, and the tree of them."""
        n, moving = len(self._shapes.joint), self._shapes.moving
        self._rotations, self._origins = np.zeros((n, 3, 3)), np.zeros((n, 3))
        self._travels, self._boxes = np.zeros(n), np.zeros((n, 6))
        self._order = np.arange(moving)
        self._found = np.zeros(max(n - moving, 1), dtype=np.int64)
        if n == moving:
            return
        place_shapes(
            self._table, moving, n, np.eye(3)[None], np.zeros((1, 3)), np.zeros((1, 6)), self._shapes.joint,
            self._shapes.rotation, self._shapes.origin, CONTACT_MARGIN, 0.0,
            self._rotations, self._origins, self._travels, self._boxes,
        )  # fmt: skip
        order, node_box, node_child = bounding_tree(self._boxes[moving:, :3], self._boxes[moving:, 3:])
        self._shapes = self._shapes._replace(
            node_box=node_box, node_child=node_child, leaf=(moving + order).astype(np.int64)
        )

    def _make_room(self, pairs: int = 0, points: int = 0) -> None:
        if pairs:
            self._candidates = np.zeros((pairs, 2), dtype=np.int64)
            self._near, self._special = np.zeros(pairs, dtype=np.int64), np.zeros(pairs, dtype=np.int64)
        if points:
            self.points = ContactPoints(points)

    def _make_slots(self) -> None:
        """A larger table of the pairs that have slots; those that had some keep them."""
        size = 2
        while size < 4 * self._most_blocks:
            size *= 2
        self._block_keys: NDArray[np.int64] = np.full(size, -1, dtype=np.int64)
        self._blocks: NDArray[np.int64] = np.zeros(size, dtype=np.int64)
        self._used = np.zeros(2, dtype=np.int64)
        self.slot_count = self._first_pair_slot + self._most_blocks * BLOCK

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
            points = self.points
            arrays = (
                points.positions, points.normals, points.gaps, points.friction, points.restitution, points.joint_a,
                points.joint_b, points.body_a, points.body_b, points.slots, points.corner,
            )  # fmt: skip
            classes = self._classes
            points.size = half_space_contacts(
                self._features_table, self._planes, self._owner, classes.body, classes.method, classes.friction,
                classes.restitution, R, p, twists, CONTACT_MARGIN, dt, *arrays,
            )  # fmt: skip
            if points.size < 0:
                self._make_room(points=2 * len(points.gaps))
                continue
            if self._shapes.moving == 0:
                return points
            count, specials = world_contacts(
                self._table, self._shapes, R, p, twists, CONTACT_MARGIN, dt, self._rotations, self._origins,
                self._travels, self._boxes, self._order, self._candidates, self._found, self._near, self._special,
                self._block_keys, self._blocks, self._used, self._most_blocks, self._first_pair_slot, *arrays,
                points.size,
            )  # fmt: skip
            if count >= 0:
                points.size = count
                return points
            self._grow(count)

    def _grow(self, lacking: int) -> None:
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
