# SPDX-License-Identifier: Apache-2.0
r"""What an integrator has to know of a mechanism: :math:`M(q)\,\dot v = B(t, q, v) + N(q)^T f` and its gaps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from humanoid_model.arrays import Array

_Set = TypeVar("_Set", bound="ContactSet")

_DIFFERENCE = 1e-6
"""Half width of the central differences of the efforts, in the units of the coordinates."""


@dataclass(frozen=True)
class ContactSet:
    """Contact points at one configuration: those that touch, and those that might soon.

    Attributes:
        ids: number of each contact that stays the same as long as the same features touch, shape (m,).
        gaps: signed distances [m], shape (m,).
        rows: contact Jacobian N: velocities along (n, t1, t2) of one body relative to the other, shape (m, 3, nv).
            A direction in which the mechanism can't move is a row of zeros.
        friction: Coulomb coefficients, shape (m,).
        restitution: restitution coefficients, shape (m,).
    """

    ids: NDArray[np.int64]
    gaps: Array
    rows: Array
    friction: Array
    restitution: Array

    def __len__(self) -> int:
        """Return the number of contacts."""
        return self.gaps.size

    @classmethod
    def none(cls, nv: int) -> ContactSet:
        """No contact of a mechanism with ``nv`` velocity coordinates."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, 3, nv)), np.zeros(0), np.zeros(0))

    def velocities(self, v: Array) -> Array:
        """Contact velocities (n, t1, t2) [m/s], shape (m, 3), of a velocity of the mechanism."""
        return self.rows @ v

    def where(self: _Set, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> _Set:
        """Return some of the contacts."""
        return type(self)(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def matching(self: _Set, ids: NDArray[np.int64]) -> _Set:
        """Those of the contacts that have one of the given numbers."""
        return self.where(np.isin(self.ids, ids))

    @classmethod
    def joined(cls: type[_Set], parts: Sequence[_Set]) -> _Set:
        """All contacts of several sets."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))


@dataclass(frozen=True)
class ContactForces:
    """Contact forces of a step.

    Attributes:
        contacts: the contacts that were constrained, where they were evaluated.
        forces: mean forces over the step (n, t1, t2) [N]; an impact counts with its impulse over the step, shape
            (m, 3).
        converged: whether every contact problem of the step was solved within the tolerance; the best iterate was
            used where not.
    """

    contacts: ContactSet
    forces: Array
    converged: bool = True


class Step(NamedTuple):
    """State at the end of a step, and the contact forces during it."""

    q: Array
    v: Array
    forces: ContactForces


class MechanicalSystem(ABC):
    r"""A mechanism with unilateral contacts.

    The configuration may be any manifold with :meth:`integrate` and :meth:`difference`; velocities, efforts and
    derivatives are in its tangent space at the configuration, of dimension nv. For a vector space nothing but
    :meth:`mass` and :meth:`efforts` must be written.

    Attributes:
        nv: number of velocity coordinates.
    """

    nv: int

    @abstractmethod
    def mass(self, q: Array) -> Array:
        """Inertia M(q), symmetric positive definite, shape (nv, nv)."""

    @abstractmethod
    def efforts(self, t: float, q: Array, v: Array) -> Array:
        """Everything but contact forces: actuators, gravity, Coriolis and centrifugal efforts, shape (nv,)."""

    def integrate(self, q: Array, displacement: Array) -> Array:
        """Return the configuration that is reached from q along a tangent vector."""
        return q + displacement

    def difference(self, q_from: Array, q_to: Array) -> Array:
        """Tangent vector at ``q_from`` that leads to ``q_to``, shape (nv,)."""
        return q_to - q_from

    def chart_rate(self, q_from: Array, q: Array, v: Array) -> Array:
        """Return the rate of ``difference(q_from, q)`` while q moves with the velocity v, shape (nv,).

        Where the configuration is a vector space this is v itself. Elsewhere the two differ in second order, and a
        scheme of order three or more must tell them apart.
        """
        return v

    def acceleration(self, t: float, q: Array, v: Array) -> Array:
        """Acceleration without contact forces, shape (nv,)."""
        return np.asarray(np.linalg.solve(self.mass(q), self.efforts(t, q, v)), dtype=np.float64)

    def derivatives(self, t: float, q: Array, v: Array, a: Array | None = None) -> tuple[Array, Array]:
        r"""Return derivatives of the efforts by configuration and velocity, each of shape (nv, nv).

        Args:
            t: time [s].
            q: configuration.
            v: velocity, shape (nv,).
            a: an acceleration: the derivatives are then those of :math:`B - M(q)\,a` at constant a.

        This general version takes central differences.
        """
        by_q, by_v = np.empty((self.nv, self.nv)), np.empty((self.nv, self.nv))

        def rest(q_moved: Array, v_moved: Array) -> Array:
            value = self.efforts(t, q_moved, v_moved)
            return value if a is None else value - self.mass(q_moved) @ a

        for k in range(self.nv):
            step = np.zeros(self.nv)
            step[k] = _DIFFERENCE
            by_q[:, k] = rest(self.integrate(q, step), v) - rest(self.integrate(q, -step), v)
            by_v[:, k] = rest(q, v + step) - rest(q, v - step)
        return by_q / (2.0 * _DIFFERENCE), by_v / (2.0 * _DIFFERENCE)

    def impedance(self, t: float, q: Array, v: Array) -> tuple[Array, Array] | None:
        """Stiffness and damping that a step must take implicitly, each of shape (nv, nv); None where there is none.

        They are part of :meth:`efforts` already, with the signs of a spring and a damper. Time-stepping schemes add
        them to the inertia; the smooth schemes, which evaluate efforts only, don't.
        """
        return None

    def contacts(self, q: Array, v: Array, horizon: float) -> ContactSet:
        """Contacts at q: all that touch or could touch within ``horizon`` seconds at the velocity v."""
        return ContactSet.none(self.nv)
