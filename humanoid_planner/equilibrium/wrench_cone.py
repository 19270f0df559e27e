# SPDX-License-Identifier: Apache-2.0
"""Wrenches that contacts can exert, as half-spaces (specification 001 sections 4.10 and 7.6.5).

A polyhedral cone by friction alone; with limited joint torques the polytope G(q) of section 4.10.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import null_space
from scipy.optimize import linprog

from humanoid_model.checks import check_number
from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.cone_simplex import FRICTIONLESS
from humanoid_planner.equilibrium.contact_points import ContactPoints, force_generators, pyramid_halfspaces
from humanoid_planner.equilibrium.double_description import cone_halfspaces, polytope_halfspaces

TOLERANCE = 1e-9
"""What counts as balanced, in units of the wrench."""


@dataclass(frozen=True, eq=False)
class WrenchCone:
    """Wrenches (force, moment about the world's origin) that contacts can exert on the robot.

    Attributes:
        facets: (h, 6) rows a of ``a @ w <= 0``, scaled such that ``-a @ w`` is the margin [N] of the facet: forces can
            keep that distance from the boundaries of their friction cones before the facet is reached.
        equalities: (e, 6) rows of ``a @ w = 0``, where contacts can't exert wrenches of all directions; their
            products are in N, with moments divided by the extent of the contacts.
    """

    facets: NDArray[np.float64]
    equalities: NDArray[np.float64]

    @property
    def halfspaces(self) -> NDArray[np.float64]:
        """(h + 2e, 6) rows of ``a @ w <= 0``: the facets, then the equalities both ways."""
        return np.concatenate([self.facets, self.equalities, -self.equalities])

    @classmethod
    def of_contacts(cls, contacts: ContactPoints, facets: int = 8, *, inscribed: bool = True) -> WrenchCone:
        """Half-spaces by the double description method, after Farkas' lemma.

        Args:
            contacts: the points. Bilateral ones add all forces.
            facets: of the pyramids that replace the friction cones; 4 are usual for planning, 8 for checks.
            inscribed: pyramids inside the cones, which is conservative; else around them.

        Raises:
            InputError: there is no contact, fewer than 3 facets, or contacts so nearly the same that the half-spaces
                can't be told apart.
        """
        if len(contacts) == 0:
            raise InputError("no contact", element="contacts", remedy="Give at least one contact point")
        forces, owners = force_generators(contacts, facets, inscribed=inscribed)
        centre = contacts.positions.mean(axis=0)
        arms = contacts.positions - centre
        length = float(np.linalg.norm(arms, axis=1).max())
        length = length if length > 1e-9 else 1.0
        arms /= length
        rows, equal = cone_halfspaces(np.hstack([forces, np.cross(arms[owners], forces)]))
        # Moving every cone so that its boundary moves inwards by 1 N changes the wrench by this.
        mu = contacts.friction
        slip = np.where(mu >= FRICTIONLESS, np.sqrt(1.0 + mu**2) / np.where(mu >= FRICTIONLESS, mu, 1.0), 1.0)
        slip[contacts.bilateral] = 0.0
        pushes = slip[:, None] * contacts.normals
        inward = np.concatenate([pushes.sum(axis=0), np.cross(arms, pushes).sum(axis=0)])
        if len(rows):
            rows = rows / -(rows @ inward)[:, None]
        return cls(about_origin(rows, centre, length), about_origin(equal, centre, length))

    def margin(self, wrench: ArrayLike) -> float:
        """Return the distance that all forces can keep from the boundaries of their friction cones, N.

        It is at most the margin of :func:`humanoid_planner.equilibrium.force_distribution.check_equilibrium`
        where that is positive, as the pyramids are inside the cones. Negative outside the cone; minus infinite where no
        forces at all exert the wrench; infinite when the contacts can exert every wrench that fulfils the equalities.

        Args:
            wrench: (6,) force and moment about the world's origin that contacts have to exert, N and N m.
        """
        w = np.asarray(wrench, dtype=float)
        if len(self.equalities):
            unit = max(float((np.abs(self.equalities) @ np.abs(w)).max()), float(np.abs(w[:3]).max()))
            if float(np.abs(self.equalities @ w).max()) > TOLERANCE * unit:
                return -np.inf
        return -float((self.facets @ w).max()) if len(self.facets) else np.inf

    def contains(self, wrench: ArrayLike) -> bool:
        """Return whether the contacts can exert a wrench (6,), force and moment about the world's origin."""
        w = np.asarray(wrench, dtype=float)
        return self.margin(w) >= -TOLERANCE * float(np.abs(w[:3]).max())

    def centre_of_mass_halfspaces(
        self,
        mass: float,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        external_wrench: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Half-spaces of the centre of mass: the wrench of weight is linear in its place.

        Args:
            mass: kg.
            gravity: (3,) m/s^2.
            external_wrench: (6,) known force on the robot and its moment about the world's origin, N and N m.

        Returns:
            A (h + 2e, 3) [N/m] and b (h + 2e,) [N] of ``A @ G <= b``; ``b - A @ G`` are the margins of the facets. The
            last 2e rows are equalities both ways, as in :attr:`halfspaces`.

        Raises:
            InputError: the mass isn't a finite number of 0 or more.
        """
        check_number(float(mass), "mass")
        rows = self.halfspaces
        push = -float(mass) * np.asarray(gravity, dtype=float)
        load = np.asarray(external_wrench, dtype=float)
        return np.asarray(np.cross(push, rows[:, 3:])), np.asarray(rows @ load - rows[:, :3] @ push)


def about_origin(
    rows: NDArray[np.float64], centre: NDArray[np.float64], length: float
) -> NDArray[np.float64]:
    """Rows for moments about the world's origin, from rows for moments about a centre divided by a length."""
    moments = rows[:, 3:] / length
    return np.hstack([rows[:, :3] - np.cross(moments, centre), moments])


def torque_limits(
    contact_jacobian: ArrayLike, gravity_torques: ArrayLike, lower: ArrayLike, upper: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return limits of the joint torques as limits of the contact forces: (3.67) with the correction E-08.

    Args:
        contact_jacobian: (3k, n) J_c1: velocities of the contact points in the world by the joint velocities.
        gravity_torques: (n,) g_1: torques that hold the robot without contact forces, N m.
        lower: (n,) least torques, -inf where unlimited.
        upper: (n,) largest torques, inf where unlimited.

    Returns:
        A (m, 3k) and b (m,) of ``A f + b <= 0``; unlimited sides have no row.

    Raises:
        InputError: shapes don't fit, or a lower limit is above the upper one.
    """
    J = np.atleast_2d(np.asarray(contact_jacobian, dtype=float))
    gravity, low, high = (np.asarray(part, dtype=float) for part in (gravity_torques, lower, upper))
    n = J.shape[1]
    for name, part in (("gravity_torques", gravity), ("lower", low), ("upper", high)):
        if part.shape != (n,):
            raise InputError(f"shape {part.shape}", element=name, remedy=f"Give an array of shape {(n,)}")
    if (low > high).any():
        i = int(np.argmax(low > high))
        raise InputError(
            f"joint {i} has {low[i]:g} above {high[i]:g}", element="lower", remedy="Give lower limits below the upper"
        )
    A = np.concatenate([-J.T, J.T])
    b = np.concatenate([gravity - high, low - gravity])
    limited = np.isfinite(b)
    return A[limited], b[limited]


@dataclass(frozen=True, eq=False)
class TorquePolytope:
    """Wrenches (force, moment about the world's origin) that contacts can exert within torque limits.

    Attributes:
        normals: (h, 6) rows, and
        offsets: (h,) of ``normals @ w <= offsets``; the slack is in N, with moments about the middle of the contact
            points divided by ``length``.
        equalities: (e, 6) rows, and
        values: (e,) of ``equalities @ w = values``, where wrenches of some directions can't be exerted at all.
        vertices: (n, 6) wrenches on the boundary, all corners among them.
        centre: (3,) middle of the contact points, m.
        length: extent of the contact points, m.
    """

    normals: NDArray[np.float64]
    offsets: NDArray[np.float64]
    equalities: NDArray[np.float64]
    values: NDArray[np.float64]
    vertices: NDArray[np.float64]
    centre: NDArray[np.float64]
    length: float

    @classmethod
    def of_contacts(
        cls,
        contacts: ContactPoints,
        limits: tuple[ArrayLike, ArrayLike],
        facets: int = 4,
        *,
        max_force: float | None = None,
        tolerance: float = 1e-4,
        max_facets: int = 50_000,
    ) -> TorquePolytope:
        """Half-spaces and corners of J_c2^T (F and F').

        Args:
            contacts: the points, k of them.
            limits: A (m, 3k) and b (m,) of ``A f + b <= 0``, see :func:`torque_limits`.
            facets: of the pyramids inside the friction cones.
            max_force: limit of every component of every force besides, N; needed where the torque limits
                leave forces without limit, as at singular configurations.
            tolerance: how far wrenches may be outside the half-spaces found, in units of the polytope's size.
            max_facets: limit of their number.

        Raises:
            InputError: shapes don't fit, there is no contact, the limits allow no force at all or forces without
                end, or there are more facets than asked for.
        """
        k = len(contacts)
        A, b = (np.asarray(part, dtype=float) for part in limits)
        if k == 0:
            raise InputError("no contact", element="contacts", remedy="Give at least one contact point")
        if b.ndim != 1 or A.shape != (len(b), 3 * k):
            raise InputError(
                f"shapes {A.shape} and {b.shape}", element="limits", remedy=f"Give arrays of shapes (m, {3 * k}), (m,)"
            )
        centre = contacts.positions.mean(axis=0)
        arms = contacts.positions - centre
        length = float(np.linalg.norm(arms, axis=1).max())
        length = length if length > 1e-9 else 1.0
        J = np.zeros((6, 3 * k))
        rows, bounds = [A], [-b]
        for i in range(k):
            block = slice(3 * i, 3 * i + 3)
            J[:3, block] = np.eye(3)
            J[3:, block] = np.cross(arms[i] / length, np.eye(3)).T
            if not contacts.bilateral[i]:
                local = pyramid_halfspaces(float(contacts.friction[i]), facets)
                cone = np.zeros((len(local), 3 * k))
                cone[:, block] = local @ contacts.frames[i].T
                rows.append(cone)
                bounds.append(np.zeros(len(local)))
        matrix, bound = np.concatenate(rows), np.concatenate(bounds)
        box = (None, None) if max_force is None else (-max_force, max_force)

        def support(direction: NDArray[np.float64]) -> NDArray[np.float64]:
            answer = linprog(-(direction @ J), matrix, bound, bounds=box)
            if answer.status == 2:
                raise InputError(
                    "no contact forces keep them", element="limits", remedy="Give limits that the posture can keep"
                )
            if answer.status != 0:
                raise InputError(
                    "they leave contact forces without end", element="limits", remedy="Give max_force as well"
                )
            return np.asarray(J @ answer.x)

        points, origin, basis = _span(support)
        dimension = basis.shape[1]
        size = float(np.abs(points - origin).max(initial=0.0)) or 1.0
        inside: NDArray[np.float64] = np.zeros((0, dimension))
        reach: NDArray[np.float64] = np.zeros(0)
        corners: NDArray[np.float64] = (points - origin) @ basis
        if dimension == 1:
            inside, reach = np.array([[1.0], [-1.0]]), np.array([corners.max(), -corners.min()])
            corners = np.array([[corners.min()], [corners.max()]])
        elif dimension > 1:
            inside, reach, corners = _grow_hull(
                corners,
                lambda direction: (support(basis @ direction) - origin) @ basis,
                tolerance * size,
                max_facets,
            )
        outside = null_space(basis.T) if dimension else np.eye(6)
        normals, equalities = inside @ basis.T, outside.T
        offsets, values = reach + normals @ origin, equalities @ origin
        wrenches = origin + corners @ basis.T if dimension else origin[None, :]
        vertices = np.hstack([wrenches[:, :3], length * wrenches[:, 3:] + np.cross(centre, wrenches[:, :3])])

        return cls(
            about_origin(normals, centre, length),
            offsets,
            about_origin(equalities, centre, length),
            values,
            vertices,
            centre,
            length,
        )

    def margin(self, wrench: ArrayLike) -> float:
        """Distance of a wrench (6,) from the boundary, N; negative outside, minus infinite beside the equalities."""
        w = np.asarray(wrench, dtype=float)
        size = float(np.abs(self.offsets).max(initial=1.0))
        if len(self.values) and float(np.abs(self.equalities @ w - self.values).max()) > 1e-7 * size:
            return -np.inf
        return float(np.min(self.offsets - self.normals @ w, initial=np.inf))

    def contains(self, wrench: ArrayLike) -> bool:
        """Return whether the contacts can exert a wrench (6,) within the limits."""
        return self.margin(wrench) >= -1e-7 * float(np.abs(self.offsets).max(initial=1.0))

    def largest_ball(self) -> tuple[NDArray[np.float64], float]:
        """Centre (6,) and radius [N] of the largest ball inside, in the measure of the slack (section 4.5, K6)."""
        moments = self.normals[:, 3:] * self.length
        forces = self.normals[:, :3] + np.cross(self.normals[:, 3:], self.centre)
        rows = np.column_stack([forces, moments])
        size = float(np.abs(self.offsets).max(initial=1.0))
        equal = self.equalities
        local = np.column_stack(
            [equal[:, :3] + np.cross(equal[:, 3:], self.centre), equal[:, 3:] * self.length, np.zeros(len(equal))]
        )
        answer = linprog(
            np.array([0.0] * 6 + [-1.0]),
            np.column_stack([rows, np.linalg.norm(rows, axis=1)]),
            self.offsets / size,
            local,
            self.values / size,
            bounds=[(None, None)] * 6 + [(0.0, None)],
        )
        force, moment = size * answer.x[:3], size * self.length * answer.x[3:6]
        return np.concatenate([force, moment + np.cross(self.centre, force)]), size * float(answer.x[6])


def _span(
    support: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Extreme points that span the whole set: points (n, 6), one of them, orthonormal directions (6, dimension)."""
    first = support(np.eye(6)[0])
    points = [first]
    basis = np.zeros((6, 0))
    while True:
        rest = null_space(basis.T) if basis.shape[1] else np.eye(6)
        for direction in rest.T:
            ends = [support(direction), support(-direction)]
            far = max(ends, key=lambda end: abs(float(direction @ (end - first))))
            if abs(float(direction @ (far - first))) > 1e-7 * max(float(np.abs(far).max()), 1e-9):
                points += ends
                step = far - first
                step = step - basis @ (basis.T @ step)
                basis = np.column_stack([basis, step / np.linalg.norm(step)])
                break
        else:
            return np.array(points), first, basis


def _grow_hull(
    points: NDArray[np.float64],
    support: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    tolerance: float,
    max_facets: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the hull of a bounded set known by its support points: unit normals, offsets, corners.

    Args:
        points: (n, d) of the set, spanning all dimensions.
        support: the extreme point in a direction (d,).
        tolerance: how far the set may reach beyond the hull.
        max_facets: limit of their number.

    Raises:
        InputError: there are more facets.
    """
    size = float(np.abs(points).max())
    known = points / size
    asked: set[tuple[float, ...]] = set()
    while True:
        normals, offsets, _, _ = polytope_halfspaces(known)
        if len(normals) > max_facets:
            raise InputError(
                f"more than {max_facets} facets", element="max_facets", remedy="Give a larger tolerance or limit"
            )
        found = []
        for normal, offset in zip(normals, offsets, strict=True):
            facet = (*normal.round(7), round(float(offset), 7))
            if facet in asked:
                continue
            asked.add(facet)
            point = support(normal) / size
            if normal @ point - offset > tolerance / size:
                found.append(point)
        if not found:
            return normals, size * offsets, size * known
        known = np.unique(np.vstack([known, found]).round(10), axis=0)
