# SPDX-License-Identifier: Apache-2.0
"""Simulations written by a user in a file of their own: ``python -m humanoid_sim run my_scenario.py``.

A scenario is loaded without building or installing anything and runs from its beginning to a clean end, whatever
happens (specification 000 §1.5, F007 and F018). It may choose which bodies of a scene are simulated and which pairs
may touch.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import inspect
import sys
import time as clock
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from humanoid_model.errors import HumanoidError, InputError
from humanoid_model.scene import PairRule, Scene
from humanoid_model.scene_file import load_scene
from humanoid_sim.simulation import Simulation
from humanoid_sim.state_file import read_state, write_state
from humanoid_sim.stepping.options import SimulationOptions

if TYPE_CHECKING:
    from humanoid_sim.module import Module


class Scenario:
    """What happens in a simulation (specification 000 §1.5); a user's file holds one subclass.

    Class attributes that hold a number, a word or a list of them are parameters: ``--set name=value`` changes them
    before :meth:`prepare` is called.

    Attributes:
        scene: a scene, the name of one that comes with the stack, or a path, relative to the scenario's file first.
        dt: time step [s]; None for the scene's own, which is 1 ms by default.
        solver: name of the contact solver; it may be one that the file registers.
        duration: simulated time [s]; None for a scenario that ends by itself.
        options: further arguments of :class:`~humanoid_sim.simulation.Simulation`, by name.
    """

    scene: Scene | str | Path = ""
    dt: float | None = None
    solver: str = "nsgs_newton"
    duration: float | None = None
    options: Mapping[str, Any] = MappingProxyType({})

    def prepare(self, scene: Scene) -> Scene:
        """Choose bodies and pairs before the simulation is made, see :mod:`humanoid_sim.scenario`.

        Args:
            scene: as loaded.

        Returns:
            What is simulated.
        """
        return scene

    def init(self, simulation: Simulation) -> None:
        """Get ready: add modules, set targets and gains."""

    def loop(self, simulation: Simulation) -> bool | None:
        """Act before each step: move targets, push, read what the last step gave.

        Returns:
            True to end before the duration is over.
        """
        return None

    def end(self, simulation: Simulation) -> None:
        """Finish: write results, free what :meth:`init` took. Called whenever :meth:`init` returned."""


_METHODS = ("init", "loop", "end")


def load_scenario(path: str | Path) -> type:
    """Return the scenario class of a Python file.

    The file is run as a module, so it may register algorithms, import what lies beside it, and define anything else.

    Args:
        path: of the file.

    Returns:
        The one class of the file that is a :class:`Scenario`, or that has methods
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


def simulate_only(scene: Scene, names: Iterable[str]) -> Scene:
    """Return a scene in which only some bodies move; the others stay where they are, still to be touched.

    Robots are always simulated.

    Args:
        scene: the whole scene; it stays as it is.
        names: names or patterns of mobile bodies (``box*``).

    Raises:
        InputError: a name that no body with a mass has.
    """
    patterns = list(names)
    mobile = [body.name for body in scene.bodies if not body.fixed]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in mobile):
            raise InputError(
                f"no body with a mass is called '{pattern}'",
                source=scene.source or None,
                element="simulate",
                remedy=f"Name some of {', '.join(mobile) or 'none'}",
            )
    return dataclasses.replace(
        scene,
        bodies=tuple(
            dataclasses.replace(
                body, simulated=body.simulated and any(fnmatchcase(body.name, pattern) for pattern in patterns)
            )
            for body in scene.bodies
        ),
    )


