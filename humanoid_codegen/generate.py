# SPDX-License-Identifier: Apache-2.0
"""From a robot to files of equations or code, in one call.

Functions of a dynamic model have short names, too, which people type; loops are cut by a file beside any URDF.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humanoid_codegen.dynamics.dynamic_model import DynamicModel, MasslessJointError
from humanoid_codegen.expression.function import Function, Module, OperationCount, count_operations
from humanoid_codegen.languages import LANGUAGES
from humanoid_codegen.report import DOCUMENTS
from humanoid_model import InputError, Robot
from humanoid_model.extensions import load_extensions
from humanoid_model.loop_closure import LoopClosure, read_loop_closures
from humanoid_model.progress import Progress, ProgressCallback, tell
from humanoid_model.yaml_node import read_yaml

#: Other names of each function, the acronyms of the field among them.
FUNCTION_ALIASES: dict[str, tuple[str, ...]] = {
    "inverse_dynamics": ("idm", "rnea"),
    "direct_dynamics": ("ddm", "forward_dynamics", "aba"),
    "mass_matrix": ("mass", "crba"),
    "bias": ("nonlinear_effects", "nle"),
    "gravity": (),
    "kinematics": ("fk",),
    "jacobians": ("jacobian",),
    "energies": ("energy",),
    "regressor": (),
    "inverse_dynamics_derivatives": ("idm_derivatives",),
    "direct_dynamics_derivatives": ("ddm_derivatives",),
    "loop_closure": ("loops",),
    "constrained_dynamics": (),
}

_FULL_NAMES = {alias: name for name, aliases in FUNCTION_ALIASES.items() for alias in (name, *aliases)}


def function_names(names: Iterable[str]) -> tuple[str, ...]:
    """Full names of functions, each once, in the order given.

    Args:
        names: full names or aliases, in any case, with hyphens or underscores.

    Raises:
        InputError: there is no such function.
    """
    found: dict[str, None] = {}
    for name in names:
        full = _FULL_NAMES.get(name.strip().lower().replace("-", "_"))
        if full is None:
            raise InputError(
                f"unknown function '{name}'", element="functions", remedy=f"Choose from {', '.join(FUNCTION_ALIASES)}"
            )
        found[full] = None
    return tuple(found)


def read_loops(path: str | Path) -> tuple[LoopClosure, ...]:
    """Read cuts from a YAML file, under ``loops``; see :func:`~humanoid_model.loop_closure.read_loop_closures`.

    Raises:
        InputError: the file can't be read or used; the message names file, line, element and remedy.
    """
    loops: list[LoopClosure] = []
    for node in read_yaml(path, InputError).mapping(("loops",)).values():
        loops += read_loop_closures(node)
    return tuple(loops)


#: Functions that are generated only when they are asked for.
DERIVATIVES = ("inverse_dynamics_derivatives", "direct_dynamics_derivatives")


@dataclass(frozen=True)
class GeneratedModel:
    """What :func:`generate` made.

    Attributes:
        files: text by file name.
        functions: with the operations that one call takes.
        model: the dynamic model, for further use.
        time: that the generation took [s].
    """

    files: dict[str, str]
    functions: tuple[tuple[Function, OperationCount], ...]
    model: DynamicModel
    time: float

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Joints with coordinates, in their order."""
        return self.model.mechanism.joint_names


def language_names() -> tuple[str, ...]:
    """Return the output languages: code and documents, those of other installed packages too."""
    load_extensions("languages")
    return (*LANGUAGES, *DOCUMENTS)


