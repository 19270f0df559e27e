# SPDX-License-Identifier: Apache-2.0
"""Many runs at once give what they give one by one; simulations are copied and sent to other processes."""

from __future__ import annotations

import copy
import importlib
import os
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fixtures.scenes import box, floor, place, scene, standing
from numpy.testing import assert_allclose, assert_array_equal

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_sim import Controls, Module, Simulation, rollout


@pytest.fixture(scope="module")
def stand() -> Simulation:
    """HRP-2 on its feet."""
    simulation = Simulation(scene(floor(), robots=(standing(load_robot("hrp2")),), friction=0.8))
    simulation.run(0.05)
    return simulation


def pushed(simulation: Simulation, run: int) -> None:
    simulation.apply_wrench("hrp2/CHEST_LINK1", [20.0 * run, 5.0, 0.0], duration=0.01)


def waves(simulation: Simulation, runs: int, steps: int) -> np.ndarray:
    """Targets of all driven joints that differ from run to run."""
    robot = simulation.robots["hrp2"]
    q = robot.joint_positions[[robot.joint_names.index(name) for name in robot.driven_joint_names]]
    return q + 1e-2 * np.sin(0.1 * np.arange(steps)[:, None] + np.arange(runs)[:, None, None])


def one_by_one(simulation: Simulation, values: np.ndarray, start: Any) -> tuple[np.ndarray, ...]:
    """Velocities, force on the right foot and its sensor, through the door that a person uses."""
    v, forces, readings = [], [], []
    for run, targets in enumerate(values):
        simulation.restore_state(start)
        pushed(simulation, run)
        for target in targets:
            simulation.robots["hrp2"].set_position_target(target)
            simulation.step()
            v.append(simulation.v.copy())
            contacts = simulation.contacts
            foot = [a == "hrp2/RLEG_LINK5" for a, _ in contacts.bodies]
            forces.append(contacts.force[foot].sum(axis=0))
            readings.append(simulation.robots["hrp2"].wrench("right_ankle"))
    return np.array(v), np.array(forces), np.array(readings)


def test_threads_give_the_same_bits_as_one_by_one(stand: Simulation) -> None:
    """States, contact forces and sensors of runs with targets and pushes of their own."""
    runs, steps, start = 3, 30, stand.save_state()
    values = waves(stand, runs, steps)
    v, forces, readings = one_by_one(copy.copy(stand), values, start)
    for sensors in ((), ("hrp2/right_ankle", "hrp2/imu")):
        found = rollout(
            stand, [start] * runs, steps, Controls(values), bodies=["hrp2/RLEG_LINK5"], sensors=sensors,
            prepare=pushed, workers=2,
        )  # fmt: skip
        assert_array_equal(found.v.reshape(v.shape), v)
        assert_allclose(found.wrenches[..., 0, :3].reshape(-1, 3), forces, atol=1e-9)
        assert np.ptp(forces[:, 0]) > 1.0
        assert not found.failures
        assert_array_equal(found.made, steps)
        if sensors:
            assert_array_equal(found.sensors["hrp2/right_ankle"].reshape(-1, 6), readings)
            assert found.sensors["hrp2/imu"].shape == (runs, steps, 10)
    assert_array_equal(stand.q, start.q)  # it stays as it is
    assert np.all(found.contacts > 0)


def test_efforts_drive_as_they_do_one_by_one(stand: Simulation) -> None:
    efforts = np.linspace(-5.0, 5.0, len(stand.robots["hrp2"].driven_joint_names)) * np.ones((5, 1))
    start = stand.save_state()
    found = rollout(stand, [start], 5, Controls(efforts, by_effort=True))
    alone = copy.copy(stand)
    alone.robots["hrp2"].set_effort(efforts[0])
    alone.run(5 * alone.dt)
    assert_array_equal(found.v[0, -1], alone.v)


def boxes() -> Simulation:
    lower, upper = box("a", (0.2, 0.2, 0.2), place(0, 0, 0.3)), box("b", (0.1, 0.1, 0.1), place(0, 0, 1))
    return Simulation(scene(floor(), lower, upper))


def test_processes_give_the_same_bits_as_threads() -> None:
    """From arrays of states; a run that fails ends alone, and says why."""
    simulation = boxes()
    simulation.run(0.05)
    q, v = np.repeat(simulation.q[None], 3, axis=0), np.repeat(simulation.v[None], 3, axis=0)
    v[1, 2], v[2, 5] = 1.0, 1e200
    threads = rollout(simulation, (q, v), 200)
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        processes = rollout(simulation, (q, v), 200, executor=pool)
    assert_array_equal(threads.q, processes.q)
    assert_array_equal(threads.contacts, processes.contacts)
    assert list(threads.failures) == list(processes.failures) == [2]
    assert threads.made[2] == 0
    assert "not" not in threads.failures[2] or "nan" in threads.failures[2]
    assert np.isnan(threads.q[2]).all()
    assert not np.isnan(threads.q[:2]).any()


