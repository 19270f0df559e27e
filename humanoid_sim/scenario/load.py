# SPDX-License-Identifier: Apache-2.0
"""Loading a user's scenario from a file, without building or installing anything (specification 000, F007)."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from types import ModuleType

from humanoid_model.errors import InputError
from humanoid_sim.scenario.scenario import Scenario

_METHODS = ("init", "loop", "end")


def load_scenario(path: str | Path) -> type:
    """Return the scenario class of a Python file.

    The file is run as a module, so it may register algorithms, import what lies beside it, and define anything else.

    Args:
        path: of the file.

    Returns:
        The one class of the file that is a :class:`~humanoid_sim.scenario.scenario.Scenario`, or that has methods
        ``init(simulation)``, ``loop(simulation)`` and ``end(simulation)`` of its own.

    Raises:
        InputError: no such file, an error in it (with its line), or not exactly one scenario.
    """
    path = Path(path)
    if path.suffix != ".py":
        raise InputError(f"'{path}' is no Python file", element="scenario", remedy="Give a file that ends in .py")
    if not path.is_file():
        raise InputError(f"there is no file '{path}'", element="scenario", remedy="Give the path of a scenario")
    module = _run_as_module(path)
    own = [
        kind
        for kind in vars(module).values()
        if inspect.isclass(kind) and kind.__module__ == module.__name__ and _may_be_scenario(kind)
    ]
    # A class that others of the file are made from is no scenario of its own.
    found = [kind for kind in own if not any(kind in other.__mro__[1:] for other in own)]
    if len(found) != 1:
        names = ", ".join(kind.__name__ for kind in found)
        raise InputError(
            f"the file holds {len(found)} scenarios{': ' + names if names else ''}",
            source=path,
            remedy="Define one class with init(simulation), loop(simulation) and end(simulation)",
        )
    kind = found[0]
    missing = [name for name in _METHODS if not callable(getattr(kind, name, None))]
    if missing:
        raise InputError(
            f"the class {kind.__name__} has no {' and no '.join(missing)}",
            source=path,
            line=inspect.getsourcelines(kind)[1],
            remedy="Derive it from humanoid_sim.scenario.Scenario, or add the method",
        )
    return kind


def _may_be_scenario(kind: type) -> bool:
    return issubclass(kind, Scenario) or any(name in vars(kind) for name in _METHODS[:2])


def _run_as_module(path: Path) -> ModuleType:
    name = f"humanoid_scenario_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look their module up
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except Exception as problem:
        del sys.modules[name]
        raise InputError(
            f"{type(problem).__name__}: {problem}",
            source=path,
            line=line_in(path, problem),
            remedy="The file must run through before its scenario can",
        ) from problem
    finally:
        sys.path.remove(folder)
    return module


def line_in(path: Path, problem: BaseException) -> int | None:
    """Line of a file in which an exception was raised or passed, the innermost; None if it never was there."""
    if isinstance(problem, SyntaxError) and problem.filename == str(path):
        return problem.lineno
    target = path.resolve()
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(problem.__traceback__)
        if Path(frame.filename).resolve() == target
    ]
    return lines[-1] if lines else None
