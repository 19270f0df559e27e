# SPDX-License-Identifier: Apache-2.0
"""Inertial parameters of a body, as moments of its mass distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_codegen.vector import (
    Matrix,
    Scalar,
    SymmetricMatrix,
    Vector,
    add,
    add_symmetric,
    apply,
    constant_vector,
    rotate_symmetric,
    scale,
)
from humanoid_model.description import Inertial
from humanoid_model.inertia import spatial_inertia

#: Where an entry of a symmetric matrix is kept.
_PLACE = ((0, 1, 2), (1, 3, 4), (2, 4, 5))


@dataclass(frozen=True)
class BodyInertia:
    r"""Mass, first and second moments of a body about the origin of a frame, in its axes.

    The second moment :math:`J = \int r r^T dm` stands for the inertia tensor :math:`I = \mathrm{tr}(J) 1 - J`: parts of
    it that a joint can't tell from the parent's disappear entry by entry
    (:mod:`humanoid_codegen.base_parameters`).

    Attributes:
        mass: kg.
        first: :math:`\int r dm` [kg m].
        second: xx, xy, xz, yy, yz, zz of :math:`\int r r^T dm` [kg m^2].
    """

    mass: Scalar
    first: Vector
    second: SymmetricMatrix

    @classmethod
    def zero(cls) -> BodyInertia:
        """No mass at all."""
        return cls(0.0, (0.0, 0.0, 0.0), (0.0,) * 6)

    @classmethod
    def from_pinocchio(cls, inertia: pin.Inertia) -> BodyInertia:
        """From Pinocchio's spatial inertia, in the same frame."""
        return cls.from_parameters(inertia.toDynamicParameters())

    @classmethod
    def from_inertial(cls, inertial: Inertial) -> BodyInertia:
        """From a link's mass properties, in the link frame."""
        placement = inertial.placement_link_com
        tensor = placement.rotation @ inertial.inertia @ placement.rotation.T
        return cls.from_pinocchio(spatial_inertia(inertial.mass, placement.translation, tensor))

    @classmethod
    def from_parameters(cls, parameters: np.ndarray | tuple[Scalar, ...]) -> BodyInertia:
        """From m, m cx, m cy, m cz, ixx, ixy, iyy, ixz, iyz, izz about the frame's origin: Pinocchio's order."""
        m, hx, hy, hz, ixx, ixy, iyy, ixz, iyz, izz = parameters
        second = (
            0.5 * (iyy + izz - ixx),
            -ixy,
            -ixz,
            0.5 * (ixx + izz - iyy),
            -iyz,
            0.5 * (ixx + iyy - izz),
        )
        if isinstance(parameters, np.ndarray):
            size = max(float(np.abs(parameters[4:]).max()), 1e-300)
            rounded = [0.0 if abs(value) < 1e-15 * size else float(value) for value in second]
            return cls(float(m), constant_vector(np.array([hx, hy, hz])), tuple(rounded))  # type: ignore[arg-type]
        return cls(m, (hx, hy, hz), second)

    @property
    def is_zero(self) -> bool:
        """Whether nothing is there; symbols count as something."""
        return all(isinstance(value, float) and value == 0.0 for value in (self.mass, *self.first, *self.second))

    @property
    def tensor(self) -> SymmetricMatrix:
        """Inertia tensor about the origin: xx, xy, xz, yy, yz, zz [kg m^2]."""
        xx, xy, xz, yy, yz, zz = self.second
        return (yy + zz, -xy, -xz, xx + zz, -yz, xx + yy)

    def expressed(self, rotation: Matrix, position: Vector) -> BodyInertia:
        """Return the same body in another frame.

        Args:
            rotation: of this frame in the other one.
            position: of this frame's origin in the other one [m].
        """
        turned = apply(rotation, self.first)
        second = rotate_symmetric(rotation, self.second)
        m, (hx, hy, hz), (px, py, pz) = self.mass, turned, position
        shift = (
            2.0 * (hx * px) + m * px * px,
            hx * py + hy * px + m * px * py,
            hx * pz + hz * px + m * px * pz,
            2.0 * (hy * py) + m * py * py,
            hy * pz + hz * py + m * py * pz,
            2.0 * (hz * pz) + m * pz * pz,
        )
        return BodyInertia(m, add(turned, scale(m, position)), add_symmetric(second, shift))

    def turned(self, axis: int, c: Scalar, s: Scalar) -> BodyInertia:
        """Return the same body in a frame relative to which this one is turned about a coordinate axis.

        Args:
            axis: 0, 1 or 2.
            c: cosine of the angle.
            s: sine of the angle.
        """
        i, j = (axis + 1) % 3, (axis + 2) % 3
        first = list(self.first)
        first[i] = c * self.first[i] - s * self.first[j]
        first[j] = s * self.first[i] + c * self.first[j]
        ii, jj, ij, ki, kj = (_PLACE[i][i], _PLACE[j][j], _PLACE[i][j], _PLACE[axis][i], _PLACE[axis][j])
        J = self.second
        second = list(J)
        # sin 2a and cos 2a times what the turn mixes, by way of one common factor.
        mixed = s * (J[ii] - J[jj]) + c * (J[ij] + J[ij])
        second[ii] = J[ii] - s * mixed
        second[jj] = J[jj] + s * mixed
        second[ij] = c * mixed - J[ij]
        second[ki] = c * J[ki] - s * J[kj]
        second[kj] = s * J[ki] + c * J[kj]
        return BodyInertia(self.mass, (first[0], first[1], first[2]), tuple(second))

    def plus(self, other: BodyInertia) -> BodyInertia:
        """Both bodies together; same frame."""
        mass = self.mass + other.mass
        return BodyInertia(mass, add(self.first, other.first), add_symmetric(self.second, other.second))
