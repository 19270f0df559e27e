# SPDX-License-Identifier: Apache-2.0
"""A solution as a motion of the whole robot, with forces, efforts and contact schedule.

Samples are at the points of collocation, with positions of the smooth motion whose accelerations are polynomials, and
at both ends of every phase, to which accelerations and forces of the nearest points are carried on and brought onto the
dynamics.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import daqp
import numpy as np

from humanoid_gait.point_model import PointModel
from humanoid_gait.problem import State
from humanoid_gait.transcription import Transcription
from humanoid_model.arrays import Array
from humanoid_model.whole_body_dynamics import zero_moment_point
from humanoid_model.whole_body_trajectory import ContactSpan, Impact, PlannedForce, WholeBodyTrajectory

_EQUATION, _KEPT = 5, 1e-6
"""DAQP's number for an equation, and what of one may be left."""
_PRESSES = 1e-6
"""Least force that is told of [N]."""


@dataclass(frozen=True, eq=False)
class PhasePoints:
    """A phase of a solution, instant by instant.

    Attributes:
        times: (K,) from its start [s]: both ends and the points between.
        zeta: (K, size) coordinates, rates, accelerations and multipliers.
        weights: (K,) of the instants in sums over time [s]; 0 at the ends.
    """

    times: Array
    zeta: Array
    weights: Array


def phase_points(transcription: Transcription, x: Array, index: int) -> PhasePoints:
    """Return a phase of the unknowns (V,)."""
    layout, gauss, point = transcription.layout, transcription.gauss, transcription.points[index]
    n, s = layout.n, layout.points
    w = x[layout.stages(index)]
    interval = transcription.interval(index)
    _, zetas, h = interval.map(len(w))(w.T, np.tile(transcription.parameters(index)[:, None], len(w)))
    step = float(np.asarray(h).ravel()[0])
    own = np.asarray(zetas).T.reshape(len(w) * s, point.size)
    times = ((np.arange(len(w))[:, None] + gauss.c) * step).ravel()
    weights = np.tile(gauss.b * step, len(w))
    states = layout.states()[[layout.first[index], layout.first[index + 1]]]
    ends = []
    for state, time, nearest in ((states[0], 0.0, [0, 1]), (states[1], step * len(w), [-1, -2])):
        alone = len(own) == 1
        near, at = own[[0, 0] if alone else nearest, 2 * n :], np.array([0.0, 1.0]) if alone else times[nearest]
        carried = near[0] + (time - at[0]) / (at[1] - at[0]) * (near[1] - near[0])
        ends.append(_onto_dynamics(point, np.concatenate([x[state[: 2 * n]], carried])))
    return PhasePoints(
        np.concatenate([[0.0], times, [step * len(w)]]),
        np.vstack([ends[0], own, ends[1]]),
        np.concatenate([[0.0], weights, [0.0]]),
    )


def _onto_dynamics(point: PointModel, zeta: Array) -> Array:
    """Return the nearest accelerations and multipliers that keep all rows and bounds, which are linear in them.

    Where none keep all of them, those that keep the equations.
    """
    n, equal = point.model.n, point.equalities
    rows, J = point.first()(zeta, point.parameters)
    values, slopes = np.asarray(rows).ravel(), np.asarray(J)[:, 2 * n :]
    found = zeta.copy()
    free = np.full(n, np.inf)
    lower = np.concatenate([-free, point.least - zeta[3 * n :], point.lower - values])
    upper = np.concatenate([free, np.full(point.multipliers, np.inf), point.upper - values])
    sense = np.repeat(np.array([0, _EQUATION, 0], dtype=np.intc), [len(zeta) - 2 * n, equal, len(values) - equal])
    size = len(zeta) - 2 * n
    change, _, status, _ = daqp.solve(np.eye(size), np.zeros(size), np.ascontiguousarray(slopes), upper, lower, sense)
    kept = status > 0 and np.abs(values[:equal] + slopes[:equal] @ change).max(initial=0.0) < _KEPT
    if not kept:
        change = -np.linalg.lstsq(slopes[:equal], values[:equal], rcond=1e-9)[0]
    found[2 * n :] += change
    return found


