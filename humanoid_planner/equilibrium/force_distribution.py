# SPDX-License-Identifier: Apache-2.0
"""Do contact forces exist that keep a robot in equilibrium or give it its motion, and with what margin?

Specification 001 section 4.10; with the joint torques that go with the forces of a motion.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import block_diag

from humanoid_model.arrays import Array, Reals
from humanoid_model.checks import check_array, check_number
from humanoid_model.errors import InputError
from humanoid_model.joint_trajectory import PathPlace
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory
from humanoid_planner.equilibrium.cone_simplex import GAP, balance_load
from humanoid_planner.equilibrium.contact_points import ContactPoints, pyramid_halfspaces
from humanoid_planner.optimisation.quadratic_program import QuadraticProgram, solve_quadratic_program

_GRAVITY = np.array([0.0, 0.0, -9.81])
_NO_ACCELERATION = np.zeros(3)
_NO_WRENCH = np.zeros(6)
_NO_LIMITS: NDArray[np.float64] = np.zeros((0, 0))
_NO_OFFSETS: NDArray[np.float64] = np.zeros(0)


class Equilibrium(NamedTuple):
    """Answer of :func:`check_equilibrium`.

    Attributes:
        equilibrium: whether forces inside their friction cones balance the load.
        margin: N, see :func:`check_equilibrium`.
        forces: (k, 3) on the robot, in the world, N; with the margin. Out of equilibrium they balance the load too,
            but leave their cones by ``-margin``; zeros when no forces balance it.
    """

    equilibrium: bool
    margin: float
    forces: NDArray[np.float64]


def check_equilibrium(
    contacts: ContactPoints,
    mass: float,
    centre_of_mass: ArrayLike,
    *,
    gravity: ArrayLike = _GRAVITY,
    acceleration: ArrayLike = _NO_ACCELERATION,
    external_wrench: ArrayLike = _NO_WRENCH,
    torque_limits: tuple[ArrayLike, ArrayLike] | None = None,
) -> Equilibrium:
    """Whether contact forces in their exact quadratic cones balance weight, inertia and loads, (3.57)-(3.59), (3.67).

    The forces f_i at points C_i fulfil ``sum f_i = m (a - g) - f_e`` and
    ``sum C_i x f_i = G x m (a - g) - m_e``, each within its cone ``|f_t| <= mu f_n``.

    The margin [N] is the largest s such that every unilateral force can keep the distance s from the boundary
    of its cone (without friction: such that it can be s), exact to 1e-7 of the load. Out of equilibrium it is
    negative: minus the smallest distance that forces must leave their cones to balance the load. It is infinite when
    contacts can be pressed against each other as hard as one likes (two walls of a chimney), or when all contacts are
    bilateral; minus infinite when no forces whatever balance the load (a moment about a single point) or keep the
    torque limits. Forces above a million times the load count as none.

    Args:
        contacts: the points, k of them.
        mass: of the robot, kg.
        centre_of_mass: (3,) in the world, m.
        gravity: (3,) in the world, m/s^2.
        acceleration: (3,) of the centre of mass, m/s^2; the angular momentum about it is taken as constant.
        external_wrench: (6,) known force on the robot and its moment about the world's origin, N and N m.
        torque_limits: A (m, 3k) and b (m,) of ``A f + b <= 0``, f the forces in the world one after the other, see
            :func:`torque_limits`.

    Raises:
        InputError: a shape is wrong, a number isn't finite or the mass is negative.
    """
    margin, load, forces = _balance(
        contacts, mass, centre_of_mass, gravity, acceleration, external_wrench, torque_limits, True
    )
    return Equilibrium(margin >= -GAP * load, margin, forces)


def in_equilibrium(
    contacts: ContactPoints,
    mass: float,
    centre_of_mass: ArrayLike,
    *,
    gravity: ArrayLike = _GRAVITY,
    acceleration: ArrayLike = _NO_ACCELERATION,
    external_wrench: ArrayLike = _NO_WRENCH,
    torque_limits: tuple[ArrayLike, ArrayLike] | None = None,
) -> bool:
    """Only the yes or no of :func:`check_equilibrium`, in a third of its time; arguments as there."""
    margin, _, _ = _balance(
        contacts, mass, centre_of_mass, gravity, acceleration, external_wrench, torque_limits, False
    )
    return margin >= 0.0


def torque_limits(
    contact_jacobian: ArrayLike, gravity_torques: ArrayLike, lower: ArrayLike, upper: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return limits of the joint torques as limits of the contact forces: (3.67) with the correction E-08.

    Args:
        contact_jacobian: (3k, n) J_c1: velocities of the contact points in the world by the joint velocities.
        gravity_torques: (n,) g_1: torques that hold the robot without contact forces, N m.
        lower: (n,) least torques, -inf where unlimited.
        upper: (n,) largest torques, inf where unlimited.

    Returns:
        A (m, 3k) and b (m,) of ``A f + b <= 0``; unlimited sides have no row.

    Raises:
        InputError: shapes don't fit, or a lower limit is above the upper one.
    """
    J = np.atleast_2d(np.asarray(contact_jacobian, dtype=float))
    gravity, low, high = (np.asarray(part, dtype=float) for part in (gravity_torques, lower, upper))
    n = J.shape[1]
    for name, part in (("gravity_torques", gravity), ("lower", low), ("upper", high)):
        if part.shape != (n,):
            raise InputError(f"shape {part.shape}", element=name, remedy=f"Give an array of shape {(n,)}")
    if (low > high).any():
        i = int(np.argmax(low > high))
        raise InputError(
            f"joint {i} has {low[i]:g} above {high[i]:g}", element="lower", remedy="Give lower limits below the upper"
        )
    A = np.concatenate([-J.T, J.T])
    b = np.concatenate([gravity - high, low - gravity])
    limited = np.isfinite(b)
    return A[limited], b[limited]


