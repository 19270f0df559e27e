# SPDX-License-Identifier: Apache-2.0
"""Static equilibrium as tasks, three ways (specification 001 sections 4.9, 4.10), and the choice among them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from humanoid_model.contact import ContactKind
from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.centre_of_mass_region import centre_of_mass_region
from humanoid_planner.equilibrium.contact_points import ContactPoints
from humanoid_planner.equilibrium.support_polygon import SupportPolygon
from humanoid_planner.equilibrium.wrench_cone import WrenchCone
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.problem.force_model import ForceModel, Load
from humanoid_planner.posture.problem.placed_contact import PlacedContact
from humanoid_planner.posture.problem.state import PostureState
from humanoid_planner.posture.tasks.geometric_rows import COM
from humanoid_planner.posture.tasks.geometric_task import GeometricTask, Row
from humanoid_planner.posture.tasks.line_stability import CentreOfMassOnLine
from humanoid_planner.posture.tasks.task import Task

#: Facets of a friction cone in the wrench polytope (specification 001 Appendix B, planning).
FACETS = 4
#: Part of the weight below which the denominator of the cone rows is rounded off. Where it matters their gradient
# vanishes at : the apex, as that of (3.69) does everywhere: at a thousandth, points that bear nothing kept solvers
# from converging.
_ROUNDING = 1e-6
#: Sides of the pyramids around the cones.
_SIDES = 4
#: Force, in weights, below which the cones' curvature, one over the force, no longer grows.
_FLATTENING = 1e-3
#: How well the region of centres of mass in equilibrium is known [m].
_REGION_TOLERANCE = 2e-3


def choose_stability(contacts: Sequence[PlacedContact], loads: Sequence[Load], gravity: NDArray[np.float64]) -> str:
    """Take "polygon" where it is exact or conservative, "forces" otherwise (section 4.10, choice rule).

    The polygon needs bearing contacts whose place is known, on horizontal surfaces of the world, that only push; and
    no loads.
    """
    up = -gravity / max(float(np.linalg.norm(gravity)), 1e-12)
    for placed in contacts:
        if not placed.contact.kind.bears:
            continue
        normal = placed.placement_ground_contact.rotation[:, 2]
        if not placed.fixed_in_world or placed.contact.bilateral or float(normal @ up) < 1 - 1e-9:
            return "forces"
    return "forces" if loads else "polygon"


def polygon_task(
    kinematics: RobotKinematics, contacts: Sequence[PlacedContact], gravity: NDArray[np.float64], margin: float
) -> Task:
    """Centre of mass above the convex hull of the contact points (3.63, E-07), at least ``margin`` [m] inside.

    Two contacts that both slide have no polygon that is known beforehand; the centre of mass is then kept on the line
    between their middles (section 3.6.2.2 of the thesis), which lies in every polygon that they can make.

    Raises:
        InputError: gravity isn't along z, other sliding contacts, no bearing contact, a margin that leaves nothing.
    """
    if abs(gravity[0]) + abs(gravity[1]) > 1e-9 * abs(gravity[2]) or gravity[2] >= 0:
        raise InputError(
            f"gravity is {gravity.tolist()}",
            element="stability polygon",
            remedy="Let gravity point along -z, or choose the stability forces",
        )
    bearing = [placed for placed in contacts if placed.contact.kind.bears]
    if not bearing:
        raise InputError("no contact bears load", element="stability polygon", remedy="Give a contact that does")
    if len(bearing) == 2 and all(placed.contact.kind == ContactKind.SLIDING for placed in bearing):
        first, second = ((placed.contact.location.link, _middle(placed)) for placed in bearing)
        return CentreOfMassOnLine(kinematics, first, second, margin)
    for placed in bearing:
        if not placed.fixed_in_world:
            raise InputError(
                f"{placed.label} has no place that is known before the posture is",
                element="stability polygon",
                remedy="Choose the stability forces",
            )
    points = np.array(
        [placed.placement_ground_contact.act(np.array([x, y, 0.0])) for placed in bearing for x, y in placed.bearing]
    )
    polygon = SupportPolygon.of_points(points)
    if margin > 0 and len(polygon.vertices) > 2 and margin > polygon.largest_circle()[1]:
        raise InputError(
            f"the stability margin of {margin:g} m leaves nothing of the support polygon",
            element="stability margin",
            remedy=f"Give at most {polygon.largest_circle()[1]:.4g} m",
        )
    return GeometricTask("centre of mass in the support polygon", _edge_rows(polygon, margin))


def _edge_rows(polygon: SupportPolygon, margin: float) -> list[Row]:
    """Centre of mass above a polygon, a margin [m] inside each edge."""
    return [
        Row(COM, f"edge {edge}", -math.inf, offset - margin, w=np.array([*normal, 0.0]))
        for edge, (normal, offset) in enumerate(zip(polygon.normals, polygon.offsets, strict=True))
    ]


def _middle(placed: PlacedContact) -> NDArray[np.float64]:
    """Return the middle of the patch in the link frame."""
    return np.asarray(placed.contact.location.vertices_link.mean(axis=0))


def polytope_task(
    model: ForceModel, mass: float, loads: Sequence[Load], margin: float, facets: int = FACETS
) -> GeometricTask:
    """Gravity's wrench in the polytope of those that inscribed friction cones bear (section 4.10, 3).

    Raises:
        InputError: a contact whose place isn't known beforehand, loads, or contacts that bear no wrench at all.
    """
    if loads:
        raise InputError("there are loads", element="stability polytope", remedy="Choose the stability forces")
    if not model.points:
        raise InputError("no contact bears load", element="stability polytope", remedy="Give a contact that does")
    for point in model.points:
        if not point.placed.fixed_in_world:
            raise InputError(
                f"{point.placed.label} has no place that is known before the posture is",
                element="stability polytope",
                remedy="Choose the stability forces",
            )
    cone = WrenchCone.of_contacts(contact_points(model), facets=facets)
    A, b = cone.centre_of_mass_halfspaces(mass, model.gravity, np.zeros(6))
    rows = []
    for facet, (normal, offset) in enumerate(zip(A, b, strict=True)):
        size = float(np.linalg.norm(normal))
        if size < 1e-9 * model.weight:
            # The centre of mass has no say: the facet holds everywhere or nowhere.
            rows.append(Row(COM, f"facet {facet}", -math.inf, offset - margin, "N", scale=model.weight))
        else:
            # Divided by the normal the row is a distance of the centre of mass.
            rows.append(Row(COM, f"facet {facet}", -math.inf, (offset - margin) / size, "m", w=normal / size))
    return GeometricTask("weight in the wrench polytope", rows)


def region_task(model: ForceModel, mass: float, loads: Sequence[Load], margin: float) -> GeometricTask:
    """Centre of mass, seen from above, in the region where the contacts balance the weight, ``margin`` [m] inside.

    On level contacts that only push the region is taken to be their hull, which lies within it. Elsewhere it is known
    to ``_REGION_TOLERANCE``, from inside. The joints' efforts don't count.

    Raises:
        InputError: a contact whose place isn't known beforehand, loads, or gravity that isn't along z.
    """
    if loads or np.abs(model.gravity[:2]).max() > 0.0:
        raise InputError(
            "there are loads, or gravity isn't along z",
            element="centre_margin",
            remedy="Give a stability_margin in newtons",
        )
    points = contact_points(model)
    corners: NDArray[np.float64] = points.positions
    if choose_stability([point.placed for point in model.points], loads, model.gravity) != "polygon":
        corners = centre_of_mass_region(points, mass, gravity=model.gravity, tolerance=_REGION_TOLERANCE)
    # Without corners no forces balance the weight, which other rows say.
    rows = _edge_rows(SupportPolygon.of_points(corners), margin) if len(corners) else []
    return GeometricTask("centre of mass in the region of balance", rows)


def contact_points(model: ForceModel) -> ContactPoints:
    """Contact points of a force model whose contacts all have places in the world that are known.

    Raises:
        InputError: one hasn't.
    """
    frames = []
    positions = []
    for point in model.points:
        placed = point.placed
        if not placed.fixed_in_world:
            raise InputError(
                f"{placed.label} has no place that is known before the posture is",
                element="equilibrium",
                remedy="Give contacts that are fixed in the world",
            )
        E = placed.placement_ground_contact
        positions.append(E.act(placed.placement_body_patch.actInv(point.local)))
        frames.append(E.rotation)
    count = len(positions)
    return ContactPoints(
        np.array(positions, dtype=float).reshape(count, 3),
        np.array(frames, dtype=float).reshape(count, 3, 3),
        np.array(model.friction, dtype=float),
        np.array(model.bilateral, dtype=bool),
    )


class ForceBalance(Task):
    """Gravity, contact forces and loads are in equilibrium (3.57), (3.58), (3.70), over the weight."""

    def __init__(self, model: ForceModel) -> None:
        super().__init__("equilibrium", np.zeros(6), np.zeros(6), unit="N and N m", scale=model.weight)

    @property
    def labels(self) -> tuple[str, ...]:
        """How messages call the rows."""
        return tuple(
            f"equilibrium of {what}" for what in ("force x", "force y", "force z", "moment x", "moment y", "moment z")
        )

    def value(self, state: PostureState) -> NDArray[np.float64]:
        """(6,) wrench of all that acts on the robot [N, N m]."""
        return state.place_forces().wrench()

    def jacobian(self, state: PostureState) -> NDArray[np.float64]:
        """(6, state.size) its derivative."""
        return state.place_forces().wrench_jacobian(state.size)


def cone_lift(friction: NDArray[np.float64], margin: float) -> NDArray[np.float64]:
    """Return how far a cone's apex moves up for its boundary to move in by a margin; both in the unit of force."""
    safe = np.where(friction > 0, friction, 1.0)
    return np.where(friction > 0, margin * np.sqrt(1 + safe**2) / safe, margin)


