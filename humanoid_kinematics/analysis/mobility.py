# SPDX-License-Identifier: Apache-2.0
"""Mobility: how many ways a mechanism can move, here and nearby, against what counting its joints promises."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_kinematics.solver.mechanism_solver import MechanismSolver
from humanoid_model.arrays import Array


@dataclass(frozen=True)
class Mobility:
    """Degrees of freedom of a mechanism with its loops closed.

    Attributes:
        joints: number of velocities of the tree.
        loops: number of loops that are closed.
        rank: of the loops' rows, here.
        mobility: freedoms here, ``joints - rank`` (to first order).
        generic: freedoms at closed configurations nearby; fewer than ``mobility`` at a singularity.
        gruebler: what counting gives: joints less rows of loops, with six for a frame: 6 bodies - 5 joints.
        idle: joints that can't move here, loops closed.
    """

    joints: int
    loops: int
    rank: int
    mobility: int
    generic: int
    gruebler: int
    idle: tuple[str, ...]

    @property
    def over_constrained(self) -> int:
        """Rows of loops that follow from the others: freedoms more than counted."""
        return self.generic - self.gruebler

    @property
    def singular(self) -> bool:
        """Whether the mechanism has more freedoms here than nearby."""
        return self.mobility > self.generic


def mobility(solver: MechanismSolver, *, nearby: int = 3, seed: int = 0) -> Mobility:
    """Count the freedoms of a mechanism (specification §3.17).

    The rank is that of the scaled rows, with the solver's threshold. ``nearby`` closed configurations about a degree
    away tell what is generic; the solver stays where it is.
    """
    model = solver.mechanism.model
    J = solver.scaled_loop_jacobian()
    rank = _rank(J, solver.options.rank)
    free = free_motions(solver)
    ranks, before, closing = [rank], solver.q.copy(), solver.closing
    rng = np.random.default_rng(seed)
    if free.shape[1] and len(J):
        for _ in range(nearby):
            step = free @ rng.normal(size=free.shape[1])
            step *= 0.02 / np.abs(step).max()
            away = solver.close(pin.integrate(model, before, step * solver.scale))
            if away.closed:
                ranks.append(_rank(solver.scaled_loop_jacobian(), solver.options.rank))
        solver.close(before)
        solver.closing = closing
    loops = sum(1 for loop in solver.mechanism.loops if solver.holds(loop.name))
    idle = tuple(
        joint for joint in solver.mechanism.robot.joint_names
        if not np.abs(free[_columns(solver, joint)]).max(initial=0.0) > 1e-6
    )  # fmt: skip
    return Mobility(model.nv, loops, rank, model.nv - rank, model.nv - max(ranks), model.nv - len(J), idle)


def free_motions(solver: MechanismSolver) -> Array:
    """(nv, freedoms) orthonormal velocities, scaled, that keep the loops closed to first order."""
    J = solver.scaled_loop_jacobian()
    if not len(J):
        return np.eye(solver.mechanism.model.nv)
    _, s, Vt = np.linalg.svd(J, full_matrices=True)
    rank = int(np.sum(s > solver.options.rank * s.max(initial=0.0)))
    return np.asarray(Vt[rank:].T)


def _rank(J: Array, threshold: float) -> int:
    s = np.linalg.svd(J, compute_uv=False)
    return int(np.sum(s > threshold * s.max(initial=0.0)))


def _columns(solver: MechanismSolver, joint: str) -> slice:
    of_model = solver.mechanism.model.joints[solver.mechanism.robot.parts.joint_ids[joint]]
    return slice(of_model.idx_v, of_model.idx_v + of_model.nv)
