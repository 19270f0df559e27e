# SPDX-License-Identifier: Apache-2.0
"""What the studies add to simulator, planner and model generator, and what they leave for later."""

import os
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name

import pytest

from humanoid_planner.optimisation.solve import SOLVERS as PROGRAM_SOLVERS
from humanoid_planner.optimisation.solve import solver_names as program_solvers
from humanoid_sim.contact.solve import SOLVERS, solver_names

PROGRAM = """
import sys
from humanoid_codegen.generate import language_names
from humanoid_model.errors import InputError
from humanoid_planner.optimisation.solve import solver_names as program_solvers
from humanoid_sim import Simulation
from humanoid_sim.contact.solve import SOLVERS, solver_names
from humanoid_sim.stepping.options import scheme_names
assert sorted(SOLVERS) == ["alart_curnier_global", "interior_point", "nsgs", "nsgs_newton"], SOLVERS
Simulation("box_on_slope").run(0.01)
assert not [name for name in sys.modules if name.startswith("humanoid_studies")]
"""
WITH = """
Simulation("box_on_slope", method="jacobi")
assert {"jacobi", "siconos", "lemke_faceted"} < set(solver_names())
assert program_solvers() == ("sqp", "ipopt", "feasible_sqp")
assert "moreau" in scheme_names()
assert "script" in language_names()
folders = {name.split(".")[1] for name in sys.modules if name.startswith("humanoid_studies.")}
assert folders == {"registration", "contact"}, folders
"""
WITHOUT = """
try:
    Simulation("box_on_slope", method="jacobi")
except InputError as problem:
    assert "no contact solver 'jacobi'. Choose one of alart" in str(problem), problem
    assert "`pip install ./studies` adds" in str(problem), problem
else:
    raise AssertionError("jacobi is known")
assert program_solvers() == ("sqp", "ipopt")
assert scheme_names() == []
assert "script" not in language_names()
"""


@pytest.mark.parametrize("there", [True, False])
def test_the_product_finds_them_by_their_names_and_does_without_them(there: bool) -> None:
    """Those that aren't used aren't imported."""
    places = [place for place in os.environ["PYTHONPATH"].split(os.pathsep) if there or Path(place).name != "studies"]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + (WITH if there else WITHOUT)], capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", solver_names())
def test_each_contact_solver_is_where_its_name_says(name: str) -> None:
    assert callable(SOLVERS[name].kernel)
    assert SOLVERS[name].law is None or callable(SOLVERS[name].law_residual)


@pytest.mark.parametrize("name", program_solvers())
def test_each_solver_of_programs_is_where_its_name_says(name: str) -> None:
    assert callable(resolve_name(PROGRAM_SOLVERS[name]))