class FrictionCones(Task):
    r"""Contact forces in their friction cones (3.68), (3.69), exact and round.

    The row of a point is :math:`(|f_t|^2-\mu^2f_n^2)/(\sqrt{|f_t|^2+\epsilon^2}+\mu f_n)`: it has the sign of (3.69),
    but grows with the force, not with its square, so that its gradient doesn't vanish where forces are small. With a
    margin the cone's apex is moved up its axis, so that every force keeps that distance from the cone's boundary.
    """

    def __init__(self, model: ForceModel, margin: float) -> None:
        # Without friction the tangents have bounds of zero instead: the row's gradient would vanish there.
        self._indices = np.flatnonzero(~model.bilateral & (model.friction > 0))
        self._mu = model.friction[self._indices]
        self._lift = cone_lift(self._mu, margin) / model.weight
        count = len(self._indices)
        super().__init__("friction", np.full(count, -np.inf), np.zeros(count), unit="of the weight")
        self._points = [model.points[i].placed.label for i in self._indices]

    @property
    def labels(self) -> tuple[str, ...]:
        """How messages call the rows."""
        return tuple(f"friction of {label}, point {index}" for index, label in enumerate(self._points))

    def _parts(self, state: PostureState) -> tuple[NDArray[np.float64], ...]:
        f = state.force_variables[self._indices]
        normal = self._mu * (f[:, 2] - self._lift)
        square = f[:, 0] ** 2 + f[:, 1] ** 2
        root = np.sqrt(square + _ROUNDING**2)
        return f, normal, square, root

    def value(self, state: PostureState) -> NDArray[np.float64]:
        """(k,) not positive inside the cones."""
        _, normal, square, root = self._parts(state)
        # Normal forces have a bound of their own; below it the cone is continued linearly.
        inside = np.maximum(normal, 0.0)
        return np.asarray((square - inside**2) / (root + inside) - np.minimum(normal, 0.0))

    def jacobian(self, state: PostureState) -> NDArray[np.float64]:
        """(k, state.size) derivative."""
        f, normal, square, root = self._parts(state)
        inside = np.maximum(normal, 0.0)
        above = root + inside
        value = (square - inside**2) / above
        J = np.zeros((len(f), state.size))
        rows = np.arange(len(f))
        first = state.first_force + 3 * self._indices
        for tangent in (0, 1):
            J[rows, first + tangent] = (2 * f[:, tangent] - value * f[:, tangent] / root) / above
        by_normal = np.where(normal > 0, (-2 * inside - value) / above, -1.0)
        J[rows, first + 2] = self._mu * by_normal
        return J

    def curvature(self, state: PostureState, multipliers: NDArray[np.float64]) -> NDArray[np.float64]:
        """(state.size, state.size) sum of the cones' Hessians, each times its multiplier.

        That of the cone itself, |f_t| - mu f_n, whose surface the rows share; bounded where the force is tiny.

        Args:
            state: where.
            multipliers: (k,) not negative.
        """
        f, _, square, _ = self._parts(state)
        root = np.sqrt(square + _FLATTENING**2)
        H = np.zeros((state.size, state.size))
        first = state.first_force + 3 * self._indices
        share = multipliers / root
        x, y = f[:, 0] / root, f[:, 1] / root
        H[first, first] = share * (1 - x * x)
        H[first + 1, first + 1] = share * (1 - y * y)
        H[first, first + 1] = H[first + 1, first] = -share * x * y
        return H


