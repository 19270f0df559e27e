# SPDX-License-Identifier: Apache-2.0
"""A position-controlled robot that yields to a user (specification 000 §15.5, equation 3.65)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_sim.interaction.device import finite_vector
from humanoid_sim.interaction.interaction import Interaction
from humanoid_sim.module import Module

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


@dataclass(frozen=True)
class _Desired:
    """Desired motion, as it is saved."""

    q: NDArray[np.float64]
    v: NDArray[np.float64]
    next_step: int


class JointAdmittance(Module):
    r"""Moves desired joint positions as a mass with a damper that the user pushes.

    :math:`M_d \ddot q_d + B_d \dot q_d = J_e^T f_e`, with positive diagonal :math:`M_d` and :math:`B_d`, explicit Euler
    at the control period, :math:`q_d` saturated to the joint limits. A constant force gives the steady velocity
    :math:`B_d^{-1} J_e^T f_e`. The desired positions go to the joints' servos.

    Attributes:
        name: of the module.
        requires: the interaction whose forces count.
        robot: name of the robot.
        joints: names of the joints that yield.
        q_desired: [rad or m], shape (n,).
        v_desired: [rad/s or m/s], shape (n,).
    """

    def __init__(
        self,
        robot: str,
        joints: Sequence[str],
        *,
        inertia: ArrayLike,
        damping: ArrayLike,
        source: str = "attach",
        period: float = 0.005,
        name: str = "admittance",
    ) -> None:
        """Set an admittance up.

        Args:
            robot: name of the robot.
            joints: names of the n joints that yield.
            inertia: diagonal of M_d [kg m^2 or kg], a number or shape (n,).
            damping: diagonal of B_d [N m s/rad or N s/m], likewise.
            source: name of the interaction that pushes the robot.
            period: of the controller [s].
            name: of the module.

        Raises:
            InputError: no joint, a value that is not positive, or M_d so small for B_d and the period that explicit
                Euler diverges (B_d period >= 2 M_d).
        """
        self.name = name
        self.requires = (source,)
        self.robot = robot
        self.joints = tuple(joints)
        n = len(self.joints)
        if n == 0:
            raise InputError("no joint is named", element="joints", remedy="Name joints that yield")
        self._inertia = finite_vector("inertia", np.broadcast_to(np.asarray(inertia, dtype=float), (n,)), n)
        self._damping = finite_vector("damping", np.broadcast_to(np.asarray(damping, dtype=float), (n,)), n)
        for element, values in (("inertia", self._inertia), ("damping", self._damping), ("period", [period])):
            if not np.all(np.asarray(values) > 0.0):
                raise InputError(
                    f"{element} is {np.asarray(values).tolist()}", element=element, remedy="Give positive numbers"
                )
        if np.any(self._damping * period >= 2.0 * self._inertia):
            i = int(np.argmax(self._damping * period / self._inertia))
            raise InputError(
                f"the joint '{self.joints[i]}' has inertia {self._inertia[i]:g} and damping {self._damping[i]:g}, "
                f"which diverges at a period of {period:g} s",
                element="inertia",
                remedy=f"Give more than {0.5 * self._damping[i] * period:g}, or a shorter period",
            )
        self._period = float(period)
        self.q_desired: NDArray[np.float64] = np.zeros(n)
        self.v_desired: NDArray[np.float64] = np.zeros(n)

    def attach(self, simulation: Simulation) -> None:
        """Begin at rest where the joints' servos are.

        Raises:
            InputError: there is no such robot or joint, a joint has several degrees of freedom or no actuator, or the
                source is no interaction.
        """
        robot = simulation.robots[self.robot]
        if not isinstance(simulation.modules[self.requires[0]], Interaction):
            raise InputError(
                f"the module '{self.requires[0]}' is no interaction",
                element="source",
                remedy="Name an AttachMode or a TouchMode",
            )
        model = robot.robot.model
        for joint in self.joints:
            driven = joint in robot.driven_joint_names and joint in robot.robot.joint_names
            if not driven:
                raise InputError(
                    f"the robot '{self.robot}' has no driven joint '{joint}' of one degree of freedom",
                    element="joints",
                    remedy=f"It has {', '.join(robot.driven_joint_names)}",
                )
        self._dofs = np.array([robot.robot.index_v(joint) for joint in self.joints])
        places = [model.joints[model.getJointId(joint)].idx_q for joint in self.joints]
        self._lower, self._upper = model.lowerPositionLimit[places], model.upperPositionLimit[places]
        self._data = model.createData()
        positions = dict(zip(robot.joint_names, robot.joint_positions.tolist(), strict=True))
        self.q_desired = np.array([positions[joint] for joint in self.joints])
        self.v_desired = np.zeros(len(self.joints))
        self._steps = max(round(self._period / simulation.dt), 1)
        self._next_step = simulation.step_count

    def efforts(self, simulation: Simulation) -> NDArray[np.float64]:
        """J_e^T f_e of all forces of the user on the robot, for the joints that yield [N m or N], shape (n,)."""
        robot = simulation.robots[self.robot]
        model, data = robot.robot.model, self._data
        total: NDArray[np.float64] = np.zeros(len(self.joints))
        source = simulation.modules[self.requires[0]]
        assert isinstance(source, Interaction)
        own = [force for force in source.forces if force.body.startswith(f"{self.robot}/")]
        if not own:
            return total
        pin.computeJointJacobians(model, data, robot.q)
        for acting in own:
            link = robot.robot.parts.links[acting.body.split("/", 1)[1]]
            J = pin.getJointJacobian(model, data, link.joint_id, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            point = simulation.placement(acting.body).act(acting.point)
            torque = acting.torque + np.cross(point - data.oMi[link.joint_id].translation, acting.force)
            total += (J[:3].T @ acting.force + J[3:].T @ torque)[self._dofs]
        return total

    def before_step(self, simulation: Simulation) -> None:
        """Move the desired positions once per control period."""
        if simulation.step_count < self._next_step:
            return
        self._next_step = simulation.step_count + self._steps
        period = self._steps * simulation.dt
        acceleration = (self.efforts(simulation) - self._damping * self.v_desired) / self._inertia
        q = self.q_desired + period * self.v_desired
        v = self.v_desired + period * acceleration
        self.q_desired = np.clip(q, self._lower, self._upper)
        # A joint at its limit has no velocity beyond it, so that it turns back as soon as the user pulls back.
        outwards = ((q >= self._upper) & (v > 0.0)) | ((q <= self._lower) & (v < 0.0))
        self.v_desired = np.where(outwards, 0.0, v)
        simulation.robots[self.robot].set_position_target(self.q_desired, self.v_desired, joints=self.joints)

    def save(self) -> object:
        """Desired positions and velocities."""
        return _Desired(self.q_desired.copy(), self.v_desired.copy(), self._next_step)

    def restore(self, state: object) -> None:
        """Go on from a saved state."""
        assert isinstance(state, _Desired)
        self.q_desired, self.v_desired = state.q.copy(), state.v.copy()
        self._next_step = state.next_step
