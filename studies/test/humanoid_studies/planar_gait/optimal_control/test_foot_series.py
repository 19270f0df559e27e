# SPDX-License-Identifier: Apache-2.0
"""Centre of pressure, friction needed and verdicts of feet (F-034, F-040)."""

import math

import numpy as np
import pytest
from fixtures.gait_models import BIP, MODELS
from fixtures.gait_oracles import samples

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.optimal_control.control_rows import cut_foot
from humanoid_studies.planar_gait.optimal_control.foot_series import FootSeries, foot_series
from humanoid_studies.planar_gait.optimal_control.stance_foot import stance_forces

HEEL, TOE = -0.29, 0.0


def foot(normal, tangential):
    count = len(normal)
    return FootSeries(
        "f", np.array(normal, dtype=float), np.array(tangential, dtype=float), np.tile([HEEL, TOE], (count, 1))
    )


@pytest.mark.feature("003-F040")
def test_centre_of_pressure_is_within_the_foot_when_nothing_pulls():
    rng = np.random.default_rng(1)
    normal = rng.normal(size=(200, 2)) * 100.0
    normal = normal[normal.sum(axis=1) > 1.0]
    series = foot(normal, np.zeros(len(normal)))
    inside = (series.centre_of_pressure >= HEEL) & (series.centre_of_pressure <= TOE)
    np.testing.assert_array_equal(inside, (normal >= 0.0).all(axis=1))
    np.testing.assert_allclose(foot([[30.0, 10.0]], [0.0]).centre_of_pressure, [0.75 * HEEL])
    assert np.isnan(foot([[0.0, 0.0]], [0.0]).centre_of_pressure[0])


@pytest.mark.feature("003-F034", "003-F110")
def test_friction_and_verdict():
    series = foot([[100.0, 100.0], [300.0, 100.0]], [-30.0, 20.0])
    assert series.required_friction == pytest.approx(0.15)
    assert series.holds(0.15)
    assert not series.holds(0.14)
    assert series.min_normal == 100.0
    pulling = foot([[-1.0, 200.0]], [0.0])
    assert not pulling.holds(1.0)
    assert foot([[0.0, 0.0]], [5.0]).required_friction == math.inf
    assert foot([[0.0, 0.0]], [0.0]).required_friction == 0.0


def test_cyclic_single_support_without_constraint_pulls_at_the_heel():  # section 4.5, B3
    model = MODELS["bip_ssp_cyclic"]
    q, p, u = samples("bip_ssp_cyclic")
    series = foot_series(model, stance_forces(BIP, model), (HEEL, TOE), q, model.tree.velocity(q, p), u)
    assert series.min_normal == pytest.approx(-366.0, rel=0.05)
    assert not series.holds(1.0)


def test_cyclic_double_support_keeps_its_front_foot():
    model = MODELS["bip_dsp_cyclic"]
    q, p, u = samples("bip_dsp_cyclic")
    forces = cut_foot(model, "front_foot")
    series = foot_series(model, forces, ("front_heel", "front_toe"), q, model.tree.velocity(q, p), u)
    np.testing.assert_array_equal(series.normal, u[:, 6:8])
    assert series.min_normal == pytest.approx(6.0)
    assert series.required_friction == pytest.approx(np.abs(u[:, 8] / u[:, 6:8].sum(axis=1)).max())
    assert (series.centre_of_pressure > 0.2).all()


def test_what_is_refused():
    model = MODELS["bip_dsp_cyclic"]
    q, p, u = samples("bip_dsp_cyclic")
    with pytest.raises(InputError, match="1 places for 2 normal forces"):
        foot_series(model, cut_foot(model, "front_foot"), ("front_heel",), q, p, u)
    with pytest.raises(InputError, match="unknown point 'sole'"):
        foot_series(model, cut_foot(model, "front_foot"), ("front_heel", "sole"), q, p, u)
