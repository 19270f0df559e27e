# SPDX-License-Identifier: Apache-2.0
"""RABBIT's boundary states against the table of specification 003 section 3.3 and the reference solutions' ends."""

import math
import re

import numpy as np
import pytest
from fixtures.gait_models import MODELS, RABBIT, RABBIT_WALK
from fixtures.gait_oracles import ORACLES

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.specification import five_link
from humanoid_studies.planar_gait.specification.step_data import RestData

STEP = RABBIT_WALK.step
START, END = five_link.double_support_start(RABBIT, STEP), five_link.double_support_end(RABBIT, STEP)


@pytest.mark.feature("003-F044")
def test_table_of_the_specification():  # F-044
    np.testing.assert_allclose(np.rad2deg(START.q), [51.25489, 104.05522, -48.90229, -85.14382, 90.0], atol=6e-6)
    np.testing.assert_allclose(START.v, [-0.75461, -1.94467, 0.35440, -2.75195, 0.0], atol=6e-6)
    np.testing.assert_allclose(np.rad2deg(END.q), [48.61165, 91.26974, -49.72550, -99.23304, 90.0], atol=6e-6)
    np.testing.assert_allclose(END.v, [-0.08175, -2.43926, -0.52746, -2.12511, 0.0], atol=6e-6)
    model = MODELS["rabbit_dsp"]
    np.testing.assert_allclose(START.phase_variables(model)[5:], [-10.7968, -12.5560, 1.6911, 0.1722, -3.96], atol=6e-5)
    np.testing.assert_allclose(END.phase_variables(model)[5:], [-9.9062, -12.4053, 1.1960, 0.1329, -4.0], atol=6e-5)
    single = five_link.single_from_double(END)
    np.testing.assert_allclose(np.rad2deg(single.q), [80.77, 130.27, -88.73, -131.39, 90.0], atol=6e-3)
    np.testing.assert_allclose(single.v, [-2.1251, -0.5275, -2.4393, -0.0818, 0.0], atol=6e-5)


def test_ends_of_the_reference_solutions():
    double, single = MODELS["rabbit_dsp"], MODELS["rabbit_ssp_5torques"]
    for state, model, case, end in [
        (START, double, "rabbit_dsp", "x0"),
        (END, double, "rabbit_dsp", "x1"),
        (five_link.single_from_double(END), single, "rabbit_ssp_5torques", "x0"),
        (five_link.single_from_touch_down(START), single, "rabbit_ssp_5torques", "x1"),
    ]:
        np.testing.assert_allclose(state.phase_variables(model), ORACLES[case][end], atol=1e-12)


@pytest.mark.parametrize("state", [START, END])
def test_closed_in_place_and_rate(state):  # U-13
    model = MODELS["rabbit_dsp"]
    np.testing.assert_allclose(model.closure(state.q), 0.0, atol=1e-12)
    np.testing.assert_allclose(model.closure_jacobian(state.q) @ state.v, 0.0, atol=1e-12)


def test_hip_above_the_support():  # F-047: where the printed formulas divide by zero
    step = STEP.replace(step_length=0.3, initial_hip=0.0 + 0.7j)
    state = five_link.double_support_start(RABBIT, step)
    np.testing.assert_allclose(MODELS["rabbit_dsp"].points["hip"].position(state.q), [0.0, 0.7], atol=1e-15)


def test_rest():
    state = five_link.rest(RABBIT, RestData(hip_height=0.78, hip_ahead=0.02))
    model = MODELS["rabbit_ssp_5torques"]
    np.testing.assert_allclose(model.points["swing_tip"].position(state.q), [0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(model.points["hip"].position(state.q), [0.02, 0.78], atol=1e-15)
    assert state.q[4] == math.pi / 2
    assert not state.v.any()


@pytest.mark.feature("003-F047")
def test_unreachable():
    with pytest.raises(InputError, match=re.escape("front leg at the start: has to span 0.9")):
        five_link.double_support_start(RABBIT, STEP.replace(step_length=0.8))
    with pytest.raises(InputError, match=re.escape("rear leg at the end: has to span 0.8")):
        five_link.double_support_end(RABBIT, STEP.replace(final_hip=0.45 + 0.7j))
    with pytest.raises(InputError, match="legs at rest: is straight"):
        five_link.rest(RABBIT, RestData(hip_height=0.8))
