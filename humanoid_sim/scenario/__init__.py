# SPDX-License-Identifier: Apache-2.0
"""Simulations written by a user in a file of their own: ``python -m humanoid_sim run my_scenario.py``."""

from humanoid_sim.scenario.load import load_scenario
from humanoid_sim.scenario.run import ScenarioError, ScenarioRun, make_simulation, run_scenario
from humanoid_sim.scenario.scenario import Scenario
from humanoid_sim.scenario.selection import collide_only, simulate_only

__all__ = [
    "Scenario",
    "ScenarioError",
    "ScenarioRun",
    "collide_only",
    "load_scenario",
    "make_simulation",
    "run_scenario",
    "simulate_only",
]
