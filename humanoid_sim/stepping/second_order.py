# SPDX-License-Identifier: Apache-2.0
r"""Free motion of second order: gyroscopic terms at the middle of the step.

Velocities and configurations stagger: :math:`v^+ = v + \delta t\,a`, then :math:`q^+ = q \oplus \delta t\,v^+`, so
that q is the configuration in the middle between v and :math:`v^+`. With accelerations at q and at the mean velocity
:math:`\tfrac12(v + v^+)` the step is symmetric in time: energy oscillates by terms of first order and doesn't drift.
The mean velocity is found by iteration: Coriolis forces anew, with the inertias of the recursion.

A free body that nothing touches obeys the conserving algorithm of J. Simo and K. Wong, Unconditionally stable
algorithms for rigid body dynamics that exactly preserve energy and momentum, 1991: with
:math:`R^+ = R\exp(\tfrac{\delta t}{2}(\Omega + \Omega^+))` its angular momentum :math:`R^+ I \Omega^+` changes
by :math:`\delta t` times the torque, and no energy is made. Its centre of mass moves with the mean of both
velocities, which is exact under gravity.

:class:`PinocchioDynamics` is the plain counterpart of the articulated-body recursions, from Pinocchio's matrices:
inertia by the composite rigid body algorithm, bias efforts by recursive Newton-Euler, the Delassus operator as
:math:`\delta t\,J H^{-1} J^T` with dense matrices (thesis §3.1.4.1 rejects it as too costly and keeps it to compare
with).
"""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from humanoid_model.apart import apart
from humanoid_model.arrays import Records
from humanoid_model.compiling import counted, uncounted
from humanoid_model.tree.articulated_body import biased_acceleration
from humanoid_model.tree.kinematic_tree import SPHERICAL, TRANSLATION, KinematicTree
from humanoid_model.tree.tree_motion import TreeMotion, body_twists
from humanoid_sim.contact.block_nsgs import CONTACT
from humanoid_sim.delassus.constraint_rows import ConstraintRows
from humanoid_sim.stepping.constraints import leader
from humanoid_sim.stepping.joints import stop_locked
from humanoid_sim.stepping.operators import add_compliance
from humanoid_sim.stepping.rows_and_forces import body_velocities, row_velocity
from humanoid_sim.stepping.solve_groups import bounces
from humanoid_sim.stepping.step_data import BlockArrays, FlightArrays, GroupArrays, JointArrays, StateArrays, Step
from humanoid_sim.world.world import whole_world_data

SLOW = 1e-4
"""Bodies that turn by less in a step are not worth an iteration [rad]."""
ACCURACY = 1e-7
"""Velocities of the mean are known to this angle within the step [rad]."""
MOST_ITERATIONS = 8
_NEWTON_ITERATIONS = 20
_TURNING = 1e-6
_TOO_FAST = 1.0
"""Free bodies that turn by less, or by more, in a step keep the velocity of the recursion [rad]."""


