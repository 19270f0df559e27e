# SPDX-License-Identifier: Apache-2.0
"""What a robot can collide with: volumes around its links and around a scene's bodies, and the pairs that matter.

What was found out about its self-collisions takes seconds, and is kept on disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import warnings
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from humanoid_model.archive import keep
from humanoid_model.contact import Contact, Stance
from humanoid_model.description import RobotDescription
from humanoid_model.errors import RobotWarning
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene
from humanoid_model.self_overlap import own_postures, self_overlap
from humanoid_planner.distance.collision_pairs import (
    MarginRule,
    environment_pairs,
    pair_margins,
    self_pairs,
    without_contacts,
)
from humanoid_planner.distance.compound_limit import CompoundLimit, compound_joints, compound_reports
from humanoid_planner.distance.distance_pairs import DistancePairs
from humanoid_planner.distance.placed_volumes import (
    HalfSpace,
    PlacedVolume,
    robot_volumes,
    scene_shapes,
    volumes_around,
)
from humanoid_planner.distance.rounded_hull import RoundedHull
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume
from humanoid_planner.distance.volume_store import store_folder
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.tasks.collision_task import CollisionTask, CompoundTask, PairDistances

_CONTENT = b"self-collisions 2"
"""Changes whenever pairs or functions are found otherwise: files of an older kind are then not found."""


def store_path(robot: Robot, volumes: Sequence[PlacedVolume], folder: Path | None = None) -> Path:
    """File for a robot with these volumes: named by URDF, postures, limits and volumes.

    Args:
        robot: the robot.
        volumes: around its links.
        folder: where files are kept; None is that of the volumes.
    """
    content = hashlib.sha256(_CONTENT)
    content.update(robot.urdf.encode())
    for name in sorted(robot.postures):
        content.update(name.encode() + np.asarray(robot.postures[name], dtype="<f8").tobytes())
    content.update(np.concatenate([robot.limits.lower, robot.limits.upper]).astype("<f8").tobytes())
    for placed in volumes:
        content.update(f"{placed.name} {placed.owner} {placed.body}".encode())
        if isinstance(placed.volume, SphereTorusVolume):
            content.update(np.asarray(placed.volume.vertices, dtype="<f8").tobytes())
            content.update(np.array([placed.volume.r, placed.volume.R], dtype="<f8").tobytes())
    return (store_folder() if folder is None else folder) / f"pairs-{content.hexdigest()}.npz"


def load_pairs(path: Path, robot: Robot) -> tuple[NDArray[np.int64], tuple[CompoundLimit, ...]] | None:
    """Pairs (m, 2) that distances keep apart, and functions of compound joints; None when nothing is kept."""
    joints = {joint.joints: joint for joint in compound_joints(robot.description)}
    # A file that was cut short or belongs to something else is made anew.
    with contextlib.suppress(OSError, ValueError, KeyError, zipfile.BadZipFile), np.load(path) as file:
        limits = []
        for index in range(int(file["count"])):
            names = tuple(str(name) for name in file[f"joints_{index}"])
            limits.append(
                CompoundLimit(
                    joint=joints[names],
                    pairs=tuple((str(a), str(b)) for a, b in file[f"pairs_{index}"].reshape(-1, 2)),
                    exponents=file[f"exponents_{index}"],
                    coefficients=file[f"coefficients_{index}"],
                    colliding=float(file[f"shares_{index}"][0]),
                    lost=float(file[f"shares_{index}"][1]),
                )
            )
        return file["pairs"].reshape(-1, 2), tuple(limits)
    return None


def save_pairs(path: Path, pairs: NDArray[np.int64], limits: Sequence[CompoundLimit]) -> None:
    """Keep pairs and functions; a folder that can't be written to keeps nothing."""
    arrays: dict[str, NDArray[np.generic]] = {"pairs": pairs, "count": np.array(len(limits))}
    for index, limit in enumerate(limits):
        arrays[f"joints_{index}"] = np.array(limit.joint.joints)
        arrays[f"pairs_{index}"] = np.array(limit.pairs)
        arrays[f"exponents_{index}"] = limit.exponents
        arrays[f"coefficients_{index}"] = limit.coefficients
        arrays[f"shares_{index}"] = np.array([limit.colliding, limit.lost])
    keep(path, arrays)


