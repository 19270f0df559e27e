# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from fixtures.gait_models import BIP, MODELS

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.optimal_control.effort import QuadraticEffort, energies


@pytest.mark.feature("003-F063")
def test_weights_are_products_of_group_control_and_scale():
    model = MODELS["rabbit_dsp"]
    effort = QuadraticEffort(2.0, 0.5, 1e-2, 1e-3, {"C25": 3.0, "F_O5x": 10.0})
    expected = 1e-4 * np.array([2.0, 6.0, 2.0, 2.0, 0.5e-2, 5e-2])
    np.testing.assert_allclose(effort.diagonal(model), expected, rtol=1e-12)
    with pytest.raises(InputError, match="unknown control 'C99'"):
        QuadraticEffort(weights={"C99": 1.0}).diagonal(model)


@pytest.mark.feature("003-F066")
def test_energy_of_a_sine_is_known():
    """One torque u = U sin(w t) at a joint rate R: the work is U R times integrals of |sin| and of its halves."""
    model = BIP.single_support()
    t = np.linspace(0.0, 1.0, 2001)
    v, u = np.zeros((len(t), 6)), np.zeros((len(t), 6))
    v[:, 1] = 2.0  # the thigh alone turns: C12 works on it, C26 against it
    u[:, 1] = 30.0 * np.sin(2.0 * math.pi * t)
    found = energies(model, QuadraticEffort(), t, v, u)
    assert found.total == pytest.approx(60.0 * 2.0 / math.pi, rel=1e-5)
    assert found.positive == pytest.approx(60.0 / math.pi, rel=1e-5)
    assert found.negative == pytest.approx(-60.0 / math.pi, rel=1e-5)
    assert found.per_torque[1] == pytest.approx(found.total)
    # J_d = integral of (gamma u')²
    assert found.effort_rate == pytest.approx((0.3 * 2.0 * math.pi) ** 2 / 2.0, rel=1e-4)
    u[:, 2] = u[:, 1]  # the hip's torque leans on the thigh: just the opposite power
    both = energies(model, QuadraticEffort(), t, v, u)
    assert both.total == pytest.approx(2.0 * found.total, rel=1e-9)
    assert both.per_torque[2] == pytest.approx(found.total)
