# SPDX-License-Identifier: Apache-2.0
"""A robot at a configuration: placements, points, directions and the centre of mass, computed once when asked for."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.checks import check_known
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot
from humanoid_model.tree.forward_kinematics import (
    body_jacobian,
    centre_of_mass,
    centre_of_mass_jacobian,
    place_all,
    place_chain,
)
from humanoid_model.tree.kinematic_tree import PRISMATIC, Placements
from humanoid_planner.kinematics.robot_variables import RobotVariables

_ORIGIN = np.zeros(3)


class RobotKinematics:
    """Kinematics over plain coordinates (specification 001 section 3), lazily evaluated.

    The configuration of a robot is a vector ``x`` of real numbers here, with no quaternions in it: the rotation of a
    floating base is Rz(yaw) Ry(pitch) Rx(roll) (A.5), counted from a reference orientation that keeps the pitch away
    from its singularity at a right angle.

    Attributes:
        robot: whose kinematics it is.
        variables: their names and limits.
        tree: joints of one variable each.
        x: (nx,) variables of the last :meth:`set`.
        rotations: (nb, 3, 3) orientations of the bodies in the world, after :meth:`place_bodies`; body 0 is the world.
        origins: (nb, 3) origins of the bodies [m], likewise.
        placements: both, and the motion that each coordinate makes, for kernels.
        placements_computed: how many body placements have been computed since the start, to see what laziness saves.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.variables = RobotVariables.from_robot(robot)
        self.tree = self.variables.tree
        count, size = self.variables.body_count, self.variables.size
        self.x = np.zeros(size)
        self.placements = Placements.of_size(count, count - 1)
        self.rotations, self.origins, _ = self.placements
        self.placements_computed = 0
        self._placed = np.zeros(count, dtype=bool)
        self._all_placed = False
        self._com = np.zeros(3)
        self._com_known = False
        self._com_jacobian = np.zeros((3, size))
        self._com_jacobian_known = False
        self._moments = np.zeros((count, 4))
        self.set(self.x)

    @property
    def size(self) -> int:
        """Number of variables nx."""
        return self.variables.size

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables: joints, and ``joint/x`` ... ``joint/roll`` of floating and planar joints."""
        return self.variables.names

    @property
    def lower(self) -> NDArray[np.float64]:
        """(nx,) lowest values of the variables [rad] or [m]."""
        return self.variables.lower

    @property
    def upper(self) -> NDArray[np.float64]:
        """(nx,) highest values."""
        return self.variables.upper

    @property
    def effort(self) -> NDArray[np.float64]:
        """(nx,) largest efforts [N m] or [N]."""
        return self.variables.effort

    @property
    def total_mass(self) -> float:
        """Mass of what moves [kg]."""
        return self.variables.total_mass

    def body_of(self, link: str) -> tuple[int, pin.SE3]:
        """Return the body that carries a link, and the link's placement in it.

        Raises:
            InputError: the robot has no such link.
        """
        check_known(link, self.variables.bodies_of_links, f"robot '{self.robot.name}'", "link")
        return self.variables.bodies_of_links[link]

    def _jacobian(self, link: str, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """(6, nx) derivative of a link's point that is at ``point`` in the world, and of its orientation."""
        J = np.zeros((6, self.size))
        body_jacobian(self.tree, self.body_of(link)[0], point, self.placements, J)
        return J

    # Configurations --------------------------------------------------------------------------------------------

    def set_reference(self, q: ArrayLike) -> None:
        """Count the floating base's rotation from its orientation at ``q`` from now on.

        Args:
            q: (nq,) configuration in Pinocchio's order.
        """
        if self.variables.base is not None:
            placement = self.robot.placement_base(np.asarray(q, dtype=float))
            joint = self.robot.base_joint
            assert joint is not None
            local = self.robot.model.jointPlacements[joint].inverse() * placement
            self.tree.joints["rotation"][self.variables.base[1] - 2] = local.rotation
        self._forget()

    def coordinates(self, q: ArrayLike) -> NDArray[np.float64]:
        """(nx,) variables of a configuration (nq,) in Pinocchio's order.

        Raises:
            InputError: wrong length, or a value that isn't finite.
        """
        q = np.asarray(q, dtype=float)
        model, variables, joints = self.robot.model, self.variables, self.tree.joints
        if q.shape != (model.nq,):
            raise InputError(
                f"has shape {q.shape}",
                element="configuration q",
                remedy=f"Give {model.nq} numbers in Pinocchio's order",
            )
        if not np.isfinite(q).all():
            index = int(np.flatnonzero(~np.isfinite(q))[0])
            raise InputError(f"entry {index} is {q[index]}", element="configuration q", remedy="Give finite numbers")
        values = np.zeros(variables.body_count)
        body = 1
        for joint_id in range(1, model.njoints):
            joint = model.joints[joint_id]
            start = joint.idx_q
            if joint.nq == 1:
                values[body] = q[start]
            elif joint.nq == 4 and joint.nv == 3 and joints["kind"][body] == PRISMATIC:  # planar
                values[body : body + 2] = q[start : start + 2]
                values[body + 2] = math.atan2(q[start + 3], q[start + 2])
            elif joint.nv == 3:
                R = _rotation_of_quaternion(q[start : start + 4])
                values[body : body + 3] = _angles(R, joints["axis"][body : body + 3])
            else:
                values[body : body + 3] = q[start : start + 3]
                R = joints["rotation"][body + 3].T @ _rotation_of_quaternion(q[start + 3 : start + 7])
                values[body + 3 : body + 6] = _angles(R, joints["axis"][body + 3 : body + 6])
            body += joint.nv
        x = np.zeros(variables.size)
        columns = joints["idx_q"]
        # In reverse, so that a variable has the value of its own joint and not of one that mimics it.
        for body in range(variables.body_count - 1, 0, -1):
            if variables.coordinate_names[body - 1] == variables.names[columns[body]]:
                x[columns[body]] = values[body]
        return x

    def configuration(self, x: ArrayLike) -> NDArray[np.float64]:
        """(nq,) configuration in Pinocchio's order of variables (nx,)."""
        x = np.asarray(x, dtype=float)
        model, joints = self.robot.model, self.tree.joints
        values = joints["factor"] * x[joints["idx_q"]] + joints["offset"]
        q = np.array(pin.neutral(model))
        body = 1
        for joint_id in range(1, model.njoints):
            joint = model.joints[joint_id]
            start = joint.idx_q
            if joint.nq == 1:
                q[start] = values[body]
            elif joint.nq == 4 and joint.nv == 3 and joints["kind"][body] == PRISMATIC:
                q[start : start + 2] = values[body : body + 2]
                q[start + 2 : start + 4] = math.cos(values[body + 2]), math.sin(values[body + 2])
            else:
                first = body + joint.nv - 3
                R = joints["rotation"][first] if joint.nv == 6 else np.eye(3)
                for turning in range(first, first + 3):
                    R = R @ pin.exp3(joints["axis"][turning] * values[turning])
                coefficients = np.array(pin.Quaternion(R).normalized().coeffs())
                if joint.nv == 6:
                    q[start : start + 3] = values[body : body + 3]
                    start += 3
                q[start : start + 4] = coefficients if coefficients[3] >= 0 else -coefficients
            body += joint.nv
        return q

    def set(self, x: NDArray[np.float64]) -> None:
        """Move the robot; whatever was computed before is forgotten.

        Args:
            x: (nx,) variables; copied.
        """
        self.x[:] = x
        self._forget()

    def _forget(self) -> None:
        self._placed[1:] = False
        self._placed[0] = True
        self._all_placed = self._com_known = self._com_jacobian_known = False

    # Placements ------------------------------------------------------------------------------------------------

    def place_bodies(self) -> None:
        """Compute the placements of all bodies, unless they are known (block mode)."""
        if not self._all_placed:
            place_all(self.tree, self.x, self.placements)
            self.placements_computed += self.variables.body_count - 1
            self._placed[:] = True
            self._all_placed = True

    def place_body(self, body: int) -> None:
        """Compute the placements of a body and of those that carry it, unless they are known (on demand)."""
        if not self._placed[body]:
            self.placements_computed += place_chain(self.tree, body, self._placed, self.x, self.placements)

    def placement(self, link: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Orientation (3, 3) and origin (3,) [m] of a link in the world."""
        body, place = self.body_of(link)
        self.place_body(body)
        R = self.rotations[body]
        return R @ place.rotation, self.origins[body] + R @ place.translation

    def point(self, link: str, local: ArrayLike) -> NDArray[np.float64]:
        """(3,) place in the world [m] of a point fixed to a link, ``local`` in the link frame."""
        body, place = self.body_of(link)
        self.place_body(body)
        inner = place.rotation @ np.asarray(local, dtype=float) + place.translation
        return np.asarray(self.origins[body] + self.rotations[body] @ inner)

    def point_jacobian(self, link: str, local: ArrayLike) -> NDArray[np.float64]:
        """(3, nx) derivative of :meth:`point` (3.23)."""
        return self._jacobian(link, self.point(link, local))[:3]

    def direction(self, link: str, local: ArrayLike) -> NDArray[np.float64]:
        """(3,) direction in the world of one fixed to a link."""
        body, place = self.body_of(link)
        self.place_body(body)
        return np.asarray(self.rotations[body] @ (place.rotation @ np.asarray(local, dtype=float)))

    def direction_jacobian(self, link: str, local: ArrayLike) -> NDArray[np.float64]:
        """(3, nx) derivative of :meth:`direction` (3.26)."""
        world = self.direction(link, local)
        return np.asarray(-pin.skew(world) @ self._jacobian(link, _ORIGIN)[3:])

    def pre_gradients(self, link: str) -> NDArray[np.float64]:
        """(4, 3, nx) derivatives (3.24), (3.25) of a link's three axes and of its origin."""
        J = np.empty((4, 3, self.size))
        for column in range(3):
            J[column] = self.direction_jacobian(link, np.eye(3)[column])
        J[3] = self.point_jacobian(link, np.zeros(3))
        return J

    def centre_of_mass(self) -> NDArray[np.float64]:
        """(3,) [m], world frame; valid until the next :meth:`set`."""
        if not self._com_known:
            self.place_bodies()
            centre_of_mass(self.tree, self.placements, self._moments, self._com)
            self._com_known = True
        return self._com

    def centre_of_mass_jacobian(self) -> NDArray[np.float64]:
        """(3, nx) derivative of the centre of mass; valid until the next :meth:`set`."""
        if not self._com_jacobian_known:
            self.centre_of_mass()  # leaves the moments
            centre_of_mass_jacobian(self.tree, self.placements, self._moments, self._com_jacobian)
            self._com_jacobian_known = True
        return self._com_jacobian


def _rotation_of_quaternion(coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
    norm = float(np.linalg.norm(coefficients))
    if norm < 1e-6:
        raise InputError(
            f"holds the quaternion {coefficients.tolist()}, which has no direction",
            element="configuration q",
            remedy="Give unit quaternions as x, y, z, w",
        )
    return np.asarray(pin.Quaternion(np.array(coefficients / norm)).matrix())


def _angles(R: NDArray[np.float64], axes: NDArray[np.float64]) -> NDArray[np.float64]:
    """(3,) angles about three orthogonal axes (rows), the first outermost, whose product is R."""
    A = axes.T
    handedness = float(np.sign(np.linalg.det(A)))
    # In the basis of the axes it is Rx(a) Ry(b) Rz(c); a left-handed triple turns the other way.
    B = A.T @ R @ A
    s = handedness
    middle = math.asin(min(1.0, max(-1.0, s * B[0, 2])))
    return np.array([math.atan2(-s * B[1, 2], B[2, 2]), middle, math.atan2(-s * B[0, 1], B[0, 0])])
