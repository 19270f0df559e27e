# SPDX-License-Identifier: Apache-2.0
"""Conditions on ends in part: they vanish at states that keep them, and only there."""

import math
import re

import casadi
import numpy as np
import pytest
from fixtures.gait_models import BIP, CYCLIC, MODELS

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.casadi_tree import CasadiPhase
from humanoid_studies.planar_gait.specification.hip_conditions import all_of, closed_and_still, hip_height_and_speed
from humanoid_studies.planar_gait.specification.seven_link import double_support_start


def evaluated(conditions, model, state):
    q, v = casadi.SX.sym("q", model.n), casadi.SX.sym("v", model.n)
    return np.array(casadi.Function("psi", [q, v], [conditions(CasadiPhase(model), q, v)])(state.q, state.v))[:, 0]


def test_conditions_of_a_touch_down():
    model, state = MODELS["bip_dsp_cyclic"], double_support_start(BIP, CYCLIC.step)
    psi = all_of([hip_height_and_speed(0.845, 0.75), closed_and_still()])
    np.testing.assert_allclose(evaluated(psi, model, state), np.zeros(6), atol=1e-13)
    other = hip_height_and_speed(0.80, 0.70)
    np.testing.assert_allclose(evaluated(other, model, state), [0.045, 0.05], atol=1e-13)


def test_numbers_are_needed():
    with pytest.raises(InputError, match=re.escape("hip.speed: is nan")):
        hip_height_and_speed(0.8, math.nan)
