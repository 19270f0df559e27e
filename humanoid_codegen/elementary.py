# SPDX-License-Identifier: Apache-2.0
"""Elementary functions of scalars of any kind: expressions have them as methods, for numbers they are numpy's."""

from __future__ import annotations

import numpy as np

from humanoid_codegen.expression.graph import Expression
from humanoid_codegen.vector import Scalar


def sin(x: Scalar) -> Scalar:
    """Return the sine of an angle in rad."""
    return x.sin() if isinstance(x, Expression) else np.sin(x)


def cos(x: Scalar) -> Scalar:
    """Return the cosine of an angle in rad."""
    return x.cos() if isinstance(x, Expression) else np.cos(x)


def sqrt(x: Scalar) -> Scalar:
    """Square root."""
    return x.sqrt() if isinstance(x, Expression) else np.sqrt(x)
