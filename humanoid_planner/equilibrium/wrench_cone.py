# SPDX-License-Identifier: Apache-2.0
"""The polyhedral cone of wrenches that contacts can exert, as half-spaces (specification 001 sections 4.10 and 7.6.5).

It depends on the contacts only; with it equilibrium is a product of a matrix and a vector, linear in the place of the
centre of mass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.checks import check_number
from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.cone_simplex import FRICTIONLESS
from humanoid_planner.equilibrium.contact_points import ContactPoints, force_generators
from humanoid_planner.equilibrium.double_description import cone_halfspaces

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
