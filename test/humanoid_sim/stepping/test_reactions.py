# SPDX-License-Identifier: Apache-2.0
"""What is not finite is found."""

import numpy as np

from humanoid_sim.stepping.reactions import first_not_finite


def test_first_not_finite() -> None:
    v = np.zeros(4)
    assert first_not_finite(v) == -1
    v[2] = np.nan
    assert first_not_finite(v) == 2
    v[1] = -np.inf
    assert first_not_finite(v) == 1
