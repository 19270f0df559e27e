# SPDX-License-Identifier: Apache-2.0
"""Static reachable spaces (000-F151)."""

from __future__ import annotations

import numpy as np
import pytest
from fixtures.lifting import LoadedRobot, hrp2

from humanoid_studies.lifting.planar_lifter import SENSOR_LIMITS, HeldObject, PlanarLifter
from humanoid_studies.lifting.reachable_space import CELL, reachable_space


def lifter(mass: float) -> PlanarLifter:
    return PlanarLifter(hrp2(), HeldObject(mass, 0.15, 0.3))


@pytest.mark.feature("000-F151")
def test_heavier_objects_are_held_in_less_space_and_never_ahead() -> None:
    """Fig. 5.30: smaller for 23.4 kg than for 8.4 kg; with the object ahead, empty for both, though not for 2 kg."""
    for angle in (0.5 * np.pi, -0.5 * np.pi):
        areas = [reachable_space(lifter(mass), angle, legs=7, arms=19).area for mass in (2.0, 8.4, 23.4)]
        assert areas[0] > areas[1] > areas[2] > 0.0
    assert [reachable_space(lifter(mass), 0.0, legs=7, arms=19).area > 0.0 for mass in (2.0, 8.4, 23.4)] == [
        True, False, False
    ]  # fmt: skip
    strong = [lifter(mass) for mass in (2.0, 8.4, 23.4)]
    for planar in strong:
        planar.nominal = 10.0 * planar.nominal  # then it is the sensors that forbid it
    assert [reachable_space(planar, 0.0, legs=7, arms=19).area > 0.0 for planar in strong] == [True, False, False]
    # 23.4 kg ahead weigh more on each hand than its sensor bears across it.
    assert SENSOR_LIMITS[1] < 0.5 * 23.4 * 9.8


def test_balance_alone_shrinks_with_the_load() -> None:
    """Section 21.1."""
    areas = [reachable_space(lifter(mass), 0.0, torques=False, legs=7, arms=19).area for mass in (1e-3, 8.4, 23.4)]
    assert areas[0] > areas[1] > areas[2] > 0.0


@pytest.mark.feature("000-F151")
def test_every_posture_of_a_space_holds_in_three_dimensions() -> None:
    planar = lifter(8.4)
    whole, still = LoadedRobot(planar), np.zeros(7)
    space = reachable_space(planar, 0.5 * np.pi, legs=7, arms=15)
    for cell, q, load in list(zip(space.cells, space.postures, space.load, strict=True))[::7]:
        right = whole.wrenches(q, still, still)
        assert np.abs(right.torques / planar.nominal).max() == pytest.approx(load, abs=1e-6)
        assert load < 1.0
        assert planar.sole[0] < right.zero_moment_point < planar.sole[1]
        assert (np.abs(right.wrist) < SENSOR_LIMITS).all()
        grip = planar.grip.position(planar.absolute @ q)
        assert (cell <= grip + 1e-12).all()
        assert (grip < cell + CELL).all()
    assert planar.static_load(space.lightest()).torques.size == 7
