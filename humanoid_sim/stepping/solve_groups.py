# SPDX-License-Identifier: Apache-2.0
"""The constraint problems of all groups, solved one after the other."""

from __future__ import annotations

import numpy as np

from humanoid_model.compiling import counted, plain_arguments, uncounted
from humanoid_sim.contact.block_nsgs import BILATERAL, CONTACT, UNILATERAL, BlockProblem, block_natural_map, block_nsgs
from humanoid_sim.contact.clock import seconds
from humanoid_sim.contact.cone import copy_vector
from humanoid_sim.contact.nsgs_newton import nsgs_newton
from humanoid_sim.contact.scalar_active_set import has_scalars_and_contacts_alone, scalar_active_set
from humanoid_sim.stepping.by_bodies import solve_by_bodies
from humanoid_sim.stepping.constraints import FREE_BODIES, LOWER
from humanoid_sim.stepping.operators import closure_forces, closure_rows, eliminate_closures
from humanoid_sim.stepping.rows_and_forces import body_velocities, correction_velocity, row_velocity
from humanoid_sim.stepping.step_data import BlockArrays, SolverSettings, Step

_LOCKED_ITERATIONS = 15
"""Of contacts beside locked joints, before all rows are solved for."""
_REBOUND_BISECTIONS = 8
"""A rebound that would make energy is halved at most so often."""


@plain_arguments
@uncounted()
def solve_group(
    step: Step, group: int, v_free: np.ndarray, forces: np.ndarray, parameters: np.ndarray, eliminated: bool,
    settings: SolverSettings, may_bounce: bool,
) -> None:  # fmt: skip
    """Solve one group by block Gauss-Seidel; contacts, limits and dry friction with the help of Newton if wanted.

    Args:
        step: the step; velocities, residuals and iterations of the group are written.
        group: its number.
        v_free: free velocities of all rows, overwritten where closures are eliminated, shape (rows,).
        forces: initial forces, overwritten with the solution, shape (rows,).
        parameters: of all blocks, shape (blocks,).
        eliminated: whether the operator has been through :func:`eliminate_closures` before.
        settings: how; at the deadline forces that would make energy are those of one sweep without rebound and warm
            start.
        may_bounce: whether contacts may, and energy is watched.
    """
    groups, blocks, dt = step.groups, step.blocks, settings.dt
    begin, end = blocks.starts[groups.blocks[group]], blocks.starts[groups.ends[group]]
    W = _operator(step, group)
    held = closure_rows(step, group)
    if held > 0:
        if not eliminated:
            eliminate_closures(W, v_free[begin:end], held)
        else:
            _reduce_velocities(W, v_free[begin:end], held)
    iterations = _solve_rows(
        step, group, held, W, v_free, forces, parameters, settings
    )
    deadline = settings.deadline
    unfinished = groups.residuals[group, 0] > settings.tolerance and deadline < np.inf
    if may_bounce and (unfinished or bounces(step, group)):
        # Newton's law beside Coulomb's can make energy (Kane and Levinson): the rebound is what energy allows. So can
        # forces of an earlier step on which the time ended.
        low, high, share = 0.0, 1.0, 1.0
        for _ in range(_REBOUND_BISECTIONS):
            gain = constraint_work(step, group, held, share, forces, dt)
            late = seconds(step.clock.work) >= deadline
            if not gain > 0.0 and (late or share == 1.0):
                break
            if gain > 0.0:
                high = share
            else:
                low = share
            wanted = 0.5 * (low + high)
            if late:  # from rest, without rebound: the forces of a sweep then take energy, solved or not
                wanted = low = 0.0
                forces[begin + held : end] = 0.0
            rebound(step, group, v_free, wanted - share)
            share = wanted
            iterations += _solve_rows(
                step, group, held, W, v_free, forces, parameters, settings
            )
            if late:
                break
        if low < share < 1.0 and constraint_work(step, group, held, share, forces, dt) > 0.0:
            rebound(step, group, v_free, low - share)
            iterations += _solve_rows(
                step, group, held, W, v_free, forces, parameters, settings
            )
    groups.iterations[group] = iterations
    if held > 0:
        closure_forces(W, v_free[begin:end], held, forces[begin:end])
        for r in range(begin, begin + held):
            blocks.velocities[r] = 0.0


