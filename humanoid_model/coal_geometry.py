# SPDX-License-Identifier: Apache-2.0
"""coal collision geometries of the shapes of a description, and how low they reach.

What a mesh file may become is bounded: libraries build whatever its words ask for, and some end the process.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.parsers import expat

import coal
import numpy as np
import pinocchio as pin

from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, HalfSpace, HeightField, Mesh, Shape, Sphere
from humanoid_model.errors import InputError
from humanoid_model.files import check_may_read, check_size, require_file
from humanoid_model.height_field import grid_triangles
from humanoid_model.wrl import read_wrl

_Fail = Callable[[str, str], InputError]
_NFF_SHAPE = re.compile(rb"^[ \t]*(s|c|cone|tet|oct|dod|hex)\b", re.M)
_NFF_FINENESS = re.compile(rb"^[ \t]*tess[ \t]+([0-9]+)", re.M)
_NFF_DEFAULT = 4
_OBJ_MATERIALS = re.compile(rb"^[ \t]*mtllib[ \t]+(.+?)[ \t]*\r?$", re.M)


def check_mesh_size(path: Path) -> None:
    """Refuse a mesh that is too large, asks for too much or names files that mayn't be read, before a library reads it.

    Args:
        path: of a file that is there.

    Raises:
        InputError: it is; or its structure, which is looked at for that, is broken.
    """

    def fail(problem: str, remedy: str) -> InputError:
        return InputError(problem, source=path, remedy=remedy)

    size = path.stat().st_size
    check_size(size, "bytes", fail)
    if path.suffix.lower() == ".obj":
        for name in _OBJ_MATERIALS.findall(path.read_bytes()):
            check_may_read(path.parent / name.decode(errors="replace"), fail)
    counts = {".dae": _collada_instances, ".gltf": _gltf_instances, ".glb": _gltf_instances, ".nff": _nff_instances}
    if path.suffix.lower() in counts:
        content = path.read_bytes()
        if path.suffix.lower() in (".gltf", ".glb"):
            for name in _gltf_files(content, fail):
                check_may_read(path.parent / name, fail)
        instances = counts[path.suffix.lower()](content, fail)
        check_size(instances, "shapes", fail)
        check_size(instances * size, "bytes of a mesh with its copies", fail)


def _gltf_files(content: bytes, fail: _Fail) -> list[str]:
    """Return the files that a glTF file names."""
    try:
        document: Any = json.loads(_gltf_text(content))
        uris = [item.get("uri", "data:") for kind in ("buffers", "images") for item in document.get(kind, ())]
        return [unquote(uri) for uri in uris if not uri.startswith("data:")]
    except (ValueError, TypeError, AttributeError, RecursionError) as problem:
        raise fail(f"mesh can't be loaded: {problem}", "Give a glTF file") from None


def _gltf_text(content: bytes) -> bytes:
    """Return a glTF file's text, which in a binary one is the first of its chunks."""
    return content[20 : 20 + int.from_bytes(content[12:16], "little")] if content[:4] == b"glTF" else content


def _collada_instances(text: bytes, fail: _Fail) -> int:
    """Return how many shapes a scene shows: nodes stand for other nodes, which do so too."""
    parser = expat.ParserCreate()
    level = 0
    nodes: list[str] = []  # around the place, a scene itself being one
    own: Counter[str] = Counter()
    inner: dict[str, Counter[str]] = {}

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal level
        level += 1
        check_size(level, "levels inside one another", fail)
        around = nodes[-1] if nodes else ""
        if tag in ("node", "visual_scene"):
            name = attributes.get("id") or f" {parser.CurrentByteIndex}"
            inner.setdefault(around, Counter())[name] += 1
            nodes.append(name)
        elif tag == "instance_node":
            inner.setdefault(around, Counter())[attributes.get("url", "").removeprefix("#")] += 1
        elif tag in ("instance_geometry", "instance_controller"):
            own[around] += 1

    def end(tag: str) -> None:
        nonlocal level
        level -= 1
        if tag in ("node", "visual_scene"):
            nodes.pop()

    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.Parse(text, True)
    except expat.ExpatError as problem:
        raise fail(f"mesh can't be loaded: {problem}", "Give a COLLADA file") from None
    totals: dict[str, int] = {}

    def total(name: str, depth: int) -> int:
        check_size(depth, "levels inside one another", fail)
        if name not in totals:
            totals[name] = own[name] + sum(
                count * total(other, depth + 1) for other, count in inner.get(name, {}).items()
            )
        return totals[name]

    return total("", 0)


def _gltf_instances(content: bytes, fail: _Fail) -> int:
    """Return how many nodes a scene has, which are a tree, and refuse tables of too many points."""
    try:
        document: Any = json.loads(_gltf_text(content))
        children = [list(node.get("children", ())) for node in document.get("nodes", ())]
        points = sum(int(accessor["count"]) for accessor in document.get("accessors", ()))
        parents = {child: parent for parent, own in enumerate(children) for child in own}
        shared = len(parents) < sum(map(len, children))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError, OverflowError) as problem:
        raise fail(f"mesh can't be loaded: {problem}", "Give a glTF file") from None
    check_size(points, "points of a mesh", fail)
    if shared:
        raise fail("a node is in several places of its scene", "Save it as a tree, as glTF demands")
    for node in range(len(children)):
        level = 0
        while node in parents:
            node, level = parents[node], level + 1
            check_size(level, "levels inside one another", fail)
    return len(children)


