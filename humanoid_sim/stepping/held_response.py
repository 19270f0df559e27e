# SPDX-License-Identifier: Apache-2.0
"""What changes in a step when its state or a command changes a little and the constraint forces stay what they are.

All that is smooth in a step, made anew for each direction: placements, dynamics, contact points, shifts. No contact
problem is solved and no operator built. How the forces answer is in :mod:`humanoid_sim.linearisation`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_model.compiling import counted
from humanoid_model.tree.articulated_body import biased_acceleration, force_response
from humanoid_model.tree.forward_kinematics import integrate
from humanoid_model.tree.tree_motion import body_twists
from humanoid_sim.contact.block_nsgs import BILATERAL, CONTACT, DAMPER, ROLL, UNILATERAL
from humanoid_sim.detection.world_contacts import DetectionRecord, recorded_contacts
from humanoid_sim.stepping.constraints import collect_constraints
from humanoid_sim.stepping.joints import joint_loads
from humanoid_sim.stepping.rows_and_forces import (
    PENETRATION_SLOP,
    apply_constraint_forces,
    approach_shift,
    body_velocities,
    correction_velocity,
    gather_reactions,
    row_velocity,
)
from humanoid_sim.stepping.run_steps import DONE, NO_DETECTION_ROOM, NO_ROOM, begin, room
from humanoid_sim.stepping.second_order import fly, refine
from humanoid_sim.stepping.solve_groups import block_gap, correction_forces
from humanoid_sim.stepping.step_data import Step, StepSettings

SMALL = 1e-6
"""By so much a coordinate or a velocity is changed [m, rad, m/s, rad/s]."""
TOUCHING = PENETRATION_SLOP
"""A gap of less, open or penetrating, is that of a contact that lasts and stays as it is [m]."""
VANISHED = -20
"""What :func:`held_responses` returns where a contact that carries a force is found on no side of the state."""


class HeldConstraints(NamedTuple):
    """Constraints of a step as it was solved.

    Attributes:
        starts: first row of each block, and one behind the last row, shape (blocks + 1,).
        kinds: law of each block, shape (blocks,).
        parameters: of the laws of the forces, and of those that take penetrations back, shape (2, blocks).
        parents: see :class:`~humanoid_sim.contact.block_nsgs.BlockProblem`, shape (blocks,).
        memory: slot of a contact, coordinate of a joint or number of a loop, shape (blocks,).
        points: contact point of a block, or what it stands for, shape (blocks,).
        tangents: first tangent of the frame of the contact that a block belongs to, shape (blocks, 3).
        gaps: of contacts and limits [m], shape (blocks,).
        approach: normal velocity of a contact that bounces, at the start of the step, else zero, shape (blocks,).
        shifts: of the rows, shape (rows,).
        compliance: of the rows, shape (rows,).
        velocities: that the laws of the forces see, shape (rows,).
        forces: of the rows, and those that take penetrations back, shape (2, rows).
    """

    starts: NDArray[np.int64]
    kinds: NDArray[np.int64]
    parameters: NDArray[np.float64]
    parents: NDArray[np.int64]
    memory: NDArray[np.int64]
    points: NDArray[np.int64]
    tangents: NDArray[np.float64]
    gaps: NDArray[np.float64]
    approach: NDArray[np.float64]
    shifts: NDArray[np.float64]
    compliance: NDArray[np.float64]
    velocities: NDArray[np.float64]
    forces: NDArray[np.float64]


class HeldResponses(NamedTuple):
    """What the held forces lead to, by direction: nv of the configuration, none, nv of the velocity, the commands.

    Attributes:
        v: velocities at the end of the step, and by which penetrations are taken back, shape (directions, 2, nv).
        u: velocities of the rows, shifts included, of both, shape (directions, 2, rows).
        flight: velocities by which free bodies move that nothing touches, shape (directions, nv).
        changes: by how much the state was changed, shape (directions,).
        X: velocities that a unit of force along each row makes, shape (rows, nv).
        W: operator of the rows, shape (rows, rows).
    """

    v: NDArray[np.float64]
    u: NDArray[np.float64]
    flight: NDArray[np.float64]
    changes: NDArray[np.float64]
    X: NDArray[np.float64]
    W: NDArray[np.float64]


@counted()
def hold(step: Step, dt: float, max_iterations: int) -> HeldConstraints:
    """Return the constraints of the step that was just made."""
    blocks, groups, rows = step.blocks, step.groups, step.rows
    count, size = groups.counts[1], groups.counts[2]
    parameters, gaps, approach = np.zeros((2, count)), np.zeros(count), np.zeros(count)
    shifts, forces, tangents = blocks.shifts[:size].copy(), np.zeros((2, size)), np.zeros((count, 3))
    forces[0] = blocks.forces[:size]
    if size > 0:
        correction_forces(step, dt, max_iterations, np.inf, np.empty(size), forces[1])
    twists = step.articulated.accelerations
    body_velocities(step.model, step.motion.S, step.state.v_new, twists)
    for i in range(count):
        parameters[0, i], row = blocks.parameters[i], blocks.starts[i]
        if blocks.points[i] >= 0:
            tangents[i] = step.points.frames[blocks.points[i], 1]
        if blocks.kinds[i] == CONTACT:
            parameters[1, i] = blocks.parameters[i]
            if blocks.shifts[row] < 0.0 and blocks.compliance[row] == 0.0:
                approach[i] = row_velocity(rows, row, step.motion.twists, step.state.v)
                shifts[row] = blocks.velocities[row] - row_velocity(rows, row, twists, step.state.v_new)
        if blocks.kinds[i] == CONTACT or blocks.kinds[i] == UNILATERAL:
            gaps[i] = block_gap(step, i)
    return HeldConstraints(
        blocks.starts[: count + 1].copy(), blocks.kinds[:count].copy(), parameters, blocks.parents[:count].copy(),
        blocks.memory[:count].copy(), blocks.points[:count].copy(), tangents, gaps, approach, shifts,
        blocks.compliance[:size].copy(), blocks.velocities[:size].copy(), forces,
    )  # fmt: skip


@counted()
def _find_blocks(step: Step, held: HeldConstraints, places: np.ndarray) -> bool:
    """Find the held blocks among those of the step; whether all that carry a force are there."""
    blocks, found_all = step.blocks, True
    count = step.groups.counts[1]
    for i in range(held.kinds.size):
        places[i] = -1
        for n in range(count):
            b = i + n if i + n < count else i + n - count  # nearly always the first
            if (
                blocks.kinds[b] == held.kinds[i] and blocks.memory[b] == held.memory[i]
                and min(blocks.points[b], 0) == min(held.points[i], 0)
            ):  # fmt: skip
                places[i] = b
                break
        if places[i] < 0:
            loaded = held.kinds[i] == BILATERAL
            for row in range(held.starts[i], held.starts[i + 1]):
                loaded = loaded or held.forces[0, row] != 0.0 or held.forces[1, row] != 0.0
            found_all = found_all and not loaded
    return found_all


@counted()
def _align_tangents(step: Step, held: HeldConstraints, places: np.ndarray) -> None:
    """Turn the tangential rows of the held blocks to where they were: those of the step jump where normals turn."""
    blocks, wrenches = step.blocks, step.rows.wrenches
    for i in range(held.kinds.size):
        if places[i] < 0 or (held.kinds[i] != CONTACT and held.kinds[i] != ROLL and held.kinds[i] != DAMPER):
            continue
        frame, old = step.points.frames[blocks.points[places[i]]], held.tangents[i]
        c, s = frame[1] @ old, frame[2] @ old
        size = math.hypot(c, s)
        c, s = c / size, s / size
        row = blocks.starts[places[i] + 1] - 2
        for r in range(6):
            w_1, w_2 = wrenches[row, r], wrenches[row + 1, r]
            wrenches[row, r], wrenches[row + 1, r] = c * w_1 + s * w_2, c * w_2 - s * w_1
        s_1, s_2 = blocks.shifts[row], blocks.shifts[row + 1]
        blocks.shifts[row], blocks.shifts[row + 1] = c * s_1 + s * s_2, c * s_2 - s * s_1


@counted()
def _shift(step: Step, held: HeldConstraints, i: int, b: int, dt: float) -> float:
    """Shift of the first row of a held block, block ``b`` now, on the branch on which it was solved."""
    blocks, old = step.blocks, held.shifts[held.starts[i]]
    row = blocks.starts[b]
    if (held.kinds[i] != CONTACT and held.kinds[i] != UNILATERAL) or blocks.compliance[row] > 0.0:
        return float(blocks.shifts[row])
    if held.approach[i] < 0.0:  # part of Newton's rebound, that which energy allowed
        return float(old * row_velocity(step.rows, row, step.motion.twists, step.state.v) / held.approach[i])
    if old <= TOUCHING / dt:
        return float(old)
    return approach_shift(block_gap(step, b), 0.0, 0.0, 0.0, np.inf, dt)


@counted()
def _push(step: Step, held: HeldConstraints, places: np.ndarray, dt: float, v: np.ndarray) -> None:
    """Add what the held forces, of both sorts, change in velocities, shape (2, nv)."""
    forces = np.zeros(step.groups.counts[2])
    for part in range(2):
        acts = False
        for i in range(held.kinds.size):
            for n in range(held.starts[i + 1] - held.starts[i] if places[i] >= 0 else 0):
                forces[step.blocks.starts[places[i]] + n] = held.forces[part, held.starts[i] + n]
                acts = acts or held.forces[part, held.starts[i] + n] != 0.0
        if acts:
            apply_constraint_forces(step, forces, dt, v[part])


@counted()
def _see(
    step: Step, held: HeldConstraints, places: np.ndarray, dt: float, v: np.ndarray, u: np.ndarray
) -> None:
    """Velocities along the held rows, with their shifts, shape (2, rows), of velocities, shape (2, nv)."""
    blocks, twists = step.blocks, step.articulated.accelerations
    for part in range(2):
        body_velocities(step.model, step.motion.S, v[part], twists)
        for i in range(held.kinds.size):
            b = places[i]
            for n in range(held.starts[i + 1] - held.starts[i] if b >= 0 else 0):
                row = blocks.starts[b] + n
                shift = 0.0
                if part == 0:
                    shift = _shift(step, held, i, b, dt) if n == 0 else blocks.shifts[row]
                elif n == 0 and (held.kinds[i] == CONTACT or held.kinds[i] == UNILATERAL):
                    gap = held.gaps[i] if abs(held.gaps[i]) <= TOUCHING else block_gap(step, b)
                    shift = correction_velocity(gap, dt)[0]
                u[part, held.starts[i] + n] = row_velocity(step.rows, row, twists, v[part]) + shift


@counted()
def _move_on(step: Step, dt: float) -> None:
    """Velocity without constraint forces, gyroscopic terms explicit, at the configuration that is there."""
    state, joints = step.state, step.joints
    body_twists(step.model, state.v, step.motion)
    joint_loads(step.model.armature, state.v, joints, dt)
    biased_acceleration(step.model, step.motion, joints.loads, state.wrenches, step.articulated, state.rate)
    for k in range(state.v.size):
        state.v_free[k] = state.v[k] + dt * state.rate[k]


@counted(nogil=True)
def held_responses(
    step: Step,
    detection: DetectionRecord,
    start: tuple[np.ndarray, np.ndarray],
    held: HeldConstraints,
    commands: np.ndarray,
    settings: StepSettings,
    out: HeldResponses,
) -> int:
    """Make a step's smooth part in all directions, then the operator of its constraints.

    Args:
        step: the step.
        detection: the compiled detection; slots must be those of the step that was solved.
        start: configuration and velocity of the step.
        held: its constraints.
        commands: coordinates whose efforts change, shape (n,).
        settings: constants of the steps.
        out: receives it, zero before.

    Returns:
        ``DONE``, ``VANISHED``, or what there is no room for, as of
        :func:`~humanoid_sim.stepping.run_steps.run_steps`.
    """
    (q, v), dt, nv = start, settings.dt, start[1].size
    own_q, direction, state = q.copy(), np.zeros(nv), step.state
    places, pushed, m = np.empty(held.kinds.size, dtype=np.int64), np.empty((2, nv)), 0
    found = False
    feedforward = step.joints.feedforward
    for d in range(2 * nv + 1 + commands.size):
        for side in range(2):
            change = SMALL if side == 0 else -SMALL
            if d <= nv:
                if d < nv:
                    direction[d] = change
                    integrate(step.model, q, direction, 1.0, own_q)
                    direction[d] = 0.0
                begin(step, own_q if d < nv else q, v, dt, False)
            else:
                for r in range(nv):
                    state.v[r] = v[r]
                if d <= 2 * nv:
                    state.v[d - nv - 1] += change
                    _move_on(step, dt)
                else:
                    k, change = commands[d - 2 * nv - 1], 1.0  # efforts act linearly
                    feedforward[k] += change
                    _move_on(step, dt)
                    feedforward[k] -= change
                refine(step, dt)
            refine(step, dt)  # once more, so that what its iterations leave is far below the change
            if step.flight.bodies.size > 0:
                fly(step, dt)
            if d <= nv:
                m = recorded_contacts(
                    detection, step.motion.rotations, step.motion.origins, step.motion.twists, settings.margin, dt
                )[0]
                if m < 0:
                    return NO_DETECTION_ROOM + m
            if d <= 2 * nv + 1:
                if not room(step, m, dt):
                    return NO_ROOM
                collect_constraints(step, m, dt)
                found = _find_blocks(step, held, places)
                _align_tangents(step, held, places)
            if found:
                out.changes[d] = change
                break
            if side == 1:
                return VANISHED
        if d <= nv:
            pushed[:] = 0.0
            _push(step, held, places, dt, pushed)
        for j in range(nv):
            out.v[d, 0, j], out.v[d, 1, j] = state.v_free[j] + pushed[0, j], pushed[1, j]
            out.flight[d, j] = step.flight.velocity[j]
        _see(step, held, places, dt, out.v[d], out.u[d])
    unit = np.zeros(step.groups.counts[2])
    twists, rate = step.articulated.accelerations, step.state.rate
    for i in range(held.kinds.size):
        for n in range(held.starts[i + 1] - held.starts[i] if places[i] >= 0 else 0):
            row, own = step.blocks.starts[places[i]] + n, held.starts[i] + n
            unit[row] = 1.0
            gather_reactions(step, unit)
            unit[row] = 0.0
            force_response(
                step.model, step.motion.S, step.articulated, step.state.reactions, step.state.thrusts, rate
            )
            for j in range(nv):
                out.X[own, j] = dt * rate[j]
            body_velocities(step.model, step.motion.S, out.X[own], twists)
            for i_2 in range(held.kinds.size):
                for n_2 in range(held.starts[i_2 + 1] - held.starts[i_2] if places[i_2] >= 0 else 0):
                    other = step.blocks.starts[places[i_2]] + n_2
                    out.W[own, held.starts[i_2] + n_2] = row_velocity(step.rows, other, twists, out.X[own])
            out.W[own, own] += step.blocks.compliance[row]
    return DONE
