# SPDX-License-Identifier: Apache-2.0
"""Contact points of shapes on half-spaces: the floor, walls, slopes.

What a convex shape can touch a plane with is known beforehand: the vertices of a box or of a mesh, the centre
of a sphere, the two cap centres of a capsule, the rims of a cylinder, an ellipsoid, the corners of a robot's
sole. These features are tested in one compiled loop.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.apart import apart
from humanoid_model.compiling import uncounted
from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, HalfSpace, HeightField, Mesh, Shape, Sphere
from humanoid_sim.detection.contact_points import PairTable, PointTable
from humanoid_sim.detection.patch_reduction import supporting_points
from humanoid_sim.detection.shape_table import JointMotion
from humanoid_sim.detection.solids import hull_vertices

SLOTS_PER_FEATURE = 4
"""A point or ball gives one contact point, a rim up to four."""
_FEW_POINTS = 4
_MOST_POINTS = 8
"""A body keeps all of a few points on a plane, of more those that can carry it, and no more than this."""


@dataclass(frozen=True)
class Feature:
    """A part of a shape that can touch a plane.

    Attributes:
        centre: in the shape's frame [m], shape (3,).
        radius: of the ball around the centre, of the rim, or of a ball around an ellipsoid [m].
        axis: unit normal of the rim in the shape's frame; zero for a point, a ball or an ellipsoid, shape (3,).
        ellipsoid: M, where its points x obey (x - centre) M^-1 (x - centre) <= 1 [m^2]; zero for others, shape (3, 3).
    """

    centre: NDArray[np.float64]
    radius: float
    axis: NDArray[np.float64]
    ellipsoid: NDArray[np.float64] = field(default_factory=lambda: np.zeros((3, 3)))

    def moved(self, placement: pin.SE3) -> Feature:
        """Return the same feature in the frame that ``placement`` puts the shape's frame in."""
        R = placement.rotation
        return Feature(placement.act(self.centre), self.radius, R @ self.axis, R @ self.ellipsoid @ R.T)


def point_features(points: NDArray[np.float64]) -> list[Feature]:
    """Return features of radius zero at the given points, shape (k, 3)."""
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
    if isinstance(shape, Ellipsoid):
        return [Feature(np.zeros(3), float(shape.radii.max()), np.zeros(3), np.diag(shape.radii**2))]
    up = np.array([0.0, 0.0, 1.0])
    if isinstance(shape, Capsule):
        return [
            Feature(side * 0.5 * shape.length * up, shape.radius, np.zeros(3)) for side in (-1, 1)
        ]
    if isinstance(shape, Cylinder):
        return [Feature(side * 0.5 * shape.length * up, shape.radius, up) for side in (-1, 1)]
    if isinstance(shape, (Mesh, HeightField)):
        return point_features(hull_vertices(shape))
    assert isinstance(shape, HalfSpace)
    return []  # a half-space has no extremity: it is what the others touch


class FeatureTable(NamedTuple):
    """Features of all bodies of a world, those of one body and joint one after the other.

    Attributes:
        joint: joint that moves each feature, shape (nf,).
        body: body of each feature, shape (nf,).
        centre: in the joint frame [m], shape (nf, 3).
        radius: [m], shape (nf,).
        axis: rim axes in the joint frame, zero for others, shape (nf, 3).
        ellipsoid: matrices of ellipsoids in the joint frame [m^2], zero for others, shape (nf, 3, 3).
        slot: first slot of each feature, and the number of slots at the end, shape (nf + 1,).
        group: first feature of each body, and the number of features at the end, shape (ng + 1,).
        group_centre: centre of a ball around the body's features in the joint frame [m], shape (ng, 3).
        group_radius: of that ball [m], shape (ng,).
        group_half: half the edges of a box around the features, parallel to the joint frame [m], shape (ng, 3).
    """

    joint: NDArray[np.int64]
    body: NDArray[np.int64]
    centre: NDArray[np.float64]
    radius: NDArray[np.float64]
    axis: NDArray[np.float64]
    ellipsoid: NDArray[np.float64]
    slot: NDArray[np.int64]
    group: NDArray[np.int64]
    group_centre: NDArray[np.float64]
    group_radius: NDArray[np.float64]
    group_half: NDArray[np.float64]


class PlaneTable(NamedTuple):
    """Half-spaces of a world.

    Attributes:
        joint: joint that moves each half-space, shape (np,).
        body: body of each half-space, shape (np,).
        normal: outward normal in the joint frame, shape (np, 3).
        point: a point of the plane in the joint frame [m], shape (np, 3).
    """

    joint: NDArray[np.int64]
    body: NDArray[np.int64]
    normal: NDArray[np.float64]
    point: NDArray[np.float64]