def _nff_instances(text: bytes, fail: _Fail) -> int:
    """Return how many round shapes there are; refuse too many triangles, of which each has 20 times a power of 4."""
    shapes = len(_NFF_SHAPE.findall(text))
    fineness = max([_NFF_DEFAULT, *(int(found[:9]) for found in _NFF_FINENESS.findall(text))])
    check_size(shapes * 20 * 4.0 ** min(fineness, 500), "triangles", fail)
    return shapes


FORMATS = "STL, OBJ, DAE, glTF, VRML, NFF or DXF"
"""Mesh files that can be read."""


def coal_geometry(shape: Shape) -> coal.CollisionGeometry:
    """Return the coal geometry of a shape, in the shape's own frame.

    Raises:
        InputError: a mesh file can't be read, or becomes too much.
    """
    if isinstance(shape, Box):
        return coal.Box(*(float(edge) for edge in shape.size))
    if isinstance(shape, Sphere):
        return coal.Sphere(shape.radius)
    if isinstance(shape, Cylinder):
        return coal.Cylinder(shape.radius, shape.length)
    if isinstance(shape, Capsule):
        return coal.Capsule(shape.radius, shape.length)
    if isinstance(shape, Ellipsoid):
        return coal.Ellipsoid(*(float(radius) for radius in shape.radii))
    if isinstance(shape, HalfSpace):
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    if isinstance(shape, HeightField):
        return _triangles(*grid_triangles(shape.size, shape.heights))
    return _mesh(shape)


def imported_triangles(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Read points (n, 3) and triangles (k, 3) of a mesh file by coal's importer, which knows many formats.

    Raises:
        InputError: the file is missing or can't be read.
    """
    model = _loaded(path, np.ones(3))
    points = np.array(model.vertices(), float)
    if path.suffix.lower() == ".dxf":  # the importer lays what stands on its back: z is up in these files
        points = points[:, [0, 2, 1]] * [1.0, -1.0, 1.0]
    rows = (model.tri_indices(i) for i in range(model.num_tris))
    return points, np.array([[int(row[0]), int(row[1]), int(row[2])] for row in rows], int).reshape(-1, 3)


def _mesh(mesh: Mesh) -> coal.CollisionGeometry:
    if mesh.path.suffix.lower() == ".wrl":
        geometry = read_wrl(mesh.path)
        return _triangles(geometry.points * mesh.scale, geometry.triangles)
    if mesh.path.suffix.lower() == ".dxf":
        points, triangles = imported_triangles(mesh.path)
        return _triangles(points * mesh.scale, triangles)
    return _loaded(mesh.path, np.asarray(mesh.scale, dtype=float))


def _loaded(path: Path, scale: np.ndarray) -> Any:
    require_file(path, remedy=f"Give a triangle mesh in {FORMATS}")
    check_mesh_size(path)
    return _imported(path, tuple(scale.tolist()), path.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _imported(path: Path, scale: tuple[float, ...], changed: int) -> Any:
    """Return the geometry of a file as it was last changed; most robots' links are drawn as they collide."""
    try:
        return coal.MeshLoader().load(str(path), np.array(scale))
    except Exception as problem:  # the loader raises bare RuntimeError or ValueError by format
        reason = " ".join(str(problem).split())
        raise InputError(
            f"mesh can't be loaded: {reason}",
            source=path,
            remedy=f"Give a triangle mesh in {FORMATS}",
        ) from None


def _triangles(points: np.ndarray, triangles: np.ndarray) -> coal.CollisionGeometry:
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(triangles), len(points))
    model.addVertices(np.ascontiguousarray(points))
    model.addTriangles(np.ascontiguousarray(triangles))
    model.endModel()
    return model


def lowest_point(geometry: coal.CollisionGeometry, placement: pin.SE3) -> float:
    """Smallest z in metres of a geometry at a placement; minus infinity for a half-space.

    Args:
        geometry: box, sphere, capsule, cylinder, ellipsoid, half-space or mesh.
        placement: of the geometry in the frame whose z counts.
    """
    down = -placement.rotation[2]  # the frame's -z, in the geometry's axes
    z = float(placement.translation[2])
    if isinstance(geometry, coal.Box):
        return z - float(np.abs(down) @ geometry.halfSide)
    if isinstance(geometry, coal.Sphere):
        return z - float(geometry.radius)
    if isinstance(geometry, coal.Capsule):
        return z - float(geometry.radius + geometry.halfLength * abs(down[2]))
    if isinstance(geometry, coal.Cylinder):
        across = math.hypot(down[0], down[1])
        return z - float(geometry.radius * across + geometry.halfLength * abs(down[2]))
    if isinstance(geometry, coal.Ellipsoid):
        return z - float(np.linalg.norm(down * geometry.radii))
    if isinstance(geometry, coal.Halfspace):
        return -math.inf
    return z - float((geometry.vertices() @ down).max())