class FrictionPyramids(Task):
    """Pyramids around the friction cones: they forbid nothing that the cones allow, but are linear.

    A cone's linearisation holds along the force that it was made at. Where points bear next to nothing, the
    direction of their force turns with each step, and without the pyramids solvers chase it.
    """

    linear = True

    def __init__(self, model: ForceModel, margin: float) -> None:
        self._indices = np.flatnonzero(~model.bilateral & (model.friction > 0))
        self._mu = model.friction[self._indices]
        lift = cone_lift(self._mu, margin) / model.weight
        count = len(self._indices)
        angles = 2 * np.pi * np.arange(_SIDES) / _SIDES
        self._directions = np.column_stack([np.cos(angles), np.sin(angles)])
        upper = np.repeat(-self._mu * lift, _SIDES)
        super().__init__("friction pyramids", np.full(count * _SIDES, -np.inf), upper, unit="of the weight")
        self._points = [model.points[i].placed.label for i in self._indices]
        self._J: NDArray[np.float64] | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """How messages call the rows."""
        return tuple(
            f"friction of {label}, point {index}" for index, label in enumerate(self._points) for _ in range(_SIDES)
        )

    def value(self, state: PostureState) -> NDArray[np.float64]:
        """(k sides,) tangential force along each side's direction, less friction times the normal force."""
        f = state.force_variables[self._indices]
        return np.asarray((f[:, :2] @ self._directions.T - (self._mu * f[:, 2])[:, None]).ravel())

    def jacobian(self, state: PostureState) -> NDArray[np.float64]:
        """(k sides, state.size) derivative, a constant."""
        if self._J is None or self._J.shape[1] != state.size:
            J = np.zeros((self.size, state.size))
            for row, (index, mu) in enumerate(zip(self._indices, self._mu, strict=True)):
                first = state.first_force + 3 * index
                rows = slice(row * _SIDES, (row + 1) * _SIDES)
                J[rows, first : first + 2] = self._directions
                J[rows, first + 2] = -mu
            self._J = J
        return self._J


