# SPDX-License-Identifier: Apache-2.0
"""Where a solver begins: postures that stand on what is held, and forces that carry the weight."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_gait.mirrored_name import flipped, mirrored_name
from humanoid_gait.placement import bounded_joints, posture_at
from humanoid_gait.problem import Cycle, GaitProblem, State
from humanoid_gait.transcription import Transcription
from humanoid_model.arrays import Array

_BENT = 0.2
"""By which joints begin inside their ranges [rad]."""
_SINK = 0.03
"""By which the base is lower than in the posture it comes from, so that legs may reach [m]."""


def posture_guess(problem: GaitProblem, posture: Array | None = None) -> Array:
    """(N + 1, nq) postures at the nodes: soles where they are held or swing, the base between those that bear.

    Towards an end that is given they become its posture.

    Args:
        problem: the gait.
        posture: (nq,) to stay near; the robot's default one if left out.
    """
    robot = problem.robot
    q = robot.default_posture if posture is None else np.array(posture, dtype=float)
    tracks = _tracks(problem)
    if posture is None:  # a straight knee doesn't know which way to bend; arms stay as they are
        links = [robot.parts.links[robot.contacts[name].link].joint_id for name in tracks]
        moving = [robot.model.joints[int(joint)].idx_v for link in links for joint in robot.model.supports[link]]
        at, v, lower, upper = bounded_joints(robot)
        inside = np.where(np.isin(v, moving), np.minimum(_BENT, 0.25 * (upper - lower)), 0.0)
        q[at] = np.clip(q[at], lower + inside, upper - inside)
    grasps = [{hold.contact.location.name: hold for hold in phase.holds if hold.on} for phase in problem.phases]

    def grasped(q: Array, time: float) -> dict[str, pin.SE3]:
        """Return where patches on other links are, these links where a posture has them."""
        own = grasps[min(int(time), len(grasps) - 1)]
        links = robot.link_placements(q) if own else {}
        return {name: links[hold.on] * hold.placement for name, hold in own.items() if hold.on}

    times = np.concatenate([np.zeros(1), *[np.full(p.intervals, 1.0 / p.intervals) for p in problem.phases]]).cumsum()
    found = []
    base = _BaseTrack(problem, q, tracks)
    for time in times:
        places = {name: track.at(time) for name, track in tracks.items()}
        if robot.base_joint is not None:
            q = robot.place_base(q, base.at(places))
        q = posture_at(robot, q, {**places, **grasped(q, time)})
        found.append(q)
    ends = [np.asarray(end.q) if isinstance(end, State) else None for end in (problem.start, problem.end)]
    changes = [np.zeros(robot.model.nv) if end is None else pin.difference(robot.model, found[place], end)
               for place, end in zip((0, -1), ends, strict=True)]  # fmt: skip
    if any(end is not None for end in ends):
        for k, share in enumerate(np.linspace(0.0, 1.0, len(times))):
            near = pin.integrate(robot.model, found[k], (1.0 - share) * changes[0] + share * changes[1])
            places = {name: track.at(times[k]) for name, track in tracks.items()} | grasped(near, times[k])
            found[k] = near if share in (0.0, 1.0) else posture_at(robot, near, places)
    return np.array(found)


class _Track:
    """Path of a patch: places it is held at, by phases, and arcs between them."""

    def __init__(self, places: list[pin.SE3 | None], lift: list[float]) -> None:
        self._places, self._lift = places, lift

    def at(self, time: float) -> pin.SE3:
        """Place at a time counted in phases."""
        index = min(int(time), len(self._lift) - 1)
        here = self._places[index]
        if here is not None:
            return here
        before = next(place for place in reversed(self._places[:index]) if place is not None)
        after = next((place for place in self._places[index + 1 :] if place is not None), before)
        share = time - index
        smooth = share * share * (3.0 - 2.0 * share)
        place = pin.SE3.Interpolate(before, after, smooth)
        place.translation += np.array([0.0, 0.0, 4.0 * self._lift[index] * share * (1.0 - share)])
        return place


def _tracks(problem: GaitProblem) -> dict[str, _Track]:
    """Return the path of every location that is ever held; one that swings first comes from where the cycle ends."""
    names = dict.fromkeys(
        hold.contact.location.name for phase in problem.phases for hold in phase.holds if hold.on is None
    )
    found = {}
    for name in names:
        places = [
            next((hold.placement for hold in phase.holds if hold.contact.location.name == name and not hold.on), None)
            for phase in problem.phases
        ]
        places.append(_end_place(problem, name, places))
        if places[0] is None:
            places[0] = next(place for place in places if place is not None)
        found[name] = _Track(places, [phase.clearance for phase in problem.phases])
    return found


def _end_place(problem: GaitProblem, name: str, places: list[pin.SE3 | None]) -> pin.SE3 | None:
    if not isinstance(problem.end, Cycle):
        return None
    source = mirrored_name(name) if problem.end.mirrored else name
    own = next((hold for hold in problem.phases[0].holds if hold.contact.location.name == source), None)
    if own is None:
        return None
    place = own.placement
    return problem.end.step * (flipped(place) if problem.end.mirrored else place)


class _BaseTrack:
    """The base above the middle of the soles, as in a posture but lower, turned as they are on average."""

    def __init__(self, problem: GaitProblem, q: Array, tracks: dict[str, _Track]) -> None:
        robot, links = problem.robot, problem.robot.link_placements(q)
        own = [links[robot.contacts[name].link] * robot.contacts[name].placement_link_patch for name in tracks]
        self._heading = problem.heading
        if robot.base_joint is not None:
            self._base = robot.placement_base(q)
            middle = np.mean([place.translation for place in own], axis=0)
            self._above = self._base.translation - middle - np.array([0.0, 0.0, _SINK])

    def at(self, places: dict[str, pin.SE3]) -> pin.SE3:
        """Place of the base's link with soles at their places."""
        centre = np.mean([own.translation for own in places.values()], axis=0)
        yaw = np.mean([np.unwrap([self._heading, _yaw(own)])[1] for own in places.values()])
        turn = pin.utils.rotate("z", float(yaw))
        return pin.SE3(turn @ self._base.rotation, centre + turn @ self._above)


