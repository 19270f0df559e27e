# SPDX-License-Identifier: Apache-2.0
"""A motion that rests at every change of contacts becomes one that doesn't: same contacts, near the same way, sooner.

Each window of a few steps is an optimal control problem with free durations, which begins with the state that the
window before has left and ends at rest in a posture of the given motion, so that there is always a way to stop. Its
first step is kept. Joints stay in a tube about the given way and corners of what moves in a corridor: what the given
motion kept clear of is still clear of it, as far as the tube is narrow; a verifier has to look at the result.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from humanoid_gait.costs import AccelerationCost, Cost, ForceCost, TimeCost, TorqueCost
from humanoid_gait.gait import GaitResult, GaitSolver
from humanoid_gait.hold import Hold
from humanoid_gait.motion import whole_body_motion
from humanoid_gait.problem import Corridor, GaitProblem, Phase, State, Tube
from humanoid_gait.repeat import joined
from humanoid_model import InputError, Robot
from humanoid_model.arrays import Array
from humanoid_model.contact import Contact, ContactKind, SurfaceForm
from humanoid_model.fields import Described, count, number
from humanoid_model.progress import Progress, ProgressCallback, Watch
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory

_NARROWER = 6
"""How often a window is solved with less room where it runs into something."""
_HIT, _BESIDE = 0.5, 0.75
"""To which part room becomes less, of a link that runs into something and of all coordinates in that phase."""
_ROOM, _ARM = 0.01, 0.1
"""Room of such a link at first, and how far from its frame's origin points are that have it [m]."""


@dataclass(frozen=True)
class StrideSettings(Described):
    """How near to the given motion, and how fast."""

    steps: int = count(2, "that a window looks ahead; the first one is kept", low=1, high=20)
    interval: float = number(0.08, "of the transcription, about", "s", low=0.01, high=0.5)
    shortest: float = number(0.25, "duration of a phase", "s", low=0.02, high=10.0)
    tube: float = number(0.15, "that joints may be off the given way", "rad or m", low=0.0, above=True)
    idle: float = number(0.05, "the same of joints that lead to no contact", "rad or m", low=0.0, above=True)
    base: float = number(0.07, "that the base may be off it", "m or rad", low=0.0, above=True)
    corridor: float = number(0.02, "that corners of what moves may be off theirs", "m", low=0.0, above=True)
    sinking: float = number(0.5, "share of their height over a surface that they may lack", low=0.0, high=1.0)
    reserve: float = number(0.015, "that forces keep from the edges of contacts", "m", low=0.0)
    time: float = number(1.0, "price of time beside efforts in shares of their limits", "1/s", low=0.0)
    quiet: float = number(1e-4, "price of squared accelerations", "s³/rad²", low=0.0)
    speed: float = number(0.6, "share of the joints' speed limits", low=0.0, above=True, high=1.0)
    effort: float = number(0.85, "share of the joints' effort limits", low=0.0, above=True, high=1.0)
    friction: float = number(0.85, "share of the friction", low=0.0, above=True, high=1.0)
    period: float = number(0.005, "between two samples of the result", "s", low=0.0, above=True)
    least: float = number(4.0, "normal force at each corner of what bears", "N", low=0.0)


@dataclass(frozen=True, eq=False)
class _Span:
    """A time of the given motion in which the same contacts touch: which, where, and the way."""

    contacts: tuple[Contact, ...]
    start: float
    end: float
    q: Array


@dataclass(frozen=True, eq=False)
class StrideResult:
    """A motion without rests.

    Attributes:
        trajectory: the motion.
        resting: steps that stay as they are given, from 0, with the reason.
        steps: number of all.
    """

    trajectory: WholeBodyTrajectory
    resting: Mapping[int, str]
    steps: int

    @property
    def explanation(self) -> str:
        """How many steps are in stride, and why others aren't."""
        told = "; ".join(f"step {index} rests: {why}" for index, why in self.resting.items())
        return f"{self.steps - len(self.resting)} of {self.steps} steps in stride{': ' if told else ''}{told}."


