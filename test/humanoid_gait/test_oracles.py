# SPDX-License-Identifier: Apache-2.0
"""The planar engine's reference solutions come out as gaits of planar robots: costs, costates, Hamiltonians."""

from __future__ import annotations

import dataclasses
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from fixtures.gait_oracles import ORACLES
from fixtures.space_oracles import REFERENCES, SpaceOracle, space_oracle

from humanoid_gait import GaitResult, State, TimeCost, gait_proof

pytestmark = pytest.mark.feature("003-F093")

INTERVALS = 40
"""Of three points each: the coarsest mesh of twenties on which costates of all cases are right to 1e-4."""


@cache
def stated(case: str) -> SpaceOracle:
    """A reference problem as a gait."""
    with TemporaryDirectory() as folder:
        return space_oracle(case, Path(folder), INTERVALS)


KINKED = 3e-4
"""Spread of the Hamiltonian where bounds or penalties begin to act within an interval, which costs order."""


def compared(oracle: SpaceOracle, found: GaitResult, spread: float = 1e-6) -> None:
    """Check costs to 1e-6, costates at both ends and the Hamiltonian to 1e-4, and the proof."""
    reference = oracle.reference
    assert found.solution.converged
    assert found.cost == pytest.approx(reference["cost"], rel=1e-6)
    whole = gait_proof(found)
    proof = whole.phases[0]
    for k, end in ((0, reference["ends"][0]), (-1, reference["ends"][1])):
        q, v = np.split(np.array(end["state"]), 2)
        wanted = np.array(end["costates"])
        np.testing.assert_allclose(oracle.costates(q, v, proof.costates[k]), wanted, atol=1e-4 * np.abs(wanted).max())
    numbers = whole.numbers
    assert max(numbers[name] for name in ("maximum", "adjoint", "ends")) < 1e-7
    assert numbers["spread"] < spread
    mean = reference["hamiltonian"]
    np.testing.assert_allclose(-proof.at_nodes, mean, atol=1e-4 * max(1.0, abs(mean)))


@pytest.mark.parametrize("case", ["5bar_A", "rabbit_dsp", "bip_dsp_cyclic"])
def test_reference_solutions(case: str) -> None:
    found = stated(case).solve()
    compared(stated(case), found, KINKED if case.startswith("bip") else 1e-6)
    assert found.cost == pytest.approx(ORACLES[case]["J_pmp"], rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    ["5bar_B", "5bar_C", "rabbit_ssp_5torques", "bip_dsp_brake", "bip_ssp_cyclic", "bip_ssp_start", "bip_ssp_stop"],
)
def test_more_reference_solutions(case: str) -> None:
    test_reference_solutions(case)


def varied(oracle: SpaceOracle, case: str = "", **changes: object) -> SpaceOracle:
    """Return the problem with changes, and what is known of it so."""
    reference = REFERENCES.get(case, oracle.reference)
    problem = dataclasses.replace(oracle.problem, **changes)  # type: ignore[arg-type]
    return dataclasses.replace(oracle, reference=reference, problem=problem)


def test_torques_stay_in_their_limits() -> None:
    """A-sat of section 4.6b."""
    oracle = stated("5bar_A")
    robot = oracle.problem.robot
    limits = dataclasses.replace(robot.limits, effort=np.full(robot.model.nv, 15.0))
    oracle = varied(oracle, "5bar_A, 15 N m", robot=dataclasses.replace(robot, limits=limits))
    found = oracle.solve()
    assert found.solution.converged
    assert found.cost == pytest.approx(oracle.reference["cost"], rel=1e-6)
    assert found.cost == pytest.approx(0.014726, rel=1e-4)
    torques = np.abs(found.motion.tau[1:-1]).max(axis=0)  # both ends are carried on from the points beside them
    np.testing.assert_allclose(torques[[0, 1, 4]], 15.0, rtol=1e-3)
    assert torques.max() < 15.0 * (1.0 + 1e-5)


def test_a_free_final_velocity_has_no_costate() -> None:
    """A-free of section 4.6b."""
    oracle = stated("5bar_A")
    end = oracle.problem.end
    assert isinstance(end, State)
    names = oracle.problem.robot.joint_names
    oracle = varied(oracle, "5bar_A, free end", end=dataclasses.replace(end, free_v=names))
    found = oracle.solve()
    compared(oracle, found)
    assert found.cost == pytest.approx(0.0053201, rel=1e-5)
    proof = gait_proof(found).phases[0]
    n = len(names)
    np.testing.assert_allclose(proof.costates[-1, n:], 0.0, atol=1e-8 * np.abs(proof.costates).max())
    wanted = oracle.state(*np.split(np.array(oracle.reference["ends"][1]["state"]), 2))
    np.testing.assert_allclose(found.motion.v[-1], wanted[1], atol=1e-4)


@pytest.mark.parametrize("friction", [0.30, 0.15])
def test_the_front_tip_holds_in_its_cone(friction: float) -> None:
    """R1-fric of section 4.6b."""
    oracle = stated("rabbit_dsp")
    phase = oracle.problem.phases[0]
    cut = phase.cuts[0]
    pressing = dataclasses.replace(cut, friction=friction, contact=dataclasses.replace(cut.contact, bilateral=False))
    phase = dataclasses.replace(phase, cuts=(pressing,))
    oracle = varied(oracle, f"rabbit_dsp, friction {friction}", phases=[phase])
    compared(oracle, oracle.solve(), KINKED)


@pytest.mark.slow
def test_heel_and_toe_press_in_their_cones() -> None:
    """B3 with 6 N or more at heel and toe of the foot that stands, friction 0.3 (sections 4.5 and 4.6b)."""
    oracle = stated("bip_ssp_cyclic")
    phase = oracle.problem.phases[0]
    contact = dataclasses.replace(phase.holds[0].contact, bilateral=False)
    pressing = dataclasses.replace(phase.holds[0], contact=contact, friction=0.3, least=6.0)
    phase = dataclasses.replace(phase, holds=(pressing,))
    found = varied(oracle, phases=[phase]).solve()
    assert found.solution.converged
    assert found.cost == pytest.approx(0.792615, rel=2e-6)
    numbers = gait_proof(found).numbers
    assert max(numbers[name] for name in ("maximum", "adjoint", "ends")) < 1e-7
    assert numbers["spread"] < 1e-4


def test_free_durations_end_where_the_hamiltonian_is_zero() -> None:
    """RABBIT's double support with a price of time; the same with given durations beside costs more."""
    oracle = stated("rabbit_dsp")
    problem = dataclasses.replace(oracle.problem, costs=(*oracle.problem.costs, TimeCost(0.2)))
    phase = problem.phases[0]
    best = dataclasses.replace(
        oracle, problem=dataclasses.replace(problem, phases=[dataclasses.replace(phase, duration=(0.05, 0.3))])
    ).solve()
    assert best.solution.converged
    proof = gait_proof(best)
    assert proof.numbers["duration"] < 1e-7
    np.testing.assert_allclose(proof.phases[0].at_nodes, 0.0, atol=1e-6)
    for share in (0.95, 1.05):
        given = dataclasses.replace(phase, duration=share * best.durations[0])
        other = dataclasses.replace(oracle, problem=dataclasses.replace(problem, phases=[given])).solve()
        assert other.cost > best.cost
