# SPDX-License-Identifier: Apache-2.0
"""Dynamics of a planar tree of bodies in absolute angles (specification 003 sections 2.3 and 2.5).

Interface, all of it vectorised over leading axes (q, v, p of shape (..., n)):

    tree = PlanarTree.from_bodies(bodies, gravity=9.81)          # bodies: PlanarBody, in the order of the coordinates
    tree.mass_matrix(q)                       M(q)               (..., n, n)
    tree.turning_matrix(q)                    N(q)               (..., n, n)   antisymmetric, carries all of M_{,k}
    tree.mass_derivative(q, k)                M_{,k}             (..., n, n)   zero but for row and column k
    tree.mass_second_derivative(q, i, k)      M_{,ik}            (..., n, n)
    tree.potential(q), .potential_gradient(q), .potential_curvature(q)         V, V_{,j}, diagonal V_{,jj}
    tree.momentum(q, v), tree.velocity(q, p)  p = M v, v = M^-1 p
    tree.hamiltonian(q, p)                    p^T M^-1 p / 2 + V
    tree.free_rates(q, p)                     (q', p') of Hamilton's equations without efforts
    tree.momentum_rate(q, v)                  v^T M_{,k} v / 2 - V_{,k}, the second of them from velocities
    tree.acceleration(q, v, momentum_rate)    v' = M^-1 (p' - M' v)
    tree.with_rotors(R)                       the same with rotors geared to the joints: R is added to M
    tree.centre                               the centre of mass as a PlanarPoint
    tree.point(body, offset)                  a point of a body as a PlanarPoint: position, jacobian, bias, hessian

With N_kj = Im(E_kj e^{i (q_j - q_k)}), N = -N^T, every derivative is a product with one matrix:

    a^T M_{,k} b = a_k (N b)_k + b_k (N a)_k

The equations of motion are in :mod:`.tree_equations`; :mod:`.casadi_tree` gives them as expressions. Efforts, closures,
controls, ranges and the state equation x' = F(x) + B(x) u: :mod:`.phase_model`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.planar_body import PlanarBody
from humanoid_studies.planar_gait.mechanism.planar_point import Complex, PlanarPoint
from humanoid_studies.planar_gait.mechanism.tree_equations import TreeEquations

GRAVITY = 9.81  # [m/s²], as the thesis has it


@dataclass(frozen=True, eq=False)
class PlanarTree(TreeEquations):
    """Bodies in a tree, coordinates the absolute angles of their axes X_i with X.

    A floating tree has two more coordinates in front, the place (x, y) that its root's axis has beyond ``origin``.

    Attributes:
        bodies: as given, welded ones included.
        coordinates: (n,) names: those of the bodies that aren't welded, after "x" and "y" if floating.
        gravity: along -Y [m/s²]; zero for a mechanism in a horizontal plane.
        turning: (n,) whether a coordinate is an angle.
        phase: (n,) phi_j of translations: their direction is i e^{i phi_j}.
        axes: (bodies, n) complex coefficients of each body's axis O_i.
        centres: (bodies, n) complex coefficients c_kj of each body's centre of mass.
        origins: (bodies,) complex part of the places that doesn't move.
        inertia: (n, n) complex Hermitian E_ij of the mass matrix Re(E_ij e^{i (q_j - q_i)}) [kg m²].
        moments: (n,) complex nu_j = sum_k m_k c_kj [kg m].
        parents: (n,) coordinate that each angle is counted from as a joint; -1 for the world.
        rotors: (n, n) constant part of the mass matrix that rotors geared to joints add, I (e_i - e_j)(e_i - e_j)^T
            each [kg m²].
    """

    bodies: tuple[PlanarBody, ...]
    coordinates: tuple[str, ...]
    gravity: float
    turning: NDArray[np.bool_]
    phase: Array
    axes: Complex
    centres: Complex
    origins: Complex
    inertia: Complex
    moments: Complex
    parents: NDArray[np.int64]
    rotors: Array

    @classmethod
    def from_bodies(cls, bodies: Sequence[PlanarBody], gravity: float = GRAVITY, floating: bool = False) -> PlanarTree:
        """Build the constants of a tree.

        Args:
            bodies: in the order of the coordinates; parents may come after their children.
            gravity: along -Y [m/s²].
            floating: whether the one root body moves freely in the plane.

        Raises:
            InputError: no body, a name twice, an unknown parent, a ring of parents, bodies without mass that leave
                the mass matrix singular, several roots of a floating tree, or a gravity that isn't finite.
        """
        bodies = tuple(bodies)
        by_name = {body.name: index for index, body in enumerate(bodies)}
        _check(bodies, by_name, gravity, floating)
        shift = 2 if floating else 0
        angles = [body.name for body in bodies if not body.welded]
        coordinates = (("x", "y") if floating else ()) + tuple(angles)
        index_of = {name: shift + index for index, name in enumerate(angles)}
        n = len(coordinates)
        turning = np.arange(n) >= shift
        phase = np.zeros(n)
        if floating:
            phase[0] = -0.5 * math.pi

        @functools.cache
        def frame(name: str) -> tuple[int, complex, tuple[complex, ...]]:
            """Return the coordinate that a body turns with, and origin and coefficients of its axis."""
            body = bodies[by_name[name]]
            if body.parent is None:
                root = np.zeros(n, dtype=complex)
                root[:shift] = 1.0
                return index_of[name], body.origin, tuple(root)
            turned, origin, row = frame(body.parent)
            moved = np.array(row)
            moved[turned] += body.origin
            return (turned if body.welded else index_of[name]), origin, tuple(moved)

        axes = np.array([frame(body.name)[2] for body in bodies])
        origins = np.array([frame(body.name)[1] for body in bodies])
        masses = np.array([body.mass for body in bodies])
        centres = axes.copy()
        inertia = np.zeros((n, n), dtype=complex)
        for k, body in enumerate(bodies):
            own = frame(body.name)[0]
            centres[k, own] += body.centre
            inertia[own, own] += body.inertia
        inertia += np.einsum("k,ki,kj->ij", masses, centres.conj(), centres)
        inertia = 0.5 * (inertia + inertia.conj().T)  # Hermitian to the last digit
        parents = np.full(n, -1, dtype=np.int64)
        for body in bodies:
            if not body.welded and body.parent is not None:
                parents[index_of[body.name]] = frame(body.parent)[0]
        rotors = np.zeros((n, n))
        for array in (turning, phase, axes, centres, origins, inertia, parents, rotors):
            array.setflags(write=False)
        moments = masses @ centres
        moments.setflags(write=False)
        if np.any(inertia.diagonal().real <= 0.0):
            massless = coordinates[int(np.argmin(inertia.diagonal().real))]
            raise InputError(
                "carries no mass", element=massless, remedy="Give it, or what it carries, a mass or an inertia"
            )
        return cls(
            bodies, coordinates, gravity, turning, phase, axes, centres, origins, inertia, moments, parents, rotors
        )

    def with_rotors(self, rotors: ArrayLike) -> PlanarTree:
        """Return the tree with rotors that turn with differences of angles.

        Their own spin is fast and their mass counts with the body that carries them; what is left of them is a constant
        in the mass matrix, as robot files give it (armature).

        Args:
            rotors: (n, n) constant part of the mass matrix [kg m²].

        Raises:
            InputError: another shape, values that aren't finite, or a matrix that isn't symmetric and positive
                semidefinite.
        """
        given = np.array(rotors, dtype=float)
        if given.shape != (self.n, self.n) or not np.isfinite(given).all():
            raise InputError(
                f"have shape {given.shape}, or aren't finite",
                element="rotors",
                remedy=f"Give a finite ({self.n}, {self.n}) matrix",
            )
        lowest = float(np.linalg.eigvalsh(given).min())
        if not np.allclose(given, given.T) or lowest < -1e-12 * max(1.0, float(np.abs(given).max())):
            raise InputError(
                f"take kinetic energy away (eigenvalue {lowest:g})",
                element="rotors",
                remedy="Give inertias of 0 or more",
            )
        given.setflags(write=False)
        return dataclasses.replace(self, rotors=given)

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    @functools.cached_property
    def mass(self) -> float:
        """Sum of the masses [kg]."""
        return float(sum(body.mass for body in self.bodies))

    def index(self, coordinate: str) -> int:
        """Return the position of a coordinate by its name.

        Raises:
            InputError: there is none of that name.
        """
        if coordinate not in self.coordinates:
            raise InputError(
                f"unknown coordinate '{coordinate}'", element="tree", remedy=f"Use one of {', '.join(self.coordinates)}"
            )
        return self.coordinates.index(coordinate)

    def coordinate_of(self, body: str) -> int:
        """Return the position of the coordinate that a body turns with: its own, or its carrier's if it is welded.

        Raises:
            InputError: there is no such body.
        """
        known = {item.name: item for item in self.bodies}
        if body not in known:
            raise InputError(f"unknown body '{body}'", element="tree", remedy=f"Use one of {', '.join(known)}")
        item = known[body]
        while item.welded and item.parent is not None:
            item = known[item.parent]
        return self.index(item.name)

    def point(self, body: str, offset: complex = 0.0) -> PlanarPoint:
        """Return a point of a body, ``offset`` from its axis in the body's frame [m].

        Raises:
            InputError: there is no such body, or the offset isn't finite.
        """
        turned = self.coordinate_of(body)
        if not (math.isfinite(complex(offset).real) and math.isfinite(complex(offset).imag)):
            raise InputError(f"offset {offset}", element=f"point of {body}", remedy="Give finite lengths")
        row = [item.name for item in self.bodies].index(body)
        coefficients = self.axes[row].copy()
        coefficients[turned] += offset
        return PlanarPoint(complex(self.origins[row]), coefficients, self.turning, self.phase)

    @functools.cached_property
    def centre(self) -> PlanarPoint:
        """The centre of mass of the whole tree."""
        masses = np.array([body.mass for body in self.bodies])
        return PlanarPoint(
            complex(masses @ self.origins / self.mass), self.moments / self.mass, self.turning, self.phase
        )

    def directions(self, q: ArrayLike) -> Complex:
        """(..., n) e^{i phi_j}: the axes X_j, and the constant ones of translations."""
        return np.asarray(np.exp(1j * np.where(self.turning, np.asarray(q, dtype=float), self.phase)))

    def _inertia_terms(self, q: ArrayLike) -> Complex:
        """(..., n, n) E_ij e^{i (phi_j - phi_i)}."""
        e = self.directions(q)
        return np.asarray(self.inertia * (e.conj()[..., :, None] * e[..., None, :]))

    def mass_matrix(self, q: ArrayLike) -> Array:
        """(..., n, n) M(q), equation (I.32) [kg m²]; its diagonal is constant."""
        return np.asarray(self._inertia_terms(q).real + self.rotors)

    def turning_matrix(self, q: ArrayLike) -> Array:
        """(..., n, n) N_kj = Im(E_kj e^{i (phi_j - phi_k)}), antisymmetric: derivative of M_kj by the angle q_k."""
        return self._inertia_terms(q).imag.copy()

    def mass_derivative(self, q: ArrayLike, k: int) -> Array:
        """(..., n, n) M_{,k}: row and column k alone (Annex B)."""
        N = self.turning_matrix(q)
        derivative = np.zeros_like(N)
        if self.turning[k]:
            derivative[..., k, :] = N[..., k, :]
            derivative[..., :, k] = N[..., k, :]
            derivative[..., k, k] = 0.0
        return derivative

    def mass_second_derivative(self, q: ArrayLike, i: int, k: int) -> Array:
        """(..., n, n) M_{,ik}: the entries (i, k) and (k, i) alone if i isn't k, else row and column k."""
        M = self._inertia_terms(q).real
        second = np.zeros_like(M)
        if self.turning[i] and self.turning[k]:
            if i != k:
                second[..., i, k] = M[..., i, k]
                second[..., k, i] = M[..., i, k]
            else:
                second[..., k, :] = -M[..., k, :]
                second[..., :, k] = -M[..., k, :]
                second[..., k, k] = 0.0
        return second

    def solve(self, q: ArrayLike, right: ArrayLike) -> Array:
        """(..., n) M(q)^-1 times a vector."""
        return np.asarray(np.linalg.solve(self.mass_matrix(q), np.asarray(right, dtype=float)[..., None])[..., 0])

    def _times(self, matrix: Array, vector: ArrayLike) -> Array:
        return np.asarray((matrix @ np.asarray(vector, dtype=float)[..., None])[..., 0])

    def _dot(self, first: ArrayLike, second: ArrayLike) -> Array:
        return np.asarray((np.asarray(first, dtype=float) * second).sum(axis=-1))

    def _angles(self, vector: ArrayLike) -> Array:
        return np.where(self.turning, np.asarray(vector, dtype=float), 0.0)

    def _commutator(self, diagonal: Array, matrix: Array) -> Array:
        return np.asarray(diagonal[..., :, None] * matrix - matrix * diagonal[..., None, :])

    def potential(self, q: ArrayLike) -> Array:
        """(...) potential energy of gravity, zero at Y = 0 [J]."""
        return np.asarray(self.mass * self.gravity * self.centre.position(q)[..., 1])

    def potential_gradient(self, q: ArrayLike) -> Array:
        """(..., n) V_{,j} = g Re(nu_j e^{i phi_j}) [N m]."""
        return np.asarray(self.gravity * (self.moments * self.directions(q)).real)

    def potential_curvature(self, q: ArrayLike) -> Array:
        """(..., n) V_{,jj} = -g Im(nu_j e^{i q_j}); mixed second derivatives vanish."""
        return np.asarray(np.where(self.turning, -self.gravity * (self.moments * self.directions(q)).imag, 0.0))

    def ancestors(self) -> Array:
        """(n, n) S of theta = S phi: absolute angles from relative ones, equation (I.27); translations stay."""
        S = np.eye(self.n)
        for row in range(self.n):
            parent = int(self.parents[row])
            while parent >= 0:
                S[row, parent] = 1.0
                parent = int(self.parents[parent])
        return S

    def relative_angles(self, q: ArrayLike) -> Array:
        """(..., n) phi_i = q_i - q_parent, equation (I.26)."""
        absolute = np.asarray(q, dtype=float)
        carried = np.where(self.parents >= 0, absolute[..., self.parents], 0.0)
        return np.asarray(absolute - carried)

    def absolute_angles(self, phi: ArrayLike) -> Array:
        """(..., n) q = S phi: the inverse of :meth:`relative_angles`."""
        return np.asarray(np.asarray(phi, dtype=float) @ self.ancestors().T)


def _check(bodies: tuple[PlanarBody, ...], by_name: dict[str, int], gravity: float, floating: bool) -> None:
    """Raise InputError where bodies don't form a tree."""
    if not bodies:
        raise InputError("no body", element="tree", remedy="Give at least one body")
    if len(by_name) < len(bodies):
        names = [body.name for body in bodies]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two bodies named '{twice}'", element="tree", remedy="Give each body a name of its own")
    if not math.isfinite(gravity):
        raise InputError(f"is {gravity}", element="gravity", remedy="Give a finite acceleration")
    for body in bodies:
        if body.parent is not None and body.parent not in by_name:
            raise InputError(
                f"unknown parent '{body.parent}'", element=body.name, remedy=f"Use one of {', '.join(by_name)}"
            )
    for body in bodies:
        seen = {body.name}
        parent = body.parent
        while parent is not None:
            if parent in seen:
                raise InputError(
                    f"is carried by itself, through '{parent}'",
                    element=body.name,
                    remedy="Let one body hang on the world",
                )
            seen.add(parent)
            parent = bodies[by_name[parent]].parent
    if floating and sum(body.parent is None for body in bodies) != 1:
        raise InputError("several roots", element="floating tree", remedy="Let one body alone have no parent")
