# SPDX-License-Identifier: Apache-2.0
"""How thick a sole must be to stay elastic (specification 000 §19, thesis §4.6.1)."""

from __future__ import annotations

import numpy as np

from humanoid_model.elastic_material import Material
from humanoid_model.errors import InputError


def minimum_thickness(max_displacement: float, elastic_limit: float, material: Material) -> float:
    r"""Thickness at which the strain, displacement over thickness, reaches the elastic limit :math:`\sigma_{el}/E`.

    Args:
        max_displacement: of any node of the sole, see ``DeformableSole.max_displacement`` [m].
        elastic_limit: stress up to which the material returns to its shape [Pa].
        material: of the sole.

    Returns:
        The least thickness [m].

    Raises:
        InputError: a negative displacement, or an elastic limit that is not positive.
    """
    if not (np.isfinite(max_displacement) and max_displacement >= 0.0):
        raise InputError(
            f"max_displacement is {max_displacement}",
            element="max_displacement",
            remedy="Give a length in metres, 0 or more",
        )
    if not (np.isfinite(elastic_limit) and elastic_limit > 0.0):
        raise InputError(
            f"elastic_limit is {elastic_limit}", element="elastic_limit", remedy="Give a positive stress in Pa"
        )
    return max_displacement * material.young_modulus / elastic_limit
