# SPDX-License-Identifier: Apache-2.0
"""Impacts as a stage of their own at the start of a step (specification 000 §8.1, thesis §3.1.2 and §3.1.5).

What arrives within the step faster than the impact speed is resolved at :math:`t_0`, before the free motion: the
frictionless linear complementarity problem (3.7) of all closed contacts of each group in which something strikes,
then (3.9) for the velocities of all joints. What that throws against other bodies in the same step is the next round.

An impact lasts no time: what has a bounded force gives no impulse. So contact normals, joint limits and loops take
part; servos, springs, damping, dry friction and compliant contacts don't.

Coefficients that differ within a group can let Newton's law gain energy. Then the impulses go only so far from those
without restitution towards those of Newton's law as the kinetic energy stays what it was.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from humanoid_model.apart import load, load_called
from humanoid_model.arrays import Array
from humanoid_model.compiling import counted
from humanoid_model.tree.articulated_body import articulated_body, force_response
from humanoid_model.tree.tree_motion import body_twists
from humanoid_sim.contact.block_nsgs import BILATERAL, CONTACT, UNILATERAL, BlockProblem, block_nsgs
from humanoid_sim.contact.impact import LcpStatus, solve_impact
from humanoid_sim.delassus.constraint_rows import ConstraintRows
from humanoid_sim.delassus.recursions import unit_forces
from humanoid_sim.stepping.constraints import LOWER
from humanoid_sim.stepping.operators import closure_forces, eliminate_closures
from humanoid_sim.stepping.rows_and_forces import PENETRATION_SLOP, TOUCHING_GAP, row_velocity
from humanoid_sim.stepping.run_steps import constrain, room
from humanoid_sim.stepping.step_data import Step
from humanoid_sim.stepping.stepper import Stepper


@dataclass(frozen=True)
class Impacts:
    """Impacts at the start of the last step, k points that pushed; one that was hit again in the step is there again.

    Attributes:
        position: in the world [m], shape (k, 3).
        normal: unit, from body b into body a, in the world, shape (k, 3).
        impulse: along the normal on body a [N s], shape (k,).
        approach: normal velocity of a relative to b before, negative where they approach [m/s], shape (k,).
        rebound: the same after the impact [m/s], shape (k,).
        restitution: coefficient that acted; 0 where the point was closed and not struck itself, shape (k,).
        bodies: names of bodies a and b of each point, ``"robot/link"`` or a body's name.
        rounds: how many times impacts were resolved, one after the other.
        residual: what is left of the complementarity, the largest of all rounds and groups, relative to the approach.
    """

    position: NDArray[np.float64]
    normal: NDArray[np.float64]
    impulse: NDArray[np.float64]
    approach: NDArray[np.float64]
    rebound: NDArray[np.float64]
    restitution: NDArray[np.float64]
    bodies: list[tuple[str, str]]
    rounds: int
    residual: float

    def __len__(self) -> int:
        """Return the number of points that pushed."""
        return len(self.impulse)

    @classmethod
    def none(cls) -> Impacts:
        """No impact."""
        return cls(
            np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0), [], 0, 0.0
        )


_EXCESS_SPEED = 1e-6
"""An approach beyond what the gap leaves room for counts from here on [m/s]: less is the contact law's."""
_COMPLIANCE = 5
"""Place of the normal compliance among the properties of a pair."""


@counted()
def _approach(step: Step, i: int) -> float:
    """Return the normal velocity of a contact point, negative where the bodies approach."""
    points, twists = step.points, step.motion.twists
    x, n = points.positions[i], points.normals[i]
    a, b = twists[points.joint_a[i]], twists[points.joint_b[i]]
    total = 0.0
    for r in range(3):
        c1 = (r + 1) % 3
        c2 = (r + 2) % 3
        total += n[r] * (a[r] - b[r] + (a[3 + c1] - b[3 + c1]) * x[c2] - (a[3 + c2] - b[3 + c2]) * x[c1])
    return total


@counted()
def _kept_speed(gap: float, dt: float) -> float:
    """Approach speed that closes a gap within the step and no more."""
    return max(gap - TOUCHING_GAP, 0.0) / dt


@counted()
def _strikes(gap: float, v: float, impact_speed: float, dt: float) -> bool:
    """Return whether a contact arrives within the step faster than what counts as an impact."""
    return v < -impact_speed and v + _kept_speed(gap, dt) < -_EXCESS_SPEED


