# SPDX-License-Identifier: Apache-2.0
"""Postures from which a robot looks at an object in given directions, its feet free to walk around it (F096)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.checks import check_known
from humanoid_model.contact import Contact, ContactKind, ContactLocation, Stance, Surface
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene
from humanoid_planner.equilibrium.support_polygon import SupportPolygon
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.program import SolverOptions
from humanoid_planner.posture.generate import DEFAULT_SOLVER, solve_problem
from humanoid_planner.posture.posture_result import PostureResult
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements
from humanoid_planner.posture.tasks.criteria import Criterion, NearReference, WeightedSum
from humanoid_planner.posture.tasks.geometric_rows import COM
from humanoid_planner.posture.tasks.link_tasks import axis_along, gaze, relative_frame
from humanoid_planner.posture.tasks.state import PostureState
from humanoid_planner.posture.tasks.task import GeometricTask, Row

#: Smallest distance between eye and object [m] (specification 001 Appendix B).
DEFAULT_DISTANCE = 0.3
#: Weight of the distance to a reference posture [rad^2] beside that of the centre of mass [m^2].
_REFERENCE_WEIGHT = 1e-3


@dataclass(frozen=True, eq=False)
class Eye:
    """Where a robot looks from, and in which direction.

    Attributes:
        link: that carries the eye.
        point: (3,) in the link frame [m].
        axis: (3,) of the gaze, link frame.
    """

    link: str
    point: ArrayLike = (0.0, 0.0, 0.0)
    axis: ArrayLike = (1.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class View:
    """What is looked at, and from where.

    Attributes:
        target: (3,) what is looked at, world frame [m].
        direction: (3,) v from the eye to the target, world frame.
        distance: smallest distance from the eye to the target [m].
    """

    target: ArrayLike
    direction: ArrayLike
    distance: float = DEFAULT_DISTANCE


def observation_task(
    kinematics: RobotKinematics, eye: Eye, view: View, name: str = "observation"
) -> GeometricTask:
    """Return object seen along a direction (section 9.2): v and the eye's axis parallel to HX, HX >= distance.

    Args:
        kinematics: of the robot.
        eye: that looks.
        view: what it sees.
        name: for messages.

    Raises:
        InputError: unknown link, or numbers that can't be used.
    """
    along = axis_along(kinematics, eye.link, eye.axis, view.direction, name=name)
    # With the axis along v, the target on the axis is the target seen along v.
    aimed = gaze(kinematics, eye.link, eye.point, eye.axis, view.target, distance=view.distance, name=name)
    return GeometricTask(name, [*along.rows, *aimed.rows])


@dataclass(frozen=True, eq=False)
class PairedFeet:
    """Two feet that slide on the ground together: the second is held relative to the first.

    Attributes:
        first: foot that slides.
        second: foot that follows.
        placement_first_second: patch frame of the second in that of the first; their z axes coincide.
    """

    first: ContactLocation
    second: ContactLocation
    placement_first_second: pin.SE3

    @classmethod
    def of_posture(cls, robot: Robot, q: ArrayLike, first: str, second: str) -> PairedFeet:
        """Return the feet as far apart as in a posture (nq,).

        Raises:
            InputError: unknown locations, or feet that aren't parallel there.
        """
        for name in (first, second):
            check_known(name, robot.contacts, f"robot '{robot.name}'", "contact location")
        kinematics = RobotKinematics(robot)
        kinematics.set(kinematics.coordinates(q))
        places = []
        for name in (first, second):
            R, p = kinematics.placement(robot.contacts[name].link)
            places.append(pin.SE3(R, p) * robot.contacts[name].placement_link_patch)
        between = places[0].inverse() * places[1]
        return cls(robot.contacts[first], robot.contacts[second], between)

    def __post_init__(self) -> None:
        normal = self.placement_first_second.rotation[:, 2]
        height = abs(float(self.placement_first_second.translation[2]))
        if normal[2] < 1 - 1e-6 or height > 1e-6:
            raise InputError(
                f"{self.second.name} is {height:.3g} m above {self.first.name} and tilted by "
                f"{math.acos(min(1.0, float(normal[2]))):.3g} rad",
                element="paired feet",
                remedy="Give a transform along the ground, turning about its normal",
            )

    @property
    def polygon(self) -> SupportPolygon:
        """Support polygon in the patch frame of the first foot."""
        R, p = self.placement_first_second.rotation[:2, :2], self.placement_first_second.translation[:2]
        return SupportPolygon.of_points(np.concatenate([self.first.patch, self.second.patch @ R.T + p]))

    def relation(self, kinematics: RobotKinematics) -> GeometricTask:
        """Return the second foot held relative to the first (relative strong contact, section 4.6)."""
        target = self.first.placement_link_patch * self.placement_first_second
        return relative_frame(
            kinematics,
            self.second.link,
            self.second.placement_link_patch,
            self.first.link,
            target,
            name=f"{self.second.name} held relative to {self.first.name}",
        )

    def stability(self, kinematics: RobotKinematics, margin: float = 0.0) -> GeometricTask:
        """Return the centre of mass above the polygon, which moves with the feet, at least ``margin`` [m] inside.

        Raises:
            InputError: the margin leaves nothing of the polygon.
        """
        polygon = self.polygon
        if len(polygon.vertices) > 2 and margin > polygon.largest_circle()[1]:
            raise InputError(
                f"is {margin:g} m", element="margin", remedy=f"Give at most {polygon.largest_circle()[1]:.4g} m"
            )
        body, place = kinematics.body_of(self.first.link)
        patch = place * self.first.placement_link_patch
        rows = []
        for edge, (normal, offset) in enumerate(zip(polygon.normals, polygon.offsets, strict=True)):
            w = patch.rotation @ np.array([*normal, 0.0])
            Q = patch.act(np.array([*(offset * normal), 0.0]))
            rows.append(Row(COM, f"edge {edge}", -math.inf, -margin, b=body, Q=Q, w=w))
        return GeometricTask("centre of mass in the feet's polygon", rows)

    def centring(self) -> CentreOfMassOver:
        """K10: the centre of mass above the middle of the polygon."""
        centre, _ = self.polygon.largest_circle()
        point = self.first.placement_link_patch.act(np.array([*centre, 0.0]))
        return CentreOfMassOver(self.first.link, point)


class CentreOfMassOver(Criterion):
    """K10: squared horizontal distance of the centre of mass to a point of a link, which moves with it."""

    def __init__(self, link: str, point: ArrayLike) -> None:
        """Take a link and a point (3,) in its frame [m]."""
        self.link = link
        self.point = np.asarray(point, dtype=float)

    def _difference(self, state: PostureState) -> NDArray[np.float64]:
        kinematics = state.kinematics
        return np.asarray((kinematics.centre_of_mass() - kinematics.point(self.link, self.point))[:2])

    def _jacobian(self, state: PostureState) -> NDArray[np.float64]:
        kinematics = state.kinematics
        J = kinematics.centre_of_mass_jacobian() - kinematics.point_jacobian(self.link, self.point)
        return np.asarray(J[:2])

    def value(self, state: PostureState) -> float:
        """Squared distance [m^2]."""
        d = self._difference(state)
        return float(d @ d)

    def gradient(self, state: PostureState) -> NDArray[np.float64]:
        """Its gradient."""
        g = np.zeros(state.size)
        g[: state.first_force] = 2 * self._difference(state) @ self._jacobian(state)
        return g

    def hessian(self, state: PostureState) -> NDArray[np.float64]:
        """Gauss-Newton approximation."""
        J = self._jacobian(state)
        H = np.zeros((state.size, state.size))
        H[: state.first_force, : state.first_force] = 2 * J.T @ J
        return H


def observation_postures(
    robot: Robot,
    ground: Surface,
    feet: PairedFeet,
    eye: Eye,
    views: Iterable[View],
    *,
    scene: Scene | None = None,
    initial: ArrayLike | None = None,
    stability_margin: float = 0.0,
    solver: str = DEFAULT_SOLVER,
    options: SolverOptions | None = None,
) -> list[PostureResult]:
    """Key postures for looking at an object in several directions (thesis section 3.6.2.1, X04).

    The first foot slides on the ground, the second is held relative to it; the centre of mass stays above
    their polygon and near its middle (K10), and the posture near the initial one as far as that leaves freedom. Each
    search starts from the posture before it, the first from ``initial``.

    Args:
        robot: that looks.
        ground: horizontal surface that the feet stand on.
        feet: how they stand.
        eye: that looks.
        views: of the object.
        scene: that the ground belongs to; None puts it into the world.
        initial: (nq,) start of the first search, and reference; None takes the robot's default posture.
        stability_margin: smallest distance of the centre of mass to the polygon's edge [m].
        solver: see :func:`humanoid_planner.posture.generate_posture`.
        options: likewise.

    Raises:
        InputError: something can't be used; it names field, value and remedy.
    """
    start = robot.default_posture if initial is None else np.asarray(initial, dtype=float)
    stance = Stance((Contact(feet.first, ground, 0.0, 0.0, 0.0, kind=ContactKind.SLIDING),))
    kinematics = RobotKinematics(robot)
    criterion = WeightedSum([(1.0, feet.centring()), (_REFERENCE_WEIGHT, NearReference(kinematics, start))])
    results: list[PostureResult] = []
    q = start
    for view in views:
        tasks = (
            feet.relation(kinematics),
            feet.stability(kinematics, stability_margin),
            observation_task(kinematics, eye, view),
        )
        problem = PostureProblem(
            robot,
            stance,
            PostureRequirements(scene=scene, tasks=tasks, criterion=criterion, stability="none"),
            start=q,
            kinematics=kinematics,
        )
        result = solve_problem(problem, q, solver=solver, options=options)
        results.append(result)
        if result.success:
            q = result.q
    return results
