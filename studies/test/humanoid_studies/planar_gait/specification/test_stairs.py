# SPDX-License-Identifier: Apache-2.0
"""The ground below a swinging foot on stairs: heights where both feet stand and on the stair between."""

import numpy as np
import pytest
from fixtures.gait_models import CYCLIC

from humanoid_studies.planar_gait.optimal_control.penalties import Obstacle, Penalties
from humanoid_studies.planar_gait.specification.stairs import over_stairs

LENGTH = 0.29


@pytest.mark.parametrize(("before", "after"), [(0.1, 0.08), (-0.1, -0.08), (0.1, -0.05), (-0.1, 0.05), (0.0, 0.1)])
def test_heights(before, after):
    previous = CYCLIC.step.replace(step_height=before)
    following = CYCLIC.step.replace(step_height=after)
    penalties = over_stairs(Penalties(clearance=0.01), previous, following, LENGTH)
    x = np.array([-0.5 - 0.29, -0.5, -0.29, 0.0, 0.21, 0.5])
    ground = penalties.clearance + sum(obstacle.envelope(x) for obstacle in penalties.obstacles)
    np.testing.assert_allclose(ground, np.array([-before, -before, 0.0, 0.0, after, after]) + 0.01, atol=5e-4)


def test_level_ground_stays_as_it_is():
    bump = Obstacle(0.1, 0.05, 0.03)
    given = Penalties(obstacles=(bump,))
    assert over_stairs(given, CYCLIC.step, CYCLIC.step, LENGTH) == given
