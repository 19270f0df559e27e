# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
from fixtures.scenes import ball, box, floor, place, scene

from humanoid_sim import Simulation
from humanoid_studies.simulator.scene_view import view


def test_outlines_are_those_of_the_shapes() -> None:
    bodies = (floor(), box("box", (0.4, 0.2, 0.6), place(1, 2, 0.3)), ball("ball", 0.1, place(0, 0, 0.1)))
    simulation = Simulation(scene(*bodies))
    side, above = view(simulation, "side"), view(simulation, "above", from_above=True)
    assert side.equal
    assert len(side.curves) == len(above.curves) == 2  # nothing of the floor
    box_side, ball_side = side.curves
    np.testing.assert_allclose([box_side.x.min(), box_side.x.max()], [0.8, 1.2])
    np.testing.assert_allclose([box_side.y.min(), box_side.y.max()], [0.0, 0.6], atol=1e-9)
    np.testing.assert_allclose([ball_side.y.min(), ball_side.y.max()], [0.0, 0.2], atol=1e-9)
    np.testing.assert_allclose([above.curves[0].y.min(), above.curves[0].y.max()], [1.9, 2.1])
