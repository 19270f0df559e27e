# SPDX-License-Identifier: Apache-2.0
"""Contact points of triangle meshes with convex shapes and with each other."""

from __future__ import annotations

import numpy as np

from humanoid_model.compiling import counted, uncounted
from humanoid_sim.detection.broad_phase import tree_overlaps
from humanoid_sim.detection.convex_pair import contact_patch, convex_distance
from humanoid_sim.detection.face_contact import FACE_CONTACT, MAX_POINTS, face_contact, face_towards
from humanoid_sim.detection.patch_reduction import reduce_patch
from humanoid_sim.detection.shape_table import MeshPoints, Nearest, PatchPoints, Pose, ShapeTable, core_radius, support

MESH_POINTS = 48
"""A pair with a mesh gives at most so many contact points."""
_CANDIDATES = 2048
"""So many points of all triangles are looked at before the reduction; what is beyond is left out."""
_TOUCHING = 1e-4
"""Points within this of the deepest of a patch are touching; they are reduced apart from those that only may [m]."""
_ROUND_UPRIGHT = 1.0 - 1e-9
"""Cosine from which on a sphere or capsule, whose normals are exact, leans over no side of a triangle."""
_ALONG = 1e-6
"""Cosine up to which a normal runs along a surface, whichever side rounding puts it on."""
_PRIME = 1000003


@uncounted()
def _load_triangle(table: ShapeTable, mesh: int, triangle: int) -> None:
    """Put a triangle of a mesh into the mesh's row for a single triangle."""
    single = table.single[mesh]
    first = table.vertex_start[single]
    face = table.face_start[single]
    for i in range(3):
        for r in range(3):
            table.vertices[first + i, r] = table.triangles[triangle, i, r]
    for r in range(3):
        table.face_normals[face, r] = table.triangle_normals[triangle, r]
        table.face_normals[face + 1, r] = -table.triangle_normals[triangle, r]
        low = min(table.triangles[triangle, 0, r], table.triangles[triangle, 1, r], table.triangles[triangle, 2, r])
        high = max(table.triangles[triangle, 0, r], table.triangles[triangle, 1, r], table.triangles[triangle, 2, r])
        table.half[single, r] = 0.5 * (high - low)
        table.centre[single, r] = 0.5 * (high + low)


@uncounted()
def _box_in(
    table: ShapeTable,
    s: int,
    R_s: np.ndarray,
    p_s: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
    margin: float,
    box: np.ndarray,
) -> None:
    """Box around a shape along the axes of another frame."""
    for r in range(3):
        middle = 0.0
        reach = margin
        for k in range(3):
            middle += R[k, r] * (p_s[k] - p[k])
        for c in range(3):
            entry = R[0, r] * R_s[0, c] + R[1, r] * R_s[1, c] + R[2, r] * R_s[2, c]
            middle += entry * table.centre[s, c]
            reach += abs(entry) * table.half[s, c]
        box[r] = middle - reach
        box[3 + r] = middle + reach


@counted()
def _leans_over_closed_side(
    table: ShapeTable, triangle: int, R: np.ndarray, p: np.ndarray, point: np.ndarray
) -> bool:
    """Return whether a point of a triangle, in the world, is on a side that no contact normal may lean over."""
    x = np.empty(3)
    for r in range(3):
        x[r] = R[0, r] * (point[0] - p[0]) + R[1, r] * (point[1] - p[1]) + R[2, r] * (point[2] - p[2])
    corners = table.triangles[triangle]
    for k in range(3):
        if table.edge_open[triangle, k]:
            continue
        e = corners[(k + 1) % 3] - corners[k]
        d = x - corners[k]
        length = e[0] * e[0] + e[1] * e[1] + e[2] * e[2]
        along = (d[0] * e[0] + d[1] * e[1] + d[2] * e[2]) / length if length > 0.0 else 0.0
        off = d - along * e
        if off[0] * off[0] + off[1] * off[1] + off[2] * off[2] <= 1e-12 * length:
            return True
    return False


