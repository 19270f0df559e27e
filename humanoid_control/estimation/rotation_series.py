# SPDX-License-Identifier: Apache-2.0
r"""Rotations integrated once and twice at a constant rate, and products of 3 x 3 matrices, as kernels.

:math:`\Gamma_m(\phi) = \sum_n [\phi]_\times^n / (n+m)! = I/m! + s_{m+1}[\phi]_\times + s_{m+2}[\phi]_\times^2` with
:math:`s_k = \sum_j (-1)^j |\phi|^{2j} / (2j+k)!` (Hartley et al., Contact-aided invariant extended Kalman filtering for
robot state estimation, IJRR 2020, appendix): :math:`\Gamma_0` is the rotation by :math:`\phi`, :math:`\Gamma_1` its
left Jacobian, :math:`\Gamma_2` what a constant acceleration in a turning frame moves.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.compiling import uncounted


@uncounted()
def copy_matrix(A: np.ndarray, out: np.ndarray) -> None:
    """Write A into ``out``; 3 x 3."""
    for i in range(3):
        for j in range(3):
            out[i, j] = A[i, j]


@uncounted()
def multiply(A: np.ndarray, B: np.ndarray, factor: float, out: np.ndarray) -> None:
    """Write A B times a factor; 3 x 3, ``out`` is neither."""
    for i in range(3):
        for j in range(3):
            out[i, j] = factor * (A[i, 0] * B[0, j] + A[i, 1] * B[1, j] + A[i, 2] * B[2, j])


@uncounted()
def add_cross(a: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
    """Add [a]x B to ``out``; 3 x 3."""
    for j in range(3):
        out[0, j] += a[1] * B[2, j] - a[2] * B[1, j]
        out[1, j] += a[2] * B[0, j] - a[0] * B[2, j]
        out[2, j] += a[0] * B[1, j] - a[1] * B[0, j]


_TERMS = 10
"""Of the series up to an angle of 1 rad; the first that is left out is below 1e-18."""


@uncounted()
def series(k: int, x: float) -> float:
    """Sum s_k for k from 0 to 4, of the squared angle x [rad²]."""
    if x < 1.0:
        term = 1.0
        for n in range(2, k + 1):
            term /= n
        total = term
        for j in range(1, _TERMS):
            term *= -x / ((2 * j + k - 1) * (2 * j + k))
            total += term
        return total
    angle = math.sqrt(x)
    value = math.cos(angle) if k % 2 == 0 else math.sin(angle) / angle
    if k >= 2:
        value = (1.0 - value) / x
    if k == 4:
        value = (0.5 - value) / x
    return value


@uncounted()
def slope(k: int, x: float) -> float:
    """Return the derivative of s_k by the angle, divided by the angle, for k from 1 to 4, at the square x [rad²]."""
    if x < 1.0:
        term = 1.0
        for n in range(2, k + 1):
            term /= n
        total = 0.0
        for j in range(1, _TERMS + 1):
            factor = -1.0 / ((2 * j + k - 1) * (2 * j + k))
            total += 2.0 * j * term * factor
            term *= factor * x
        return total
    return (series(k - 1, x) - k * series(k, x)) / x


@uncounted()
def gamma(m: int, phi: np.ndarray, out: np.ndarray) -> None:
    """Write Γ_m, m from 0 to 2, of a rotation vector (3,) into ``out`` (3, 3)."""
    x, y, z = phi[0], phi[1], phi[2]
    xx = x * x + y * y + z * z
    a, b = series(m + 1, xx), series(m + 2, xx)
    first = 0.5 if m == 2 else 1.0
    out[0, 0] = first - b * (y * y + z * z)
    out[1, 1] = first - b * (x * x + z * z)
    out[2, 2] = first - b * (x * x + y * y)
    out[0, 1] = b * x * y - a * z
    out[1, 0] = b * x * y + a * z
    out[0, 2] = b * x * z + a * y
    out[2, 0] = b * x * z - a * y
    out[1, 2] = b * y * z - a * x
    out[2, 1] = b * y * z + a * x


@uncounted()
def gamma_derivative(m: int, phi: np.ndarray, a: np.ndarray, out: np.ndarray) -> None:
    """Write the derivative of Γ_m(φ) a by φ, m 1 or 2, into ``out`` (3, 3); φ and a are (3,)."""
    x, y, z = phi[0], phi[1], phi[2]
    xx = x * x + y * y + z * z
    first, second = series(m + 1, xx), series(m + 2, xx)
    first_slope, second_slope = slope(m + 1, xx), slope(m + 2, xx)
    c_0, c_1, c_2 = y * a[2] - z * a[1], z * a[0] - x * a[2], x * a[1] - y * a[0]
    along = x * a[0] + y * a[1] + z * a[2]
    for i in range(3):
        c = c_0 if i == 0 else (c_1 if i == 1 else c_2)
        # φ x (φ x a) = φ (φ·a) - a |φ|², whose derivative is φ aᵀ + (φ·a) I - 2 a φᵀ.
        radial = first_slope * c + second_slope * (phi[i] * along - a[i] * xx)
        for j in range(3):
            out[i, j] = radial * phi[j] + second * (phi[i] * a[j] - 2.0 * a[i] * phi[j])
        out[i, i] += second * along
    out[0, 1] += first * a[2]
    out[0, 2] -= first * a[1]
    out[1, 0] -= first * a[2]
    out[1, 2] += first * a[0]
    out[2, 0] += first * a[1]
    out[2, 1] -= first * a[0]


@uncounted()
def rotation_vector(R: np.ndarray, out: np.ndarray) -> None:
    """Write the rotation vector of a matrix (3, 3) into ``out`` (3,); the shortest, below π."""
    out[0] = 0.5 * (R[2, 1] - R[1, 2])
    out[1] = 0.5 * (R[0, 2] - R[2, 0])
    out[2] = 0.5 * (R[1, 0] - R[0, 1])
    sine = math.sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2])
    cosine = 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)
    angle = math.atan2(sine, cosine)
    if cosine > -0.9:
        scale = angle / sine if sine > 1e-8 else 1.0
        for i in range(3):
            out[i] *= scale
        return
    # Near half a turn the axis is the largest column of the symmetric part, its sign that of the rest.
    k = 0
    for i in range(1, 3):
        if R[i, i] > R[k, k]:
            k = i
    sign = -1.0 if out[k] < 0.0 else 1.0
    x = 0.5 * (R[0, k] + R[k, 0])
    y = 0.5 * (R[1, k] + R[k, 1])
    z = 0.5 * (R[2, k] + R[k, 2])
    if k == 0:
        x -= cosine
    elif k == 1:
        y -= cosine
    else:
        z -= cosine
    length = math.sqrt(x * x + y * y + z * z)
    out[0], out[1], out[2] = sign * angle * x / length, sign * angle * y / length, sign * angle * z / length
