# SPDX-License-Identifier: Apache-2.0
"""A way from one posture of a plan to the next that keeps to the contacts of both (section 8.2)."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pinocchio as pin

from humanoid_model.arrays import Array, Reals
from humanoid_model.configuration_path import ConfigurationPath
from humanoid_model.contact import Contact, ContactLocation, Stance
from humanoid_model.robot import Robot
from humanoid_planner.equilibrium.force_distribution import moving_forces
from humanoid_planner.motion.body_clearance import SUNK
from humanoid_planner.motion.body_path import BodyPath
from humanoid_planner.motion.constrained_search import ConstrainedSearch
from humanoid_planner.motion.motion import MotionSettings, Transition
from humanoid_planner.motion.stance_postures import StancePostures
from humanoid_planner.motion.time_laws import loaded_points

#: How strongly a body's way is drawn along the normals, tried in this order [m].
LIFTS = (0.03, 0.08, 0.15, 0.25)
#: How far a body goes along the normals before and after a way that is drawn so, tried after these [m].
RISES, _RISEN = (0.08, 0.16, 0.24), 0.04
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
#: Angle by which a body that turns may do so: beyond its straight pieces [rad/m], at most, and from which on [rad].
_TURNING, _TURNED, _LED = 8.0, 1.0, 0.01
#: Part of the straight piece by which a turning body keeps off what it leaves or comes to.
_GRAZED = 0.2
#: Looks from one searched posture to the next.
_LOOKS = 40
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
) -> tuple[ConfigurationPath, bool] | str:
    """Return a way from posture to posture and whether it had to be searched for, or why none was found.

    The bodies' paths are tried from the flattest to the highest; one on which a body would touch what it isn't about
    to is left out before any posture is sought.

    Args:
        postures: of the robot.
        transition: between the two.
        first: (nq,) posture at the beginning.
        last: (nq,) posture at the end.
        settings: lengths, clearance, and postures of a search where no such way was found; 0 for none.
        restless: tells where on a path forces and torques don't hold the robot; None where they do everywhere.
        straight: try ways along the straight line between the postures.
    """
    reason, clear = "", []
    for moving in _ways(postures, transition, first, last, settings):
        problem = _blocked(postures, moving, settings)
        if problem:
            reason = reason or problem
            continue
        clear.append(moving)
        if straight:
            found = _Projection(postures, transition, first, last, moving).path(settings.samples, restless)
            if not isinstance(found, str):
                return found, False
            reason = found
    if not settings.searched:
        return reason or "no way along the straight line"
    for moving in clear if clear and clear[0] else ():
        turning = _Projection(postures, transition, first, last, moving, settings)
        found = turning.path(settings.samples, restless)
        if not isinstance(found, str):
            return found, False
    if len(settings.via.get(transition.index, ())) or not postures.pulls_tasks:
        return reason  # a search knows no points, and of tasks only geometric ones
    searched = _Search(postures, transition, settings, restless).find(first, last)
    if isinstance(searched, ConfigurationPath):
        return searched, True
    return f"{reason}; {searched}" if reason else searched


def any_way_clear(
    postures: StancePostures, transition: Transition, first: Array, last: Array, settings: MotionSettings
) -> bool:
    """Return whether moving bodies have a path that is clear; see :func:`blocked_ways`."""
    ways = _ways(postures, transition, first, last, settings)
    return any(not _blocked(postures, moving, settings) for moving in ways)


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
    blocked = 0
    for moving in _ways(postures, transition, first, last, settings):
        if not _blocked(postures, moving, settings):
            break
        blocked += 1
    return blocked


def _blocked(postures: StancePostures, moving: Sequence[Moving], settings: MotionSettings) -> str:
    """Return what moving bodies would touch, where the legs and arms that move them are left out; empty if nothing."""
    problems = (postures.bodies.problem(*item, settings.clearance, settings.approach) for item in moving)
    return next((problem for problem in problems if problem), "")


class _Search:
    """Ways on which bodies are led along the normals alone and free between, each from other random numbers."""

    def __init__(
        self,
        postures: StancePostures,
        transition: Transition,
        settings: MotionSettings,
        restless: Callable[[ConfigurationPath], float | None],
    ) -> None:
        self._postures, self._transition, self._settings = postures, transition, settings
        self._restless, self._model = restless, postures.robot.model
        held = [postures.placed(contact) for contact in transition.held.contacts]
        self._frames = [(placed.contact.location, placed.placement_ground_contact) for placed in held]
        self._nears = [_near(transition, 0.0), _near(transition, 1.0)]
        self._data, self._still = self._model.createData(), np.zeros(self._model.nv)
        self._points = loaded_points(postures.robot, held, 0.75 * settings.reserve)
        self._efforts = postures.effort * postures.robot.limits.effort
        self._moving = [one for one in (transition.leaving, transition.arriving) if one is not None]
        self._bodies = frozenset(contact.surface.body for contact in self._moving)

    def find(self, first: Array, last: Array) -> ConfigurationPath | str:
        """Return a way between two postures (nq,), or why none was found."""
        leaves, comes = self._off(self._transition.leaving, first), self._off(self._transition.arriving, last)
        if isinstance(leaves, str) or isinstance(comes, str):
            return leaves if isinstance(leaves, str) else str(comes)
        problem, settings = "", self._settings
        for attempt in range(_ATTEMPTS):
            search = ConstrainedSearch(self._model, self._pull, self._passes, [settings.seed, attempt])
            found = search.find(leaves[-1], comes[-1], settings.searched)
            if found is None:
                problem = f"no way was found among {settings.searched} random postures either"
                continue
            path = self._path([*leaves[:-1], *found, *comes[-2::-1]])
            if isinstance(path, ConfigurationPath):
                return path
            problem = f"on the way that was searched {path}"
        return problem

    def _off(self, contact: Contact | None, q: Array) -> list[Array] | str:
        """Return postures from one in a contact (nq,) to where the search begins, or why there is none."""
        postures, held, way = self._postures, self._transition.held, [q]
        if contact is not None:
            surface, near = postures.placed(contact).placement_ground_contact, held.adding(contact)
            for share in _OFF:
                place = surface * pin.SE3(np.eye(3), np.array([0.0, 0.0, share * self._settings.approach]))
                result = postures.between(held, near, way[-1], way[-1], [(contact.location, place)])
                if not result.success:
                    off = 1e3 * share * self._settings.approach
                    return f"{contact.location.name} can't go {off:.0f} mm off its surface"
                way.append(result.q)
        return way

    def _pull(self, q: Array) -> Array | None:
        return self._postures.pulled(q, self._frames)

    def _passes(self, q: Array) -> bool:
        return self._allowed(q, 0.5 * self._settings.approach)

    def _sunk(self, q: Array, gap: float) -> bool:
        """Return whether a moving link is nearer than a gap to what it leaves or comes to [m]."""
        links, bodies = self._postures.robot.link_placements(q), self._postures.bodies
        frames = ((c.location, links[c.location.link] * c.location.placement_link_patch) for c in self._moving)
        return any(bodies.gap(location, place, self._bodies) < gap for location, place in frames)

    def _allowed(self, q: Array, gap: float) -> bool:
        self._postures.watch.check()
        if all(self._postures.clash(near, q, _EXACT) for near in self._nears) or self._sunk(q, gap):
            return False
        rest = q, self._still, self._still
        return moving_forces(self._model, self._data, self._points, rest, self._efforts) is not None

    def _path(self, knots: list[Array]) -> ConfigurationPath | str:
        """Return the path through searched postures, or what is wrong with it."""
        model = self._model
        gaps = [np.linalg.norm(pin.difference(model, one, other)) for one, other in itertools.pairwise(knots)]
        kept = [0, *(k + 1 for k, gap in enumerate(gaps) if gap > 1e-6)]
        steps = np.concatenate([[0.0], np.cumsum(gaps)])
        projection = _Projection(self._postures, self._transition, knots[0], knots[-1], ())
        projection.steps = [float(steps[k] / steps[-1]) for k in kept]
        projection.knots = [knots[k] for k in kept]
        looks, problem = np.linspace(0.0, 1.0, _LOOKS * len(kept) + 1), ""
        for _ in range(_REPAIRS):
            path = projection.pulled(self._nears)
            wrong = self._trouble(path, looks) if isinstance(path, ConfigurationPath) else path
            if wrong is None:
                assert isinstance(path, ConfigurationPath)
                return path
            # The spline leaves what the straight pieces between searched postures keep to: one more on them holds it.
            place, problem = wrong
            index = min(max(bisect.bisect(projection.steps, place), 1), len(projection.steps) - 1)
            middle = self._pull(pin.interpolate(model, *projection.knots[index - 1 : index + 1], 0.5))
            if middle is None or not self._allowed(middle, -SUNK):
                break
            projection.steps.insert(index, 0.5 * (projection.steps[index - 1] + projection.steps[index]))
            projection.knots.insert(index, middle)
        return problem

    def _trouble(self, path: ConfigurationPath, looks: Reals) -> tuple[float, str] | None:
        """Return where a path can't be gone and why; None where it can."""
        for s in map(float, looks):
            if self._sunk(path.at(s), -SUNK):
                return s, f"a body sinks into what it leaves or comes to at {s:.0%} of the way"
        place = self._restless(path)
        return None if place is None else (place, f"nothing holds the robot at {place:.0%} of the way")


