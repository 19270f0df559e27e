# SPDX-License-Identifier: Apache-2.0
"""All contact points of a world at its present placement."""

from __future__ import annotations

import itertools

import numpy as np
import pinocchio as pin
from numba import njit
from numpy.typing import NDArray

from humanoid_model.description import Box, HalfSpace
from humanoid_sim.detection.contact_points import ContactPoints
from humanoid_sim.detection.face_contact import MAX_POINTS
from humanoid_sim.detection.half_space import (
    SLOTS_PER_FEATURE,
    Feature,
    features_of,
    half_space_contacts,
    point_features,
)
from humanoid_sim.detection.shape_pair import ConvexShape, ShapePair
from humanoid_sim.world import World, WorldBody

CONTACT_MARGIN = 2e-3
"""Shapes nearer than this are handed to the contact solver, which decides whether they touch [m]."""


@njit(cache=True)
def near_pairs(
    R: np.ndarray,
    p: np.ndarray,
    twists: np.ndarray,
    pair_shapes: np.ndarray,
    shape_joint: np.ndarray,
    shape_rotation: np.ndarray,
    shape_centre: np.ndarray,
    shape_half: np.ndarray,
    margin: float,
    dt: float,
    near: np.ndarray,
    travels: np.ndarray,
) -> int:
    """Pairs whose bounding boxes along the world's axes come within the margin in the next two steps.

    Args:
        R: rotations of the joint frames, shape (njoints, 3, 3).
        p: origins of the joint frames in the world [m], shape (njoints, 3).
        twists: world twists of the joints at the world origin, linear part first, shape (njoints, 6).
        pair_shapes: shapes of each pair, shape (k, 2).
        shape_joint: joint that moves each shape, shape (n,).
        shape_rotation: from the frame of the shape's bounding box to the joint frame, shape (n, 3, 3).
        shape_centre: centre of the shape's bounding box in the joint frame [m], shape (n, 3).
        shape_half: half edge lengths of the bounding box [m], shape (n, 3).
        margin: distance up to which pairs count as near [m].
        dt: time step [s].
        near: receives the pairs, shape (k,).
        travels: receives how far each shape can move in two steps [m], shape (n,).

    Returns:
        The number of near pairs.
    """
    n = shape_joint.size
    centres = np.empty((n, 3))
    halves = np.empty((n, 3))
    for s in range(n):
        j = shape_joint[s]
        speed = 0.0
        spin = 0.0
        for r in range(3):
            centres[s, r] = (
                p[j, r]
                + R[j, r, 0] * shape_centre[s, 0]
                + R[j, r, 1] * shape_centre[s, 1]
                + R[j, r, 2] * shape_centre[s, 2]
            )
        for r in range(3):
            c1 = (r + 1) % 3
            c2 = (r + 2) % 3
            v = twists[j, r] + twists[j, 3 + c1] * centres[s, c2] - twists[j, 3 + c2] * centres[s, c1]
            speed += v * v
            spin += twists[j, 3 + r] ** 2
        radius = np.sqrt(shape_half[s, 0] ** 2 + shape_half[s, 1] ** 2 + shape_half[s, 2] ** 2)
        travel = 2.0 * dt * (np.sqrt(speed) + np.sqrt(spin) * radius)
        travels[s] = travel
        for r in range(3):
            half = travel
            for c in range(3):
                entry = (
                    R[j, r, 0] * shape_rotation[s, 0, c]
                    + R[j, r, 1] * shape_rotation[s, 1, c]
                    + R[j, r, 2] * shape_rotation[s, 2, c]
                )
                half += abs(entry) * shape_half[s, c]
            halves[s, r] = half
    count = 0
    for k in range(pair_shapes.shape[0]):
        a = pair_shapes[k, 0]
        b = pair_shapes[k, 1]
        if (
            abs(centres[a, 0] - centres[b, 0]) <= halves[a, 0] + halves[b, 0] + margin
            and abs(centres[a, 1] - centres[b, 1]) <= halves[a, 1] + halves[b, 1] + margin
            and abs(centres[a, 2] - centres[b, 2]) <= halves[a, 2] + halves[b, 2] + margin
        ):
            near[count] = k
            count += 1
    return count


