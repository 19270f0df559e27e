# SPDX-License-Identifier: Apache-2.0
r"""The dynamics of a step from Pinocchio's matrices: the plain counterpart of the articulated-body recursions.

Inertia by the composite rigid body algorithm, bias efforts by recursive Newton-Euler, the Delassus operator as
:math:`\delta t\,J H^{-1} J^T` with dense matrices (thesis §3.1.4.1 rejects it as too costly and keeps it to compare
with).
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from humanoid_model.tree.kinematic_tree import KinematicTree
from humanoid_model.tree.tree_motion import TreeMotion
from humanoid_sim.delassus.constraint_rows import ConstraintRows
from humanoid_sim.stepping.operators import add_compliance
from humanoid_sim.stepping.second_order import ACCURACY, MOST_ITERATIONS, SLOW
from humanoid_sim.stepping.step_data import BlockArrays, FlightArrays, GroupArrays, JointArrays, StateArrays
from humanoid_sim.world.world import whole_world_data


class PinocchioDynamics:
    """Free motion, operators and responses of a world by dense matrices."""

    def __init__(self, model: pin.Model, flat: KinematicTree) -> None:
        """Prepare for a model.

        Args:
            model: of the whole world.
            flat: the same as arrays.
        """
        self._model = model
        self._data = whole_world_data(model, "Pinocchio's dynamics")
        self._flat = flat
        self._factor: tuple[NDArray[np.float64], bool] = (np.eye(model.nv), True)
        self._J: NDArray[np.float64] = np.zeros((0, model.nv))

    def free_motion(self, state: StateArrays, joints: JointArrays, motion: TreeMotion, dt: float) -> None:
        """Velocity at the end of the step without constraint forces; ``joints.loads`` and ``own_inertia`` are read."""
        model, data = self._model, self._data
        M = np.triu(pin.crba(model, data, state.q, pin.Convention.WORLD))
        H = M + np.triu(M, 1).T + np.diag(joints.own_inertia - self._flat.armature)
        self._factor = cho_factor(H)
        efforts = joints.loads - pin.nonLinearEffects(model, data, state.q, state.v)
        for j in range(1, model.njoints):
            if state.wrenches[j].any():
                k = int(self._flat.joints["last_dof"][j])
                while k >= 0:
                    efforts[k] += motion.S[k] @ state.wrenches[j]
                    k = int(self._flat.dof_parent[k])
        state.v_free[:] = state.v + dt * cho_solve(self._factor, efforts)

    def refine(self, state: StateArrays, flight: FlightArrays, turning: float, dt: float) -> None:
        """Let the gyroscopic forces be those of the mean velocity, see :mod:`~humanoid_sim.stepping.second_order`."""
        model, data = self._model, self._data
        flight.mean[:] = state.v
        if not dt * turning > SLOW:
            return
        bias = pin.nonLinearEffects(model, data, state.q, state.v).copy()
        for _ in range(MOST_ITERATIONS):
            flight.mean[:] = 0.5 * (state.v + state.v_free + flight.pull)
            new_bias = pin.nonLinearEffects(model, data, state.q, flight.mean).copy()
            change = dt * cho_solve(self._factor, bias - new_bias)
            bias = new_bias
            state.v_free[:] += change
            if not dt * np.abs(change).max() > ACCURACY:
                break

    def build_operators(
        self, rows: ConstraintRows, blocks: BlockArrays, groups: GroupArrays, motion: TreeMotion, dt: float
    ) -> None:
        """Operators of all groups plus compliance, into ``groups.W``."""
        self._J = self._jacobian(rows, int(groups.counts[2]), motion)
        for g in range(int(groups.counts[0])):
            begin, end = (int(blocks.starts[groups.blocks[side]]) for side in (g, g + 1))
            n = end - begin
            J = self._J[begin:end]
            W = groups.W[groups.offsets[g] : groups.offsets[g] + n * n].reshape(n, n)
            W[:] = dt * J @ cho_solve(self._factor, J.T)
            W[:] = 0.5 * (W + W.T)
            add_compliance(blocks, int(groups.blocks[g]), int(groups.blocks[g + 1]), W)

    def respond(self, forces: NDArray[np.float64], dt: float, v: NDArray[np.float64]) -> None:
        r"""Add :math:`\delta t\,H^{-1}J^T f` to a velocity, shape (nv,)."""
        v += dt * cho_solve(self._factor, self._J.T @ forces)

    def _jacobian(self, rows: ConstraintRows, count: int, motion: TreeMotion) -> NDArray[np.float64]:
        """Dense Jacobian of the rows, shape (count, nv)."""
        flat = self._flat
        J = np.zeros((count, self._model.nv))
        for r in range(count):
            if rows.dofs[r] >= 0:
                J[r, rows.dofs[r]] = rows.wrenches[r, 0]
                continue
            for sign, joint in ((1.0, rows.joint_a[r]), (-1.0, rows.joint_b[r])):
                k = int(flat.joints["last_dof"][joint])
                while k >= 0:
                    J[r, k] += sign * (rows.wrenches[r] @ motion.S[k])
                    k = int(flat.dof_parent[k])
        return J
