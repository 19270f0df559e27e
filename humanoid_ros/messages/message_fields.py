# SPDX-License-Identifier: Apache-2.0
"""Messages of any type: their classes by name, and their fields from and to what YAML holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from humanoid_model.checks import check_known
from humanoid_model.errors import InputError


def message_type(name: str) -> type:
    """Return the class of a message type such as ``std_msgs/msg/String``.

    Raises:
        InputError: it isn't installed.
    """
    try:
        package, folder, kind = name.split("/")
        found: type = getattr(import_module(f"{package}.{folder}"), kind)
    except (ValueError, ImportError, AttributeError) as error:
        raise InputError(f"the message type '{name}' isn't installed", remedy="Install its package") from error
    return found


_LIST = re.compile(r"sequence<(?P<kind>.+?)(, (?P<most>\d+))?>|(?P<element>.+)\[(?P<count>\d+)\]")
_INTEGER = re.compile(r"(?P<unsigned>u?)int(?P<bits>8|16|32|64)")
_LARGEST = {"float": 3.4028234663852886e38}
"""Larger numbers than this are none of the type."""
_LONGEST = 200
"""Characters of a value that a message shows at most."""


def fill_fields(message: Any, values: Any, where: str = "") -> None:
    """Write values into the fields of a message; fields that aren't given stay.

    Args:
        message: to be written into.
        values: by the fields' names; numbers, texts, lists, and the same again for messages in it.
        where: which field of another message it is, with a dot at its end.

    Raises:
        InputError: there is no such field, or its value doesn't fit.
    """
    kinds = message.get_fields_and_field_types()
    if not isinstance(values, Mapping):
        name = where.rstrip(".") or "values"
        raise _unfit(values, name, f"fields by name: {', '.join(kinds)}")
    for name, value in values.items():
        check_known(str(name), kinds, f"{where}{name}", "field")
        setattr(message, name, _value(kinds[name], value, f"{where}{name}"))


def plain_fields(value: Any, longest: int | None = None, arrays: bool = True) -> Any:
    """Return what a message holds as numbers, texts, lists, and mappings for messages in it.

    Args:
        value: the message, or what a field holds.
        longest: items of a list and characters of a text that are told; None: all.
        arrays: whether lists are told; else how long they are.
    """
    if hasattr(value, "get_fields_and_field_types"):
        names = value.get_fields_and_field_types()
        return {name: plain_fields(getattr(value, name), longest, arrays) for name in names}
    if isinstance(value, bytes):
        return value[0] if len(value) == 1 else plain_fields(list(value), longest, arrays)
    if isinstance(value, str):
        return value if longest is None or len(value) <= longest else f"{value[:longest]}..."
    if hasattr(value, "__len__"):
        if not arrays:
            return f"<{len(value)} items>"
        kept = value[:longest]
        items = kept.tolist() if hasattr(kept, "tolist") else [plain_fields(item, longest, arrays) for item in kept]
        return items if len(kept) == len(value) else [*items, "..."]
    return value


def _value(kind: str, value: Any, where: str) -> Any:
    """Return a value as a field of a type holds it."""
    if found := _LIST.fullmatch(kind):
        count = found["count"] and int(found["count"])
        if not isinstance(value, list) or (count and len(value) != count):
            raise _unfit(value, where, f"a list of {count} items" if count else "a list")
        if found["most"] and len(value) > int(found["most"]):
            raise _unfit(value, where, f"a list of {found['most']} items at most")
        inner = found["kind"] or found["element"]
        return [_value(inner, item, f"{where}[{number}]") for number, item in enumerate(value)]
    if "/" in kind:
        package, name = kind.split("/")
        message = message_type(f"{package}/msg/{name}")()
        fill_fields(message, value, f"{where}.")
        return message
    if kind == "boolean":
        if isinstance(value, bool):
            return value
        raise _unfit(value, where, "true or false")
    if "string" in kind:
        most = re.search(r"\d+", kind)
        if isinstance(value, str) and (most is None or len(value) <= int(most[0])):
            return value
        raise _unfit(value, where, f"a text of {most[0]} characters at most" if most else "a text, in quotes")
    if kind in ("float", "double"):
        return _real(kind, value, where)
    return _whole("uint8" if kind == "octet" else kind, value, where, as_bytes=kind == "octet")


def _real(kind: str, value: Any, where: str) -> float:
    number: float | None = None
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            number = float(value)  # YAML takes 1e-3 for a text
        except (ValueError, OverflowError):
            number = None
    if number is None or (
        abs(number) > _LARGEST.get(kind, float("inf")) and number not in (float("inf"), -float("inf"))
    ):
        raise _unfit(value, where, f"a number that fits {kind}")
    return number


def _whole(kind: str, value: Any, where: str, as_bytes: bool) -> int | bytes:
    found = _INTEGER.fullmatch(kind)
    bits, unsigned = (int(found["bits"]), bool(found["unsigned"])) if found else (8, True)
    low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise _unfit(value, where, f"a whole number from {low} to {high}")
    return bytes([value]) if as_bytes else value


def _unfit(value: Any, where: str, right: str) -> InputError:
    return InputError(f"is {value!r}"[:_LONGEST], element=where, remedy=f"Give {right}")
