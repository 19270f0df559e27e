# SPDX-License-Identifier: Apache-2.0
"""What the lifting experiments draw (000-F168), and their wholes, slow: E19 and E20 of specification 000 §27."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from fixtures.lifting import hrp2

from humanoid_sim.actuation.motors import MotorSeries
from humanoid_studies.lifting.planar_lifter import PlanarLifter
from humanoid_studies.lifting.reachable_space import CELL, reachable_space
from humanoid_studies.simulator import dynamic_lifting, posture_replay, weight_lifting
from humanoid_studies.simulator.weight_lifting import HEAVY, OBJECT


@pytest.mark.feature("000-F168")
def test_spaces_and_limits_are_drawn() -> None:
    """Squares of both objects where they are; torque over speed within black peak and green nominal limits."""
    lifters = {held.mass: PlanarLifter(hrp2(), held) for held in (OBJECT, HEAVY)}
    spaces = {
        ("above", mass): reachable_space(lifter, -0.5 * np.pi, legs=5, arms=9) for mass, lifter in lifters.items()
    }
    panel = weight_lifting._space_panel("above", spaces)
    for drawn, mass in zip(panel.curves, (8.4, 23.4), strict=True):
        cells = spaces["above", mass].cells
        assert len(cells)
        off = np.column_stack([drawn.x, drawn.y]) - cells
        assert ((off > 0.0) & (off < CELL)).all()
    lifter = lifters[8.4]
    effort, speed = np.array([[1.0], [2.0]]), np.array([[0.1], [0.2]])
    drives = SimpleNamespace(place=lambda _: 0)
    series = MotorSeries(np.array([0.0, 1.0]), speed, effort)
    run = SimpleNamespace(monitor=SimpleNamespace(series=series, drives=drives))
    panels = weight_lifting._limit_panels(lifter, run, run)
    assert [panel.title for panel in panels] == ["RARM_JOINT0", "RARM_JOINT3", "RARM_JOINT5"]
    for k, panel in zip((4, 5, 6), panels, strict=True):
        peak, nominal, played, _ = panel.curves
        assert (peak.colour, nominal.colour) == ("black", "green")
        assert peak.x.max() == pytest.approx(5.0 * nominal.x.max())
        assert nominal.x.max() == pytest.approx(lifter.nominal[k])
        assert peak.y.max() == pytest.approx(2.0 * lifter.speed[k])
        np.testing.assert_array_equal(played.x, effort[:, 0])
        np.testing.assert_array_equal(played.y, speed[:, 0])


@pytest.mark.slow
@pytest.mark.parametrize("experiment", [dynamic_lifting, weight_lifting, posture_replay])
def test_experiments_are_as_they_should_be(experiment: object) -> None:
    result = experiment.run()  # type: ignore[attr-defined]
    assert result.passes, result.table()
