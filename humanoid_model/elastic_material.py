# SPDX-License-Identifier: Apache-2.0
"""Linear isotropic elastic materials (specification 000 §17.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from humanoid_model.errors import InputError


@dataclass(frozen=True)
class Material:
    """A linear isotropic elastic material.

    Attributes:
        young_modulus: E [Pa].
        poisson_ratio: nu. Linear tetrahedra become too stiff (they lock) as it nears 0.5.
    """

    young_modulus: float
    poisson_ratio: float

    def __post_init__(self) -> None:
        """Check the constants.

        Raises:
            InputError: E is not positive, or nu not between -1 and 0.5.
        """
        if not (math.isfinite(self.young_modulus) and self.young_modulus > 0.0):
            raise InputError(
                f"Young's modulus is {self.young_modulus}", element="young_modulus", remedy="Give a positive one in Pa"
            )
        if not -1.0 < self.poisson_ratio < 0.5:
            raise InputError(
                f"Poisson's ratio is {self.poisson_ratio}",
                element="poisson_ratio",
                remedy="Give one above -1 and below 0.5",
            )

    @property
    def shear_modulus(self) -> float:
        r"""Lamé's :math:`\mu = E / 2(1+\nu)` [Pa]."""
        return self.young_modulus / (2.0 * (1.0 + self.poisson_ratio))

    @property
    def lame_lambda(self) -> float:
        r"""Lamé's :math:`\lambda = E\nu / ((1+\nu)(1-2\nu))` [Pa]."""
        E, nu = self.young_modulus, self.poisson_ratio
        return E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))


RUBBER = Material(3e6, 0.4)
"""The sole that the thesis chose after its sweep (§4.4.1)."""
