# SPDX-License-Identifier: Apache-2.0
"""The drop of specification 000, E12."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_studies.soles.drop import drop_on_spring


@pytest.mark.feature("000-F131")
@pytest.mark.parametrize(
    ("stiffness", "acceleration", "force"),
    [(5e6, 103.0922, 6547.749), (15e6, 155.7129, 9599.747), (50e6, 218.9003, 13264.616)],
)
def test_peaks_of_the_specification(stiffness: float, acceleration: float, force: float) -> None:
    drop = drop_on_spring(58.0, stiffness, 0.01, steps=3000)
    assert np.flatnonzero(drop.force > 0.0)[0] == 45
    assert np.abs(drop.acceleration).max() == pytest.approx(acceleration, abs=5e-5)
    assert drop.force.max() == pytest.approx(force, abs=5e-4)
    assert drop.compression[-1] == pytest.approx(58.0 * 9.8 / stiffness, rel=1e-9)


@pytest.mark.parametrize("name", ["mass", "stiffness", "height", "dt", "gravity"])
def test_numbers_must_be_positive(name: str) -> None:
    arguments = {"mass": 58.0, "stiffness": 5e6, "height": 0.01, "steps": 10, name: -1.0}
    with pytest.raises(InputError, match=f"{name}: is -1"):
        drop_on_spring(**arguments)
