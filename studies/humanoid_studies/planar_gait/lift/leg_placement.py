# SPDX-License-Identifier: Apache-2.0
"""Joint angles that keep the soles in place while the hips move sideways."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pinocchio as pin

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot
from humanoid_studies.planar_gait.lift.bearing import SoleGeometry

_CLOSE = 1e-11
"""Greatest error of a place [m] or an attitude [rad] that is left."""
_MAX_ITERATIONS = 20


class LegPlacement:
    """Moves a robot from where it is in the sagittal plane to the side, its soles staying where they are.

    The base keeps attitude and height and its place in the plane, but for a shift along x that is asked for. Six
    joints of each leg and the base's lateral place are found by Newton's method, such that both soles keep place and
    attitude and the centre of mass is where it is wanted. With thirteen unknowns and thirteen equations the solution is
    isolated; it is followed from the sagittal posture.
    """

    def __init__(self, robot: Robot, legs: Sequence[str], soles: Sequence[SoleGeometry]) -> None:
        """Find the coordinates.

        Args:
            robot: on a free base.
            legs: two limbs of six joints each.
            soles: of these legs.

        Raises:
            InputError: the base doesn't move freely, or a leg hasn't six joints.
        """
        if robot.base_joint is None:
            raise InputError(
                "its base doesn't move freely",
                element=f"robot '{robot.name}'",
                remedy="Load it with floating_base=True",
            )
        for leg in legs:
            if len(robot.limbs[leg]) != 6:
                raise InputError(
                    f"has {len(robot.limbs[leg])} joints",
                    element=f"robot '{robot.name}', limb '{leg}'",
                    remedy="Give legs of six joints: soles are kept in place and level",
                )
        self._robot, self._soles = robot, tuple(soles)
        self._data = robot.model.createData()
        joints = [joint for leg in legs for joint in robot.limbs[leg]]
        self._q = np.array([robot.index_q(joint) for joint in joints])
        self._v = np.array([robot.index_v(joint) for joint in joints])
        base = robot.model.joints[robot.base_joint]
        self._base_q, self._base_v = base.idx_q, base.idx_v

    def place(
        self,
        q_plane: Reals,
        v_plane: Reals,
        lateral: tuple[float, float],
        shift: tuple[float, float],
        guess: Reals,
        still: Mapping[str, pin.SE3],
    ) -> tuple[Reals, Reals]:
        """Return the configuration and velocity.

        Args:
            q_plane: (nq,) configuration in the sagittal plane, which tells where soles and base are.
            v_plane: (nv,) its velocity.
            lateral: y of the centre of mass [m] and its rate [m/s].
            shift: of the base along x [m] and its rate [m/s].
            guess: (nq,) where the search begins: a neighbouring result, or ``q_plane``.
            still: soles that don't move, and where the joints that carry them are, whatever ``q_plane`` says.

        Raises:
            InputError: the legs can't reach; by how much they stay short.
        """
        model, data = self._robot.model, self._data
        pin.forwardKinematics(model, data, q_plane, v_plane)
        goals = [still.get(sole.name, data.oMi[sole.joint].copy()) for sole in self._soles]
        twists = [
            np.zeros(6)
            if sole.name in still
            else pin.getVelocity(model, data, sole.joint, pin.ReferenceFrame.LOCAL).vector.copy()
            for sole in self._soles
        ]
        q = q_plane.copy()
        q[self._q] = guess[self._q]
        q[self._base_q] += shift[0]
        q[self._base_q + 1] = guess[self._base_q + 1]
        turn = pin.Quaternion(q[self._base_q + 3 : self._base_q + 7]).matrix()
        worst = math.inf
        for _ in range(_MAX_ITERATIONS):
            J, error = self._equations(q, goals, turn, lateral[0])
            worst = float(np.abs(error).max())
            if worst < _CLOSE:
                break
            step = np.linalg.solve(J, -error)
            # A leg stretched straight would send the search away.
            step *= min(1.0, 0.3 / max(float(np.abs(step).max()), 1e-12))
            q[self._base_q + 1] += step[0]
            q[self._q] += step[1:]
        else:
            raise InputError(
                f"the legs can't keep the soles in place: {1e3 * worst:.2f} mm or mrad are left",
                element=f"sway of {1e3 * lateral[0]:.0f} mm",
                remedy="Bend the knees more, step faster, or shift the zero-moment point inwards",
            )
        v = v_plane.copy()
        v[self._v] = 0.0
        along = turn.T @ np.array([shift[1], 0.0, 0.0])
        v[self._base_v : self._base_v + 3] += along
        full = self._full_jacobian(q)
        wanted = np.concatenate([*twists, [lateral[1]]]) - full @ v
        rates = np.linalg.solve(J, wanted)
        v[self._base_v : self._base_v + 3] += turn.T[:, 1] * rates[0]
        v[self._v] += rates[1:]
        return q, v

    def _full_jacobian(self, q: Reals) -> Reals:
        """(13, nv) of both soles in their joints' frames, and of the centre of mass along y."""
        model, data = self._robot.model, self._data
        pin.computeJointJacobians(model, data, q)
        rows = [pin.getJointJacobian(model, data, sole.joint, pin.ReferenceFrame.LOCAL) for sole in self._soles]
        return np.vstack([*rows, pin.jacobianCenterOfMass(model, data, q)[1:2]])

    def _equations(
        self, q: Reals, goals: Sequence[pin.SE3], turn: Reals, lateral: float
    ) -> tuple[Reals, Reals]:
        """(13, 13) derivative by the base's y and the legs' joints, and (13,) error."""
        full = self._full_jacobian(q)
        J = np.column_stack([full[:, self._base_v : self._base_v + 3] @ turn.T[:, 1], full[:, self._v]])
        parts = [
            pin.log6(goal.actInv(self._data.oMi[sole.joint])).vector
            for goal, sole in zip(goals, self._soles, strict=True)
        ]
        return J, np.concatenate([*parts, [float(self._data.com[0][1]) - lateral]])