def _balance(
    contacts: ContactPoints,
    mass: float,
    centre_of_mass: ArrayLike,
    gravity: ArrayLike,
    acceleration: ArrayLike,
    external_wrench: ArrayLike,
    torque_limits: tuple[ArrayLike, ArrayLike] | None,
    with_margin: bool,
) -> tuple[float, float, NDArray[np.float64]]:
    """Call the compiled kernel: margin, size of the load, forces."""
    com = np.ascontiguousarray(centre_of_mass, float)
    g = np.ascontiguousarray(gravity, float)
    a = np.ascontiguousarray(acceleration, float)
    external = np.ascontiguousarray(external_wrench, float)
    A: NDArray[np.float64] = _NO_LIMITS
    b: NDArray[np.float64] = _NO_OFFSETS
    if torque_limits is not None:
        A, b = np.ascontiguousarray(torque_limits[0], float), np.ascontiguousarray(torque_limits[1], float)
    if (
        com.shape != (3,)
        or g.shape != (3,)
        or a.shape != (3,)
        or external.shape != (6,)
        or b.ndim != 1
        or not mass >= 0.0
        or (torque_limits is not None and A.shape != (len(b), 3 * len(contacts)))
    ):
        raise _complaint(contacts, mass, com, g, a, external, A, b)
    margin, load, forces = balance_load(contacts.packed, float(mass), com, g, a, external, A, b, with_margin)
    if not load < np.inf or margin != margin:
        raise _complaint(contacts, mass, com, g, a, external, A, b)
    return margin, load, forces