def free_bodies(model: KinematicTree, closed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ball joints of free bodies, and the joints of all that isn't one.

    Args:
        model: the tree.
        closed: joints that loops hold, shape (any,).
    """
    n = model.joints.size
    has_children = np.isin(np.arange(n), model.joints["parent"][1:])

    def is_free(slide: Records, turn: Records) -> bool:
        return bool(
            turn["kind"] == SPHERICAL and slide["kind"] == TRANSLATION and slide["parent"] == 0 and slide["mass"] == 0.0
            and np.array_equal(slide["rotation"], np.eye(3)) and np.array_equal(turn["rotation"], np.eye(3))
            and not turn["translation"].any() and not model.armature[slide["idx_v"] : turn["idx_v"] + 3].any()
        )  # fmt: skip

    bodies = [
        j
        for j in range(2, n)
        if model.joints["parent"][j] == j - 1 and not has_children[j] and j not in closed
        and is_free(model.joints[j - 1], model.joints[j])
    ]  # fmt: skip
    rest = np.setdiff1d(np.arange(1, n), bodies)
    return np.array(bodies, dtype=np.int64), rest.astype(np.int64)


@uncounted()
def turning(step: Step) -> float:
    """Return the largest angular velocity of what isn't a free body, at the start of the step [rad/s]."""
    square = 0.0
    twists = step.motion.twists
    for j in step.flight.joints:
        square = max(square, twists[j, 3] ** 2 + twists[j, 4] ** 2 + twists[j, 5] ** 2)
    return math.sqrt(square)


@apart(error_model="numpy", _nrt=False)
def refine(step: Step, dt: float) -> None:
    """Let the gyroscopic forces be those of the mean velocity of the step; ``state.v_free`` is changed."""
    state, flight, middle = step.state, step.flight, step.middle
    for k in range(state.v.size):
        flight.mean[k] = state.v[k]
    if not dt * turning(step) > SLOW:
        return
    locked = step.locks.on[0] != 0
    for _ in range(MOST_ITERATIONS):
        for k in range(state.v.size):
            flight.mean[k] = 0.5 * (state.v[k] + state.v_free[k] + flight.pull[k])
        body_twists(step.model, flight.mean, middle)
        if locked:
            stop_locked(step, middle, dt)
        biased_acceleration(step.model, middle, step.joints.loads, state.wrenches, step.articulated, state.rate)
        change = 0.0
        for k in range(state.v.size):
            new = state.v[k] + dt * state.rate[k]
            if locked and step.locks.held[k]:
                new = 0.0
            change = max(change, abs(new - state.v_free[k]))
            state.v_free[k] = new
        if not dt * change > ACCURACY:
            break


@uncounted()
def _turned(x: float, y: float, z: float, p: np.ndarray, out: np.ndarray) -> None:
    """Turn a vector p by the rotation vector (x, y, z)."""
    square = x * x + y * y + z * z
    angle = math.sqrt(square)
    if angle < 1e-4:
        s, c = 1.0 - square / 6.0, 0.5 - square / 24.0
    else:
        s, c = math.sin(angle) / angle, (1.0 - math.cos(angle)) / square
    a_0, a_1, a_2 = y * p[2] - z * p[1], z * p[0] - x * p[2], x * p[1] - y * p[0]
    out[0] = p[0] + s * a_0 + c * (y * a_2 - z * a_1)
    out[1] = p[1] + s * a_1 + c * (z * a_0 - x * a_2)
    out[2] = p[2] + s * a_2 + c * (x * a_1 - y * a_0)


@counted()
def _spin(inertia: np.ndarray, before: np.ndarray, momentum: np.ndarray, dt: float, after: np.ndarray) -> None:
    r"""Solve :math:`\exp(\tfrac{\delta t}{2}(\Omega + \Omega^+)) I \Omega^+ = h` for the angular velocity at the end.

    Args:
        inertia: I, in the axes of the body [kg m^2], shape (3, 3).
        before: angular velocity at the start, in the axes of the body then [rad/s], shape (3,).
        momentum: h, angular momentum at the end, in the same axes, shape (3,).
        dt: time step [s].
        after: first guess; receives the angular velocity in the axes of the body at the end, shape (3,).
    """
    p, rest = np.empty(3), np.empty(3)
    half = 0.5 * dt
    for _ in range(_NEWTON_ITERATIONS):
        _turned(
            -half * (before[0] + after[0]), -half * (before[1] + after[1]), -half * (before[2] + after[2]), momentum, p
        )
        for r in range(3):
            rest[r] = p[r] - inertia[r, 0] * after[0] - inertia[r, 1] * after[1] - inertia[r, 2] * after[2]
        # the derivative of the turned momentum but for terms of dt squared
        m_00, m_11, m_22 = inertia[0, 0], inertia[1, 1], inertia[2, 2]
        m_01, m_10 = inertia[0, 1] + half * p[2], inertia[1, 0] - half * p[2]
        m_02, m_20 = inertia[0, 2] - half * p[1], inertia[2, 0] + half * p[1]
        m_12, m_21 = inertia[1, 2] + half * p[0], inertia[2, 1] - half * p[0]
        c_0, c_1, c_2 = m_11 * m_22 - m_12 * m_21, m_12 * m_20 - m_10 * m_22, m_10 * m_21 - m_11 * m_20
        inverse = 1.0 / (m_00 * c_0 + m_01 * c_1 + m_02 * c_2)
        d_0 = inverse * (
            c_0 * rest[0] + (m_02 * m_21 - m_01 * m_22) * rest[1] + (m_01 * m_12 - m_02 * m_11) * rest[2]
        )
        d_1 = inverse * (
            c_1 * rest[0] + (m_00 * m_22 - m_02 * m_20) * rest[1] + (m_02 * m_10 - m_00 * m_12) * rest[2]
        )
        d_2 = inverse * (
            c_2 * rest[0] + (m_01 * m_20 - m_00 * m_21) * rest[1] + (m_00 * m_11 - m_01 * m_10) * rest[2]
        )
        after[0] += d_0
        after[1] += d_1
        after[2] += d_2
        size = abs(after[0]) + abs(after[1]) + abs(after[2])
        if not abs(d_0) + abs(d_1) + abs(d_2) > 1e-13 * size:
            break


@uncounted()
def _is_driven(joints: JointArrays, first: int) -> bool:
    """Whether efforts, springs or damping of its own act on a free body, whose coordinates begin here."""
    acts = False
    for k in range(first, first + 6):
        acts = acts or joints.loads[k] != 0.0 or joints.own_inertia[k] != 0.0
    return acts


@apart(error_model="numpy")
def fly(step: Step, dt: float) -> None:
    """Velocities of free bodies at the end of the step without contact forces, and those by which they move in it."""
    model, motion, state, velocity = step.model, step.motion, step.state, step.flight.velocity
    momentum, after, lever, moved = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for j in step.flight.bodies:
        first, k = model.joints[j - 1].idx_v, model.joints[j].idx_v
        if _is_driven(step.joints, first):
            for r in range(first, k + 3):
                velocity[r] = state.v_free[r]
            continue
        R, centre, w = motion.rotations[j], model.joints[j].lever, state.wrenches[j]
        before, m = state.v[k : k + 3], model.joints[j].mass
        for r in range(3):
            lever[r] = R[r, 0] * centre[0] + R[r, 1] * centre[1] + R[r, 2] * centre[2]
            after[r] = state.v_free[k + r]
        x, y, z = motion.origins[j, 0] + lever[0], motion.origins[j, 1] + lever[1], motion.origins[j, 2] + lever[2]
        turns = dt * (abs(before[0]) + abs(before[1]) + abs(before[2]))
        if _TURNING < turns < _TOO_FAST and dt * (abs(after[0]) + abs(after[1]) + abs(after[2])) < _TOO_FAST:
            t_0 = w[3] - y * w[2] + z * w[1]
            t_1 = w[4] - z * w[0] + x * w[2]
            t_2 = w[5] - x * w[1] + y * w[0]
            inertia = model.joints[j].inertia
            for r in range(3):
                momentum[r] = (
                    inertia[r, 0] * before[0] + inertia[r, 1] * before[1] + inertia[r, 2] * before[2]
                    + dt * (R[0, r] * t_0 + R[1, r] * t_1 + R[2, r] * t_2)
                )  # fmt: skip
            _spin(inertia, before, momentum, dt, after)
        for r in range(3):
            state.v_free[k + r] = after[r]
            velocity[k + r] = 0.5 * (before[r] + after[r])
        # the centre of mass: by its velocity before and after; then the origin of the body, which turns about it
        if centre[0] == 0.0 and centre[1] == 0.0 and centre[2] == 0.0:
            for r in range(3):
                change = dt * (model.gravity[r] + w[r] / m)
                velocity[first + r] = state.v[first + r] + 0.5 * change
                state.v_free[first + r] = state.v[first + r] + change
            continue
        _turned(dt * velocity[k], dt * velocity[k + 1], dt * velocity[k + 2], centre, moved)
        b_0, b_1 = before[1] * centre[2] - before[2] * centre[1], before[2] * centre[0] - before[0] * centre[2]
        b_2 = before[0] * centre[1] - before[1] * centre[0]
        momentum[0] = after[1] * centre[2] - after[2] * centre[1]
        momentum[1] = after[2] * centre[0] - after[0] * centre[2]
        momentum[2] = after[0] * centre[1] - after[1] * centre[0]
        _turned(dt * velocity[k], dt * velocity[k + 1], dt * velocity[k + 2], momentum, after)
        for r in range(3):
            change = dt * (model.gravity[r] + w[r] / m)
            start = state.v[first + r] + R[r, 0] * b_0 + R[r, 1] * b_1 + R[r, 2] * b_2
            there = R[r, 0] * moved[0] + R[r, 1] * moved[1] + R[r, 2] * moved[2]
            velocity[first + r] = start + 0.5 * change - (there - lever[r]) / dt
            state.v_free[first + r] = start + change - R[r, 0] * after[0] - R[r, 1] * after[1] - R[r, 2] * after[2]


@uncounted()
def _mean_share(step: Step, group: int, dt: float) -> float:
    """Return how far free bodies of a group in which something bounces move with the mean of both velocities, 0 to 1.

    When a body bounces within the step isn't known: moved by the velocity after it alone, it would also rise by what
    was left to fall, which makes energy. No contact may close further than to touch.
    """
    blocks, points, state, share = step.blocks, step.points, step.state, 1.0
    twists = step.articulated.accelerations
    body_velocities(step.model, step.motion.S, state.v_new, twists)
    for block in range(step.groups.blocks[group], step.groups.blocks[group + 1]):
        if blocks.kinds[block] == CONTACT:
            row = blocks.starts[block]
            before = row_velocity(step.rows, row, step.motion.twists, state.v)
            after = row_velocity(step.rows, row, twists, state.v_new)
            if after > before:
                room = max(points.gaps[blocks.points[block]], 0.0) / dt
                share = min(share, 2.0 * (room + after) / (after - before))
    return max(share, 0.0)


@counted()
def displacement_velocity(step: Step, velocity: np.ndarray, dt: float) -> np.ndarray:
    """Return the velocity by which the configuration moves.

    Free bodies that nothing touches move by that of :func:`fly`, those that bounce by :func:`_mean_share`.

    Args:
        step: the step, its constraints solved; ``state.rate`` is overwritten.
        velocity: at the end of the step, with what takes penetrations back, shape (nv,).
        dt: time step [s].
    """
    flight, groups, state = step.flight, step.groups, step.state
    if flight.bodies.size == 0:
        return velocity
    moving = state.rate
    for k in range(velocity.size):
        moving[k] = velocity[k]
    shares = np.full(groups.counts[0], -1.0)
    for j in flight.bodies:
        group = groups.group_of_tree[leader(groups.leaders, step.model.trees[j])]
        if group >= 0 and shares[group] < 0.0:
            shares[group] = _mean_share(step, group, dt) if bounces(step, group) else 0.0
        for k in range(step.model.joints[j - 1].idx_v, step.model.joints[j].idx_v + 3):
            if group < 0:
                moving[k] = flight.velocity[k]
            elif shares[group] > 0.0:
                moving[k] -= 0.5 * shares[group] * (state.v_new[k] - state.v[k])
    return moving


@uncounted()
def remember_pull(step: Step) -> None:
    """Keep what the forces of loops changed in the velocity, for the mean velocity of the next step."""
    loops, state, pull = step.closures.joint_a.size, step.state, step.flight.pull
    if loops == 0:
        return
    alone = step.groups.counts[1] == loops
    for k in range(pull.size):
        pull[k] = state.v_new[k] - state.v_free[k] if alone else 0.0


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
