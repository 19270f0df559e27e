# SPDX-License-Identifier: Apache-2.0
"""A way from one posture of a plan to the next that keeps to the contacts of both (section 8.2)."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import coal
import numpy as np
import pinocchio as pin

from humanoid_model.arrays import Array
from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.configuration_path import ConfigurationPath
from humanoid_model.contact import Contact, ContactLocation, Stance
from humanoid_model.progress import Watch
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene
from humanoid_planner.equilibrium.force_distribution import moving_forces
from humanoid_planner.motion.body_path import BodyPath
from humanoid_planner.motion.constrained_search import ConstrainedSearch
from humanoid_planner.motion.motion import MotionSettings, Transition
from humanoid_planner.motion.stance_postures import StancePostures
from humanoid_planner.motion.time_laws import loaded_points

#: How strongly a body's way is drawn along the normals, tried in this order [m].
LIFTS = (0.03, 0.08, 0.15, 0.25)
#: How far aside a way may go around what is between, tried after that [m].
ASIDE = (0.12, -0.12, 0.2, -0.2)
#: Way of a joint [rad] and of a moving body [m] between two projected postures, and the fewest and most of these.
_JOINT_WAY, _BODY_WAY = 0.2, 0.06
_FEWEST, _MOST = 4, 24
#: Postures that are pulled onto the contacts between two projected ones.
_BETWEEN = 6
#: A step between projected postures that is so many times as long as the straight line's is a jump, beyond a little.
_JUMP, _LITTLE = 3.0, 0.1
#: Part of a piece from which on such a step isn't cut in halves any more.
_FINEST = 0.2
#: Postures that are put in where what is between others collides.
_REPAIRS = 12
#: Parts of the straight piece along a normal at which postures lead to where a search begins.
_OFF = (0.2, 0.4, 0.6, 0.8, 1.0)
#: How far a body may sink into what it leaves or comes to [m].
_SUNK = 5e-4
#: Way of a moving body from one look at its distances to the next [m], and looks from one searched posture to the next.
_LOOKED, _LOOKS = 2e-3, 40
#: By how much a searched posture may miss margins of distances [m]; the spline through it needs room.
_EXACT = 1e-4
#: Searches, each from other random numbers.
_ATTEMPTS = 3
#: Joints that a body is led by; with fewer its path would leave it no freedom.
_LIMB = 6


Moving = tuple[ContactLocation, BodyPath, frozenset[str]]
"""What is led, where, and the bodies of the scene that it leaves and comes to."""


def find_step_path(
    postures: StancePostures,
    transition: Transition,
    first: Array,
    last: Array,
    settings: MotionSettings,
    restless: Callable[[ConfigurationPath], float | None],
    *,
    straight: bool = True,
    search: bool = True,
) -> tuple[ConfigurationPath, bool] | str:
    """Return a way from posture to posture and whether it had to be searched for, or why none was found.

    The bodies' paths are tried from the flattest to the highest; one on which a body would touch what it isn't about
    to is left out before any posture is sought.

    Args:
        postures: of the robot.
        transition: between the two.
        first: (nq,) posture at the beginning.
        last: (nq,) posture at the end.
        settings: lengths and clearance.
        restless: tells where on a path forces and torques don't hold the robot; None where they do everywhere.
        straight: try ways along the straight line between the postures.
        search: search for a way where there is none of these.
    """
    reason = ""
    clear = _Clearance(postures.robot, postures.scene, settings.clearance, postures.watch)
    for moving in _ways(postures, transition, first, last, settings) if straight else ():
        problem = next((found for found in (clear.problem(*item) for item in moving) if found), "")
        if problem:
            reason = reason or problem
            continue
        found = _Projection(postures, transition, first, last, moving).path(settings.samples, restless)
        if not isinstance(found, str):
            return found, False
        reason = found
    if not search or len(settings.via.get(transition.index, ())) or not postures.pulls_tasks:
        return reason  # a search knows no points, and of tasks only geometric ones
    searched = ""
    for attempt in range(_ATTEMPTS):
        found = _search(postures, transition, first, last, settings, restless, attempt)
        if isinstance(found, ConfigurationPath):
            return found, True
        searched = found
    return f"{reason}; {searched}" if reason else searched


def blocked_ways(
    postures: StancePostures, transition: Transition, first: Array, last: Array, settings: MotionSettings
) -> int:
    """Return how many of the moving bodies' paths are blocked before the first that is free; takes milliseconds.

    Args:
        postures: of the robot.
        transition: between the two.
        first: (nq,) posture at the beginning.
        last: (nq,) posture at the end.
        settings: lengths and clearance.
    """
    clear, blocked = _Clearance(postures.robot, postures.scene, settings.clearance, postures.watch), 0
    for moving in _ways(postures, transition, first, last, settings):
        if not any(clear.problem(*item) for item in moving):
            break
        blocked += 1
    return blocked


def _search(
    postures: StancePostures,
    transition: Transition,
    first: Array,
    last: Array,
    settings: MotionSettings,
    restless: Callable[[ConfigurationPath], float | None],
    attempt: int,
) -> ConfigurationPath | str:
    """Return a way on which bodies are led along the normals alone and free between, or why none was found."""
    model, robot = postures.robot.model, postures.robot
    frames = [(c.location, postures.placed(c).placement_ground_contact) for c in transition.held.contacts]
    nears = [_near(transition, 0.0), _near(transition, 1.0)]
    data, still = model.createData(), np.zeros(model.nv)
    points = loaded_points(
        robot, [postures.placed(contact) for contact in transition.held.contacts], 0.75 * settings.reserve
    )
    efforts = postures.effort * robot.limits.effort

    clear = _Clearance(robot, postures.scene, settings.clearance, postures.watch)
    ends_of = [contact for contact in (transition.leaving, transition.arriving) if contact is not None]
    bodies = frozenset(contact.surface.body for contact in ends_of)

    def sunk(q: Array, gap: float) -> bool:
        """Return whether a moving link is nearer than a gap to what it leaves or comes to [m]."""
        links = robot.link_placements(q)
        frames = ((c.location, links[c.location.link] * c.location.placement_link_patch) for c in ends_of)
        return any(clear.gap(location, place, bodies) < gap for location, place in frames)

    def allowed(q: Array, gap: float) -> bool:
        postures.watch.check()
        if all(postures.clash(near, q, _EXACT) for near in nears) or sunk(q, gap):
            return False
        return moving_forces(model, data, points, (q, still, still), efforts) is not None

    ends = []
    for contact, q in ((transition.leaving, first), (transition.arriving, last)):
        way = [q]
        if contact is not None:
            surface, near = postures.placed(contact).placement_ground_contact, transition.held.adding(contact)
            for share in _OFF:
                place = surface * pin.SE3(np.eye(3), np.array([0.0, 0.0, share * settings.approach]))
                result = postures.between(transition.held, near, way[-1], way[-1], [(contact.location, place)])
                if not result.success:
                    return f"{contact.location.name} can't go {1e3 * share * settings.approach:.0f} mm off its surface"
                way.append(result.q)
        ends.append(way)

    def pull(q: Array) -> Array | None:
        return postures.pulled(q, frames)

    search = ConstrainedSearch(model, pull, lambda q: allowed(q, 0.5 * settings.approach), [settings.seed, attempt])
    found = search.find(ends[0][-1], ends[1][-1], settings.searched)
    if found is None:
        return f"no way was found among {settings.searched} random postures either"
    knots = [*ends[0][:-1], *found, *reversed(ends[1][:-1])]
    gaps = [np.linalg.norm(pin.difference(model, one, other)) for one, other in itertools.pairwise(knots)]
    kept = [0, *(k + 1 for k, gap in enumerate(gaps) if gap > 1e-6)]
    steps = np.concatenate([[0.0], np.cumsum(gaps)])
    projection = _Projection(postures, transition, first, last, ())
    projection.steps = [float(steps[k] / steps[-1]) for k in kept]
    projection.knots = [knots[k] for k in kept]
    looks = np.linspace(0.0, 1.0, _LOOKS * len(kept) + 1)

    def trouble() -> tuple[ConfigurationPath | None, float, str]:
        """Return the path, or where it can't be gone and why."""
        path = projection.pulled(nears)
        if not isinstance(path, ConfigurationPath):
            return None, *path
        for s in map(float, looks):
            if sunk(path.at(s), -_SUNK):
                return None, s, f"a body sinks into what it leaves or comes to at {s:.0%} of the way"
        place = restless(path)
        return (path, 1.0, "") if place is None else (None, place, f"nothing holds the robot at {place:.0%} of the way")

    for _ in range(_REPAIRS):
        path, place, problem = trouble()
        if path is not None:
            return path
        # The spline leaves what the straight pieces between searched postures keep to: one more on them holds it.
        index = min(max(bisect.bisect(projection.steps, place), 1), len(projection.steps) - 1)
        one, other = projection.knots[index - 1 : index + 1]
        middle = pull(pin.interpolate(model, one, other, 0.5))
        if middle is None or not allowed(middle, -_SUNK):
            break
        projection.steps.insert(index, 0.5 * (projection.steps[index - 1] + projection.steps[index]))
        projection.knots.insert(index, middle)
    return f"on the way that was searched {problem}"


