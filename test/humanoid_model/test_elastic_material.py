# SPDX-License-Identifier: Apache-2.0
"""Elastic constants."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_model.elastic_material import RUBBER, Material
from humanoid_model.errors import InputError


def test_lame_constants_of_the_specification() -> None:
    """Specification 000 §17.7."""
    assert RUBBER.shear_modulus == pytest.approx(1.071429e6, rel=1e-6)
    assert RUBBER.lame_lambda == pytest.approx(4.285714e6, rel=1e-6)
    assert Material(3e6, 0.25).shear_modulus == pytest.approx(1.2e6)
    assert Material(3e6, 0.25).lame_lambda == pytest.approx(1.2e6)


@pytest.mark.parametrize(("E", "nu"), [(0.0, 0.3), (-1.0, 0.3), (np.nan, 0.3), (1e6, 0.5), (1e6, np.nan), (1e6, -1.0)])
def test_impossible_materials(E: float, nu: float) -> None:
    with pytest.raises(InputError, match=r"Young's modulus|Poisson's ratio"):
        Material(E, nu)
