# SPDX-License-Identifier: Apache-2.0
"""Families of cycles: members are optimal, what lies between is near them, and what isn't there says why."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from humanoid_gait import GaitSolver, WalkRequest
from humanoid_gait.family import GaitFamily, gait_family, member_problem
from humanoid_model import InputError, Robot, load_robot
from humanoid_model.progress import Progress

pytestmark = pytest.mark.feature("003-F031")
REQUEST = WalkRequest(0.3, single=0.5, double=0.1, intervals=(3, 8))
LENGTHS, SINGLES = [0.22, 0.26, 0.3], [0.5, 0.6]
TOLERANCE = 3e-6
"""Of costs of about 0.03: each of some hundred bounds pushes with the solver's tolerance of 1e-7."""


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("bip_planar", geometry=False)


@pytest.fixture(scope="module")
def family(robot: Robot) -> GaitFamily:
    return gait_family(robot, REQUEST, {"length": LENGTHS, "single": SINGLES})


def test_members_are_those_that_are_solved_alone(robot: Robot, family: GaitFamily) -> None:
    assert not family.reasons
    for i, length in enumerate(LENGTHS):
        for j, single in enumerate(SINGLES):
            alone = GaitSolver(replace(REQUEST, length=length, single=single).problem(robot)).solve()
            assert family.cost[i, j] == pytest.approx(alone.cost, abs=TOLERANCE)
            own = family.at(length=length, single=single)
            assert own.cost == family.cost[i, j]
            np.testing.assert_array_equal(own.unknowns, family.unknowns[i, j])
            np.testing.assert_allclose(own.durations, [0.1, single])


def test_slopes_are_those_of_the_optimal_cost(robot: Robot, family: GaitFamily) -> None:
    """F031: from one solution's multipliers, against solutions beside it."""
    for axis, change in {"length": 0.01, "clearance": 0.004, "slope": 0.02, "load": 2.0}.items():
        middle = {"length": 0.26, "clearance": 0.03, "slope": 0.02, "load": 2.0}[axis]
        own = gait_family(robot, REQUEST, {axis: [middle - change, middle, middle + change]})
        wanted = (own.cost[2] - own.cost[0]) / (2.0 * change)
        assert own.slopes[1, 0] == pytest.approx(wanted, rel=0.03, abs=2.0 * TOLERANCE / change)
    empty = gait_family(robot, REQUEST, {"load": [0.0, 2.0]})  # there is no load below 0
    assert empty.slopes[0, 0] == pytest.approx((empty.cost[1] - empty.cost[0]) / 2.0, rel=0.05)


def test_between_members_quadratic_costs_are_exact_and_slopes_linear(family: GaitFamily) -> None:
    def quadratic(length: float, single: float) -> tuple[float, list[float]]:
        cost = 3.0 + length + 2.0 * length**2 - 5.0 * length * single + single**2
        return cost, [1.0 + 4.0 * length - 5.0 * single, -5.0 * length + 2.0 * single]

    values = [[quadratic(length, single) for single in SINGLES] for length in LENGTHS]
    cost = np.array([[own[0] for own in row] for row in values])
    made = replace(family, cost=cost, slopes=np.array([[own[1] for own in row] for row in values]))
    found, expected = made.at(length=0.25, single=0.53), quadratic(0.25, 0.53)
    assert found.cost == pytest.approx(expected[0], rel=1e-12)
    np.testing.assert_allclose(list(found.slopes.values()), expected[1], rtol=1e-12)
    np.testing.assert_allclose(found.unknowns, np.einsum("i,j,ijv->v", [0.25, 0.75], [0.7, 0.3], family.unknowns[:2]))


