# SPDX-License-Identifier: Apache-2.0
r"""The base inertial parameters of a robot: as few as determine every effort.

M. Gautier, Numerical calculation of the base inertial parameters of robots, 1991: a rank-revealing factorisation of
the regressor at random states tells which columns are independent and how the others combine from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

#: A column is dependent when less than this part of it is new.
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class BaseSet:
    """Independent parameters and how the others add to them.

    Attributes:
        columns: indices of the independent parameters among all, P of them.
        combination: matrix that takes all parameters to the base ones, shape (P, all).
    """

    columns: tuple[int, ...]
    combination: np.ndarray


def find_base_set(regressor: np.ndarray) -> BaseSet:
    """Return the base set of a regressor stacked at enough random states.

    Parameters are kept from the first one on, so that those of the links nearest the root take the others in.

    Args:
        regressor: rows of efforts, columns of parameters, shape (m, all), m well above the number of parameters.
    """
    scale = np.linalg.norm(regressor, axis=0)
    largest = float(scale.max(initial=0.0))
    basis: list[np.ndarray] = []
    columns: list[int] = []
    for k in range(regressor.shape[1]):
        if scale[k] <= _TOLERANCE * largest:
            continue
        rest = regressor[:, k] / scale[k]
        if basis:
            Q = np.array(basis)
            for _ in range(2):  # twice is enough to be orthogonal to rounding
                rest = rest - Q.T @ (Q @ rest)
        length = float(np.linalg.norm(rest))
        if length > _TOLERANCE:
            basis.append(rest / length)
            columns.append(k)
    combination = np.zeros((len(columns), regressor.shape[1]))
    if columns:
        kept = regressor[:, columns]
        combination = np.linalg.lstsq(kept, regressor, rcond=None)[0]
        combination[np.abs(combination) < 1e-9] = 0.0
    return BaseSet(tuple(columns), combination)


def random_states(
    nq: int, nv: int, quaternions: Sequence[int], circles: Sequence[int], count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random coordinates, velocities and accelerations, the same every time.

    Args:
        nq: number of coordinates.
        nv: number of velocity coordinates.
        quaternions: first coordinates of unit quaternions.
        circles: first coordinates of pairs of cosine and sine.
        count: number of states.

    Returns:
        q (nq, count), v (nv, count), a (nv, count).
    """
    rng = np.random.default_rng(0)
    q = rng.uniform(-np.pi, np.pi, size=(nq, count))
    for start, size in [(start, 4) for start in quaternions] + [(start, 2) for start in circles]:
        part = rng.normal(size=(size, count))
        q[start : start + size] = part / np.linalg.norm(part, axis=0)
    return q, 3.0 * rng.normal(size=(nv, count)), 10.0 * rng.normal(size=(nv, count))
