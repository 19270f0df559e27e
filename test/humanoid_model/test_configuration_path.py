# SPDX-License-Identifier: Apache-2.0
"""Paths of a whole robot: they go through their configurations, and have the derivatives of differences."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import load_robot
from humanoid_model.configuration_path import ConfigurationPath

S = (0.0, 0.2, 0.5, 0.7, 1.0)


@pytest.fixture(scope="module")
def model() -> pin.Model:
    return load_robot("bip", geometry=False).model


@pytest.fixture(scope="module")
def postures(model: pin.Model) -> list[np.ndarray]:
    """The base turns by more than a right angle on its way."""
    rng, q = np.random.default_rng(2), [pin.neutral(model)]
    for _ in S[1:]:
        q.append(pin.integrate(model, q[-1], rng.uniform(-0.6, 0.6, model.nv)))
    return q


def test_it_goes_through_the_configurations_with_the_derivatives_of_differences(
    model: pin.Model, postures: list[np.ndarray]
) -> None:
    path, h = ConfigurationPath(model, S, postures), 1e-4
    for s, posture in zip(S, postures, strict=True):
        assert np.abs(pin.difference(model, path.at(s), posture)).max() < 1e-9
    for s in (0.1, 0.45, 0.8):
        slope = pin.difference(model, path.at(s - h), path.at(s + h)) / (2.0 * h)
        np.testing.assert_allclose(path.slope(s), slope, atol=2e-3)
        np.testing.assert_allclose(path.bend(s), (path.slope(s + h) - path.slope(s - h)) / (2.0 * h), atol=1e-2)