def test_what_lies_between_is_a_start_for_the_optimum(robot: Robot, family: GaitFamily) -> None:
    found = family.solve(length=0.245, single=0.56)
    assert found.success, found.report()
    alone = GaitSolver(member_problem(robot, REQUEST, {"length": 0.245, "single": 0.56})).solve()
    assert found.cost == pytest.approx(alone.cost, abs=TOLERANCE)
    assert found.solution.iterations < alone.solution.iterations
    assert family.at(length=0.245, single=0.56).cost == pytest.approx(found.cost, rel=3e-3)


def test_workers_find_the_same(robot: Robot, family: GaitFamily) -> None:
    with ThreadPoolExecutor(2) as workers:
        again = gait_family(robot, REQUEST, {"length": LENGTHS, "single": SINGLES}, executor=workers)
    np.testing.assert_array_equal(again.unknowns, family.unknowns)


def test_a_file_holds_it(robot: Robot, family: GaitFamily, tmp_path: Path) -> None:
    family.save(tmp_path / "walks.npz")
    again = GaitFamily.load(tmp_path / "walks.npz", robot, REQUEST)
    place = {"length": 0.27, "single": 0.55}
    np.testing.assert_array_equal(again.at(**place).unknowns, family.at(**place).unknowns)
    with pytest.raises(InputError, match=r"has \d+ unknowns, not"):
        GaitFamily.load(tmp_path / "walks.npz", robot, replace(REQUEST, intervals=(4, 8)))
    (tmp_path / "walks.npz").write_bytes(b"PK")
    with pytest.raises(InputError, match="is no family of gaits"):
        GaitFamily.load(tmp_path / "walks.npz", robot, REQUEST)


def test_members_that_cannot_be_say_why_and_the_others_stay(robot: Robot) -> None:
    family = gait_family(robot, REQUEST, {"length": [0.26, 0.3, 2.6]})
    assert list(family.reasons) == [(2,)]
    assert np.isfinite(family.at(length=0.3).cost)
    with pytest.raises(InputError, match=r"has no cycle at length 2\.6: the solver says"):
        family.at(length=1.0)


def test_loads_and_speeds_are_those_asked_for(robot: Robot) -> None:
    load = member_problem(robot, REQUEST, {"load": 12.0})
    assert load.robot.total_mass == pytest.approx(robot.total_mass + 12.0)
    phases = member_problem(robot, REQUEST, {"speed": 0.4, "length": 0.24}).phases
    assert sum(phase.range[0] for phase in phases) == pytest.approx(0.6)
    assert phases[1].range[0] / phases[0].range[0] == pytest.approx(5.0)
    with pytest.raises(InputError, match="speed: is 0"):
        member_problem(robot, REQUEST, {"speed": 0.0})
    with pytest.raises(InputError, match="heel"):
        member_problem(robot, REQUEST, {"heel": 0.1})
    with pytest.raises(InputError, match="durations are free"):
        member_problem(robot, replace(REQUEST, single=(0.4, 0.6)), {"speed": 0.4})


def test_a_cancel_leaves_what_is_solved(robot: Robot) -> None:
    def enough(progress: Progress) -> bool:
        return progress.fraction is not None and progress.fraction > 0.0

    family = gait_family(robot, REQUEST, {"length": LENGTHS}, progress=enough)
    assert np.isfinite(family.cost).sum() == 1
    assert len(family.reasons) == 2


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({}, "axes: are none"), ({"lenght": [0.1, 0.2]}, "length"), ({"length": [0.2]}, "two or more"),
        ({"length": [0.2, 0.1]}, "ascending"), ({"length": [0.1, np.nan]}, "ascending"),
    ],
)  # fmt: skip
def test_axes_that_cannot_be_are_refused(robot: Robot, axes: dict[str, list[float]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        gait_family(robot, REQUEST, axes)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"length": 0.25}, "Give length, single"), ({"length": 0.5, "single": 0.5}, r"Give 0\.22 to 0\.3"),
        ({"length": np.nan, "single": 0.5}, "is nan"),
    ],
)  # fmt: skip
def test_values_beyond_the_grid_are_refused(family: GaitFamily, values: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        family.at(**values)
