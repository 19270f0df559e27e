# SPDX-License-Identifier: Apache-2.0
"""Solved phases of a gait as messages, with all that proves or disproves them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from humanoid_stack.msg import ConstraintViolation, GaitPhase, GaitReport
from numpy.typing import NDArray

from humanoid_planner.gait.solvers.phase_solution import PhaseSolution, PhaseStatus

Real = NDArray[np.floating[Any]]

STATUSES = {
    PhaseStatus.CONVERGED: GaitPhase.CONVERGED,
    PhaseStatus.CONTACT_VIOLATION: GaitPhase.CONTACT_VIOLATION,
    PhaseStatus.LIMIT_VIOLATION: GaitPhase.LIMIT_VIOLATION,
    PhaseStatus.NOT_CONVERGED: GaitPhase.NOT_CONVERGED,
    PhaseStatus.UNREACHABLE: GaitPhase.UNREACHABLE,
}


def phase_message(kind: int, solution: PhaseSolution, start: float, offset: float) -> GaitPhase:
    """Message of a solved phase.

    Args:
        kind: as the request has it.
        solution: of the phase.
        start: since the gait's beginning [s].
        offset: place of the phase's frame in the world, along x [m].
    """
    model = solution.problem.scaled_model
    message = GaitPhase(
        kind=kind,
        status=STATUSES[solution.status],
        message=solution.message,
        start=float(start),
        times=_flat(solution.t),
        coordinate_names=list(model.tree.coordinates),
        control_names=list(model.control_names),
        coordinates=_flat(solution.q),
        rates=_flat(solution.v),
        momenta=_flat(solution.p),
        controls=_flat(solution.u),
        report=report_message(solution),
        time=float(solution.seconds),
    )
    if solution.method != "none":
        message.costates, message.hamiltonian = _flat(solution.costates), _flat(solution.hamiltonian)
    feet = [solution.forces[foot.name] for foot in solution.problem.checked_feet]
    if feet:
        rear = feet[0]
        message.rear_force = _flat(np.stack([rear.tangential, rear.total_normal], axis=1))
    if len(feet) > 1:
        front = feet[1]
        normal = np.zeros((len(solution.t), 2))
        normal[:, : front.normal.shape[1]] = front.normal
        message.front_force = _flat(np.column_stack([normal, front.tangential]))
    if feet:
        message.centre_of_pressure = _flat(offset + centre_of_pressure(solution))
    return message


def centre_of_pressure(solution: PhaseSolution) -> Real:
    """(K,) of all feet together along x in the phase's frame, NaN where nothing presses [m]."""
    total, moment = np.zeros(len(solution.t)), np.zeros(len(solution.t))
    for foot in solution.forces.values():
        total += foot.total_normal
        moment += (foot.normal * foot.places).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0.0, moment / total, np.nan)


def report_message(solution: PhaseSolution) -> GaitReport:
    """What proves or disproves a solved phase; NaN where a phase has no such thing."""
    problem, model = solution.problem, solution.problem.scaled_model
    energies, H = solution.energies, solution.hamiltonian
    distance = hip_advance(solution)
    weight = model.tree.mass * model.tree.gravity
    normals = [solution.forces[foot.name].normal for foot in problem.checked_feet]
    front = normals[1] if len(normals) > 1 else np.full((1, 0), np.nan)
    slap = model.slap(solution.q)
    heights = [float(model.points[name].position(solution.q)[:, 1].min()) for name in model.clearance_points]
    return GaitReport(
        cost=float(solution.cost),
        energy=energies.total,
        positive_energy=energies.positive,
        negative_energy=energies.negative,
        cost_of_transport=energies.total / (weight * distance) if weight * distance > 0.0 else math.nan,
        distance=distance,
        hamiltonian_spread=float(np.ptp(H) / max(1.0, abs(float(H.mean())))),
        transversality=transversality(solution),
        closure=float(solution.closure_gap.max()),
        sole_angle=float(np.abs(slap).max()) if slap.size else math.nan,
        min_normal_rear=float(normals[0].min()) if normals else math.nan,
        min_normal_heel=float(front[:, 0].min()) if front.shape[1] > 0 else math.nan,
        min_normal_toe=float(front[:, 1].min()) if front.shape[1] > 1 else math.nan,
        required_friction=float(solution.friction_required),
        clearance=min(heights) if heights else math.nan,
        max_torques=_flat(np.abs(solution.u[:, : model.torque_count]).max(axis=0)),
        max_rates=_flat(np.abs(model.joint_rates(solution.v)).max(axis=0)),
        violations=[
            ConstraintViolation(
                constraint=f"excess: {item.what}",
                value=float(item.excess),
                bound=0.0,
                unit=item.unit,
                time=float(item.time),
            )
            for item in solution.violations
        ],
    )


def hip_advance(solution: PhaseSolution) -> float:
    """Way of the hip along x [m]; 0 of a mechanism without one."""
    hip = solution.problem.scaled_model.points.get("hip")
    return 0.0 if hip is None else float(hip.position(solution.q[-1])[0] - hip.position(solution.q[0])[0])


def transversality(solution: PhaseSolution) -> float:
    """Largest costate of a free state at its end over the largest of that component; 0 where all states are given."""
    worst = 0.0
    for at, end in ((0, solution.problem.start), (-1, solution.problem.end)):
        free = np.concatenate(end.free_masks(solution.problem.model))
        sizes = np.abs(solution.costates).max(axis=0)
        scaled = np.abs(solution.costates[at]) / np.where(sizes > 0.0, sizes, 1.0)
        worst = max(worst, float(scaled[free].max(initial=0.0)))
    return worst


def _flat(values: Real) -> list[float]:
    return [float(value) for value in np.asarray(values, dtype=float).ravel()]
