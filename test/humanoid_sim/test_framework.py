# SPDX-License-Identifier: Apache-2.0
"""The framework's promises: packages that stand alone, runs that repeat, a profile that adds up."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time

import numpy as np
import pytest

from humanoid_sim import Simulation
from humanoid_sim.module import Module
from humanoid_sim.stepping.profile import STAGES, Profile

WITHOUT = """
import sys

ABSENT = ("interaction", "recording", "scenario", "flexibility", "control")

class Absent:
    def find_spec(self, name, path=None, target=None):
        parts = name.split(".")
        if parts[0] == "humanoid_sim" and len(parts) > 1 and parts[1] in ABSENT:
            raise ModuleNotFoundError(f"{name} is absent", name=name)
        if parts[0] in ("rclpy", "rosbags", "mcap", "matplotlib", "casadi", "daqp"):
            raise ModuleNotFoundError(f"{name} is absent", name=name)

sys.meta_path.insert(0, Absent())
from humanoid_sim import Simulation
simulation = Simulation("stand")
simulation.run(0.02)
print(round(simulation.contacts.force[:, 2].sum()))
try:
    import humanoid_sim.recording
except ModuleNotFoundError:
    print("absent")
"""


def digest(simulation: Simulation) -> str:
    """Of everything that a thousand steps gave."""
    found = hashlib.sha256()

    def add(simulation: Simulation) -> None:
        for array in (simulation.q, simulation.v, simulation.contacts.force, simulation.efforts):
            found.update(np.ascontiguousarray(array).tobytes())

    simulation.run(1000 * simulation.dt, add)
    return found.hexdigest()


@pytest.mark.feature("000-F002", "000-F021")
@pytest.mark.parametrize("scene", ["stand", "box_on_slope"])
def test_a_thousand_steps_give_the_same_twice(scene: str) -> None:
    """F002: every bit of state, forces and efforts of all steps, in two simulations and after a reset."""
    first, second = Simulation(scene), Simulation(scene)
    expected = digest(first)
    assert digest(second) == expected
    first.reset()
    assert digest(first) == expected


@pytest.mark.feature("000-F003")
def test_the_core_runs_where_all_other_packages_are_absent() -> None:
    """F003: no interaction, recorder, scenario, control, flexibility; no ROS, no plots, no solvers of others."""
    run = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    force, absent = run.stdout.split()
    assert 400 < int(force) < 700
    assert absent == "absent"


@pytest.mark.feature("000-F027")
def test_shares_of_the_profile_sum_to_one() -> None:
    """F027: the table's shares are those of the stages' times, and 100 % together."""
    simulation = Simulation("box_on_slope")
    simulation.run(0.05)
    profile = simulation.profile
    assert sum(profile.shares.values()) == pytest.approx(1.0, abs=1e-12)
    assert set(profile.shares) == set(STAGES)
    lines = profile.table(simulation.dt).splitlines()
    shares = [float(line.split()[-1].rstrip("%")) for line in lines[1:-2]]
    assert sum(shares) == pytest.approx(100.0, abs=0.05 * len(shares))
    assert lines[-2].split()[-1] == "100.0%"
    assert "50 steps" in lines[-1]


@pytest.mark.feature("000-F027")
def test_what_a_module_takes_is_the_modules_share() -> None:
    """F027: five steps of at least 4 ms each before and after."""

    class Sleeper(Module):
        name = "sleeper"

        def before_step(self, simulation: Simulation) -> None:
            time.sleep(2e-3)

        def after_step(self, simulation: Simulation) -> None:
            time.sleep(2e-3)

    simulation = Simulation("box_on_slope")
    simulation.add_module(Sleeper())
    simulation.run(5 * simulation.dt)
    assert simulation.profile.sums["modules"] >= 20e-3
    assert simulation.profile.last["modules"] >= 4e-3


@pytest.mark.feature("000-F026")
def test_real_time_factor_is_step_over_mean_time() -> None:
    """F026, on times that are given."""
    profile = Profile()
    assert profile.shares == dict.fromkeys(STAGES, 0.0)
    profile.steps = 4
    profile.all_seconds[STAGES.index("dynamics")], profile.all_seconds[STAGES.index("contacts")] = 0.001, 0.003
    profile.longest_seconds[0] = 0.002
    assert profile.real_time_factor(0.005) == pytest.approx(5.0)
    assert profile.shares["contacts"] == pytest.approx(0.75)
    assert "longest step 2000.0 µs of 5000, 4 steps, 5 x real time" in profile.table(0.005)
