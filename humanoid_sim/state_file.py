# SPDX-License-Identifier: Apache-2.0
"""The state of a simulation in a file, from which another process continues bit for bit.

Values become plain data: a tree for JSON and arrays beside it, from which the same values come back.
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import hashlib
import io
import json
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin

from humanoid_model.archive import BROKEN_ARCHIVE, check_archive_size, read_archive
from humanoid_model.description import Mesh, Shape
from humanoid_model.errors import InputError

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


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


FORMAT = "humanoid_sim state"
VERSION = 6
"""Version of the file format; it grows when files that were written before can't be read any more."""


def scene_fingerprint(simulation: Simulation) -> str:
    """Return what tells whether two simulations are of the same mechanical system: SHA-256 in hexadecimal digits.

    Names, tree, inertias, gravity, loops, tendons, soles, shapes, rules of pairs and the time step count; colours,
    camera and the place of files don't.
    """
    model, scene = simulation.world.model, simulation.scene
    joints = [
        (
            model.names[i],
            model.parents[i],
            model.joints[i].shortname(),
            model.jointPlacements[i],
            np.array(model.inertias[i].toDynamicParameters()),
        )
        for i in range(model.njoints)
    ]
    bodies = [
        (
            body.name,
            body.joint,
            body.placement_joint_body,
            [(_shape(shape), placement) for shape, placement in body.shapes],
            body.corners,
        )
        for body in simulation.world.bodies
    ]
    coordinates = [
        np.array(values)
        for values in (
            model.armature,
            model.damping,
            model.gravity.vector,
            model.lowerPositionLimit,
            model.upperPositionLimit,
        )
    ]
    loops = [(placed.name, placed.robot.mimics, placed.robot.springs) for placed in scene.robots], scene.closures()
    soles = [(body, sole.vertices, sole.S) for body, sole in simulation.soles.items()]
    return fingerprint((joints, bodies, coordinates, loops, soles, scene.rules, simulation.dt, *scene.tendons))


def _shape(shape: Shape) -> object:
    """Return a shape, a mesh by what its file holds."""
    if isinstance(shape, Mesh):
        return hashlib.sha256(shape.path.read_bytes()).hexdigest(), np.array(shape.scale), shape.collision
    return shape


def write_state(simulation: Simulation, path: str | Path) -> None:
    """Write the state of a simulation, modules included.

    The file is a NumPy ``.npz`` archive and holds no code. It is complete or not there at all: an existing file is
    replaced when the new one has been written.

    Args:
        simulation: between two steps.
        path: of the file.

    Raises:
        InputError: a module's state can't be written, the file can't, or it would be too large to be read.
    """
    path = Path(path)
    arrays: list[np.ndarray] = []
    state = simulation.save_state()
    header = {
        "format": FORMAT,
        "version": VERSION,
        "scene": simulation.scene.name,
        "fingerprint": scene_fingerprint(simulation),
        "dt": simulation.dt,
        "options": simulation.options.as_text(),
        "time": simulation.time,
        "modules": [name for name, own in state.modules.items() if own is not None],
        "state": encode(state, arrays),
    }
    check_archive_size(sum(array.nbytes for array in arrays), path)
    archive = io.BytesIO()
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    contents: dict[str, Any] = {f"array_{i}": array for i, array in enumerate(arrays)}
    np.savez(archive, header=text, **contents)
    partial = path.with_name(path.name + ".part")
    try:
        partial.write_bytes(archive.getvalue())
        os.replace(partial, path)
    except OSError as problem:
        raise InputError(
            f"the state can't be written: {problem.strerror}", source=path, remedy="Name a place to write to"
        ) from problem


def read_state(simulation: Simulation, path: str | Path) -> None:
    """Continue from a file; what follows is what would have followed where it was written, bit for bit.

    That holds for the same versions of this program and its libraries on the same kind of processor.

    Args:
        simulation: of the same scene with the same time step, options and modules.
        path: of the file.

    Raises:
        InputError: no such file; no state file, a damaged one or one of another version; another scene, time step or
            option (contact solver, tolerance, ...); a module that is missing or can't take its state. The simulation
            is left as it was.
    """
    path = Path(path)
    header, arrays = _read(path)
    if header["fingerprint"] != scene_fingerprint(simulation):
        same_step = header["dt"] == simulation.dt
        raise InputError(
            f"the state is of the scene '{header['scene']}' "
            + ("with other bodies, shapes or rules" if same_step else f"with dt = {header['dt']:g} s"),
            source=path,
            element="scene" if same_step else "dt",
            remedy=f"The simulation is of '{simulation.scene.name}' with dt = {simulation.dt:g} s",
        )
    own = simulation.options.as_text()
    for name, value in header["options"].items():
        if own.get(name) != value:
            raise InputError(
                f"the state was reached with {name} = {value}",
                source=path,
                element=name,
                remedy=f"The simulation has {own.get(name)}; make it with the same",
            )
    missing = [name for name in header["modules"] if name not in simulation.modules]
    if missing:
        raise InputError(
            f"the state has the modules {', '.join(missing)}, which the simulation has not",
            source=path,
            element="modules",
            remedy="Add them first",
        )
    try:
        state = decode(header["state"], arrays)
    except InputError as problem:
        raise InputError(problem.problem, source=path, remedy=problem.remedy) from problem
    except (IndexError, *BROKEN_ARCHIVE) as problem:
        raise _damaged(path, problem) from problem
    simulation.restore_state(state)


def check_state(path: str | Path) -> None:
    """Check that a file is a state, of whatever scene.

    Raises:
        InputError: it isn't, or there is none.
    """
    _read(Path(path))


def _read(path: Path) -> tuple[dict[str, Any], dict[int, np.ndarray]]:
    """Header and arrays of a state file."""
    if not path.is_file():
        raise InputError("there is no such file", source=path, element="state", remedy="Give a saved state")
    try:
        contents = read_archive(path)
        if "header" not in contents:
            raise InputError("it is no state of a simulation", source=path, remedy="Give a file that write_state made")
        header = json.loads(contents.pop("header").tobytes())
        arrays = {int(name.removeprefix("array_")): array for name, array in contents.items()}
    except InputError:
        raise
    except BROKEN_ARCHIVE as problem:
        raise _damaged(path, problem) from problem
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise InputError("it is no state of a simulation", source=path, remedy="Give a file that write_state made")
    if header.get("version") != VERSION:
        raise InputError(
            f"the file has version {header.get('version')}",
            source=path,
            element="version",
            remedy=f"This program reads version {VERSION}: read it with the program that wrote it",
        )
    return header, arrays


def _damaged(path: Path, problem: Exception) -> InputError:
    return InputError(
        f"the file is damaged or no state of a simulation ({type(problem).__name__})",
        source=path,
        element="state",
        remedy="Save the state again",
    )
