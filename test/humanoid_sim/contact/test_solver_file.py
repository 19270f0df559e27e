# SPDX-License-Identifier: Apache-2.0
"""The start-up file that chooses the contact solver."""

import math
from pathlib import Path

import pytest
from fixtures.contact_problems import box_problem

from humanoid_model.errors import InputError
from humanoid_model.extensions import load_extensions
from humanoid_sim import solve_contacts
from humanoid_sim.contact.solve import SOLVERS
from humanoid_sim.contact.solver_file import KEYWORDS, read_solver_file

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
