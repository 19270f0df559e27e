# SPDX-License-Identifier: Apache-2.0
"""Joysticks: which axis and button of a message moves what."""

import numpy as np
import pytest

from humanoid_kinematics import JOY_MAPPINGS, JoyMapping
from humanoid_model import InputError


@pytest.mark.feature("002-F101")
def test_axes_go_where_the_mapping_says_with_their_signs():
    mapping = JoyMapping((4, None, 0, 1, 2, 3), (1, 1, -1, 1, 1, 2))
    np.testing.assert_allclose(
        mapping.deflection([0.1, 0.2, 0.3, 0.8, 0.5]), [0.5, 0.0, -0.1, 0.2, 0.3, 1.0]
    )  # no further than full deflection


def test_nothing_moves_unless_the_button_is_held():
    pad, axes = JOY_MAPPINGS["gamepad"], [0.1, 0.2, 1.0, 0.3, 0.4, 1.0, -1.0, 0.0]
    assert not pad.deflection(axes, [0] * 11).any()
    held = [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    np.testing.assert_allclose(pad.deflection(axes, held), [0.2, 0.1, 0.4, -1.0, 0.0, 0.3])


def test_a_message_that_does_not_fit_is_refused():
    with pytest.raises(InputError, match=r"has 2 axes and 0 buttons.*asks for axes \[0, 1, 2, 3, 4, 5\]"):
        JOY_MAPPINGS["spacenav"].deflection([0.0, 0.0])
    with pytest.raises(InputError, match="button 4"):
        JOY_MAPPINGS["gamepad"].deflection([0.0] * 8, [0, 0])
    with pytest.raises(InputError, match="Give finite numbers"):
        JOY_MAPPINGS["spacenav"].deflection([0.0, np.nan, 0.0, 0.0, 0.0, 0.0])
    with pytest.raises(InputError, match="Give six of each"):
        JoyMapping((0, 1))
    with pytest.raises(InputError, match="count from 0"):
        JoyMapping((0, 1, 2, 3, 4, -1))
