# SPDX-License-Identifier: Apache-2.0
"""The normal-normal part of the Delassus operator, checked before a frictionless problem is solved with it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError


def check_normal_operator(
    Lambda_nn: ArrayLike, m: int, values: Mapping[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return the operator as an array, if it and the values beside it make a problem.

    Args:
        Lambda_nn: normal-normal part of J M^-1 J^T, symmetric positive semi-definite [1/kg], shape (m, m).
        m: number of contacts.
        values: what belongs to the contacts, by name, shape (m,) each.

    Raises:
        InputError: shapes that don't fit, a value that is not finite, an asymmetric operator, a diagonal that is not
            positive.
    """
    operator = np.array(Lambda_nn, dtype=float)
    if operator.shape != (m, m):
        raise InputError(
            f"Lambda_nn has shape {operator.shape} for {m} contacts",
            element="Lambda_nn",
            remedy=f"Give a matrix of shape ({m}, {m})",
        )
    for name, array in {"Lambda_nn": operator, **values}.items():
        if name != "Lambda_nn" and array.shape != (m,):
            raise InputError(
                f"{name} has shape {array.shape} for {m} contacts", element=name, remedy=f"Give one number, or {m}"
            )
        if not np.all(np.isfinite(array)):
            index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
            raise InputError(f"{name}{list(index)} is {array[index]}", element=name, remedy="Give finite numbers")
    if np.abs(operator - operator.T).max(initial=0.0) > 1e-9 * np.abs(operator).max(initial=0.0):
        raise InputError("Lambda_nn is not symmetric", element="Lambda_nn", remedy="J_n M^-1 J_n^T is symmetric")
    if np.any(np.diag(operator) <= 0.0):
        i = int(np.argmax(np.diag(operator) <= 0.0))
        raise InputError(
            f"Lambda_nn[{i}, {i}] is {operator[i, i]}",
            element="Lambda_nn",
            remedy="A push must be able to move the contact: its diagonal is positive",
        )
    return operator