def _ways(
    postures: StancePostures, transition: Transition, first: Array, last: Array, settings: MotionSettings
) -> Iterator[list[Moving]]:
    """Paths of the moving bodies, one set after the other; one empty set where none moves."""
    given = settings.via.get(transition.index, ())
    shapes = [*((lift, 0.0) for lift in LIFTS), *((lift, aside) for aside in ASIDE for lift in LIFTS[1:3])]
    if len(given) or (transition.leaving is None and transition.arriving is None):
        shapes = shapes[:1]
    for lift, aside in shapes:
        moving: list[Moving] = []
        ends: dict[str, list[Contact | None]] = {}
        for end, contact in enumerate((transition.leaving, transition.arriving)):
            if contact is not None and _led(postures.robot, contact.location):
                ends.setdefault(contact.location.link, [None, None])[end] = contact
        for leaving, arriving in ends.values():
            location = next(contact.location for contact in (arriving, leaving) if contact is not None)
            start = _place(postures, location, leaving, first)
            end = _place(postures, location, arriving, last)
            via = given if not aside else [_beside(start, end, lift, aside)]
            path = BodyPath(
                start,
                end,
                leaves=leaving is not None,
                arrives=arriving is not None,
                approach=settings.approach,
                lift=lift,
                via=via,
            )
            own = frozenset(contact.surface.body for contact in (leaving, arriving) if contact is not None)
            moving.append((location, path, own))
        yield moving


