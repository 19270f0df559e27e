# SPDX-License-Identifier: Apache-2.0
"""The gait thesis' experiments: every number that is judged is as it should be (specification 003 Part 4)."""

import math

import pytest

from humanoid_model.errors import InputError
from humanoid_studies.experiments.catalogue import find_experiment
from humanoid_studies.gait.experiment_result import ExperimentResult, Row, between, near, told
from humanoid_studies.gait.registry import EXPERIMENTS


@pytest.mark.feature("003-F107", "003-F108", "003-F109", "003-F110")
@pytest.mark.parametrize("name", [experiment.id for experiment in EXPERIMENTS])
def test_numbers_are_as_they_should_be(name):
    result = find_experiment(name, EXPERIMENTS).run()
    failed = [f"{row.quantity}: {row.ours} instead of {row.expected}" for row in result.rows if row.passes is False]
    assert not failed
    assert result.id == name
    sources = {row.source for row in result.rows if row.passes}
    assert sources == ({"thesis", "reference"})


def test_pictures():
    figure = find_experiment("F2", EXPERIMENTS).run().draw()
    assert len(figure.axes) == 9


def test_rows_judge():
    assert near("q", "thesis", 10.0, 12.4, relative=0.25).passes
    assert not near("q", "thesis", 10.0, 12.6, relative=0.25).passes
    assert near("q", "thesis", -10.0, -9.0, absolute=1.0).passes
    assert not near("q", "thesis", 1.0, math.nan, absolute=1.0).passes
    assert between("q", "thesis", 0.15, greatest=0.15).passes
    assert not between("q", "thesis", 0.16, greatest=0.15).passes
    assert not between("q", "thesis", math.nan, least=0.0).passes
    assert told("q", "thesis", "about 1", 5.0).passes is None
    with pytest.raises(InputError, match=r"tolerances 0\.0 and 0\.0"):
        near("q", "thesis", 1.0, 1.0)


def test_table_and_lookup():
    rows = (near("J_e", "thesis", 12.0, 11.9, "J", relative=0.25), Row("gap", "thesis", "<= 1", 2.0, "mm", False))
    result = ExperimentResult("F9", "A title", rows)
    lines = result.table().splitlines()
    assert lines[2].split("|")[3].strip() == "12 ± 25 %"
    assert lines[3].split("|")[6].strip() == "NO"
    assert len({len(line) for line in lines}) == 1
    assert not result.passes
    assert result.row("gap").ours == 2.0
    with pytest.raises(InputError, match="there is no quantity 'x'"):
        result.row("x")