class TorqueLimits(Task):
    """Efforts that hold the posture within the joints' limits, the efforts eliminated by (3.67, E-08).

    Passive joints with springs give the effort of their spring and no other; joints that float give none, which the
    equilibrium of the whole robot covers for its base.

    Attributes:
        rows: (m,) variables that the rows are about.
    """

    def __init__(self, model: ForceModel, state: PostureState, limited: bool) -> None:
        variables = state.kinematics.variables
        lower, upper = -variables.effort.copy(), variables.effort.copy()
        sprung = variables.stiffness > 0
        floating = ~variables.driven
        if not limited:
            lower[:], upper[:] = -np.inf, np.inf
        lower[sprung | floating] = upper[sprung | floating] = 0.0
        limited_rows = np.isfinite(lower) | np.isfinite(upper)
        limited_rows[variables.base_columns] = False
        kept = self.rows = np.flatnonzero(limited_rows)
        scale = np.where(upper > lower, np.where(np.isfinite(upper), upper, 1.0), model.weight)[kept]
        super().__init__(
            "torque limits" if limited else "passive joints",
            lower[kept],
            upper[kept],
            unit="N m",
            scale=np.maximum(scale, 1e-6),
        )
        self._names = [variables.names[row] for row in kept]
        self._stiffness = np.where(sprung, variables.stiffness, 0.0)[kept]
        self._rests = variables.rests[kept]

    @property
    def labels(self) -> tuple[str, ...]:
        """How messages call the rows."""
        return tuple(f"torque of {name}" for name in self._names)

    def value(self, state: PostureState) -> NDArray[np.float64]:
        """(m,) efforts of the joints' drives [N m] or [N]."""
        efforts = state.place_forces().efforts()[self.rows]
        return np.asarray(efforts + self._stiffness * (state.x[self.rows] - self._rests))

    def jacobian(self, state: PostureState) -> NDArray[np.float64]:
        """(m, state.size) derivative."""
        model = state.place_forces()
        J = np.zeros((self.size, state.size))
        J[:, : state.first_force] = model.efforts_jacobian()[self.rows]
        J[:, state.first_force : state.first_extra] = model.efforts_by_force()[self.rows]
        J[np.arange(self.size), self.rows] += self._stiffness
        return J