def feature_table(groups: Sequence[tuple[int, int, Sequence[Feature]]]) -> FeatureTable:
    """Return the table of the features of some bodies, each given as joint, number and features in the joint frame."""
    groups = [group for group in groups if group[2]]
    features = [feature for _, _, own in groups for feature in own]
    sizes = [len(own) for _, _, own in groups]
    centres, radii, halves = [], [], []
    for _, _, own in groups:
        points = np.array([feature.centre for feature in own])
        centres.append(0.5 * (points.min(axis=0) + points.max(axis=0)))
        own_radii = np.array([feature.radius for feature in own])
        radii.append(float((np.linalg.norm(points - centres[-1], axis=1) + own_radii).max()))
        halves.append((np.abs(points - centres[-1]) + own_radii[:, None]).max(axis=0))
    slots = [SLOTS_PER_FEATURE if feature.axis.any() else 1 for feature in features]
    return FeatureTable(
        joint=np.repeat(np.array([joint for joint, _, _ in groups], dtype=np.int64), sizes),
        body=np.repeat(np.array([body for _, body, _ in groups], dtype=np.int64), sizes),
        centre=np.array([feature.centre for feature in features]).reshape(-1, 3),
        radius=np.array([feature.radius for feature in features], dtype=float),
        axis=np.array([feature.axis for feature in features]).reshape(-1, 3),
        ellipsoid=np.array([feature.ellipsoid for feature in features]).reshape(-1, 3, 3),
        slot=np.cumsum([0, *slots]).astype(np.int64),
        group=np.cumsum([0, *sizes]).astype(np.int64),
        group_centre=np.array(centres).reshape(-1, 3),
        group_radius=np.array(radii, dtype=float),
        group_half=np.array(halves).reshape(-1, 3),
    )


@apart(error_model="numpy")
def half_space_contacts(
    features: FeatureTable,
    planes: PlaneTable,
    pairs: PairTable,
    joints: JointMotion,
    margin: float,
    dt: float,
    points: PointTable,
) -> int:
    """Contact points of features on half-spaces; a body far above a plane is left out as a whole.

    Args:
        features: of all bodies.
        planes: the half-spaces.
        pairs: what may touch; of the methods 0 gives all points, 1 the nearest one, others are not handled here.
        joints: where the joint frames are and how they move.
        margin: points up to this far away are kept [m], and those that could arrive in two steps.
        dt: time step [s].
        points: receives the contact points.

    Returns:
        The number of contact points, -1 where there are more than there is room for.
    """
    most_slots = 0
    for g in range(features.group_radius.size):
        most_slots = max(most_slots, features.slot[features.group[g + 1]] - features.slot[features.group[g]])
    work, kept = np.empty(15 + most_slots), np.empty(_MOST_POINTS, dtype=np.int64)
    return int(_half_space_contacts(features, planes, pairs, joints, margin, dt, points, work, kept))


