# SPDX-License-Identifier: Apache-2.0
"""Options that can't be used are refused with what there is; how a contact solve ended is told and changes nothing."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fixtures.contact_problems import box_problem
from fixtures.scenes import ball, floor, place, scene
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_model.extensions import load_extensions
from humanoid_sim import Simulation, solve_contacts
from humanoid_sim.contact.solve import SOLVERS, ContactStatus
from humanoid_sim.stepping.interface import StepSetup
from humanoid_sim.stepping.make_stepping import StagedStepping
from humanoid_sim.stepping.options import _SCHEMES, KEYWORDS, SimulationOptions, read_solver_file, register_scheme
from humanoid_studies.integration.catalogue import find_integrator
from humanoid_studies.registration import INTEGRATORS


@pytest.mark.feature("000-F002")
@pytest.mark.parametrize(
    ("options", "problem", "known"),
    [
        ({"method": "hope"}, "method: there is no contact solver 'hope'", sorted(SOLVERS)),
        ({"dynamics": "newton"}, "dynamics: is 'newton'. Give one of", ["articulated_body", "pinocchio"]),
        ({"delassus": "fast"}, "delassus: is 'fast'. Give one of", ["auto", "chang_khatib"]),
        ({"integrator": "magic"}, "integrator: there is no integrator 'magic'", sorted(INTEGRATORS)),
        ({"impacts": "never"}, "impacts: is 'never'. Give one of", ["with_contacts", "separate"]),
        ({"detection": "opcode"}, "detection: is 'opcode'. Give one of", ["compiled", "coal"]),
        ({"foo": 1}, "foo: there is no option 'foo'", ["method", "detection"]),
        ({"dt": "1 ms"}, "dt is '1 ms'", ["positive time step in seconds"]),
        ({"method": ["nsgs"]}, "there is no contact solver", sorted(SOLVERS)),
        ({"dynamics": 3}, "dynamics: is 3", ["articulated_body"]),
        ({"tolerance": "small"}, "tolerance: is 'small'", ["above 0, at most 1"]),
        ({"max_iterations": "many"}, "max_iterations: is 'many'", ["whole number"]),
        ({"max_iterations": np.inf}, "max_iterations: is inf", ["whole number"]),
        ({"time_budget": "1 ms"}, "time_budget: is '1 ms'", ["above 0, at most 3600 [s]"]),
        ({"impact_speed": "fast"}, "impact_speed: is 'fast'", ["above 0, at most 100 [m/s]"]),
        ({"impact_speed": np.nan}, "impact_speed: is nan", ["above 0"]),
        ({"tolerance": 0.0}, "tolerance: is 0", ["above 0"]),
        ({"tolerance": np.nan}, "tolerance: is nan", ["above 0"]),
        ({"tolerance": np.inf}, "tolerance: is inf", ["at most 1"]),
        ({"max_iterations": 0}, "max_iterations: is 0", ["1 or more"]),
        ({"max_iterations": 2.5}, "max_iterations: is 2.5", ["whole number"]),
        ({"time_budget": -1.0}, "time_budget: is -1", ["above 0"]),
        ({"time_budget": np.nan}, "time_budget: is nan", ["above 0"]),
        ({"time_budget": 1e-3, "method": "lemke_faceted"}, "'lemke_faceted' can't be stopped", ["nsgs", "jacobi"]),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], problem: str, known: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        Simulation("stand", **options)
    assert problem in str(caught.value)
    for name in known:
        assert name in str(caught.value)


def test_options_are_told_in_words_and_numbers() -> None:
    told = SimulationOptions(integrator=find_integrator("rk4")).as_text()
    assert told["integrator"] == "RungeKutta4"
    assert (told["method"], told["time_budget"], told["tolerance"]) == ("nsgs_newton", None, 1e-9)


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"method": "nsgs"}, ContactStatus.CONVERGED),
        ({"method": "qp_frictionless"}, ContactStatus.APPROXIMATE),
        ({"method": "lemke_circumscribed"}, ContactStatus.APPROXIMATE),
        ({"method": "nsgs", "tolerance": 1e-300, "max_iterations": 1}, ContactStatus.NOT_CONVERGED),
        ({"method": "jacobi", "tolerance": 1e-300, "time_budget": 1e-9}, ContactStatus.TIME_LIMIT),
    ],
)
def test_the_status_tells_how_a_solve_ended(options: dict[str, Any], status: ContactStatus) -> None:
    simulation = Simulation("box_on_slope", **options)
    simulation.run(0.02)
    assert simulation.solver is not None
    assert simulation.solver.status is status
    assert (simulation.residual <= simulation.options.tolerance) == (status is ContactStatus.CONVERGED)
    assert simulation.residual == simulation.solver.residuals.natural_map
    assert np.all(np.isfinite(simulation.q))


@pytest.mark.parametrize("method", ["qp_frictionless", "staggered_projections", "nsgs_newton"])
def test_looking_at_the_status_changes_nothing(method: str) -> None:
    looked, blind = Simulation("box_on_slope", method=method), Simulation("box_on_slope", method=method)
    looked.run(0.05, lambda simulation: simulation.solver)
    blind.run(0.05)
    np.testing.assert_array_equal(looked.q, blind.q)
    np.testing.assert_array_equal(looked.v, blind.v)


class InStages:
    """The own step, made stage by stage."""

    solves_contacts = True

    def make_stepping(self, setup: StepSetup) -> StagedStepping:
        """Make it."""
        return StagedStepping(setup)


def test_a_scheme_of_ones_own_makes_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its name and ready made, with the end of the compiled step to what the tolerance of a body at rest lets by."""
    world = scene(floor(), ball("ball", 0.1, place(0, 0, 0.11)))
    own = Simulation(world)
    own.run(0.2)
    assert own.contacts.normal_force.sum() > 0.0
    monkeypatch.setitem(_SCHEMES, "in_stages", InStages)
    for integrator in ("in_stages", InStages()):
        simulation = Simulation(world, integrator=integrator)
        assert type(simulation.stepping) is StagedStepping
        simulation.run(0.2)
        assert_allclose(simulation.q, own.q, rtol=0.0, atol=1e-11)
        assert_allclose(simulation.v, own.v, rtol=0.0, atol=1e-10)


