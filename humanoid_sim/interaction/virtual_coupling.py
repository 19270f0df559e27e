# SPDX-License-Identifier: Apache-2.0
"""The spring and damper between a pointer and the point of a body that it holds (specification 000 §15.2, (3.63))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_sim.interaction.device import DeviceSample

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


@dataclass(frozen=True)
class PointState:
    """A frame that moves with a body, in the world.

    Attributes:
        position: of its origin [m], shape (3,).
        rotation: of the body, shape (3, 3).
        velocity: of the origin [m/s], shape (3,).
        angular_velocity: [rad/s], shape (3,).
    """

    position: NDArray[np.float64]
    rotation: NDArray[np.float64]
    velocity: NDArray[np.float64]
    angular_velocity: NDArray[np.float64]


class BodyPoint:
    """A point fixed to a body or to a robot's link.

    Attributes:
        body: name of the body or ``robot/link``.
        local: the point in the body's frame [m], shape (3,).
    """

    def __init__(self, simulation: Simulation, body: str, local: NDArray[np.float64]) -> None:
        """Fix a point to a body.

        Args:
            simulation: in which the body is.
            body: its name.
            local: in its frame [m], shape (3,).

        Raises:
            InputError: there is no such body.
        """
        world = simulation.world
        found = world.find_body(body)
        self.body = body
        self.local = np.array(local, dtype=float)
        self._joint = found.joint
        self._placement = found.placement_joint_body
        self._part = None if found.joint == 0 else world.part(found.owner)
        self._data = None if self._part is None else self._part.model.createData()

    @property
    def fixed(self) -> bool:
        """Whether the body can't move."""
        return self._joint == 0

    def state(self, simulation: Simulation) -> PointState:
        """Place and velocity now."""
        if self._part is None or self._data is None:
            placement = self._placement
            return PointState(placement.act(self.local), placement.rotation, np.zeros(3), np.zeros(3))
        model, data, joint = self._part.model, self._data, self._part.joint(self._joint)
        pin.forwardKinematics(model, data, simulation.q[self._part.q], simulation.v[self._part.v])
        placement = data.oMi[joint] * self._placement
        position = placement.act(self.local)
        twist = pin.getVelocity(model, data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        arm = position - data.oMi[joint].translation
        velocity = twist.linear + np.cross(twist.angular, arm)
        return PointState(position, np.array(placement.rotation), velocity, np.array(twist.angular))

    def mobility(self, simulation: Simulation) -> NDArray[np.float64]:
        """Return the acceleration of the point per force and torque on it without contacts, J M^-1 J^T, shape (6, 6).

        Linear part first, in the world's axes; zero for a fixed body.
        """
        if self._part is None or self._data is None:
            return np.zeros((6, 6))
        model, data, q = self._part.model, self._data, simulation.q[self._part.q]
        joint = self._part.joint(self._joint)
        pin.crba(model, data, q)
        M = np.triu(data.M) + np.triu(data.M, 1).T
        pin.computeJointJacobians(model, data, q)
        J = pin.getJointJacobian(model, data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        arm = (data.oMi[joint] * self._placement).act(self.local) - data.oMi[joint].translation
        J[:3] -= pin.skew(arm) @ J[3:]
        return np.asarray(J @ np.linalg.solve(M, J.T))

    def mass(self, simulation: Simulation) -> float:
        """Return mass that the damping rule (3.63) takes for the object [kg].

        That of a free body; for a robot's link the mean mass that a force on the point feels, 3 / tr(J M^-1 J^T).
        """
        if self.body in simulation.world.free_bodies:
            return float(simulation.world.model.inertias[self._joint].mass)
        return float(3.0 / np.trace(self.mobility(simulation)[:3, :3]))


_MARGIN = 2.0
"""Bound on k T^2 / m + 2 k_v T / m; beyond 4 the coupling of a free mass whose force is held for T diverges."""


def stable_stiffness(stiffness: float, mass: float, mobility: float, period: float) -> float:
    """Return the stiffness asked for, or the largest that a force held for a period can't make unstable.

    A mass m on a spring k and a damper k_v whose force is sampled, held for T and integrated with the new velocity
    obeys z^2 - (2 - a - b) z + (1 - b) = 0 with a = k T^2 / m and b = k_v T / m; both roots are inside the unit circle
    where b < 2 and a + 2 b < 4. Contacts only make an object harder to move, which lowers a and b. The bound leaves a
    factor of two; with the damping rule k_v = sqrt(2 m k) it is a quadratic inequality in sqrt(k).

    Args:
        stiffness: asked for [N/m or N m/rad].
        mass: in the damping rule [kg or kg m^2].
        mobility: largest acceleration per force [1/kg or 1/(kg m^2)].
        period: for which a force is held [s].

    Returns:
        No more than ``stiffness``.
    """
    if mobility <= 0.0:
        return stiffness
    a, b = mobility * period**2, 2.0 * mobility * period * np.sqrt(2.0 * mass)
    root = (-b + np.sqrt(b * b + 4.0 * a * _MARGIN)) / (2.0 * a)
    return min(stiffness, float(root * root))


@dataclass(frozen=True)
class VirtualCoupling:
    r"""A spring and a damper, in translation and, if wanted, in rotation.

    :math:`f_e = k_p (x_{obj} - x_{ptr}) + k_v (\dot x_{obj} - \dot x_{ptr})` with :math:`k_v = \sqrt{2 m k_p}`, which
    is a damping ratio of :math:`1/\sqrt 2`. It pulls the pointer to the object, the object feels the opposite
    (erratum 27).

    Attributes:
        stiffness: k_p [N/m].
        damping: k_v [N s/m].
        rotational_stiffness: [N m/rad], zero for a coupling of positions only.
        rotational_damping: [N m s/rad].
        max_force: largest force [N].
        limited: whether a stiffness is lower than was asked for, for stability.
    """

    stiffness: float
    damping: float
    rotational_stiffness: float
    rotational_damping: float
    max_force: float
    limited: bool

    @classmethod
    def for_object(
        cls,
        mass: float,
        mobility: NDArray[np.float64],
        period: float,
        *,
        stiffness: float,
        rotational_stiffness: float = 0.0,
        max_force: float = np.inf,
    ) -> VirtualCoupling:
        """Return a coupling with the damping rule of the thesis, no stiffer than is stable.

        Args:
            mass: of the object [kg].
            mobility: of the attach point, J M^-1 J^T, shape (6, 6).
            period: for which a force is held [s].
            stiffness: asked for [N/m].
            rotational_stiffness: asked for [N m/rad].
            max_force: largest force [N].

        Raises:
            InputError: a value that is not positive (the rotational stiffness: negative).
        """
        for name, value in (("stiffness", stiffness), ("max_force", max_force)):
            if not value > 0.0:
                raise InputError(f"{name} is {value}", element=name, remedy="Give a positive number")
        if not (rotational_stiffness >= 0.0 and np.isfinite(rotational_stiffness)):
            raise InputError(
                f"rotational_stiffness is {rotational_stiffness}",
                element="rotational_stiffness",
                remedy="Give zero or a positive number",
            )
        linear = float(np.linalg.eigvalsh(mobility[:3, :3])[-1])
        k_p = stable_stiffness(stiffness, mass, linear, period)
        angular = np.linalg.eigvalsh(mobility[3:, 3:])
        k_r, inertia = 0.0, 0.0
        if rotational_stiffness > 0.0 and angular[-1] > 0.0:
            # Damping for the lightest axis: the others are damped less than the rule says, but never too stiffly.
            inertia = 1.0 / float(angular[-1])
            k_r = stable_stiffness(rotational_stiffness, inertia, float(angular[-1]), period)
        return cls(
            k_p,
            float(np.sqrt(2.0 * mass * k_p)),
            k_r,
            float(np.sqrt(2.0 * inertia * k_r)),
            max_force,
            k_p < stiffness or k_r < rotational_stiffness,
        )

    def force_on_pointer(self, point: PointState, pointer: DeviceSample) -> NDArray[np.float64]:
        """f_e of (3.63) [N], shape (3,), shortened to ``max_force``."""
        force = self.stiffness * (point.position - pointer.position) + self.damping * (
            point.velocity - pointer.velocity
        )
        norm = float(np.linalg.norm(force))
        return force * (self.max_force / norm) if norm > self.max_force else force

    def torque_on_pointer(
        self, point: PointState, pointer: DeviceSample, pointer_to_body: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the same in rotation [N m], shape (3,).

        Args:
            point: of the object.
            pointer: of the device.
            pointer_to_body: rotation of the body in the pointer's frame when it was attached, shape (3, 3).
        """
        if self.rotational_stiffness == 0.0:
            return np.zeros(3)
        wanted = pointer.placement.rotation @ pointer_to_body
        error = pin.log3(point.rotation @ wanted.T)
        return np.asarray(
            self.rotational_stiffness * error
            + self.rotational_damping * (point.angular_velocity - pointer.angular_velocity)
        )