def _beside(start: pin.SE3, end: pin.SE3, lift: float, aside: float) -> Array:
    """(3,) point beside the middle of a way, and above it [m]."""
    up = start.rotation[:, 2] + end.rotation[:, 2]
    up = up / max(float(np.linalg.norm(up)), 1e-9)
    along = end.translation - start.translation
    across = np.cross(up, along)
    across = across / max(float(np.linalg.norm(across)), 1e-9)
    rise = abs(float(along @ up)) / 2.0
    return np.asarray(0.5 * (start.translation + end.translation) + (rise + lift) * up + aside * across)


def _led(robot: Robot, location: ContactLocation) -> bool:
    joint, count = robot.parts.links[location.link].joint_id, 0
    while joint not in (0, robot.base_joint):
        count += robot.model.joints[joint].nv
        joint = robot.model.parents[joint]
    return count >= _LIMB


def _place(postures: StancePostures, location: ContactLocation, contact: Contact | None, q: Array) -> pin.SE3:
    """Return a location's frame in the world: from the contact of its link, or where the posture has it."""
    if contact is not None:
        other = contact.location.placement_link_patch
        return postures.placed(contact).placement_ground_contact * other.actInv(location.placement_link_patch)
    return postures.robot.link_placements(q)[location.link] * location.placement_link_patch


class _Projection:
    """Postures along one set of ways, as many as it takes."""

    def __init__(
        self, postures: StancePostures, transition: Transition, first: Array, last: Array, moving: Sequence[Moving]
    ) -> None:
        self._postures, self._transition, self._moving = postures, transition, moving
        self._model = postures.robot.model
        self._first, self._straight = first, pin.difference(self._model, first, last)
        self._held = [(c.location, postures.placed(c).placement_ground_contact) for c in transition.held.contacts]
        self.steps, self.knots = [0.0, 1.0], [first, last]

    def path(self, samples: int, restless: Callable[[ConfigurationPath], float | None]) -> ConfigurationPath | str:
        """Return the projected way, or why there is none.

        Args:
            samples: postures to begin with; 0 for as many as the way is long.
            restless: tells where on a path forces and torques don't hold the robot.
        """
        lengths = [path.length / _BODY_WAY for _, path, _ in self._moving]
        way = max([float(np.abs(self._straight).max()) / _JOINT_WAY, *lengths])
        pieces = samples + 1 if samples else int(np.clip(math.ceil(way), _FEWEST, _MOST))
        for s in np.linspace(0.0, 1.0, pieces + 1)[1:-1]:
            problem = self._project(float(s))
            if problem:
                return problem
        # A steep part shows more of itself in halves; a jump stays as long as it is.
        far = _JUMP * float(np.linalg.norm(self._straight)) / pieces + _LITTLE
        index = 0
        while index + 1 < len(self.steps):
            one, other = self.steps[index], self.steps[index + 1]
            if self._apart(index) <= far:
                index += 1
                continue
            problem = self._project(0.5 * (one + other))
            if problem or (other - one) * pieces < _FINEST:
                return problem or f"the projection jumps at {other:.0%} of the way"
        for _ in range(_REPAIRS):
            found = self.pulled()
            if isinstance(found, ConfigurationPath):
                place = restless(found)
                if place is None:
                    return found
                found = place, f"forces and torques within the limits don't hold the robot at {place:.0%} of the way"
            s, problem = found
            if min(abs(s - known) for known in self.steps) * pieces < 0.05 or self._project(s):
                break
        return problem

    def _apart(self, index: int) -> float:
        return float(np.linalg.norm(pin.difference(self._model, self.knots[index], self.knots[index + 1])))

    def _project(self, s: float) -> str:
        """Put in the posture that is nearest to the straight line at s; return why there is none."""
        index = bisect.bisect(self.steps, s)
        goal = pin.integrate(self._model, self._first, s * self._straight)
        frames = [(location, path.placement(s)) for location, path, _ in self._moving]
        near = _near(self._transition, s)
        result = self._postures.between(self._transition.held, near, goal, self.knots[index - 1], frames)
        if not result.success:
            worst = "; ".join(str(violation) for violation in result.violations[:2])
            return f"no posture at {s:.0%} of the way: {worst}"
        self.steps.insert(index, s)
        self.knots.insert(index, result.q)
        return ""

    def pulled(self, nears: Sequence[Stance] = ()) -> ConfigurationPath | tuple[float, str]:
        """Return the spline through the postures, pulled onto contacts and ways, or where it can't be, and why.

        Args:
            nears: stances of which the robot is near to one all along; by halves as the transition has it if empty.
        """
        spline, steps = ConfigurationPath(self._model, self.steps, self.knots), np.array(self.steps)
        shares = np.arange(_BETWEEN) / _BETWEEN
        fine = np.append((steps[:-1, None] + np.diff(steps)[:, None] * shares).ravel(), 1.0)
        exact = []
        for s in map(float, fine):
            frames = [*self._held, *((location, path.placement(s)) for location, path, _ in self._moving)]
            q = self._postures.pulled(spline.at(s), frames)
            if q is None:
                return s, f"contacts and ways can't be held together at {s:.0%} of the way"
            problems = [self._postures.clash(near, q) for near in nears or (_near(self._transition, s),)]
            problem = min(problems, key=len)
            if problem:
                return s, f"{problem} at {s:.0%} of the way"
            exact.append(q)
        return ConfigurationPath(self._model, fine, exact)