#: Radii of the volumes: margin around the shapes and smoothness of their faces (specification 001 P06, P08) [m].
SMALL_RADIUS, BIG_RADIUS = 0.01, 20.0

#: Distances count in full up to the largest margin and this much more [m].
_AROUND = 0.2
#: Parts that rise no more than this above a surface [m] are under it.
_FLUSH = 1e-3
#: Pairs that overlap in a robot's own postures may come nearer than there by this [m].
_PLAY = 1e-3

MakeDistances = Callable[[Sequence[PlacedVolume], NDArray[np.int64]], PairDistances]


@dataclass(frozen=True)
class PostureOverlap:
    """Two volumes of a robot that are in each other in one of the robot's own postures.

    Attributes:
        first: name of one volume.
        second: name of the other.
        posture: the one in which they are deepest in each other.
        distance: there, below zero [m].
    """

    first: str
    second: str
    posture: str
    distance: float


@dataclass(frozen=True, eq=False)
class _RobotVolumes:
    volumes: tuple[PlacedVolume, ...]
    pairs: NDArray[np.int64]
    limits: tuple[CompoundLimit, ...]
    overlaps: tuple[PostureOverlap, ...]


_ROBOTS: WeakKeyDictionary[Robot, dict[tuple[float, float], _RobotVolumes]] = WeakKeyDictionary()


