# SPDX-License-Identifier: Apache-2.0
"""Impact with the foot as centre of percussion (000-F152, N15): thesis (5.10)-(5.14)."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_studies.lifting.percussion import impact, pendulum_momentum


@pytest.mark.feature("000-F152")
def test_two_bodies_that_join_leave_the_foot_at_rest() -> None:
    """N15: with the velocities before, momentum alone gives those after, and the foot's is zero."""
    generator = np.random.default_rng(1)
    for _ in range(20):
        m_r, m_o, I_r, I_o, lever, L = generator.uniform(0.2, 5.0, 6)
        D, C = generator.uniform(-1.0, 1.0, (2, 2))
        A = (m_r * D + m_o * C) / (m_r + m_o)
        inertia = I_r + I_o + m_r * (D - A) @ (D - A) + m_o * (C - A) @ (C - A)
        found = impact(m_r, m_o, inertia, lever, C[0] - A[0], L)
        # The lift is along z; the foot is behind A by the lever. A joined body keeps both momenta.
        linear = m_r * found.speed_before
        angular = found.spin_before + (D[0] - A[0]) * m_r * found.speed_before
        speed, turn = linear / (m_r + m_o), angular / inertia
        assert speed - turn * lever == pytest.approx(0.0, abs=1e-12)
        assert inertia * turn + (m_r + m_o) * lever * speed == pytest.approx(L, rel=1e-12)
        assert (found.speed_after, found.turn_after) == pytest.approx((speed, turn), rel=1e-12)


def test_the_pendulum_just_comes_upright() -> None:
    """Its energy after the impact is what the way to the top takes, neither more nor less."""
    mass, inertia, forward, up, g = 62.0, 4.0, 0.12, 0.55, 9.8
    L = pendulum_momentum(mass, inertia, forward, up, g)
    r = np.hypot(forward, up)
    total = inertia + mass * r**2
    angles = np.linspace(np.arctan2(forward, up), 1e-6, 1000)
    kinetic = 0.5 * L**2 / total - mass * g * (r * np.cos(angles) - up)
    assert (kinetic > 0.0).all()
    assert kinetic[-1] == pytest.approx(0.0, abs=1e-9)


def test_bad_masses_are_refused() -> None:
    with pytest.raises(InputError, match="inertia: is 0"):
        impact(50.0, 4.5, 0.0, 0.5, 0.3, 20.0)
