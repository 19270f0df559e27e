# SPDX-License-Identifier: Apache-2.0
"""Reader of the triangles and colours of VRML 97 (``.wrl``) files, the geometry of AMELIF scenes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_model.errors import InputError
from humanoid_model.files import BOUNDS, Growth, check_size, require_file

_TOKEN = re.compile(
    r"""(?P<space>[\s,]+|\#[^\n]*)|(?P<string>"(?:[^"\\]|\\.)*")|(?P<mark>[{}\[\]])|(?P<word>[^\s,{}\[\]"\#]+)"""
)
_NUMBER = re.compile(r"[+-]?(0[xX][0-9a-fA-F]+|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)\Z")
#: VRML 97 section 6.24: colour of a Material that names none.
_DEFAULT_COLOUR = (0.8, 0.8, 0.8)


@dataclass(frozen=True)
class WrlGeometry:
    """Triangles of a VRML file, in the file's frame.

    Attributes:
        points: (n, 3) metres.
        triangles: (m, 3) indices into ``points``, counter-clockwise seen from outside.
        colours: (m, 3) red, green, blue of each triangle, 0..1.
    """

    points: np.ndarray
    triangles: np.ndarray
    colours: np.ndarray


@dataclass
class _Node:
    """A VRML node: its type, its line, and its fields' values."""

    type: str
    line: int
    fields: dict[str, list[_Value]] = field(default_factory=dict)


_Value = float | bool | str | _Node


def read_wrl(path: str | Path) -> WrlGeometry:
    """Read every IndexedFaceSet of a VRML 97 file, below any Group and Transform; polygons are fanned.

    Raises:
        InputError: not VRML 97, broken syntax, another geometry node, an index without point, too much of anything.
    """
    require_file(path, remedy="Give a VRML file")
    check_size(Path(path).stat().st_size, "bytes", lambda p, remedy: InputError(p, source=path, remedy=remedy))
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    if not text.startswith("#VRML V2.0"):
        raise InputError(
            f"starts with '{text[:14].splitlines()[0] if text.strip() else ''}'",
            source=path,
            line=1,
            remedy="Give a VRML 97 file, which starts with '#VRML V2.0 utf8'",
        )
    collector = _Collector(str(path))
    for node in _Parser(text, str(path)).nodes():
        collector.add(node, np.eye(4), 1)
    return collector.geometry()