def _complaint(
    contacts: ContactPoints,
    mass: float,
    com: NDArray[np.float64],
    gravity: NDArray[np.float64],
    acceleration: NDArray[np.float64],
    external: NDArray[np.float64],
    A: NDArray[np.float64],
    b: NDArray[np.float64],
) -> InputError:
    """Return what is wrong with the arguments."""
    check_number(float(mass), "mass")
    shapes: list[tuple[str, NDArray[np.float64], tuple[int, ...]]] = [
        ("centre_of_mass", com, (3,)),
        ("gravity", gravity, (3,)),
        ("acceleration", acceleration, (3,)),
        ("external_wrench", external, (6,)),
    ]
    if A is not _NO_LIMITS:
        shapes += [("torque_limits A", A, (b.size, 3 * len(contacts))), ("torque_limits b", b, (b.size,))]
    for name, value, shape in shapes:
        check_array(value, name, shape)
    return InputError("the load is too large for a number", element="mass", remedy="Give SI units")


class MotionBalance:
    """Margins of balance along a motion, at the places where its own kinematics put its contacts.

    The contacts push on the corners of what touches, along the contact locations' normals. The needed force and moment
    are those of the momentum's rate (Newton and Euler for the whole robot), not of the centre of mass alone.
    """

    def __init__(self, trajectory: WholeBodyTrajectory, friction: float) -> None:
        """Prepare.

        Args:
            trajectory: the motion.
            friction: coefficient at all contacts.

        Raises:
            InputError: the motion doesn't tell its contacts, or its robot is fixed to the world.
        """
        robot = trajectory.robot
        if not trajectory.contacts or robot.base_joint is None:
            raise InputError(
                "has no contacts, or its robot is fixed to the world",
                element="trajectory",
                remedy="Give the contact schedule of a robot that stands on its feet",
            )
        self._trajectory = trajectory
        self._friction = friction
        self._mass = robot.total_mass
        self._data = robot.model.createData()

    def margin(self, position: float, speed: float = 1.0, acceleration: float = 0.0) -> float:
        """Return the margin [N], see :func:`check_equilibrium`; minus infinite where nothing bears.

        Args:
            position: place on the path, in the trajectory's own time [s].
            speed: along the path, as a share of the trajectory's own; 0 asks for static equilibrium.
            acceleration: of that share [1/s].
        """
        sample = self._trajectory.at(position)
        points = self._points(position, sample.q)
        if points is None:
            return -np.inf
        v, a = PathPlace(position, speed, acceleration).rates(sample.v, sample.a)
        rate = pin.computeCentroidalMomentumTimeVariation(
            self._trajectory.robot.model, self._data, sample.q, v, a
        )
        wrench = np.concatenate([np.zeros(3), -np.asarray(rate.angular)])
        return check_equilibrium(
            points,
            self._mass,
            self._data.com[0],
            acceleration=np.asarray(rate.linear) / self._mass,
            external_wrench=wrench,
        ).margin

    def bearing(self, position: float) -> tuple[str, ...]:
        """Return the contact locations that bear at a place on the path [s]."""
        return tuple(sorted(self._trajectory.at(position).bearing))

    def _points(self, position: float, q: np.ndarray) -> ContactPoints | None:
        robot = self._trajectory.robot
        pin.forwardKinematics(robot.model, self._data, q)
        places, normals, bilateral = [], [], []
        for span in self._trajectory.held(position):
            if not span.contact.kind.bears:
                continue
            location = span.contact.location
            part = robot.parts.links[location.link]
            placement = self._data.oMi[part.joint_id] * part.placement_joint_link
            corners = span.corners_link
            places.append(corners @ placement.rotation.T + placement.translation)
            normal = (placement * location.placement_link_patch).rotation[:, 2]
            normals.append(np.tile(normal, (len(corners), 1)))
            bilateral.append(np.full(len(corners), span.contact.bilateral))
        if not places:
            return None
        return ContactPoints.of_normals(
            np.concatenate(places), np.concatenate(normals), self._friction, np.concatenate(bilateral)
        )


FACETS = 8
"""Of the pyramids inside friction cones; forces in cones of :data:`INSIDE` of the friction are in them."""
INSIDE = math.cos(math.pi / FACETS)
_MIN_SHARE = 1e-3
"""Of a contact that has all but handed over its load: the program stays strictly convex."""
_STRAIN = 0.25
"""A joint at its limit is as dear as a point that bears this share of the robot's load."""