def in_stride(
    motion: WholeBodyTrajectory,
    settings: StrideSettings | None = None,
    *,
    touches: Callable[[WholeBodyTrajectory], Sequence[tuple[float, str]]] | None = None,
    time_limit: float = np.inf,
    progress: ProgressCallback | None = None,
) -> StrideResult:
    """Return a motion without its rests.

    Args:
        motion: from rest to rest, with planned forces, as :func:`humanoid_planner.motion.generate_motion` makes it.
        settings: how near and how fast.
        touches: tells when which link of a motion runs into something [s]: there it keeps nearer to the given way.
        time_limit: wall-clock time [s]; steps that aren't done until then stay as they are given.
        progress: told of each window; returns True to cancel, likewise.

    Raises:
        InputError: a robot whose base doesn't float, or a contact that touches nothing or has no planned force.
    """
    if motion.robot.base_joint is None:
        raise InputError("has no floating base", element=f"robot '{motion.robot.name}'", remedy="Use one that has")
    return _Stride(motion, settings or StrideSettings(), touches, Watch(progress, time_limit)).result()


@dataclass(frozen=True, eq=False)
class _Window:
    """What became of the phases from one on.

    Attributes:
        first: phase that it begins with.
        result: of its problem.
        motion: of it, on the scene's surfaces.
    """

    first: int
    result: GaitResult
    motion: WholeBodyTrajectory

    def until(self, phase: int) -> float:
        """Time at which a phase begins [s]."""
        return float(sum(self.result.durations[: phase - self.first]))


