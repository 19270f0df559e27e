# SPDX-License-Identifier: Apache-2.0
"""Features of volumes: which one has a normal, how far two of them are apart, and the walk to the nearest two.

A volume's features have normals: the Voronoi regions of specification 001 section 5.4 seen from infinity. A small
sphere and a torus are bordered by a cone around the edge, a torus and a big sphere by a plane through the edge, a small
and a big sphere meet in one direction only. Neighbours evaluate one and the same expression for the border between
them, so that no direction falls between two features. The torus between two faces on one big sphere has an empty arc,
and no normals that aren't the faces' too. Its two borders are one plane, which also holds the opposite directions: a
walk passes it, and doesn't end there.

Two features have a distance (section 5.6). A sphere is its centre and its radius; a torus the circle of the centres of
its tube (centre I, unit axis e, radius R' of the circle) and the tube's radius. The distance of two bodies is the
greatest over unit vectors n, from the second body to the first, of the gap between their supporting planes across n.
Between two of these surfaces, with radii taken off, the gap is

    gap(n) = D . n + sum over the tori of R' sqrt(1 - (n . e)^2)

with D from the second centre to the first: the projections on n of the farthest points of the circles. Its greatest
value is the distance of the two farthest points of centres and circles, as (S.2) requires; minus the radii of spheres
and tubes, it is the signed distance. The maximising n is the normal, also where the surfaces touch or overlap.

Features are associated with the two points between which the distance of the polyhedra is taken (section 5.6): the
smooth feature of each volume is the one in whose Voronoi region the other polyhedron's point lies. It is the feature
over the polyhedron's own, or a neighbour, such as the torus over the longest edge of an obtuse face; a walk across the
borders of the regions finds it in a step or two, and makes decision trees for each vertex and rules for each kind of
face one thing.

A pair is right when the normal that suits it, each feature continued beyond its borders, is for both among the normals
of the feature: the volumes then touch parallel planes with opposite normals, as the optimality condition of section 5.2
has it. The features under a normal that isn't are the next pair to try. Near the answer this takes one or two pairs;
from anywhere it may not arrive, and says so.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_planner.distance.frames import Frames, Vector, difference, kernel, opposite, to_body, to_world, vector
from humanoid_planner.distance.volume_table import EDGE, VERTEX, Pair, VolumeTable

BORDER = 1e-11
"""Directions beyond a border by less [rad] count as on it: round-off must not send a walk to and fro."""


@kernel
def region_excess(table: VolumeTable, u: Vector, row: int) -> float:
    """Return how far a direction is beyond the borders of a feature's normals (about rad), at most 0 inside.

    Infinity at a torus without an arc.
    """
    u0, u1, u2 = u
    features, links, spokes = table.features, table.links, table.spokes
    kind = links[row, 0]
    excess = -1.0
    if kind == VERTEX:
        for k in range(links[row, 1], links[row, 1] + links[row, 2]):
            excess = max(excess, u0 * spokes[k, 0] + u1 * spokes[k, 1] + u2 * spokes[k, 2] + spokes[k, 3])
        return excess
    if kind == EDGE:
        s = u0 * features[row, 3] + u1 * features[row, 4] + u2 * features[row, 5]
        excess = abs(s) - features[row, 6]
        if links[row, 3] < 0:
            return excess
        if features[row, 14] < 0.0:
            return np.inf
        first = u0 * features[row, 8] + u1 * features[row, 9] + u2 * features[row, 10]
        last = u0 * features[row, 11] + u1 * features[row, 12] + u2 * features[row, 13]
        if features[row, 14] != 0.0:
            return max(excess, min(first, last))
        return max(excess, first, last)
    for k in range(3, 12, 3):
        excess = max(excess, -(u0 * features[row, k] + u1 * features[row, k + 1] + u2 * features[row, k + 2]))
    return excess


@kernel
def neighbour(table: VolumeTable, u: Vector, row: int, far: bool) -> int:
    """Feature across the border of a feature's normals that a direction is farthest beyond.

    Args:
        table: of the volumes.
        u: unit direction in the volume's frame.
        row: the feature.
        far: from a vertex, go on to the vertex at the other end of the edge if the direction is beyond the torus too.

    Returns:
        Row of that feature; ``row`` if the direction is among its normals.
    """
    u0, u1, u2 = u
    features, links, spokes = table.features, table.links, table.spokes
    kind = links[row, 0]
    if kind == VERTEX:
        worst, spoke = BORDER, -1
        for k in range(links[row, 1], links[row, 1] + links[row, 2]):
            excess = u0 * spokes[k, 0] + u1 * spokes[k, 1] + u2 * spokes[k, 2] + spokes[k, 3]
            if excess > worst:
                worst, spoke = excess, k
        if spoke < 0:
            return row
        return table.spoke_links[spoke, 1 if far and worst > 2.0 * spokes[spoke, 3] else 0]
    if kind == EDGE:
        s = u0 * features[row, 3] + u1 * features[row, 4] + u2 * features[row, 5]
        if s > features[row, 6] + BORDER:
            return links[row, 2]
        if s < -features[row, 6] - BORDER:
            return links[row, 1]
        if links[row, 3] < 0:
            return row
        over_first = u0 * features[row, 8] + u1 * features[row, 9] + u2 * features[row, 10]
        over_last = u0 * features[row, 11] + u1 * features[row, 12] + u2 * features[row, 13]
        outside = min(over_first, over_last) if features[row, 14] != 0.0 else max(over_first, over_last)
        if outside <= BORDER and features[row, 14] >= 0.0:
            return row
        return links[row, 3 if over_first > over_last else 4]
    worst, edge = -BORDER, -1
    for k in range(3):
        inside = u0 * features[row, 3 + 3 * k] + u1 * features[row, 4 + 3 * k] + u2 * features[row, 5 + 3 * k]
        if inside < worst:
            worst, edge = inside, k
    return row if edge < 0 else links[row, 1 + edge]


@kernel
def locate(table: VolumeTable, u: Vector, row: int, first: int, last: int) -> int:
    """Feature of a volume whose outward normals hold a direction, by walking from a feature across violated borders.

    Args:
        table: of the volumes.
        u: unit direction in the volume's frame.
        row: feature to start from.
        first: first feature of the volume.
        last: feature after the volume's last.

    Returns:
        Row of the feature.
    """
    for _ in range(last - first + 8):
        following = neighbour(table, u, row, True)
        if following == row:
            return row
        row = following
    # The walk ran in a circle, as it may where tori of very different widths meet: look at all of them.
    best, least = row, np.inf
    for candidate in range(first, last):
        excess = region_excess(table, u, candidate)
        if excess < least:
            best, least = candidate, excess
    return best


_SMALLEST = 1e-200
_STEP = 1e-10
"""Newton's steps [rad] below this are the last ones: the next would be its square."""