class TorqueVariables(Task):
    """Torques as variables of their own, tied to configuration and forces by (3.11); their limits are bounds.

    Attributes:
        rows: (m,) driven variables, whose torques are the first extra variables.
    """

    def __init__(self, model: ForceModel, state: PostureState) -> None:
        variables = state.kinematics.variables
        self.rows = np.flatnonzero(variables.driven)
        self.limits = variables.effort[self.rows]
        # As a variable a torque is in units of its limit, so that all are of the size of one.
        self.units = np.where(np.isfinite(self.limits) & (self.limits > 0), self.limits, 1.0)
        super().__init__("statics", np.zeros(len(self.rows)), np.zeros(len(self.rows)), unit="N m", scale=self.units)
        self._names = [variables.names[row] for row in self.rows]

    @property
    def labels(self) -> tuple[str, ...]:
        """How messages call the rows."""
        return tuple(f"statics of {name}" for name in self._names)

    def value(self, state: PostureState) -> NDArray[np.float64]:
        """(m,) tau + J^T f - g [N m]."""
        torques = state.extras[: len(self.rows)] * self.units
        return np.asarray(torques - state.place_forces().efforts()[self.rows])

    def jacobian(self, state: PostureState) -> NDArray[np.float64]:
        """(m, state.size) derivative."""
        model = state.place_forces()
        J = np.zeros((self.size, state.size))
        J[:, : state.first_force] = -model.efforts_jacobian()[self.rows]
        J[:, state.first_force : state.first_extra] = -model.efforts_by_force()[self.rows]
        J[np.arange(self.size), state.first_extra + np.arange(self.size)] += self.units
        return J
