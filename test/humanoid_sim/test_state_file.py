# SPDX-License-Identifier: Apache-2.0
"""A state goes through a file to another process, which continues bit for bit; bad files are refused."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import ball, box, floor, place, scene

from humanoid_model.errors import InputError
from humanoid_model.loop_closure import LoopClosure
from humanoid_sim import Module, Simulation
from humanoid_sim.state_file import read_state, scene_fingerprint, write_state

CONTINUE = """
import sys, hashlib
from humanoid_sim import Simulation
from humanoid_sim.state_file import read_state
simulation = Simulation("lean")
read_state(simulation, sys.argv[1])
simulation.run(0.1)
digest = hashlib.sha256(simulation.q.tobytes() + simulation.v.tobytes())
digest.update(simulation.contacts.force.tobytes())
print(simulation.step_count, digest.hexdigest())
"""


@dataclass
class Mood:
    """State of a module that is a dataclass with an array and a generator in it."""

    wind: np.ndarray
    random: np.random.Generator
    words: dict[str, tuple[int, ...]] = field(default_factory=dict)


class Wind(Module):
    name = "wind"

    def __init__(self) -> None:
        self.mood = Mood(np.zeros(3), np.random.default_rng(5), {"gusts": (1, 2)})

    def before_step(self, simulation: Simulation) -> None:
        self.mood.wind += self.mood.random.normal(size=3)
        simulation.apply_wrench("ball", self.mood.wind, duration=simulation.dt)

    def save(self) -> object:
        import copy

        return copy.deepcopy(self.mood)

    def restore(self, state: object) -> None:
        import copy

        assert isinstance(state, Mood)
        self.mood = copy.deepcopy(state)


def bouncing(dt: float | None = None, friction: float = 0.4, **options: Any) -> Simulation:
    return Simulation(scene(floor(), ball("ball", 0.1, place(0, 0, 0.12)), friction=friction), dt, **options)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("state") / "state.npz"
    simulation = bouncing()
    simulation.run(0.05)
    write_state(simulation, path)
    return path


def test_another_process_continues_bit_for_bit(tmp_path: Path) -> None:
    import hashlib

    simulation = Simulation("lean")
    robot = next(iter(simulation.robots))
    simulation.run(0.05)
    link = simulation.robots[robot].robot.description.root
    simulation.apply_wrench(f"{robot}/{link}", [20.0, 5.0, 0.0], duration=0.08)
    simulation.run(0.02)
    write_state(simulation, tmp_path / "state.npz")
    simulation.run(0.1)
    digest = hashlib.sha256(simulation.q.tobytes() + simulation.v.tobytes())
    digest.update(simulation.contacts.force.tobytes())
    other = subprocess.run(
        [sys.executable, "-c", CONTINUE, str(tmp_path / "state.npz")], capture_output=True, text=True, check=False
    )
    assert other.returncode == 0, other.stderr[-2000:]
    assert other.stdout.split() == ["170", digest.hexdigest()]


def test_modules_go_on_where_they_were(tmp_path: Path) -> None:
    simulation = bouncing()
    simulation.add_module(Wind())
    simulation.run(0.02)
    write_state(simulation, tmp_path / "state.npz")
    simulation.run(0.03)
    other = bouncing()
    other.add_module(Wind())
    read_state(other, tmp_path / "state.npz")
    other.run(0.03)
    np.testing.assert_array_equal(other.q, simulation.q)
    assert other.modules["wind"].mood.words == {"gusts": (1, 2)}  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="modules: the state has the modules wind"):
        read_state(bouncing(), tmp_path / "state.npz")


def test_states_that_cannot_be_written_say_what_is_in_them(tmp_path: Path) -> None:
    class Holds(Wind):
        def save(self) -> object:
            return {"file": sys.stdout}

    simulation = bouncing()
    simulation.add_module(Holds())
    with pytest.raises(InputError, match=r"state.modules\['wind'\]\['file'\]: a .* can't be written"):
        write_state(simulation, tmp_path / "state.npz")
    assert list(tmp_path.iterdir()) == []


def test_another_scene_step_or_option_is_refused(saved: Path) -> None:
    with pytest.raises(InputError, match="with other bodies, shapes or rules"):
        read_state(bouncing(friction=0.5), saved)
    with pytest.raises(InputError, match="with other bodies"):
        read_state(Simulation(scene(floor(), box("ball", (0.2, 0.2, 0.2), place(0, 0, 0.12)))), saved)
    with pytest.raises(InputError, match=r"dt: .*with dt = 0.001 s"):
        read_state(bouncing(dt=0.002), saved)
    for name, value, own in (
        ("method", "nsgs", "nsgs_newton"),
        ("delassus", "unit_forces", "auto"),
        ("detection", "coal", "compiled"),
        ("tolerance", 1e-8, "1e-09"),
        ("max_iterations", 50, "1000"),
    ):
        simulation = bouncing(**{name: value})
        with pytest.raises(InputError, match=f"{name}: the state was reached with {name} = {own}. The sim.* {value};"):
            read_state(simulation, saved)
        assert simulation.step_count == 0


def test_another_loop_is_another_scene() -> None:
    plain = Simulation("stand")
    hands = [plain.placement(f"hrp2/{side}ARM_LINK6") for side in "RL"]
    loop = LoopClosure("hands", "RARM_LINK6", hands[0].actInv(hands[1]), "LARM_LINK6", pin.SE3.Identity())
    placed = plain.scene.robots[0]
    robot = dataclasses.replace(placed.robot, loops=(loop,))
    held = Simulation(dataclasses.replace(plain.scene, robots=(dataclasses.replace(placed, robot=robot),)))
    assert scene_fingerprint(held) != scene_fingerprint(plain)


def test_old_truncated_and_foreign_files_are_refused(saved: Path, tmp_path: Path) -> None:
    simulation = bouncing()
    content = saved.read_bytes()
    for cut in (10, len(content) // 2, len(content) - 5):
        (tmp_path / "cut.npz").write_bytes(content[:cut])
        with pytest.raises(InputError, match=r"cut.npz: state: the file is damaged"):
            read_state(simulation, tmp_path / "cut.npz")
    with np.load(saved) as archive:
        arrays = dict(archive)
    header = json.loads(arrays["header"].tobytes())
    header["version"] = 0
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(tmp_path / "old.npz", **arrays)
    with pytest.raises(InputError, match=r"the file has version 0. This program reads version 6"):
        read_state(simulation, tmp_path / "old.npz")
    np.savez(tmp_path / "foreign.npz", a=np.zeros(3))
    with pytest.raises(InputError, match="no state of a simulation"):
        read_state(simulation, tmp_path / "foreign.npz")
    with pytest.raises(InputError, match="no such file"):
        read_state(simulation, tmp_path / "nowhere.npz")
    with pytest.raises(InputError, match="can't be written"):
        write_state(simulation, tmp_path / "nowhere" / "state.npz")
    assert simulation.step_count == 0


def test_fingerprint_is_of_mechanics_not_of_looks() -> None:
    plain = bouncing().scene
    painted = dataclasses.replace(
        plain,
        name="painted",
        bodies=tuple(
            dataclasses.replace(
                body, geometries=tuple(dataclasses.replace(g, colour=np.zeros(4)) for g in body.geometries)
            )
            for body in plain.bodies
        ),
    )
    heavier = dataclasses.replace(
        plain, bodies=(plain.bodies[0], dataclasses.replace(plain.bodies[1], mass=1.0 + 1e-12))
    )
    prints = [scene_fingerprint(Simulation(s)) for s in (plain, painted, heavier)]
    assert prints[0] == prints[1] != prints[2]
