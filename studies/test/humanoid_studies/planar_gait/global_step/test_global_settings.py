# SPDX-License-Identifier: Apache-2.0
import math

import pytest

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.global_step.global_settings import GlobalSettings


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("friction", 0.0),
        ("friction", math.nan),
        ("trunk_lean", -0.1),
        ("slap", -1.0),
        ("force_lower", math.inf),
        ("rear_foot_turn", 0.1),
        ("single_intervals", 1),
        ("torque_limits", {"knee": 0.0}),
        ("double_support", (0.5, 0.1)),
        ("step_length", (math.nan, 0.5)),
        ("sole_angle", (0.3, 0.1)),
        ("landing", "toe"),
        ("time_limit", math.nan),
        ("proof_time_limit", 0.0),
    ],
)
def test_values_that_cant_be_are_named(field, value):
    with pytest.raises(InputError, match=field):
        GlobalSettings(**{field: value})
