# SPDX-License-Identifier: Apache-2.0
"""The stages of a step, each one compiled call; whole steps in one call; and steps that follow controls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_model.apart import apart
from humanoid_model.compiling import uncounted
from humanoid_model.tree.articulated_body import articulated_body
from humanoid_model.tree.forward_kinematics import integrate
from humanoid_model.tree.tree_motion import move_tree
from humanoid_sim.contact.clock import seconds
from humanoid_sim.detection.world_contacts import DetectionRecord, recorded_contacts
from humanoid_sim.stepping.constraints import collect_constraints, count_constraints
from humanoid_sim.stepping.joints import (
    LAWS_HOLD,
    LOST,
    STATES_CHANGED,
    add_holding_efforts,
    change_locks,
    drive_efforts,
    joint_loads,
    judge_locks,
    load_locked,
    lock_joints,
    mark_solved,
    position_errors,
    start_anew,
    unlock_joints,
)
from humanoid_sim.stepping.operators import build_operators, gather_bodies
from humanoid_sim.stepping.rows_and_forces import (
    apply_constraint_forces,
    end_wrenches,
    first_not_finite,
    free_velocities,
    gather_reactions,
    gather_wrenches,
    give_up,
    remember_forces,
)
from humanoid_sim.stepping.second_order import displacement_velocity, fly, refine, remember_pull
from humanoid_sim.stepping.solve_groups import (
    correction_forces,
    is_penetrating,
    may_be_at_rest,
    remember_rest,
    solve_all,
    still_solved,
)
from humanoid_sim.stepping.step_data import SolverSettings, Step, StepSettings

_LOCKED_TRIES = 4
"""Sets of locked joints that are tried before all rows are solved for."""
NO_ROOM, NO_OPERATOR_ROOM = -2, -3
"""What :func:`advance` returns where arrays have to grow."""


@apart(error_model="numpy", _nrt=False)
def move(step: Step, q: np.ndarray, v: np.ndarray) -> None:
    """Take a state, move all bodies to it and the targets of joints that mimic others to where those are."""
    state, joints = step.state, step.joints
    step.locks.on[0] = 0
    for i in range(q.size):
        state.q[i] = q[i]
    for k in range(v.size):
        state.v[k] = v[k]
        state.saturated[k] = joints.saturated[k]
    for i in range(joints.mimics.shape[0]):
        joints.q_target[joints.mimics[i, 0]] = (
            joints.mimic_laws[i, 0] * state.q[joints.mimics[i, 1]] + joints.mimic_laws[i, 1]
        )
    move_tree(step.model, state.q, state.v, step.motion)
    position_errors(step.model, state.q, joints)


@apart(error_model="numpy", _nrt=False)
def free_motion(step: Step, dt: float) -> None:
    """Velocity at the end of the step without constraint forces, by the articulated-body recursion."""
    state, joints, locked = step.state, step.joints, step.locks.on[0] != 0
    joint_loads(step.model.armature, state.v, joints, dt)
    if locked:
        load_locked(step, dt)
    articulated_body(
        step.model, step.motion, joints.loads, joints.own_inertia, state.wrenches, step.articulated, state.rate
    )
    for k in range(state.v.size):
        state.v_free[k] = 0.0 if locked and step.locks.held[k] else state.v[k] + dt * state.rate[k]
    refine(step, dt)
    if locked:
        add_holding_efforts(step)
    if step.flight.bodies.size > 0:
        fly(step, dt)


@uncounted()
def begin(step: Step, q: np.ndarray, v: np.ndarray, dt: float, may_lock: bool) -> None:
    """:func:`move`, the wrenches that act and :func:`free_motion` in one call; with joints locked where they may be."""
    move(step, q, v)
    gather_wrenches(step)
    if may_lock:
        lock_joints(step, dt)
    free_motion(step, dt)


@apart(error_model="numpy", _nrt=False)
def complete_operators(step: Step, method: int, dt: float) -> None:
    """Build the operators of all rows, if joints were locked, for who reads them after the solve."""
    if step.locks.on[0] != 0:
        unlock_joints(step)
        mark_solved(step)
        free_motion(step, dt)
        build_operators(step, method, dt)


@uncounted()
def room(step: Step, m: int, dt: float) -> bool:
    """Count what the constraints of ``m`` contact points need; whether there is room for it."""
    count_constraints(step, m, dt)
    groups, blocks = step.groups, step.blocks
    return bool(
        groups.counts[1] <= blocks.kinds.size
        and groups.counts[2] <= blocks.forces.size
        and groups.counts[3] <= groups.W.size
    )


@uncounted()
def constrain(step: Step, m: int, dt: float) -> bool:
    """Write all constraints and list the bodies that they act on; whether there is room for their operators."""
    collect_constraints(step, m, dt)
    mark_solved(step)
    gather_bodies(step)
    groups = step.groups
    largest = 0
    for t in range(groups.sizes.size):
        largest = max(largest, groups.sizes[t])
    return bool(groups.counts[4] <= groups.omega.shape[0] and 2 * largest <= groups.reach.shape[0])


@uncounted()
def pose_problems(step: Step, method: int, dt: float, impact_speed: float) -> None:
    """Free velocities and operators of all groups."""
    free_velocities(step, dt, impact_speed)
    build_operators(step, method, dt)


@uncounted()
def respond(step: Step, dt: float) -> bool:
    """Velocity at the end under the constraint forces; whether other actuators saturate than was assumed."""
    state = step.state
    for k in range(state.v.size):
        state.v_new[k] = state.v_free[k]
    apply_constraint_forces(step, step.blocks.forces, dt, state.v_new)
    return drive_efforts(state.v_new, step.joints, dt)


@apart(error_model="numpy")
def finish(step: Step, m: int, dt: float, max_iterations: int, deadline: float, may_have_sunk: bool) -> int:
    """Take penetrations back if there may be any, move the configuration, remember the forces.

    Returns:
        -1 if all numbers of the state at the end are finite. Else nothing is remembered, and this is the first
        coordinate whose velocity is not finite, or, if all velocities are, nv and the place of the first such number of
        the configuration.
    """
    state, groups = step.state, step.groups
    wrong = first_not_finite(state.v_new)
    if wrong < 0:
        rows = groups.counts[2]
        velocity = state.v_new
        if rows > 0 and may_have_sunk and is_penetrating(step, dt):
            wanted, forces = np.empty(rows), np.empty(rows)
            correction_forces(step, dt, max_iterations, deadline, wanted, forces)
            velocity = state.v_new.copy()
            apply_constraint_forces(step, forces, dt, velocity)
            gather_reactions(step, step.blocks.forces)
        integrate(step.model, state.q, displacement_velocity(step, velocity, dt), dt, state.q_new)
        wrong = first_not_finite(state.q_new)
        if wrong >= 0:
            wrong += state.v.size
    if wrong >= 0:
        give_up(step)
        return wrong
    remember_forces(step, m)
    remember_pull(step)
    return -1


@apart(error_model="numpy", _nrt=False)
def advance(
    step: Step,
    m: int,
    settings: StepSettings,
    times: np.ndarray,
) -> int:
    """All stages after detection in one call.

    Args:
        step: the step, after :func:`begin`.
        m: number of contact points.
        settings: constants of the steps; what is over when their budget ends is one sweep of each group.
        times: receives the seconds of assembly, of the solves and of the rest, shape (3,).

    Returns:
        -1 if all went well, what :func:`finish` says of a state that is not finite, or :data:`NO_ROOM` and
        :data:`NO_OPERATOR_ROOM` where arrays have to grow first; nothing has changed then.

    Where the forces of the last step still solve this one's problems, the operators are not built at all. Else joints
    are locked where they may be; where that doesn't lead to the end, they are let go and all rows solved for.
    """
    dt, tolerance, clock = settings.dt, settings.tolerance, step.clock.work
    times[0] = times[1] = times[2] = 0.0
    mark = seconds(clock)
    if not room(step, m, dt):
        return NO_ROOM
    if not constrain(step, m, dt):
        return NO_OPERATOR_ROOM
    resting = may_be_at_rest(step)
    if resting:
        free_velocities(step, dt, settings.impact_speed)
        saturated = respond(step, dt)
        now = seconds(clock)
        times[0] += now - mark
        resting = not saturated and still_solved(step, tolerance) and not is_penetrating(step, dt)
        mark = seconds(clock)
        times[1] += mark - now
        if saturated:
            free_motion(step, dt)
    if not resting and settings.newton and step.locks.on[0] == 0:
        lock_joints(step, dt)
        if step.locks.on[0] != 0:
            mark_solved(step)
            free_motion(step, dt)
    passes, tries = settings.passes, _LOCKED_TRIES
    while not resting:
        pose_problems(step, settings.delassus, dt, settings.impact_speed)
        now = seconds(clock)
        times[0] += now - mark
        deadline = now + settings.budget - times[1]
        solve_all(step, SolverSettings(settings.newton, tolerance, settings.max_iterations, deadline, dt))
        mark = seconds(clock)
        times[1] += mark - now
        saturated = respond(step, dt)
        if step.locks.on[0] != 0:
            tries -= 1
            verdict = judge_locks(step, dt, tolerance)
            if verdict == LAWS_HOLD and not saturated:
                break
            if tries == 0 or verdict == LOST or (verdict == STATES_CHANGED and not change_locks(step, dt)):
                start_anew(step)
                constrain(step, m, dt)
            else:
                mark_solved(step)
        else:
            passes -= 1
            if passes == 0 or not saturated:
                break
        free_motion(step, dt)
    if not resting and step.locks.on[0] != 0 and is_penetrating(step, dt):
        complete_operators(step, settings.delassus, dt)
    remember_rest(step)
    wrong = finish(step, m, dt, settings.max_iterations, mark + settings.budget - times[1], not resting)
    times[2] += seconds(clock) - mark
    return wrong


@dataclass(frozen=True)
class UnsolvedSteps:
    """Some steps that were not solved.

    Attributes:
        count: how many.
        worst: largest relative residual among them; 0 if there are none.
        iterations: of the solver in the step with that residual.
    """

    count: int
    worst: float
    iterations: int


@uncounted()
def note_unsolved(step: Step, tolerance: float) -> None:
    """Add the last step, which has contacts, to ``step.clock.unsolved`` if its residual is above the tolerance."""
    groups, unsolved = step.groups, step.clock.unsolved
    residual, iterations = 0.0, 0
    for g in range(groups.counts[0]):
        residual = max(residual, groups.residuals[g, 0])
        iterations = max(iterations, groups.iterations[g])
    if residual <= tolerance:
        return
    if unsolved[0] == 0.0 or residual > unsolved[1]:
        unsolved[1], unsolved[2] = residual, np.float64(iterations)
    unsolved[0] += 1.0


DONE, NO_DETECTION_ROOM = -1, -10
"""How :func:`run_steps` ends besides what :func:`advance` says; what the detection lacks
is added to the second."""
DYNAMICS, DETECTION, ASSEMBLY = 1, 2, 3
"""Places of the stages in the times, see :data:`~humanoid_sim.stepping.profile.STAGES`."""


@apart(error_model="numpy", _nrt=False, nogil=True)  # other threads answer meanwhile
def run_steps(
    step: Step, record: DetectionRecord, q: np.ndarray, v: np.ndarray, steps: int, settings: StepSettings
) -> tuple[int, int]:
    """Return some steps from a state; each is what :class:`~humanoid_sim.simulation.Simulation` describes.

    The state before the last step is in ``step.state.q`` and ``v``, the one after it in ``q_new`` and ``v_new``. Where
    a step can't be made, the state before it is in ``step.state.q`` and ``v``.

    Args:
        step: the step; its contact points are those of the record. Its ``clock`` receives the seconds of the last step
            by stage, but for what acts around the step, and their sums, the longest step, the last number of contact
            points and the steps that were not solved.
        record: the compiled detection.
        q: configuration to begin with, shape (nq,).
        v: velocity to begin with, shape (nv,).
        steps: how many.
        settings: constants of the steps.

    Returns:
        Number of steps made; and ``DONE``, or what was in the way of the next one.
    """
    state, motion = step.state, step.motion
    clock, last, sums, longest = step.clock.work, step.clock.last, step.clock.sums, step.clock.longest
    for done in range(steps):
        start = seconds(clock)
        begin(step, q, v, settings.dt, settings.newton and step.groups.was_solved[0] < 0)
        q, v = state.q_new, state.v_new
        moved = seconds(clock)
        m = recorded_contacts(record, motion.rotations, motion.origins, motion.twists, settings.margin, settings.dt)[0]
        if m < 0:
            return done, NO_DETECTION_ROOM + m
        last[DYNAMICS] = moved - start
        last[DETECTION] = seconds(clock) - moved
        end = advance(step, m, settings, last[ASSEMBLY:])
        if end != DONE:
            return done, end
        end_wrenches(step.pushes)
        step.clock.contacts[0] = m
        if m > 0:
            note_unsolved(step, settings.tolerance)
        total = 0.0
        for stage in range(DYNAMICS, last.size):
            sums[stage] += last[stage]
            total += last[stage]
        longest[0] = max(longest[0], total)
    return steps, DONE


class RollControls(NamedTuple):
    """What drives the steps.

    Attributes:
        values: target positions, or efforts, by step, shape (steps, n); no columns where nothing is controlled.
        rates: target velocities by step, shape (steps, n), or no columns for zero.
        q_places: where the configuration has the joints, shape (n,).
        v_places: where the velocity has them, shape (n,).
        by_effort: whether the values are efforts, shape (1,).
    """

    values: NDArray[np.float64]
    rates: NDArray[np.float64]
    q_places: NDArray[np.int64]
    v_places: NDArray[np.int64]
    by_effort: NDArray[np.bool_]


class RollRecord(NamedTuple):
    """What is written down after each step.

    Attributes:
        q: configurations, shape (steps, nq).
        v: velocities, shape (steps, nv).
        contacts: numbers of contact points, shape (steps,).
        joints: joints whose wrenches are written down, shape (k,).
        wrenches: those of contacts and loops at the world origin, force first, shape (steps, k, 6).
    """

    q: NDArray[np.float64]
    v: NDArray[np.float64]
    contacts: NDArray[np.int64]
    joints: NDArray[np.int64]
    wrenches: NDArray[np.float64]


@uncounted()
def control(step: Step, controls: RollControls, i: int) -> None:
    """Give the drives what the controls say for step ``i``."""
    joints, with_rates = step.joints, controls.rates.shape[1] > 0
    for n in range(controls.values.shape[1]):
        k = controls.v_places[n]
        if controls.by_effort[0]:
            joints.feedforward[k] = controls.values[i, n]
        else:
            joints.q_target[controls.q_places[n]] = controls.values[i, n]
            joints.v_target[k] = controls.rates[i, n] if with_rates else 0.0


@uncounted(nogil=True)
def roll(
    step: Step,
    detection: DetectionRecord,
    start: tuple[np.ndarray, np.ndarray],
    first: int,
    controls: RollControls,
    record: RollRecord,
    settings: StepSettings,
) -> tuple[int, int]:
    """Make steps from the number ``first`` on until the record is full.

    Args:
        step: the step.
        detection: the compiled detection.
        start: configuration and velocity to begin with.
        first: number of the first step to make.
        controls: what drives the steps.
        record: receives what they pass through.
        settings: constants of the steps.

    Returns:
        Number of the step that could not be made, and what was in its way, as of
        :func:`run_steps`; the number of all steps and ``DONE`` if all were made.
    """
    (q, v), state = start, step.state
    for i in range(first, record.contacts.size):
        control(step, controls, i)
        _, end = run_steps(step, detection, q, v, 1, settings)
        if end != DONE:
            return i, end
        q, v = state.q_new, state.v_new
        for r in range(q.size):
            record.q[i, r] = q[r]
        for k in range(v.size):
            record.v[i, k] = v[k]
        record.contacts[i] = step.clock.contacts[0]
        for n in range(record.joints.size):
            for r in range(6):
                record.wrenches[i, n, r] = state.reactions[record.joints[n], r]
    return record.contacts.size, DONE
