# SPDX-License-Identifier: Apache-2.0
"""Contact points of shapes on half-spaces: the floor, walls, slopes.

What a convex shape can touch a plane with is known beforehand: the vertices of a box or of a mesh, the centre
of a sphere, the two cap centres of a capsule, the rims of a cylinder, the corners of a robot's sole. These
features are tested in one compiled loop.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numba import njit
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import Box, Capsule, Cylinder, HalfSpace, Mesh, Shape, Sphere

SLOTS_PER_FEATURE = 4
"""A point or ball gives one contact point, a rim up to four."""


@dataclass(frozen=True)
class Feature:
    """A part of a shape that can touch a plane.

    Attributes:
        centre: in the shape's frame [m], shape (3,).
        radius: of the ball around the centre, or of the rim [m].
        axis: unit normal of the rim in the shape's frame; zero for a point or a ball, shape (3,).
    """

    centre: NDArray[np.float64]
    radius: float
    axis: NDArray[np.float64]

    def moved(self, placement: pin.SE3) -> Feature:
        """The same feature in the frame that ``placement`` puts the shape's frame in."""
        return Feature(placement.act(self.centre), self.radius, placement.rotation @ self.axis)


def point_features(points: NDArray[np.float64]) -> list[Feature]:
    """Features of radius zero at the given points, shape (k, 3)."""
    return [Feature(np.array(point, dtype=float), 0.0, np.zeros(3)) for point in points]


def features_of(shape: Shape) -> list[Feature]:
    """Features with which a shape touches a plane, in the shape's frame.

    A mesh stands for its convex hull, which touches a plane at the same points.

    Raises:
        InputError: a mesh file can't be read.
    """
    if isinstance(shape, Box):
        signs = itertools.product((-0.5, 0.5), repeat=3)
        return point_features(np.array([np.multiply(sign, shape.size) for sign in signs]))
    if isinstance(shape, Sphere):
        return [Feature(np.zeros(3), shape.radius, np.zeros(3))]
    up = np.array([0.0, 0.0, 1.0])
    if isinstance(shape, Capsule):
        return [
            Feature(side * 0.5 * shape.length * up, shape.radius, np.zeros(3)) for side in (-1, 1)
        ]
    if isinstance(shape, Cylinder):
        return [Feature(side * 0.5 * shape.length * up, shape.radius, up) for side in (-1, 1)]
    if isinstance(shape, Mesh):
        return point_features(hull_vertices(shape))
    assert isinstance(shape, HalfSpace)
    return []  # a half-space has no extremity: it is what the others touch


def hull_vertices(mesh: Mesh) -> NDArray[np.float64]:
    """Vertices of the convex hull of a mesh [m], shape (k, 3); all vertices where the mesh is flat.

    Raises:
        InputError: the mesh file can't be read.
    """
    vertices = np.array(coal_geometry(mesh).vertices())
    try:
        return vertices[ConvexHull(vertices).vertices]
    except QhullError:
        return np.unique(vertices, axis=0)


