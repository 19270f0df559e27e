# SPDX-License-Identifier: Apache-2.0
"""One rigid body of a planar tree, as a table of a robot gives it."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass

from humanoid_model.errors import InputError


@dataclass(frozen=True)
class PlanarBody:
    """A body that turns about an axis fixed in its parent (specification 003 sections 2.2 and 2.3).

    Points and vectors of the plane are complex numbers: real part along X (forward), imaginary part along Y (up);
    in a body's frame along its own axis X_i and Y_i. Angles turn counter-clockwise.

    Attributes:
        name: unique in the tree; the body's angle bears it too.
        parent: the body that carries the axis; None when it is fixed in the world.
        origin: where the axis is in the parent's frame; in the world's frame without parent [m].
        mass: [kg].
        centre: centre of mass a + i b in the body's own frame, from the axis [m].
        inertia: about the centre of mass [kg m²]. Tables that give it about the axis: :meth:`about_axis`.
        welded: the body turns with its parent and has no angle of its own; ``origin`` and ``centre`` are then in
            the parent's frame.
    """

    name: str
    parent: str | None
    origin: complex
    mass: float
    centre: complex
    inertia: float
    welded: bool = False

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InputError: a value isn't finite or is negative, the name is empty, or a welded body has no parent.
        """
        if not self.name:
            raise InputError("a body without a name", element="name", remedy="Give each body its name")
        for field in ("mass", "inertia"):
            value = getattr(self, field)
            if not (math.isfinite(value) and value >= 0.0):
                raise InputError(f"is {value}", element=f"{self.name}.{field}", remedy="Give zero or more")
        for field in ("origin", "centre"):
            if not cmath.isfinite(getattr(self, field)):
                raise InputError(
                    f"is {getattr(self, field)}", element=f"{self.name}.{field}", remedy="Give finite lengths"
                )
        if self.welded and self.parent is None:
            raise InputError("is welded to nothing", element=self.name, remedy="Name the parent it is welded to")

    @staticmethod
    def about_axis(
        name: str, parent: str | None, origin: complex, mass: float, centre: complex, inertia: float
    ) -> PlanarBody:
        """Return a body whose inertia is given about its axis O_i, as in the thesis' tables: I_G = I - m |a + i b|².

        Raises:
            InputError: as for the body itself, and an inertia smaller than that of the mass in its centre.
        """
        central = inertia - mass * abs(centre) ** 2
        if not central >= 0.0:
            raise InputError(
                f"inertia {inertia:g} about the axis is less than m (a² + b²) = {mass * abs(centre) ** 2:g}",
                element=f"{name}.inertia",
                remedy="Give the moment about the joint axis, not about the centre of mass",
            )
        return PlanarBody(name, parent, origin, mass, centre, central)