@counted()
def _operator(step: Step, group: int) -> np.ndarray:
    """Operator of a group, shape (n, n); (0, 0) where it has none. Nobody owns it: it isn't counted either."""
    groups, starts = step.groups, step.blocks.starts
    offset = groups.offsets[group]
    n = starts[groups.ends[group]] - starts[groups.blocks[group]]
    if offset < 0:
        offset = n = 0
    return groups.W[offset : offset + n * n].reshape(n, n)


@uncounted()
def _solve_rows(
    step: Step, group: int, held: int, W: np.ndarray, v_free: np.ndarray, forces: np.ndarray, parameters: np.ndarray,
    settings: SolverSettings,
) -> int:  # fmt: skip
    """Solve the rows behind the first ``held``, those of eliminated closures; returns the iterations."""
    if held > 0:
        return int(_solve_behind(step, group, held, W, v_free, forces, parameters, settings))
    return int(_solve_own(step, group, 0, W, v_free, forces, parameters, settings))


@counted()
def _solve_behind(
    step: Step, group: int, held: int, W: np.ndarray, v_free: np.ndarray, forces: np.ndarray, parameters: np.ndarray,
    settings: SolverSettings,
) -> int:  # fmt: skip
    """:func:`_solve_rows` where there are such rows."""
    own = np.empty((W.shape[0] - held, W.shape[0] - held))
    for r in range(own.shape[0]):
        for c in range(own.shape[0]):
            own[r, c] = W[held + r, held + c]
    return int(_solve_own(step, group, held, own, v_free, forces, parameters, settings))


@uncounted()
def _behind_closures(step: Step, group: int, held: int) -> tuple[int, int, int, int]:
    """Return where the blocks of a group behind its closures begin and end, and where their rows do."""
    groups, blocks = step.groups, step.blocks
    first, last = groups.blocks[group], groups.ends[group]
    begin, end = blocks.starts[first] + held, blocks.starts[last]
    while first < last and blocks.kinds[first] == BILATERAL:
        first += 1
    return first, last, begin, end


@uncounted()
def _solve_own(
    step: Step, group: int, held: int, W: np.ndarray, v_free: np.ndarray, forces: np.ndarray, parameters: np.ndarray,
    settings: SolverSettings,
) -> int:  # fmt: skip
    """:func:`_solve_rows` with the operator of these rows."""
    groups, blocks = step.groups, step.blocks
    tolerance, max_iterations, deadline = settings.tolerance, settings.max_iterations, settings.deadline
    first, last, begin, end = _behind_closures(step, group, held)
    f, v, free = forces[begin:end], blocks.velocities[begin:end], v_free[begin:end]
    if groups.offsets[group] < 0:
        return int(solve_by_bodies(step, group, free, f, settings))
    kinds = blocks.kinds[first:last]
    if settings.newton and _only_contacts(kinds):
        return int(
            nsgs_newton(
                W, free, parameters[first:last], f, tolerance, max_iterations, v, groups.residuals[group], deadline
            )
        )
    return int(_solve_blocks(step, group, held, W, v_free, forces, parameters, settings))


@counted()
def _solve_blocks(
    step: Step, group: int, held: int, W: np.ndarray, v_free: np.ndarray, forces: np.ndarray, parameters: np.ndarray,
    settings: SolverSettings,
) -> int:  # fmt: skip
    """:func:`_solve_own` where there are others than contacts."""
    groups, blocks = step.groups, step.blocks
    tolerance, max_iterations, deadline = settings.tolerance, settings.max_iterations, settings.deadline
    first, last, begin, end = _behind_closures(step, group, held)
    f, v, kinds = forces[begin:end], blocks.velocities[begin:end], blocks.kinds[first:last]
    residuals = groups.residuals[group]
    problem = BlockProblem(
        W, v_free[begin:end], blocks.starts[first : last + 1] - begin, kinds, parameters[first:last],
        blocks.parents[first:last] - first,
    )  # fmt: skip
    if settings.newton and has_scalars_and_contacts_alone(kinds):
        return int(scalar_active_set(problem, f, tolerance, max_iterations, v, residuals, deadline))
    return int(block_nsgs(problem, f, tolerance, max_iterations, v, residuals, deadline))


@uncounted()
def _leaves(blocks: BlockArrays, block: int) -> bool:
    """Return whether a block is a contact that bounces: a compliant one is shifted back by what it has yielded."""
    row = blocks.starts[block]
    return bool(blocks.kinds[block] == CONTACT and blocks.shifts[row] < 0.0 and blocks.compliance[row] == 0.0)


