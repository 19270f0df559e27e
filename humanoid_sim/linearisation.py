# SPDX-License-Identifier: Apache-2.0
r"""Derivatives of one step through its contacts.

The laws of the constraints, those of :mod:`humanoid_sim.contact.block_nsgs`, are functions that vanish where they hold
(f less the projection of :math:`f - \rho u`; of contacts that of Alart and Curnier). Their derivatives at a solution,
:math:`A_u\,du + A_f\,df = 0`, give how forces answer velocities: a contact that sticks keeps its velocity, one that
slides keeps its normal velocity and turns its force with the slip, an open one has no force. On the border between two
of these it is the derivative on one side.
"""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.apart import apart
from humanoid_model.arrays import Array
from humanoid_model.errors import InputError, SimulationError
from humanoid_sim.contact.block_nsgs import (
    BILATERAL,
    CONTACT,
    DAMPER,
    ROLL,
    SPIN,
    TOUCHING_SPEED,
    UNILATERAL,
    BlockProblem,
)
from humanoid_sim.contact.nsgs import alart_curnier
from humanoid_sim.rollout import Controls, checked_controls, checked_states
from humanoid_sim.simulation import Simulation, SimulationState
from humanoid_sim.stepping.constraints import leader
from humanoid_sim.stepping.held_response import HeldConstraints, HeldResponses, hold
from humanoid_sim.stepping.make_stepping import CompiledStepping
from humanoid_sim.stepping.run_steps import RollControls, control

OPENS, SLIDES = 1, 2
"""What a constraint is about to do that stands on a border."""
_NEAR = 1e-6
"""Who is nearer to a border than this, relative to the largest force, or to the largest that friction allows."""


@apart(error_model="numpy")
def law_derivatives(
    problem: BlockProblem, f: np.ndarray, u: np.ndarray, A_u: np.ndarray, A_f: np.ndarray, borders: np.ndarray
) -> None:
    """Write the derivatives of all laws.

    Args:
        problem: the constraints; of the operator only the diagonal is read.
        f: forces of the solution, shape (n,).
        u: velocities that the laws see there, shifts and compliance included, shape (n,).
        A_u: receives the derivatives by velocities, zero before, shape (n, n).
        A_f: receives those by forces, zero before, shape (n, n).
        borders: receives ``OPENS`` or ``SLIDES`` for each block that stands on such a border, else 0, shape (blocks,).
    """
    psi, p = np.empty(3), np.empty(3)
    none, unit, by_force, by_both = np.zeros((3, 3)), np.eye(3), np.empty((3, 3)), np.empty((3, 3))
    largest = 0.0
    for r in range(f.size):
        largest = max(largest, abs(f[r]))
    for i in range(problem.kinds.size):
        kind, k, end, bound = problem.kinds[i], problem.starts[i], problem.starts[i + 1], problem.parameters[i]
        parent = problem.starts[problem.parents[i]]
        n, trace = end - k, 0.0
        for r in range(k, end):
            trace += problem.W[r, r]
        rho = n / trace if trace > 0.0 else 1.0
        for r in range(min(n, 3)):
            p[r] = f[k + r] - rho * u[k + r]
        borders[i] = 0
        size = abs(p[0])
        if kind == CONTACT:
            alart_curnier(none, u[k:end], bound, rho, rho, f[k:end], psi, by_force)
            alart_curnier(unit, u[k:end] - f[k:end], bound, rho, rho, f[k:end], psi, by_both)
            for r in range(3):
                for c in range(3):
                    A_f[k + r, k + c] = by_force[r, c]
                    A_u[k + r, k + c] = by_both[r, c] - by_force[r, c]
            size, bound = math.hypot(p[1], p[2]), bound * f[k]
        elif kind in (BILATERAL, DAMPER):
            held = kind == BILATERAL or f[parent] > 0.0 or u[parent] <= TOUCHING_SPEED
            for r in range(k, end):
                A_u[r, r] = rho if held else 0.0
                A_f[r, r] = 0.0 if held else 1.0
            continue
        elif kind == UNILATERAL:
            A_u[k, k] = rho if p[0] > 0.0 else 0.0
            A_f[k, k] = 0.0 if p[0] > 0.0 else 1.0
        else:  # SPIN, ROLL, BOUNDED: inside an interval or a disc, of a radius that goes with the load but for BOUNDED
            follows = bound if kind in (SPIN, ROLL) else 0.0
            bound = bound * max(f[parent], 0.0) if follows > 0.0 else bound
            if kind == ROLL:
                size = math.hypot(p[0], p[1])
            share = bound / size if size > bound else 1.0  # of p that is left
            for r in range(n):
                A_u[k + r, k + r] = rho * share
                A_f[k + r, k + r] = 1.0 - share
                if share < 1.0:
                    A_f[k + r, parent] -= follows * p[r] / size
                    for c in range(n):
                        A_f[k + r, k + c] += share * p[r] * p[c] / (size * size)
                        A_u[k + r, k + c] -= rho * share * p[r] * p[c] / (size * size)
        if kind in (CONTACT, UNILATERAL) and abs(p[0]) <= _NEAR * largest:
            borders[i] = OPENS
        if kind != UNILATERAL and bound > _NEAR * largest and abs(size - bound) <= _NEAR * bound:
            borders[i] = SLIDES


