# SPDX-License-Identifier: Apache-2.0
"""What a mesh file may become: libraries build whatever its words ask for, and some end the process."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.parsers import expat

from humanoid_model.errors import InputError
from humanoid_model.reading_folders import check_may_read
from humanoid_model.size_bounds import check_size

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