class LoadedPoint(NamedTuple):
    """A point that may bear force.

    Attributes:
        joint: of the model that carries it.
        place: (3,) in the world [m].
        frame: (3, 3) in the world; its third column is the normal into the robot.
        friction: coefficient.
        share: how much of the load it is meant to take, above or at 0.
    """

    joint: int
    place: Reals
    frame: Reals
    friction: float
    share: float


class MovingForces(NamedTuple):
    """What contacts do at one instant.

    Attributes:
        forces: (k, 3) on the robot, in the world [N].
        torques: (nv,) of the joints; the base's are what no force balances, zero up to rounding [N m].
    """

    forces: Reals
    torques: Reals


def point_jacobian(model: pin.Model, data: pin.Data, point: LoadedPoint) -> Array:
    """(3, nv) of a point in the world's axes, after ``computeJointJacobians``."""
    J = pin.getJointJacobian(model, data, point.joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    return np.asarray(J[:3] - pin.skew(point.place - data.oMi[point.joint].translation) @ J[3:])


def moving_forces(
    model: pin.Model,
    data: pin.Data,
    points: Sequence[LoadedPoint],
    state: tuple[Reals, Reals, Reals],
    effort: Array | None = None,
) -> MovingForces | None:
    """Return forces within inscribed friction pyramids that give the base its acceleration, and joint torques.

    Of all that do, those with the least sum of squares are taken, each square divided by the share of its point: so the
    load goes over smoothly from one contact to the other as shares do. Where torques are limited, squares of their
    shares of these limits are added.

    Args:
        model: of the robot on a free base, whose velocity comes first.
        data: of the model.
        points: that may bear.
        state: (nq,), (nv,), (nv,) configuration, velocity, acceleration.
        effort: (nv,) largest torques, those of the base unused; None where they aren't limited.

    Returns:
        Forces and torques; None where no forces do.
    """
    q, v, a = state
    torques = np.array(pin.rnea(model, data, q, v, a))
    pin.computeJointJacobians(model, data, q)
    # Forces in the frames of their points.
    J = np.vstack([np.asarray(point.frame).T @ point_jacobian(model, data, point) for point in points])
    count = len(points)
    # Tangential forces are dearer than normal ones: none is used that only strains a closed chain.
    weights = np.array([1.0 / max(point.share, _MIN_SHARE) for point in points])
    H, g = np.diag(np.repeat(weights, 3) * np.tile([4.0, 4.0, 1.0], count)), np.zeros(3 * count)
    cones = block_diag(*(pyramid_halfspaces(point.friction, FACETS) for point in points))
    A = np.vstack([J[:, :6].T, cones])
    lower = np.concatenate([torques[:6], np.full(len(cones), -np.inf)])
    upper = np.concatenate([torques[:6], np.zeros(len(cones))])
    if effort is not None:
        held = 6 + np.flatnonzero(np.isfinite(effort[6:]))
        A = np.vstack([A, J[:, held].T])
        # An arm that leans on a table takes what it takes easily, not as much as a leg.
        strain = J[:, held].T / effort[held, None]
        dear = (_STRAIN * np.linalg.norm(torques[:3])) ** 2
        H += dear * strain.T @ strain
        g -= dear * strain.T @ (torques[held] / effort[held])
        lower = np.concatenate([lower, torques[held] - effort[held]])
        upper = np.concatenate([upper, torques[held] + effort[held]])
    least = np.tile([-np.inf, -np.inf, 0.0], count)
    program = QuadraticProgram(H, g, A, lower, upper, least, np.full(3 * count, np.inf))
    solution = solve_quadratic_program(program)
    if solution is None:
        return None
    local = solution.x.reshape(-1, 3)
    forces = np.array([np.asarray(point.frame) @ force for point, force in zip(points, local, strict=True)])
    return MovingForces(forces, torques - J.T @ solution.x)