@uncounted()
def _half_space_contacts(
    features: FeatureTable, planes: PlaneTable, pairs: PairTable, joints: JointMotion, margin: float, dt: float,
    points: PointTable, work: np.ndarray, kept: np.ndarray,
) -> int:  # fmt: skip
    """:func:`half_space_contacts` in this work space: 15 numbers and the most slots of a body, and points to keep."""
    R, p, twists = joints.R, joints.p, joints.twists
    owner, body_class, method = pairs.owner, pairs.body, pairs.method
    positions, normals, gaps = points.positions, points.normals, points.gaps
    friction, restitution, slots, corner = points.friction, points.restitution, points.slots, points.corner
    joint_a, joint_b, body_a, body_b = points.joint_a, points.joint_b, points.body_a, points.body_b
    count = 0
    n, x, a, u, w, heights = work[:3], work[3:6], work[6:9], work[9:12], work[12:15], work[15:]
    slot_count = features.slot[features.slot.size - 1]
    for plane in range(planes.joint.size):
        jp = planes.joint[plane]
        bp = planes.body[plane]
        offset = 0.0
        for r in range(3):
            n[r] = (
                R[jp, r, 0] * planes.normal[plane, 0]
                + R[jp, r, 1] * planes.normal[plane, 1]
                + R[jp, r, 2] * planes.normal[plane, 2]
            )
        for r in range(3):
            offset += n[r] * (
                p[jp, r]
                + R[jp, r, 0] * planes.point[plane, 0]
                + R[jp, r, 1] * planes.point[plane, 1]
                + R[jp, r, 2] * planes.point[plane, 2]
            )
        for g in range(features.group_radius.size):
            first = features.group[g]
            jf = features.joint[first]
            bf = features.body[first]
            if jf == jp or owner[bf] == owner[bp]:
                continue
            how = method[body_class[bf], body_class[bp]]
            if how < 0 or how > 1:
                continue
            height = -offset
            spin = 0.0
            for r in range(3):
                x[r] = (
                    p[jf, r]
                    + R[jf, r, 0] * features.group_centre[g, 0]
                    + R[jf, r, 1] * features.group_centre[g, 1]
                    + R[jf, r, 2] * features.group_centre[g, 2]
                )
                height += n[r] * x[r]
                spin += (twists[jf, 3 + r] - twists[jp, 3 + r]) ** 2
            approach = _approach(twists[jf], twists[jp], x, n)
            radius = features.group_radius[g]
            reach = margin + 2.0 * dt * (max(approach, 0.0) + 2.0 * math.sqrt(spin) * radius)
            if not height - radius <= reach:  # nor what is nowhere
                continue
            for c in range(3):  # the box around a shin ends above the floor, the ball doesn't
                along = n[0] * R[jf, 0, c] + n[1] * R[jf, 1, c] + n[2] * R[jf, 2, c]
                height -= abs(along) * features.group_half[g, c]
            if height > reach:
                continue
            mu = pairs.friction[body_class[bf], body_class[bp]]
            e = pairs.restitution[body_class[bf], body_class[bp]]
            group_first = count
            for f in range(first, features.group[g + 1]):
                if count + SLOTS_PER_FEATURE > gaps.size:
                    return -1
                height = -offset
                for r in range(3):
                    x[r] = (
                        p[jf, r]
                        + R[jf, r, 0] * features.centre[f, 0]
                        + R[jf, r, 1] * features.centre[f, 1]
                        + R[jf, r, 2] * features.centre[f, 2]
                    )
                    height += n[r] * x[r]
                radius = features.radius[f]
                approach = _approach(twists[jf], twists[jp], x, n)
                reach = margin + 2.0 * dt * max(approach, 0.0)
                rim = features.axis[f, 0] != 0.0 or features.axis[f, 1] != 0.0 or features.axis[f, 2] != 0.0
                smooth = features.ellipsoid[f, 0, 0] > 0.0
                if rim or smooth:  # its points also move with the rotation
                    spin = math.sqrt(twists[jf, 3] ** 2 + twists[jf, 4] ** 2 + twists[jf, 5] ** 2)
                    reach += 2.0 * dt * spin * radius
                if not height - radius <= reach:
                    continue
                if rim:
                    along = 0.0
                    for r in range(3):
                        a[r] = (
                            R[jf, r, 0] * features.axis[f, 0]
                            + R[jf, r, 1] * features.axis[f, 1]
                            + R[jf, r, 2] * features.axis[f, 2]
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
                            if abs(features.axis[f, r]) < abs(features.axis[f, least]):
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
                if smooth:  # the point of its surface whose normal is -n is centre - M n / sqrt(n M n)
                    norm = 0.0
                    for r in range(3):
                        w[r] = R[jf, 0, r] * n[0] + R[jf, 1, r] * n[1] + R[jf, 2, r] * n[2]
                    for r in range(3):
                        a[r] = 0.0
                        for c in range(3):
                            a[r] += features.ellipsoid[f, r, c] * w[c]
                        norm += w[r] * a[r]
                    for r in range(3):
                        u[r] = -(R[jf, r, 0] * a[0] + R[jf, r, 1] * a[1] + R[jf, r, 2] * a[2]) / math.sqrt(norm)
                for s in range(SLOTS_PER_FEATURE if rim else 1):
                    gap = height
                    for r in range(3):
                        if smooth:
                            positions[count, r] = x[r] + u[r]
                        elif not rim:
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
                    heights[count - group_first] = gap - dt * approach
                    for r in range(3):
                        normals[count, r] = n[r]
                    friction[count] = mu
                    restitution[count] = e
                    joint_a[count] = jf
                    joint_b[count] = jp
                    body_a[count] = bf
                    body_b[count] = bp
                    corner[count] = radius == 0.0
                    slots[count] = plane * slot_count + features.slot[f] + s
                    count += 1
            found = count - group_first
            if how == 1 and found > 1:
                kept[0] = 0
                for k in range(1, found):
                    if gaps[group_first + k] < gaps[group_first + kept[0]]:
                        kept[0] = k
                left = 1
            elif how == 0 and found > _FEW_POINTS and corner[group_first:count].all():  # spheres are contacts by intent
                left = supporting_points(positions[group_first:count], heights[:found], n, _MOST_POINTS, kept)
            else:
                continue
            for k in range(left):
                to, at = group_first + k, group_first + kept[k]
                gaps[to] = gaps[at]
                slots[to] = slots[at]
                corner[to] = corner[at]
                for r in range(3):
                    positions[to, r] = positions[at, r]
            count = group_first + left
    return count


@uncounted()
def _approach(twist: np.ndarray, other: np.ndarray, x: np.ndarray, n: np.ndarray) -> float:
    """Speed at which the point of a body at x comes nearer to another body against the direction n [m/s]."""
    approach = 0.0
    for r in range(3):
        c1 = (r + 1) % 3
        c2 = (r + 2) % 3
        v = twist[r] + twist[3 + c1] * x[c2] - twist[3 + c2] * x[c1]
        v_other = other[r] + other[3 + c1] * x[c2] - other[3 + c2] * x[c1]
        approach -= n[r] * (v - v_other)
    return approach
