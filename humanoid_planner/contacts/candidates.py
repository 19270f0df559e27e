# SPDX-License-Identifier: Apache-2.0
"""Where a couple may hold: the thesis' three strategies (specification 001 sections 6.7 and 7.2)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.checks import check_finite
from humanoid_model.contact import Contact, SurfaceForm
from humanoid_model.errors import InputError
from humanoid_model.fields import Described, number
from humanoid_planner.contacts.search_volume import SearchVolume, surface_volume
from humanoid_planner.contacts.stance import Couples, Hold
from humanoid_planner.equilibrium.support_polygon import clip_convex

#: Directions in which a patch is tried on a surface are no farther from each other than this [rad].
_TURN = math.radians(1.0)


@dataclass(frozen=True)
class Place:
    """What candidates depend on.

    Attributes:
        placement_world_surface: of the couple's surface.
        pelvis: (3,) of the robot's base in the parent's posture, world [m].
        rng: of this couple and node: the same whatever was done before.
        look: asked between draws; raises where the search has to stop.
    """

    placement_world_surface: pin.SE3
    pelvis: NDArray[np.float64]
    rng: np.random.Generator
    look: Callable[[], None] = lambda: None


class Candidates(ABC):
    """A strategy that names places before any posture is sought."""

    @abstractmethod
    def holds(self, couples: Couples, couple: int, place: Place) -> list[Hold]:
        """Places to try, in their order."""

    def why_none(self, couples: Couples, couple: int) -> str:
        """Return why a couple has no place wherever the robot is; empty where it may have some."""
        return ""


@dataclass(frozen=True)
class PredefinedCandidates(Candidates):
    """Places that the user names.

    Attributes:
        places: (x, y, theta) by names of location and surface.
    """

    places: Mapping[tuple[str, str], Sequence[tuple[float, float, float]]]

    def holds(self, couples: Couples, couple: int, place: Place) -> list[Hold]:
        """Return the couple's places."""
        names = couples.location(couple).name, couples.surface(couple).name
        return [Hold(couple, float(x), float(y), float(theta)) for x, y, theta in self.places.get(names, ())]

    def why_none(self, couples: Couples, couple: int) -> str:
        """Return that none is given, if so."""
        return "" if self.places.get(couples.names(couple)) else "no place is given"

    def check(self, couples: Couples) -> None:
        """Refuse places of couples that aren't there.

        Raises:
            InputError: a name that isn't among the couples', or a number that isn't finite.
        """
        for (location, surface), places in self.places.items():
            couples.number_of(location, surface)
            if not np.isfinite(np.asarray(places, dtype=float)).all():
                raise InputError(f"are {places}", element=f"candidates of {location} on {surface}")


@dataclass(frozen=True)
class RandomCandidates(Described, Candidates):
    """Uniform draws on the part of the surface near the pelvis on which the patch lies as a whole.

    Attributes:
        headings: of the patch's x axis on the surface [rad]; empty for all directions.
    """

    density: float = number(
        10.0, "candidates on 1 m^2; their number goes with the square root of the area", "1/m", low=0.0, above=True
    )
    radius: float = number(1.0, "of the sphere about the pelvis that they lie in", "m", low=0.0, above=True)
    turn: float = number(
        0.0, "largest angle of the patch's x axis from the directions in ``headings``", "rad", low=0.0
    )
    headings: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for index, heading in enumerate(self.headings):
            check_finite(heading, f"headings[{index}]")

    def holds(self, couples: Couples, couple: int, place: Place) -> list[Hold]:
        """Draws; their number is that of the area within reach."""
        surface, location = couples.surface(couple), couples.location(couple)
        centre = place.placement_world_surface.actInv(place.pelvis)
        if surface.form is not SurfaceForm.PLANE:
            volume: SearchVolume | None = SearchVolume(np.asarray(surface.polygon))
        elif abs(centre[2]) >= self.radius:
            return []
        else:
            reach = math.sqrt(self.radius**2 - centre[2] ** 2)
            volume = surface_volume(surface.polygon, centre[:2], reach)
        if volume is None:
            return []
        found = []
        for _ in range(round(self.density * math.sqrt(volume.area))):
            place.look()
            if self.headings:
                theta = float(place.rng.choice(self.headings)) + place.rng.uniform(-self.turn, self.turn)
            else:
                theta = place.rng.uniform(-math.pi, math.pi)
            room = volume.polygon
            if surface.polygon is not None:
                touching = Contact(location, surface, 0.0, 0.0, theta).touching
                room = _room(room, touching, np.asarray(surface.polygon, dtype=float), theta)
            if len(room) < 3:
                continue
            x, y = _draw(room, place.rng)
            if np.linalg.norm(surface.place(x, y, theta).translation - centre) <= self.radius:
                found.append(Hold(couple, x, y, theta))
        return found

    def why_none(self, couples: Couples, couple: int) -> str:
        """Return that the patch is too large for the surface in all directions, if so."""
        turn = self.turn if self.headings else math.pi
        return _misfit(couples, couple, self.headings or (0.0,), turn)