def collide_only(scene: Scene, pairs: Iterable[tuple[str, str]]) -> Scene:
    """Return a scene in which only some pairs of bodies may touch; by default all may.

    Args:
        scene: the whole scene; it stays as it is.
        pairs: names or patterns of bodies, a robot's links as ``robot/link`` (``("hrp2/*", "floor")``).

    Raises:
        InputError: a name that no body has.
    """
    chosen = list(pairs)
    known = scene.body_names()
    for pattern in (pattern for pair in chosen for pattern in pair):
        if not any(fnmatchcase(name, pattern) for name in known):
            raise InputError(
                f"no body is called '{pattern}'",
                source=scene.source or None,
                element="pairs",
                remedy="python -m humanoid_sim info <scene> lists them",
            )
    rules = (
        PairRule("*", "*", collide=False),
        *(PairRule(first, second, collide=True) for first, second in chosen),
    )
    return dataclasses.replace(scene, rules=(*scene.rules, *rules))


class ScenarioError(HumanoidError):
    """A scenario, or the simulation under it, failed while it ran; the simulation's state is kept.

    Attributes:
        source: file of the scenario.
        line: line of that file that failed; None where the failure is not in it.
        phase: what failed: ``init``, ``loop``, ``step`` or ``end``.
        time: simulated time [s].
        step: number of steps done.
        simulation: as it was then; what was added to it has been removed.
        state_file: file that holds its state, None if it could not be written.
        trace: what was called from where, from the scenario's file on.
    """

    def __init__(
        self,
        problem: BaseException,
        source: Path | None,
        phase: str,
        simulation: Simulation,
        state_file: Path | None,
        unsaved: str,
    ) -> None:
        """Tell of a failure.

        Args:
            problem: what was raised.
            source: file of the scenario.
            phase: what failed.
            simulation: as it was then.
            state_file: file that holds its state.
            unsaved: why there is no such file.
        """
        self.source = source
        self.line = None if source is None else line_in(source, problem)
        self.phase = phase
        self.time = simulation.time
        self.step = simulation.step_count
        self.simulation = simulation
        self.state_file = state_file
        self.trace = "" if source is None else _trace(source, problem)
        where = "" if source is None else str(source)
        if self.line is not None:
            where += f":{self.line}"
        kept = f"The state is in {state_file}" if state_file else f"The state is in no file: {unsaved}"
        super().__init__(
            f"{where + ': ' if where else ''}{phase}: {type(problem).__name__}: {problem} "
            f"(t = {self.time:.6g} s, after step {self.step}). {kept}."
        )


@dataclass(frozen=True)
class ScenarioRun:
    """A scenario that came to its end.

    Attributes:
        simulation: as it ended; what was added to it has been removed.
        steps: number of steps done.
        seconds: wall-clock time of loop and steps [s].
        interrupted: whether the user stopped it (Ctrl-C).
    """

    simulation: Simulation
    steps: int
    seconds: float
    interrupted: bool

    @property
    def real_time_factor(self) -> float:
        """Simulated over wall-clock time, modules and the scenario's own work included."""
        return self.steps * self.simulation.dt / self.seconds if self.seconds > 0.0 else float("inf")


def make_simulation(scenario: Any, source: Path | None = None) -> Simulation:
    """Return the simulation that a scenario asks for, with the bodies and pairs that it chooses.

    Args:
        scenario: with an attribute ``scene``, and ``dt``, ``solver``, ``options`` and ``prepare(scene)`` if it likes.
        source: file of the scenario; paths of scenes are relative to it.

    Raises:
        InputError: no scene, or one that can't be used; an option that is unknown or can't be used; ``prepare`` gave
            no scene.
    """
    scene = getattr(scenario, "scene", "")
    if not isinstance(scene, Scene):
        if not scene:
            raise InputError(
                "the scenario names no scene",
                source=source,
                element="scene",
                remedy='Write scene = "stand" in its class, or give --scene',
            )
        beside = None if source is None else source.parent / scene
        scene = load_scene(beside if beside is not None and beside.is_file() else scene)
    prepare = getattr(scenario, "prepare", None)
    if prepare is not None:
        scene = prepare(scene)
        if not isinstance(scene, Scene):
            raise InputError(f"prepare returned {scene!r}", source=source, element="prepare", remedy="Return the scene")
    options = {"method": getattr(scenario, "solver", "nsgs_newton"), **getattr(scenario, "options", {})}
    known = [field.name for field in fields(SimulationOptions)]
    for name in options:
        if name not in known:
            raise InputError(
                f"there is no option '{name}'",
                source=source,
                element="options",
                remedy=f"There are {', '.join(known)}",
            )
    return Simulation(scene, getattr(scenario, "dt", None), **options)