class _Parser:
    """Recursive-descent parser of nodes and their fields."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.tokens: list[tuple[str, int]] = []
        self.next = 0
        self.named: dict[str, _Node] = {}
        self.level = 0
        line, position, most = 1, 0, BOUNDS["words of VRML"]
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise self.fail("string without closing quote", line)
            if match.lastgroup != "space":
                self.tokens.append((match.group(), line))
                if len(self.tokens) > most:
                    check_size(len(self.tokens), "words of VRML", self.failing(line))
            line += match.group().count("\n")
            position = match.end()
        self.last_line = line

    def fail(self, problem: str, line: int) -> InputError:
        return InputError(problem, source=self.source, line=line, remedy="Mend the VRML there")

    def failing(self, line: int) -> Callable[[str, str], InputError]:
        return lambda problem, remedy: InputError(problem, source=self.source, line=line, remedy=remedy)

    def peek(self) -> str:
        return self.tokens[self.next][0] if self.next < len(self.tokens) else ""

    def take(self) -> tuple[str, int]:
        if self.next >= len(self.tokens):
            raise self.fail("the file ends inside a node", self.last_line)
        token = self.tokens[self.next]
        self.next += 1
        return token

    def nodes(self) -> list[_Node]:
        found: list[_Node] = []
        while self.next < len(self.tokens):
            if self.peek() == "ROUTE":
                self.next += 4  # ROUTE a.b TO c.d: animation, no geometry
                continue
            found.append(self.node())
        return found

    def node(self) -> _Node:
        kind, line = self.take()
        if kind == "USE":
            name, line = self.take()
            if name not in self.named:
                raise self.fail(f"USE of the undefined name '{name}'", line)
            return self.named[name]
        name = ""
        if kind == "DEF":
            name, _ = self.take()
            kind, line = self.take()
        if not kind[:1].isalpha() or kind in ("PROTO", "EXTERNPROTO"):
            raise self.fail(f"'{kind}' where a node should be", line)
        mark, line_mark = self.take()
        if mark != "{":
            raise self.fail(f"'{mark}' after '{kind}' where '{{' should be", line_mark)
        node = _Node(kind, line)
        self.level += 1
        check_size(self.level, "levels inside one another", self.failing(line))
        if name:
            self.named[name] = node
        while self.peek() != "}":
            key, line_key = self.take()
            if key == "ROUTE":
                self.next += 3
                continue
            if not key[0].isalpha():
                raise self.fail(f"'{key}' where a field name should be", line_key)
            node.fields[key] = self.values()
        self.take()
        self.level -= 1
        return node

    def values(self) -> list[_Value]:
        if self.peek() == "[":
            self.take()
            values: list[_Value] = []
            while self.peek() != "]":
                values.append(self.value())
            self.take()
            return values
        if not self.is_scalar(self.peek()):
            return [self.value()]
        values = []
        while self.is_scalar(self.peek()):
            values.append(self.value())
        return values

    @staticmethod
    def is_scalar(token: str) -> bool:
        return bool(token) and (
            token[0] == '"' or token in ("TRUE", "FALSE") or bool(_NUMBER.match(token))
        )

    def value(self) -> _Value:
        token = self.peek()
        if not self.is_scalar(token):
            if token == "NULL":
                line = self.take()[1]
                return _Node("NULL", line)
            return self.node()
        line = self.take()[1]
        if token[0] == '"':
            return token[1:-1]
        if token in ("TRUE", "FALSE"):
            return token == "TRUE"
        try:
            number = float(int(token, 16)) if "x" in token.lower() else float(token)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self.fail(f"the number {token} is too large", line)
        return number


class _Collector:
    """Gathers the triangles of a node tree in the file's frame."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.points: list[np.ndarray] = []
        self.triangles: list[np.ndarray] = []
        self.colours: list[np.ndarray] = []
        self.growth = Growth()

    def fail(self, problem: str, node: _Node, remedy: str) -> InputError:
        return InputError(
            problem, source=self.source, line=node.line, element=node.type, remedy=remedy
        )

    def geometry(self) -> WrlGeometry:
        if not self.triangles:
            raise InputError(
                "holds no triangle", source=self.source, remedy="Give at least one IndexedFaceSet"
            )
        offsets = np.cumsum([0, *(len(points) for points in self.points[:-1])])
        return WrlGeometry(
            np.vstack(self.points),
            np.vstack([t + offset for t, offset in zip(self.triangles, offsets, strict=True)]),
            np.vstack(self.colours),
        )

    def add(self, node: _Node, transform: np.ndarray, level: int) -> None:
        """Add what a node shows; one that is used several times, by ``USE``, counts each time."""

        def fail(problem: str, remedy: str) -> InputError:
            return self.fail(problem, node, remedy)

        check_size(level, "levels inside one another", fail)
        self.growth.add(1, "elements", fail)
        if node.type == "Transform":
            transform = transform @ self.transform(node)
        if node.type == "Shape":
            self.add_shape(node, transform)
        else:
            for child in self.children(node, "children"):
                self.add(child, transform, level + 1)

    @staticmethod
    def children(node: _Node, key: str) -> list[_Node]:
        return [value for value in node.fields.get(key, []) if isinstance(value, _Node)]

    def numbers(self, node: _Node, key: str, width: int) -> np.ndarray:
        values = node.fields.get(key, [])
        if len(values) % width or not all(type(value) is float for value in values):
            raise self.fail(
                f"field '{key}' holds {len(values)} values", node, f"Give {width} numbers per entry"
            )
        return np.array(values, dtype=float).reshape(-1, width)

    def vector(self, node: _Node, key: str, default: tuple[float, ...]) -> np.ndarray:
        values = self.numbers(node, key, len(default))
        return values[0] if len(values) else np.array(default)

    def transform(self, node: _Node) -> np.ndarray:
        """(4, 4) of VRML 97 section 6.52: T C R SR S SR^-1 C^-1."""
        shift, centre, scale, turn = np.eye(4), np.eye(4), np.eye(4), np.eye(4)
        shift[:3, 3] = self.vector(node, "translation", (0.0, 0.0, 0.0))
        centre[:3, 3] = self.vector(node, "center", (0.0, 0.0, 0.0))
        scale[:3, :3] = np.diag(self.vector(node, "scale", (1.0, 1.0, 1.0)))
        turn[:3, :3] = self.rotation(node, "rotation")
        tilt = np.eye(4)
        tilt[:3, :3] = self.rotation(node, "scaleOrientation")
        return shift @ centre @ turn @ tilt @ scale @ tilt.T @ np.linalg.inv(centre)

    def rotation(self, node: _Node, key: str) -> np.ndarray:
        *axis, angle = self.vector(node, key, (0.0, 0.0, 1.0, 0.0))
        length = float(np.linalg.norm(axis))
        if length == 0:
            raise self.fail(f"field '{key}' has a zero axis", node, "Give a non-zero axis")
        return np.asarray(pin.AngleAxis(float(angle), np.array(axis) / length).matrix())

    def add_shape(self, shape: _Node, transform: np.ndarray) -> None:
        colour = np.array(_DEFAULT_COLOUR)
        for appearance in self.children(shape, "appearance"):
            for material in self.children(appearance, "material"):
                colour = self.vector(material, "diffuseColor", _DEFAULT_COLOUR)
        for faces in self.children(shape, "geometry"):
            if faces.type == "IndexedFaceSet":
                self.add_faces(faces, transform, colour)
            elif faces.type not in ("NULL", "IndexedLineSet", "PointSet", "Text"):
                raise self.fail(
                    f"geometry node '{faces.type}'", faces, "Convert it to an IndexedFaceSet"
                )

    def add_faces(self, faces: _Node, transform: np.ndarray, colour: np.ndarray) -> None:
        coordinates = self.children(faces, "coord")
        size = len(faces.fields.get("coordIndex", ())) + sum(len(c.fields.get("point", ())) for c in coordinates)
        self.growth.add(size, "numbers of faces", lambda problem, remedy: self.fail(problem, faces, remedy))
        points = self.numbers(coordinates[0], "point", 3) if coordinates else np.empty((0, 3))
        triangles: list[tuple[int, int, int]] = []
        owners: list[int] = []  # face of each triangle
        corners: list[tuple[int, int, int]] = []  # positions of its corners in coordIndex
        start, face = 0, 0
        indices = self.numbers(faces, "coordIndex", 1)[:, 0].astype(int)
        for stop, index in enumerate([*indices, -1]):
            if index >= len(points):
                raise self.fail(
                    f"coordIndex {index}, but {len(points)} points", faces, "Give indices of points"
                )
            if index < 0:
                for second in range(start + 1, stop - 1):
                    corner = (start, second, second + 1)
                    corners.append(corner)
                    triangles.append(tuple(int(indices[i]) for i in corner))  # type: ignore[arg-type]
                    owners.append(face)
                face += stop > start
                start = stop + 1
        if not triangles:
            return
        array = np.array(triangles)
        ccw = faces.fields.get("ccw", [True])[0] is not False
        # A mirroring transform turns the triangles inside out.
        if ccw == (np.linalg.det(transform[:3, :3]) < 0):
            array = array[:, ::-1]
        self.points.append(points @ transform[:3, :3].T + transform[:3, 3])
        self.triangles.append(array)
        self.colours.append(self.face_colours(faces, colour, triangles, owners, corners))

    def face_colours(
        self,
        faces: _Node,
        colour: np.ndarray,
        triangles: list[tuple[int, int, int]],
        owners: list[int],
        corners: list[tuple[int, int, int]],
    ) -> np.ndarray:
        """(m, 3) colours by VRML 97 section 6.23: per vertex (averaged here) or per face, else one."""
        nodes = self.children(faces, "color")
        if not nodes:
            return np.tile(colour, (len(triangles), 1))
        palette = self.numbers(nodes[0], "color", 3)
        chosen = self.numbers(faces, "colorIndex", 1)[:, 0].astype(int)
        by_vertex = faces.fields.get("colorPerVertex", [True])[0] is not False
        if 0 < len(chosen) <= max(max(corner) for corner in corners) if by_vertex else 0 < len(chosen) <= max(owners):
            raise self.fail(f"colorIndex has {len(chosen)} values", faces, "Give as many as coordIndex, or faces")
        if by_vertex:
            picks = [
                [int(chosen[i]) for i in corner] if len(chosen) else list(triangle)
                for triangle, corner in zip(triangles, corners, strict=True)
            ]
        else:
            picks = [[int(chosen[owner]) if len(chosen) else owner] for owner in owners]
        if not all(0 <= index < len(palette) for pick in picks for index in pick):
            raise self.fail(f"other colours are used than the {len(palette)} given", faces, "Give them all")
        return np.array([palette[pick].mean(axis=0) for pick in picks])