@counted()
def anything_strikes(step: Step, rigid: int, dt: float, impact_speed: float) -> bool:
    """Return whether any of the first ``rigid`` contact points has an impact.

    Args:
        step: the step, after detection.
        rigid: number of contact points between rigid bodies, which come first.
        dt: time step [s].
        impact_speed: approach speed from which on it is one [m/s].
    """
    points, pairs = step.points, step.pairs
    for i in range(rigid):
        if _strikes(points.gaps[i], _approach(step, i), impact_speed, dt):
            properties = pairs.properties[pairs.classes[points.body_a[i]], pairs.classes[points.body_b[i]]]
            if properties[_COMPLIANCE] == 0.0:
                return True
    return False


@counted()
def build_bare_inertia(step: Step, no_efforts: np.ndarray, no_wrenches: np.ndarray) -> None:
    """Articulated inertias of bodies and rotors alone, without what implicit servos add; the free motion makes its own.

    Args:
        step: the step, moved to its state.
        no_efforts: zeros, shape (nv,).
        no_wrenches: zeros, shape (njoints, 6).
    """
    articulated_body(
        step.model, step.motion, no_efforts, step.model.armature, no_wrenches, step.articulated, step.state.rate
    )


@counted()
def take_rows(
    step: Step, group: int, rigid: int, dt: float, impact_speed: float, rows: ConstraintRows, blocks: np.ndarray,
    v: np.ndarray, restitution: np.ndarray, kept: np.ndarray,
) -> tuple[int, int]:  # fmt: skip
    """Return rows of one group that take part in its impacts: loops first, then contact normals and joint limits.

    A contact takes part if it strikes, or if it is closed and has to hold. By (3.7) one that was parting may be left
    approaching, e times as fast: it strikes in the next round. Limits take part likewise, and never bounce.

    Args:
        step: the step, constraints written.
        group: number of the group.
        rigid: number of contact points between rigid bodies.
        dt: time step [s].
        impact_speed: see :func:`anything_strikes`.
        rows: receives the rows.
        blocks: receives the block of each row.
        v: receives velocities along the rows [m/s or rad/s].
        restitution: receives Newton's coefficients.
        kept: receives the approach speeds that may be left.

    Returns:
        Numbers of rows of loops and of all; none where nothing in the group strikes.
    """
    own, all_rows, points, joints, state = step.blocks, step.rows, step.points, step.joints, step.state
    count = 0
    loops = 0
    strikes = False
    for block in range(step.groups.blocks[group], step.groups.blocks[group + 1]):
        kind = own.kinds[block]
        first = own.starts[block]
        last = first + 1
        i = own.points[block]
        bounce = 0.0
        keep = 0.0
        if kind == BILATERAL:
            last = own.starts[block + 1]
            loops += last - first
        elif kind == CONTACT:
            if i >= rigid or own.compliance[first] > 0.0:
                continue
            speed = row_velocity(all_rows, first, step.motion.twists, state.v)
            keep = _kept_speed(points.gaps[i], dt)
            if _strikes(points.gaps[i], speed, impact_speed, dt):
                strikes = True
                bounce = points.restitution[i]
                if bounce > 0.0:
                    keep = 0.0
            elif points.gaps[i] > PENETRATION_SLOP and speed + keep > 0.0:
                continue
            elif speed > 0.0:
                bounce = points.restitution[i]
        elif kind == UNILATERAL:
            k = all_rows.dofs[first]
            q = state.q[joints.idx_q[k]]
            gap = q - joints.lower[k] if i == LOWER else joints.upper[k] - q
            keep = _kept_speed(gap, dt)
            if gap > PENETRATION_SLOP and row_velocity(all_rows, first, step.motion.twists, state.v) + keep > 0.0:
                continue
        else:
            continue
        for row in range(first, last):
            for r in range(6):
                rows.wrenches[count, r] = all_rows.wrenches[row, r]
            rows.joint_a[count] = all_rows.joint_a[row]
            rows.joint_b[count] = all_rows.joint_b[row]
            rows.dofs[count] = all_rows.dofs[row]
            blocks[count] = block
            v[count] = row_velocity(all_rows, row, step.motion.twists, state.v)
            restitution[count] = bounce
            kept[count] = keep
            count += 1
    return (loops, count) if strikes else (0, 0)


@counted()
def impact_operator(step: Step, rows: ConstraintRows, count: int) -> np.ndarray:
    r""":math:`\Lambda = J M^{-1} J^T` of the rows that take part, shape (count, count)."""
    Lambda = np.zeros((count, count))
    unit_forces(
        step.model, step.motion.S, step.articulated, rows, 0, count, np.ones(count, dtype=np.bool_), 1.0,
        step.groups.marks, Lambda,
    )  # fmt: skip
    return Lambda