def run_scenario(
    scenario: Any,
    simulation: Simulation,
    *,
    duration: float | None = None,
    modules: Sequence[Module] = (),
    progress: bool = False,
    source: Path | None = None,
    start_from: Path | None = None,
    failed_state: Path | None = None,
) -> ScenarioRun:
    """Run a scenario: ``init``, then ``loop`` and a step until the duration is over, then ``end``.

    ``end`` is called whenever ``init`` returned, and every module is removed, last first, so that files are complete
    and closed.

    Args:
        scenario: the scenario.
        simulation: that it acts on.
        duration: simulated time [s]; the scenario's own if not given. Without either, ``loop`` has to end it.
        modules: added after ``init``, so that they see what the scenario's own modules did: recorders.
        progress: shows a progress bar.
        source: file of the scenario, for error messages.
        start_from: saved state to begin from, restored after ``init``.
        failed_state: where the state goes if something fails.

    Raises:
        InputError: a duration that is no time, or a saved state that doesn't fit.
        ScenarioError: the scenario raised, or the simulation can't go on.
    """
    total = getattr(scenario, "duration", None) if duration is None else duration
    if total is not None and not (np.isfinite(total) and total >= 0.0):
        raise InputError(f"duration is {total}", element="duration", remedy="Give a time in seconds, 0 or more")
    phase, interrupted, begun = "init", False, False
    before = list(simulation.modules)
    begin = clock.perf_counter()
    first = simulation.step_count
    try:
        scenario.init(simulation)
        phase, begun = "begin", True
        for module in modules:
            simulation.add_module(module)
        if start_from is not None:
            read_state(simulation, start_from)
        first = simulation.step_count
        steps = None if total is None else round(total / simulation.dt)
        begin = clock.perf_counter()
        with tqdm(total=steps, unit="step", disable=not progress) as bar:
            while steps is None or simulation.step_count - first < steps:
                phase = "loop"
                if scenario.loop(simulation):
                    break
                phase = "step"
                simulation.step()
                bar.update()
        seconds = clock.perf_counter() - begin
        phase, begun = "end", False
        scenario.end(simulation)
    except KeyboardInterrupt:
        seconds, interrupted = clock.perf_counter() - begin, True
        if begun:
            scenario.end(simulation)
    except Exception as problem:
        if begun:
            with contextlib.suppress(Exception):  # the first failure is the one to tell
                scenario.end(simulation)
        if phase == "begin" and isinstance(problem, InputError):
            raise  # a recorder or a saved state that doesn't fit is no fault of the scenario
        raise ScenarioError(problem, source, phase, simulation, *_keep(simulation, failed_state)) from problem
    finally:
        with contextlib.ExitStack() as removals:  # removes all of them even if one fails, the last first
            for name in simulation.modules:
                if name not in before:
                    removals.callback(simulation.remove_module, name)
    return ScenarioRun(simulation, simulation.step_count - first, seconds, interrupted)


def _keep(simulation: Simulation, path: Path | None) -> tuple[Path | None, str]:
    """Write the state of a failed simulation; returns the file, or None and why there is none."""
    if path is None:
        return None, "no file was asked for"
    try:
        write_state(simulation, path)
    except (HumanoidError, OSError) as problem:
        return None, str(problem)
    return path, ""


def _trace(source: Path, problem: BaseException) -> str:
    """Return the traceback of an exception without the frames above the scenario's file."""
    frames = traceback.extract_tb(problem.__traceback__)
    target = source.resolve()
    own = [i for i, frame in enumerate(frames) if Path(frame.filename).resolve() == target]
    return "".join(traceback.format_list(frames[own[0] :])) if own else ""
