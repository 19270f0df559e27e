# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_planner.distance.half_space import HalfSpace


def test_normal_is_made_unit_and_the_offset_with_it() -> None:
    half_space = HalfSpace(np.array([0.0, 3.0, 4.0]), 10.0)
    assert np.allclose(half_space.normal, [0.0, 0.6, 0.8])
    assert half_space.offset == pytest.approx(2.0)
    on_boundary = np.array([7.0, 2.0, 1.0])  # 3*2 + 4*1 = 10
    assert half_space.height(on_boundary) == pytest.approx(0.0, abs=1e-15)
    assert np.allclose(half_space.height([on_boundary + half_space.normal, [0.0, 0.0, 0.0]]), [1.0, -2.0])


def test_extreme_lengths_of_the_normal_keep_its_direction() -> None:
    for length in (1e-200, 1e200):
        assert np.allclose(HalfSpace(length * np.array([1.0, 1.0, 0.0])).normal, [np.sqrt(0.5), np.sqrt(0.5), 0.0])


@pytest.mark.parametrize("normal", [[0.0, 0.0, 0.0], [1.0, 0.0], [np.nan, 0.0, 1.0], [np.inf, 0.0, 0.0]])
def test_impossible_normals_are_refused(normal: list[float]) -> None:
    with pytest.raises(InputError, match="half-space normal"):
        HalfSpace(np.array(normal))


def test_offset_that_is_no_number_is_refused() -> None:
    with pytest.raises(InputError, match="half-space offset: is nan"):
        HalfSpace(np.array([0.0, 0.0, 1.0]), np.nan)


def test_normal_cannot_be_written_to() -> None:
    half_space = HalfSpace(np.array([0.0, 0.0, 1.0]))
    with pytest.raises(ValueError, match="read-only"):
        half_space.normal[0] = 1.0