def whole_body_motion(transcription: Transcription, x: Array, period: float = np.inf) -> WholeBodyTrajectory:
    """Return the motion of the unknowns (V,).

    Args:
        transcription: that they are of.
        x: (V,) unknowns.
        period: samples are nearer to each other than that, where points of collocation aren't [s].
    """
    problem = transcription.problem
    robot, coordinates = problem.robot, transcription.coordinates
    parts: dict[str, list[Array]] = {name: [] for name in ("times", "q", "v", "a", "tau", "zmp")}
    forces: list[list[PlannedForce]] = []
    spans: list[ContactSpan] = []
    begin = 0.0
    impacts, struck = [], set()
    for index, point in enumerate(transcription.points):
        if point.impact:
            impacts.append(Impact(begin, _impulses(transcription, x, index)))
            struck.add(len(parts["times"]))
            continue
        part = phase_points(transcription, x, index)
        part = _smooth(transcription, part) if period == np.inf else _between(transcription, x, index, part, period)
        n = transcription.model.n
        q, v, a = coordinates.samples(part.zeta[:, :n], part.zeta[:, n : 2 * n], part.zeta[:, 2 * n : 3 * n])
        tau, planned, zmp = _efforts(transcription, point, part.zeta, q)
        end = begin + float(part.times[-1])
        for name, values in zip(parts, (begin + part.times, q, v, a, tau, zmp), strict=True):
            parts[name].append(values)
        parts["times"][-1][-1] = end
        forces += planned
        spans += [ContactSpan(own.hold.contact, begin, end, own.hold.part) for own in point.contacts]
        begin = end
    joined = {name: np.concatenate(values) for name, values in parts.items()}
    # Phases join where the solver's rows do, to its tolerance; players want them to join exactly.
    ends = np.cumsum([len(values) for values in parts["times"]])[:-1]
    joined["q"][ends - 1] = joined["q"][ends]
    ends = ends[[index not in struck for index in range(1, len(parts["times"]))]]
    joined["v"][ends - 1] = joined["v"][ends]
    for state, k in ((problem.start, 0), (problem.end, -1)):
        if isinstance(state, State) and state.v is None and not state.free_v:
            joined["v"][k] = 0.0  # controllers want rest, not rest to the solver's tolerance
    return WholeBodyTrajectory(
        robot, joined["times"], joined["q"], joined["v"], joined["a"], _merged(spans),
        tau=joined["tau"], forces=forces, zero_moment_point=joined["zmp"],
        base=_base(transcription),
    ).with_impacts(impacts)  # fmt: skip


def _impulses(transcription: Transcription, x: Array, index: int) -> tuple[PlannedForce, ...]:
    """Impulses of an impact: the mean of the points', which all do the same."""
    layout, gauss, point = transcription.layout, transcription.gauss, transcription.points[index]
    w = x[layout.stages(index)[0]]
    zetas = np.asarray(transcription.interval(index)(w, transcription.parameters(index))[1]).reshape(-1, point.size)
    zeta = (gauss.b @ zetas)[None, :]
    n = transcription.model.n
    q, _, _ = transcription.coordinates.samples(zeta[:, :n], zeta[:, n : 2 * n], zeta[:, 2 * n : 3 * n])
    return tuple(_efforts(transcription, point, zeta, q)[1][0])


def _smooth(transcription: Transcription, part: PhasePoints) -> PhasePoints:
    """Return a phase with positions that are the integrals of its accelerations."""
    n, gauss = transcription.model.n, transcription.gauss
    s = len(gauss.b)
    zeta, count = part.zeta.copy(), (len(part.zeta) - 2) // s
    change = zeta[1:-1, 2 * n : 3 * n].reshape(count, s, n)
    step = part.times[-1] / count
    zeta[1:-1, :n] += step**2 * np.einsum("ij,kjn->kin", gauss.smooth - gauss.twice, change).reshape(-1, n)
    return replace(part, zeta=zeta)


