# SPDX-License-Identifier: Apache-2.0
"""Closed chains of n bodies against the equations of specification 003 section 2.8.1 and the five-bar mechanism."""

import dataclasses
import re

import numpy as np
import pytest
from fixtures.gait_models import FIVE_BAR

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.models.closed_chain import closed_chain
from humanoid_studies.planar_gait.models.segment import Segment


@pytest.mark.feature("003-F017")
@pytest.mark.parametrize("n", [3, 4, 6])
def test_equations(n):  # F-017: (I.31), (I.33) with the two-sided damping of erratum ER-04
    rng = np.random.default_rng(n)
    segments = [Segment(rng.uniform(0.3, 0.5), 1.0 + i, complex(0.2, 0.05 * i), 1.0) for i in range(n)]
    alpha = rng.uniform(0.1, 1.0, n + 1)
    model = closed_chain(segments, 0.7, alpha)
    q, v, u = rng.uniform(-3, 3, n), rng.normal(size=n), rng.normal(size=n + 3)
    assert model.control_names == (*(f"C{i}" for i in range(1, n + 2)), "N_B", "T_B")
    r = np.array([segment.length for segment in segments])
    Q = u[:n] - u[1 : n + 1] + r * np.cos(q) * u[n + 1] - r * np.sin(q) * u[n + 2]
    before, after = np.concatenate([[0.0], v]), np.concatenate([v, [0.0]])
    relative = after - before  # theta_i' - theta_{i-1}', and -theta_n' last
    Q += -alpha[:n] * relative[:n] + alpha[1:] * relative[1:]
    found = model.momentum_rate(q, v, u) - model.tree.momentum_rate(q, v)
    np.testing.assert_allclose(found, Q, atol=1e-12)
    np.testing.assert_allclose(model.closure(q), [(r * np.cos(q)).sum() - 0.7, (r * np.sin(q)).sum()], atol=1e-14)
    assert v @ (model.damping @ v) > 0.0
    assert model.redundancy(q) == 3


@pytest.mark.feature("003-F017")
def test_four_bodies_with_a_load_are_the_five_bar_mechanism():
    bars = list(FIVE_BAR.bars)
    load = 5.0
    second = bars[1]
    mass = second.mass + load
    centre = (second.mass * second.centre + load * second.length) / mass
    bars[1] = Segment(second.length, mass, centre, second.inertia + load * second.length**2)
    chain, five_bar = closed_chain(bars, 0.4), FIVE_BAR.phase()
    rng = np.random.default_rng(1)
    x, u = rng.normal(size=8), rng.normal(size=7)
    np.testing.assert_allclose(chain.state_rate(x, u), five_bar.state_rate(x, u), atol=1e-10)
    np.testing.assert_allclose(chain.closure(x[:4]), five_bar.closure(x[:4]), atol=1e-15)


@pytest.mark.feature("003-F015")
def test_horizontal_plane():  # F-015
    model = closed_chain([dataclasses.replace(bar) for bar in FIVE_BAR.bars], 0.4, gravity=0.0)
    assert model.tree.potential(np.ones(4)) == 0.0


def test_what_is_refused():
    bar = FIVE_BAR.bars[0]
    with pytest.raises(InputError, match="has 2 segments"):
        closed_chain([bar, bar], 0.4)
    with pytest.raises(InputError, match=re.escape("damping: has 3 values. Give 4")):
        closed_chain([bar] * 3, 0.4, [0.0] * 3)