def _ways(
    postures: StancePostures, transition: Transition, first: Array, last: Array, settings: MotionSettings
) -> Iterator[list[Moving]]:
    """Paths of the moving bodies, one set after the other; one empty set where none moves."""
    given = settings.via.get(transition.index, ())
    shapes = [
        *((lift, 0.0, 0.0) for lift in LIFTS),
        *((_RISEN, rise, 0.0) for rise in RISES),
        *((lift, 0.0, aside) for aside in ASIDE for lift in LIFTS[1:3]),
    ]
    if len(given) or (transition.leaving is None and transition.arriving is None):
        shapes = shapes[:1]
    for lift, rise, aside in shapes:
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
                approach=settings.approach + rise,
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
    """Postures along one set of ways, as many as it takes.

    Bodies that turn keep to the places of their ways, and to the turns only near the contacts.
    """

    def __init__(
        self,
        postures: StancePostures,
        transition: Transition,
        first: Array,
        last: Array,
        moving: Sequence[Moving],
        turning: MotionSettings | None = None,
    ) -> None:
        self._postures, self._transition, self._moving, self._turning = postures, transition, moving, turning
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
        shares = [*np.linspace(0.0, 1.0, pieces + 1)[1:-1], *self._beside()]
        for s in sorted(set(map(float, shares))):
            problem = self._project(s)
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

    def _turn_at(self, s: float) -> float:
        """Return by how much bodies may be turned from their ways at s [rad]: more and more away from the contacts."""
        if self._turning is None:
            return 0.0
        beyond = [min(s, 1.0 - s) * path.length - self._turning.approach for _, path, _ in self._moving]
        turn = min(_TURNING * min(beyond), _TURNED)
        return turn if turn > _LED else 0.0

    def _beside(self) -> list[float]:
        """Return where bodies begin and end to turn as they like."""
        if self._turning is None:
            return []
        shares = [self._turning.approach / path.length for _, path, _ in self._moving]
        return [s for share in shares if share < 0.4 for s in (share, 1.0 - share)]

    def _grazing(self, s: float, q: Array) -> str:
        """Return which turning body is too near to what it leaves or comes to; empty if none is."""
        if self._turning is None:
            return ""
        links, bodies = self._postures.robot.link_placements(q), self._postures.bodies
        least = _GRAZED * self._turning.approach if self._turn_at(s) else -SUNK
        for location, _, own in self._moving:
            if bodies.gap(location, links[location.link] * location.placement_link_patch, own) < least:
                return f"{location.link} comes too near to what it leaves or comes to"
        return ""

    def _apart(self, index: int) -> float:
        return float(np.linalg.norm(pin.difference(self._model, self.knots[index], self.knots[index + 1])))

    def _project(self, s: float) -> str:
        """Put in the posture that is nearest to the straight line at s; return why there is none."""
        index = bisect.bisect(self.steps, s)
        goal = pin.integrate(self._model, self._first, s * self._straight)
        frames = [(location, path.placement(s)) for location, path, _ in self._moving]
        near, before = _near(self._transition, s), self.knots[index - 1]
        result = self._postures.between(self._transition.held, near, goal, before, frames, self._turn_at(s))
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
            led = () if self._turn_at(s) else self._moving
            frames = [*self._held, *((location, path.placement(s)) for location, path, _ in led)]
            q = self._postures.pulled(spline.at(s), frames)
            if q is None:
                return s, f"contacts and ways can't be held together at {s:.0%} of the way"
            problems = [self._postures.clash(near, q) for near in nears or (_near(self._transition, s),)]
            problem = min(problems, key=len) or self._grazing(s, q)
            if problem:
                return s, f"{problem} at {s:.0%} of the way"
            exact.append(q)
        return ConfigurationPath(self._model, fine, exact)


def _near(transition: Transition, s: float) -> Stance:
    """Contacts that hold, and the one that a body is leaving or coming to."""
    contact = transition.leaving if s < 0.5 else transition.arriving
    return transition.held if contact is None else transition.held.adding(contact)