class CollisionModel:
    """Volumes of a robot and of the scene around it, made once for many postures.

    A robot's volumes are kept on disk, and the pairs of them that can collide are found by sampling postures, which
    takes a second or two for a humanoid, and remembered as long as the robot is in use.

    Attributes:
        robot: whose collisions these are.
        scene: around it, None for the robot alone.
        volumes: of the robot, then of the scene.
        self_pairs: (m, 2) indices of the robot's volumes that can collide and are kept apart by their distance.
        limits: functions that keep links around compound joints apart (section 4.8).
        overlaps: pairs that the robot's own postures leave no margin: volumes are wider than shapes. Such a pair may
            be as deep in each other as there; a :class:`RobotWarning` says so once for each robot.
    """

    def __init__(
        self,
        robot: Robot,
        scene: Scene | None = None,
        *,
        r: float = SMALL_RADIUS,
        R: float = BIG_RADIUS,
        make_distances: MakeDistances | None = None,
    ) -> None:
        """Build the volumes.

        Args:
            robot: whose links they surround.
            scene: whose bodies they surround.
            r: small radius of the volumes, which is a margin around the shapes [m].
            R: big radius [m].
            make_distances: what computes the distances, for comparisons; None is :class:`DistancePairs`.

        Raises:
            InputError: a mesh can't be read, or radii that can't be used.
        """
        known = _ROBOTS.setdefault(robot, {})
        if (r, R) not in known:
            kinematics = RobotKinematics(robot)
            own = tuple(robot_volumes(robot, kinematics.body_of, r, R))
            path = store_path(robot, own)
            found = load_pairs(path, robot)
            if found is None:
                reports = compound_reports(robot, r)
                limits = tuple(report.limit for report in reports if report.limit is not None)
                pairs = self_pairs(robot, own, kinematics).pairs
                found = _without_limited(own, pairs, limits), limits
                save_pairs(path, *found)
            overlaps = _own_overlaps(robot, kinematics, own, found[0])
            known[r, R] = _RobotVolumes(own, *found, overlaps)
        self.robot, self.scene, self._r = robot, scene, r
        self._links = set(robot.description.links)
        self._own = known[r, R].volumes
        self._shapes = tuple(scene_shapes(scene)) if scene is not None else ()
        self._around = tuple(volumes_around(self._shapes, r, R))
        self.volumes = (*self._own, *self._around)
        self.self_pairs = known[r, R].pairs
        self.limits = known[r, R].limits
        self.overlaps = known[r, R].overlaps
        self._make = make_distances
        around: NDArray[np.int64] = np.zeros((0, 2), dtype=np.int64)
        if scene is not None:
            around = environment_pairs(robot, self._own, scene, self._around, robot_name=self._robot_name())
        self._pairs: NDArray[np.int64] = np.concatenate([self.self_pairs, around])
        place = {volume.name: index for index, volume in enumerate(self._own)}
        # Margins that the robot's own postures leave, by pair of volumes.
        self._left = np.full((len(self.volumes), len(self.volumes)), np.inf)
        for one in self.overlaps:
            ends = place[one.first], place[one.second]
            self._left[ends] = self._left[ends[::-1]] = one.distance - _PLAY
        self._distances = DistancePairs([*self.volumes, *self._shapes], [])

    def task(self, stance: Stance, *, margin: float = 0.0, rules: Sequence[MarginRule] = ()) -> CollisionTask | None:
        """Return distances that a posture in a stance has to keep; None when nothing can collide.

        A contact's link may touch what bears the contact's surface: the parts of the body that lie under it. What
        rises beside it is kept clear. Links up to two joints from a contact, and its own beside those parts, may come
        as near to the touched body as their shapes allow: fingers that lie on a table have the palm a few millimetres
        above it, and the volumes' margins would forbid the contact. What remains for such a pair is the distance
        of the link's volume, less its margin, and the body's shape. Where a search ends, the robot's true shapes are
        in each other nowhere deeper than in its own postures, unless a negative margin asks for that or a contact is on
        the robot itself.

        Args:
            stance: contacts.
            margin: smallest distance, beyond the volumes' own margin [m]; a negative one lets volumes overlap. Pairs
                that overlap in the robot's own postures keep what these leave.
            rules: margins of certain pairs; they count beside contacts and in the robot's own postures too.
        """
        name = self._robot_name()
        pairs = without_contacts(
            self.robot, self.volumes, self._pairs, stance, robot_name=name, bearing=self._bearing
        )
        # Who lets volumes overlap, or holds the robot on itself, has shapes in each other on purpose.
        on_itself = any(contact.surface.body.removeprefix(f"{name}/") in self._links for contact in stance.contacts)
        meant = on_itself or min([margin, *(rule.margin for rule in rules)]) < 0.0
        itself = None if meant else self_overlap(self.robot)
        if not len(pairs) and (itself is None or not itself.pairs):
            return None
        ruled = pair_margins(self.volumes, pairs, np.nan, rules)
        margins = np.where(np.isnan(ruled), np.minimum(margin, self._left[tuple(pairs.T)]), ruled)
        beside = np.isnan(ruled) & self._beside_contacts(pairs, stance, name)
        own = pairs[:, 1] < len(self._own)
        margins[beside & own] = np.minimum(margins[beside & own], -2.0 * self._r)
        margins[beside & ~own] = -self._r
        # The shape of a scene's volume comes as many places after it.
        pairs[beside & ~own, 1] += len(self._around)
        if self._make is not None:
            return CollisionTask(self._make(self._distances.volumes, pairs), margins, itself)
        distances = self._distances.with_pairs(pairs, cutoff=margins.max(initial=0.0) + _AROUND)
        return CollisionTask(distances, margins, itself)

    def _beside_contacts(self, pairs: NDArray[np.int64], stance: Stance, name: str) -> NDArray[np.bool_]:
        """(m,) whether a pair is a link up to two joints from a contact, and the link or body that it touches."""
        description = self.robot.description
        owners = [volume.owner for volume in self.volumes]
        a, b = pairs.T
        beside = np.zeros(len(pairs), dtype=bool)
        for contact in stance.contacts:
            links = _neighbours(description, _neighbours(description, {contact.location.link}))
            near = np.array([owner in links for owner in owners])
            body = contact.surface.body.removeprefix(f"{name}/")
            touched = np.array([owner == body for owner in owners])
            beside |= (near[a] & touched[b]) | (near[b] & touched[a])
        return beside

    def _bearing(self, contact: Contact) -> set[str] | None:
        """Parts of a scene's body that lie under a contact's surface; None for all: of a link, or where none does.

        Parts that rise beside it don't bear it: a riser, a wall, a back rest.
        """
        surface = contact.surface
        parts = [shape for shape in self._shapes if shape.owner == surface.body]
        if self.scene is None or not parts:
            return None
        body = next(body for body in self.scene.bodies if body.name == surface.body)
        place = body.placement_world_body * surface.placement_body_surface
        middle = np.zeros(2) if surface.polygon is None else surface.polygon.mean(axis=0)
        point = place.act(np.array([*middle, 0.0]))
        names = set()
        for part in parts:
            if isinstance(part.volume, HalfSpace):
                under = bool(part.volume.height(point) <= _FLUSH)
            else:
                assert isinstance(part.volume, RoundedHull)  # what scene_shapes makes
                heights = (part.volume.points - place.translation) @ place.rotation[:, 2] + part.volume.radius
                under = heights.max() <= _FLUSH or part.volume.distance(point) <= _FLUSH
            if under:
                names.add(part.name)
        return names or None

    def compound_task(self, kinematics: RobotKinematics) -> CompoundTask | None:
        """Return limits of the robot's compound joints; None when it has none."""
        return CompoundTask(kinematics, self.limits) if self.limits else None

    def _robot_name(self) -> str:
        placed = () if self.scene is None else self.scene.robots
        return next((one.name for one in placed if one.robot is self.robot), self.robot.name)


