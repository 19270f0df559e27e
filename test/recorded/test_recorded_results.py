# SPDX-License-Identifier: Apache-2.0
"""The public calls behind each area give what they gave when it was recorded, as far as the mathematics settles it."""

from __future__ import annotations

import json

import pytest
from recorded.areas import AREAS, Quantity
from recorded.record import FOLDER, differences


@pytest.mark.parametrize("area", AREAS)
@pytest.mark.filterwarnings("ignore")
def test_results_are_those_that_were_recorded(area):
    if area == "messages":
        pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    recorded = json.loads((FOLDER / f"{area}.json").read_text())
    found = AREAS[area]()
    assert found.keys() == recorded.keys()
    wrong = {name: differences(quantity, recorded[name]) for name, quantity in found.items()}
    assert not {name: what for name, what in wrong.items() if what}, f"{area}: see test/recorded/record.py"


def test_every_area_is_recorded_in_a_small_file():
    assert {path.stem for path in FOLDER.glob("*.json")} == AREAS.keys()
    assert all(path.stat().st_size < 20_000 for path in FOLDER.glob("*.json"))


def test_a_difference_is_told_where_it_is_largest():
    recorded = [[0.0, 1.0], [2.0, 3.0]]
    assert differences(Quantity([[0.0, 1.0], [2.0, 3.0 + 1e-7]], 1e-6), recorded) == ""
    told = differences(Quantity([[0.0, 1.0], [2.5, 4.0]], 1e-6), recorded)
    assert told == "4 in place of 3 at [1, 1], 1 apart of 1e-06"
    assert "nan" in differences(Quantity([[0.0, 1.0], [2.0, float("nan")]], 1e-6), recorded)
    assert "shape" in differences(Quantity([0.0], 1e-6), recorded)
    assert differences(Quantity(["a", 1]), ["a", 1]) == ""
    assert "in place of" in differences(Quantity(["a", 1]), ["a", 2])