@dataclass(frozen=True)
class Linearisation:
    r"""A step near a state: :math:`\delta x^+ = A\,\delta x + B\,\delta u`.

    :math:`\delta x` is the difference of configurations, ``pinocchio.difference(model, q, q_other)`` with the model of
    ``simulation.world``, above that of velocities.

    Attributes:
        A: shape (states, 2 nv, 2 nv).
        B: shape (states, 2 nv, n).
        q: configurations after the step, shape (states, nq).
        v: velocities after it, shape (states, nv).
        borders: for each state what stands on a border, where the step may have no derivative: constraints that are
            about to open or to slide, of which A and B are those of one side; contacts that slide and share their load
            in more ways than one, so that the step itself is one of many.
    """

    A: Array
    B: Array
    q: Array
    v: Array
    borders: list[list[str]]


_REDUNDANT = 1e-11
"""Redundant constraints are compliant a little, relative to their own diagonal."""
_OPEN = 1e-7
"""Singular values below this, relative to the largest, leave forces open."""


def linearise(
    simulation: Simulation,
    states: Sequence[SimulationState] | tuple[ArrayLike, ArrayLike] | None = None,
    controls: Controls | None = None,
) -> Linearisation:
    """Differentiate the next step of a simulation at one or many states, contacts included; it stays as it is.

    What is smooth in a step is differenced with the constraint forces held, so that nothing is solved again; how the
    forces answer comes from the derivatives of their laws at the solution. A contact that sticks stays, one that slides
    does so in its cone, one that is open has no force; servos, joint limits, dry friction, loops, pushes, rebounds and
    what takes penetrations back are in it. Held are what is decided by thresholds: which actuators saturate, which
    coefficient of friction acts. A contact whose gap is below a micrometre, open or penetrating, is one that lasts: its
    gap stays as it is. A larger one closes in the step.

    Args:
        simulation: its steps are compiled as a whole; it has no modules.
        states: a saved state for each step, or configurations, shape (states, nq), and velocities, shape (states, nv),
            in the place of the present ones; the present state if not given.
        controls: what drives the joints, ``values`` of shape (states, n): B is by them. The present commands if not
            given: B is then by those of all driven joints of the robots without ball joints, target positions, or
            efforts where a servo is off.

    Raises:
        InputError: see :func:`~humanoid_sim.rollout.rollout`; or soft soles, impacts apart, an integrator, exact
            meshes, another contact solver: steps that aren't compiled as a whole.
        SimulationError: a step can't be made; a free body bounces in it; a contact that carries a force is found on no
            side of the state.
    """
    if not (isinstance(simulation.stepping, CompiledStepping) and simulation.stepping.rolls):
        raise InputError(
            f"a step of {type(simulation.stepping).__name__} can't be differentiated",
            element="simulation",
            remedy="Leave out soft soles, separate impacts, integrators, exact meshes and other solvers or dynamics",
        )
    if simulation.modules:
        raise InputError(
            f"what the modules {', '.join(simulation.modules)} do can't be differentiated",
            element="modules",
            remedy="Remove them; leave tendons out of the scene",
        )
    present = simulation.save_state()
    starts = [present] if states is None else checked_states(simulation, states)
    driven = checked_controls(simulation, controls, 1, len(starts))
    own = copy.copy(simulation)
    places = driven[3] if controls is not None else _commanded(simulation)
    given = RollControls(*driven)
    answers = []
    for i, start in enumerate(starts):
        own.restore_state(start)
        if controls is not None:
            if controls.by_effort:
                own.servos.effort_mode(places, given.values[i])
            else:
                own.servos.position_mode(places)
            control(own.stepping.stepper.arrays, given, i)
        answers.append(_linearise_next(own, places, controls))
    A, B, q, v, borders = zip(*answers, strict=True)
    return Linearisation(np.array(A), np.array(B), np.array(q), np.array(v), list(borders))


def _commanded(simulation: Simulation) -> NDArray[np.int64]:
    """Return the velocity coordinates of all driven joints of robots without ball joints."""
    places: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    for robot in simulation.robots.values():
        with contextlib.suppress(InputError):
            places.append(robot.drive_places()[1])
    return np.concatenate(places)


