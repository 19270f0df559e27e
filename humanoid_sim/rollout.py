# SPDX-License-Identifier: Apache-2.0
"""Many runs of one simulation at once: arrays in, arrays out."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError, SimulationError
from humanoid_sim.simulation import Simulation, SimulationState
from humanoid_sim.stepping.run_steps import RollControls, RollRecord, control

Prepare = Callable[[Simulation, int], None]
"""Called with the simulation at its initial state and the number of the run, before its first step."""
_Answer = tuple[RollRecord, dict[str, Array], int, str]
"""What a run passed through, its sensors' readings, the steps made, and why it ended early."""
_PARTS = 4
"""Parts of the runs for each worker: who is done early takes another one."""


@dataclass(frozen=True)
class Controls:
    """What drives the joints of a robot in each step.

    Attributes:
        values: target positions [rad or m], or efforts [N m or N], shape (runs, steps, n), or (steps, n) for all runs.
        rates: target velocities [rad/s or m/s], likewise; zero if None. Efforts have none.
        joints: names of the n joints; all driven joints if None.
        robot: name of the robot; the only one if None.
        by_effort: whether the values are efforts.
    """

    values: ArrayLike
    rates: ArrayLike | None = None
    joints: Sequence[str] | None = None
    robot: str | None = None
    by_effort: bool = False


@dataclass(frozen=True)
class Rollout:
    """What many runs passed through; the state of ``time = (i + 1) dt`` after the start is at place i.

    Attributes:
        q: configurations of the world, not a number after a failure, shape (runs, steps, nq).
        v: its velocities, as :attr:`Simulation.v`, likewise, shape (runs, steps, nv).
        contacts: number of contact points, shape (runs, steps).
        wrenches: by contacts and loops on what the joint of each body in question carries, at the world origin, force
            first [N, N m], shape (runs, steps, bodies, 6).
        sensors: readings by ``"robot/sensor"``, their quantities one after the other: a wrench (6,), or orientation,
            angular velocity and acceleration of an inertial unit (10,); shape (runs, steps, numbers).
        made: steps made by each run, shape (runs,).
        failures: why a run ended early, by its number.
    """

    q: Array
    v: Array
    contacts: NDArray[np.int64]
    wrenches: Array
    sensors: dict[str, Array]
    made: NDArray[np.int64]
    failures: dict[int, str]


