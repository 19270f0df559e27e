# SPDX-License-Identifier: Apache-2.0
r"""Efforts computed from a robot's model and added to its servos': gravity compensation and inverse dynamics.

Of a robot with a floating base, the efforts :math:`\tau = M\dot v_d + b + g` that the motion takes hold six that
nothing drives. The ground must give them: of all contact forces that do, those of least norm at the present contact
points with fixed bodies are taken, and :math:`J_c^T f` is subtracted from the joints' efforts. What the contacts can't
give (all of it in the air) accelerates the base, which the joints' efforts then count with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.checks import check_known
from humanoid_sim.actuation.drives import Drives, friction_compensation
from humanoid_sim.module import Module
from humanoid_sim.stepping.contacts import ContactState
from humanoid_sim.world.world import whole_world_data

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation

FeedForwardLaw = Literal["gravity", "inverse_dynamics", "none"]
_LAWS = ("gravity", "inverse_dynamics", "none")
NARROW = 1e-2
"""Singular value, of the largest, below which supporting points don't hold the base: three that lie in a line but for
millimetres would take any effort."""


class FeedForward(Module):
    r"""Adds model-based efforts to the servos of a robot before each step; joints in effort mode are left alone.

    - ``gravity``: what holds the present posture still.
    - ``inverse_dynamics``: what gives the present state the acceleration of the targets, gravity, Coriolis and
      centrifugal efforts included: the feed-forward of computed-torque control, to which the servos add
      :math:`K_p(q_d-q)+K_v(\dot q_d-\dot q)`. Target accelerations are differences of target velocities; a floating
      base accelerates so that the contact points stay put, as far as they can.

    Add the module after those that set targets, whose commands would clear what it adds.

    Attributes:
        name: ``"feedforward/<robot>"``.
    """

    def __init__(self, robot: str, law: FeedForwardLaw = "gravity", *, friction: bool = False) -> None:
        """Choose the law.

        Args:
            robot: name in the scene.
            law: ``"gravity"``, ``"inverse_dynamics"`` or ``"none"``.
            friction: whether viscous and dry joint friction are made up for (5.8).

        Raises:
            InputError: unknown law.
        """
        check_known(law, _LAWS, "law", "law")
        self.name = f"feedforward/{robot}"
        self._robot = robot
        self._law = law
        self._friction = friction
        self._v_target: NDArray[np.float64] | None = None
        self._supports: list[tuple[int, NDArray[np.float64]]] = []

    def attach(self, simulation: Simulation) -> None:
        """Read the drives.

        Raises:
            InputError: there is no robot of that name, or nothing drives it.
        """
        self._drives = Drives.of_robot(simulation, self._robot)
        self._data = whole_world_data(simulation.world.model, "a feed-forward")
        self._v_target = None
        own = simulation.world.robots[self._robot]
        model = simulation.world.model
        first, last = own.v.start, own.v.stop
        self._joints = {j for j in range(1, model.njoints) if first <= model.joints[j].idx_v < last}
        base = own.base_v
        self._base = (
            np.zeros(0, dtype=np.int64) if base is None else first + np.arange(base.start, base.stop, dtype=np.int64)
        )
        self._find_supports(simulation)

    def before_step(self, simulation: Simulation) -> None:
        """Compute the efforts and add them to the servos."""
        servos, k = simulation.servos, self._drives.coordinates
        efforts = np.zeros(k.size)
        if self._law != "none":
            efforts += self._model_efforts(simulation)[k]
        if self._friction:
            efforts += friction_compensation(
                simulation.v[k], self._drives.viscous_friction, self._drives.dry_friction
            )
        # A joint in effort mode has its servo's gains at zero, and its feed-forward is the user's.
        served = (servos.servo_stiffness[k] == servos.stiffness[k]) & (servos.servo_damping[k] == servos.damping[k])
        servos.wanted[k[served]] = efforts[served]

    def after_step(self, simulation: Simulation) -> None:
        """See where the robot stands."""
        self._find_supports(simulation)

    def _find_supports(self, simulation: Simulation) -> None:
        """Find the robot's points that press on fixed bodies: its joints and places in the world."""
        self._supports = []
        if not self._base.size:
            return
        world, contacts = simulation.world, simulation.contacts
        for i in np.flatnonzero(contacts.state != ContactState.OPEN):
            joints = [world.bodies[world.index[name]].joint for name in contacts.bodies[i]]
            own = [joint for joint in joints if joint in self._joints]
            if own and 0 in joints:
                self._supports.append((own[0], contacts.position[i].copy()))

    def _model_efforts(self, simulation: Simulation) -> NDArray[np.float64]:
        """Return efforts of all coordinates of the world, shape (nv,), of which the robot's drives' count."""
        model, data, q = simulation.world.model, self._data, simulation.q
        own = simulation.world.robots[self._robot].v
        floats = self._base.size > 0
        if self._law == "gravity":
            efforts = np.array(pin.computeGeneralizedGravity(model, data, q))
        else:
            target = simulation.servos.v_target[own]
            acceleration = np.zeros(model.nv)
            if self._v_target is not None:
                acceleration[own] = (target - self._v_target) / simulation.dt
            self._v_target = target.copy()
            if floats:
                acceleration[self._base] = 0.0
            efforts = np.array(pin.nonLinearEffects(model, data, q, simulation.v))
        if not floats and self._law == "gravity":
            return efforts
        pin.crba(model, data, q, pin.Convention.WORLD)
        M = np.triu(data.M) + np.triu(data.M, 1).T
        J, drift = self._support_motion(simulation)
        if self._law == "inverse_dynamics":
            if floats and len(J):
                still = -(J @ acceleration + drift)
                acceleration[self._base] = np.linalg.lstsq(J[:, self._base], still, rcond=NARROW)[0]
            efforts += M @ acceleration
        if floats:
            missing = efforts[self._base]
            forces = np.linalg.lstsq(J[:, self._base].T, missing, rcond=NARROW)[0] if len(J) else np.zeros(0)
            efforts -= J.T @ forces
            left = efforts[self._base]
            efforts -= M[:, self._base] @ np.linalg.solve(M[np.ix_(self._base, self._base)], left)
        return efforts

    def _support_motion(self, simulation: Simulation) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Jacobian, shape (3m, nv), of the m supporting points, and its drift, shape (3m,)."""
        model, data = simulation.world.model, self._data
        if not self._supports:
            return np.zeros((0, model.nv)), np.zeros(0)
        pin.computeJointJacobians(model, data, simulation.q)
        pin.forwardKinematics(model, data, simulation.q, simulation.v, np.zeros(model.nv))
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        rows, drifts = [], []
        for joint in dict.fromkeys(joint for joint, _ in self._supports):
            jacobian = pin.getJointJacobian(model, data, joint, axes)
            origin = pin.getClassicalAcceleration(model, data, joint, axes)
            spin = pin.skew(pin.getVelocity(model, data, joint, axes).angular)
            turning = pin.skew(origin.angular) + spin @ spin
            for lever in (place - data.oMi[joint].translation for owner, place in self._supports if owner == joint):
                rows.append(jacobian[:3] - pin.skew(lever) @ jacobian[3:])
                drifts.append(origin.linear + turning @ lever)
        return np.vstack(rows), np.concatenate(drifts)

    def save(self) -> object:
        """Return the last target velocities and supporting points."""
        return None if self._v_target is None else self._v_target.copy(), list(self._supports)

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` returned."""
        assert isinstance(state, tuple)
        v_target, supports = state
        self._v_target = None if v_target is None else v_target.copy()
        self._supports = list(supports)

    def detach(self, simulation: Simulation) -> None:
        """Take the efforts away again."""
        servos, k = simulation.servos, self._drives.coordinates
        served = (servos.servo_stiffness[k] == servos.stiffness[k]) & (servos.servo_damping[k] == servos.damping[k])
        servos.wanted[k[served]] = 0.0