@njit(cache=True)
def half_space_contacts(
    R: np.ndarray,
    p: np.ndarray,
    twists: np.ndarray,
    feature_joint: np.ndarray,
    feature_body: np.ndarray,
    feature_centre: np.ndarray,
    feature_radius: np.ndarray,
    feature_axis: np.ndarray,
    plane_joint: np.ndarray,
    plane_body: np.ndarray,
    plane_normal: np.ndarray,
    plane_point: np.ndarray,
    pair_friction: np.ndarray,
    pair_restitution: np.ndarray,
    margin: float,
    dt: float,
    positions: np.ndarray,
    normals: np.ndarray,
    gaps: np.ndarray,
    friction: np.ndarray,
    restitution: np.ndarray,
    joint_a: np.ndarray,
    joint_b: np.ndarray,
    body_a: np.ndarray,
    body_b: np.ndarray,
    slots: np.ndarray,
    corner: np.ndarray,
) -> int:
    """Test every feature against every half-space it may touch.

    Args:
        R: rotations of the joint frames, shape (njoints, 3, 3).
        p: origins of the joint frames [m], shape (njoints, 3).
        twists: world twists of the joints at the world origin, linear first, shape (njoints, 6).
        feature_joint: joint that moves each feature, shape (nf,).
        feature_body: body of each feature, shape (nf,).
        feature_centre: centre in the joint frame [m], shape (nf, 3).
        feature_radius: radius [m], shape (nf,).
        feature_axis: axis in the joint frame, zero for a ball, shape (nf, 3).
        plane_joint: joint that moves each half-space, shape (np,).
        plane_body: body of each half-space, shape (np,).
        plane_normal: outward normal in the joint frame, shape (np, 3).
        plane_point: a point of the plane in the joint frame [m], shape (np, 3).
        pair_friction: friction of each feature on each half-space, negative where they don't collide, shape (nf, np).
        pair_restitution: restitution of the same, shape (nf, np).
        margin: points up to this far away are kept [m], and those that could arrive in two steps.
        dt: time step [s].
        positions: see :class:`~humanoid_sim.detection.contact_points.ContactPoints`, also for the rest.
        normals: same.
        gaps: same.
        friction: same.
        restitution: same.
        joint_a: same.
        joint_b: same.
        body_a: same.
        body_b: same.
        slots: same.
        corner: same.

    Returns:
        The number of contact points written.
    """
    count = 0
    n = np.empty(3)
    x = np.empty(3)
    a = np.empty(3)
    u = np.empty(3)
    w = np.empty(3)
    for plane in range(plane_joint.size):
        jp = plane_joint[plane]
        offset = 0.0
        for r in range(3):
            n[r] = (
                R[jp, r, 0] * plane_normal[plane, 0]
                + R[jp, r, 1] * plane_normal[plane, 1]
                + R[jp, r, 2] * plane_normal[plane, 2]
            )
        for r in range(3):
            offset += n[r] * (
                p[jp, r]
                + R[jp, r, 0] * plane_point[plane, 0]
                + R[jp, r, 1] * plane_point[plane, 1]
                + R[jp, r, 2] * plane_point[plane, 2]
            )
        for f in range(feature_joint.size):
            mu = pair_friction[f, plane]
            if mu < 0.0:
                continue
            jf = feature_joint[f]
            height = -offset
            for r in range(3):
                x[r] = (
                    p[jf, r]
                    + R[jf, r, 0] * feature_centre[f, 0]
                    + R[jf, r, 1] * feature_centre[f, 1]
                    + R[jf, r, 2] * feature_centre[f, 2]
                )
                height += n[r] * x[r]
            radius = feature_radius[f]
            # speed at which the centre approaches the plane
            approach = 0.0
            for r in range(3):
                c1 = (r + 1) % 3
                c2 = (r + 2) % 3
                v_f = twists[jf, r] + twists[jf, 3 + c1] * x[c2] - twists[jf, 3 + c2] * x[c1]
                v_p = twists[jp, r] + twists[jp, 3 + c1] * x[c2] - twists[jp, 3 + c2] * x[c1]
                approach -= n[r] * (v_f - v_p)
            reach = margin + 2.0 * dt * max(approach, 0.0)
            rim = feature_axis[f, 0] != 0.0 or feature_axis[f, 1] != 0.0 or feature_axis[f, 2] != 0.0
            if rim:  # its points also move with the rotation
                spin = math.sqrt(twists[jf, 3] ** 2 + twists[jf, 4] ** 2 + twists[jf, 5] ** 2)
                reach += 2.0 * dt * spin * radius
            if height - radius > reach:
                continue
            if rim:
                along = 0.0
                for r in range(3):
                    a[r] = (
                        R[jf, r, 0] * feature_axis[f, 0]
                        + R[jf, r, 1] * feature_axis[f, 1]
                        + R[jf, r, 2] * feature_axis[f, 2]
                    )
                    along += n[r] * a[r]
                norm = 0.0
                for r in range(3):
                    u[r] = along * a[r] - n[r]
                    norm += u[r] * u[r]
                norm = math.sqrt(norm)
                if norm < 1e-6:  # lies flat: any four points of the rim will do, the same at each step
                    least = 0
                    for r in range(1, 3):
                        if abs(feature_axis[f, r]) < abs(feature_axis[f, least]):
                            least = r
                    norm = 0.0
                    along = 0.0
                    for r in range(3):
                        along += a[r] * R[jf, r, least]
                    for r in range(3):
                        u[r] = R[jf, r, least] - along * a[r]
                        norm += u[r] * u[r]
                    norm = math.sqrt(norm)
                for r in range(3):
                    u[r] /= norm
                for r in range(3):
                    c1 = (r + 1) % 3
                    c2 = (r + 2) % 3
                    w[r] = a[c1] * u[c2] - a[c2] * u[c1]
            for s in range(SLOTS_PER_FEATURE if rim else 1):
                gap = height
                for r in range(3):
                    if not rim:
                        positions[count, r] = x[r] - radius * n[r]
                    elif s == 0:
                        positions[count, r] = x[r] + radius * u[r]
                    elif s == 1:
                        positions[count, r] = x[r] + radius * w[r]
                    elif s == 2:
                        positions[count, r] = x[r] - radius * w[r]
                    else:
                        positions[count, r] = x[r] - radius * u[r]
                    gap += n[r] * (positions[count, r] - x[r])
                if gap > reach:
                    continue
                gaps[count] = gap
                for r in range(3):
                    normals[count, r] = n[r]
                friction[count] = mu
                restitution[count] = pair_restitution[f, plane]
                joint_a[count] = jf
                joint_b[count] = jp
                body_a[count] = feature_body[f]
                body_b[count] = plane_body[plane]
                corner[count] = radius == 0.0
                slots[count] = (f * plane_joint.size + plane) * SLOTS_PER_FEATURE + s
                count += 1
    return count
