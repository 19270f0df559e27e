# SPDX-License-Identifier: Apache-2.0
"""Steps of interior-point methods on Coulomb's cones: scaling, predictor, corrector, and how far they may go.

What :mod:`humanoid_sim.contact.interior_point` and :mod:`humanoid_sim.contact.body_interior` share; their linear
systems differ.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_model.compiling import counted, uncounted

_BOUNDARY = 0.995
"""Share of the way to the cone's boundary that a step may go."""
_TIE = 0.1
"""Share of the power that the change of De Saxcé's term amounts to, below which complementarity isn't pressed."""


@counted()
def nesterov_todd(x: np.ndarray, y: np.ndarray, scaling: np.ndarray, root: np.ndarray) -> None:
    r"""Nesterov-Todd scaling of two points inside the second-order cone of dimension 3.

    Args:
        x: shape (3,).
        y: shape (3,).
        scaling: receives the symmetric positive definite :math:`\Theta` with :math:`\Theta x = y`, shape (3, 3).
        root: receives its symmetric square root, shape (3, 3).
    """
    t_x, t_y = math.sqrt(x[1] * x[1] + x[2] * x[2]), math.sqrt(y[1] * y[1] + y[2] * y[2])
    size_x = math.sqrt(max((x[0] - t_x) * (x[0] + t_x), 1e-300))
    size_y = math.sqrt(max((y[0] - t_y) * (y[0] + t_y), 1e-300))
    dot = (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]) / (size_x * size_y)
    gamma = math.sqrt(0.5 * (1.0 + dot))
    half_x, half_y = 0.5 / (gamma * size_x), 0.5 / (gamma * size_y)
    w_0, w_1, w_2 = half_y * y[0] + half_x * x[0], half_y * y[1] - half_x * x[1], half_y * y[2] - half_x * x[2]
    square = size_y / size_x
    beta = math.sqrt(square)
    half = 1.0 / math.sqrt(2.0 * (w_0 + 1.0))
    w, u = (w_0, w_1, w_2), ((w_0 + 1.0) * half, w_1 * half, w_2 * half)
    for r in range(3):
        for c in range(3):
            scaling[r, c] = square * 2.0 * w[r] * w[c]
            root[r, c] = beta * 2.0 * u[r] * u[c]
        sign = 1.0 if r == 0 else -1.0
        scaling[r, r] -= sign * square
        root[r, r] -= sign * beta


@uncounted()
def _longest_step(x_0: float, x_1: float, x_2: float, d_0: float, d_1: float, d_2: float) -> float:
    """Largest step along d that keeps x in the second-order cone; infinity where there is no end."""
    a = d_0 * d_0 - d_1 * d_1 - d_2 * d_2
    b = x_0 * d_0 - x_1 * d_1 - x_2 * d_2
    tangent = math.sqrt(x_1 * x_1 + x_2 * x_2)
    c = (x_0 - tangent) * (x_0 + tangent)
    discriminant = b * b - a * c
    # roots of a t^2 + 2 b t + c without cancellation; all are computed: which one counts is nothing to foretell
    q = -(b + math.copysign(math.sqrt(abs(discriminant)), b))
    first, second, third = q / a, c / q, -x_0 / d_0
    meets = discriminant >= 0.0
    step = first if meets & (q * a > 0.0) else np.inf
    step = min(step, second if meets & (c * q > 0.0) else np.inf)
    return min(step, third if d_0 < 0.0 else np.inf)


@uncounted()
def _jordan_divide(x: np.ndarray, r: np.ndarray, out: np.ndarray) -> None:
    """Solve x o out = r in the Jordan algebra of the second-order cone."""
    tangent = math.hypot(x[1], x[2])
    determinant = (x[0] - tangent) * (x[0] + tangent)
    dot = x[1] * r[1] + x[2] * r[2]
    out[0] = (x[0] * r[0] - dot) / determinant
    for c in range(1, 3):
        out[c] = (r[c] - out[0] * x[c]) / x[0]


class ConePath(NamedTuple):
    """Where an interior-point method is, in variables in which every cone is the standard one.

    Attributes:
        P: forces times this are x, shape (3m,); zero for the tangents of contacts without friction.
        x: scaled forces, shape (3m,).
        y: scaled velocities, De Saxcé's term included, shape (3m,).
        scaling: of Nesterov and Todd, shape (m, 3, 3).
        root: its square root, shape (m, 3, 3).
        middle: what both become by it, shape (3m,).
        defect: y minus what x gives, shape (3m,).
        target: where a step leads, shape (3m,).
        rhs: of a step's system, shape (3m,).
        dx: step of x, shape (3m,).
        dy: step of y, shape (3m,).
    """

    P: NDArray[np.float64]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    scaling: NDArray[np.float64]
    root: NDArray[np.float64]
    middle: NDArray[np.float64]
    defect: NDArray[np.float64]
    target: NDArray[np.float64]
    rhs: NDArray[np.float64]
    dx: NDArray[np.float64]
    dy: NDArray[np.float64]


@uncounted()
def scale_contact(block: np.ndarray, mu: float, P: np.ndarray) -> None:
    """Write the scale of a contact's forces, shape (3,), that makes its own block of the operator, (3, 3), about 1."""
    mean = block[0, 0] if not mu > 0.0 else (block[0, 0] / mu**2 + block[1, 1] + block[2, 2]) / 3.0
    P[0] = (mu if mu > 0.0 else 1.0) * math.sqrt(mean)
    P[1] = P[2] = math.sqrt(mean) if mu > 0.0 else 0.0