@uncounted()
def _face_on_triangle(
    table: ShapeTable,
    a: int,
    single: int,
    triangle_a: int,
    pose_a: Pose,
    pose_m: Pose,
    up: np.ndarray,
    margin: float,
    normal: np.ndarray,
    patch: PatchPoints,
) -> int:
    """Contact points of a face of a shape that lies on a triangle, no deeper than rounding and a solver leave it; or 0.

    The nearest points of flat shapes that touch don't tell on which side of the triangle the shape is: its face does.

    Args:
        table: the shapes.
        a: the shape.
        single: row of the triangle.
        triangle_a: the triangle of another mesh that ``a`` stands for, -1 where it is a shape of its own.
        pose_a: of a in the world.
        pose_m: of the triangle's mesh in the world.
        up: the triangle's normal in the world, shape (3,).
        margin: points up to this far from the triangle are kept [m].
        normal: receives the contact normal, shape (3,).
        patch: receives the points.
    """
    if table.face_start[a + 1] == table.face_start[a]:
        return 0
    for r in range(3):
        normal[r] = -up[r]
    if triangle_a >= 0:  # its other side is the inner side of a surface
        local, R_a = table.triangle_normals[triangle_a], pose_a.R
        cosine = 0.0
        for r in range(3):
            cosine += normal[r] * (R_a[r, 0] * local[0] + R_a[r, 1] * local[1] + R_a[r, 2] * local[2])
    else:
        _, cosine = face_towards(table, a, pose_a.R, normal)
    if cosine < FACE_CONTACT:
        return 0
    for r in range(3):
        normal[r] = up[r]
    points = face_contact(table, a, single, pose_a, pose_m, normal, margin, patch)
    for i in range(points):
        if patch.gaps[i] < -_TOUCHING:
            return 0
    return points


@counted()
def _gather(
    table: ShapeTable,
    a: int,
    mesh: int,
    pose_a: Pose,
    pose_m: Pose,
    margin: float,
    triangle_a: int,
    found: np.ndarray,
    all_points: MeshPoints,
    count: int,
) -> int:
    """Append the contact points of a convex shape with the triangles of a mesh; the number of points then.

    ``triangle_a`` is the triangle of another mesh that ``a`` stands for, -1 where it is a shape of its own.
    """
    R_a, p_a, R_m, p_m = pose_a.R, pose_a.p, pose_m.R, pose_m.p
    positions, normals, gaps, features = (
        all_points.positions, all_points.normals, all_points.gaps, all_points.features
    )
    m = table.mesh[mesh]
    single = table.single[mesh]
    box = np.empty(6)
    _box_in(table, a, R_a, p_a, R_m, p_m, margin, box)
    size = tree_overlaps(box, table.node_box, table.node_child, table.mesh_node[m], found)
    upright = _ROUND_UPRIGHT if core_radius(table, a) > 0.0 else FACE_CONTACT
    normal = np.empty(3)
    up = np.empty(3)
    on_a = np.empty(3)
    on_b = np.empty(3)
    nearest = Nearest(normal, on_a, on_b)
    patch = PatchPoints(np.empty((MAX_POINTS, 3)), np.empty(MAX_POINTS), np.empty(MAX_POINTS, dtype=np.int64))
    for k in range(min(size, found.size)):
        triangle = table.mesh_triangle[m] + found[k]
        local = table.triangle_normals[triangle]
        if local[0] == 0.0 and local[1] == 0.0 and local[2] == 0.0:
            continue
        apart = False
        corners = table.triangles[triangle]
        for r in range(3):
            first, second, third = corners[0, r], corners[1, r], corners[2, r]
            if min(first, second, third) > box[3 + r] or max(first, second, third) < box[r]:
                apart = True
        if apart:
            continue
        _load_triangle(table, mesh, triangle)
        for r in range(3):
            up[r] = R_m[r, 0] * local[0] + R_m[r, 1] * local[1] + R_m[r, 2] * local[2]
        points = _face_on_triangle(table, a, single, triangle_a, pose_a, pose_m, up, margin, normal, patch)
        if points == 0:
            distance = convex_distance(table, a, single, pose_a, pose_m, margin, nearest)
            if distance == np.inf:
                continue
            cosine = 0.0
            for r in range(3):
                cosine += up[r] * normal[r]
            if cosine < -_ALONG:
                if distance >= -core_radius(table, a):
                    continue  # it is behind the surface without crossing it: other triangles are nearer
                # more than half through: the way out is the front all the same
                x, y, z = support(
                    table,
                    a,
                    -(R_a[0, 0] * up[0] + R_a[1, 0] * up[1] + R_a[2, 0] * up[2]),
                    -(R_a[0, 1] * up[0] + R_a[1, 1] * up[1] + R_a[2, 1] * up[2]),
                    -(R_a[0, 2] * up[0] + R_a[1, 2] * up[1] + R_a[2, 2] * up[2]),
                )
                distance = 0.0
                for r in range(3):
                    on_a[r] = p_a[r] + R_a[r, 0] * x + R_a[r, 1] * y + R_a[r, 2] * z - core_radius(table, a) * up[r]
                    distance += up[r] * (on_a[r] - on_b[r])
                    normal[r] = up[r]
                for r in range(3):
                    on_b[r] = on_a[r] - distance * up[r]
            elif cosine < upright and _leans_over_closed_side(table, triangle, R_m, p_m, on_b):
                continue
            if triangle_a >= 0:
                facing = 0.0
                for r in range(3):
                    facing += normal[r] * (
                        R_a[r, 0] * table.triangle_normals[triangle_a, 0]
                        + R_a[r, 1] * table.triangle_normals[triangle_a, 1]
                        + R_a[r, 2] * table.triangle_normals[triangle_a, 2]
                    )
                if facing > _ALONG:
                    continue  # the inner side of the other surface
                if facing > -FACE_CONTACT and _leans_over_closed_side(table, triangle_a, R_a, p_a, on_a):
                    continue
            points = contact_patch(table, a, single, pose_a, pose_m, distance, margin, nearest, patch)
        for i in range(points):
            if count == gaps.size:
                return count
            gaps[count] = patch.gaps[i]
            features[count] = (patch.features[i] * _PRIME + triangle) * _PRIME + triangle_a
            for r in range(3):
                positions[count, r] = patch.positions[i, r]
                normals[count, r] = normal[r]
            count += 1
    return count