@uncounted()
def bounces(step: Step, group: int) -> bool:
    """Return whether a contact of the group bounces."""
    found = False
    for block in range(step.groups.blocks[group], step.groups.blocks[group + 1]):
        found = found or _leaves(step.blocks, block)
    return found


@uncounted()
def rebound(step: Step, group: int, v_free: np.ndarray, change: float) -> None:
    """Change the part of their rebound that the contacts of a group get; at first it is 1."""
    blocks = step.blocks
    for block in range(step.groups.blocks[group], step.groups.blocks[group + 1]):
        if _leaves(blocks, block):
            v_free[blocks.starts[block]] += change * blocks.shifts[blocks.starts[block]]


@uncounted()
def constraint_work(
    step: Step, group: int, held: int, share: float, forces: np.ndarray, dt: float
) -> float:
    r"""Return the energy that the forces of a group give to the bodies, :math:`\delta t\,f^T (v_{free} + v^+) / 2` [J].

    For contacts that bounce, :math:`v^-` stands in place of :math:`v_{free}`: what a flight by steps conserves is not
    the energy E but :math:`E - \tfrac{\delta t}{2} \dot V` with the potential V, and a ball that leaves as fast as it
    came keeps just that, and with it the height to which it rises.

    Args:
        step: the step, whose velocities are those under the forces.
        group: its number.
        held: number of rows of eliminated closures, which do no work.
        share: part of their rebound that contacts got.
        forces: of all rows, shape (rows,).
        dt: time step [s].

    Returns:
        The work; zero where it is no more than rounding.
    """
    groups, blocks = step.groups, step.blocks
    begin, end = blocks.starts[groups.blocks[group]] + held, blocks.starts[groups.blocks[group + 1]]
    W = _operator(step, group)
    work = 0.0
    scale = 0.0
    for block in range(groups.blocks[group], groups.blocks[group + 1]):
        first = blocks.starts[block]
        bounces = _leaves(blocks, block)
        for row in range(max(first, begin), blocks.starts[block + 1]):
            f = forces[row]
            if f == 0.0:
                continue
            change = 0.0  # in the velocity along the row, by all forces
            if W.size == 0:
                change = blocks.velocities[row] - blocks.v_free[row]
            else:
                for column in range(begin, end):
                    change += W[row - begin + held, column - begin + held] * forces[column]
            shift = share * blocks.shifts[row] if bounces and row == first else blocks.shifts[row]
            before = blocks.velocities[row] - change - shift
            after = before + change - blocks.compliance[row] * f
            if bounces:
                before = row_velocity(step.rows, row, step.motion.twists, step.state.v)
            work += 0.5 * f * (before + after)
            scale += abs(f) * (abs(before) + abs(after))
    return dt * work if work > 1e-9 * scale else 0.0


@uncounted()
def _reduce_velocities(W: np.ndarray, v_free: np.ndarray, count: int) -> None:
    """Compute what :func:`eliminate_closures` does to the velocities, with an operator that has been through it."""
    for k in range(count):
        v_free[k] /= W[k, k]
        for r in range(k + 1, v_free.size):
            v_free[r] -= W[r, k] * v_free[k]


@uncounted()
def _only_contacts(kinds: np.ndarray) -> bool:
    only = True
    for kind in kinds:
        only = only and kind == CONTACT
    return only


@uncounted()
def solve_all(step: Step, settings: SolverSettings) -> None:
    """Solve all groups; forces, velocities, residuals and iterations are written.

    Each group may take the part of the time left that its rows are of those still to be solved, so that a hard problem
    spoils no other; what it leaves over is the next ones'.

    Args:
        step: the step.
        settings: how; the deadline is that of all groups.
    """
    groups, blocks = step.groups, step.blocks
    own = deadline = settings.deadline
    for group in range(groups.counts[0]):
        if deadline < np.inf:
            now = seconds(step.clock.work)
            begin, end = blocks.starts[groups.blocks[group]], blocks.starts[groups.blocks[group + 1]]
            own = now + (deadline - now) * (end - begin) / (groups.counts[2] - begin)
        locked = groups.ends[group] < groups.blocks[group + 1]
        most = min(_LOCKED_ITERATIONS, settings.max_iterations) if locked else settings.max_iterations
        share = SolverSettings(settings.newton, settings.tolerance, most, own, settings.dt)
        solve_group(step, group, blocks.v_free, blocks.forces, blocks.parameters, False, share, not locked)