@counted()
def start_path(P: np.ndarray, size: float) -> ConePath:
    """Return the path that begins on the cones' axes at a size, in variables scaled by P, shape (3m,)."""
    n = P.size
    m = n // 3
    x, y = np.zeros(n), np.zeros(n)
    x[::3] = size
    y[::3] = size
    return ConePath(
        P, x, y, np.zeros((m, 3, 3)), np.zeros((m, 3, 3)), np.zeros(n), np.empty(n), np.zeros(n), np.empty(n),
        np.zeros(n), np.zeros(n),
    )  # fmt: skip


@uncounted()
def scale_cones(path: ConePath) -> float:
    """Write the scalings where the path is, and return the mean complementarity of a contact."""
    P, x, y, scaling, root, middle = path.P, path.x, path.y, path.scaling, path.root, path.middle
    gap = 0.0
    for i in range(P.size // 3):
        k = 3 * i
        if P[k + 1] > 0.0:
            nesterov_todd(x[k : k + 3], y[k : k + 3], scaling[i], root[i])
        else:
            scaling[i, 0, 0] = y[k] / x[k]
            scaling[i, 1, 1] = scaling[i, 2, 2] = 1.0
            root[i, 0, 0] = math.sqrt(scaling[i, 0, 0])
            root[i, 1, 1] = root[i, 2, 2] = 1.0
        for r in range(3):
            middle[k + r] = root[i, r, 0] * x[k] + root[i, r, 1] * x[k + 1] + root[i, r, 2] * x[k + 2]
            gap += x[k + r] * y[k + r]
    return gap / (P.size // 3)


@uncounted()
def add_de_saxce(path: ConePath, share: float) -> float:
    """Complete the defects by a share of De Saxcé's term, and return the power that is still wrong."""
    P, x, y, defect = path.P, path.x, path.y, path.defect
    power = 0.0
    for k in range(0, P.size, 3):
        if P[k + 1] > 0.0:
            defect[k] -= share * math.sqrt(y[k + 1] * y[k + 1] + y[k + 2] * y[k + 2])
        else:
            defect[k + 1] = defect[k + 2] = 0.0
        for r in range(3):
            power += x[k] * abs(defect[k + r])
    return power


@counted()
def aim(path: ConePath, stage: int, complementarity: float) -> None:
    """Write target and right side of a step: of the predictor (stage 0), or of the corrector after it (stage 1).

    Args:
        path: the path.
        stage: which.
        complementarity: of the corrector's point on the central path.
    """
    P, root, middle, dx, target = path.P, path.root, path.middle, path.dx, path.target
    part, other = np.empty(3), np.empty(3)
    for i in range(P.size // 3):
        k = 3 * i
        centre = middle[k : k + 3]
        if stage == 0:  # middle \ (-middle o middle)
            for r in range(3):
                target[k + r] = -centre[r]
        else:
            # -middle o middle + complementarity e - (root^-1 dy) o (root dx), with root^-1 dy = target - root dx
            for r in range(3):
                part[r] = root[i, r, 0] * dx[k] + root[i, r, 1] * dx[k + 1] + root[i, r, 2] * dx[k + 2]
            for r in range(3):
                other[r] = target[k + r] - part[r]
            if P[k + 1] > 0.0:
                first = part[0] * other[0] + part[1] * other[1] + part[2] * other[2]
                second = part[0] * other[1] + other[0] * part[1]
                third = part[0] * other[2] + other[0] * part[2]
                part[0] = complementarity - first
                part[1] = -second
                part[2] = -third
                _jordan_divide(centre, part, other)
                for r in range(3):
                    target[k + r] = other[r] - centre[r]
            else:
                target[k] = (complementarity - part[0] * other[0]) / centre[0] - centre[0]
        for r in range(3):
            path.rhs[k + r] = path.defect[k + r] + (
                root[i, r, 0] * target[k] + root[i, r, 1] * target[k + 1] + root[i, r, 2] * target[k + 2]
            )


@uncounted()
def complete_step(path: ConePath) -> float:
    """Write the step of y that belongs to that of x, and return how far both may go within the cones."""
    x, y, dx, dy, root, scaling, target = path.x, path.y, path.dx, path.dy, path.root, path.scaling, path.target
    alpha = 1.0 / _BOUNDARY
    for i in range(path.P.size // 3):
        k = 3 * i
        for r in range(3):  # dy = root target - scaling dx
            value = 0.0
            for c in range(3):
                value += root[i, r, c] * target[k + c] - scaling[i, r, c] * dx[k + c]
            dy[k + r] = value
        alpha = min(alpha, _longest_step(x[k], x[k + 1], x[k + 2], dx[k], dx[k + 1], dx[k + 2]))
        alpha = min(alpha, _longest_step(y[k], y[k + 1], y[k + 2], dy[k], dy[k + 1], dy[k + 2]))
    return alpha * _BOUNDARY


@uncounted()
def centring(alpha: float, power: float, gap: float, contacts: int) -> float:
    """Return the centring of the corrector after a predictor that may go as far as alpha."""
    # No nearer to the boundary than the term of De Saxcé is known: it has to settle meanwhile.
    return min(1.0, max((1.0 - alpha) ** 3, 1e-4, _TIE * power / (gap * contacts)))
