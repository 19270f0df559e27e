# SPDX-License-Identifier: Apache-2.0
r"""Direct collocation of a gait as one nonlinear program, with exact first and second derivatives.

The unknowns of an interval, w = (state, controls), give those of its points linearly, :math:`\zeta_i=A_i(h)w`: the
charts of :mod:`humanoid_gait.coordinates` have plain derivatives. Gradients and Hessians of the points are thus carried
over by constant matrices, and the program keeps the structure of stages that a Riccati recursion takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np
import pinocchio as pin
import scipy.linalg
from numpy.typing import NDArray

from humanoid_gait.contact_rows import ContactRows
from humanoid_gait.coordinates import Coordinates
from humanoid_gait.layout import Layout
from humanoid_gait.mirror import Mirror
from humanoid_gait.point_model import PointModel
from humanoid_gait.problem import Corridor, Cycle, GaitProblem, Phase, State, Tube
from humanoid_gait.program_solution import ProgramSolution
from humanoid_gait.quadrature import GaussPoints
from humanoid_gait.robot_model import RobotModel
from humanoid_gait.scene_clearance import scene_gaps
from humanoid_gait.self_clearance import self_gaps
from humanoid_gait.sparse_blocks import Piece, block_piece, gathered, scattered
from humanoid_gait.swing_heights import smooth_height, swing_heights
from humanoid_model.arrays import Array

_RANK = 1e-6
"""Singular values below this share of the greatest one count as zero: rows that depend on others."""
_INSIDE = 1e-2
"""By which joints stay inside their ranges at nodes, so that they do between them [rad or m]."""
_SPEED = 0.96
"""Share of their greatest speeds that joints have at nodes, so that they keep these between them."""


class Rows(NamedTuple):
    """Rows of one kind at many nodes or intervals.

    Attributes:
        name: for people.
        function: (unknowns of one place, parameters) to rows.
        columns: (places, k) unknowns of each place.
        stage: (places,) node that the rows of each place belong to.
        lower: (places, rows).
        upper: (places, rows).
        parameters: of the function, which doesn't change with them.
    """

    name: str
    function: ca.Function
    columns: NDArray[np.int64]
    stage: NDArray[np.int64]
    lower: Array
    upper: Array
    parameters: Array = np.zeros(0)


class ProgramExpressions(NamedTuple):
    """A program in CasADi's symbols: unknowns (V,), factor of the cost, multipliers (R,) of the rows."""

    x: ca.MX
    sigma: ca.MX
    multipliers: ca.MX
    cost: ca.MX
    gradient: ca.MX
    rows: ca.MX
    jacobian: ca.MX
    hessian: ca.MX


