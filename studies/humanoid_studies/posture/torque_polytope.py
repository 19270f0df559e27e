# SPDX-License-Identifier: Apache-2.0
"""Wrenches that contacts can exert with limited joint torques, G(q) of specification 001 section 4.10.

Torques are eliminated by (3.67). The set is the projection of a polyhedron of contact forces, found from inside: the
hull of known wrenches grows wherever a linear program finds one beyond a facet. For one configuration of one foot that
takes some ten seconds: it is for checks and pictures. Searches use the limits themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import null_space
from scipy.optimize import linprog

from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.contact_points import ContactPoints, pyramid_halfspaces
from humanoid_planner.equilibrium.double_description import polytope_halfspaces
from humanoid_planner.equilibrium.wrench_cone import about_origin


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