def _linearise_next(
    own: Simulation, places: NDArray[np.int64], controls: Controls | None
) -> tuple[Array, Array, Array, Array, list[str]]:
    """Make a step; its derivatives, the state after it, and the constraints on a border."""
    assert isinstance(own.stepping, CompiledStepping)
    stepping, stepper, dt = own.stepping, own.stepping.stepper, own.dt
    before, q, v = stepping.save(), own.q, own.v
    own.step()
    borders = [] if own.residual <= stepping.settings.tolerance else [f"not solved, residual {own.residual:.1e}"]
    stepper.complete_operators()
    held = hold(stepper.arrays, dt, stepping.settings.max_iterations)
    if stepper.flight.bodies.size > 0 and (held.approach < 0.0).any():
        raise SimulationError("a free body bounces in the step: what it moves meanwhile has no derivative here")
    flies = _flies(own)
    stepping.wrenches.restore(before.wrenches)  # those that end with the step
    stepper.flight.pull[:] = before.forces[-1]
    nv, rows = v.size, len(held.shifts)
    count = 2 * nv + 1 + len(places)
    out = HeldResponses(
        np.zeros((count, 2, nv)), np.zeros((count, 2, rows)), np.zeros((count, nv)), np.zeros(count),
        np.zeros((rows, nv)), np.zeros((rows, rows)),
    )  # fmt: skip
    stepping.respond_held((q, v), held, places, out)
    moved = np.arange(count) != nv
    changes = out.changes[moved]
    both, edges = [], np.zeros(len(held.kinds), dtype=np.int64)
    W = out.W + np.diag(_REDUNDANT * out.W.diagonal())
    for part in range(2):
        dv = (out.v[moved, part] - out.v[nv, part]).T / changes
        if held.forces[part].any() or (part == 0 and rows > 0):
            A_u, A_f = np.zeros((rows, rows)), np.zeros((rows, rows))
            u = held.velocities if part == 0 else out.u[nv, 1] + held.compliance * held.forces[1]
            problem = BlockProblem(W, u, held.starts, held.kinds, held.parameters[part], held.parents)
            law_derivatives(problem, held.forces[part], u, A_u, A_f, edges if part == 0 else edges.copy())
            du = (out.u[moved, part] - out.u[nv, part]).T / changes
            K = A_u @ W + A_f
            dv -= out.X.T @ np.linalg.solve(K, A_u @ du)
            if part == 0 and np.count_nonzero(A_f) > np.count_nonzero(A_f.diagonal()) and _is_undecided(K, out.X):
                borders.append("contacts that slide share their load in more ways than one")
        both.append(dv)
    displaced = both[0] + both[1]
    displaced[flies] = ((out.flight[moved] - out.flight[nv]).T / changes)[flies]
    by_q, by_displacement = pin.dIntegrate(own.world.model, q, pin.difference(own.world.model, q, own.q))
    derivative = np.vstack([dt * by_displacement @ displaced, both[0]])
    derivative[:nv, :nv] += by_q
    stiffness = own.servos.stiffness[places]
    by_target = (stiffness != 0.0) | (own.servos.damping[places] != 0.0) if controls is None else not controls.by_effort
    derivative[:, 2 * nv :] *= np.where(by_target, stiffness, 1.0)
    borders += _name_borders(own, held, edges)
    return derivative[:, : 2 * nv], derivative[:, 2 * nv :], own.q, own.v, borders


def _is_undecided(K: Array, X: Array) -> bool:
    """Return whether forces that the laws leave open change the velocity; where all contacts stick they don't."""
    _, sizes, kernel = np.linalg.svd(K)
    open_forces = kernel[sizes < _OPEN * sizes[0]]
    return bool(np.abs(open_forces @ X).max(initial=0.0) > _OPEN * np.abs(X).max())


def _flies(own: Simulation) -> NDArray[np.bool_]:
    """Return which velocity coordinates are those of free bodies that nothing touched in the last step."""
    stepper, found = own.stepping.stepper, np.zeros(own.v.size, dtype=np.bool_)
    model, groups = stepper.model, stepper.groups
    for j in stepper.flight.bodies:
        if groups.group_of_tree[leader(groups.leaders, model.trees[j])] < 0:
            found[model.joints["idx_v"][j - 1] : model.joints["idx_v"][j] + 3] = True
    return found


def _name_borders(own: Simulation, held: HeldConstraints, edges: NDArray[np.int64]) -> list[str]:
    """Return what stands on a border, in words."""
    bodies, points = own.world.bodies, own.stepping.stepper.points
    told = []
    for i in np.flatnonzero(edges).tolist():
        k, n = int(held.memory[i]), int(held.points[i])
        if n >= 0:
            what = f"{bodies[points.body_a[n]].name} on {bodies[points.body_b[n]].name}"
        else:
            what = own.world.coordinate_name(k)
        told.append(f"{what}: {'closed without a force' if edges[i] == OPENS else 'at the edge of sliding'}")
    return told
