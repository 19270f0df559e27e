# SPDX-License-Identifier: Apache-2.0
"""Assembly modes: the different ways in which a mechanism goes together with its driven joints where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_kinematics.solver.mechanism_solver import MechanismSolver
from humanoid_model import InputError
from humanoid_model.arrays import Array
from humanoid_model.progress import Progress, ProgressCallback, tell


@dataclass(frozen=True, eq=False)
class AssemblyMode:
    """One way of going together.

    Attributes:
        q: (nq,) configuration; angles of joints without limits within half a turn of 0.
        found: how many starts ended here.
        margin: smallest singular value of the loops over the joints that aren't driven, scaled; 0 is a singular mode,
            which others may touch.
    """

    q: Array
    found: int
    margin: float


def assembly_modes(
    solver: MechanismSolver,
    driven: Sequence[str],
    *,
    starts: int = 300,
    seed: int = 0,
    apart: float = 1e-4,
    progress: ProgressCallback | None = None,
) -> tuple[AssemblyMode, ...]:
    """Find configurations with closed loops that share the present positions of the driven joints.

    The other joints start anywhere within their limits (angles without, within half a turn; lengths without, within
    twice the characteristic length), the loops are closed from there, and ends that differ by less than ``apart`` are
    one. More starts find more; that all are found isn't proven, but a mode of a small basin is rarely missed when the
    rarest was found several times. The solver stays where it is.

    Args:
        solver: the mechanism, its driven joints where they should be.
        driven: joints that don't move.
        starts: number of random starts, besides the present configuration.
        seed: of the random numbers.
        apart: distance of configurations that differ, scaled.
        progress: is told the starts made.

    Returns:
        The modes, most often found first.

    Raises:
        InputError: joints of several coordinates among those that move.
    """
    model = solver.mechanism.model
    if model.nq != model.nv:
        raise InputError(
            "has joints of several coordinates", element=f"mechanism '{solver.mechanism.name}'",
            remedy="Assembly modes are searched for joints of one coordinate",
        )  # fmt: skip
    rng, before, closing = np.random.default_rng(seed), solver.q.copy(), solver.closing
    lower, upper, scale = solver.lower, solver.upper, solver.scale
    held = np.zeros(model.nv, bool)
    for joint in {*driven, *solver.locked}:
        held[solver.mechanism.robot.index_v(joint)] = True
    turning = solver.angles & ~np.isfinite(lower) & ~np.isfinite(upper)
    reach = np.where(solver.angles, np.pi, 2.0 * solver.length)
    low = np.where(np.isfinite(lower), lower, before - reach)
    high = np.where(np.isfinite(upper), upper, before + reach)
    found: list[list[Array]] = []
    for start in range(starts + 1):
        tell(progress, Progress(f"{len(found)} assembly modes", start / (starts + 1)))
        q = before if start == 0 else np.where(held, before, rng.uniform(low, high))
        closing_here = solver.close(q, held=tuple(driven))
        if not closing_here.closed:
            continue
        end = np.where(turning, np.angle(np.exp(1j * closing_here.q)), closing_here.q)
        for mode in found:
            away = end - mode[0]
            away = np.where(turning, np.angle(np.exp(1j * away)), away) / scale
            if np.abs(away).max() < apart:
                mode.append(end)
                break
        else:
            found.append([end])
    modes = []
    for mode in sorted(found, key=len, reverse=True):
        solver.close(mode[0], held=tuple(driven))
        J = solver.scaled_loop_jacobian()[:, ~held]
        sigma = np.linalg.svd(J, compute_uv=False)
        rank = min(int(np.sum(sigma > 1e-6 * sigma.max(initial=0.0))), J.shape[1])
        modes.append(AssemblyMode(mode[0], len(mode), float(sigma[rank - 1]) if rank == J.shape[1] else 0.0))
    solver.close(before)
    solver.closing = closing
    return tuple(modes)


def mode_margin(before: Array, after: Array, rank: float) -> float:
    """Measure how far a configuration is from the end of an assembly mode that one nearby is in.

    Args:
        before: (m, k) derivative of the loops' gaps by the joints that aren't driven, scaled, at the one nearby.
        after: (m, k) the same at the configuration.
        rank: singular values below this part of the largest are 0.

    Returns:
        The smallest singular value of ``after`` over the largest of ``before``, in the directions in which ``before``
        has any; negative beyond a singularity, where the mode has ended; infinite without loops.
    """
    U, sigma, Vt = np.linalg.svd(before, full_matrices=False)
    count = int(np.sum(sigma > rank * sigma.max(initial=0.0)))
    if not count:
        return np.inf
    M = U[:, :count].T @ after @ Vt[:count].T
    sign, _ = np.linalg.slogdet(M)
    return float(sign * np.linalg.svd(M, compute_uv=False)[-1] / sigma[0])
