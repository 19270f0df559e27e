# SPDX-License-Identifier: Apache-2.0
"""The state of a simulation in a file, from which another process continues bit for bit."""

from __future__ import annotations

import hashlib
import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from humanoid_model.archive import BROKEN_ARCHIVE, check_archive_size, read_archive
from humanoid_model.description import Mesh, Shape
from humanoid_model.errors import InputError
from humanoid_sim.state.plain_data import decode, encode, fingerprint

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation

FORMAT = "humanoid_sim state"
VERSION = 5
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
