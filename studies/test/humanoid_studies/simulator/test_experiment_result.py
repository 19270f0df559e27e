# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve


def result(*rows: Row, panels: int = 0) -> ExperimentResult:
    panel = Panel("x [m]", "y [m]", (curve([0.0, 1.0], [1.0, 2.0], "ours"),), y_log=True)
    return ExperimentResult("E1", "something", rows, (panel,) * panels)


def test_what_is_judged_decides_but_computing_times_do_not() -> None:
    right, wrong = Row("a", "1", 1.0, "N", True), Row("b", "2", 3.0, "N", False)
    slow, unjudged = Row("c", "", 4.0, "s", False, wall_clock=True), Row("d", "", 5.0)
    assert result(right, slow, unjudged).passes
    assert not result(right, wrong).passes
    assert result().passes


def test_the_table_says_it_all() -> None:
    text = result(Row("slide", "0.127551", 0.1276, "m", True), Row("time", "", 2.0, "ms", False, True)).table()
    head, rule, first, second = text.splitlines()
    assert [cell.strip() for cell in head.split("|")[1:-1]] == ["quantity", "thesis", "here", "unit", "passes"]
    assert set(rule) == {"|", "-"}
    assert [cell.strip() for cell in first.split("|")[1:-1]] == ["slide", "0.127551", "0.1276", "m", "yes"]
    assert [cell.strip() for cell in second.split("|")[1:-1]] == ["time", "", "2", "ms", "NO (time)"]
    assert len(first) == len(second) == len(head) == len(rule)


def test_rows_are_found_by_their_quantity() -> None:
    assert result(Row("a", "", 1.0)).row("a").ours == 1.0
    with pytest.raises(InputError, match=r"there is no quantity 'b'.*There are a"):
        result(Row("a", "", 1.0)).row("b")


@pytest.mark.parametrize("panels", [1, 2, 3, 4, 5])
def test_the_picture_has_all_panels(panels: int, tmp_path: Path) -> None:
    figure = result(panels=panels).figure()
    assert sum(bool(axes.lines) for axes in figure.axes) == panels
    assert figure.axes[0].get_yscale() == "log"
    result(panels=panels).write_picture(tmp_path / "e.png")
    assert (tmp_path / "e.png").stat().st_size > 1000


def test_what_can_not_be_drawn_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no curves"):
        result().figure()
    with pytest.raises(InputError, match="can't be written"):
        result(panels=1).write_picture(tmp_path / "missing" / "e.png")
    for x, y in (([0.0], [1.0, 2.0]), ([], [])):
        with pytest.raises(InputError, match="'ours'"):
            curve(x, np.array(y), "ours")
