# SPDX-License-Identifier: Apache-2.0
"""What ``import humanoid_studies`` adds to the simulator and to the planner, and what it leaves for later."""

import subprocess
import sys
from pkgutil import resolve_name

import pytest

import humanoid_studies  # noqa: F401
from humanoid_planner.optimisation.solve import SOLVERS as PROGRAM_SOLVERS
from humanoid_sim.contact.solve import SOLVERS

ALONE = """
import sys
from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_planner.optimisation.solve import SOLVERS as PROGRAMS
from humanoid_sim.contact.solve import SOLVERS
assert not [name for name in sys.modules if name.startswith("humanoid_studies")]
assert sorted(SOLVERS) == ["alart_curnier_global", "interior_point", "nsgs", "nsgs_newton"], SOLVERS
try:
    Simulation("box_on_slope", method="jacobi")
except InputError as problem:
    assert "no contact solver 'jacobi'. Choose one of alart" in str(problem), problem
    assert "come with `import humanoid_studies`" in str(problem), problem
else:
    raise AssertionError("jacobi is known already")
import humanoid_studies
assert {"jacobi", "siconos", "lemke_faceted"} < set(SOLVERS)
assert list(PROGRAMS) == ["sqp", "ipopt", "feasible_sqp"]
folders = {name.split(".")[1] for name in sys.modules if name.startswith("humanoid_studies.")}
assert not folders & {"contact", "feasible_sqp"}, folders
"""


def test_the_core_does_without_them_and_they_are_imported_when_they_are_used() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_each_contact_solver_is_where_its_name_says(name: str) -> None:
    assert callable(SOLVERS[name].kernel)
    assert SOLVERS[name].law is None or callable(SOLVERS[name].law_residual)


@pytest.mark.parametrize("name", sorted(PROGRAM_SOLVERS))
def test_each_solver_of_programs_is_where_its_name_says(name: str) -> None:
    assert callable(resolve_name(PROGRAM_SOLVERS[name]))
