# SPDX-License-Identifier: Apache-2.0
"""Options that can't be used are refused with what there is; how a contact solve ended is told and changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_sim.contact.problem import ContactStatus
from humanoid_sim.contact.solve import SOLVERS
from humanoid_sim.options import SimulationOptions
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
