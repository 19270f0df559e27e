# SPDX-License-Identifier: Apache-2.0
"""Contact points of two shapes neither of which is a half-space, through coal."""

from __future__ import annotations

from dataclasses import dataclass

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import QhullError

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import Box, Capsule, Cylinder, HalfSpace, Mesh, Shape, Sphere
from humanoid_sim.detection.half_space import Feature, features_of, hull_vertices
from humanoid_sim.detection.polytope import Polytope, clip_polygon

MAX_POINTS = 8
"""A pair of shapes gives at most so many contact points."""

_FACE_CONTACT = 0.9999
"""Cosine between the contact normal and a face's normal from which on the face itself is in contact."""


class ConvexShape:
    """A convex shape prepared for narrow-phase queries.

    A mesh collides as its convex hull. Half-spaces are handled elsewhere
    (:mod:`humanoid_sim.detection.half_space`).

    Attributes:
        geometry: coal's shape.
        polytope: faces of a box or mesh, None for round shapes and flat meshes.
        features: what can touch a face: vertices, centres, rims.
        centre: of the bounding box along the shape's axes [m], shape (3,).
        half_sizes: half edge lengths of that box [m], shape (3,).
    """

    def __init__(self, shape: Shape) -> None:
        """Prepare a box, sphere, capsule, cylinder or mesh.

        Raises:
            InputError: a mesh file can't be read.
        """
        assert not isinstance(shape, HalfSpace)
        self.geometry = coal_geometry(shape)
        self.polytope: Polytope | None = None
        self.centre = np.zeros(3)
        if isinstance(shape, Mesh):
            self.geometry.buildConvexHull(True, "Qt")
            self.geometry = self.geometry.convex
            vertices = hull_vertices(shape)
            self.centre = 0.5 * (vertices.max(axis=0) + vertices.min(axis=0))
            self.half_sizes = 0.5 * (vertices.max(axis=0) - vertices.min(axis=0))
        elif isinstance(shape, Box):
            self.half_sizes = 0.5 * np.array(shape.size)
        elif isinstance(shape, Sphere):
            self.half_sizes = np.full(3, shape.radius)
        else:
            assert isinstance(shape, (Capsule, Cylinder))
            cap = shape.radius if isinstance(shape, Capsule) else 0.0
            self.half_sizes = np.array([shape.radius, shape.radius, 0.5 * shape.length + cap])
        if isinstance(shape, (Box, Mesh)):
            try:
                self.polytope = Polytope.of_shape(shape)
            except QhullError:
                self.polytope = None
        self.features: list[Feature] = features_of(shape)


@dataclass(frozen=True)
class PairContact:
    """Contact points of a pair of shapes.

    Attributes:
        normal: unit, from the second shape into the first, in the world, shape (3,).
        positions: in the world [m], shape (k, 3).
        gaps: signed distances along the normal [m], shape (k,).
    """

    normal: NDArray[np.float64]
    positions: NDArray[np.float64]
    gaps: NDArray[np.float64]


def shape_pair_contacts(
    first: ConvexShape,
    placement_first: pin.SE3,
    second: ConvexShape,
    placement_second: pin.SE3,
    margin: float,
) -> PairContact | None:
    """Points where two shapes touch or nearly touch.

    coal gives the distance, the normal and one pair of nearest points. Where the normal is that of a face, the
    other shape's facing polygon, clipped by the face, replaces the one point, each point with its own gap.

    Args:
        first: body a.
        placement_first: its placement in the world.
        second: body b.
        placement_second: its placement in the world.
        margin: points up to this far apart are kept [m].

    Returns:
        The contact points, or None where the shapes are farther apart than the margin.
    """
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    result = coal.DistanceResult()
    gap = coal.distance(
        first.geometry,
        coal.Transform3s(placement_first.rotation, placement_first.translation),
        second.geometry,
        coal.Transform3s(placement_second.rotation, placement_second.translation),
        request,
        result,
    )
    if gap > margin:
        return None
    normal = -np.array(result.normal).reshape(3)
    witness = 0.5 * (np.array(result.getNearestPoint1()) + np.array(result.getNearestPoint2())).reshape(3)
    single = PairContact(normal, witness[None, :], np.array([gap]))
    points = _face_contact(first, placement_first, second, placement_second, normal)
    if points is None:
        points = _face_contact(second, placement_second, first, placement_first, -normal)
        if points is None:
            return single
        points = PairContact(-points.normal, points.positions, points.gaps)
    near = points.gaps <= margin
    if not near.any():
        return single
    return _reduced(PairContact(points.normal, points.positions[near], points.gaps[near]))


def _face_contact(
    first: ConvexShape,
    placement_first: pin.SE3,
    second: ConvexShape,
    placement_second: pin.SE3,
    normal: NDArray[np.float64],
) -> PairContact | None:
    """Contact of the first shape on a face of the second whose normal is the contact normal."""
    if second.polytope is None:
        return None
    cosine, face_normal, face = second.polytope.face_towards(placement_second, normal)
    if cosine < _FACE_CONTACT:
        return None
    if first.polytope is not None:
        _, _, facing = first.polytope.face_towards(placement_first, -face_normal)
        points = clip_polygon(facing, face, face_normal)
    else:
        points = _round_points(first, placement_first, face_normal, face)
    if len(points) == 0:
        return None
    gaps = (points - face[0]) @ face_normal
    return PairContact(face_normal, points - 0.5 * gaps[:, None] * face_normal, gaps)


def _round_points(
    shape: ConvexShape, placement: pin.SE3, normal: NDArray[np.float64], face: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Lowest points of a round shape above a face, those beyond the face's sides left out."""
    points = []
    for feature in (feature.moved(placement) for feature in shape.features):
        if not feature.axis.any():
            points.append(feature.centre - feature.radius * normal)
            continue
        down = (feature.axis @ normal) * feature.axis - normal
        if np.linalg.norm(down) < 1e-6:
            down = placement.rotation[:, 0]  # the rim lies flat: its frame's x axis is in its plane
        down = down / np.linalg.norm(down)
        side = np.cross(feature.axis, down)
        points += [feature.centre + feature.radius * u for u in (down, side, -side, -down)]
    inside = np.ones(len(points), dtype=bool)
    array = np.array(points)
    for start, end in zip(face, np.roll(face, -1, axis=0), strict=True):
        inside &= (array - start) @ np.cross(normal, end - start) >= 0.0
    return array[inside]


def _reduced(contact: PairContact) -> PairContact:
    """At most ``MAX_POINTS`` points: those farthest out in as many directions of the contact plane."""
    if len(contact.gaps) <= MAX_POINTS:
        return contact
    axis = np.eye(3)[int(np.argmin(np.abs(contact.normal)))]
    u = np.cross(contact.normal, axis)
    u /= np.linalg.norm(u)
    w = np.cross(contact.normal, u)
    angles = 2.0 * np.pi * np.arange(MAX_POINTS) / MAX_POINTS
    directions = np.outer(np.cos(angles), u) + np.outer(np.sin(angles), w)
    chosen = sorted({int(i) for i in np.argmax(contact.positions @ directions.T, axis=0)})
    return PairContact(contact.normal, contact.positions[chosen], contact.gaps[chosen])
