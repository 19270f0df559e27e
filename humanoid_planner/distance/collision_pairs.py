# SPDX-License-Identifier: Apache-2.0
"""Which volumes have to keep clear of each other, and by how much (specification 001 section 4.7, F075, F077)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol

import coal
import numpy as np
from numpy.typing import NDArray

from humanoid_model.contact import Contact, Stance
from humanoid_model.description import RobotDescription
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene
from humanoid_planner.distance.placed_volumes import PlacedVolume
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume
from humanoid_planner.distance.volume_mesh import volume_geometry

Bearing = Callable[[Contact], Collection[str] | None]
"""Names of the volumes that a contact lies on; None for all of the touched body's."""


class MovingBodies(Protocol):
    """Bodies that joints move, as :class:`humanoid_planner.kinematics.RobotKinematics` has them.

    Attributes:
        lower: lowest values of the joint variables, shape (nx,), infinite where unlimited.
        upper: highest values.
        rotations: of the bodies, shape (nb, 3, 3), after ``place_bodies``.
        origins: of the bodies, shape (nb, 3) [m].
    """

    rotations: NDArray[np.float64]
    origins: NDArray[np.float64]

    @property
    def lower(self) -> NDArray[np.float64]:
        """Lowest values."""

    @property
    def upper(self) -> NDArray[np.float64]:
        """Highest values."""

    def set(self, x: NDArray[np.float64]) -> None:
        """Take the joint variables, shape (nx,)."""

    def place_bodies(self) -> None:
        """Compute the bodies' placements."""

    def coordinates(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the joint variables of a configuration in Pinocchio's order."""


@dataclass(frozen=True)
class SelfPairs:
    """Pairs of a robot's volumes that can collide, and why the others are left out.

    Attributes:
        pairs: indices of volumes, shape (m, 2).
        adjacent: pairs of links next to each other along the robot, which joint limits keep apart.
        overlapping: pairs that are in each other whatever the joints do, or in the robot's own postures across a
            compound joint.
        distant: pairs that never came near.
    """

    pairs: NDArray[np.int64]
    adjacent: NDArray[np.int64]
    overlapping: NDArray[np.int64]
    distant: NDArray[np.int64]


def self_pairs(
    robot: Robot,
    volumes: Sequence[PlacedVolume],
    bodies: MovingBodies,
    *,
    samples: int = 1000,
    steps: int = 60,
    near: float = 0.01,
    seed: int = 0,
) -> SelfPairs:
    """Return pairs of volumes of one robot that have to be kept apart by a distance.

    Left out are volumes of one body; links next to each other along the robot, bodies without volumes skipped (F077:
    joint limits keep those apart); pairs that overlap in all sampled postures; pairs with at most three joints in
    between that overlap in one of the robot's own postures, which a compound joint does; and pairs that no posture
    brought nearer than ``near``: neither one of ``samples`` postures, uniform within the joint limits (a whole turn
    where there is none), nor a random descent of ``steps`` steps from the nearest of them. A pair that comes near only
    where that descent doesn't lead is lost.

    Args:
        robot: the robot.
        volumes: its volumes, ``owner`` being the link.
        bodies: what moves them.
        samples: number of random postures.
        steps: of the descent.
        near: distance up to which a pair has come near [m].
        seed: of the random postures.
    """
    description = robot.description
    chains = {volume.owner: _chain(description, volume.owner) for volume in volumes}
    covered = {chains[volume.owner][0] for volume in volumes}
    adjacent, candidates = [], []
    for i, j in itertools.combinations(range(len(volumes)), 2):
        one, other = chains[volumes[i].owner], chains[volumes[j].owner]
        if one[0] == other[0]:
            continue
        if _next_covered(one, covered) == other[0] or _next_covered(other, covered) == one[0]:
            adjacent.append((i, j))
        else:
            candidates.append((i, j))
    probe = _Probe(volumes, candidates, near)
    for q in robot.postures.values():
        x = bodies.coordinates(q)
        bodies.set(x)
        bodies.place_bodies()
        probe.look_closely(bodies.rotations, bodies.origins, x)
    in_postures = probe.overlapped.copy()
    random = np.random.default_rng(seed)
    lower = np.where(np.isfinite(bodies.lower), bodies.lower, -np.pi)
    upper = np.where(np.isfinite(bodies.upper), bodies.upper, np.pi)
    for x in random.uniform(lower, upper, size=(samples, len(lower))):
        bodies.set(x)
        bodies.place_bodies()
        probe.look(bodies.rotations, bodies.origins, x)
    for pair in np.flatnonzero(~probe.met):
        reach = 0.25 * (upper - lower)
        for _ in range(steps):
            x = np.clip(probe.nearest_at[pair] + reach * random.normal(size=len(lower)), lower, upper)
            bodies.set(x)
            bodies.place_bodies()
            if not probe.approach(pair, bodies.rotations, bodies.origins, x):
                reach *= 0.93
            if probe.met[pair]:
                break
    between = np.array([_joints_between(chains[volumes[i].owner], chains[volumes[j].owner]) for i, j in candidates])
    compound = in_postures & (between <= 3)
    stuck = compound | ~probe.apart
    kept = probe.met & ~stuck
    pairs = np.array(candidates, dtype=np.int64).reshape(-1, 2)
    return SelfPairs(
        pairs=pairs[kept],
        adjacent=np.array(adjacent, dtype=np.int64).reshape(-1, 2),
        overlapping=pairs[stuck],
        distant=pairs[~kept & ~stuck],
    )


class _Probe:
    """What is known of pairs from the postures seen so far.

    Attributes:
        met: pairs that have been near.
        apart: pairs that have been apart.
        overlapped: pairs that have been in each other when they were looked at closely.
        nearest: smallest gap seen [m].
        nearest_at: joint variables at which it was seen.
    """

    def __init__(self, volumes: Sequence[PlacedVolume], pairs: Sequence[tuple[int, int]], near: float) -> None:
        self._first = np.array([i for i, _ in pairs], dtype=np.int64)
        self._second = np.array([j for _, j in pairs], dtype=np.int64)
        self._body = np.array([volume.body for volume in volumes], dtype=np.int64)
        self._geometries, centres, radii = [], [], []
        for volume in volumes:
            assert isinstance(volume.volume, SphereTorusVolume)  # links have no others
            geometry = volume_geometry(volume.volume)
            geometry.computeLocalAABB()
            self._geometries.append(geometry)
            centres.append(np.array(geometry.aabb_center))
            radii.append(float(geometry.aabb_radius))
        self._centres, self._radii = np.array(centres).reshape(-1, 3), np.array(radii)
        self._near = near
        self.met = np.zeros(len(pairs), dtype=bool)
        self.apart = np.zeros(len(pairs), dtype=bool)
        self.overlapped = np.zeros(len(pairs), dtype=bool)
        self.nearest = np.full(len(pairs), np.inf)
        self.nearest_at: list[NDArray[np.float64]] = [np.zeros(0)] * len(pairs)

    def look(
        self, rotations: NDArray[np.float64], origins: NDArray[np.float64], x: NDArray[np.float64]
    ) -> None:
        """Take a posture into account for the pairs of which not everything is known."""
        self._measure(np.flatnonzero(~(self.met & self.apart)), rotations, origins, x)

    def look_closely(
        self, rotations: NDArray[np.float64], origins: NDArray[np.float64], x: NDArray[np.float64]
    ) -> None:
        """Take a posture into account for all pairs."""
        self._measure(np.arange(len(self.met)), rotations, origins, x)

    def approach(
        self, pair: int, rotations: NDArray[np.float64], origins: NDArray[np.float64], x: NDArray[np.float64]
    ) -> bool:
        """Take a posture into account for one pair; whether it is the nearest so far."""
        before = self.nearest[pair]
        self._measure(np.array([pair]), rotations, origins, x)
        return bool(self.nearest[pair] < before)

    def _measure(
        self,
        asked: NDArray[np.int64],
        rotations: NDArray[np.float64],
        origins: NDArray[np.float64],
        x: NDArray[np.float64],
    ) -> None:
        R, p = rotations[self._body], origins[self._body]
        centres = np.einsum("ijk,ik->ij", R, self._centres) + p
        first, second = self._first[asked], self._second[asked]
        gaps = np.linalg.norm(centres[first] - centres[second], axis=1) - self._radii[first] - self._radii[second]
        self.apart[asked[gaps > self._near]] = True
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        for pair in asked[gaps < np.maximum(self.nearest[asked], self._near)]:
            i, j = self._first[pair], self._second[pair]
            result.clear()
            gap = coal.distance(
                self._geometries[i], coal.Transform3s(R[i], p[i]),
                self._geometries[j], coal.Transform3s(R[j], p[j]), request, result,
            )  # fmt: skip
            self.met[pair] |= gap <= self._near
            self.apart[pair] |= gap > 0.0
            self.overlapped[pair] |= gap <= 0.0
            if gap < self.nearest[pair]:
                self.nearest[pair] = gap
                self.nearest_at[pair] = x


def _chain(description: RobotDescription, link: str) -> list[str]:
    """First links of the moving bodies from a link's own down to the root's: links fixed to each other are one body."""
    chain: list[str] = []
    at = link
    while True:
        joint = description.parent_joint.get(at)
        if joint is None:
            return [*chain, at]
        if joint.type != "fixed":
            chain.append(at)
        at = joint.parent


def _next_covered(chain: Sequence[str], covered: set[str]) -> str | None:
    """Return the nearest body towards the root that has a volume."""
    return next((body for body in chain[1:] if body in covered), None)


def _joints_between(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the number of joints that move two bodies relative to each other."""
    return len(set(one) ^ set(other))


def environment_pairs(
    robot: Robot,
    robot_volumes: Sequence[PlacedVolume],
    scene: Scene,
    scene_volumes: Sequence[PlacedVolume],
    *,
    robot_name: str | None = None,
    stance: Stance | None = None,
    bearing: Bearing | None = None,
) -> NDArray[np.int64]:
    """Return pairs of a robot's and a scene's volumes that have to be kept apart.

    Left out are pairs that the scene's rules let through, pairs that nothing moves, and the link of each contact of a
    stance, with the links fixed to it, against what it touches of a body.

    Args:
        robot: the robot.
        robot_volumes: its volumes, ``owner`` being the link.
        scene: the scene.
        scene_volumes: its volumes, ``owner`` being the body.
        robot_name: of the robot in the scene's rules; None is the robot's own name.
        stance: contacts that hold.
        bearing: see :func:`without_contacts`.

    Returns:
        Indices into ``[*robot_volumes, *scene_volumes]``, shape (m, 2).
    """
    name = robot.name if robot_name is None else robot_name
    pairs = [
        (i, len(robot_volumes) + j)
        for i, own in enumerate(robot_volumes)
        for j, other in enumerate(scene_volumes)
        if own.body != other.body and scene.collides(f"{name}/{own.owner}", other.owner)
    ]
    found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    if stance is None:
        return found
    return without_contacts(
        robot, [*robot_volumes, *scene_volumes], found, stance, robot_name=robot_name, bearing=bearing
    )


def without_contacts(
    robot: Robot,
    volumes: Sequence[PlacedVolume],
    pairs: NDArray[np.int64],
    stance: Stance,
    *,
    robot_name: str | None = None,
    bearing: Bearing | None = None,
) -> NDArray[np.int64]:
    """Pairs less those of bodies that a stance's contacts hold against each other (F075).

    Args:
        robot: the robot of the stance.
        volumes: that the pairs are of.
        pairs: shape (m, 2).
        stance: contacts that hold; a surface of the robot itself belongs to the body ``robot/link`` or ``link``.
        robot_name: of the robot in such names; None is the robot's own name.
        bearing: which volumes of the touched bodies the contacts lie on; None is all of them.
    """
    name = robot.name if robot_name is None else robot_name
    description = robot.description
    bodies = np.array([_body_name(description, volume.owner) for volume in volumes])
    a, b = pairs[:, 0], pairs[:, 1]
    touching = np.zeros(len(pairs), dtype=bool)
    for contact in stance.contacts:
        link = _body_name(description, contact.location.link)
        touched = _body_name(description, contact.surface.body.removeprefix(f"{name}/"))
        names = None if bearing is None else bearing(contact)
        holding, under = bodies == link, bodies == touched
        if names is not None:
            under &= np.array([volume.name in names for volume in volumes], dtype=bool)
        touching |= (holding[a] & under[b]) | (holding[b] & under[a])
    return pairs[~touching]


def _body_name(description: RobotDescription, owner: str) -> str:
    """First link of the body that a link belongs to; the name itself for what is no link."""
    joint = description.parent_joint.get(owner)
    while joint is not None and joint.type == "fixed":
        owner = joint.parent
        joint = description.parent_joint.get(owner)
    return owner


@dataclass(frozen=True)
class MarginRule:
    """Margin of all pairs of volumes whose names match two patterns, in either order.

    Attributes:
        first: name or pattern, for example ``RARM_*``.
        second: likewise.
        margin: smallest distance [m]; a negative one lets the volumes overlap that much.

    Raises:
        InputError: the margin is not a number.
    """

    first: str
    second: str
    margin: float

    def __post_init__(self) -> None:
        if math.isnan(self.margin):
            raise InputError(
                "is nan", element=f"margin of {self.first} and {self.second}", remedy="Give a number of metres"
            )


def pair_margins(
    volumes: Sequence[PlacedVolume],
    pairs: NDArray[np.int64],
    margin: float = 0.0,
    rules: Sequence[MarginRule] = (),
) -> NDArray[np.float64]:
    """Smallest distance allowed for each pair, in addition to the volumes' own margins (F044).

    Args:
        volumes: that the pairs are of.
        pairs: shape (m, 2).
        margin: of pairs that no rule matches [m].
        rules: of several that match a pair the last one counts.

    Returns:
        Margins, shape (m,) [m].
    """
    margins = np.full(len(pairs), float(margin))
    if not rules:
        return margins
    for index, (i, j) in enumerate(pairs):
        a, b = volumes[i].name, volumes[j].name
        for rule in rules:
            if (fnmatchcase(a, rule.first) and fnmatchcase(b, rule.second)) or (
                fnmatchcase(b, rule.first) and fnmatchcase(a, rule.second)
            ):
                margins[index] = rule.margin
    return margins
