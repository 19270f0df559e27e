# SPDX-License-Identifier: Apache-2.0
"""Distance of a sphere-torus-patch volume and a plain convex polyhedron (specification 001 section 5.10).

One strictly convex body is enough for a distance with continuous derivatives, so obstacles can come as they are.
The polyhedron is the volume with R infinite: its normals are those of its vertices, with all others on borders between
them. Between borders the normal is found as for two volumes; on a border of two or three vertices it is also across
the line or the plane through them. Which vertices these are is what GJK's simplex says; a check of both bodies says
whether the answer is the one.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_planner.distance.features import locate_world, sphere_sphere, sphere_torus
from humanoid_planner.distance.frames import (
    Frames,
    Vector,
    difference,
    kernel,
    opposite,
    to_body,
    to_world,
    vector,
    vector_of,
)
from humanoid_planner.distance.gjk import boundary_point, core_support, reduce_simplex, support_vertex
from humanoid_planner.distance.narrow_phase import cold_start
from humanoid_planner.distance.penetration import deepest
from humanoid_planner.distance.volume_table import EDGE, Pair, PairList, PairResults, VolumeTable, Workspace

_APART = 1e-9
"""Bodies must be this far apart without their margins [m] for an answer to count as the only one.

With less, a normal that suits both may be any of several, bodies apart or not: GJK says which, and goes on.
"""
_ROUND_OFF = 1e-12
"""Heights below this [m] are none."""
_OUTSIDE = -1e-9
"""Weights of corners above this are not negative."""


@kernel
def _across_line(d: Vector, e: Vector, radius: float, t: Vector, n: Vector) -> tuple[Vector, bool]:
    """Return unit vector n across unit vector t that maximises D . n + radius sqrt(1 - (n . e)^2), from a start near.

    Newton's method over the angle about t; ``radius`` is 0 for a sphere.
    """
    d0, d1, d2 = d
    e0, e1, e2 = e
    t0, t1, t2 = t
    n0, n1, n2 = n
    along = n0 * t0 + n1 * t1 + n2 * t2
    n0, n1, n2 = n0 - along * t0, n1 - along * t1, n2 - along * t2
    length = math.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
    if not length > 0.0:
        return (n0, n1, n2), False
    n0, n1, n2 = n0 / length, n1 / length, n2 / length
    for _ in range(25):
        m0, m1, m2 = t1 * n2 - t2 * n1, t2 * n0 - t0 * n2, t0 * n1 - t1 * n0
        s = n0 * e0 + n1 * e1 + n2 * e2
        z = m0 * e0 + m1 * e1 + m2 * e2
        square = 1.0 - s * s
        if square < 1e-12:
            return (n0, n1, n2), False
        scale = radius / math.sqrt(square)
        slope = d0 * m0 + d1 * m1 + d2 * m2 - scale * s * z
        bend = d0 * n0 + d1 * n1 + d2 * n2 + scale * (z * z - s * s + s * s * z * z / square)
        step = slope / abs(bend) if bend != 0.0 else slope
        last = abs(step) < 1e-10
        step = min(max(step, -0.5), 0.5)
        c, w = math.cos(step), math.sin(step)
        n0, n1, n2 = c * n0 + w * m0, c * n1 + w * m1, c * n2 + w * m2
        if last:
            return (n0, n1, n2), bend > 0.0
    return (n0, n1, n2), False


@kernel
def _edge(frames: Frames, body: int, features: np.ndarray, q: int, p: int) -> Vector:
    """From a vertex q of a body to a vertex p of it, in the world."""
    between = features[p, 0] - features[q, 0], features[p, 1] - features[q, 1], features[p, 2] - features[q, 2]
    return to_world(frames, body, between)


@kernel
def _settle(
    table: VolumeTable, frames: Frames, pair: Pair, row: int, count: int, support: np.ndarray, n: Vector
) -> tuple[float, Vector, int, int, bool]:
    """From a feature and up to three vertices to the next until the normal suits all: a walk with an active set.

    Args:
        table: of the volumes.
        frames: of the bodies.
        pair: the volume and the polyhedron.
        row: feature of the volume to start from.
        count: number of vertices to start from.
        support: the vertices; receives those of the answer, shape (3,).
        n: unit vector to start from, from b to a in the world.

    Returns:
        Distance of the core and the polyhedron; unit vector; feature; number of vertices; whether it is the answer.
    """
    features, links = table.features, table.links
    volume, polyhedron, a, b = pair
    n0, n1, n2 = n
    for _ in range(12):
        q = support[0]
        d = difference(frames, a, b, vector(features, row, 0), vector(features, q, 0))
        round_edge = links[row, 0] == EDGE
        e, radius = (0.0, 0.0, 0.0), 0.0
        if round_edge:
            e = to_world(frames, a, vector(features, row, 3))
            radius = features[row, 7]
        s0, s1, s2, t0, t1, t2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        if count > 1:
            p = support[1]
            s0, s1, s2 = _edge(frames, b, features, q, p)
        if count > 2:
            p = support[2]
            t0, t1, t2 = _edge(frames, b, features, q, p)
        if count == 1:
            if round_edge:
                _, m, found = sphere_torus(d, e, radius)
            else:
                _, m, found = sphere_sphere(d)
        elif count == 2:
            length = math.sqrt(s0 * s0 + s1 * s1 + s2 * s2)
            m, found = _across_line(d, e, radius, (s0 / length, s1 / length, s2 / length), (n0, n1, n2))
        else:
            m0, m1, m2 = s1 * t2 - s2 * t1, s2 * t0 - s0 * t2, s0 * t1 - s1 * t0
            length = math.copysign(math.sqrt(m0 * m0 + m1 * m1 + m2 * m2), m0 * n0 + m1 * n1 + m2 * n2)
            found = abs(length) > 0.0
            m = m0 / length, m1 / length, m2 / length
        if not found:
            break
        n0, n1, n2 = m
        next_row = locate_world(table, frames, volume, a, row, opposite(m))
        if next_row != row:
            row = next_row
            continue
        point = core_support(table, volume, row, to_body(frames, a, opposite(m)))
        x0, x1, x2 = difference(frames, a, b, point, vector(features, q, 0))
        # Where, between the vertices, the polyhedron's point is: one outside is no vertex of the answer.
        if count == 2:
            weight = (x0 * s0 + x1 * s1 + x2 * s2) / (s0 * s0 + s1 * s1 + s2 * s2)
            if weight < _OUTSIDE or weight > 1.0 - _OUTSIDE:
                if weight > 0.5:
                    support[0] = support[1]
                count = 1
                continue
        elif count == 3:
            ss, st, tt = s0 * s0 + s1 * s1 + s2 * s2, s0 * t0 + s1 * t1 + s2 * t2, t0 * t0 + t1 * t1 + t2 * t2
            xs, xt = x0 * s0 + x1 * s1 + x2 * s2, x0 * t0 + x1 * t1 + x2 * t2
            determinant = ss * tt - st * st
            second, third = (tt * xs - st * xt) / determinant, (ss * xt - st * xs) / determinant
            first = 1.0 - second - third
            least = min(first, second, third)
            if least < _OUTSIDE:
                if least == first:
                    support[0] = support[2]
                elif least == second:
                    support[1] = support[2]
                count = 2
                continue
        u = to_body(frames, b, m)
        u0, u1, u2 = u
        p = support_vertex(table, polyhedron, q, u)
        beyond = (
            u0 * (features[p, 0] - features[q, 0])
            + u1 * (features[p, 1] - features[q, 1])
            + u2 * (features[p, 2] - features[q, 2])
        )
        if beyond <= _ROUND_OFF:
            return x0 * n0 + x1 * n1 + x2 * n2, m, row, count, True
        if count == 3:
            break
        support[count] = p
        count += 1
    return 0.0, (n0, n1, n2), row, count, False


@kernel
def polyhedron_distance(
    table: VolumeTable,
    frames: Frames,
    pair: Pair,
    rows: np.ndarray,
    n: np.ndarray,
    points: np.ndarray,
    work: Workspace,
) -> float:
    """Signed distance of a volume and a polyhedron.

    Args:
        table: of the volumes.
        frames: of the bodies.
        pair: the volume and the polyhedron.
        rows: feature of the volume, number of vertices of the polyhedron, and these, to start from; -1 first for none;
            receives those of the answer, shape (5,).
        n: normal of the last answer, if there was one; receives the unit vector from b to a in the world, shape (3,).
        points: receives the points of a and of b that the distance is taken between, in the world, shape (2, 3).
        work: workspace.

    Returns:
        Distance [m], negative in penetration: minus the length of the smallest separating translation.
    """
    features, u, simplex, support = table.features, work.n, work.simplex, rows[2:5]
    volume, polyhedron, a, b = pair
    gap, count, arrived = 0.0, 0, False
    row = rows[0]
    if row >= 0:
        u[0], u[1], u[2] = n[0], n[1], n[2]
        gap, m, row, count, arrived = _settle(table, frames, pair, row, rows[1], support, vector_of(n))
        arrived = arrived and gap > _APART
        vertex = support[0]
    else:
        row, vertex = cold_start(table, frames, pair, work)
        m = vector_of(u)
    corners = 0
    distance = np.inf
    for _ in range(100):  # GJK on the core and the polyhedron
        if arrived:
            u[0], u[1], u[2] = m
            break
        across = vector_of(u)
        row = locate_world(table, frames, volume, a, row, opposite(across))
        point = core_support(table, volume, row, to_body(frames, a, opposite(across)))
        vertex = support_vertex(table, polyhedron, vertex, to_body(frames, b, across))
        simplex[corners, 0], simplex[corners, 1], simplex[corners, 2] = difference(
            frames, a, b, point, vector(features, vertex, 0)
        )
        simplex[corners, 3] = vertex
        corners = reduce_simplex(simplex, corners + 1)
        reached = math.sqrt(simplex[4, 0] ** 2 + simplex[4, 1] ** 2 + simplex[4, 2] ** 2)
        if corners == 4 or reached < _APART:
            distance = 0.0
            break
        if not reached < distance:
            break
        distance = reached
        for k in range(3):
            u[k] = simplex[4, k] / distance
        count = 0
        for k in range(corners):
            known = False
            for i in range(count):
                known = known or support[i] == int(simplex[k, 3])
            if not known:
                support[count] = int(simplex[k, 3])
                count += 1
        across = vector_of(u)
        row = locate_world(table, frames, volume, a, row, opposite(across))
        gap, m, end, count, arrived = _settle(table, frames, pair, row, count, support, across)
        arrived = arrived and gap > _APART
        if arrived:
            row = end
    rows[0], rows[1] = row, count
    if not arrived:
        deepest(table, frames, pair, row, vertex, distance, work)
        gap = work.best[0]
        u[0], u[1], u[2] = work.best[1], work.best[2], work.best[3]
        row = work.rows[2]
        rows[0] = -1
    n[0], n[1], n[2] = u[0], u[1], u[2]
    value = gap - table.radii[volume, 0] - table.radii[polyhedron, 0]
    boundary_point(table, frames, volume, a, row, -1.0, n, points[0])
    for k in range(3):
        points[1, k] = points[0, k] - value * n[k]
    return value


@kernel
def polyhedron_distances(
    table: VolumeTable, pairs: PairList, frames: Frames, rows: np.ndarray, results: PairResults, work: Workspace
) -> None:
    """Signed distances of volumes and polyhedra.

    Args:
        table: of the volumes and polyhedra.
        pairs: volume, polyhedron, and which of the two is the first of the pair (0 the volume, 1 the polyhedron), shape
            (k, 3).
        frames: of the bodies.
        rows: what to start from, see :func:`polyhedron_distance`, shape (k, 5).
        results: of the last evaluation; receives those of this one, but for the features and the slopes.
        work: workspace.
    """
    normals, points = results.normals, results.points
    for index in range(len(pairs.pairs)):
        volume, polyhedron, order = pairs.pairs[index, 0], pairs.pairs[index, 1], pairs.pairs[index, 2]
        pair = Pair(volume, polyhedron, pairs.bodies[volume], pairs.bodies[polyhedron])
        k = pairs.places[index]
        sign = 1.0 - 2.0 * order
        for i in range(3):
            normals[k, i] *= sign
        results.values[k] = polyhedron_distance(table, frames, pair, rows[index], normals[k], points[k], work)
        for i in range(3):
            normals[k, i] *= sign
            points[k, 0, i], points[k, 1, i] = points[k, order, i], points[k, 1 - order, i]