@counted()
def add_impulses(rows: ConstraintRows, impulses: np.ndarray, wrenches: np.ndarray, thrusts: np.ndarray) -> None:
    """Add the impulses of rows to those on the bodies, shape (njoints, 6), and on the coordinates, shape (nv,)."""
    for row in range(impulses.size):
        p = impulses[row]
        if rows.dofs[row] >= 0:
            thrusts[rows.dofs[row]] += rows.wrenches[row, 0] * p
            continue
        for r in range(6):
            wrenches[rows.joint_a[row], r] += rows.wrenches[row, r] * p
            wrenches[rows.joint_b[row], r] -= rows.wrenches[row, r] * p


@counted()
def change_velocity(step: Step, wrenches: np.ndarray, thrusts: np.ndarray) -> None:
    r"""Joint velocities after the impact, :math:`\dot q^+ = \dot q^- + M^{-1} J^T p` (thesis equation 3.9), and twists.

    Args:
        step: the step, after :func:`build_bare_inertia`.
        wrenches: impulses on the bodies, at the world origin, shape (njoints, 6).
        thrusts: impulses on the coordinates, shape (nv,).
    """
    state = step.state
    force_response(step.model, step.motion.S, step.articulated, wrenches, thrusts, state.rate)
    for k in range(state.v.size):
        state.v[k] += state.rate[k]
    body_twists(step.model, state.v, step.motion)


IMPACTS = ("with_contacts", "separate")
"""How impacts are resolved: by the contact law that reaches Newton's velocity, or before it as a stage of its own."""
_ROUNDS = 100
"""Impacts that follow each other within a step; what still strikes after so many is left to the contact law."""
_SWEEPS = 10_000
"""Bound on the Gauss-Seidel sweeps where pivoting fails."""