@kernel
def sphere_sphere(d: Vector) -> tuple[float, Vector, bool]:
    """Return the distance of two spheres' centres.

    Args:
        d: from the second centre to the first [m].

    Returns:
        Distance of the centres [m]; unit vector from the second to the first; False when the centres coincide, which
        leaves no direction.
    """
    d0, d1, d2 = d
    length = math.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    if length < _SMALLEST:
        return 0.0, (0.0, 0.0, 0.0), False
    return length, (d0 / length, d1 / length, d2 / length), True


@kernel
def sphere_torus(d: Vector, e: Vector, radius: float) -> tuple[float, Vector, bool]:
    """Greatest distance of a sphere's centre from a torus' circle.

    Args:
        d: from the second body's centre to the first's, whichever of the two is the torus [m].
        e: unit axis of the circle.
        radius: of the circle [m].

    Returns:
        Distance [m]; unit vector n; False when the sphere's centre is on the axis, where all points of the
        circle are equally far.
    """
    d0, d1, d2 = d
    e0, e1, e2 = e
    along = d0 * e0 + d1 * e1 + d2 * e2
    x0, x1, x2 = d0 - along * e0, d1 - along * e1, d2 - along * e2
    across = math.sqrt(x0 * x0 + x1 * x1 + x2 * x2)
    if across < _SMALLEST:
        return 0.0, (0.0, 0.0, 0.0), False
    length = math.sqrt(along * along + (across + radius) ** 2)
    scale = (across + radius) / (across * length)
    along /= length
    return length, (scale * x0 + along * e0, scale * x1 + along * e1, scale * x2 + along * e2), True


@kernel
def _gap(d: Vector, e: Vector, radius_e: float, f: Vector, radius_f: float, n: Vector) -> float:
    d0, d1, d2 = d
    e0, e1, e2 = e
    f0, f1, f2 = f
    n0, n1, n2 = n
    s = n0 * e0 + n1 * e1 + n2 * e2
    t = n0 * f0 + n1 * f1 + n2 * f2
    return (
        d0 * n0
        + d1 * n1
        + d2 * n2
        + radius_e * math.sqrt(max(1.0 - s * s, 0.0))
        + radius_f * math.sqrt(max(1.0 - t * t, 0.0))
    )


