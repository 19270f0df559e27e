# SPDX-License-Identifier: Apache-2.0
"""Running a scenario from its beginning to a clean end, whatever happens (specification 000 §1.5, F007 and F018)."""

from __future__ import annotations

import contextlib
import time as clock
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from humanoid_model.errors import HumanoidError, InputError
from humanoid_model.scene import Scene
from humanoid_model.scene_file import load_scene
from humanoid_sim.scenario.load import line_in
from humanoid_sim.simulation import Simulation
from humanoid_sim.state_file import read_state, write_state
from humanoid_sim.stepping.options import SimulationOptions

if TYPE_CHECKING:
    from humanoid_sim.module import Module


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