def absent_module(folder: Path) -> Any:
    """Import a module that processes that run already don't find; its function prepares runs."""
    (folder / "absent_module.py").write_text("def prepare(simulation, run):\n    pass\n")
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module("absent_module")
    finally:
        sys.path.remove(str(folder))


def test_a_process_that_cannot_import_what_prepares_a_run_says_so(tmp_path: Path) -> None:
    """The pool lives on, and runs what it can import."""
    simulation = boxes()
    start = simulation.save_state()
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        pool.submit(os.getpid).result()
        absent = absent_module(tmp_path)
        with pytest.raises(InputError, match=r"a worker can't import .* No module named 'absent_module'"):
            rollout(simulation, [start], 1, prepare=absent.prepare, executor=pool)
        assert rollout(simulation, [start], 1, executor=pool).made[0] == 1


@pytest.mark.slow
def test_a_local_dask_cluster_runs_them_with_the_same_bits(stand: Simulation, tmp_path: Path) -> None:
    """Targets of each run go with it to one of two workers; what they can't import is an error, not a long wait."""
    distributed = pytest.importorskip("distributed")
    start, values = stand.save_state(), waves(stand, 8, 5)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = rollout(stand, [start] * 8, 5, Controls(values), workers=2, executor=client.get_executor())
        with pytest.raises(InputError, match="No module named 'absent_module'"):
            rollout(stand, [start] * 8, 5, prepare=absent_module(tmp_path).prepare, executor=client.get_executor())
        assert len(client.run(os.getpid)) == 2
    assert_array_equal(found.v, rollout(stand, [start] * 8, 5, Controls(values)).v)


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda own: pickle.loads(pickle.dumps(own))])
def test_a_copy_goes_on_with_the_same_bits_by_itself(how: Any) -> None:
    """While bodies fly, land and lie on each other, with a push on the way; reset leads to the same start."""
    simulation = boxes()
    simulation.run(0.15)
    simulation.apply_wrench("b", [0.0, 2.0, 0.0], point=[0.0, 0.0, 0.9], duration=0.1)
    twin = how(simulation)
    before = twin.q.copy()
    simulation.run(0.5)
    assert_array_equal(twin.q, before)
    twin.run(0.5)
    assert_array_equal(twin.q, simulation.q)
    assert_array_equal(twin.v, simulation.v)
    assert len(twin.contacts) == len(simulation.contacts) > 0
    twin.reset()
    simulation.reset()
    assert_array_equal(twin.q, simulation.q)
    assert twin.time == 0.0


def test_what_cannot_run_is_refused(stand: Simulation) -> None:
    start = stand.save_state()
    cases = [
        ({"states": [start], "steps": 0}, "steps is 0"),
        ({"states": (stand.q[:-1], stand.v), "steps": 1}, r"initial q has the shape \(1, 36\)"),
        ({"states": [start], "steps": 2, "controls": Controls(np.zeros((3, 30)))}, r"shape \(3, 30\)"),
        ({"states": [start], "steps": 1, "controls": Controls(np.full((1, 30), np.nan))}, "not finite"),
        ({"states": [start], "steps": 1, "controls": Controls([[0.0]], joints=["nose"])}, "no joint 'nose'"),
        ({"states": [start], "steps": 1, "bodies": ["nose"]}, "no body 'nose'"),
        ({"states": [start], "steps": 1, "sensors": ["hrp2/nose"]}, "no sensor 'nose'"),
    ]
    for arguments, says in cases:
        with pytest.raises(InputError, match=says):
            rollout(stand, **arguments)  # type: ignore[arg-type]


class Pusher(Module):
    """Pushes harder step by step, through what it keeps of the simulation."""

    def __init__(self) -> None:
        self.count = 0

    def attach(self, simulation: Simulation) -> None:
        self.simulation, self.robot = simulation, simulation.robots["hrp2"]

    def before_step(self, simulation: Simulation) -> None:
        self.count += 1
        assert self.robot is simulation.robots["hrp2"]
        self.simulation.apply_wrench("hrp2/CHEST_LINK1", [self.count, 0.0, 0.0], duration=simulation.dt)

    def save(self) -> object:
        return self.count

    def restore(self, state: object) -> None:
        assert isinstance(state, int)
        self.count = state


@pytest.mark.feature("000-F006")
def test_runs_take_a_controller_along(stand: Simulation) -> None:
    own = copy.copy(stand)
    own.add_module(Pusher())
    own.step(2)
    start = own.save_state()
    several = rollout(own, [start, start], 20, workers=2)
    own.step(20)
    assert np.abs(own.v).max() > 1e-3
    for q in several.q:
        np.testing.assert_array_equal(q[-1], own.q)


def test_a_state_that_is_no_number_is_not_restored(stand: Simulation) -> None:
    for name in ("q", "v"):
        state = stand.save_state()
        getattr(state, name)[3] = np.nan
        with pytest.raises(InputError, match=rf"{name}\[3\] is nan"):
            stand.restore_state(state)
