# SPDX-License-Identifier: Apache-2.0
"""Libraries for the quadratic programs of posture generation, from Python, set-up included.

The programs are linearisations of HRP-2 with a hand on a table or a wall (benchmark/posture_problems.py), with bounds
on all variables: near a solution with hard constraints, the same with every row twice, and far from one with elastic
constraints, where linearisations contradict each other. DAQP takes elastic constraints as they are (their compliance
enters the dual's diagonal), the others get a slack variable per row. Nonlinear solvers: benchmark/postures.py.

Needs the peers besides: `pip install quadprog piqp proxsuite`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import piqp
import proxsuite
import quadprog
from numpy.typing import NDArray
from posture_problems import hand_on, perturbed

from humanoid_model import load_robot
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.quadratic_program import QuadraticProgram, solve_quadratic_program
from humanoid_planner.optimisation.solve import solve
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements
from humanoid_planner.posture.tasks.criteria import NearReference

COMPLIANCE = 1e-8
ACCURACY = 1e-9


def twice(q: QuadraticProgram) -> QuadraticProgram:
    """Return the program with every row repeated."""
    A, lower, upper = np.vstack([q.A, q.A]), np.tile(q.lower, 2), np.tile(q.upper, 2)
    return q._replace(A=A, lower=lower, upper=upper)


def with_slacks(q: QuadraticProgram) -> QuadraticProgram:
    """Return the elastic program with a variable more per row."""
    n, m = len(q.g), len(q.lower)
    H = np.zeros((n + m, n + m))
    H[:n, :n], H[n:, n:] = q.H, np.eye(m) / COMPLIANCE
    low, high = np.append(q.variable_lower, np.full(m, -1e3)), np.append(q.variable_upper, np.full(m, 1e3))
    return QuadraticProgram(
        H, np.append(q.g, np.zeros(m)), np.hstack([q.A, np.eye(m)]), q.lower, q.upper, low, high
    )


def elastic_cost(q: QuadraticProgram, x: NDArray[np.float64]) -> float:
    """Return the cost of x with elastic constraints."""
    x = x[: len(q.g)]
    value = q.A @ x
    out = np.maximum(value - q.upper, 0) + np.maximum(q.lower - value, 0)
    return float(0.5 * x @ q.H @ x + q.g @ x + 0.5 * out @ out / COMPLIANCE)


def by_daqp(q: QuadraticProgram) -> NDArray[np.float64] | None:
    solution = solve_quadratic_program(q)
    return None if solution is None else solution.x


def by_daqp_elastic(q: QuadraticProgram) -> NDArray[np.float64] | None:
    solution = solve_quadratic_program(q, weights=np.ones(len(q.lower)), compliance=COMPLIANCE)
    return None if solution is None else solution.x


def by_quadprog(q: QuadraticProgram) -> NDArray[np.float64] | None:
    equal = q.lower == q.upper
    low, high = np.isfinite(q.lower) & ~equal, np.isfinite(q.upper) & ~equal
    identity = np.eye(len(q.g))
    rows = np.vstack([q.A[equal], q.A[low], -q.A[high], identity, -identity])
    bounds = np.concatenate([q.lower[equal], q.lower[low], -q.upper[high], q.variable_lower, -q.variable_upper])
    try:
        return np.asarray(quadprog.solve_qp(q.H, -q.g, rows.T, bounds, int(equal.sum()))[0])
    except ValueError:  # no solution
        return None


def by_piqp(q: QuadraticProgram) -> NDArray[np.float64] | None:
    equal = q.lower == q.upper
    solver = piqp.DenseSolver()
    solver.settings.eps_abs, solver.settings.eps_rel = ACCURACY, 0.0
    inequalities = (q.A[~equal], q.lower[~equal], q.upper[~equal])
    solver.setup(q.H, q.g, q.A[equal], q.lower[equal], *inequalities, q.variable_lower, q.variable_upper)
    return solver.result.x if solver.solve() == piqp.PIQP_SOLVED else None


def by_proxqp(q: QuadraticProgram) -> NDArray[np.float64] | None:
    equal = q.lower == q.upper
    solver = proxsuite.proxqp.dense.QP(len(q.g), int(equal.sum()), int((~equal).sum()), True)
    solver.settings.eps_abs, solver.settings.eps_rel = ACCURACY, 0.0
    inequalities = (q.A[~equal], np.maximum(q.lower[~equal], -1e20), np.minimum(q.upper[~equal], 1e20))
    solver.init(q.H, q.g, q.A[equal], q.lower[equal], *inequalities, q.variable_lower, q.variable_upper)
    solver.solve()
    return solver.results.x if solver.results.info.status == proxsuite.proxqp.PROXQP_SOLVED else None


def programs(count: int) -> tuple[list[QuadraticProgram], list[QuadraticProgram]]:
    """Quadratic programs near solutions, and far from them."""
    robot = load_robot("hrp2")
    rng = np.random.default_rng(0)
    near: list[QuadraticProgram] = []
    far: list[QuadraticProgram] = []
    for what in ("table", "wall"):
        case = hand_on(robot, what)
        criterion = NearReference(RobotKinematics(robot), case.start)
        problem = PostureProblem(
            robot,
            case.stance,
            PostureRequirements(scene=case.scene, criterion=criterion, **case.options),
            start=case.start,
        )
        program = problem.program
        solution = solve(program, problem.start(case.start)).x
        for _ in range(count):
            away = problem.start(perturbed(robot, case.start, rng))
            for x, radius, some in ((solution + 0.01 * rng.normal(size=program.size), 2.0, near), (away, 0.25, far)):
                x = np.clip(x, program.lower, program.upper)
                H = np.array(program.objective_hessian(x)) + 1e-3 * np.eye(program.size)
                c = program.constraints(x).copy()
                low, high = np.maximum(program.lower - x, -radius), np.minimum(program.upper - x, radius)
                g, J = program.objective_gradient(x).copy(), program.jacobian(x).copy()
                lower, upper = program.constraint_lower - c, program.constraint_upper - c
                some.append(QuadraticProgram(H, g, J, lower, upper, low, high))
    return near, far


def compare(
    title: str,
    solvers: dict[str, Callable[[QuadraticProgram], NDArray[np.float64] | None]],
    quadratics: list[QuadraticProgram],
) -> None:
    """Print solved programs, times, and the largest excess of the elastic cost over the first solver's."""
    print(f"\n{title} ({len(quadratics)} programs)")
    print(f"{'':28}{'solved':>8}{'median ms':>12}{'p95 ms':>10}{'cost above first':>18}")
    reference: NDArray[np.float64] | None = None
    for name, run in solvers.items():
        times, costs = [], []
        for q in quadratics:
            run(q)
            began = time.perf_counter()
            x = run(q)
            times.append(1e3 * (time.perf_counter() - began))
            costs.append(np.nan if x is None else elastic_cost(q, x))
        cost = np.array(costs)
        reference = cost if reference is None else reference
        above = (cost - reference) / (1 + np.abs(reference))
        worst = f"{np.nanmax(above):18.1e}" if np.isfinite(above).any() else f"{'-':>18}"
        solved = int(np.isfinite(cost).sum())
        print(f"{name:28}{solved:8}{np.median(times):12.3f}{np.percentile(times, 95):10.3f}{worst}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10, help="programs of each kind per problem")
    near, far = programs(parser.parse_args().count)
    hard = {"DAQP": by_daqp, "quadprog": by_quadprog, "PIQP": by_piqp, "ProxQP": by_proxqp}
    compare("hard constraints, near a solution", hard, near)
    compare("hard constraints, every row twice", hard, [twice(q) for q in near])
    elastic = {
        "DAQP, compliance": by_daqp_elastic,
        "quadprog, slack variables": lambda q: by_quadprog(with_slacks(q)),
        "PIQP, slack variables": lambda q: by_piqp(with_slacks(q)),
    }
    compare("elastic constraints, far from a solution", elastic, far)


if __name__ == "__main__":
    main()