class Transcription:
    """The nonlinear program of a gait.

    Attributes:
        problem: the gait.
        model: of the robot.
        layout: of the unknowns.
        points: model of each phase's instants.
        gauss: coefficients.
        lower: (V,) of the unknowns.
        upper: (V,) of the unknowns.
        row_lower: (R,) of the rows.
        row_upper: (R,) of the rows.
        gaps: (N, state) rows of the dynamics of each interval.
        paths: (N, rows) by phase: rows of the points of each interval.
        node_rows: rows of nodes.
        kinds: their names and (places, rows) numbers.
    """

    def __init__(
        self, problem: GaitProblem, postures: Array, *, points: int = 2, carried: bool = False
    ) -> None:
        """Write the program down.

        Args:
            problem: the gait.
            postures: (N + 1, nq) near the solution, at which dependent rows are told.
            points: of collocation in each interval.
            carried: states carry the one at the start, so that a cycle has the structure of stages.

        Raises:
            InputError: as those of the problem's parts.
        """
        self.problem, self.gauss = problem, GaussPoints.of(points)
        self.coordinates = Coordinates(problem.robot, problem.heading)
        self.model = RobotModel(self.coordinates, problem.gravity)
        self.points = [PointModel.of(self.model, phase, problem.costs) for phase in problem.phases]
        counts = tuple(point.multipliers for point in self.points)
        self._reference = self.coordinates.chart(postures)
        self._landing = self._landings()
        held = self._jacobian([*self.points[-1].contacts, *self._landing], -1)
        self._open = scipy.linalg.null_space(held, rcond=_RANK) if len(held) else np.eye(self.model.n)
        size = 2 * self._open.shape[1] if carried and isinstance(problem.end, Cycle) else 0
        self.layout = Layout(problem.phases, self.model.n, points, counts, size)
        self._bounds()
        self._number()

    # Bounds ---------------------------------------------------------------------------------------------------------

    def _bounds(self) -> None:
        layout, n = self.layout, self.model.n
        self.lower, self.upper = np.full(layout.unknowns, -np.inf), np.full(layout.unknowns, np.inf)
        limits, driven = self.problem.robot.limits, self.model.driven
        places = [self.problem.robot.index_q(name) for name in self._driven_names()]
        states = layout.states()
        lower, upper = limits.lower[places], limits.upper[places]
        inside = np.minimum(_INSIDE, 0.1 * (upper - lower))
        self.lower[states[:, driven]], self.upper[states[:, driven]] = lower + inside, upper - inside
        most = _SPEED * self.problem.speeds * limits.velocity[driven]
        self.lower[states[:, n + driven]], self.upper[states[:, n + driven]] = -most, most
        for index, tube in ((index, phase.tube) for index, phase in enumerate(layout.phases)):
            if tube is not None:
                at = states[layout.first[index] : layout.first[index + 1] + 1, :n]
                y = self.coordinates.chart(tube.q)
                self.lower[at] = np.maximum(self.lower[at], y - tube.width)
                self.upper[at] = np.minimum(self.upper[at], y + tube.width)
        # What an end gives is in no bounds: at one of these there would be nothing inside.
        for state, node in ((self.problem.start, 0), (self.problem.end, -1)):
            if isinstance(state, State):
                for first, free in ((0, state.free_q), (n, state.free_v)):
                    chosen = [self.problem.robot.index_v(name) for name in free]
                    given = states[node, first + np.setdiff1d(np.arange(n), chosen)]
                    self.lower[given], self.upper[given] = -np.inf, np.inf
        for phase, place in layout.durations.items():
            self.lower[states[:, place]], self.upper[states[:, place]] = layout.phases[phase].range
        for index, point in enumerate(self.points):
            first = layout.state + layout.points * n
            at = first + np.arange(layout.points * point.multipliers)
            self.lower[layout.stages(index)[:, at]] = np.tile(point.least, layout.points)

    def _driven_names(self) -> list[str]:
        robot = self.problem.robot
        return [name for name in robot.joint_names if name in robot.actuators]

    # Intervals ------------------------------------------------------------------------------------------------------

    def parameters(self, index: int) -> Array:
        """Duration of an interval of a phase, if that is given [s], and what its contacts' functions are given."""
        phase = self.layout.phases[index]
        return np.concatenate([[phase.range[0] / phase.intervals], self.points[index].parameters])

    def interval(self, index: int) -> ca.Function:
        """Map an interval's unknowns: (w, parameters) to (next state, zeta of every point, its duration)."""
        layout, gauss, n = self.layout, self.gauss, self.model.n
        s, count = layout.points, layout.multipliers[index]
        w = ca.MX.sym("w", layout.state + layout.controls(index))
        p = ca.MX.sym("p", 1 + len(self.points[index].parameters))
        place = layout.durations.get(index)
        h = p[0] if place is None else w[place] / layout.phases[index].intervals
        y, rate = w[:n], w[n : 2 * n]
        A = [w[layout.state + i * n : layout.state + (i + 1) * n] for i in range(s)]
        first = layout.state + s * n
        zetas = []
        for i in range(s):
            at, speed = y + h * gauss.c[i] * rate, rate
            for j in range(s):
                at = at + h**2 * float(gauss.twice[i, j]) * A[j]
                speed = speed + h * float(gauss.a[i, j]) * A[j]
            zetas.append(ca.vertcat(at, speed, A[i], w[first + i * count : first + (i + 1) * count]))
        following, speed = y + h * rate, rate
        weight = 1.0 if self.points[index].impact else h
        for j in range(s):
            following = following + h**2 * float(gauss.b[j] * (1.0 - gauss.c[j])) * A[j]
            speed = speed + weight * float(gauss.b[j]) * A[j]
        after = ca.vertcat(following, speed, w[2 * n : layout.state])
        return ca.Function("interval", [w, p], [after, ca.vertcat(*zetas), h])

    def stage(self, index: int) -> list[ca.Function]:
        """Functions of an interval's (w, parameters): values, gradient, Jacobians, and with factors the Hessian."""
        layout, point = self.layout, self.points[index]
        s, b = layout.points, self.gauss.b
        w = ca.MX.sym("w", layout.state + layout.controls(index))
        p = ca.MX.sym("p", 1 + len(point.parameters))
        after, zetas, h = self.interval(index)(w, p)
        if point.impact:
            h = ca.MX(1.0)
        Z, D, dh = ca.jacobian(zetas, w), ca.jacobian(after, w), ca.jacobian(h, w)
        parts, surfaces = ca.vertsplit(zetas, point.size), p[1:]
        Zs = [Z[i * point.size : (i + 1) * point.size, :] for i in range(s)]
        values = [point.value(part, surfaces) for part in parts]
        cost = sum(h * float(weight) * rate for weight, (rate, _) in zip(b, values, strict=True))
        value = ca.Function("value", [w, p], [cost, after, ca.vertcat(*[rows for _, rows in values])])
        slopes = [point.slope()(part, surfaces) for part in parts]
        gradient = ca.MX(1, w.numel())
        for weight, own, Zi in zip(b, slopes, Zs, strict=True):
            gradient += h * float(weight) * (own.T @ Zi)
        for weight, (rate, _) in zip(b, values, strict=True):
            gradient += float(weight) * rate * dh
        slope = ca.Function("slope", [w, p], [gradient])
        jacobians = [point.first()(part, surfaces)[1] @ Zi for part, Zi in zip(parts, Zs, strict=True)]
        first = ca.Function("first", [w, p], [-D, ca.vertcat(*jacobians)])
        sigma = ca.MX.sym("sigma")
        k = point.rows.numel()
        nu, mu = ca.MX.sym("nu", layout.state), ca.MX.sym("mu", s * k)
        H, pulls = ca.MX(w.numel(), w.numel()), []
        for i, Zi in enumerate(Zs):
            pull, own = point.second()(parts[i], surfaces, sigma * h * float(b[i]), mu[i * k : (i + 1) * k])
            H += Zi.T @ (own @ Zi)
            pulls.append(pull)
            if index in layout.durations:
                cross = sigma * float(b[i]) * (slopes[i].T @ Zi)
                H += dh.T @ cross + cross.T @ dh
        if index in layout.durations:  # the maps bend with the duration
            fixed = ca.MX.sym("fixed", zetas.numel())
            bent = ca.hessian(ca.dot(fixed, zetas) - ca.dot(nu, after), w)[0]
            H += ca.graph_substitute(bent, [fixed], [ca.vertcat(*pulls)])
        second = ca.Function("second", [w, p, sigma, nu, mu], [H])
        return [value, slope, first, second]

    # Rows -----------------------------------------------------------------------------------------------------------

    def _all_rows(self) -> list[Rows]:
        """Rows of nodes, and of both ends together."""
        found: list[Rows] = []
        layout = self.layout
        for index, phase in enumerate(layout.phases):
            node = int(layout.first[index])
            if index or self.problem.start is None or not self.problem.start.whole:
                found += self._new_holds(index, node)
            found += self._swings(index, phase)
            if phase.tube is not None:
                found += [row for own in phase.tube.corridors for row in self._corridor(index, phase.tube, own)]
            found += self._tilts(index, phase)
        if self.problem.apart is not None:
            found += self._apart("parts keep apart", self_gaps(self.model, self.problem.apart, self._reference))
        if self.problem.obstacles:
            gaps = scene_gaps(self.model, self.problem.obstacles, self.problem.apart or 0.0, self._reference)
            found += self._apart("obstacles stay clear", gaps)
        found += self._ends()
        return found

    def _new_holds(self, index: int, node: int) -> list[Rows]:
        """Places and rates of contacts that begin, as far as those that go on don't give them."""
        before = {} if not index else {own.hold.contact.location.name: own for own in self.points[index - 1].contacts}
        mine = self.points[index].contacts
        kept = [own for own in mine if own.hold.contact.location.name in before]
        held = [before[own.hold.contact.location.name] for own in kept]
        J = self._jacobian(held, node)
        found = []
        for own in mine:
            name = own.hold.contact.location.name
            if name in before and before[name].hold.part in ("sole", own.hold.part):
                continue
            more = self._jacobian([own], node)
            rows = _independent(J, more)
            J = np.vstack([J, more])
            if len(rows):
                found.append(self._held(f"{own.hold.name} begins", own, rows, node, not self.points[index].impact))
        return found

    def _held(self, name: str, own: ContactRows, rows: list[int], node: int, still: bool = True) -> Rows:
        """Place and, where it is still there, rates of a contact at a node."""
        n = self.model.n
        x, parameters = ca.SX.sym("x", self.layout.state), ca.SX.sym("parameters", len(own.parameters))
        y, rate = x[:n], x[n : 2 * n]
        values = own.place(y, parameters)[rows]
        if still:
            values = ca.vertcat(values, own.rate(y, rate, parameters)[rows])
        function = ca.Function("hold", [x, parameters], [values])
        at = self.layout.states()[node : node + 1]
        zero = np.zeros(values.numel())
        return _at(name, function, at, np.array([node]), zero)._replace(parameters=own.parameters)

    def _swings(self, index: int, phase: Phase) -> list[Rows]:
        """Heights of soles in the air."""
        layout = self.layout
        found: list[Rows] = []
        nodes = np.arange(layout.first[index] + 1, layout.first[index + 1])
        if not len(nodes):
            return found
        share = (nodes - layout.first[index]) / phase.intervals
        ends = layout.first[index : index + 2]
        for name in phase.swinging:
            x = ca.SX.sym("x", layout.state)
            heights = swing_heights(self.model, self.problem.ground, name, x[: self.model.n], self._reference[ends])
            function = ca.Function("swing", [x, ca.SX(0, 1)], [heights])
            least = 4.0 * phase.clearance * share * (1.0 - share)
            lower = np.repeat(least[:, None], heights.numel(), axis=1)
            found.append(
                Rows(f"{name} swings", function, layout.states()[nodes], nodes, lower, np.full_like(lower, np.inf))
            )
        return found

    def _corridor(self, index: int, tube: Tube, corridor: Corridor) -> Iterator[Rows]:
        """Places of a link's points within their corridor, for nodes whose axes are the same."""
        layout, given = self.layout, corridor.places(self.problem.robot, tube.q)
        inner = np.arange(1, layout.phases[index].intervals)
        x, p = ca.SX.sym("x", layout.state), ca.SX.sym("p", 9)
        R, place = self.model.placement(corridor.link, self.model.configuration(x[: self.model.n]))
        points = [ca.reshape(p, 3, 3).T @ (place + R @ ca.DM(point)) for point in corridor.points]
        function = ca.Function("corridor", [x, p], [ca.vertcat(*points)])
        for axes in np.unique(corridor.axes[inner], axis=0):
            own = inner[(corridor.axes[inner] == axes).all(axis=(1, 2))]
            nodes = layout.first[index] + own
            lower, upper = given[own] - corridor.lower[own], given[own] + corridor.upper[own]
            yield Rows(
                f"{corridor.link} in its corridor", function, layout.states()[nodes], nodes,
                lower.reshape(len(own), -1), upper.reshape(len(own), -1), axes.T.ravel(),
            )  # fmt: skip
    def _apart(self, name: str, gaps: ca.Function) -> list[Rows]:
        """Gaps that stay above 0, at nodes whose state isn't given."""
        layout = self.layout
        ends = [isinstance(state, State) for state in (self.problem.start, self.problem.end)]
        nodes = np.arange(int(ends[0]), len(layout.starts) - int(ends[1]))
        if not (gaps.numel_out(0) and len(nodes)):
            return []
        x = ca.SX.sym("x", layout.state)
        function = ca.Function("apart", [x, ca.SX(0, 1)], [gaps(x[: self.model.n])])
        lower = np.zeros((len(nodes), gaps.numel_out(0)))
        return [Rows(name, function, layout.states()[nodes], nodes, lower, lower + np.inf)]

    def _tilts(self, index: int, phase: Phase) -> list[Rows]:
        """Heights of the corners of a sole that stands on an edge or a point of it, which aren't held."""
        layout, found = self.layout, []
        first, last = int(layout.first[index]), int(layout.first[index + 1])
        for hold in phase.holds:
            location = hold.contact.location
            free = [k for k, corner in enumerate(location.vertices_link) if not (corner == hold.corners).all(1).any()]
            if not (location.support and free):
                continue
            # Where all of the sole is held, or the state is given, they are at rest on the ground.
            flat = [self._is_flat(at, location.name) for at in (index - 1, index + 1)]
            nodes = np.arange(first + flat[0], last + 1 - flat[1])
            x = ca.SX.sym("x", layout.state)
            corners = self.model.corners(location.name, self.model.configuration(x[: self.model.n]))[free, :]
            heights = corners[:, 2] - smooth_height(self.problem.ground, corners[:, 0])
            function = ca.Function("tilt", [x, ca.SX(0, 1)], [heights])
            lower = np.zeros((len(nodes), len(free)))
            kind = Rows(f"{location.name} tilts", function, layout.states()[nodes], nodes, lower, lower + np.inf)
            found.append(kind)
        return found

    def _is_flat(self, index: int, location: str) -> bool:
        """Whether all of a location is held in a phase, or lies where a state is given."""
        if index < 0 or index == len(self.points):
            return isinstance(self.problem.start if index < 0 else self.problem.end, State)
        return any(own.hold.contact.location.name == location and own.hold.part == "sole"
                   for own in self.points[index].contacts)  # fmt: skip

    def _ends(self) -> list[Rows]:
        """Return what the start and the end are."""
        layout, n, problem = self.layout, self.model.n, self.problem
        states, last = layout.states(), int(layout.first[-1])
        found = []
        x = ca.SX.sym("x", layout.state)
        for name, state, node, all_of in (
            ("start", problem.start, 0, np.eye(n)), ("end", problem.end, last, self._open.T)
        ):  # fmt: skip
            if isinstance(state, State):
                off = x[: 2 * n] - ca.DM(self.chart_state(state.q, state.v))
                by_q, by_v = (self._given(free, node, all_of) for free in (state.free_q, state.free_v))
                given = ca.vertcat(ca.DM(by_q) @ off[:n], ca.DM(by_v) @ off[n:])
                function = ca.Function(name, [x, ca.SX(0, 1)], [given])
                zero = np.zeros(len(by_q) + len(by_v))
                found.append(_at(name, function, states[node : node + 1], np.array([node]), zero))
        if isinstance(problem.end, Cycle):
            found += self._cycle(problem.end)
        return found

    def _given(self, free: Sequence[str], node: int, all_of: Array) -> Array:
        """Return rows that give coordinates, or their rates, at an end, save free ones and those that contacts give."""
        if not free:
            return all_of
        robot, contacts = self.problem.robot, self.points[-1 if node else 0].contacts
        kept = np.delete(np.eye(self.model.n), [robot.index_v(name) for name in free], axis=0)
        return kept[_independent(self._jacobian(contacts, node), kept)]

    def _landings(self) -> list[ContactRows]:
        """Contacts with which a cycle begins anew, as far as they aren't held at its end."""
        end = self.problem.end
        if not isinstance(end, Cycle):
            return []
        held = {own.hold.contact.location.name for own in self.points[-1].contacts}
        found = []
        for own in self.points[0].contacts:
            hold = own.hold.mirrored(self.problem.robot) if end.mirrored else own.hold
            if hold.contact.location.name not in held:
                found.append(ContactRows(self.model, hold.moved(end.step)))
        return found

    def _cycle(self, cycle: Cycle) -> list[Rows]:
        """Return that the end is the start's image in what contacts leave open, and that what lands then does."""
        layout, n = self.layout, self.model.n
        states, last = layout.states(), np.array([int(layout.first[-1])])
        mirror = Mirror.of(self.problem.robot) if cycle.mirrored else Mirror.none(n)
        x = ca.SX.sym("x", layout.state)
        J, found = self._jacobian(self.points[-1].contacts, -1), []
        for own in self._landing:
            rows = _independent(J, self._jacobian([own], -1))
            J = np.vstack([J, self._jacobian([own], -1)])
            found.append(self._held(f"{own.hold.name} lands", own, rows, int(last[0])))
        image = self._opened(mirror.image(self.coordinates, cycle.step, x[: 2 * n]))
        reached = self._opened(Mirror.none(n).image(self.coordinates, pin.SE3.Identity(), x[: 2 * n]))
        none = np.zeros(2 * self._open.shape[1])
        if layout.carried:
            carried = x[layout.state - layout.carried :]
            begins, ends = (ca.Function("cycle", [x, ca.SX(0, 1)], [part - carried]) for part in (image, reached))
            found.append(_at("carried", begins, states[:1], np.array([0]), none))
            found.append(_at("cycle", ends, states[-1:], last, none))
            return found
        start = ca.SX.sym("start", layout.state)
        off = reached - ca.Function("image", [x], [image])(start)
        both = ca.Function("cycle", [ca.vertcat(start, x), ca.SX(0, 1)], [off])
        found.append(_at("cycle", both, np.hstack([states[:1], states[-1:]]), last, none))
        return found

    def image(self, state: Array) -> Array:
        """(2 k,) what a cycle's end has to be, in what contacts leave open, of a start (2 n,)."""
        cycle, x = self.problem.end, ca.SX.sym("x", 2 * self.model.n)
        if not isinstance(cycle, Cycle):
            return np.zeros(0)
        mirror = Mirror.of(self.problem.robot) if cycle.mirrored else Mirror.none(self.model.n)
        function = ca.Function("image", [x], [self._opened(mirror.image(self.coordinates, cycle.step, x))])
        return np.asarray(function(state)).ravel()

    def _opened(self, values: ca.SX) -> ca.SX:
        """Components of coordinates and rates (2 n,) that contacts at the end leave open."""
        n, Z = self.model.n, ca.DM(self._open.T)
        return ca.vertcat(Z @ values[:n], Z @ values[n:])

    def chart_state(self, q: object, v: object | None) -> Array:
        """(2 n,) coordinates and rates of a configuration (nq,) and a velocity (nv,), at rest if left out."""
        at = np.asarray(q, dtype=float)
        speed = np.zeros(self.model.n) if v is None else np.asarray(v, dtype=float)
        return np.concatenate([self.coordinates.chart(at), self.coordinates.rates(at, speed)])

    def _jacobian(self, contacts: list[ContactRows], node: int) -> Array:
        """(rows, n) of contacts at the reference."""
        y = ca.SX.sym("y", self.model.n)
        found = [np.zeros((0, self.model.n))]
        for own in contacts:
            J = ca.Function("J", [y], [ca.jacobian(own.place(y), y)])
            found.append(np.array(J(self._reference[node])))
        return np.vstack(found)

    # Program --------------------------------------------------------------------------------------------------------

    def _number(self) -> None:
        """Give rows their numbers: those of each node in a row, the gap of its interval first."""
        layout = self.layout
        self.node_rows = self._all_rows()
        counts = np.zeros((len(layout.starts), 2), dtype=int)  # gaps and others of each node
        counts[:-1, 0] = layout.state
        for index, point in enumerate(self.points):
            counts[layout.first[index] : layout.first[index + 1], 1] += layout.points * point.rows.numel()
        own_first = []
        for kind in self.node_rows:
            own_first.append(counts[kind.stage, 1].copy())
            counts[kind.stage, 1] += kind.lower.shape[1]
        begin = np.concatenate([[0], np.cumsum(counts.sum(axis=1))])
        rows = int(begin[-1])
        self.row_lower, self.row_upper = np.zeros(rows), np.zeros(rows)
        self.inequality_rows = counts[:, 1]
        self.gaps = begin[:-2, None] + np.arange(layout.state)
        self.paths = []
        for index, point in enumerate(self.points):
            nodes = np.arange(layout.first[index], layout.first[index + 1])
            path = begin[nodes, None] + layout.state + np.arange(layout.points * point.rows.numel())
            self.paths.append(path)
            self._path_bounds(index, path)
        self.kinds = []
        for kind, offset in zip(self.node_rows, own_first, strict=True):
            at = begin[kind.stage, None] + counts[kind.stage, :1] + offset[:, None] + np.arange(kind.lower.shape[1])
            self.row_lower[at], self.row_upper[at] = kind.lower, kind.upper
            self.kinds.append((kind.name, at))

    @cached_property
    def expressions(self) -> ProgramExpressions:
        """The program as CasADi's expressions, for its solvers."""
        layout = self.layout
        x, sigma = ca.MX.sym("x", layout.unknowns), ca.MX.sym("sigma")
        multipliers = ca.MX.sym("multipliers", len(self.row_lower))
        pieces, hessians, costs, gradients = [], [], ca.MX(0.0), []
        for index in range(len(layout.phases)):
            found = self._phase(index, x, sigma, multipliers)
            pieces += found[0]
            hessians.append(found[1])
            costs += found[2]
            gradients.append(found[3])
        for kind, (_, at) in zip(self.node_rows, self.kinds, strict=True):
            piece, H = self._kind(kind, at, x, multipliers)
            pieces.append(piece)
            hessians.append(H)
        rows, jacobian = gathered(pieces, len(self.row_lower), layout.unknowns)
        return ProgramExpressions(
            x, sigma, multipliers, costs, sum(gradients[1:], gradients[0]), rows, jacobian,
            sum(hessians[1:], hessians[0]),
        )  # fmt: skip

    def _path_bounds(self, index: int, path: NDArray[np.int64]) -> None:
        point, layout = self.points[index], self.layout
        every = path.reshape(len(path), layout.points, point.rows.numel())
        share = np.ones(point.rows.numel())
        share[point.equalities : point.equalities + len(point.limited)] = self.problem.efforts
        self.row_lower[every], self.row_upper[every] = share * point.lower, share * point.upper

    def _phase(
        self, index: int, x: ca.MX, sigma: ca.MX, multipliers: ca.MX
    ) -> tuple[list[Piece], ca.MX, ca.MX, ca.MX]:
        """Return rows, Hessian, cost and gradient of a phase's intervals."""
        layout, columns, path = self.layout, self.layout.stages(index), self.paths[index]
        gaps = self.gaps[layout.first[index] : layout.first[index + 1]]
        count = len(columns)
        w = ca.reshape(x[columns.ravel().tolist()], columns.shape[1], count)
        p = ca.repmat(ca.DM(self.parameters(index)), 1, count)
        value, slope, first, second = self.stage(index)
        cost, after, values = value.map(count)(w, p)
        gradient = slope.map(count)(w, p)
        D, J = first.map(count)(w, p)
        following = x[(columns[:, -1:] + 1 + np.arange(layout.state)).ravel().tolist()]
        sizes = first.sparsity_out(0), first.sparsity_out(1)
        gap_piece = block_piece(following - ca.reshape(after, -1, 1), D, sizes[0], gaps, columns)
        after_columns = columns[:, -1:] + 1 + np.arange(layout.state)
        plus = Piece(ca.MX(0, 1), np.zeros(0, dtype=int), ca.MX.ones(gaps.size), gaps.ravel(), after_columns.ravel())
        path_piece = block_piece(ca.reshape(values, -1, 1), J, sizes[1], path, columns)
        nu = ca.reshape(multipliers[gaps.ravel().tolist()], gaps.shape[1], count)
        mu = ca.reshape(multipliers[path.ravel().tolist()], path.shape[1], count)
        blocks = second.map(count)(w, p, ca.repmat(sigma, 1, count), nu, mu)
        H = scattered(blocks, second.sparsity_out(0), columns, columns, (layout.unknowns, layout.unknowns))
        top = np.zeros((count, 1), dtype=int)
        total = scattered(gradient, slope.sparsity_out(0), top, columns, (1, layout.unknowns))
        return [gap_piece, plus, path_piece], H, ca.sum2(cost), total

    def _kind(self, kind: Rows, at: NDArray[np.int64], x: ca.MX, multipliers: ca.MX) -> tuple[Piece, ca.MX]:
        """Return rows and Hessian of rows at nodes."""
        count, size = kind.columns.shape
        z = ca.SX.sym("z", size)
        values = kind.function(z, ca.DM(kind.parameters))
        J = ca.jacobian(values, z)
        factors = ca.SX.sym("factors", values.numel())
        H = ca.hessian(ca.dot(factors, values), z)[0]
        first = ca.Function("first", [z], [values, J])
        second = ca.Function("second", [z, factors], [H])
        own = ca.reshape(x[kind.columns.ravel().tolist()], size, count)
        found, slopes = first.map(count)(own)
        piece = block_piece(ca.reshape(found, -1, 1), slopes, first.sparsity_out(1), at, kind.columns)
        mu = ca.reshape(multipliers[at.ravel().tolist()], at.shape[1], count)
        blocks = second.map(count)(own, mu)
        unknowns = self.layout.unknowns
        return piece, scattered(blocks, second.sparsity_out(0), kind.columns, kind.columns, (unknowns, unknowns))


def fits(solution: ProgramSolution, program: Transcription) -> bool:
    """Whether a solution has as many unknowns and rows as a program."""
    return (len(solution.x), len(solution.multipliers)) == (program.layout.unknowns, len(program.row_lower))


def _at(name: str, function: ca.Function, columns: NDArray[np.int64], stage: NDArray[np.int64], value: Array) -> Rows:
    """Equations at one node."""
    return Rows(name, function, columns, stage, value[None, :], value[None, :])


def _independent(J: Array, more: Array) -> list[int]:
    """Which rows of ``more`` aren't combinations of those of J and of one another, the plainest first."""
    basis = scipy.linalg.orth(J.T, rcond=_RANK) if len(J) else np.zeros((more.shape[1], 0))
    found = []
    for index, row in enumerate(more):
        rest = row - basis @ (basis.T @ row)
        if np.linalg.norm(rest) > 1e-3 * np.linalg.norm(row):
            found.append(index)
            basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
    return found
