# SPDX-License-Identifier: Apache-2.0
"""The time that the contact solve of a step may take, where it suffices and where it doesn't."""

from __future__ import annotations

import math
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from fixtures.contact_problems import box_problem
from fixtures.scenes import box, floor, place, scene
from numpy.testing import assert_allclose, assert_array_equal

from humanoid_model.errors import InputError
from humanoid_model.scene import Scene
from humanoid_sim import Simulation, solve_contacts
from humanoid_sim.contact.solve import ContactStatus
from humanoid_sim.stepping import options
from humanoid_sim.stepping.options import SimulationOptions

AT_ONCE = 1e-12
"""Seconds that are over when the clock is asked for the first time, on any machine."""
NEVER = 1e-300
"""Residual that no solve reaches but that of forces without any rounding error."""


def piles(**push: np.ndarray) -> Scene:
    """A tower of three boxes and a lone one beside it, which slide."""
    tower = [box(f"box{i}", (0.2, 0.2, 0.1), place(0, 0, 0.05 + 0.1 * i), 1.0 + i, **push) for i in range(3)]
    return scene(floor(), *tower, box("lone", (0.2, 0.2, 0.1), place(1, 0, 0.05), **push))


SLIDING = {"twist": np.array([0.3, 0.1, 0.0, 0.0, 0.0, 0.4])}


@pytest.mark.feature("000-F062")
@pytest.mark.parametrize(
    "way", [{}, {"method": "nsgs"}, {"dynamics": "pinocchio"}, {"dynamics": "pinocchio", "method": "nsgs"}]
)
def test_without_time_each_group_gets_one_sweep(way: dict[str, Any]) -> None:
    """The answer is that of one iteration; it goes on and says so."""
    hurried = Simulation(piles(**SLIDING), time_budget=AT_ONCE, **way)
    reference = Simulation(piles(**SLIDING), max_iterations=1, **way)
    for _ in range(5):
        hurried.step()
        reference.step()
        assert_array_equal(hurried.q, reference.q)
        assert_array_equal(hurried.v, reference.v)
        answer, other = hurried.solver, reference.solver
        assert answer is not None
        assert other is not None
        assert answer.status is ContactStatus.TIME_LIMIT
        assert other.status is ContactStatus.NOT_CONVERGED
        assert answer.iterations == 1
        assert answer.residuals == other.residuals
        assert answer.residuals.natural_map > 1e-9


@pytest.mark.feature("000-F062")
def test_a_budget_ends_a_solve_that_would_go_on() -> None:
    """Ten million iterations for forces that rounding keeps from being found; both groups get some of the time."""
    endless = {"tolerance": NEVER, "max_iterations": 10_000_000}
    hurried = Simulation(piles(**SLIDING), time_budget=1.0, **endless)
    begin = perf_counter()
    hurried.step()
    assert perf_counter() - begin < 30.0
    groups = hurried.stepping.stepper.groups
    assert groups.counts[0] == 2
    tower, lone = groups.iterations[:2]
    assert lone > 1
    assert lone > 0.1 * tower  # a quarter of the time is its; what the tower would leave over is a hundredth
    assert np.all(groups.iterations[:2] < 10_000_000)
    assert hurried.solver is not None
    assert hurried.solver.status is ContactStatus.TIME_LIMIT
    first = Simulation(piles(**SLIDING), max_iterations=1)
    first.step()
    assert hurried.residual < 1e-3 * first.residual


@pytest.mark.feature("000-F062")
def test_a_budget_that_suffices_changes_nothing() -> None:
    budget, free = Simulation("stand", time_budget=60.0), Simulation("stand")
    for simulation in (budget, free):
        simulation.apply_wrench("hrp2/CHEST_LINK1", [40.0, 0.0, 0.0], duration=0.02)
        simulation.run(0.05)
    assert_array_equal(budget.q, free.q)
    assert budget.solver is not None
    assert budget.solver.status is ContactStatus.CONVERGED


def test_limits_and_dry_friction_keep_to_the_budget() -> None:
    """Rows of joints beside the contacts: one sweep over all of them, from the forces of the step before."""
    simulation = Simulation("stand", time_budget=AT_ONCE)
    simulation.servos.dry_friction[6:] = 2.0
    simulation.run(0.003)
    answer = simulation.solver
    assert answer is not None
    assert answer.status is ContactStatus.TIME_LIMIT
    assert answer.iterations == 1
    assert simulation.stepping.stepper.groups.counts[1] == 8 + 30
    assert np.all(np.isfinite(simulation.q))


@pytest.mark.parametrize("method", ["nsgs_newton", "nsgs", "jacobi"])
def test_one_problem_without_time_is_one_iteration(method: str) -> None:
    problem = box_problem(math.radians(25.0))
    hurried = solve_contacts(problem, method, tolerance=1e-14, time_budget=AT_ONCE)
    reference = solve_contacts(problem, method, tolerance=1e-14, max_iterations=1)
    assert hurried.status is ContactStatus.TIME_LIMIT
    assert hurried.iterations == 1
    assert_allclose(hurried.impulses, reference.impulses, atol=0.0)


def test_a_system_without_a_clock_refuses_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "seconds", lambda work: 0.0)
    with pytest.raises(InputError, match="time_budget: compiled code has no clock on this system"):
        SimulationOptions(time_budget=1e-3)
