# SPDX-License-Identifier: Apache-2.0
"""Reader of MAD files: text to records, with all static checks that need no geometry (specification §2.6)."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from humanoid_kinematics.mad.grammar import WORDS, Extension, Structure, blanked, parser
from humanoid_kinematics.mad.syntax import (
    MadBase,
    MadClosure,
    MadError,
    MadFrame,
    MadLink,
    MadRobot,
    MadScene,
    MadSensor,
    MadStatement,
    MadTracking,
    Place,
)
from humanoid_model import RobotError, RobotWarning
from humanoid_model.checks import check_name
from humanoid_model.files import check_size, read_text

#: Versions that the grammar is for.
VERSIONS = ("1.0", "1.1")
#: Nodes beyond which a file isn't even parsed; a robot may have 300 joints.
_MOST_NODES = 3000
#: Problems beyond which a file isn't read on.
_MOST_PROBLEMS = 100
#: Words that aren't known beyond which they are errors; the text is parsed again for each.
_MOST_LEFT_OUT = 100
#: Syntax errors beyond which a file isn't read on.
_MOST_ERRORS = 20
_WORD = re.compile(r"[\w.+-]+|[^\s\w.+-]")
_SYNONYMS = {"rpara": "r", "dpara": "d"}
_NEEDED = ("theta", "r", "alpha", "d")


def read_mad(
    path: str | Path, *, strict: bool = True, stop_at_first: bool = False, extensions: Sequence[Extension] = ()
) -> MadScene:
    """Read a MAD file.

    Args:
        path: the file.
        strict: False skips keywords that the grammar doesn't know where they stand, with a warning each, and takes
            texts that are broken over lines.
        stop_at_first: True stops at the first problem; else as many as possible are found.
        extensions: keywords more.

    Raises:
        MadError: the file isn't MAD, or says what no robot can be; with line, column, value and remedy of each problem.
        RobotError: the file can't be read.
    """
    text = read_text(path, RobotError, "Give the path of a MAD file")
    return parse_mad(text, str(path), strict=strict, stop_at_first=stop_at_first, extensions=extensions)


def parse_mad(
    text: str,
    source: str = "MAD text",
    *,
    strict: bool = True,
    stop_at_first: bool = False,
    extensions: Sequence[Extension] = (),
) -> MadScene:
    """Read a MAD text; as :func:`read_mad`.

    Raises:
        MadError: as of :func:`read_mad`.
    """
    return _Reader(text, source, strict, stop_at_first).scene(tuple(extensions))


class _StopError(Exception):
    """The first problem was enough."""


class _Reader:
    def __init__(self, text: str, source: str, strict: bool, stop_at_first: bool) -> None:
        self.text = text
        self.source = source
        self.strict = strict
        self.stop_at_first = stop_at_first
        self.problems: list[RobotError] = []
        self.scope = ""  # what element messages name

    def scene(self, extensions: tuple[Extension, ...]) -> MadScene:
        try:
            tree = self.tree(extensions)
            scene = None if tree is None else self.read_scene(tree)
        except _StopError:
            scene = None
        if scene is None or self.problems:
            self.problems.sort(key=lambda problem: (problem.line or 0, problem.column or 0))
            raise MadError(self.problems)
        return scene

    # Problems ------------------------------------------------------------------------------------------

    def report(self, code: str, place: Place, problem: str, remedy: str, element: str | None = None) -> None:
        self.problems.append(self.told(code, place, problem, remedy, element))
        if self.stop_at_first or len(self.problems) >= _MOST_PROBLEMS:
            raise _StopError

    def warn(self, code: str, place: Place, problem: str, remedy: str, element: str | None = None) -> None:
        warnings.warn(str(self.told(code, place, problem, remedy, element)), RobotWarning, stacklevel=6)

    def too_much(self, problem: str, remedy: str) -> RobotError:
        return MadError([RobotError(problem, source=self.source, element=self.scope or None, remedy=remedy)])

    def named(self, name: str) -> str:
        return check_name(name, self.too_much)

    def told(self, code: str, place: Place, problem: str, remedy: str, element: str | None) -> RobotError:
        return RobotError(
            f"{problem} [{code}]", source=self.source, line=place.line, column=place.column,
            element=element or self.scope or None, remedy=remedy,
        )  # fmt: skip

    # Text to tree --------------------------------------------------------------------------------------

    def tree(self, extensions: tuple[Extension, ...]) -> Tree | None:
        """Return the tree, None where the text has errors of syntax."""
        check_size(len(self.text), "characters of MAD", self.too_much)
        words = sum(1 for _ in _WORD.finditer(self.text))
        check_size(words, "words of MAD", self.too_much)
        structure = Structure(self.text)
        nodes = len(re.findall(r"\b(?:link|frame)\s*\d+\s*\{", structure.bare))
        if nodes > _MOST_NODES:
            problem = f"has {nodes} links and frames, more than {_MOST_NODES}"
            self.report("E01", Place(1, 1), problem, "Describe the mechanism in parts")
            return None
        for fault in structure.faults[:_MOST_ERRORS]:
            header = structure.header(fault.offset)
            self.report("E01", structure.place(fault.offset), fault.problem, fault.remedy, header)
        if structure.cut_off:
            return None
        lark, left_out = parser(extensions), 0
        text, sound = self.text, not structure.faults
        while True:
            try:
                tree = lark.parse(text)
            except UnexpectedInput as error:
                offset = getattr(error, "pos_in_stream", None)
                token = getattr(error, "token", None)
                if token is not None:
                    offset = token.start_pos if token.type != "$END" else None
                if offset is None:  # at the end of the text
                    if sound or not self.problems:
                        self.syntax_error(structure, error, len(self.text.rstrip()), lark)
                    return None
                word = structure.word(offset)
                if not self.strict and re.match(r"[A-Za-z_]", word) and left_out < _MOST_LEFT_OUT:
                    left_out += 1
                    known = word in {str(item.pattern.value) for item in lark.terminals}
                    problem = f"'{word}' {'misplaced' if known else 'unknown'}, left out"
                    self.warn("E12", structure.place(offset), problem, _expected(error, lark), structure.header(offset))
                    text = blanked(text, *structure.statement(offset))
                    continue
                sound = False
                self.syntax_error(structure, error, offset, lark)
                no_mad = _expected(error, lark) == "Expected 'RAFF'"
                if len(self.problems) >= _MOST_ERRORS or structure.faults or no_mad:
                    return None
                text = blanked(text, *structure.node(offset))
                if not text[offset : offset + 1].isspace():
                    text = blanked(text, offset, offset + len(word))
                continue
            return tree if sound else None

    def syntax_error(self, structure: Structure, error: UnexpectedInput, offset: int, lark: Any) -> None:
        word = structure.word(offset)
        found = f"'{word}' is not expected here" if word.strip() else "ends too early"
        code = "E12" if re.fullmatch(r"[A-Za-z_]\w*", word) else "E01"
        if re.fullmatch(r"[+-]?(nan|inf(inity)?)", word, re.I):
            found = f"'{word}' is not a finite number"
            code = "E01"
        self.report(code, structure.place(offset), found, _expected(error, lark), structure.header(offset))

    # Tree to records -----------------------------------------------------------------------------------

    def read_scene(self, tree: Tree) -> MadScene:
        version, name, unit = None, "", None
        sensors: dict[int, MadSensor] = {}
        robots: list[MadRobot] = []
        for item in tree.children:
            if isinstance(item, Token):
                if item.type == "VERSION":
                    version = str(item)[1:]
                    if version not in VERSIONS:
                        known = ", ".join(f"v{known}" for known in VERSIONS)
                        self.warn("F-003", _place(item), f"version {item} unknown, read as v{VERSIONS[-1]}",
                                  f"Known are {known}")  # fmt: skip
                else:
                    name = self.named(str(item))
            elif item.data == "unit":
                unit = self.number(item.children[0])
                if not unit > 0:
                    self.report("E01", _place(item.children[0]), f"length_unit_m is {item.children[0]}",
                                "Give metres in a unit of length, for example 0.001")  # fmt: skip
            elif item.data == "sensor":
                sensor = self.read_sensor(item)
                twin = sensors.setdefault(sensor.number, sensor)
                if twin is not sensor:
                    self.report("E02", sensor.place, f"number used already in line {twin.place.line}",
                                "Give each sensor a number of its own", f"sensor {sensor.number}")  # fmt: skip
            else:
                check_size(len(robots) + 1, "robots", self.too_much)
                self.scope = f"robot {item.children[0]}"
                robot = self.read_robot(item, set(sensors))
                first = next((other for other in robots if other.name == robot.name), None)
                if first is not None:
                    self.report("E02", robot.place, f"name used already in line {first.place.line}",
                                "Give each robot a name of its own")  # fmt: skip
                robots.append(robot)
                self.scope = ""
        return MadScene(name, version, tuple(sensors.values()), tuple(robots), unit, self.source)

    def items(self, tree: Tree) -> dict[str, Tree]:
        """Return parts of a block by their kind, each once."""
        found: dict[str, Tree] = {}
        for item in tree.children:
            if isinstance(item, Token):
                continue
            kind = str(item.data)
            if kind in found:
                self.report("E02", _place(item), f"second '{kind}'", "Keep one")
            found[kind] = item
        return found

    def read_sensor(self, tree: Tree) -> MadSensor:
        number = self.whole(tree.children[0])
        self.scope = f"sensor {number}"
        items = self.items(tree)
        counts: dict[str, int | None] = {}
        for kind in ("translation", "rotation"):
            counts[kind] = self.whole(items[kind].children[0]) if kind in items else None
            if (counts[kind] or 0) > 3:
                self.report("E01", _place(items[kind].children[0]), f"{kind} is {counts[kind]}", "Give 0 to 3")
        port = self.text_of(items["port"].children[0]) if "port" in items else None
        self.scope = ""
        kind_of = str(items["sensor_type"].children[0]) if "sensor_type" in items else None
        return MadSensor(number, port, kind_of, counts["translation"], counts["rotation"], _place(tree))

    def read_robot(self, tree: Tree, sensors: set[int]) -> MadRobot:
        name = self.named(str(tree.children[0]))
        bases: list[MadBase] = []
        nodes: list[MadLink | MadFrame] = []
        broken: set[int] = set()  # numbers of nodes that are told to be wrong already
        closures: list[Tree] = []
        statements: list[MadStatement] = []
        path = None
        for item in tree.children[1:]:
            kind = str(item.data)
            if kind == "path":
                if path is not None:
                    self.report("E02", _place(item), "second 'path'", "Keep one")
                path = self.text_of(item.children[0])
            elif kind == "base":
                scope, self.scope = self.scope, "base"
                bases.append(self.read_base(item))
                self.scope = scope
            elif kind in ("link", "frame"):
                scope, self.scope = self.scope, f"{kind} {item.children[0]}"
                node = self.read_link(item) if kind == "link" else self.read_frame(item)
                self.scope = scope
                if node is not None:
                    nodes.append(node)
                else:
                    broken.add(self.whole(item.children[0]))
            elif kind in ("constraint", "ball"):
                closures.append(item)
            else:
                words = tuple(str(word) for word in item.children[1:])
                statements.append(MadStatement(str(item.children[0]), words, _place(item)))
        if len(bases) != 1:
            where = bases[1].place if bases else _place(tree)
            self.report("E05", where, f"has {len(bases)} bases", "Give one: base { }")
        self.check_tree(nodes, broken)
        # A node that is wrong already is no reason to call its closures wrong.
        known = {node.number: "link" if isinstance(node, MadLink) else "frame" for node in nodes}
        joined = [] if broken else [self.read_constraint(item, known, sensors) for item in closures]
        return MadRobot(
            name,
            bases[0] if bases else MadBase(),
            tuple(nodes),
            tuple(item for item in joined if isinstance(item, MadClosure)),
            tuple(item for item in joined if isinstance(item, MadTracking)),
            path,
            tuple(statements),
            _place(tree),
        )

    def read_base(self, tree: Tree) -> MadBase:
        items = self.items(tree)
        return MadBase(self.three(items.get("pos")), self.three(items.get("ori")), self.graphics(items), _place(tree))

    def read_frame(self, tree: Tree) -> MadFrame | None:
        number = self.node_number(tree)
        items = self.items(tree)
        if not self.has(items, ("pos", "ori", "pred"), tree):
            return None
        return MadFrame(
            number,
            self.three(items["pos"]),
            self.three(items["ori"]),
            self.whole(items["pred"].children[0]),
            self.graphics(items),
            _place(tree),
        )

    def read_link(self, tree: Tree) -> MadLink | None:
        number = self.node_number(tree)
        items = self.items(tree)
        if not self.has(items, ("parameters", "type", "pred"), tree):
            return None
        parameters: dict[str, float] = {}
        for item in items["parameters"].children:
            key, value = item.children
            name = _SYNONYMS.get(str(key), str(key))
            if name in parameters:
                self.report("E02", _place(key), f"second '{name}'", "Keep one")
            if (key.line, key.column + len(key)) == (value.line, value.column) and self.strict:
                self.warn("E01", _place(key), f"no space in '{key}{value}'", f"Write '{key} {value}'")
            parameters[name] = self.number(value)
        if not self.has(parameters, _NEEDED, items["parameters"]):
            return None
        kind = self.whole(items["type"].children[0])
        if kind not in (1, 2):
            self.report("E06", _place(items["type"].children[0]), f"type is {kind}",
                        "Give 1 (prismatic) or 2 (revolute)")  # fmt: skip
        if "limits" in items and "range" in items:
            self.report("E07", _place(items["range"]), "has limits and range",
                        "Keep limits (absolute) or range (counted from the initial value)")  # fmt: skip
        bounds = {key: self.pair(items[key]) for key in ("limits", "range") if key in items}
        link = MadLink(
            number,
            parameters,
            kind,
            self.whole(items["pred"].children[0]),
            bounds.get("limits"),
            bounds.get("range"),
            self.graphics(items),
            _place(tree),
        )
        if link.bounds is not None and not link.bounds[0] <= link.initial <= link.bounds[1]:
            self.warn("E08", _place(items[next(iter(bounds))]),
                      f"initial value {link.initial:g} is outside {link.bounds[0]:g} ... {link.bounds[1]:g}",
                      "Widen the limits or change the initial value")  # fmt: skip
        return link

    def read_constraint(
        self, tree: Tree, known: Mapping[int, str], sensors: set[int]
    ) -> MadClosure | MadTracking | None:
        """Return a closure or a tracking, None where it isn't one."""
        place, ball = _place(tree), tree.data == "ball"
        element = "rotule" if ball else "constraint"
        ends: list[int] = []
        lists: list[tuple[int, ...]] = []
        for member in tree.children:
            kind, numbers = str(member.children[0]), [self.whole(token) for token in member.children[1:]]
            if kind == "sensor":
                for token, number in zip(member.children[1:], numbers, strict=True):
                    if number not in sensors:
                        self.report("E09", _place(token), f"no sensor {number} is declared before",
                                    f"Declared are {_some(sensors)}", element)  # fmt: skip
                        return None
                lists.append(tuple(numbers))
                continue
            number = numbers[0]
            if known.get(number) != kind:
                found = f"{number} is a {known[number]}" if number in known else f"there is no {kind} {number}"
                mine = [key for key, value in known.items() if value == kind]
                self.report("E09", _place(member.children[1]), found, f"The {kind}s are {_some(mine)}", element)
                return None
            ends.append(number)
        if len(lists) == 2 or (lists and ball):
            self.report("E09", place, "joins sensors" if len(lists) == 2 else "joins a node and sensors",
                        "Name two nodes" if ball else "Name two nodes, or a node and sensors", element)  # fmt: skip
            return None
        if lists:
            return MadTracking(ends[0], lists[0], place)
        if ends[0] == ends[1]:
            self.report("E09", place, f"joins node {ends[0]} with itself", "Name two different nodes", element)
            return None
        return MadClosure((min(ends), max(ends)), ball, place)

    def check_tree(self, nodes: Sequence[MadLink | MadFrame], broken: set[int]) -> None:
        """Report double numbers, unknown predecessors and rings."""
        known: dict[int, MadLink | MadFrame] = {}
        for node in nodes:
            if node.number in known:
                self.report("E02", node.place, f"number used already in line {known[node.number].place.line}",
                            "Give each link and frame a number of its own", _label(node))  # fmt: skip
            else:
                known[node.number] = node
        for node in nodes:
            if node.pred not in known and node.pred not in broken and node.pred != 0:
                self.report("E03", node.place, f"pred is {node.pred}, which is no node",
                            f"Nodes are 0 (the base), {_some(known)}", _label(node))  # fmt: skip
        grounded = {0, *(node.pred for node in nodes if node.pred not in known)}
        for first in known.values():
            way: dict[int, None] = {}
            node = first
            while node.number not in grounded and node.number not in way:
                way[node.number] = None
                if node.pred in grounded:
                    break
                node = known[node.pred]
            if node.number in way and node.pred not in grounded:
                ring = [*way][[*way].index(node.number) :]
                shown = " -> ".join(map(str, [*ring[:12], *(["..."] if len(ring) > 12 else []), ring[0]]))
                self.report("E04", node.place, f"pred goes round: {shown}",
                            "Let one of them hang on the base or on a node outside the ring", _label(node))  # fmt: skip
            grounded.update(way)

    # Values --------------------------------------------------------------------------------------------

    def has(self, found: Iterable[str], needed: Sequence[str], tree: Tree) -> bool:
        missing = [name for name in needed if name not in found]
        if missing:
            self.report("E01", _place(tree), f"has no {', '.join(missing)}", "Add what is missing")
        return not missing

    def node_number(self, tree: Tree) -> int:
        number = self.whole(tree.children[0])
        if number == 0:
            self.report("E02", _place(tree.children[0]), f"{tree.data} has the number 0",
                        "Number from 1: 0 is the base")  # fmt: skip
        return number

    def whole(self, token: Token | Tree) -> int:
        if len(str(token)) > 9:
            problem = f"number {str(token)[:20]} has {len(str(token))} digits"
            self.report("E01", _place(token), problem, "Give 9 or fewer")
            return 0
        return int(str(token))

    def number(self, token: Token | Tree) -> float:
        value = float(str(token))
        if not math.isfinite(value):
            self.report("E01", _place(token), f"'{token}' is not a finite number", "Give a smaller one")
        return value

    def pair(self, tree: Tree) -> tuple[float, float]:
        low, high = (self.number(token) for token in tree.children)
        if low > high:
            self.warn("E08", _place(tree), f"{tree.data} {low:g} ... {high:g} has the larger first, swapped",
                      "Give the smaller first")  # fmt: skip
            low, high = high, low
        return low, high

    def three(self, tree: Tree | None) -> tuple[float, float, float]:
        if tree is None:
            return (0.0, 0.0, 0.0)
        x, y, z = (self.number(token) for token in tree.children)
        return x, y, z

    def text_of(self, token: Token | Tree) -> str:
        shown = str(token)[1:-1]
        if "\n" in shown:
            problem, remedy = f"text {' '.join(shown.split())!r} is broken over lines", "Write it in one line"
            if self.strict:
                self.report("E01", _place(token), problem, remedy)
            else:
                self.warn("E01", _place(token), problem + ", joined", remedy)
        return re.sub(r"\s*\n\s*", "", shown)

    def graphics(self, items: dict[str, Tree]) -> tuple[str | None, ...] | None:
        if "filename" not in items:
            return None
        tokens = items["filename"].children
        return tuple(None if str(token) == "auto" else self.text_of(token) for token in tokens)


def _place(item: Token | Tree) -> Place:
    where: Any = item if isinstance(item, Token) else item.meta
    return Place(int(where.line), int(where.column))


def _label(node: MadLink | MadFrame) -> str:
    return f"{'link' if isinstance(node, MadLink) else 'frame'} {node.number}"


def _some(numbers: Iterable[int]) -> str:
    found = sorted(numbers)
    return ", ".join(str(number) for number in found[:15]) + (", ..." if len(found) > 15 else "") or "none"


def _expected(error: UnexpectedInput, lark: Any) -> str:
    """Return what would be right where a text can't go on, as a sentence."""
    kinds = ("accepts", "expected", "allowed")
    names = next((found for kind in kinds if (found := getattr(error, kind, None))), ())
    texts = {item.name: str(item.pattern.value) for item in lark.terminals if item.pattern.type == "str"}
    shown = sorted(WORDS.get(name) or f"'{texts.get(name, name)}'" for name in names)
    return f"Expected {', '.join(shown[:-1])}{' or ' if len(shown) > 1 else ''}{shown[-1]}" if shown else "Mend it"
