# SPDX-License-Identifier: Apache-2.0
"""The constraint problems of all groups, solved one after the other."""

from __future__ import annotations

import numpy as np
from numba import njit

from humanoid_sim.contact.approach import correction_velocity
from humanoid_sim.contact.block_nsgs import BILATERAL, CONTACT, UNILATERAL, block_nsgs
from humanoid_sim.contact.nsgs_newton import nsgs_newton
from humanoid_sim.stepping.constraints import LOWER
from humanoid_sim.stepping.operators import closure_forces, closure_rows, eliminate_closures
from humanoid_sim.stepping.step_data import Step


@njit(cache=True, error_model="numpy")
def solve_group(
    step: Step, group: int, v_free: np.ndarray, forces: np.ndarray, parameters: np.ndarray, eliminated: bool,
    newton: bool, tolerance: float, max_iterations: int,
) -> None:  # fmt: skip
    """Solve one group by block Gauss-Seidel; contacts alone with the help of Newton if wanted.

    Args:
        step: the step; velocities, residuals and iterations of the group are written.
        group: its number.
        v_free: free velocities of all rows, overwritten where closures are eliminated, shape (rows,).
        forces: initial forces, overwritten with the solution, shape (rows,).
        parameters: of all blocks, shape (blocks,).
        eliminated: whether the operator has been through :func:`eliminate_closures` before.
        newton: whether contacts alone are handed to :func:`~humanoid_sim.contact.nsgs_newton.nsgs_newton`.
        tolerance: bound on the relative residual.
        max_iterations: bound on the number of sweeps.
    """
    groups, blocks = step.groups, step.blocks
    first, last = groups.blocks[group], groups.blocks[group + 1]
    begin, end = blocks.starts[first], blocks.starts[last]
    n = end - begin
    W = groups.W[groups.offsets[group] : groups.offsets[group] + n * n].reshape(n, n)
    held = closure_rows(step, group)
    f = forces[begin:end]
    v = blocks.velocities[begin:end]
    if held == 0 and newton and 3 * (last - first) == n and _only_contacts(blocks.kinds[first:last]):
        groups.iterations[group] = nsgs_newton(
            W, v_free[begin:end], parameters[first:last], f, tolerance, max_iterations, v, groups.residuals[group]
        )
        return
    if held == 0:
        groups.iterations[group] = block_nsgs(
            W, v_free[begin:end], blocks.starts[first : last + 1] - begin, blocks.kinds[first:last],
            parameters[first:last], blocks.parents[first:last] - first, f, tolerance, max_iterations, v,
            groups.residuals[group],
        )  # fmt: skip
        return
    if not eliminated:
        eliminate_closures(W, v_free[begin:end], held)
    else:
        _reduce_velocities(W, v_free[begin:end], held)
    skipped = 0
    while skipped < last - first and blocks.kinds[first + skipped] == BILATERAL:
        skipped += 1
    rest = first + skipped
    reduced = np.ascontiguousarray(W[held:, held:])
    groups.iterations[group] = block_nsgs(
        reduced, v_free[begin + held : end], blocks.starts[rest : last + 1] - begin - held, blocks.kinds[rest:last],
        parameters[rest:last], blocks.parents[rest:last] - rest, f[held:], tolerance, max_iterations, v[held:],
        groups.residuals[group],
    )  # fmt: skip
    closure_forces(W, v_free[begin:end], held, f)
    for r in range(held):
        v[r] = 0.0


@njit(cache=True, error_model="numpy")
def _reduce_velocities(W: np.ndarray, v_free: np.ndarray, count: int) -> None:
    """What :func:`eliminate_closures` does to the velocities, with an operator that has been through it."""
    for k in range(count):
        v_free[k] /= W[k, k]
        for r in range(k + 1, v_free.size):
            v_free[r] -= W[r, k] * v_free[k]


@njit(cache=True, error_model="numpy")
def _only_contacts(kinds: np.ndarray) -> bool:
    return bool(np.all(kinds == CONTACT))


@njit(cache=True, error_model="numpy")
def solve_all(step: Step, newton: bool, tolerance: float, max_iterations: int) -> None:
    """Solve all groups; forces, velocities, residuals and iterations are written."""
    blocks = step.blocks
    for group in range(step.groups.counts[0]):
        solve_group(
            step, group, blocks.v_free, blocks.forces, blocks.parameters, False, newton, tolerance, max_iterations
        )


@njit(cache=True, error_model="numpy")
def correction_forces(step: Step, dt: float, max_iterations: int, wanted: np.ndarray, forces: np.ndarray) -> bool:
    """Forces of a displacement that takes penetrations and exceeded limits back without becoming part of the velocity.

    Solved as a constraint problem of its own: what has sunk is lifted, what is near is kept from sinking and, since
    friction holds, feet don't slide. The kinetic energy is untouched. Dry friction, dampers and torques don't act.

    Args:
        step: the step, solved.
        dt: time step [s].
        max_iterations: bound on the number of sweeps.
        wanted: work space, shape (rows,).
        forces: receives the forces, shape (rows,).

    Returns:
        Whether there is anything to correct; the forces are zero where not.
    """
    groups, blocks = step.groups, step.blocks
    for row in range(groups.counts[2]):
        forces[row] = 0.0
    any_group = False
    for group in range(groups.counts[0]):
        needed = False
        for block in range(groups.blocks[group], groups.blocks[group + 1]):
            first = blocks.starts[block]
            for row in range(first, blocks.starts[block + 1]):
                wanted[row] = 0.0
            kind = blocks.kinds[block]
            if kind == CONTACT:
                gap = step.points.gaps[blocks.points[block]]
                if blocks.compliance[first] > 0.0:  # it may sink by what its force makes of it
                    gap = max(gap, 0.0)
            elif kind == UNILATERAL:
                k = step.rows.dofs[first]
                q = step.state.q[step.joints.idx_q[k]]
                gap = q - step.joints.lower[k] if blocks.points[block] == LOWER else step.joints.upper[k] - q
            else:
                continue
            wanted[first], correct = correction_velocity(gap, dt)
            needed = needed or correct
        if not needed:
            continue
        any_group = True
        parameters = np.zeros(blocks.parameters.size)
        for block in range(groups.blocks[group], groups.blocks[group + 1]):
            if blocks.kinds[block] == CONTACT:
                parameters[block] = blocks.parameters[block]
        iterations = groups.iterations[group]
        residual = groups.residuals[group].copy()
        velocities = blocks.velocities[: groups.counts[2]].copy()
        solve_group(step, group, wanted, forces, parameters, True, False, 1e-4, max_iterations)
        groups.iterations[group] = iterations
        groups.residuals[group] = residual
        blocks.velocities[: groups.counts[2]] = velocities
    return any_group