class ImpactStage:
    """Resolves the impacts of each step.

    Attributes:
        wrenches: impulses on the bodies in the last step, at the world origin, force first, shape (njoints, 6).
        thrusts: impulses of joint limits on the coordinates in the last step, shape (nv,).
    """

    def __init__(self, names: Sequence[str], njoints: int, nv: int, impact_speed: float) -> None:
        """Set up.

        Args:
            names: of the bodies.
            njoints: number of joints of the world.
            nv: number of its velocity coordinates.
            impact_speed: approach speed from which on it is an impact [m/s].
        """
        self._names = list(names)
        self._impact_speed = impact_speed
        self.wrenches: Array = np.zeros((njoints, 6))
        self.thrusts: Array = np.zeros(nv)
        self._no_wrenches, self._no_efforts = np.zeros((njoints, 6)), np.zeros(nv)
        self.forget()

    def warm_up(self, stepper: Stepper) -> None:
        """Compile or load what impacts need."""
        step, dt, speed = stepper.arrays, stepper.settings.dt, self._impact_speed
        rows, v, W = ConstraintRows.of_size(1), np.full(1, -1.0), np.ones((1, 1))
        load(room, step, 0, dt)
        load(constrain, step, 0, dt)
        load(build_bare_inertia, step, self._no_efforts, self._no_wrenches)
        load(take_rows, step, 0, 0, dt, speed, rows, np.zeros(1, dtype=np.int64), v, v, v)
        load(impact_operator, step, rows, 1)
        load(add_impulses, rows, v, self.wrenches, self.thrusts)
        load(change_velocity, step, self.wrenches, self.thrusts)
        load(eliminate_closures, W, v, 0)
        load(closure_forces, W, v, 0, v)
        solve_impact(W, v, np.zeros(1), allowed=np.zeros(1))
        _sweep(W, v)
        load_called([build_bare_inertia, take_rows, impact_operator, change_velocity, block_nsgs])

    def forget(self) -> None:
        """There was no last step."""
        self.wrenches[:] = 0.0
        self.thrusts[:] = 0.0
        self._found: list[tuple[Array, Array, float, float, float, float, tuple[str, str]]] = []
        self._rounds = 0
        self._residual = 0.0

    @property
    def impacts(self) -> Impacts:
        """Impacts of the last step."""
        if not self._found:
            return Impacts.none()
        position, normal, impulse, approach, rebound, restitution, bodies = zip(*self._found, strict=True)
        return Impacts(
            np.array(position), np.array(normal), np.array(impulse), np.array(approach), np.array(rebound),
            np.array(restitution), list(bodies), self._rounds, self._residual,
        )  # fmt: skip

    def resolve(self, stepper: Stepper, detect: Callable[[], tuple[int, int]]) -> int:
        """Detect contacts and resolve the impacts among them until nothing strikes any more.

        Args:
            stepper: moved to the state at the start of the step; its velocity is changed.
            detect: finds the contact points for the present velocity; returns the number of all and of those between
                rigid bodies, which come first.

        Returns:
            Number of contact points.

        Raises:
            SimulationError: the constraints need more memory than a step may have.
        """
        self.forget()
        dt = stepper.settings.dt
        m, rigid = detect()
        while self._rounds < _ROUNDS and anything_strikes(stepper.arrays, rigid, dt, self._impact_speed):
            if self._rounds == 0:
                build_bare_inertia(stepper.arrays, self._no_efforts, self._no_wrenches)
            self._rounds += 1
            stepper.constrain(m)
            wrenches, thrusts = np.zeros_like(self.wrenches), np.zeros_like(self.thrusts)
            for group in range(int(stepper.groups.counts[0])):
                self._resolve_group(stepper, group, rigid, dt, wrenches, thrusts)
            change_velocity(stepper.arrays, wrenches, thrusts)
            self.wrenches += wrenches
            self.thrusts += thrusts
            m, rigid = detect()
        return m

    def _resolve_group(
        self, stepper: Stepper, group: int, rigid: int, dt: float, wrenches: Array, thrusts: Array
    ) -> None:
        """Impulses of one group, added to those on the bodies and the coordinates."""
        all_blocks = stepper.blocks
        first, last = (int(all_blocks.starts[stepper.groups.blocks[group + side]]) for side in (0, 1))
        room = last - first
        rows, blocks = ConstraintRows.of_size(room), np.zeros(room, dtype=np.int64)
        v, restitution, kept = (cast(Array, np.zeros(room)) for _ in range(3))
        loops, count = take_rows(
            stepper.arrays, group, rigid, dt, self._impact_speed, rows, blocks, v, restitution, kept
        )
        if count == 0:
            return
        Lambda = impact_operator(stepper.arrays, rows, count)
        v, restitution, kept = v[:count], restitution[:count], kept[:count]
        impulses = self._impulses(Lambda, v, restitution, kept, loops)
        add_impulses(rows, impulses, wrenches, thrusts)
        points = stepper.points
        for row in np.flatnonzero(impulses):
            block = blocks[row]
            if all_blocks.kinds[block] != CONTACT:
                continue
            i = all_blocks.points[block]
            self._found.append((
                points.positions[i].copy(), points.normals[i].copy(), float(impulses[row]), float(v[row]),
                float(v[row] + Lambda[row] @ impulses), float(restitution[row]),
                (self._names[points.body_a[i]], self._names[points.body_b[i]]),
            ))  # fmt: skip

    def _impulses(self, Lambda: Array, v: Array, restitution: Array, kept: Array, loops: int) -> Array:
        """Return impulses of all rows of a group, those of loops first; shape (n,)."""
        newton = self._newton(Lambda, v, restitution, kept, loops)
        change = 0.5 * newton @ (2.0 * v + Lambda @ newton)
        if change <= 0.0:
            return newton
        plain = self._newton(Lambda, v, np.zeros_like(restitution), kept, loops)
        step = newton - plain
        # kinetic energy along the way from the one to the other: curvature s^2 + slope s + begin, begin <= 0
        curvature = 0.5 * step @ Lambda @ step
        slope = float(step @ (v + Lambda @ plain))
        begin = min(0.5 * float(plain @ (2.0 * v + Lambda @ plain)), 0.0)
        root = math.sqrt(slope * slope - 4.0 * curvature * begin)
        share = -2.0 * begin / (slope + root) if slope + root > 0.0 else 0.0
        return plain + min(max(share, 0.0), 1.0) * step

    def _newton(self, Lambda: Array, v: Array, restitution: Array, kept: Array, loops: int) -> Array:
        """Impulses by Newton's law; rows that nothing can move get none."""
        W, free = Lambda.copy(), v.copy()
        eliminate_closures(W, free, loops)
        movable = loops + np.flatnonzero(np.diag(W)[loops:] > 1e-12 * np.diag(Lambda).max())
        own = np.ascontiguousarray(W[np.ix_(movable, movable)])
        answer = solve_impact(own, free[movable], restitution[movable], allowed=kept[movable])
        impulses, residual = answer.impulses, answer.residual
        if answer.status is not LcpStatus.SOLVED:
            impulses, residual = _sweep(own, (1.0 + restitution[movable]) * free[movable] + kept[movable])
        self._residual = max(self._residual, residual)
        p = np.zeros(v.size)
        p[movable] = impulses
        closure_forces(W, free, loops, p)
        return p


def _sweep(W: Array, q: Array) -> tuple[Array, float]:
    """Return the solution of an impact problem by Gauss-Seidel sweeps, and its residual."""
    n = q.size
    p, velocities, residuals = np.zeros(n), np.zeros(n), np.zeros(5)
    problem = BlockProblem(W, q, np.arange(n + 1), np.full(n, UNILATERAL), np.zeros(n), np.arange(n))
    block_nsgs(problem, p, 1e-9, _SWEEPS, velocities, residuals)
    return p, float(residuals[0])