def _own_overlaps(
    robot: Robot, kinematics: RobotKinematics, volumes: Sequence[PlacedVolume], pairs: NDArray[np.int64]
) -> tuple[PostureOverlap, ...]:
    """Return pairs that overlap in the postures of the robot's file, or in ``zero`` where it has none."""
    if not len(pairs):
        return ()
    distances = DistancePairs(volumes, pairs, cutoff=_AROUND)
    names = list(own_postures(robot))
    values = np.empty((len(names), len(pairs)))
    for row, name in enumerate(names):
        kinematics.set(kinematics.coordinates(robot.postures[name]))
        kinematics.place_bodies()
        distances.evaluate(kinematics.rotations, kinematics.origins)
        values[row] = distances.values
    deepest = values.argmin(axis=0)
    overlaps = tuple(
        PostureOverlap(volumes[a].name, volumes[b].name, names[deepest[index]], float(values[deepest[index], index]))
        for index, (a, b) in enumerate(pairs)
        if values[deepest[index], index] < 0.0
    )
    if overlaps:
        told = ", ".join(
            f"{one.first} and {one.second} by {-1e3 * one.distance:.1f} mm in '{one.posture}'" for one in overlaps[:5]
        )
        more = f" and {len(overlaps) - 5} more pairs" if len(overlaps) > 5 else ""
        warnings.warn(
            f"robot '{robot.name}': volumes overlap in its own postures, which leave these less margin: {told}{more}",
            RobotWarning,
            stacklevel=3,
        )
    return overlaps


def _neighbours(description: RobotDescription, links: set[str]) -> set[str]:
    """Links, and those that a joint connects them with."""
    found = set(links)
    for link in links:
        found |= {joint.child for joint in description.child_joints[link]}
        if link in description.parent_joint:
            found.add(description.parent_joint[link].parent)
    return found


def _without_limited(
    volumes: Sequence[PlacedVolume], pairs: NDArray[np.int64], limits: Sequence[CompoundLimit]
) -> NDArray[np.int64]:
    """Pairs less those that a compound joint's function keeps apart."""
    limited = {frozenset(pair) for limit in limits for pair in limit.pairs}
    kept = [frozenset((volumes[a].owner, volumes[b].owner)) not in limited for a, b in pairs]
    return np.asarray(pairs[np.array(kept, dtype=bool)])
