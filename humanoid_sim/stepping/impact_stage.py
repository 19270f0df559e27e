# SPDX-License-Identifier: Apache-2.0
r"""Impacts as a stage of their own at the start of a step (specification 000 §8.1, thesis §3.1.2 and §3.1.5).

What arrives within the step faster than the impact speed is resolved at :math:`t_0`, before the free motion: the
frictionless linear complementarity problem (3.7) of all closed contacts of each group in which something strikes,
then (3.9) for the velocities of all joints. What that throws against other bodies in the same step is the next round.

Coefficients that differ within a group can let Newton's law gain energy. Then the impulses go only so far from those
without restitution towards those of Newton's law as the kinetic energy stays what it was.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import cast

import numpy as np

from humanoid_model.apart import load, load_called
from humanoid_model.arrays import Array
from humanoid_sim.contact.block_nsgs import CONTACT, UNILATERAL, BlockProblem, block_nsgs
from humanoid_sim.contact.impact import solve_impact
from humanoid_sim.contact.lemke import LcpStatus
from humanoid_sim.delassus.constraint_rows import ConstraintRows
from humanoid_sim.state.impacts import Impacts
from humanoid_sim.stepping import stages
from humanoid_sim.stepping.impact_rows import (
    add_impulses,
    anything_strikes,
    build_bare_inertia,
    change_velocity,
    impact_operator,
    take_rows,
)
from humanoid_sim.stepping.operators import closure_forces, eliminate_closures
from humanoid_sim.stepping.stepper import Stepper

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
        load(stages.room, step, 0, dt)
        load(stages.constrain, step, 0, dt)
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