class _Stride:
    """Window after window."""

    def __init__(
        self,
        motion: WholeBodyTrajectory,
        settings: StrideSettings,
        touches: Callable[[WholeBodyTrajectory], Sequence[tuple[float, str]]] | None,
        watch: Watch,
    ) -> None:
        self._given, self._settings, self._touches, self._watch = motion, settings, touches, watch
        self._spans = _spans(motion)
        self._phases = _phases(motion, self._spans, settings)
        self._ends = _step_ends(self._spans)
        middle = motion.robot.placement_base(motion.q[len(motion.q) // 2])
        self._heading = float(pin.log3(middle.rotation)[2])
        self._surfaces = {
            id(hold.contact): contact for span, phase in zip(self._spans, self._phases, strict=True)
            for contact, hold in zip(span.contacts, phase.holds, strict=True)
        }  # fmt: skip

    def result(self) -> StrideResult:
        """Go through the steps."""
        found: list[WholeBodyTrajectory] = []
        resting: dict[int, str] = {}
        window: _Window | None = None
        step = 0
        while step < len(self._ends):
            self._watch.now = Progress(f"step {step + 1} of {len(self._ends)}", step / len(self._ends), step)
            last = min(step + self._settings.steps, len(self._ends))
            why = self._watch.why if self._watch.over() else ""
            following = None
            if not why:
                following, why = self._window([0, *self._ends][step], self._ends[last - 1], window)
            if following is not None:
                window, kept = following, len(self._ends) if last == len(self._ends) else step + 1
                found.append(window.motion.part(0.0, window.until(self._ends[kept - 1])))
                step = kept
            elif window is not None:  # what the window before has planned ends at rest
                begin, stop = window.until([0, *self._ends][step]), window.motion.duration
                found.append(window.motion.part(begin, stop))
                step = self._ends.index(window.first + len(window.result.durations)) + 1
                window = None
            else:
                resting[step] = why
                first, end = [0, *self._ends][step], self._ends[step]
                found.append(self._given.part(self._spans[first].start, self._spans[end - 1].end))
                step += 1
        return StrideResult(joined(found), resting, len(self._ends))

    def _window(self, first: int, last: int, before: _Window | None) -> tuple[_Window | None, str]:
        """Solve for phases, from the state that the window before has at the first one; else return why not."""
        start = State(self._spans[first].q[0])
        if before is not None:
            part = before.motion.part(0.0, before.until(first))
            start = State(part.q[-1], part.v[-1])
        near = before
        for _ in range(_NARROWER):
            result = self._solve(first, last, start, near)
            if not result.solution.converged:
                return None, self._watch.why or result.reason
            motion = whole_body_motion(result.transcription, result.solution.x, self._settings.period)
            near = _Window(first, result, _on_surfaces(motion, self._surfaces, 1.0 / self._settings.friction))
            hits = [] if self._touches is None else self._touches(near.motion)
            if not hits:
                return near, ""
            ends = np.cumsum(result.durations)
            links = {(min(int(np.searchsorted(ends, time)), len(ends) - 1), link) for time, link in hits}
            for index in range(len(ends)):
                own = [link for phase, link in sorted(links) if phase == index]
                self._phases[first + index] = _narrower(self._phases[first + index], own)
        return None, "runs into something however near it is to the given way"

    def _solve(self, first: int, last: int, start: State, near: _Window | None) -> GaitResult:
        """Solve for phases, from what a window has found for them."""
        settings, phases = self._settings, self._phases[first:last]
        if near is not None:
            phases[0] = _widened(phases[0], near, first)
        costs: list[Cost] = [TorqueCost(), AccelerationCost(settings.quiet), ForceCost(), TimeCost(settings.time)]
        problem = GaitProblem(
            self._given.robot, phases, start, State(self._spans[last - 1].q[-1]), costs, self._heading,
            efforts=settings.effort, speeds=settings.speed,
        )  # fmt: skip
        solver = GaitSolver(problem, postures=_nodes(phases))
        if near is not None:
            solver.guess = _carried_over(near.result, first - near.first, solver)
        return solver.solve(progress=lambda _: self._watch.over())


def _widened(phase: Phase, near: _Window, first: int) -> Phase:
    """Return a phase whose tube holds the way that the window before takes into it, less and less of it."""
    tube, old, robot = phase.tube, near.result.transcription, near.result.problem.robot
    assert tube is not None
    index = first - near.first
    nodes = old.layout.states()[old.layout.first[index] : old.layout.first[index + 1] + 1]
    way, given = near.result.solution.x[nodes[:, : old.layout.n]], old.coordinates.chart(tube.q)
    share = 1.1 * np.linspace(1.0, 0.0, len(way))[:, None]
    width = np.maximum(tube.width, share * np.abs(way - given))
    none = np.zeros_like(way)
    q = old.coordinates.samples(way, none, none)[0]
    corridors = []
    for own in tube.corridors:
        off = share[:, :, None] * (own.places(robot, q) - own.places(robot, tube.q))
        corridors.append(replace(own, lower=np.maximum(own.lower, -off), upper=np.maximum(own.upper, off)))
    return replace(phase, tube=replace(tube, width=width, corridors=tuple(corridors)))


def _narrower(phase: Phase, hit: Sequence[str]) -> Phase:
    """Return a phase with less room about the given way, above all for links that run into something."""
    tube = phase.tube
    assert tube is not None
    corridors = [
        replace(own, lower=_HIT * own.lower, upper=_HIT * own.upper) if own.link in hit else own
        for own in tube.corridors
    ]
    points, shape = np.vstack([np.zeros(3), _ARM * np.eye(3)]), (len(tube.q), 4, 3)
    for link in sorted({*hit} - {own.link for own in corridors}):
        room = np.full(shape, _ROOM)
        corridors.append(Corridor(link, points, room, room, np.tile(np.eye(3), (len(tube.q), 1, 1))))
    width = (_BESIDE if hit else 1.0) * tube.width
    return replace(phase, tube=replace(tube, width=width, corridors=tuple(corridors)))


def _carried_over(before: GaitResult, done: int, solver: GaitSolver) -> Array:
    """Return the guess of a window, what the one before has found for the same phases in it.

    Args:
        before: solution of the window before.
        done: phases of it that are over.
        solver: of the window.
    """
    old, new, x = before.transcription.layout, solver.transcription.layout, solver.guess.copy()
    n, shared = new.n, len(old.phases) - done
    durations = [*before.durations[done:]]
    for index in range(shared):
        there, here = old.stages(index + done), new.stages(index)
        x[here[:, : 2 * n]] = before.solution.x[there[:, : 2 * n]]
        x[here[:, new.state :]] = before.solution.x[there[:, old.state :]]
    x[new.states()[new.first[shared], : 2 * n]] = before.solution.x[old.states()[-1, : 2 * n]]
    for phase, place in new.durations.items():
        if phase < shared:
            x[new.states()[:, place]] = durations[phase]
    return np.clip(x, solver.transcription.lower, solver.transcription.upper)


def _on_surfaces(
    motion: WholeBodyTrajectory, surfaces: Mapping[int, Contact], friction: float
) -> WholeBodyTrajectory:
    """Return a motion with its contacts on the scene's surfaces, by what stands for them, and all of their friction."""
    contacts = [
        replace(span, contact=replace(surfaces[id(span.contact)], kind=ContactKind.FIXED)) for span in motion.contacts
    ]
    forces = [[replace(force, friction=friction * force.friction) for force in sample] for sample in motion.forces]
    return WholeBodyTrajectory(
        motion.robot, motion.times, motion.q, motion.v, motion.a, contacts, tau=motion.tau, forces=forces,
        zero_moment_point=motion.zero_moment_point, base=motion.base,
    )  # fmt: skip


def _nodes(window: Sequence[Phase]) -> Array:
    """(N + 1, nq) configurations of the given way at the nodes."""
    tubes = [phase.tube.q for phase in window if phase.tube is not None]
    return np.vstack([tubes[0][:1], *[q[1:] for q in tubes]])


def _spans(motion: WholeBodyTrajectory) -> list[_Span]:
    """Return times between changes of what touches."""
    changes = sorted({float(time) for span in motion.contacts for time in (span.start, span.end)})
    found: list[_Span] = []
    for start, end in itertools.pairwise(changes):
        middle = 0.5 * (start + end)
        contacts = tuple(sorted(
            (span.contact for span in motion.contacts if span.start <= middle < span.end),
            key=lambda contact: contact.location.name,
        ))  # fmt: skip
        rows = (motion.times >= start - 1e-9) & (motion.times <= end + 1e-9)
        if found and [one.place for one in found[-1].contacts] == [one.place for one in contacts]:
            found[-1] = replace(found[-1], end=end, q=np.vstack([found[-1].q, motion.q[rows]]))
        else:
            found.append(_Span(contacts, start, end, motion.q[rows]))
    return found


def _step_ends(spans: Sequence[_Span]) -> list[int]:
    """Return the counts of spans after which something has come to bear or gone, and the last one."""
    more = [len(after.contacts) > len(before.contacts) for before, after in itertools.pairwise(spans)]
    return [*[index + 2 for index, grows in enumerate(more) if grows and index + 2 < len(spans)], len(spans)]


def _phases(motion: WholeBodyTrajectory, spans: Sequence[_Span], settings: StrideSettings) -> list[Phase]:
    robot = motion.robot
    friction = {(one.location, one.surface): one.friction for sample in motion.forces for one in sample}
    found: list[Phase] = []
    places: dict[str, tuple[object, pin.SE3]] = {}
    for before, span, after in zip([None, *spans[:-1]], spans, [*spans[1:], None], strict=True):
        intervals = int(np.clip(np.ceil(0.5 * (span.end - span.start) / settings.interval), 4, 14))
        q = _evenly(robot, span.q, intervals + 1)
        links, held, holds = robot.link_placements(span.q[0]), places, []
        places = {}
        for contact in span.contacts:
            location = contact.location
            here = held.get(location.name, (None, None))
            place = here[1] if here[0] == contact.place else links[location.link] * location.placement_link_patch
            places[location.name] = contact.place, place
            if (location.name, contact.surface.name) not in friction:
                raise InputError(
                    f"has no planned force of '{location.name}' on '{contact.surface.name}'",
                    element="motion",
                    remedy="Give what generate_motion makes",
                )
            holds.append(_hold(contact, place, friction[location.name, contact.surface.name], settings))
        moving = _moving(before, span, after)
        corridors = tuple(_corridor(robot, name, q, settings) for name in moving)
        width = _width(robot, {*moving, *places}, settings)
        longest = max(span.end - span.start, 2.0 * settings.shortest)
        found.append(Phase(tuple(holds), (settings.shortest, longest), intervals, tube=Tube(q, width, corridors)))
    return found


def _width(robot: Robot, busy: Collection[str], settings: StrideSettings) -> Array:
    """(nv,) by which coordinates may be off: less of joints on the way to no location that is busy."""
    model = robot.model
    width = np.full(model.nv, settings.idle)
    for name in busy:
        joint = model.frames[robot.parts.links[robot.contacts[name].link].frame_id].parentJoint
        while joint:
            own = model.joints[joint]
            width[own.idx_v : own.idx_v + own.nv] = settings.tube
            joint = model.parents[joint]
    base = model.joints[robot.base_joint]
    width[base.idx_v : base.idx_v + base.nv] = settings.base
    return width


def _moving(before: _Span | None, span: _Span, after: _Span | None) -> list[str]:
    """Return locations that leave or come, or both, and touch nothing meanwhile."""
    held = {contact.location.name for contact in span.contacts}
    others = {contact.location.name for one in (before, after) if one is not None for contact in one.contacts}
    return sorted(others - held)


def _hold(contact: Contact, place: pin.SE3, friction: float, settings: StrideSettings) -> Hold:
    """Return a contact at a place of its patch, with forces away from its edges.

    On a curved surface a line or a point touches: forces act there alone, and the link is held as a patch is.
    """
    surface = replace(contact.surface, placement_body_surface=place, form=SurfaceForm.PLANE, radius=np.inf)
    patch = contact.touching
    if not len(patch):
        raise InputError(
            "touches nothing", element=f"'{contact.location.name}' on '{surface.name}'", remedy="Give a contact"
        )
    if contact.surface.form is not SurfaceForm.PLANE:
        patch = np.repeat(patch, 3, axis=0)  # three corners or more hold a link in six ways
    out = patch - patch.mean(axis=0)
    inner = replace(contact.location, patch=patch - np.sign(out) * np.minimum(settings.reserve, 0.5 * np.abs(out)))
    held = replace(contact, location=inner, surface=surface, x=0.0, y=0.0, theta=0.0, kind=ContactKind.FIXED)
    return Hold(held, friction=settings.friction * friction, least=settings.least)


def _corridor(robot: Robot, name: str, q: Array, settings: StrideSettings) -> Corridor:
    """Return room about the way of a location's corners; towards the surfaces that they leave and come to is less."""
    location = robot.contacts[name]
    patches = [robot.link_placements(row)[location.link] * location.placement_link_patch for row in (q[0], q[-1])]
    ends = np.arange(len(q)) >= len(q) // 2
    axes, origins = (np.array([getattr(patches[end], part) for end in ends.astype(int)])
                     for part in ("rotation", "translation"))  # fmt: skip
    room = np.full((len(q), len(location.vertices_link), 3), settings.corridor)
    found = Corridor(location.link, np.asarray(location.vertices_link), room, room, axes)
    heights = (found.places(robot, q) - np.einsum("nij,ni->nj", axes, origins)[:, None, :])[:, :, 2]
    lower = room.copy()
    lower[:, :, 2] = np.clip(settings.sinking * heights, 0.0, settings.corridor)
    return replace(found, lower=lower)


def _evenly(robot: Robot, q: Array, number_of: int) -> Array:
    """(number_of, nq) configurations on a way (K, nq), at equal distances along it."""
    model = robot.model
    steps = [float(np.linalg.norm(pin.difference(model, a, b))) for a, b in itertools.pairwise(q)]
    along = np.concatenate([[0.0], np.cumsum(steps)])
    if along[-1] == 0.0:
        return np.repeat(q[:1], number_of, axis=0)
    found = []
    for at in np.linspace(0.0, along[-1], number_of):
        k = min(int(np.searchsorted(along, at, side="right")) - 1, len(steps) - 1)
        share = (at - along[k]) / steps[k] if steps[k] else 0.0
        found.append(pin.interpolate(model, q[k], q[k + 1], float(np.clip(share, 0.0, 1.0))))
    return np.array(found)