@counted()
def mesh_contact(
    table: ShapeTable,
    a: int,
    b: int,
    pose_a: Pose,
    pose_b: Pose,
    margin: float,
    points: MeshPoints,
) -> int:
    """Contact points of two shapes at least one of which is a mesh.

    Each triangle that comes near is a flat convex shape of its own. Normals that lean over a side between two
    triangles of one plane or of a hollow are left out: such a side can't be felt. Points with one normal
    are one patch, reduced to the corners of its hull.

    Args:
        table: the shapes.
        a: first shape.
        b: second shape.
        pose_a: of a in the world.
        pose_b: of b in the world.
        margin: points up to this far apart are kept [m].
        points: receives at most ``MESH_POINTS`` points.

    Returns:
        The number of points.
    """
    found = np.empty(_CANDIDATES, dtype=np.int64)
    all_points = MeshPoints(
        np.empty((_CANDIDATES, 3)), np.empty((_CANDIDATES, 3)), np.empty(_CANDIDATES),
        np.empty(_CANDIDATES, dtype=np.int64),
    )  # fmt: skip
    # the mesh whose triangles are looked at is b, or a where only a is one; another mesh is its triangles one by one
    swapped = table.mesh[b] < 0
    mesh, other = (a, b) if swapped else (b, a)
    pose_m, pose_o = (pose_a, pose_b) if swapped else (pose_b, pose_a)
    both = table.mesh[other] >= 0
    near = np.zeros(1, dtype=np.int64)
    first = 0
    size = 1
    if both:
        m = table.mesh[other]
        first = table.mesh_triangle[m]
        near = np.empty(table.mesh_triangle[m + 1] - first, dtype=np.int64)
        box = np.empty(6)
        _box_in(table, mesh, pose_m.R, pose_m.p, pose_o.R, pose_o.p, margin, box)
        size = tree_overlaps(box, table.node_box, table.node_child, table.mesh_node[m], near)
    count = 0
    for k in range(size):
        solid = other
        triangle = -1
        if both:
            triangle = first + near[k]
            local = table.triangle_normals[triangle]
            if local[0] == 0.0 and local[1] == 0.0 and local[2] == 0.0:
                continue
            _load_triangle(table, other, triangle)
            solid = table.single[other]
        count = _gather(table, solid, mesh, pose_o, pose_m, margin, triangle, found, all_points, count)
    written = _reduce(all_points, count, points)
    if swapped:
        for i in range(written):
            for r in range(3):
                points.normals[i, r] = -points.normals[i, r]
    return written


@counted()
def _reduce(all_points: MeshPoints, count: int, points: MeshPoints) -> int:
    """Return the points of each patch, deepest patch first, that carry its wrenches; the number of points written."""
    all_positions, all_normals, all_gaps = all_points.positions, all_points.normals, all_points.gaps
    order = np.argsort(all_gaps[:count], kind="mergesort")
    taken = np.zeros(count, dtype=np.bool_)
    members = np.empty(count, dtype=np.int64)
    kept = np.empty(MAX_POINTS, dtype=np.int64)
    written = 0
    for place in range(count):
        lead = order[place]
        if taken[lead]:
            continue
        for layer in range(2):  # those that touch, then those that may
            size = 0
            for k in range(place, count):
                i = order[k]
                if taken[i]:
                    continue
                cosine = 0.0
                for r in range(3):
                    cosine += all_normals[lead, r] * all_normals[i, r]
                if cosine > FACE_CONTACT and (layer == 1 or all_gaps[i] <= all_gaps[lead] + _TOUCHING):
                    members[size] = i
                    size += 1
            if size == 0:
                continue
            chosen = np.sort(members[:size])
            for k in range(size):
                taken[chosen[k]] = True
            some = reduce_patch(all_positions[chosen], all_gaps[chosen], all_normals[lead], MAX_POINTS, kept)
            for k in range(some):
                if written == points.gaps.size:
                    return written
                i = chosen[kept[k]]
                points.gaps[written] = all_gaps[i]
                points.features[written] = all_points.features[i]
                for r in range(3):
                    points.positions[written, r] = all_positions[i, r]
                    points.normals[written, r] = all_normals[i, r]
                written += 1
    return written