def _between(
    transcription: Transcription, x: Array, index: int, part: PhasePoints, period: float
) -> PhasePoints:
    """Return a phase at equal distances in time: its accelerations' polynomials, and their integrals."""
    layout, gauss, point = transcription.layout, transcription.gauss, transcription.points[index]
    n, s, count = layout.n, layout.points, layout.phases[index].intervals
    w, h = x[layout.stages(index)], part.times[-1] / count
    parts = int(np.ceil(h / period))
    shares = (np.arange(parts) + 0.5) / parts
    here, once, twice = gauss.within(shares)
    # Beyond the outermost points forces stay as they are there: carried on they would leave their cones.
    steady = gauss.within(np.clip(shares, gauss.c[0], gauss.c[-1]))[0]
    first = layout.state
    change = w[:, first : first + s * n].reshape(count, s, n)
    forces = w[:, first + s * n :].reshape(count, s, -1)
    y, rate = w[:, None, :n], w[:, None, n : 2 * n]
    zeta = np.concatenate([
        y + h * shares[:, None] * rate + h**2 * np.einsum("ij,kjn->kin", twice, change),
        rate + h * np.einsum("ij,kjn->kin", once, change),
        np.einsum("ij,kjn->kin", here, change),
        np.einsum("ij,kjn->kin", steady, forces),
    ], axis=2).reshape(count * parts, point.size)  # fmt: skip
    own = np.array([_onto_dynamics(point, row) for row in zeta])
    times = ((np.arange(count)[:, None] + shares) * h).ravel()
    return PhasePoints(
        np.concatenate([[0.0], times, part.times[-1:]]), np.vstack([part.zeta[:1], own, part.zeta[-1:]]),
        np.concatenate([[0.0], np.full(count * parts, h / parts), [0.0]]),
    )  # fmt: skip


def _base(transcription: Transcription) -> int | None:
    robot = transcription.problem.robot
    if robot.base_joint is not None or len(transcription.model.free) == 0:
        return robot.base_joint
    return len(transcription.model.free)  # the last of the joints in a row that nothing drives


def _efforts(
    transcription: Transcription, point: PointModel, zeta: Array, q: Array
) -> tuple[Array, list[list[PlannedForce]], Array]:
    """Return efforts (K, nv), planned forces and zero-moment points (K, 3)."""
    robot, count = transcription.problem.robot, len(zeta)
    surfaces = np.tile(point.parameters[:, None], count)
    tau, *at_corners = (np.asarray(part) for part in point.efforts.map(count).call([zeta.T, surfaces]))
    efforts = tau.T.copy()
    efforts[:, transcription.model.free] = 0.0
    planned: list[list[PlannedForce]] = []
    zmp = np.full((count, 3), np.nan)
    split = [part.reshape(part.shape[0], count, 3) for part in at_corners]
    up = -np.asarray(transcription.problem.gravity)
    for k in range(count):
        links = robot.link_placements(q[k])
        own = []
        for contact, part in zip(point.loaded, split, strict=True):
            hold = contact.hold
            places = hold.corners if len(part) == len(hold.corners) else hold.corners.mean(axis=0)[None, :]
            for corner, force in zip(places, part[:, k], strict=True):
                if np.abs(force).max() > _PRESSES:
                    place = links[hold.contact.location.link].act(corner)
                    normal = hold.placement.rotation[:, 2]
                    if hold.on is not None:
                        normal = links[hold.on].rotation @ normal
                    names = hold.contact.location.name, hold.contact.surface.name
                    on = hold.on or ""
                    own.append(PlannedForce(*names, place, normal, np.array(force), hold.friction, link=on))
        if outer := [one for one in own if not one.link]:
            places, forces = [one.place for one in outer], [one.force for one in outer]
            zmp[k] = zero_moment_point(places, forces, up / max(float(np.linalg.norm(up)), 1e-12))
        planned.append(own)
    return efforts, planned, zmp


def _merged(spans: list[ContactSpan]) -> list[ContactSpan]:
    """Join spans of one contact that follow one another."""
    found: list[ContactSpan] = []
    for span in sorted(spans, key=lambda one: (one.location, one.start)):
        last = found[-1] if found else None
        joins = (
            last is not None and last.location == span.location and last.part == span.part
            and last.contact.place == span.contact.place and abs(last.end - span.start) < 1e-12
        )  # fmt: skip
        if joins and last is not None:
            found[-1] = ContactSpan(last.contact, last.start, span.end, last.part)
        else:
            found.append(span)
    return found

