# SPDX-License-Identifier: Apache-2.0
"""Vectors and 3 x 3 matrices as tuples of scalars of any kind: floats, numpy batches, expressions.

Algorithms are written with these, entry by entry, so that a zero of the robot is seen as one and disappears. Elementary
functions of expressions are methods of theirs; for numbers they are numpy's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from humanoid_codegen.expression.graph import Expression


def sin(x: Scalar) -> Scalar:
    """Return the sine of an angle in rad."""
    return x.sin() if isinstance(x, Expression) else np.sin(x)


def cos(x: Scalar) -> Scalar:
    """Return the cosine of an angle in rad."""
    return x.cos() if isinstance(x, Expression) else np.cos(x)


def sqrt(x: Scalar) -> Scalar:
    """Square root."""
    return x.sqrt() if isinstance(x, Expression) else np.sqrt(x)


#: A number of any kind.
Scalar = Any
Vector = tuple[Scalar, Scalar, Scalar]
Matrix = tuple[Vector, Vector, Vector]
#: xx, xy, xz, yy, yz, zz.
SymmetricMatrix = tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]

ZERO: Vector = (0.0, 0.0, 0.0)
IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

#: Entries of a robot's constant rotations and positions nearer than this to 0, 1 or -1 are that number: quarter turns
#: written with fourteen digits or more. Cruder ones are what they say: nearly singular robots feel 3.14159265359.
ROUNDING = 1e-14


def constant_vector(values: np.ndarray) -> Vector:
    """Return a numpy vector with rounding errors taken out, shape (3,)."""
    x, y, z = (clean(float(value)) for value in values)
    return (x, y, z)


def constant_matrix(values: np.ndarray) -> Matrix:
    """Return a numpy matrix with rounding errors taken out, shape (3, 3)."""
    return (constant_vector(values[0]), constant_vector(values[1]), constant_vector(values[2]))


def clean(value: float) -> float:
    """Return a number, or 0, 1 or -1 where only rounding lies between."""
    nearest = round(value)
    return float(nearest) if abs(nearest) <= 1 and abs(value - nearest) < ROUNDING else value


def add(a: Vector, b: Vector) -> Vector:
    """Sum a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def subtract(a: Vector, b: Vector) -> Vector:
    """Difference a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def negate(a: Vector) -> Vector:
    """Return -a."""
    return (-a[0], -a[1], -a[2])


def scale(factor: Scalar, a: Vector) -> Vector:
    """Product factor a."""
    return (factor * a[0], factor * a[1], factor * a[2])


def dot(a: Vector, b: Vector) -> Scalar:
    """Dot product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Cross product."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def transpose(M: Matrix) -> Matrix:
    """Transpose."""
    return ((M[0][0], M[1][0], M[2][0]), (M[0][1], M[1][1], M[2][1]), (M[0][2], M[1][2], M[2][2]))


def apply(M: Matrix, a: Vector) -> Vector:
    """M a."""
    return (dot(M[0], a), dot(M[1], a), dot(M[2], a))


def apply_transpose(M: Matrix, a: Vector) -> Vector:
    """M^T a."""
    return apply(transpose(M), a)


def multiply(A: Matrix, B: Matrix) -> Matrix:
    """Return a B."""
    columns = transpose(B)
    return transpose((apply(A, columns[0]), apply(A, columns[1]), apply(A, columns[2])))


def apply_symmetric(S: SymmetricMatrix, a: Vector) -> Vector:
    """S a."""
    xx, xy, xz, yy, yz, zz = S
    return (
        xx * a[0] + xy * a[1] + xz * a[2],
        xy * a[0] + yy * a[1] + yz * a[2],
        xz * a[0] + yz * a[1] + zz * a[2],
    )


def rotate_symmetric(R: Matrix, S: SymmetricMatrix) -> SymmetricMatrix:
    """R S R^T."""
    xx, xy, xz, yy, yz, zz = S
    RS = multiply(R, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    return (
        dot(RS[0], R[0]),
        dot(RS[0], R[1]),
        dot(RS[0], R[2]),
        dot(RS[1], R[1]),
        dot(RS[1], R[2]),
        dot(RS[2], R[2]),
    )


def add_symmetric(A: SymmetricMatrix, B: SymmetricMatrix) -> SymmetricMatrix:
    """Return a + B."""
    return (A[0] + B[0], A[1] + B[1], A[2] + B[2], A[3] + B[3], A[4] + B[4], A[5] + B[5])


def turn(a: Vector, axis: int, c: Scalar, s: Scalar) -> Vector:
    """Return a vector turned about a coordinate axis by an angle with cosine c and sine s."""
    turned = list(a)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    turned[i] = c * a[i] - s * a[j]
    turned[j] = s * a[i] + c * a[j]
    return (turned[0], turned[1], turned[2])