class ContactDetector:
    """Finds where the bodies of a world touch.

    Shapes against half-spaces go through compiled features; all other pairs go through coal, after a
    test of their bounding boxes. A link with a support contact (a sole) touches half-spaces with
    the corners of that contact instead of its shapes.

    Attributes:
        points: the contact points that :meth:`detect` found last.
        slot_count: number of different values in ``points.slots``.
    """

    def __init__(self, world: World) -> None:
        """Prepare features, shapes and pairs.

        Raises:
            InputError: a mesh file can't be read.
        """
        self._world = world
        features: list[tuple[WorldBody, Feature]] = []
        planes: list[tuple[WorldBody, pin.SE3]] = []
        shapes: list[tuple[WorldBody, pin.SE3, ConvexShape]] = []
        for body in world.bodies:
            placed = [(shape, body.placement_joint_body * place) for shape, place in body.shapes]
            planes += [(body, place) for shape, place in placed if isinstance(shape, HalfSpace)]
            solid = [(shape, place) for shape, place in placed if not isinstance(shape, HalfSpace)]
            shapes += [(body, place, ConvexShape(shape)) for shape, place in solid]
            if len(body.corners) > 0:
                corners = point_features(body.corners)
                features += [(body, corner.moved(body.placement_joint_body)) for corner in corners]
            else:
                features += [
                    (body, feature.moved(place)) for shape, place in solid for feature in features_of(shape)
                ]
        self._prepare_half_spaces(features, planes)
        self._prepare_pairs(shapes)
        first = len(features) * len(planes) * SLOTS_PER_FEATURE
        self._first_pair_slot = first
        self.slot_count = first + len(self._pair_shapes) * MAX_POINTS
        self.points = ContactPoints(self.slot_count)

    def _prepare_half_spaces(
        self, features: list[tuple[WorldBody, Feature]], planes: list[tuple[WorldBody, pin.SE3]]
    ) -> None:
        index = self._world.index
        friction = np.full((len(features), len(planes)), -1.0)
        restitution = np.zeros((len(features), len(planes)))
        for i, (body, _) in enumerate(features):
            for j, (ground, _) in enumerate(planes):
                if self._may_touch(body, ground):
                    pair = self._world.scene.pairs(body.name, ground.name)
                    friction[i, j], restitution[i, j] = pair.friction, pair.restitution
        self._half_space_arguments = (
            np.array([body.joint for body, _ in features], dtype=np.int64),
            np.array([index[body.name] for body, _ in features], dtype=np.int64),
            np.array([feature.centre for _, feature in features]).reshape(-1, 3),
            np.array([feature.radius for _, feature in features], dtype=float),
            np.array([feature.axis for _, feature in features]).reshape(-1, 3),
            np.array([body.joint for body, _ in planes], dtype=np.int64),
            np.array([index[body.name] for body, _ in planes], dtype=np.int64),
            np.array([place.rotation[:, 2] for _, place in planes]).reshape(-1, 3),
            np.array([place.translation for _, place in planes]).reshape(-1, 3),
            friction,
            restitution,
        )

    def _prepare_pairs(self, shapes: list[tuple[WorldBody, pin.SE3, ConvexShape]]) -> None:
        self._shapes = shapes
        pairs = []
        self._pair_properties = []
        for (i, (a, _, _)), (j, (b, _, _)) in itertools.combinations(enumerate(shapes), 2):
            if self._may_touch(a, b):
                pairs.append((i, j))
                self._pair_properties.append(self._world.scene.pairs(a.name, b.name))
        self._pair_shapes = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        self._shape_joint = np.array([body.joint for body, _, _ in shapes], dtype=np.int64)
        self._shape_rotation = np.array([place.rotation for _, place, _ in shapes]).reshape(-1, 3, 3)
        self._shape_centre = np.array([place.act(shape.centre) for _, place, shape in shapes]).reshape(-1, 3)
        self._shape_half = np.array([shape.half_sizes for _, _, shape in shapes]).reshape(-1, 3)
        if pairs:
            self._compile()
        self._near = np.zeros(len(pairs), dtype=np.int64)
        self._travels = np.zeros(len(shapes))
        self._pairs: dict[int, ShapePair] = {}
        self._frames = [(place.rotation.copy(), place.translation.copy()) for _, place, _ in shapes]

    @staticmethod
    def _compile() -> None:
        """Compile the narrow phase now, not in the middle of a run when two shapes first meet."""
        cube = ConvexShape(Box(np.ones(3)))
        R, below, above = np.eye(3), np.zeros(3), np.array([0.0, 0.0, 1.0])
        ShapePair(cube, cube).contacts(R, above, R, below, CONTACT_MARGIN)

    def _may_touch(self, a: WorldBody, b: WorldBody) -> bool:
        """Bodies of one tree don't collide with each other, nor do two fixed bodies."""
        if a.owner == b.owner or (a.joint == 0 and b.joint == 0):
            return False
        return self._world.scene.collides(a.name, b.name)

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
            :attr:`points`, overwritten.
        """
        points = self.points
        points.size = half_space_contacts(
            R,
            p,
            twists,
            *self._half_space_arguments,
            CONTACT_MARGIN,
            dt,
            points.positions,
            points.normals,
            points.gaps,
            points.friction,
            points.restitution,
            points.joint_a,
            points.joint_b,
            points.body_a,
            points.body_b,
            points.slots,
            points.corner,
        )
        if len(self._pair_shapes) == 0:
            return points
        count = near_pairs(
            R,
            p,
            twists,
            self._pair_shapes,
            self._shape_joint,
            self._shape_rotation,
            self._shape_centre,
            self._shape_half,
            CONTACT_MARGIN,
            dt,
            self._near,
            self._travels,
        )
        for k in self._near[:count]:
            self._add_pair(int(k), R, p)
        return points

    def _place(
        self, shape: int, R: NDArray[np.float64], p: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Rotation and origin of a shape's frame in the world."""
        joint = self._shape_joint[shape]
        rotation, translation = self._frames[shape]
        return R[joint] @ rotation, R[joint] @ translation + p[joint]

    def _add_pair(
        self,
        k: int,
        R: NDArray[np.float64],
        p: NDArray[np.float64],
    ) -> None:
        i, j = self._pair_shapes[k]
        body_a, body_b = self._shapes[i][0], self._shapes[j][0]
        R_a, p_a = self._place(i, R, p)
        R_b, p_b = self._place(j, R, p)
        margin = CONTACT_MARGIN + self._travels[i] + self._travels[j]
        if k not in self._pairs:
            self._pairs[k] = ShapePair(self._shapes[i][2], self._shapes[j][2])
        contact = self._pairs[k].contacts(R_a, p_a, R_b, p_b, margin)
        if contact is None:
            return
        points = self.points
        new = slice(points.size, points.size + len(contact.gaps))
        points.positions[new] = contact.positions
        points.normals[new] = contact.normal
        points.gaps[new] = contact.gaps
        points.friction[new] = self._pair_properties[k].friction
        points.restitution[new] = self._pair_properties[k].restitution
        points.joint_a[new] = body_a.joint
        points.joint_b[new] = body_b.joint
        points.body_a[new] = self._world.index[body_a.name]
        points.body_b[new] = self._world.index[body_b.name]
        points.corner[new] = False
        points.slots[new] = self._first_pair_slot + k * MAX_POINTS + np.arange(len(contact.gaps))
        points.size = new.stop