@kernel
def torus_torus(
    d: Vector, e: Vector, radius_e: float, f: Vector, radius_f: float, n: Vector
) -> tuple[float, Vector, bool]:
    """Local maximum of the distance of two circles' points: Newton's method over n, never downhill.

    There is no closed form. Where the arcs of two separate volumes are concerned the local maximum is the only one.

    Args:
        d: from the second circle's centre to the first's [m].
        e: unit axis of the first circle.
        radius_e: of the first circle [m].
        f: unit axis of the second circle.
        radius_f: of the second circle [m].
        n: unit vector to start from.

    Returns:
        Distance [m]; unit vector n; whether it is a maximum (it isn't in deep penetration, or when n got stuck on a
        circle's axis).
    """
    d0, d1, d2 = d
    e0, e1, e2 = e
    f0, f1, f2 = f
    n0, n1, n2 = n
    value = _gap(d, e, radius_e, f, radius_f, n)
    for _ in range(8):  # near the answer it takes three or four; farther off, others supply a better start
        s = n0 * e0 + n1 * e1 + n2 * e2
        t = n0 * f0 + n1 * f1 + n2 * f2
        p = 1.0 - s * s
        q = 1.0 - t * t
        if p < 1e-12 or q < 1e-12:
            return value, (n0, n1, n2), False
        p = radius_e / math.sqrt(p)
        q = radius_f / math.sqrt(q)
        g0 = d0 - p * s * e0 - q * t * f0
        g1 = d1 - p * s * e1 - q * t * f1
        g2 = d2 - p * s * e2 - q * t * f2
        tension = g0 * n0 + g1 * n1 + g2 * n2
        # Tangent plane of the sphere of directions (J. R. Frisvad 2012's basis, in the sign-safe form).
        sign = math.copysign(1.0, n2)
        a = -1.0 / (sign + n2)
        b = n0 * n1 * a
        u0, u1, u2 = 1.0 + sign * n0 * n0 * a, sign * b, -sign * n0
        v0, v1, v2 = b, sign + n1 * n1 * a, -n1
        eu, ev = e0 * u0 + e1 * u1 + e2 * u2, e0 * v0 + e1 * v1 + e2 * v2
        fu, fv = f0 * u0 + f1 * u1 + f2 * u2, f0 * v0 + f1 * v1 + f2 * v2
        gu, gv = g0 * u0 + g1 * u1 + g2 * u2, g0 * v0 + g1 * v1 + g2 * v2
        p /= 1.0 - s * s
        q /= 1.0 - t * t
        # Minus the second derivative; where that isn't positive definite, a larger one that keeps the step uphill.
        h_uu = p * eu * eu + q * fu * fu + tension
        h_uv = p * eu * ev + q * fu * fv
        h_vv = p * ev * ev + q * fv * fv + tension
        determinant = h_uu * h_vv - h_uv * h_uv
        is_maximum = h_uu + h_vv > 0.0 and determinant > 0.0
        if not is_maximum:
            h_uu += abs(tension) - tension
            h_vv += abs(tension) - tension
            determinant = h_uu * h_vv - h_uv * h_uv
            if not determinant > 0.0:
                return value, (n0, n1, n2), False
        du = (h_vv * gu - h_uv * gv) / determinant
        dv = (h_uu * gv - h_uv * gu) / determinant
        size = math.sqrt(du * du + dv * dv)
        if size <= _STEP:
            n0, n1, n2 = n0 + du * u0 + dv * v0, n1 + du * u1 + dv * v1, n2 + du * u2 + dv * v2
            length = math.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
            n0, n1, n2 = n0 / length, n1 / length, n2 / length
            value = _gap(d, e, radius_e, f, radius_f, (n0, n1, n2))
            return value, (n0, n1, n2), is_maximum
        if size > 1.0:
            du, dv = du / size, dv / size
        scale = 1.0
        while True:
            m0 = n0 + scale * (du * u0 + dv * v0)
            m1 = n1 + scale * (du * u1 + dv * v1)
            m2 = n2 + scale * (du * u2 + dv * v2)
            length = math.sqrt(m0 * m0 + m1 * m1 + m2 * m2)
            m0, m1, m2 = m0 / length, m1 / length, m2 / length
            reached = _gap(d, e, radius_e, f, radius_f, (m0, m1, m2))
            if reached >= value - 1e-15 * (radius_e + radius_f):
                break
            scale *= 0.5
            if scale < 1e-8:
                return value, (n0, n1, n2), False
        n0, n1, n2, value = m0, m1, m2, reached
    return value, (n0, n1, n2), False


_STEPS = 8
"""Regions that a walk may visit: it starts from a vertex of the polyhedron's feature."""


