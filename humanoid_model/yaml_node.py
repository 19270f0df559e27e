# SPDX-License-Identifier: Apache-2.0
"""YAML values that remember the line they come from, for error messages that a person can act on."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import yaml
from yaml.composer import Composer
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.resolver import Resolver
from yaml.scanner import Scanner

from humanoid_model.checks import check_name
from humanoid_model.errors import InputError
from humanoid_model.fields import descriptions
from humanoid_model.files import Growth, check_size, read_text

#: Characters up to which PyYAML's parser in Python, which takes some 20 µs for each, tells what is wrong.
_LONGEST_FAULT = 200_000


@dataclass(frozen=True)
class YamlNode:
    """One value of a document.

    Attributes:
        node: PyYAML's node.
        path: where it is, for example ``contacts.right_sole.patch``; empty at the top.
        source: file of the document.
        error: exception class raised by the reading methods.
        growth: what has been read of the document so far; a value that aliases name counts each time.
    """

    node: yaml.Node
    path: str
    source: str
    error: type[InputError]
    growth: Growth = field(default_factory=Growth, compare=False, repr=False)

    @property
    def line(self) -> int:
        """Line of the value, from 1."""
        return int(self.node.start_mark.line) + 1

    def fail(self, problem: str, remedy: str | None = None) -> InputError:
        """Return the error to raise for this value."""
        return self.error(problem, source=self.source, line=self.line, element=self.path or None, remedy=remedy)

    def _child(self, node: yaml.Node, key: object) -> YamlNode:
        step = f"[{key}]" if isinstance(key, int) else (f".{key}" if self.path else str(key))
        self.growth.add(1, "values", self.fail)
        return YamlNode(node, self.path + step, self.source, self.error, self.growth)

    @property
    def is_list(self) -> bool:
        """Whether the value is a list."""
        return isinstance(self.node, yaml.SequenceNode)

    @property
    def is_text(self) -> bool:
        """Whether the value is a text or a number."""
        return isinstance(self.node, yaml.ScalarNode)

    def mapping(self, allowed: Iterable[str] | None = None) -> dict[str, YamlNode]:
        """Return the values of a mapping by key, in the order of the file.

        Raises:
            InputError: not a mapping, a key twice, a key that isn't ``allowed`` or no name.
        """
        if not isinstance(self.node, yaml.MappingNode):
            raise self.fail(f"is {self._shown()}, not a mapping", "Give key: value pairs")
        known = None if allowed is None else tuple(allowed)
        values: dict[str, YamlNode] = {}
        for key_node, value_node in self.node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise self._child(key_node, "?").fail("a key is not a text", "Give key: value pairs")
            check_name(key_node.value, self._child(key_node, "a key").fail)
            key = self._child(key_node, key_node.value)
            if known is not None and key_node.value not in known:
                raise key.fail("unknown key", f"Known keys: {', '.join(known)}")
            if key_node.value in values:
                raise key.fail("key given twice", "Keep one")
            values[key_node.value] = self._child(value_node, key_node.value)
        return values

    def items(self) -> list[YamlNode]:
        """Return the values of a sequence.

        Raises:
            InputError: not a sequence.
        """
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.fail(f"is {self._shown()}, not a list", "Give a list: [a, b] or one '- a' per line")
        return [self._child(node, index) for index, node in enumerate(self.node.value)]

    def string(self, choices: Iterable[str] | None = None) -> str:
        """Return a non-empty text.

        Raises:
            InputError: not a text, or none of ``choices``.
        """
        if not isinstance(self.node, yaml.ScalarNode) or not self.node.value.strip():
            raise self.fail(f"is {self._shown()}, not a text", "Give a text")
        if choices is not None:
            known = tuple(choices)
            if self.node.value not in known:
                raise self.fail(f"is '{self.node.value}'", f"Use one of {', '.join(known)}")
        return str(self.node.value)

    def boolean(self) -> bool:
        """Return true or false.

        Raises:
            InputError: neither.
        """
        if isinstance(self.node, yaml.ScalarNode) and self.node.value.lower() in ("true", "false"):
            return bool(self.node.value.lower() == "true")
        raise self.fail(f"is {self._shown()}", "Give true or false")

    def number(self, lowest: float = -math.inf, above: float = -math.inf) -> float:
        """Return a finite number that is at least ``lowest`` and greater than ``above``.

        Raises:
            InputError: not a number, not finite or out of range.
        """
        # PyYAML follows YAML 1.1 and takes 1e3 for a text: read the characters instead.
        text = self.node.value if isinstance(self.node, yaml.ScalarNode) else ""
        try:
            value = float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
        except ValueError:
            raise self.fail(f"is {self._shown()}, not a number", "Give a finite number") from None
        if not math.isfinite(value):
            raise self.fail(f"is {text}", "Give a finite number")
        if value < lowest:
            raise self.fail(f"is {value:g}", f"Give {lowest:g} or more")
        if value <= above:
            raise self.fail(f"is {value:g}", f"Give more than {above:g}")
        return value

    def fields(self, kind: type, others: Iterable[str] = ()) -> tuple[dict[str, Any], dict[str, YamlNode]]:
        """Return what a mapping says of a dataclass: its described flags, texts and numbers, and nodes of other keys.

        Args:
            kind: the dataclass.
            others: keys that are no described fields.

        Raises:
            InputError: a key that isn't known, or a value that the field can't have.
        """
        described = descriptions(kind)
        nodes = self.mapping((*described, *others))
        found = {}
        for name in [name for name in nodes if name in described]:
            node, one = nodes.pop(name), described[name]
            value = node.boolean() if one.kind is bool else node.string() if one.kind is str else node.number()
            found[name] = value
            try:
                one.check(value, name)
            except InputError as error:
                raise node.fail(error.problem, error.remedy) from None
        return found, nodes

    def numbers(self, count: int) -> np.ndarray:
        """(count,) finite numbers.

        Raises:
            InputError: not a list of that many finite numbers.
        """
        items = self.items()
        if len(items) != count:
            raise self.fail(f"holds {len(items)} values", f"Give {count} numbers")
        return np.array([item.number() for item in items])

    def polygon(self, minimum: int = 1) -> np.ndarray:
        """(k, 2) vertices, k at least ``minimum``.

        Raises:
            InputError: not a list of pairs of finite numbers.
        """
        items = self.items()
        if len(items) < minimum:
            raise self.fail(f"holds {len(items)} vertices", f"Give {minimum} or more")
        check_size(len(items), "vertices", self.fail)
        return np.array([item.numbers(2) for item in items]).reshape(-1, 2)

    def _shown(self) -> str:
        if isinstance(self.node, yaml.MappingNode):
            return "a mapping"
        if isinstance(self.node, yaml.SequenceNode):
            return "a list"
        return f"'{self.node.value}'" if self.node.value else "empty"


def read_placement(values: dict[str, YamlNode]) -> pin.SE3:
    """Placement from the keys ``xyz`` (metres) and ``rpy`` (roll, pitch, yaw in rad), each optional.

    Raises:
        InputError: not three finite numbers.
    """
    xyz = values["xyz"].numbers(3) if "xyz" in values else np.zeros(3)
    roll, pitch, yaw = values["rpy"].numbers(3) if "rpy" in values else np.zeros(3)
    return pin.SE3(pin.rpy.rpyToMatrix(roll, pitch, yaw), xyz)


def _compose(text: str) -> yaml.Node | None:
    """Return the document's nodes; what is wrong with it is told in the words of PyYAML's own parser, in C or not.

    Raises:
        yaml.YAMLError: it isn't YAML.
        InputError: it becomes too much; it names the line.
    """
    if yaml.__with_libyaml__:
        try:
            return yaml.compose(text, Loader=_fast_loader())
        except yaml.YAMLError:
            if len(text) > _LONGEST_FAULT:
                raise
    return yaml.compose(text, Loader=_slow_loader())


class _BoundedComposer(Composer):
    """Composes no more nodes, and no deeper ones, than a document may have."""

    def __init__(self) -> None:
        super().__init__()
        self._growth, self._level = Growth(), 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        def fail(problem: str, remedy: str) -> InputError:
            event = self.peek_event()  # type: ignore[attr-defined]  # of the parser that it is joined with
            return InputError(problem, line=event.start_mark.line + 1, remedy=remedy)

        self._growth.add(1, "values", fail)
        self._level += 1
        check_size(self._level, "levels inside one another", fail)
        node = super().compose_node(parent, index)
        self._level -= 1
        return node


@functools.cache
def _slow_loader() -> Any:
    class SlowLoader(Reader, Scanner, Parser, _BoundedComposer, Resolver):
        def __init__(self, stream: str) -> None:
            Reader.__init__(self, stream)
            Scanner.__init__(self)
            Parser.__init__(self)
            _BoundedComposer.__init__(self)
            Resolver.__init__(self)

    return SlowLoader


@functools.cache
def _fast_loader() -> Any:
    """Return a loader that parses in C, seven times as fast, and composes in Python.

    Composed in C, thousands of brackets would end the whole process.
    """
    from yaml._yaml import CParser

    class FastLoader(_BoundedComposer, CParser, Resolver):
        def __init__(self, stream: str) -> None:
            CParser.__init__(self, stream)
            _BoundedComposer.__init__(self)
            Resolver.__init__(self)

    return FastLoader


def read_yaml(path: str | Path, error: type[InputError]) -> YamlNode:
    """Read a YAML file.

    Args:
        path: the file.
        error: exception class for this document's errors.

    Raises:
        InputError: the file can't be read, isn't YAML, becomes too much, or is empty.
    """
    source = str(path)
    text = read_text(path, error, "Give the path of a YAML file")
    try:
        node = _compose(text)
    except InputError as problem:
        raise error(problem.problem, source=source, line=problem.line, remedy=problem.remedy) from None
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        reason = " ".join(str(getattr(problem, "problem", problem)).split())
        raise error(
            f"not YAML: {reason}",
            source=source,
            line=None if mark is None else mark.line + 1,
            remedy="Mend the YAML there",
        ) from None
    if node is None:
        raise error("is empty", source=source, remedy="Give key: value pairs")
    return YamlNode(node, "", source, error)
