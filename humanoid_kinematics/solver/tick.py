# SPDX-License-Identifier: Apache-2.0
"""Compiled motion of a mechanism: loops closed from where they are, and commands followed with loops kept closed.

Commands are followed in steps that are short (specification §3.15: 5 degrees), damped more when they don't help, and
taken only when the loops close again after them with little further motion: so neither singularities nor loops at
the end of their reach make joints jump, and no step ends with an open loop.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from humanoid_kinematics.solver.bounded_step import Groups, Linear, bounded_step
from humanoid_kinematics.solver.pair_rows import pair_rows
from humanoid_model.arrays import Array, Records
from humanoid_model.compiling import plain_arguments
from humanoid_model.tree.forward_kinematics import centre_of_mass, centre_of_mass_jacobian, integrate, place_all
from humanoid_model.tree.kinematic_tree import KinematicTree, Placements

#: How a tick ended: commands met; as near as loops, limits and locks allow; still on its way; no way on that keeps the
#: loops closed; loops that didn't close to begin with; commands that aren't finite.
REACHED, NEAREST, MOVING, STUCK, OPEN, NOT_FINITE = range(6)

_MAX_REFUSED = 12
_CLOSING_ITERATIONS = 12
#: Step that is tried at a dead point [rad]; it is taken where it lowers the commands' cost by this share.
_PROBE, _WORTH = 0.03, 1e-4


class Numbers(NamedTuple):
    """What the solver is told in numbers.

    Attributes:
        tolerance: largest gap of a closed loop, scaled (lengths by the characteristic length, rad).
        reach: largest gap of a command that is met, scaled.
        rank: rows of closures shorter than this, relative to the longest, depend on the others.
        step: longest step of a joint [rad], or in characteristic lengths.
        damping: least damping of commands.
        iterations: most steps of a tick.
    """

    tolerance: float
    reach: float
    rank: float
    step: float
    damping: float
    iterations: int


class System(NamedTuple):
    """A mechanism and its commands as kernels read them. Rows: loops, couplings, tools, joints, centre of mass.

    Attributes:
        tree: joints.
        pairs: loops, then commands of tools.
        columns: velocities of each pair.
        signs: of these.
        loops: number of pairs that are loops.
        coupling_q: (c, nq) couplings of positions.
        coupling_v: (c, nv) couplings of velocities.
        coupling_offset: (c,) what they come to.
        closed: number of rows of loops and couplings.
        groups: of these.
        joint_v: (j,) velocities of commanded joints.
        joint_target: (j,) their positions.
        joint_weight: (j,) weights of these commands.
        centre: (4,) commanded centre of mass and its weight, 0 for none.
        rows: number of all rows.
        position_of: (nv,) where a velocity's position is, -1 where there is none.
        lower: (nv,) lowest positions.
        upper: (nv,) highest positions.
        scale: (nv,) what a unit of scaled step moves, by the joints' weights.
        stretch: (nv,) what a unit of scaled step is in rad, or in characteristic lengths: 1 at weight 1.
        locked: (nv,) 1 for velocities that don't move.
        preferred: (nv,) positions that free motion tends to.
        preference: (nv,) how much of the way there in a tick, 0 for none.
        numbers: what the solver is told.
    """

    tree: KinematicTree
    pairs: Records
    columns: NDArray[np.int64]
    signs: Array
    loops: int
    coupling_q: Array
    coupling_v: Array
    coupling_offset: Array
    closed: int
    groups: Groups
    joint_v: NDArray[np.int64]
    joint_target: Array
    joint_weight: Array
    centre: Array
    rows: int
    position_of: NDArray[np.int64]
    lower: Array
    upper: Array
    scale: Array
    stretch: Array
    locked: NDArray[np.int8]
    preferred: Array
    preference: Array
    numbers: Numbers


@njit(cache=True, error_model="numpy")
def linearise(system: System, q: np.ndarray, placed: Placements, gap: np.ndarray, J: np.ndarray) -> None:
    """Compute all gaps (rows,) at a configuration, and their derivative (rows, nv) by scaled velocities."""
    place_all(system.tree, q, placed)
    pair_rows(system.pairs, system.columns, system.signs, placed, gap, J)
    row, nv = system.closed - len(system.coupling_offset), len(system.scale)
    for c in range(len(system.coupling_offset)):
        gap[row] = -system.coupling_offset[c]
        for k in range(len(q)):
            gap[row] += system.coupling_q[c, k] * q[k]
        for k in range(nv):
            J[row, k] = system.coupling_v[c, k]
        row += 1
    for p in range(system.loops, len(system.pairs)):
        row += system.pairs[p].rows
    for i in range(len(system.joint_v)):
        k = system.joint_v[i]
        gap[row] = system.joint_weight[i] * (q[system.position_of[k]] - system.joint_target[i])
        for c in range(nv):
            J[row, c] = 0.0
        J[row, k] = system.joint_weight[i]
        row += 1
    weight = system.centre[3]
    if weight > 0.0:
        G, moments = np.empty(3), np.empty((len(system.tree.joints), 4))
        centre_of_mass(system.tree, placed, moments, G)
        centre_of_mass_jacobian(system.tree, placed, moments, J[row : row + 3])
        for i in range(3):
            gap[row + i] = weight * (G[i] - system.centre[i])
            for k in range(nv):
                J[row + i, k] *= weight
    for i in range(system.rows):
        for k in range(nv):
            J[i, k] *= system.scale[k]


@njit(cache=True, error_model="numpy")
def _bounds(system: System, q: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
    """Bound steps by the limits; a position beyond one may come back."""
    for k in range(len(system.scale)):
        i = system.position_of[k]
        lower[k], upper[k] = -math.inf, math.inf
        if i >= 0:
            lower[k] = min(0.0, (system.lower[k] - q[i]) / system.scale[k])
            upper[k] = max(0.0, (system.upper[k] - q[i]) / system.scale[k])


@njit(cache=True, error_model="numpy")
def _within(system: System, q: np.ndarray) -> None:
    """Take the rounding of a step off positions that a bound held."""
    for k in range(len(system.scale)):
        i = system.position_of[k]
        if i >= 0:
            room = 1e-12 * (1.0 + abs(q[i]))
            if system.lower[k] - room < q[i] < system.lower[k]:
                q[i] = system.lower[k]
            elif system.upper[k] < q[i] < system.upper[k] + room:
                q[i] = system.upper[k]


@plain_arguments
@njit(cache=True, error_model="numpy")
def close(
    system: System, q: np.ndarray, placed: Placements, gap: np.ndarray, J: np.ndarray, longest: float, iterations: int
) -> tuple[float, float, int]:
    """Close the loops from a configuration, in place; the largest gap left, the longest way moved, iterations.

    Newton's steps, the shortest that close to first order; where one doesn't help, damped ones (Levenberg-Marquardt).
    Ends at a closed configuration, or where no step brings the loops nearer. ``gap`` and ``J`` are those there.
    """
    m, nv = system.closed, len(system.scale)
    lower, upper, x, way, still = np.empty(nv), np.empty(nv), np.empty(nv), np.zeros(nv), np.zeros(nv)
    trial, held, step = np.empty(len(q)), np.empty(nv, np.int8), np.empty(nv)
    linearise(system, q, placed, gap, J)
    largest, square = 0.0, 0.0
    for i in range(m):
        largest, square = max(largest, abs(gap[i])), square + gap[i] * gap[i]
    damping, moved, iteration, lost = 0.0, 0.0, 0, False
    while largest > system.numbers.tolerance and iteration < iterations and damping < 1e6:
        iteration += 1
        if lost:
            linearise(system, q, placed, gap, J)
            lost = False
        _bounds(system, q, lower, upper)
        held[:] = system.locked
        none = J[m:m]
        linear = Linear(J[:m], -gap[:m], none, gap[m:m], lower, upper, still, system.groups)
        bounded_step(linear, held, 0.0, damping, system.numbers.rank, x)
        length = 0.0
        for k in range(nv):
            length = max(length, abs(x[k]) * system.stretch[k])
        if not length > 1e-14:
            break
        part = min(1.0, longest / length)
        for k in range(nv):
            step[k] = part * x[k] * system.scale[k]
        integrate(system.tree, q, step, 1.0, trial)
        _within(system, trial)
        linearise(system, trial, placed, gap, J)
        new_largest, new_square = 0.0, 0.0
        for i in range(m):
            new_largest, new_square = max(new_largest, abs(gap[i])), new_square + gap[i] * gap[i]
        if new_square < square * (1.0 - 1e-4 * part):
            slow = new_square > square * (1.0 - 1e-9) and damping > 0.0
            q[:] = trial
            largest, square = new_largest, new_square
            for k in range(nv):
                way[k] += part * x[k]
                moved = max(moved, abs(way[k]) * system.stretch[k])
            damping = 0.0 if damping < 1e-4 else 0.1 * damping
            if slow:
                break
        else:
            damping = max(10.0 * damping, 1e-3)
            lost = True
    if lost:
        linearise(system, q, placed, gap, J)
    return largest, moved, iteration


@njit(cache=True, error_model="numpy")
def tick(system: System, q: np.ndarray, placed: Placements, gap: np.ndarray, J: np.ndarray, state: np.ndarray) -> int:
    """Move towards the commands, in place; how it ended.

    Args:
        system: mechanism and commands.
        q: (nq,) configuration; untouched when its loops can't be closed.
        placed: bodies at ``q`` on return.
        gap: (rows,) gaps at ``q`` on return.
        J: (rows, nv) their derivative.
        state: damping (kept from tick to tick), largest gap of a loop, steps taken, half the square of the
            commands' gaps.
    """
    m, nv, numbers = system.closed, len(system.scale), system.numbers
    trial = q.copy()
    state[1], _, _ = close(system, trial, placed, gap, J, 0.5, 50)
    if not state[1] <= numbers.tolerance:
        return OPEN
    q[:] = trial
    lower, upper, x, wish, step = np.empty(nv), np.empty(nv), np.empty(nv), np.zeros(nv), np.empty(nv)
    held = np.empty(nv, np.int8)
    kept_gap, kept_J = gap.copy(), J.copy()
    status, refused, cap, wishing = MOVING, 0, numbers.step, False
    damping = max(state[0], numbers.damping)
    probing, probed = False, False
    for k in range(nv):
        if system.preference[k] > 0.0:
            wish[k] = system.preference[k] * (system.preferred[k] - q[system.position_of[k]]) / system.scale[k]
            wishing = wishing or abs(wish[k]) > 1e-9
    state[2] = 0.0
    for _ in range(numbers.iterations + _MAX_REFUSED):
        cost, worst = 0.0, 0.0
        for i in range(m, system.rows):
            cost += 0.5 * kept_gap[i] * kept_gap[i]
            worst = max(worst, abs(kept_gap[i]))
        if not cost < math.inf:
            return NOT_FINITE
        state[3] = cost
        if worst <= numbers.reach and not wishing:
            status = REACHED
            break
        if state[2] >= numbers.iterations:
            break
        _bounds(system, q, lower, upper)
        held[:] = system.locked
        linear = Linear(
            kept_J[:m], -kept_gap[:m], kept_J[m : system.rows], -kept_gap[m : system.rows], lower, upper, wish,
            system.groups,
        )  # fmt: skip
        bounded_step(linear, held, 1.0 if probing else damping, 0.0, numbers.rank, x)
        length = 0.0
        for k in range(nv):
            length = max(length, abs(x[k]) * system.stretch[k])
        part = min(1.0, (_PROBE if probing else cap) / length) if length > 0.0 else 1.0
        promised = cost
        for i in range(m, system.rows):
            left = kept_gap[i]
            for k in range(nv):
                left += part * kept_J[i, k] * x[k]
            promised -= 0.5 * left * left
        if not length > 0.01 * numbers.reach or (not (wishing or probing) and promised < 1e-9 * cost):
            # Nothing to first order. At a dead point a motion that the commands don't feel brings them nearer by its
            # square: one is tried.
            if probed:
                status = NEAREST
                break
            probing = probed = True
            for k in range(nv):
                wish[k] = 1.0 if k % 2 == 0 else -0.7
            continue
        for k in range(nv):
            step[k] = part * x[k] * system.scale[k]
        integrate(system.tree, q, step, 1.0, trial)
        _within(system, trial)
        state[1], moved, _ = close(system, trial, placed, gap, J, 0.5, _CLOSING_ITERATIONS)
        good = state[1] <= numbers.tolerance and moved <= 0.3 * part * length + 1e-9
        if good:
            new = 0.0
            for i in range(m, system.rows):
                new += 0.5 * gap[i] * gap[i]
            # A wish moves along what commands leave free: their gaps are then of second order, and next step's.
            second = part * length
            good = new <= cost - 1e-3 * promised or (wishing and new <= cost + second * second * second * second)
            if probing:
                good = new < (1.0 - _WORTH) * cost
        if probing and not good:
            status = NEAREST
            break
        if good:
            state[2] += 1.0
            q[:] = trial
            kept_gap[:] = gap
            kept_J[:] = J
            # Gaps that stay bend the problem, as those of goals out of reach: damping finds how much.
            if probing:
                probing = False
            elif cost - new > 0.75 * promised:
                damping = max(0.1 * damping, numbers.damping)
            elif cost - new < 0.25 * promised:
                damping = max(4.0 * damping, 1e-3)
            cap = min(2.0 * cap, numbers.step)
            wish[:] = 0.0
            wishing = False
        else:
            refused += 1
            if refused == 3:  # commands that can't be met bend away from a wish: they come first
                wish[:] = 0.0
                wishing = False
            damping = max(10.0 * damping, 1e-3)
            cap = 0.25 * part * length
            if refused >= _MAX_REFUSED:
                status = STUCK
                break
    state[0] = damping
    gap[:] = kept_gap
    J[:] = kept_J
    place_all(system.tree, q, placed)
    state[1] = 0.0
    for i in range(m):
        state[1] = max(state[1], abs(gap[i]))
    return status