def rollout(
    simulation: Simulation,
    states: Sequence[SimulationState] | tuple[ArrayLike, ArrayLike],
    steps: int,
    controls: Controls | None = None,
    *,
    bodies: Sequence[str] = (),
    sensors: Sequence[str] = (),
    prepare: Prepare | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
) -> Rollout:
    """Run a simulation from many states, on all processors at once; it stays as it is.

    Each run gives the same bits as alone. Runs of compiled steps go on side by side in threads. Where sensors are asked
    for, or steps are not compiled (soft soles, tendons, modules, other solvers), the interpreter has part in each step:
    processes are faster there.

    Args:
        simulation: what runs; a copy of its modules acts in each thread or process, and begins each run with what its
            ``save`` gave for that state.
        states: a saved state for each run; or configurations, shape (runs, nq), and velocities, shape (runs, nv), as
            :attr:`Simulation.q` and ``v``, that take the place of the present ones.
        steps: number of steps of each run, 1 or more.
        controls: what drives the joints; the servos hold their targets if not given.
        bodies: bodies or links (``"robot/link"``) whose contact wrenches are wanted.
        sensors: sensors (``"robot/sensor"``) whose readings are wanted.
        prepare: acts on the simulation before a run: pushes, gains, friction of joints.
        workers: how many runs go on at once; the number of processors if not given.
        executor: runs the parts in its processes, wherever they are; threads of this process if not given. With
            processes, ``prepare`` must be a function of a module that they can import, or an object that can be
            pickled.

    Raises:
        InputError: no or unequal numbers of states, controls of another shape, an unknown joint, body or sensor, a
            module that can't be copied, an executor whose processes can't import what a run needs.
    """
    if steps < 1:
        raise InputError(f"steps is {steps}", element="steps", remedy="Give 1 or more")
    starts = checked_states(simulation, states)
    runs = len(starts)
    driven = checked_controls(simulation, controls, runs, steps)
    joints = np.array([simulation.world.find_body(name).joint for name in bodies], dtype=np.int64)
    for name in sensors:
        _reader(simulation, name)
    copy.copy(simulation)  # says now why it can't be
    count = max(1, workers or os.cpu_count() or 1)
    size = max(1, -(-runs // (_PARTS * count)))
    parts = [
        (
            simulation, part, [starts[i] for i in part],
            [tuple(array if array.ndim < 3 else array[i] for array in driven) for i in part],
            steps, joints, tuple(sensors), prepare,
        )
        for part in (range(first, min(first + size, runs)) for first in range(0, runs, size))
    ]  # fmt: skip
    if executor is None:
        with ThreadPoolExecutor(count) as own:
            answers = _answers([own.submit(_run_part, *part) for part in parts])
    else:
        answers = _answers([_send_part(executor, part) for part in parts])
    records = [record for record, _, _, _ in answers]
    return Rollout(
        q=np.array([record.q for record in records]),
        v=np.array([record.v for record in records]),
        contacts=np.array([record.contacts for record in records]),
        wrenches=np.array([record.wrenches for record in records]),
        sensors={name: np.array([readings[name] for _, readings, _, _ in answers]) for name in sensors},
        made=np.array([made for _, _, made, _ in answers], dtype=np.int64),
        failures={i: failure for i, (_, _, _, failure) in enumerate(answers) if failure},
    )


class _Part(tuple[Any, ...]):
    """Arguments of :func:`_run_part` that become its answers where they are unpickled."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _run_part, tuple(self)


def _send_part(executor: Executor, part: tuple[Any, ...]) -> Future[list[_Answer]]:
    """Have a process run a part; what it can't import there is the part's error.

    Executors read what they are sent beside the tasks: a module that is missing ends a pool, and Dask waits for ever.
    """
    try:
        packed = pickle.dumps(_Part(part))
    except (pickle.PicklingError, AttributeError, TypeError):  # the executor may know better
        packed = b"__main__"
    if b"__main__" in packed:  # Dask sends the functions of a script themselves
        return executor.submit(_run_part, *part)
    return executor.submit(pickle.loads, packed)


def _answers(futures: Sequence[Future[list[_Answer]]]) -> list[_Answer]:
    """Wait for the answers of all runs; after an error parts that haven't begun are let go."""
    try:
        return [answer for future in futures for answer in future.result()]
    except ImportError as error:
        raise InputError(
            f"a worker can't import what a run needs: {error}",
            element="executor",
            remedy="Install it where the workers run, send it there (Dask: client.upload_file), or write `prepare` "
            "into the script that is run",
        ) from error
    finally:
        for future in futures:
            future.cancel()


def _run_part(
    simulation: Simulation, runs: range, starts: list[SimulationState], controls: list[tuple[Any, ...]], steps: int,
    joints: NDArray[np.int64], sensors: tuple[str, ...], prepare: Prepare | None,
) -> list[_Answer]:  # fmt: skip
    """Make some of the runs, one after the other, with a copy of the simulation."""
    own = copy.copy(simulation)
    answers = []
    for run, start, driven in zip(runs, starts, controls, strict=True):
        own.restore_state(start)
        given = RollControls(*driven)
        if prepare is not None:
            prepare(own, run)
        if given.values.shape[1] > 0:
            if given.by_effort[0]:
                own.servos.effort_mode(given.v_places, given.values[0])
            else:
                own.servos.position_mode(given.v_places)
        record = RollRecord(
            np.full((steps, own.q.size), np.nan), np.full((steps, own.v.size), np.nan),
            np.zeros(steps, dtype=np.int64), joints, np.full((steps, len(joints), 6), np.nan),
        )  # fmt: skip
        readings: dict[str, Array] = {}
        if sensors or own.modules or not own.stepping.rolls:
            made, readings, failure = _step_by_step(own, given, record, sensors)
        else:
            made, reason = own.stepping.roll(own.q, own.v, own.step_count, given, record)
            failure = "" if reason is None else str(reason)
        answers.append((record, readings, made, failure))
    return answers


def _step_by_step(
    simulation: Simulation, controls: RollControls, record: RollRecord, sensors: tuple[str, ...]
) -> tuple[int, dict[str, Array], str]:
    """Make the steps of a run through the simulation's own door; steps made, readings, and why it failed."""
    steps = record.contacts.size
    readers = {name: _reader(simulation, name) for name in sensors}
    readings: dict[str, Array] = {name: np.full((steps, size), np.nan) for name, (size, _) in readers.items()}
    stepping = simulation.stepping
    for i in range(steps):
        control(stepping.stepper.arrays, controls, i)
        try:
            simulation.step()
        except SimulationError as failure:
            return i, readings, str(failure)
        record.q[i], record.v[i], record.contacts[i] = simulation.q, simulation.v, stepping.contact_count
        record.wrenches[i] = stepping.stepper.state.reactions[record.joints]
        for name, (_, read) in readers.items():
            readings[name][i] = read()
    return steps, readings, ""


def checked_states(
    simulation: Simulation, states: Sequence[SimulationState] | tuple[ArrayLike, ArrayLike]
) -> list[SimulationState]:
    """Check the initial states, and make them of arrays."""
    if len(states) > 0 and isinstance(states[0], SimulationState):
        return list(states)  # type: ignore[arg-type]
    if len(states) != 2:
        raise InputError(
            f"{len(states)} initial states", element="states", remedy="Give saved states, or arrays of q and of v"
        )
    q, v = (np.atleast_2d(np.asarray(values, dtype=float)) for values in states)
    for name, values, size in (("q", q, simulation.q.size), ("v", v, simulation.v.size)):
        if values.shape != (len(q), size) or len(q) == 0:
            raise InputError(
                f"the initial {name} has the shape {values.shape}", element="states", remedy=f"Give (runs, {size})"
            )
    present = simulation.save_state()
    return [replace(present, q=own_q, v=own_v) for own_q, own_v in zip(q, v, strict=True)]


def checked_controls(
    simulation: Simulation, controls: Controls | None, runs: int, steps: int
) -> tuple[Array, Array, NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Check controls; the fields of :class:`RollControls`, the first two of all runs where they have three axes."""
    if controls is None:
        none = np.zeros(0, dtype=np.int64)
        return np.zeros((steps, 0)), np.zeros((steps, 0)), none, none, np.zeros(1, dtype=np.bool_)
    names = list(simulation.robots)
    if controls.robot is None and len(names) != 1:
        raise InputError(
            f"the scene has {len(names)} robots", element="robot", remedy=f"Name one of {', '.join(names) or 'none'}"
        )
    q_places, v_places = simulation.robots[controls.robot or names[0]].drive_places(controls.joints)
    arrays = []
    for name, given in (("values", controls.values), ("rates", controls.rates)):
        array = np.zeros((steps, 0)) if given is None else np.ascontiguousarray(given, dtype=float)
        if given is not None and array.shape not in ((steps, len(v_places)), (runs, steps, len(v_places))):
            raise InputError(
                f"{name} of the controls have the shape {array.shape}",
                element="controls",
                remedy=f"Give ({steps}, {len(v_places)}) or ({runs}, {steps}, {len(v_places)})",
            )
        if not np.isfinite(array).all():
            raise InputError(f"{name} of the controls are not finite", element="controls", remedy="Give finite numbers")
        arrays.append(array)
    return arrays[0], arrays[1], q_places, v_places, np.array([controls.by_effort])


def _reader(simulation: Simulation, name: str) -> tuple[int, Callable[[], Array]]:
    """Length of a sensor's readings, and what reads it."""
    robot_name, _, sensor = name.partition("/")
    robot = simulation.robots[robot_name]

    def read() -> Array:
        return np.concatenate(list(robot.reading(sensor).values()))

    return read().size, read
