# SPDX-License-Identifier: Apache-2.0
"""Convex parts of bodies: shapes put together where their hull is nearly filled, meshes taken apart where it isn't."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import Cylinder, Geometry, HalfSpace, Mesh, Shape, Sphere
from humanoid_model.extensions import optional_library
from humanoid_model.files import require_file
from humanoid_planner.distance.rounded_hull import RoundedHull, mesh_triangles, rounded_hull
from humanoid_planner.distance.volume_store import stored_parts

_SAMPLES = 2048
"""Points at which it is looked up how much of a hull is filled: a share of 0.9 is then known to 0.02."""
_TOUCHING = 1e-6
"""Shapes whose places and sizes differ by less [m] fit each other."""
_DETAILED = 1000
"""Triangles above which a mesh is taken apart more coarsely."""
_POINT = coal.Sphere(0.0)
_MARGIN = 0.05
"""Of shares that are estimated: outlines are 2 % of the radius inside."""
_SURFACE_POINTS = 40
"""Points of the surface along the largest extent at which it is checked that parts of a mesh cover it."""


def convex_parts(geometries: Sequence[Geometry], filled: float = 0.9) -> list[RoundedHull]:
    """Return the rounded hulls that together enclose the shapes of a body; half-spaces are left out.

    A cylinder with a sphere on both ends is one capsule, as URDF, which has none, writes it. Parts are put together,
    the fullest hull first, as long as the parts fill a share of their common hull. A mesh that fills less of its hull
    is decomposed. The hulls exceed the shapes by what :func:`rounded_hull` says, and by the unfilled share of hulls.

    Args:
        geometries: of one body.
        filled: share of a hull, 0 to 1, that shapes have to fill for the hull to stand for them.

    Returns:
        Parts in the frame of the body.

    Raises:
        InputError: a mesh file can't be read.
    """
    meshes = [geometry.shape for geometry in geometries if isinstance(geometry.shape, Mesh)]
    if not meshes:
        return _convex_parts(geometries, filled)
    # Putting the parts of a detailed mesh together takes seconds: kept on disk under what it is made from.
    content = hashlib.sha256(np.float64(filled).tobytes())
    for mesh in meshes:
        require_file(mesh.path, remedy="Check the mesh's path")
        content.update(hashlib.sha256(mesh.path.read_bytes()).digest())
    for geometry in geometries:
        content.update(repr((geometry.name, _described(geometry.shape))).encode())
        content.update(geometry.placement.homogeneous.tobytes())
    return stored_parts(b"body" + content.digest(), lambda: _convex_parts(geometries, filled))


def _described(shape: Shape) -> tuple[object, ...]:
    """Kind and sizes of a shape; what a mesh's file holds is not among them."""
    if isinstance(shape, Mesh):
        return "mesh", shape.path.suffix.lower(), shape.scale.tolist(), shape.collision
    values = (np.asarray(value).tolist() for value in vars(shape).values())
    return type(shape).__name__, *values


def _convex_parts(geometries: Sequence[Geometry], filled: float) -> list[RoundedHull]:
    parts: list[RoundedHull] = []
    shapes = [geometry for geometry in geometries if not isinstance(geometry.shape, HalfSpace)]
    for geometry in shapes:
        if isinstance(geometry.shape, Mesh):
            own = _mesh_parts(geometry, filled)
        elif isinstance(geometry.shape, Cylinder) and _has_round_ends(geometry.shape, geometry.placement, shapes):
            own = [_capsule(geometry.shape)]
        else:
            own = [rounded_hull(coal_geometry(geometry.shape))]
        parts += [part.moved(geometry.placement).called(geometry.name) for part in own]
    return _put_together(parts, filled)


def _capsule(cylinder: Cylinder) -> RoundedHull:
    reach = 0.5 * cylinder.length
    return RoundedHull(np.array([[0.0, 0.0, -reach], [0.0, 0.0, reach]]), cylinder.radius)


