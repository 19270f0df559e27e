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
from humanoid_planner.kinematics.forward_kinematics import (
    centre_of_mass,
    centre_of_mass_jacobian,
    direction_jacobian,
    place_all,
    place_chain,
    point_jacobian,
)
from humanoid_planner.kinematics.kinematic_tree import KinematicTree
from humanoid_planner.kinematics.tree_table import PRISMATIC, Placements


class RobotKinematics:
    """Kinematics over plain coordinates (specification 001 section 3), lazily evaluated.

    The configuration of a robot is a vector ``x`` of real numbers here, with no quaternions in it: the rotation of a
    floating base is Rz(yaw) Ry(pitch) Rx(roll) (A.5), counted from a reference orientation that keeps the pitch away
    from its singularity at a right angle.

    Attributes:
        robot: whose kinematics it is.
        tree: its joints.
        x: (nx,) variables of the last :meth:`set`.
        rotations: (nb, 3, 3) orientations of the bodies in the world, after :meth:`place_bodies`; body 0 is the world.
        origins: (nb, 3) origins of the bodies [m], likewise.
        axes: (nb, 3) joint axes in the world, likewise.
        placements: the three together, for kernels.
        placements_computed: how many body placements have been computed since the start, to see what laziness saves.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.tree = tree = KinematicTree.from_robot(robot)
        count, size = tree.body_count, tree.size
        self.x = np.zeros(size)
        self.placements = Placements(np.tile(np.eye(3), (count, 1, 1)), np.zeros((count, 3)), np.zeros((count, 3)))
        self.rotations, self.origins, self.axes = self.placements
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
        return self.tree.size

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables: joints, and ``joint/x`` ... ``joint/roll`` of floating and planar joints."""
        return self.tree.names

    @property
    def lower(self) -> NDArray[np.float64]:
        """(nx,) lowest values of the variables [rad] or [m]."""
        return self.tree.lower

    @property
    def upper(self) -> NDArray[np.float64]:
        """(nx,) highest values."""
        return self.tree.upper

    @property
    def effort(self) -> NDArray[np.float64]:
        """(nx,) largest efforts [N m] or [N]."""
        return self.tree.effort

    @property
    def total_mass(self) -> float:
        """Mass of what moves [kg]."""
        return self.tree.total_mass

    def body_of(self, link: str) -> tuple[int, pin.SE3]:
        """Return the body that carries a link, and the link's placement in it.

        Raises:
            InputError: the robot has no such link.
        """
        check_known(link, self.tree.bodies_of_links, f"robot '{self.robot.name}'", "link")
        return self.tree.bodies_of_links[link]

    # Configurations --------------------------------------------------------------------------------------------

    def set_reference(self, q: ArrayLike) -> None:
        """Count the floating base's rotation from its orientation at ``q`` from now on.

        Args:
            q: (nq,) configuration in Pinocchio's order.
        """
        if self.tree.base is not None:
            placement = self.robot.placement_base(np.asarray(q, dtype=float))
            joint = self.robot.base_joint
            assert joint is not None
            local = self.robot.model.jointPlacements[joint].inverse() * placement
            self.tree.joints["rotation"][self.tree.base[1] - 2] = local.rotation
        self._forget()

    def coordinates(self, q: ArrayLike) -> NDArray[np.float64]:
        """(nx,) variables of a configuration (nq,) in Pinocchio's order.

        Raises:
            InputError: wrong length, or a value that isn't finite.
        """
        q = np.asarray(q, dtype=float)
        model, tree = self.robot.model, self.tree
        if q.shape != (model.nq,):
            raise InputError(
                f"has shape {q.shape}",
                element="configuration q",
                remedy=f"Give {model.nq} numbers in Pinocchio's order",
            )
        if not np.isfinite(q).all():
            index = int(np.flatnonzero(~np.isfinite(q))[0])
            raise InputError(f"entry {index} is {q[index]}", element="configuration q", remedy="Give finite numbers")
        values = np.zeros(tree.body_count)
        body = 1
        for joint_id in range(1, model.njoints):
            joint = model.joints[joint_id]
            start = joint.idx_q
            if joint.nq == 1:
                values[body] = q[start]
            elif joint.nq == 4 and joint.nv == 3 and tree.joints["kind"][body] == PRISMATIC:  # planar
                values[body : body + 2] = q[start : start + 2]
                values[body + 2] = math.atan2(q[start + 3], q[start + 2])
            elif joint.nv == 3:
                R = _rotation_of_quaternion(q[start : start + 4])
                values[body : body + 3] = _angles(R, tree.joints["axis"][body : body + 3])
            else:
                values[body : body + 3] = q[start : start + 3]
                R = tree.joints["rotation"][body + 3].T @ _rotation_of_quaternion(q[start + 3 : start + 7])
                values[body + 3 : body + 6] = _angles(R, tree.joints["axis"][body + 3 : body + 6])
            body += joint.nv
        x = np.zeros(tree.size)
        columns = tree.joints["column"]
        # In reverse, so that a variable has the value of its own joint and not of one that mimics it.
        for body in range(tree.body_count - 1, 0, -1):
            if tree.coordinate_names[body - 1] == tree.names[columns[body]]:
                x[columns[body]] = values[body]
        return x

    def configuration(self, x: ArrayLike) -> NDArray[np.float64]:
        """(nq,) configuration in Pinocchio's order of variables (nx,)."""
        x = np.asarray(x, dtype=float)
        model, tree = self.robot.model, self.tree
        values = tree.joints["factor"] * x[tree.joints["column"]] + tree.joints["offset"]
        q = np.array(pin.neutral(model))
        body = 1
        for joint_id in range(1, model.njoints):
            joint = model.joints[joint_id]
            start = joint.idx_q
            if joint.nq == 1:
                q[start] = values[body]
            elif joint.nq == 4 and joint.nv == 3 and tree.joints["kind"][body] == PRISMATIC:
                q[start : start + 2] = values[body : body + 2]
                q[start + 2 : start + 4] = math.cos(values[body + 2]), math.sin(values[body + 2])
            else:
                first = body + joint.nv - 3
                R = tree.joints["rotation"][first] if joint.nv == 6 else np.eye(3)
                for turning in range(first, first + 3):
                    R = R @ pin.exp3(tree.joints["axis"][turning] * values[turning])
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
            place_all(self.x, self.tree.table, self.placements)
            self.placements_computed += self.tree.body_count - 1
            self._placed[:] = True
            self._all_placed = True

    def place_body(self, body: int) -> None:
        """Compute the placements of a body and of those that carry it, unless they are known (on demand)."""
        if not self._placed[body]:
            self.placements_computed += place_chain(body, self._placed, self.x, self.tree.table, self.placements)

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
        world = self.point(link, local)
        J = np.zeros((3, self.size))
        point_jacobian(self.body_of(link)[0], world, self.tree.table, self.placements, J)
        return J

    def direction(self, link: str, local: ArrayLike) -> NDArray[np.float64]:
        """(3,) direction in the world of one fixed to a link."""
        body, place = self.body_of(link)
        self.place_body(body)
        return np.asarray(self.rotations[body] @ (place.rotation @ np.asarray(local, dtype=float)))

    def direction_jacobian(self, link: str, local: ArrayLike) -> NDArray[np.float64]:
        """(3, nx) derivative of :meth:`direction` (3.26)."""
        world = self.direction(link, local)
        J = np.zeros((3, self.size))
        direction_jacobian(self.body_of(link)[0], world, self.tree.table, self.placements, J)
        return J

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
            centre_of_mass(self.tree.table, self.placements, self._com)
            self._com_known = True
        return self._com

    def centre_of_mass_jacobian(self) -> NDArray[np.float64]:
        """(3, nx) derivative of the centre of mass; valid until the next :meth:`set`."""
        if not self._com_jacobian_known:
            self.place_bodies()
            centre_of_mass_jacobian(self.tree.table, self.placements, self._moments, self._com_jacobian)
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