def test_an_unknown_name_says_which_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_SCHEMES, "in_stages", InStages)
    with pytest.raises(InputError, match=r"no integrator 'magic'.*in_stages") as caught:
        Simulation("stand", integrator="magic")
    assert caught.value.element == "integrator"


def test_a_name_is_given_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_SCHEMES, "in_stages", InStages)
    with pytest.raises(InputError, match="there is an integrator 'in_stages' already"):
        register_scheme("in_stages", InStages)


PAIRS = [(family, method) for family, methods in KEYWORDS.items() for method in methods]


@pytest.mark.feature("000-F025")
@pytest.mark.parametrize(("family", "method"), PAIRS)
def test_every_pair_of_the_table_gives_the_same_net_force(tmp_path: Path, family: str, method: str) -> None:
    """F025 and E22 on a box that stands on a slope."""
    path = tmp_path / "solver.txt"
    path.write_text(f"# as in the thesis\n{family} {method}\n")
    name = read_solver_file(path)
    load_extensions("contact_solvers")
    assert name in SOLVERS
    result = solve_contacts(box_problem(math.radians(5.0)), name, tolerance=1e-9, max_iterations=20_000)
    assert result.converged
    expected = [9.8 * math.cos(math.radians(5.0)), -9.8 * math.sin(math.radians(5.0)), 0.0]
    assert result.impulses.sum(axis=0) == pytest.approx(expected, abs=1e-6)


@pytest.mark.feature("000-F025")
def test_the_names_of_the_thesis() -> None:
    assert len(PAIRS) == 8
    assert KEYWORDS["NSGS"]["AMELIFGSNEWTON"] == "nsgs"
    assert KEYWORDS["NSGS"]["AMELIFGS"] == "gauss_seidel_projected"
    assert KEYWORDS["NSGS"]["PROJECTION"] == "projection"
    assert KEYWORDS["NSGS"]["FIXEDPOINT"] == "fixed_point"
    assert KEYWORDS["LCP"]["AMELIFLCP"] == "lemke_faceted"


def test_keywords_on_two_lines(tmp_path: Path) -> None:
    path = tmp_path / "solver.txt"
    path.write_text("\n  LCP   # faceted\n\nQP\n")
    assert read_solver_file(path) == "staggered_projections"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "there is no keyword.*NSGS or LCP"),
        ("# nothing\n", "there is no keyword"),
        ("\nGS AMELIFGS\n", r"solver.txt:2: family: the family is 'GS'. Give NSGS or LCP"),
        ("NSGS\n", r"solver.txt:1: method: family NSGS without a method.*AMELIFGSNEWTON"),
        ("NSGS\nNEWTON\n", r"solver.txt:2: method: the method 'NEWTON' is not one of family NSGS.*PROJECTION"),
        ("LCP PROJECTION\n", r"solver.txt:1: method: .*'PROJECTION' is not one of family LCP but of NSGS"),
        ("nsgs AMELIFGS\n", "the family is 'nsgs'"),
        ("NSGS AC 3\n", r"solver.txt:1: '3' follows the method"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "solver.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=says):
        read_solver_file(path)


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent.txt: can't be read"):
        read_solver_file(tmp_path / "absent.txt")
    binary = tmp_path / "binary.txt"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="can't be read"):
        read_solver_file(binary)
