# SPDX-License-Identifier: Apache-2.0
"""The least thickness of a sole."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_model.elastic_material import Material
from humanoid_model.errors import InputError
from humanoid_sim.flexibility.thickness import minimum_thickness


@pytest.mark.feature("000-F138")
def test_thickness_from_the_elastic_limit() -> None:
    """A displacement of 1 mm and a limit of 5 % strain ask for 2 cm."""
    assert minimum_thickness(0.001, 0.15e6, Material(3e6, 0.4)) == pytest.approx(0.02)
    assert minimum_thickness(0.0, 0.15e6, Material(3e6, 0.4)) == 0.0


@pytest.mark.parametrize(("displacement", "limit"), [(-1e-3, 1e5), (np.nan, 1e5), (1e-3, 0.0), (1e-3, np.inf)])
def test_bad_numbers(displacement: float, limit: float) -> None:
    with pytest.raises(InputError, match=r"max_displacement is|elastic_limit is"):
        minimum_thickness(displacement, limit, Material(3e6, 0.4))