def _has_round_ends(cylinder: Cylinder, placement: pin.SE3, geometries: Sequence[Geometry]) -> bool:
    """Return whether balls of a cylinder's radius sit on both its ends."""
    balls = [
        geometry.placement.translation
        for geometry in geometries
        if isinstance(geometry.shape, Sphere) and abs(geometry.shape.radius - cylinder.radius) <= _TOUCHING
    ]
    ends = _capsule(cylinder).moved(placement).points
    return all(any(np.linalg.norm(end - ball) <= _TOUCHING for ball in balls) for end in ends)


def _put_together(parts: list[RoundedHull], filled: float) -> list[RoundedHull]:
    """Fewer hulls around the same parts, each filled well enough."""
    kept: list[RoundedHull] = []
    for part in sorted(parts, key=lambda part: (-part.radius, -len(part.points))):
        if not any(other.contains(part) for other in kept):
            kept = [other for other in kept if not part.contains(other)] + [part]
    groups = [[part] for part in kept]
    shares: dict[tuple[int, ...], float] = {}
    while len(groups) > 1:
        best, share = None, filled
        for pair in itertools.combinations(range(len(groups)), 2):
            together = groups[pair[0]] + groups[pair[1]]
            key = tuple(map(id, together))
            if key not in shares:
                shares[key] = _filled_share(RoundedHull.around(together), together, filled)
            if shares[key] >= share:
                best, share = pair, shares[key]
        if best is None:
            break
        groups[best[0]] = groups[best[0]] + groups.pop(best[1])
    return [RoundedHull.around(group) if len(group) > 1 else group[0] for group in groups]


def _filled_share(hull: RoundedHull, parts: Sequence[RoundedHull], least: float) -> float:
    """Return the share of a hull's volume that parts fill, on a fixed set of evenly spread points.

    Where the parts' volumes and an estimate of the hull's from below tell that it is less than ``least``, it is 0.
    """
    if sum(part.volume for part in parts) < (least - _MARGIN) * hull.least_volume:
        return 0.0
    from scipy.stats import qmc  # slow to import, and only shapes put together need it

    lower, upper = hull.outline.min(axis=0), hull.outline.max(axis=0)
    points = lower + qmc.Halton(3, scramble=False).random(_SAMPLES) * (upper - lower)
    points = points[hull.contains_points(points)]
    if not len(points):
        return 0.0
    covered = np.zeros(len(points), dtype=bool)
    for part in parts:
        covered |= part.contains_points(points)
    return float(covered.mean())


def _mesh_parts(geometry: Geometry, filled: float) -> list[RoundedHull]:
    """Return the hull of a mesh, or hulls of its parts, in the mesh's frame."""
    vertices, triangles = mesh_triangles(coal_geometry(geometry.shape))
    import trimesh  # slow to import, and most robots have no meshes

    mesh = trimesh.Trimesh(vertices, triangles)  # merges equal vertices
    whole = RoundedHull(np.asarray(mesh.vertices), 0.0)
    if _is_flat(whole.points) or (mesh.is_watertight and abs(mesh.volume) >= filled * mesh.convex_hull.volume):
        return [whole]
    points, faces = np.array(mesh.vertices), np.array(mesh.faces, dtype=np.int64)
    content = b"mesh" + points.astype("<f8").tobytes() + faces.astype("<i8").tobytes()
    return stored_parts(content, lambda: decompose(points, faces))


def _is_flat(points: NDArray[np.float64]) -> bool:
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return len(spread) < 3 or bool(spread[2] <= 1e-9 * spread[0])


