# SPDX-License-Identifier: Apache-2.0
"""A library that isn't installed is told by name, with what brings it; one that is broken tells so itself."""

import subprocess
import sys

import numpy as np
import pytest
from fixtures.hock_schittkowski import hs006

from humanoid_model import InputError
from humanoid_model.description import Mesh
from humanoid_model.errors import MissingLibraryError
from humanoid_model.extensions import optional_library
from humanoid_planner.optimisation.solve import solve
from humanoid_sim.detection.solids import solids_of

pytestmark = pytest.mark.feature("000-F028")

TETRAHEDRON = """solid t
facet normal 0 0 -1
outer loop
vertex 0 0 0
vertex 0 1 0
vertex 1 0 0
endloop
endfacet
endsolid t
"""


def test_what_is_installed_is_imported():
    assert optional_library("xml.etree", "planner").__name__ == "xml.etree"


def test_what_is_missing_is_named_with_the_extra_that_brings_it():
    with pytest.raises(ImportError) as caught:
        optional_library("nowhere_library.part", "simulation", element="record")
    assert str(caught.value) == (
        "record: this needs the library 'nowhere_library', which isn't installed. "
        "Install it: pip install 'humanoid_stack[simulation]', or nowhere_library alone."
    )
    assert isinstance(caught.value, InputError)  # which commands and nodes answer with one line


def test_a_library_that_lacks_another_one_says_so_itself(monkeypatch, tmp_path):
    (tmp_path / "half_there.py").write_text("import not_there_at_all\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="not_there_at_all") as caught:
        optional_library("half_there", "planner")
    assert not isinstance(caught.value, MissingLibraryError)


def test_optimal_gaits_without_casadi():
    program = "import sys; sys.modules['casadi'] = None; import humanoid_gait"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    last = run.stderr.strip().splitlines()[-1]
    assert last.startswith("humanoid_model.errors.MissingLibraryError: this needs the library 'casadi'")
    assert "pip install 'humanoid_stack[planner]'" in last


def test_ipopt_without_casadi(monkeypatch):
    program = hs006()
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(MissingLibraryError, match=r"solver: this needs the library 'casadi'.*stack\[planner\]"):
        solve(program, np.zeros(2), solver="ipopt")


def test_convex_parts_without_coacd(monkeypatch, tmp_path):
    path = tmp_path / "part.stl"
    path.write_text(TETRAHEDRON)
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.raises(MissingLibraryError, match=r"part.stl: convex_decomposition: this needs the library 'coacd'"):
        solids_of(Mesh(path, np.ones(3), collision="convex_decomposition"))
