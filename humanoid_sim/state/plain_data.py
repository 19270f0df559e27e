# SPDX-License-Identifier: Apache-2.0
"""Values as plain data: a tree for JSON and arrays beside it, from which the same values come back bit for bit."""

from __future__ import annotations

import base64
import dataclasses
import enum
import hashlib
import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from humanoid_model.errors import InputError

_TAG = "__type__"


def encode(value: object, arrays: list[np.ndarray], where: str = "state") -> Any:
    """Take a value apart.

    Numbers, words, None, bytes, enumerations, lists, tuples, dictionaries, sets, arrays, placements, random number
    generators and dataclasses of them can be taken apart; nothing else, so that reading a file never runs code.

    Args:
        value: the value.
        arrays: takes the arrays in it.
        where: name of the value, for error messages.

    Returns:
        What :func:`json.dumps` accepts.

    Raises:
        InputError: something in the value is of another type.
    """
    if isinstance(value, enum.Enum):
        return {_TAG: "enum", "class": _class_name(type(value)), "name": value.name}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {_TAG: "float", "value": repr(value)}
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.hasobject:
            raise InputError(f"an array of {value.dtype}", element=where, remedy="Keep numbers in arrays")
        arrays.append(np.asarray(value))
        return {_TAG: "array" if isinstance(value, np.ndarray) else "scalar", "index": len(arrays) - 1}
    if isinstance(value, (bytes, bytearray)):
        return {_TAG: type(value).__name__, "value": base64.b64encode(value).decode()}
    if isinstance(value, Path):
        return {_TAG: "path", "value": str(value)}
    if isinstance(value, pin.SE3):
        return {_TAG: "se3", "value": encode(np.array(value.homogeneous), arrays, where)}
    if isinstance(value, np.random.Generator):
        bits = value.bit_generator
        return {_TAG: "generator", "kind": type(bits).__name__, "state": encode(bits.state, arrays, where)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {
            field.name: encode(getattr(value, field.name), arrays, f"{where}.{field.name}")
            for field in dataclasses.fields(value)
        }
        return {_TAG: "dataclass", "class": _class_name(type(value)), "fields": fields}
    if isinstance(value, Mapping):
        items = [[encode(key, arrays, where), encode(item, arrays, f"{where}[{key!r}]")] for key, item in value.items()]
        return {_TAG: "mapping", "items": items}
    for kind in (list, tuple, set, frozenset):
        if type(value) is kind:
            ordered = sorted(value, key=repr) if kind in (set, frozenset) else value
            items = [encode(item, arrays, f"{where}[{i}]") for i, item in enumerate(ordered)]
            return items if kind is list else {_TAG: kind.__name__, "items": items}
    raise InputError(
        f"a {type(value).__module__}.{type(value).__qualname__} can't be written to a file",
        element=where,
        remedy="Let save() return numbers, words, arrays, lists, dictionaries or dataclasses of them",
    )


def decode(tree: Any, arrays: Mapping[int, np.ndarray]) -> Any:
    """Put a value together again.

    Args:
        tree: from :func:`encode`.
        arrays: its arrays by index.

    Raises:
        InputError: a class that this program hasn't loaded, or a tree that :func:`encode` doesn't make.
    """
    if isinstance(tree, list):
        return [decode(item, arrays) for item in tree]
    if not isinstance(tree, dict):
        return tree
    kind = tree.get(_TAG)
    if kind == "mapping":
        return {decode(key, arrays): decode(item, arrays) for key, item in tree["items"]}
    if kind in ("tuple", "set", "frozenset"):
        made: Any = {"tuple": tuple, "set": set, "frozenset": frozenset}[kind]
        return made(decode(item, arrays) for item in tree["items"])
    if kind == "array":
        return np.array(arrays[tree["index"]])
    if kind == "scalar":
        return arrays[tree["index"]][()]
    if kind == "float":
        return float(tree["value"])
    if kind == "bytes":
        return base64.b64decode(tree["value"])
    if kind == "bytearray":
        return bytearray(base64.b64decode(tree["value"]))
    if kind == "path":
        return Path(tree["value"])
    if kind == "se3":
        return pin.SE3(decode(tree["value"], arrays))
    if kind == "generator":
        bits = getattr(np.random, tree["kind"])()
        bits.state = decode(tree["state"], arrays)
        return np.random.Generator(bits)
    if kind == "enum":
        return _class(tree["class"], enum.Enum)[tree["name"]]
    if kind == "dataclass":
        found = _class(tree["class"], object)
        names = [field.name for field in dataclasses.fields(found)]
        if sorted(names) != sorted(tree["fields"]):
            raise InputError(
                f"{tree['class']} has the fields {', '.join(names)}, the file has {', '.join(tree['fields'])}",
                remedy="Read the file with the version of the program that wrote it",
            )
        value = object.__new__(found)
        for name, item in tree["fields"].items():
            object.__setattr__(value, name, decode(item, arrays))
        return value
    raise InputError(f"unknown kind of value '{kind}'", remedy="Give a file that this program has written")


def fingerprint(value: object) -> str:
    """SHA-256 of a value that :func:`encode` can take apart, as 64 hexadecimal digits."""
    arrays: list[np.ndarray] = []
    tree = encode(value, arrays)
    digest = hashlib.sha256(json.dumps(tree, sort_keys=True).encode())
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _class_name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _class(name: str, base: type) -> Any:
    """Return dataclass or an enumeration of a module that is loaded already: a file can't load any."""
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    if not (isinstance(found, type) and issubclass(found, base)) or (
        base is object and not dataclasses.is_dataclass(found)
    ):
        raise InputError(
            f"it holds a {path} of {module}, which this program has not loaded",
            remedy="Add the same modules as where it was saved, and load the scenario that defines it",
        )
    return found
