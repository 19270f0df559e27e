# SPDX-License-Identifier: Apache-2.0
import numpy as np

from humanoid_studies.planar_gait.optimal_control.state_multipliers import StateMultipliers


def test_values_between_nodes_lie_on_straight_lines():
    mesh = np.array([0.0, 0.1, 0.4, 1.0])
    values = np.array([[0.0, 1.0], [2.0, 1.0], [5.0, 0.0], [0.0, 0.0]])
    s = np.array([0.0, 0.05, 0.1, 0.3, 0.4, 0.99, 1.0])
    expected = np.stack([np.interp(s, mesh, column) for column in values.T], axis=1)
    np.testing.assert_allclose(StateMultipliers(mesh, values).at(s), expected, atol=1e-14)
