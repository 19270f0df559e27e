# SPDX-License-Identifier: Apache-2.0
"""A path of the whole robot through configurations, as a smooth function of a parameter from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicSpline

from humanoid_model.arrays import Array


class ConfigurationPath:
    """A cubic spline of joints, base position and base rotation vector through configurations.

    Rotations are vectors from the first one's on, so that the path is as smooth as its spline.
    """

    def __init__(self, model: pin.Model, s: ArrayLike, postures: Sequence[NDArray[np.float64]]) -> None:
        """Interpolate.

        Args:
            model: of the robot.
            s: (k,) increasing parameters from 0 to 1.
            postures: (nq,) each.
        """
        self._model, self._first = model, np.array(postures[0])
        away = np.array([pin.difference(model, self._first, q) for q in postures])
        self._curve = CubicSpline(np.asarray(s, dtype=float), away)
        fine = np.linspace(0.0, 1.0, max(4 * len(away), 40))
        self._velocity = CubicSpline(fine, np.array([self._slope(x) for x in fine]))

    def at(self, s: float) -> Array:
        """(nq,) configuration."""
        return np.asarray(pin.integrate(self._model, self._first, self._curve(s)))

    def slope(self, s: float) -> Array:
        """(nv,) velocity per ds/dt."""
        return np.asarray(self._velocity(s))

    def bend(self, s: float) -> Array:
        """(nv,) acceleration per squared ds/dt."""
        return np.asarray(self._velocity(s, 1))

    def _slope(self, s: float) -> Array:
        along = pin.dIntegrate(self._model, self._first, self._curve(s), pin.ArgumentPosition.ARG1)
        return np.asarray(along @ self._curve(s, 1))
