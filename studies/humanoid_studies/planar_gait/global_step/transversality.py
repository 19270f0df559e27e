# SPDX-License-Identifier: Apache-2.0
"""Transversality of phases whose ends, durations and step lengths are free (specification 003 section 2.24).

With dJ_i = -w_i(0) dx_i(0) + w_i(T) dx_i(T) - H_i dT_i, the derivative of the whole criterion F by the ends of all
phases, the durations and the step lengths has to be a combination of the gradients of what ties them: links, closures,
fixed and bounded entries. What is left after the best such combination is the residual, part by part.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humanoid_model.arrays import Reals
from humanoid_studies.planar_gait.global_step.global_problem import GlobalProblem
from humanoid_studies.planar_gait.global_step.multiphase_program import MultiphaseProgram
from humanoid_studies.planar_gait.global_step.solve_global import GlobalIterate
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.optimal_control.phase_shape import phase_parameters
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseSolution

TOUCHED = 1e-7
"""Multiplier of a state limit, times the objective's scale of one, above which the motion touches it."""


def gait_distance(problem: GlobalProblem, iterate: GlobalIterate) -> float:
    """Return that the hip advances [m]."""
    return float(iterate.step_lengths.sum()) + problem.advance_at_rests


def limit_multipliers(problem: GlobalProblem, iterate: GlobalIterate, index: int) -> Reals:
    """(K, h) multipliers of a phase's state limits at the transcription's points, of F."""
    phase, program = problem.phases[index], problem.program()
    own = phase.program
    first = int(program.rows[index]) + 2 * own.n * own.A2.shape[1]
    rest = iterate.multipliers[first : first + own.points * own.rest_count].reshape(own.points, own.rest_count)
    return rest[:, own.rest_count - phase_parameters(phase.problem).shape.inequality_count :]


def bound_multipliers(problem: GlobalProblem, iterate: GlobalIterate, index: int) -> Reals:
    """(K, n) multipliers of the bounds of a phase's coordinates themselves, of F: upper positive, lower negative."""
    own, offsets = problem.phases[index].program, problem.program().offsets
    every = iterate.bound_multipliers[offsets[index] + 1 : offsets[index + 1]].reshape(own.points, own.width)
    return every[:, : own.n]


def transversality(
    problem: GlobalProblem,
    iterate: GlobalIterate,
    finals: Sequence[PhaseProblem],
    phases: Sequence[PhaseSolution],
    H: Reals,
) -> tuple[Reals, float]:
    """Return the residual of the costates at each transition, and of the step lengths."""
    program: MultiphaseProgram = problem.program()
    distance = gait_distance(problem, iterate)
    per = 1.0 / distance if problem.settings.per_metre else 1.0
    slopes, normals = [], []
    for own, phase, rate in zip(finals, phases, H, strict=True):
        begin, end = phase.costates[0], phase.costates[-1]
        slopes.append(
            np.concatenate([[-rate], -_by_rates(own, phase, 0, begin), _by_rates(own, phase, -1, end)])
        )
    slope = np.concatenate([*slopes, np.zeros(len(iterate.step_lengths))]) * per
    if problem.settings.per_metre:
        slope[-len(iterate.step_lengths) :] -= iterate.objective / distance
    y = iterate.x[program.ends_index]
    _, J = (np.array(item) for item in program.link_functions(y, problem.numbers))
    normals.append(J)
    lower, upper, _, _ = problem.bounds(program)
    low, high = lower[program.ends_index], upper[program.ends_index]
    # Bounds that a multiplier says are active tie an entry as fixed ones do.
    held = (high - low < 1e-9) | (np.abs(iterate.bound_multipliers[program.ends_index]) > TOUCHED)
    normals.append(np.eye(len(y))[held])
    normals += _end_normals(problem, iterate, finals, len(y))
    N = np.concatenate(normals)
    left = slope - N.T @ np.linalg.lstsq(N.T, slope, rcond=1e-10)[0]
    jumps = []
    sizes = [2 * own.model.n for own in finals]
    starts = np.cumsum([0, *(1 + 2 * size for size in sizes)])
    count = len(finals) - (0 if problem.cyclic else 1)
    for i in range(count):
        j = (i + 1) % len(finals)
        entries = np.concatenate(
            [starts[i] + 1 + sizes[i] + np.arange(sizes[i]), starts[j] + 1 + np.arange(sizes[j])]
        )
        jumps.append(float(np.linalg.norm(left[entries]) / np.linalg.norm(slope[entries])))
    lengths = left[-len(iterate.step_lengths) :]
    return np.array(jumps), float(np.abs(lengths).max() * distance / abs(iterate.objective))