@dataclass(frozen=True)
class SearchVolumes(Described):
    """Places that the posture generator chooses in volumes, which are cut around what is found."""

    size: float = number(0.15, "delta l of the box that is cut out around a place", "m", low=0.0, above=True)
    angle: float = number(math.radians(30), "delta theta of it", "rad", low=0.0, above=True)
    radius: float = number(
        1.0, "half the width of the square that an unbounded surface is searched in, about the pelvis", "m", low=0.0,
        above=True,
    )  # fmt: skip

    def volume(self, couples: Couples, couple: int, place: Place) -> SearchVolume | None:
        """Return the upsilon of a couple; None where the surface is out of reach."""
        centre = place.placement_world_surface.actInv(place.pelvis)
        surface = couples.surface(couple)
        if surface.form is not SurfaceForm.PLANE:
            return SearchVolume(np.asarray(surface.polygon))
        return surface_volume(surface.polygon, centre[:2], self.radius)

    def why_none(self, couples: Couples, couple: int) -> str:
        """Return that the patch is too large for the surface in all directions, if so."""
        return _misfit(couples, couple, (0.0,), math.pi)

    def beside(self, volume: SearchVolume, hold: Hold) -> list[SearchVolume]:
        """Return what is left of a volume around a place that was found in it; a missed sliver is used up."""
        pieces = volume.without_box(hold.x, hold.y, hold.theta, self.size, self.angle)
        return [rest for rest in pieces if rest is not volume]


def _draw(polygon: NDArray[np.float64], rng: np.random.Generator) -> tuple[float, float]:
    """Return a uniform point of a convex polygon: a triangle of its fan by area, a point of it by the square root."""
    first, spokes = polygon[0], polygon[1:] - polygon[0]
    areas = spokes[:-1, 0] * spokes[1:, 1] - spokes[:-1, 1] * spokes[1:, 0]
    index = int(rng.choice(len(areas), p=areas / areas.sum()))
    a, b = math.sqrt(rng.uniform()), rng.uniform()
    x, y = first + a * ((1 - b) * spokes[index] + b * spokes[index + 1])
    return float(x), float(y)


def _room(
    part: NDArray[np.float64], patch: NDArray[np.float64], polygon: NDArray[np.float64], theta: float
) -> NDArray[np.float64]:
    """Return (k, 2) where in a part of a surface a patch turned by theta lies on it as a whole; empty where nowhere.

    On a rung or a rail, hardly wider than the patch, draws from the whole surface would miss that strip.
    """
    turn = np.array([[math.cos(theta), -math.sin(theta)], [math.sin(theta), math.cos(theta)]])
    for vertex in np.asarray(patch) @ turn.T:
        part = clip_convex(part, polygon - vertex)
        if len(part) < 3:
            break
    return part


def _misfit(couples: Couples, couple: int, headings: Sequence[float], turn: float) -> str:
    """Return that a couple's patch fits on the surface in no direction up to a turn from headings [rad]; else empty."""
    location, surface = couples.location(couple), couples.surface(couple)
    if surface.polygon is None:
        return ""
    polygon = np.asarray(surface.polygon, dtype=float)
    turns = np.linspace(-turn, turn, 2 * math.ceil(turn / _TURN) + 1)
    for theta in np.add.outer(headings, turns).ravel():
        touching = Contact(location, surface, 0.0, 0.0, float(theta)).touching
        if len(_room(polygon, touching, polygon, float(theta))) >= 3:
            return ""
    return f"{location.name} doesn't fit on it"
