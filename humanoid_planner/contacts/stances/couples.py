# SPDX-License-Identifier: Apache-2.0
"""Couples of robot location and surface, numbered (specification 001 section 2.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from humanoid_model.contact import ContactLocation, Surface
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene


class Couples:
    """Locations of a robot times surfaces of a scene; a couple's number is location * len(surfaces) + surface.

    Attributes:
        locations: of the robot that may hold.
        surfaces: of the scene that may be held on.
        allowed: numbers of couples that aren't forbidden, in their order.
    """

    def __init__(
        self,
        robot: Robot,
        scene: Scene,
        locations: Iterable[str],
        surfaces: Iterable[str] | None = None,
        forbidden: Collection[tuple[str, str]] = (),
    ) -> None:
        """Take what may hold on what.

        Args:
            robot: that has the locations.
            scene: that has the surfaces.
            locations: names.
            surfaces: names; None for all of the scene.
            forbidden: F, pairs of a location's or a link's name and a surface's.

        Raises:
            InputError: an unknown or repeated name, or none at all.
        """
        own = {surface.name: surface for surface in scene.surfaces}
        names = tuple(locations)
        surface_names = tuple(own) if surfaces is None else tuple(surfaces)
        for what, given, known in (
            ("locations", names, tuple(robot.contacts)),
            ("surfaces", surface_names, tuple(own)),
        ):
            if not given:
                raise InputError(
                    "is empty", element=what, remedy=f"Give some of {', '.join(known) or 'none there are'}"
                )
            for name in given:
                if name not in known:
                    raise InputError(f"unknown name '{name}'", element=what, remedy=f"Give some of {', '.join(known)}")
                if given.count(name) > 1:
                    raise InputError(f"'{name}' is given twice", element=what, remedy="Name each once")
        self.locations: tuple[ContactLocation, ...] = tuple(robot.contacts[name] for name in names)
        self.surfaces: tuple[Surface, ...] = tuple(own[name] for name in surface_names)
        robot_side = {name for location in self.locations for name in (location.name, location.link)}
        for location, surface in forbidden:
            if location not in robot_side or surface not in surface_names:
                raise InputError(
                    f"('{location}', '{surface}') names nothing of this problem",
                    element="forbidden",
                    remedy="Give pairs of a location or link and a surface",
                )
        self.allowed = tuple(
            self.number(i, j)
            for i, location in enumerate(self.locations)
            for j, surface in enumerate(self.surfaces)
            if not {(location.name, surface.name), (location.link, surface.name)} & set(forbidden)
        )

    def __len__(self) -> int:
        """Return the number of couples, forbidden ones included."""
        return len(self.locations) * len(self.surfaces)

    def number(self, location: int, surface: int) -> int:
        """Return the number of a couple of indices."""
        return location * len(self.surfaces) + surface

    def number_of(self, location: str, surface: str, element: str = "contact") -> int:
        """Return the number of a couple of names; errors call it ``element``.

        Raises:
            InputError: one of them isn't among those of this problem.
        """
        known, surfaces = [one.name for one in self.locations], [one.name for one in self.surfaces]
        if location not in known or surface not in surfaces:
            raise InputError(
                f"{location} on {surface} is no couple of this problem",
                element=element,
                remedy=f"Locations are {', '.join(known)}; surfaces are {', '.join(surfaces)}",
            )
        return self.number(known.index(location), surfaces.index(surface))

    def location(self, number: int) -> ContactLocation:
        """Return the location of a couple."""
        return self.locations[number // len(self.surfaces)]

    def surface(self, number: int) -> Surface:
        """Return the surface of a couple."""
        return self.surfaces[number % len(self.surfaces)]

    def names(self, number: int) -> tuple[str, str]:
        """Return the names of a couple's location and surface."""
        return self.location(number).name, self.surface(number).name

    def stances(self, most: int) -> int:
        """Return how many sets of 1 to ``most`` allowed couples there are, places aside: (2.10, E-31).

        Unlike there a link holds once at most: the sum of the coefficients of t to the powers 1 to ``most`` in the
        product over the links of 1 + (its couples) t.
        """
        counts = Counter(self.location(couple).link for couple in self.allowed)
        sizes = [1] + [0] * most
        for count in counts.values():
            sizes = [sizes[0], *(sizes[i] + count * sizes[i - 1] for i in range(1, most + 1))]
        return sum(sizes[1:])