def generate(
    robot: Robot | str | Path,
    lang: str | Sequence[str] = "c",
    functions: Sequence[str] | None = None,
    out: str | Path | None = None,
    *,
    derivatives: bool = False,
    progress: ProgressCallback | None = None,
    **model_options: Any,
) -> GeneratedModel:
    """Generate the dynamic model of a robot.

    Args:
        robot: a robot, the name of one that comes with the stack, the path of a URDF, or its text.
        lang: one or more of :func:`language_names`.
        functions: names of functions or their aliases; None: all but the derivatives (and what can't be
            had: energies where symbolic parameters are grouped, accelerations where a joint moves no mass).
        out: folder to write to, made when missing; None: nothing is written. All files are written, or none.
        derivatives: adds the derivatives of inverse and direct dynamics.
        progress: told before every step; cancels by returning True.
        **model_options: floating base, gravity, grouped or symbolic parameters, wrenches and loops: see
            :class:`DynamicModel`.

    Raises:
        RobotError: the robot can't be read.
        InputError: an unknown language, function or link; a name that the language forbids; a folder that can't be
            written to.
    """
    start = time.perf_counter()
    languages = (lang,) if isinstance(lang, str) else tuple(lang)
    for language in languages:
        if language not in LANGUAGES and language not in DOCUMENTS and language not in language_names():
            raise InputError(f"unknown language '{language}'", remedy=f"Choose from {', '.join(language_names())}")
    model = DynamicModel(robot, **model_options)
    names = _function_names(model, functions, derivatives)

    def report(done: int, what: str) -> None:
        tell(progress, Progress(what, done / total, part=done))

    total = len(names) + len(languages) + 1
    built = []
    left_out: list[str] = []
    for done, name in enumerate(names):
        report(done, name)
        try:
            function = model.function(name)
        except MasslessJointError as problem:
            if functions:
                raise
            left_out.append(f"Left out: {problem.problem}.")
            continue
        built.append((function, count_operations(function)))
    module = _module(model, tuple(function for function, _ in built), left_out)
    files: dict[str, str] = {}
    for done, language in enumerate(languages, start=len(names)):
        report(done, language)
        for file_name, text in _write(language, module, model).items():
            if file_name in files:
                raise InputError(
                    f"languages {', '.join(languages)} make two files called '{file_name}'",
                    remedy="Generate them into folders of their own",
                )
            files[file_name] = text
    if out is not None:
        report(total - 1, f"writing {out}")
        write_files(Path(out), files)
    report(total, "done")
    return GeneratedModel(files, tuple(built), model, time.perf_counter() - start)


def write_files(folder: Path, files: dict[str, str]) -> None:
    """Write files, all of them or none.

    Args:
        folder: made when missing.
        files: text by name.

    Raises:
        InputError: the folder or a file can't be written.
    """
    # os.path answers for names that no disk takes too.
    made = [place for place in (folder, *folder.parents) if not os.path.lexists(place)]
    temporary: list[tuple[Path, Path]] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            if (folder / name).is_dir():
                raise IsADirectoryError(0, "is a folder", str(folder / name))
            temporary.append((folder / f".{uuid.uuid4().hex}", folder / name))
            with temporary[-1][0].open("x", encoding="utf-8") as file:
                file.write(text)
        while temporary:
            temporary[0][0].replace(temporary[0][1])
            temporary.pop(0)
    except OSError as problem:
        for path, _ in temporary:
            path.unlink(missing_ok=True)
        for place in made:
            with contextlib.suppress(OSError):
                place.rmdir()
        raise InputError(
            f"can't be written: {problem.strerror}", source=str(folder), remedy="Give a folder that you may write to"
        ) from None


def _function_names(model: DynamicModel, functions: Sequence[str] | None, derivatives: bool) -> list[str]:
    known = list(model.builders)
    left_out = set(DERIVATIVES)
    if model.grouped and model.parameters.names:
        left_out.add("energies")  # of single links, whose parameters aren't known then
    chosen = list(function_names(functions)) if functions else [name for name in known if name not in left_out]
    if derivatives:
        chosen += DERIVATIVES
    return list(dict.fromkeys(chosen))


def _write(language: str, module: Module, model: DynamicModel) -> dict[str, str]:
    if language in LANGUAGES:
        return LANGUAGES[language].write(module)
    return DOCUMENTS[language](module, model)


def _module(model: DynamicModel, functions: tuple[Function, ...], left_out: Sequence[str]) -> Module:
    mechanism, robot = model.mechanism, model.robot
    gx, gy, gz = mechanism.gravity
    notes = [
        f"{len(mechanism.links)} links, {mechanism.nv} degrees of freedom, "
        f"{'free' if robot.floating_base else 'fixed'} base, {mechanism.total_mass:.6g} kg.",
        f"Gravity ({gx:g}, {gy:g}, {gz:g}) m/s^2 in the world frame. SI units; quaternions x, y, z, w.",
    ]
    if any(name.endswith("_qw") for name in mechanism.q_names):
        notes.append("A free base moves with linear, then angular velocity, both in its own axes.")
    if model.grouped and model.parameters.names:
        notes.append("The parameters are the base inertial parameters of the bodies: what efforts depend on.")
    elif model.grouped:
        notes.append("Inertial parameters are grouped: the numbers of single bodies aren't those of the URDF.")
    notes += left_out
    if robot.approximate:
        notes.append(f"Approximate robot: {robot.approximate}")
    return Module(
        name=module_name(robot.name),
        robot=robot.name,
        functions=functions,
        q_names=mechanism.q_names,
        v_names=mechanism.v_names,
        link_names=tuple(link.name for link in mechanism.links),
        notes=tuple(notes),
        parameter_names=model.parameters.names,
        parameters=model.parameters.values,
    )


def module_name(robot: str) -> str:
    """Return the identifier made of a robot's name: ``robot 2-R`` becomes ``robot_2_r``."""
    name = re.sub(r"\W+", "_", robot.lower(), flags=re.ASCII).strip("_")
    return f"robot_{name}" if not name or name[0].isdigit() else name