def _by_rates(own: PhaseProblem, phase: PhaseSolution, place: int, w: Reals) -> Reals:
    """(2n,) derivative by (q, v) of what has derivative w by (q, p = M v)."""
    tree, n = own.tree, own.model.n
    q, v = phase.q[place], phase.v[place]
    by_q = np.stack([tree.mass_derivative(q, k) @ v for k in range(n)], axis=1)
    return np.concatenate([w[:n] + by_q.T @ w[n:], tree.mass_matrix(q) @ w[n:]])


def _end_normals(
    problem: GlobalProblem, iterate: GlobalIterate, finals: Sequence[PhaseProblem], size: int
) -> list[Reals]:
    """Return gradients of what else holds at ends: closures at the end of double support, and touched limits."""
    found: list[Reals] = []
    place = 0
    for i, own in enumerate(finals):
        model, n = own.model, own.model.n
        motion = iterate.phases[i]
        shape = phase_parameters(problem.phases[i].problem).shape
        along = limit_multipliers(problem, iterate, i)
        for end in (0, -1):
            columns = place + 1 + (0 if end == 0 else 2 * n)
            q, v = motion.q[end], motion.v[end]
            if own.hard_closure and end == -1:
                G = model.closure_jacobian(q)
                rows = np.zeros((2 * len(G), size))
                rows[: len(G), columns : columns + n] = G
                rows[len(G) :, columns : columns + n] = model.closure_hessian(q) * v
                rows[len(G) :, columns + n : columns + 2 * n] = G
                # What the loop is closed at moves with the foothold, at this end as at the other.
                length = problem.phases[i].length
                assert length is not None
                rows[: len(G) : 2, int(size - len(iterate.step_lengths) + length)] = -1.0
                found.append(rows)
                if own.hard_angles:
                    for closure in model.angle_closures:
                        j = model.tree.index(closure.coordinate)
                        rows = np.zeros((2, size))
                        rows[0, columns + j] = rows[1, columns + n + j] = 1.0
                        found.append(rows)
            joints = model.joint_matrix
            gradients = [np.concatenate([joints[j], np.zeros(n)]) for j in (*shape.lower_joints, *shape.upper_joints)]
            gradients += [np.concatenate([np.zeros(n), joints[j]]) for j in shape.rated_joints] * 2
            for name in shape.clear_points:
                point = model.points[name]
                x, step = float(point.position(q)[0]), 1e-6
                rise = sum(
                    float(item.envelope(x + step) - item.envelope(x - step)) / (2.0 * step)
                    for item in own.penalties.obstacles
                )
                jacobian = point.jacobian(q)
                gradients.append(np.concatenate([jacobian[1] - rise * jacobian[0], np.zeros(n)]))
            multipliers = np.abs(along[:3] if end == 0 else along[-3:]).max(axis=0)
            bounds = np.abs(bound_multipliers(problem, iterate, i)[1:3] if end == 0 else
                            bound_multipliers(problem, iterate, i)[-3:-1]).max(axis=0)  # fmt: skip
            gradients += list(np.eye(n, 2 * n))
            for gradient, value in zip(gradients, np.concatenate([multipliers, bounds]), strict=True):
                if value > TOUCHED:
                    # What a limit pushes within the interval beside an end has changed rates there as well.
                    rows = np.zeros((2, size))
                    rows[0, columns : columns + 2 * n] = gradient
                    rows[1, columns + n : columns + 2 * n] = gradient[:n]
                    found.append(rows)
        place += 1 + 4 * n
    return found
