# SPDX-License-Identifier: Apache-2.0
"""How well a mechanism moves: mobility, dexterity of its tools, and how near a singularity is.

Mobility is how many ways there are, here and nearby, against what counting the joints promises; dexterity is how well a
tool moves in every direction, and what drives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_kinematics.solver.mechanism_solver import MechanismSolver
from humanoid_model import InputError
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


@dataclass(frozen=True, eq=False)
class Dexterity:
    """How a tool answers to the joints that drive it.

    Attributes:
        J: (6, k) motion of the tool, translations first, by velocities of the drives, in world axes.
        sigma: (r,) singular values that aren't zero, largest first.
        unit: metres in the unit of length of ``J``; singular values of a Jacobian with translations and rotations mean
            something in a unit only.
        directions: (6, r) motions of the tool that belong to them, unit vectors.
    """

    J: Array
    sigma: Array
    unit: float
    directions: Array

    @property
    def rank(self) -> int:
        """Number of independent motions of the tool."""
        return len(self.sigma)

    @property
    def condition(self) -> float:
        """Largest by smallest singular value: the thesis' dexterity (Fig. 6-8); infinite for a tool that can't move."""
        return float(self.sigma[0] / self.sigma[-1]) if len(self.sigma) else np.inf

    @property
    def manipulability(self) -> float:
        """Product of the singular values (Yoshikawa)."""
        return float(np.prod(self.sigma))

    def velocity_ellipsoid(self) -> tuple[Array, Array]:
        """Half axes (k,) and directions (3, k) of the tool's velocities for drives whose speeds have norm 1."""
        U, s, _ = np.linalg.svd(self.J[:3], full_matrices=False)
        return np.asarray(s), np.asarray(U)


def following(solver: MechanismSolver, driven: Sequence[str]) -> Array:
    """(nv, k) velocities of all joints by those of driven ones, loops kept closed; the shortest where some are free.

    Raises:
        InputError: drives that can't all move as they like here: too many, or a singularity between them.
    """
    columns = [_column(solver, joint) for joint in driven]
    J, scale = solver.scaled_loop_jacobian(), solver.scale
    D = np.zeros((len(scale), len(columns)))
    D[columns, range(len(columns))] = 1.0 / scale[columns]
    if len(J):
        rest = [k for k in range(len(scale)) if k not in columns]
        wanted = -J[:, columns] / scale[columns]
        passive = J[:, rest]
        D[rest] = found = np.linalg.lstsq(passive, wanted, rcond=solver.options.rank)[0]
        off = np.abs(passive @ found - wanted).max(initial=0.0) / np.abs(wanted).max(initial=1e-300)
        if off > 1e-6:
            raise InputError(
                f"{', '.join(driven)} can't all move as they like here", element="drives",
                remedy="Name as many joints as there are freedoms, or leave the singularity",
            )  # fmt: skip
    return np.asarray(D * scale[:, None])


def dexterity(
    solver: MechanismSolver, tool: str, driven: Sequence[str] | None = None, *, unit: float = 1.0
) -> Dexterity:
    """Analyse how a tool is moved (specification §3.16).

    Args:
        solver: the mechanism, where it is.
        tool: name of a tool or link.
        driven: joints that drive it; None takes all joints of an open chain, and of a closed one the freedoms of its
            loops as orthonormal joint motions.
        unit: metres in the unit of length for translations and sliding joints.
    """
    J = solver.tool_jacobian(tool)
    J[:3] /= unit
    of_unit = np.where(solver.angles, 1.0, unit)
    if driven is not None:
        columns = [_column(solver, joint) for joint in driven]
        A = J @ following(solver, driven) * of_unit[columns]
    elif len(solver.scaled_loop_jacobian()):
        # Free motions in this unit, orthonormal again.
        basis, _ = np.linalg.qr((free_motions(solver) * solver.scale[:, None]) / of_unit[:, None])
        A = J @ (of_unit[:, None] * basis)
    else:
        A = J * of_unit
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    rank = int(np.sum(s > 1e-9 * s.max(initial=0.0)))
    return Dexterity(A, s[:rank], unit, U[:, :rank])


@dataclass(frozen=True)
class Singularity:
    """How far a mechanism is from its singularities; each number is a smallest singular value, scaled: 0 at one.

    Attributes:
        loops: of the loops' independent rows. At 0 the mechanism has a freedom more than nearby, as a four-bar that
            lies flat.
        drives: of the loops over the joints that aren't driven. At 0 the drives don't hold the mechanism (the parallel
            singularity); None without drives, or if the drives leave freedoms anyway.
        tool: of the tool's motion by the free motions. At 0 the tool loses a direction (the serial singularity).
    """

    loops: float
    drives: float | None
    tool: float


def singularity(solver: MechanismSolver, tool: str, driven: Sequence[str] | None, generic_rank: int) -> Singularity:
    """Measure how far the singularities are from here.

    Args:
        solver: the mechanism.
        tool: name of a tool or link.
        driven: joints with motors, None if not known.
        generic_rank: rank of the loops nearby (``joints - generic`` of the mobility).
    """
    J = solver.scaled_loop_jacobian()
    s = np.linalg.svd(J, compute_uv=False)
    loops = float(s[generic_rank - 1]) if generic_rank else np.inf
    drives = None
    if driven is not None and generic_rank == J.shape[1] - len(driven) and generic_rank:
        rest = np.setdiff1d(np.arange(J.shape[1]), [_column(solver, joint) for joint in driven])
        drives = float(np.linalg.svd(J[:, rest], compute_uv=False)[-1])
    T = solver.tool_jacobian(tool) * solver.scale
    T[:3] /= solver.length
    t = np.linalg.svd(T @ free_motions(solver), compute_uv=False)
    return Singularity(loops, drives, float(t[-1]) if len(t) else 0.0)


def _column(solver: MechanismSolver, joint: str) -> int:
    return solver.mechanism.robot.index_v(joint)