def _near(transition: Transition, s: float) -> Stance:
    """Contacts that hold, and the one that a body is leaving or coming to."""
    contact = transition.leaving if s < 0.5 else transition.arriving
    return transition.held if contact is None else transition.held.adding(contact)


class _Clearance:
    """Distances of a moving link's true shapes from the scene along its way."""

    def __init__(self, robot: Robot, scene: Scene, clearance: float, watch: Watch) -> None:
        self._robot, self._clearance, self._watch = robot, clearance, watch
        self._shapes = [
            (body.name, coal_geometry(geometry.shape), body.placement_world_body * geometry.placement)
            for body in scene.bodies
            for geometry in body.geometries
        ]

    def gap(self, location: ContactLocation, place: pin.SE3, bodies: frozenset[str]) -> float:
        """Return the distance of a link from bodies when its contact frame is at a place [m]."""
        pairs = itertools.product((item for item in self._shapes if item[0] in bodies), self._of(location))
        return min(_gap(shape, place * inside, body, where) for (_, body, where), (shape, inside) in pairs)

    def _of(self, location: ContactLocation) -> list[tuple[coal.CollisionGeometry, pin.SE3]]:
        """Shapes of a location's link, in the contact frame."""
        link = self._robot.parts.links[location.link]
        to_joint = (link.placement_joint_link * location.placement_link_patch).inverse()
        return [
            (item.geometry, to_joint * item.placement)
            for item in self._robot.collision_model.geometryObjects
            if item.parentJoint == link.joint_id
        ]

    def problem(self, location: ContactLocation, path: BodyPath, own: frozenset[str]) -> str:
        """Return what the link would touch; empty if nothing."""
        count = max(math.ceil(path.length / _LOOKED), 2)
        shares = [k / count for k in range(count + 1)]
        free = [k for k, s in enumerate(shares) if not path.on_normal(s)] or [0, count]
        ways = [path.placement(s) for s in shares]
        for (name, body, where), (shape, inside) in itertools.product(self._shapes, self._of(location)):
            self._watch.check()
            gaps = [_gap(shape, place * inside, body, where) for place in ways]
            # Where it stands nearer than the clearance at an end, it may come as near on its way. What it leaves or
            # comes to it may touch on the straight pieces.
            first, last = (free[0], free[-1]) if name in own else (0, count)
            least = min(self._clearance, gaps[first] - 1e-3, gaps[last] - 1e-3)
            for k, gap in enumerate(gaps):
                if gap < (least if first <= k <= last else -_SUNK):
                    return f"{location.link} comes {1e3 * gap:.0f} mm near {name} at {k / count:.0%} of its way"
        return ""


def _gap(one: coal.CollisionGeometry, place: pin.SE3, other: coal.CollisionGeometry, where: pin.SE3) -> float:
    result = coal.DistanceResult()
    coal.distance(
        one,
        coal.Transform3s(place.rotation, place.translation),
        other,
        coal.Transform3s(where.rotation, where.translation),
        coal.DistanceRequest(),
        result,
    )
    return float(result.min_distance)