@uncounted()
def still_solved(step: Step, tolerance: float) -> bool:
    """Return whether the forces of the last step solve this one's problems: things at rest need no operators.

    ``state.v_new`` must be the velocity under ``blocks.forces``. The natural map takes its steps from the operators
    that were built last, for the same constraints; those steps decide how it is scaled, not where it vanishes.

    Args:
        step: the step; velocities, residuals and iterations are written where the answer is yes.
        tolerance: bound on the relative residual of every group.
    """
    groups, blocks, rows, state = step.groups, step.blocks, step.rows, step.state
    twists = step.articulated.accelerations  # free again
    body_velocities(step.model, step.motion.S, state.v_new, twists)
    for row in range(groups.counts[2]):
        v = row_velocity(rows, row, twists, state.v_new)
        blocks.velocities[row] = v + blocks.shifts[row] + blocks.compliance[row] * blocks.forces[row]
    for group in range(groups.counts[0]):
        first, last = groups.blocks[group], groups.blocks[group + 1]
        residual = block_natural_map(
            blocks.diagonal, blocks.v_free, blocks.starts[first : last + 1], blocks.kinds[first:last],
            blocks.parameters[first:last], blocks.parents[first:last], blocks.forces, blocks.velocities, first,
        )  # fmt: skip
        if not residual <= tolerance:
            return False
        groups.residuals[group, :] = 0.0
        groups.residuals[group, 0] = residual
        groups.iterations[group] = 0
    return True


@uncounted()
def may_be_at_rest(step: Step) -> bool:
    """Return whether the last step needed no iteration and had the same constraints, none of them loops."""
    groups, blocks = step.groups, step.blocks
    if groups.was_solved[0] != groups.counts[1]:
        return False
    for block in range(groups.counts[1]):
        if blocks.built[block] != 8 * blocks.memory[block] + blocks.kinds[block] or blocks.kinds[block] == BILATERAL:
            return False
    return True


@uncounted()
def remember_rest(step: Step) -> None:
    """Note for the next step whether this one's forces needed no iteration."""
    groups = step.groups
    groups.was_solved[0] = groups.counts[1]
    for group in range(groups.counts[0]):
        if groups.iterations[group] > 0:
            groups.was_solved[0] = -1


@uncounted()
def block_gap(step: Step, block: int) -> float:
    """Distance of a contact, or of a joint to its limit; a compliant contact may sink by what its force makes of it."""
    blocks = step.blocks
    first = blocks.starts[block]
    if blocks.kinds[block] == CONTACT:
        gap = step.points.gaps[blocks.points[block]]
        return float(max(gap, 0.0) if blocks.compliance[first] > 0.0 else gap)
    k = step.rows.dofs[first]
    q = step.state.q[step.joints.idx_q[k]]
    return float(q - step.joints.lower[k] if blocks.points[block] == LOWER else step.joints.upper[k] - q)


@uncounted()
def is_penetrating(step: Step, dt: float) -> bool:
    """Return whether :func:`correction_forces` has anything to correct."""
    for block in range(step.groups.counts[1]):
        kind = step.blocks.kinds[block]
        if kind in (CONTACT, UNILATERAL) and correction_velocity(block_gap(step, block), dt)[1]:
            return True
    return False


@counted()
def correction_forces(
    step: Step, dt: float, max_iterations: int, deadline: float, wanted: np.ndarray, forces: np.ndarray
) -> bool:
    """Return forces of a displacement that undoes penetrations and exceeded limits and leaves the velocity alone.

    Solved as a constraint problem of its own: what has sunk is lifted, what is near is kept from sinking and, since
    friction holds, feet don't slide. The kinetic energy is untouched. Dry friction, dampers and torques don't act.

    Args:
        step: the step, solved.
        dt: time step [s].
        max_iterations: bound on the number of sweeps.
        deadline: see :class:`SolverSettings`.
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
            if blocks.kinds[block] == CONTACT or blocks.kinds[block] == UNILATERAL:
                wanted[first], correct = correction_velocity(block_gap(step, block), dt)
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
        plain = SolverSettings(groups.offsets[group] == FREE_BODIES, 1e-4, max_iterations, deadline, dt)
        solve_group(step, group, wanted, forces, parameters, True, plain, False)
        groups.iterations[group] = iterations
        copy_vector(residual, groups.residuals[group])
        copy_vector(velocities, blocks.velocities)
    return any_group
