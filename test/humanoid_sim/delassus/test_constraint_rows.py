# SPDX-License-Identifier: Apache-2.0
"""Contact frames are right-handed and don't turn while the normal doesn't."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_sim.delassus.constraint_rows import tangents


def test_tangents_complete_a_right_handed_frame() -> None:
    rng = np.random.default_rng(0)
    normals = [*rng.normal(size=(50, 3)), *np.eye(3), *-np.eye(3)]
    for n in normals:
        n = n / np.linalg.norm(n)
        t1, t2 = np.empty(3), np.empty(3)
        tangents(n, t1, t2)
        frame = np.array([n, t1, t2])
        assert_allclose(frame @ frame.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(frame) == pytest.approx(1.0)