def _yaw(place: pin.SE3) -> float:
    return float(np.arctan2(place.rotation[1, 0], place.rotation[0, 0]))


def unknowns_guess(transcription: Transcription, postures: Array) -> Array:
    """(V,) unknowns: coordinates of postures (N + 1, nq), rates of their changes, forces that carry the weight."""
    problem, layout = transcription.problem, transcription.layout
    n = layout.n
    y = transcription.coordinates.chart(postures)
    x = np.zeros(layout.unknowns)
    states = layout.states()
    x[states[:, :n]] = y
    durations = [0.5 * sum(phase.range) for phase in problem.phases]
    steps = np.array([durations[int(phase)] / problem.phases[int(phase)].intervals for phase in layout.phase_of])
    changes = np.diff(y, axis=0)
    slopes = np.divide(changes, steps[:, None], out=np.zeros_like(changes), where=steps[:, None] > 0.0)
    rates = np.vstack([slopes[:1], 0.5 * (slopes[1:] + slopes[:-1]), slopes[-1:]])
    for node, end in ((0, problem.start), (-1, problem.end)):
        if isinstance(end, State):
            rates[node] = transcription.chart_state(end.q, end.v)[n:]
    x[states[:, n : 2 * n]] = rates
    for phase, place in layout.durations.items():
        x[states[:, place]] = durations[phase]
    if layout.carried:
        x[states[:, layout.state - layout.carried :]] = transcription.image(np.concatenate([y[0], rates[0]]))
    for index in range(len(problem.phases)):
        x[_control_places(transcription, index)] = _weight_shared(transcription, index)
    return np.clip(x, transcription.lower, transcription.upper)


def _control_places(transcription: Transcription, index: int) -> NDArray[np.int64]:
    layout, count = transcription.layout, transcription.points[index].multipliers
    first = layout.state + layout.points * layout.n
    return layout.stages(index)[:, first : first + layout.points * count]


def _weight_shared(transcription: Transcription, index: int) -> Array:
    """(s multipliers,) that carry the weight in equal parts; none of contacts that may pull."""
    point = transcription.points[index]
    found = np.zeros(point.multipliers)
    if point.impact:
        return np.tile(found, transcription.layout.points)
    pressing = [(own, part) for own, part in zip(point.loaded, point.slices, strict=True)
                if not own.hold.contact.bilateral]
    for own, part in pressing:
        found[part] = transcription.model.weight / len(pressing) / own.multipliers / point.scale
    return np.tile(found, transcription.layout.points)
