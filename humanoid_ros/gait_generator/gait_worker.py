# SPDX-License-Identifier: Apache-2.0
"""Answers to requests for gaits, worked out in a process of their own; requests and answers travel as bytes.

A gait's message has its solved phases, with all that proves or disproves them. Importing this module loads all that a
request needs.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from humanoid_stack.msg import ConstraintViolation, Gait, GaitPhase, GaitReport, GaitRequest
from humanoid_stack.srv import ComputeGaitStates
from rclpy.serialization import deserialize_message, serialize_message

from humanoid_model.arrays import Reals
from humanoid_model.progress import Progress, ProgressCallback
from humanoid_planner.gait import GaitDefaults, GaitResult, generate_gait
from humanoid_planner.gait.solvers.phase_solution import PhaseSolution, PhaseStatus
from humanoid_planner.gait.specification.step_states import step_states
from humanoid_ros.gait_generator.gait_markers import figure_message
from humanoid_ros.gait_generator.gait_request import read_gait_request, read_step
from humanoid_ros.messages.motion_messages import whole_body_message
from humanoid_ros.node.process_requests import Answer
from humanoid_ros.node.requested_files import check_requested, requested_reading

WORLD = "world"
STATUSES = {
    PhaseStatus.CONVERGED: GaitPhase.CONVERGED,
    PhaseStatus.CONTACT_VIOLATION: GaitPhase.CONTACT_VIOLATION,
    PhaseStatus.LIMIT_VIOLATION: GaitPhase.LIMIT_VIOLATION,
    PhaseStatus.NOT_CONVERGED: GaitPhase.NOT_CONVERGED,
    PhaseStatus.UNREACHABLE: GaitPhase.UNREACHABLE,
}


def gait_message(result: GaitResult) -> Gait:
    """Return the message of a gait, or of what there is of it.

    Args:
        result: the gait.
    """
    message = Gait(model=result.model.name)
    if result.model.mechanism is None and result.phases:
        message.header.frame_id = WORLD
    if not result.phases:
        return _unreachable_message(message, result)
    offsets = result.gait.plan.offsets[:, 0] if result.gait is not None else np.zeros(len(result.phases))
    for solution, kind, start, offset in zip(result.phases, result.kinds, result.starts, offsets, strict=False):
        message.phases.append(phase_message(kind, solution, start, float(offset)))
    message.duration = result.duration
    message.distance = result.distance
    message.speed = result.speed
    message.cost = result.cost
    message.cost_of_transport = result.cost_of_transport
    message.max_velocity_jump = result.max_velocity_jump
    if result.figure is not None:
        message.figure = figure_message(result.figure)
    if result.motion is not None:
        message.trajectory = whole_body_message(result.motion, WORLD)
    if result.lifted is not None:
        message.margin = result.lifted.margin
    return message


def _unreachable_message(message: Gait, result: GaitResult) -> Gait:
    """Return the phase whose ends don't exist."""
    message.phases = [
        GaitPhase(kind=kind, status=GaitPhase.UNREACHABLE, message=result.message) for kind in result.kinds
    ]
    return message


def phase_message(kind: int, solution: PhaseSolution, start: float, offset: float) -> GaitPhase:
    """Return the message of a solved phase.

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
        message.centre_of_pressure = _flat(offset + solution.centre_of_pressure)
    return message


def report_message(solution: PhaseSolution) -> GaitReport:
    """Return what proves or disproves a solved phase; NaN where a phase has no such thing."""
    problem, model = solution.problem, solution.problem.scaled_model
    energies, H = solution.energies, solution.hamiltonian
    distance = solution.hip_advance
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
        transversality=solution.transversality,
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
                constraint=item.what, value=item.value, bound=item.limit, unit=item.unit, time=item.worst
            )
            for item in solution.violations
        ],
    )


def _flat(values: Reals) -> list[float]:
    return [float(value) for value in np.asarray(values, dtype=float).ravel()]


def generate(request: bytes, defaults: GaitDefaults, tell: ProgressCallback) -> Answer:
    """Answer a request for a gait.

    Args:
        request: serialised ``GaitRequest``.
        defaults: what it may leave open.
        tell: told of stages, and of what is solved so far, a serialised ``Gait``, as their result.

    Raises:
        InputError: a field can't be used; the message names it.
    """
    def told(progress: Progress) -> bool:
        if isinstance(progress.result, GaitResult):
            progress = dataclasses.replace(progress, result=bytes(serialize_message(gait_message(progress.result))))
        return bool(tell(progress))

    asked = deserialize_message(request, GaitRequest)
    with requested_reading(asked.model):
        result = generate_gait(read_gait_request(asked, defaults), told)
    return Answer(result.success, result.message, bytes(serialize_message(gait_message(result))))


def compute_states(request: bytes, defaults: GaitDefaults, _: ProgressCallback) -> bytes:
    """Answer a ``compute_gait_states`` request, serialised as its answer is.

    Raises:
        InputError: a field can't be used, or a leg can't reach.
    """
    asked = deserialize_message(request, ComputeGaitStates.Request)
    model = check_requested(asked.model, "model") or defaults.model
    with requested_reading(asked.model):
        states = step_states(model, read_step(asked.step, "step"), defaults.feet)
    response = ComputeGaitStates.Response(success=True, coordinate_names=list(states.coordinates))
    for name, state in (("initial", states.initial), ("final", states.final)):
        setattr(response, f"{name}_coordinates", state.q.tolist())
        setattr(response, f"{name}_rates", state.v.tolist())
        setattr(response, f"{name}_momenta", states.momenta(state).tolist())
    return bytes(serialize_message(response))