def decompose(
    vertices: NDArray[np.float64], triangles: NDArray[np.int64], concavity: float = 0.05
) -> list[RoundedHull]:
    """Convex parts of a non-convex mesh.

    By CoACD (X. Wei et al., "Approximate convex decomposition for 3D meshes with collision-aware concavity and tree
    search", ACM Transactions on Graphics 41, 2022). Holes of three or four sides are filled first. A mesh that is
    still open CoACD replaces by voxels, whose steps would make many parts: it is taken apart more coarsely. So is one
    of many triangles, whose fillets and bores would take minutes and make dozens of parts: six at most, of few corners.
    What of the mesh then sticks out of the parts, on surface points a fortieth of its size apart, becomes the radius of
    all parts.

    Args:
        vertices: shape (n, 3) [m].
        triangles: shape (m, 3).
        concavity: allowed distance between a part and its hull, relative to the body's size.

    Returns:
        Parts in the mesh's frame.
    """
    import trimesh

    coacd = optional_library("coacd", "planner")
    coacd.set_log_level("error")
    mesh = trimesh.Trimesh(vertices, triangles)
    mesh.fill_holes()
    given = coacd.Mesh(np.asarray(mesh.vertices), np.asarray(mesh.faces))
    if len(triangles) > _DETAILED:
        found = coacd.run_coacd(
            given, threshold=max(concavity, 0.3), max_convex_hull=6, preprocess_mode="on", preprocess_resolution=15,
            resolution=300, mcts_nodes=5, mcts_iterations=10, mcts_max_depth=1, decimate=True, max_ch_vertex=48, seed=0,
        )  # fmt: skip
    elif mesh.is_watertight:
        found = coacd.run_coacd(given, threshold=concavity, preprocess_mode="off", seed=0)
    else:
        found = coacd.run_coacd(
            given, threshold=max(concavity, 0.15), preprocess_mode="on", preprocess_resolution=25,
            resolution=1000, mcts_nodes=10, mcts_iterations=60, mcts_max_depth=2, seed=0,
        )  # fmt: skip
    parts = [RoundedHull(np.asarray(points, dtype=np.float64), 0.0) for points, _ in found]
    out = _sticks_out(_surface_points(vertices, triangles), parts)
    return [RoundedHull(part.points, out) for part in parts] if out > _TOUCHING else parts


def _surface_points(vertices: NDArray[np.float64], triangles: NDArray[np.int64]) -> NDArray[np.float64]:
    import trimesh

    spacing = float(np.ptp(vertices, axis=0).max()) / _SURFACE_POINTS
    spread, _ = trimesh.remesh.subdivide_to_size(vertices, triangles, spacing, max_iter=20)
    return np.unique(spread, axis=0)


def _sticks_out(points: NDArray[np.float64], parts: Sequence[RoundedHull]) -> float:
    """Largest distance of points to the nearest of several solid parts; 0 when all are inside."""
    hulls = [ConvexHull(part.points) for part in parts]
    # How far a point is beyond a hull's facets bounds its distance: hulls beyond the nearest so far are left out.
    beyond = np.array([(points @ hull.equations[:, :3].T + hull.equations[:, 3]).max(axis=1) for hull in hulls])
    solids = [_solid(part.points[hull.vertices]) for part, hull in zip(parts, hulls, strict=True)]
    out, farthest = np.flatnonzero((beyond > _TOUCHING).all(axis=0)), 0.0
    for index in out[np.argsort(-beyond[:, out].min(axis=0))]:
        away = np.inf
        for part in np.argsort(beyond[:, index]):
            # Nearer than the farthest point so far it can't be the farthest.
            if away <= max(float(beyond[part, index]), farthest):
                break
            away = min(away, _distance(solids[part], points[index]))
        farthest = max(farthest, away)
    return farthest


def _solid(points: NDArray[np.float64]) -> coal.ConvexBase:
    corners = coal.StdVec_Vec3s()
    corners.extend(list(points))
    return coal.ConvexBase.convexHull(corners, True, "Qt")


def _distance(solid: coal.ConvexBase, point: NDArray[np.float64]) -> float:
    """Return the distance of a point to a solid, below zero inside [m]."""
    still, there = coal.Transform3s.Identity(), coal.Transform3s(np.eye(3), point)
    return float(coal.distance(solid, still, _POINT, there, coal.DistanceRequest(), coal.DistanceResult()))