@kernel
def nearest_feature(table: VolumeTable, row: int, point: np.ndarray) -> int:
    """Return the feature of a volume nearest to a point outside.

    Args:
        table: of the volumes.
        row: feature to start from.
        point: in the volume's frame, shape (3,).

    Returns:
        Row of the feature; of one near it if the walk didn't end.
    """
    features = table.features
    for _ in range(_STEPS):
        d = point[0] - features[row, 0], point[1] - features[row, 1], point[2] - features[row, 2]
        if table.links[row, 0] == EDGE:
            _, u, found = sphere_torus(d, vector(features, row, 3), features[row, 7])
        else:
            _, u, found = sphere_sphere(d)
        if not found:
            return row
        following = neighbour(table, u, row, False)
        if following == row:
            return row
        row = following
    return row


@kernel
def associate(
    table: VolumeTable, frames: Frames, pair: Pair, row_a: int, row_b: int, witnesses: np.ndarray
) -> tuple[int, int]:
    """Smooth features of two volumes from the points that the distance of their polyhedra is taken between.

    Args:
        table: of the volumes.
        frames: of the bodies.
        pair: the two volumes.
        row_a: vertex of the first volume.
        row_b: vertex of the second volume.
        witnesses: the points, each in the frame of its own body; overwritten, shape (2, 3).

    Returns:
        Feature of the first volume and of the second.
    """
    origins, a, b = frames.origins, pair.body_a, pair.body_b
    p0, p1, p2 = to_world(frames, a, vector(witnesses, 0, 0))
    q0, q1, q2 = to_world(frames, b, vector(witnesses, 1, 0))
    x0, x1, x2 = origins[a, 0] - origins[b, 0], origins[a, 1] - origins[b, 1], origins[a, 2] - origins[b, 2]
    witnesses[0, 0], witnesses[0, 1], witnesses[0, 2] = to_body(frames, a, (q0 - x0, q1 - x1, q2 - x2))
    witnesses[1, 0], witnesses[1, 1], witnesses[1, 2] = to_body(frames, b, (p0 + x0, p1 + x1, p2 + x2))
    return nearest_feature(table, row_a, witnesses[0]), nearest_feature(table, row_b, witnesses[1])


@kernel
def solve_pair(
    table: VolumeTable, frames: Frames, pair: Pair, row_a: int, row_b: int, n: Vector
) -> tuple[float, Vector, bool]:
    """Return the normal that suits two features, each continued beyond its borders.

    Args:
        table: of the volumes.
        frames: of the bodies.
        pair: the two volumes.
        row_a: feature of the first volume.
        row_b: feature of the second volume.
        n: unit vector to start from where there is no closed form, from b to a in the world.

    Returns:
        Distance of centres and circles; unit vector from b to a; whether there is such a normal.
    """
    features, links = table.features, table.links
    a, b = pair.body_a, pair.body_b
    d = difference(frames, a, b, vector(features, row_a, 0), vector(features, row_b, 0))
    if links[row_a, 0] != EDGE:
        if links[row_b, 0] != EDGE:
            return sphere_sphere(d)
        row, body = row_b, b
    else:
        row, body = row_a, a
    e = to_world(frames, body, vector(features, row, 3))
    if links[row_a, 0] != EDGE or links[row_b, 0] != EDGE:
        return sphere_torus(d, e, features[row, 7])
    f = to_world(frames, b, vector(features, row_b, 3))
    return torus_torus(d, e, features[row, 7], f, features[row_b, 7], n)


@kernel
def locate_world(table: VolumeTable, frames: Frames, volume: int, body: int, row: int, n: Vector) -> int:
    """:func:`locate` with a direction in the world; ``body`` moves ``volume``."""
    return locate(table, to_body(frames, body, n), row, table.first[volume, 0], table.first[volume, 1])


@kernel
def walk(
    table: VolumeTable, frames: Frames, pair: Pair, row_a: int, row_b: int, n: Vector, most: int, min_cosine: float
) -> tuple[float, Vector, int, int, bool]:
    """From a pair of features to the next until the normal of the pair is one of both.

    Args:
        table: of the volumes.
        frames: of the bodies.
        pair: the two volumes.
        row_a: feature of the first volume to start from.
        row_b: feature of the second volume to start from.
        n: unit vector to start from, from b to a in the world.
        most: pairs to try.
        min_cosine: of the angle between one normal and the next; a walk that turns farther has lost its way.

    Returns:
        Distance of centres and circles; unit vector; the two features; whether the normal is one of both.
    """
    length = 0.0
    for _ in range(most):
        length, m, found = solve_pair(table, frames, pair, row_a, row_b, n)
        if not found or m[0] * n[0] + m[1] * n[1] + m[2] * n[2] < min_cosine:
            break
        n = m
        next_a = locate_world(table, frames, pair.volume_a, pair.body_a, row_a, opposite(n))
        next_b = locate_world(table, frames, pair.volume_b, pair.body_b, row_b, n)
        if next_a == row_a and next_b == row_b:
            return length, n, row_a, row_b, True
        row_a, row_b = next_a, next_b
    return length, n, row_a, row_b, False
