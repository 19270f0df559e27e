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
from typing import NamedTuple

import numpy as np
import piqp
import proxsuite
import quadprog
from numpy.typing import NDArray
from posture_problems import hand_on, perturbed

from humanoid_model import load_robot
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.quadratic_program import solve_quadratic_program
from humanoid_planner.optimisation.solve import solve
from humanoid_planner.posture.problem.criterion import NearReference
from humanoid_planner.posture.problem.problem import PostureProblem

COMPLIANCE = 1e-8
ACCURACY = 1e-9


class Quadratic(NamedTuple):
    """Arguments of :func:`solve_quadratic_program`."""

    H: NDArray[np.float64]
    g: NDArray[np.float64]
    A: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    variable_lower: NDArray[np.float64]
    variable_upper: NDArray[np.float64]

    def twice(self) -> Quadratic:
        """With every row repeated."""
        A, lower, upper = np.vstack([self.A, self.A]), np.tile(self.lower, 2), np.tile(self.upper, 2)
        return self._replace(A=A, lower=lower, upper=upper)

    def with_slacks(self) -> Quadratic:
        """The elastic program with a variable more per row."""
        n, m = len(self.g), len(self.lower)
        H = np.zeros((n + m, n + m))
        H[:n, :n], H[n:, n:] = self.H, np.eye(m) / COMPLIANCE
        low, high = np.append(self.variable_lower, np.full(m, -1e3)), np.append(self.variable_upper, np.full(m, 1e3))
        return Quadratic(
            H, np.append(self.g, np.zeros(m)), np.hstack([self.A, np.eye(m)]), self.lower, self.upper, low, high
        )

    def elastic_cost(self, x: NDArray[np.float64]) -> float:
        """Cost of x with elastic constraints."""
        x = x[: len(self.g)]
        value = self.A @ x
        out = np.maximum(value - self.upper, 0) + np.maximum(self.lower - value, 0)
        return float(0.5 * x @ self.H @ x + self.g @ x + 0.5 * out @ out / COMPLIANCE)


def by_daqp(q: Quadratic) -> NDArray[np.float64] | None:
    solution = solve_quadratic_program(*q)
    return None if solution is None else solution.x


def by_daqp_elastic(q: Quadratic) -> NDArray[np.float64] | None:
    solution = solve_quadratic_program(*q, weights=np.ones(len(q.lower)), compliance=COMPLIANCE)
    return None if solution is None else solution.x


def by_quadprog(q: Quadratic) -> NDArray[np.float64] | None:
    equal = q.lower == q.upper
    low, high = np.isfinite(q.lower) & ~equal, np.isfinite(q.upper) & ~equal
    identity = np.eye(len(q.g))
    rows = np.vstack([q.A[equal], q.A[low], -q.A[high], identity, -identity])
    bounds = np.concatenate([q.lower[equal], q.lower[low], -q.upper[high], q.variable_lower, -q.variable_upper])
    try:
        return np.asarray(quadprog.solve_qp(q.H, -q.g, rows.T, bounds, int(equal.sum()))[0])
    except ValueError:  # no solution
        return None


def by_piqp(q: Quadratic) -> NDArray[np.float64] | None:
    equal = q.lower == q.upper
    solver = piqp.DenseSolver()
    solver.settings.eps_abs, solver.settings.eps_rel = ACCURACY, 0.0
    inequalities = (q.A[~equal], q.lower[~equal], q.upper[~equal])
    solver.setup(q.H, q.g, q.A[equal], q.lower[equal], *inequalities, q.variable_lower, q.variable_upper)
    return solver.result.x if solver.solve() == piqp.PIQP_SOLVED else None


def by_proxqp(q: Quadratic) -> NDArray[np.float64] | None:
    equal = q.lower == q.upper
    solver = proxsuite.proxqp.dense.QP(len(q.g), int(equal.sum()), int((~equal).sum()), True)
    solver.settings.eps_abs, solver.settings.eps_rel = ACCURACY, 0.0
    inequalities = (q.A[~equal], np.maximum(q.lower[~equal], -1e20), np.minimum(q.upper[~equal], 1e20))
    solver.init(q.H, q.g, q.A[equal], q.lower[equal], *inequalities, q.variable_lower, q.variable_upper)
    solver.solve()
    return solver.results.x if solver.results.info.status == proxsuite.proxqp.PROXQP_SOLVED else None


def programs(count: int) -> tuple[list[Quadratic], list[Quadratic]]:
    """Quadratic programs near solutions, and far from them."""
    robot = load_robot("hrp2")
    rng = np.random.default_rng(0)
    near: list[Quadratic] = []
    far: list[Quadratic] = []
    for what in ("table", "wall"):
        case = hand_on(robot, what)
        criterion = NearReference(RobotKinematics(robot), case.start)
        problem = PostureProblem(
            robot, case.stance, scene=case.scene, start=case.start, criterion=criterion, **case.options
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
                some.append(Quadratic(H, g, J, program.constraint_lower - c, program.constraint_upper - c, low, high))
    return near, far


def compare(
    title: str,
    solvers: dict[str, Callable[[Quadratic], NDArray[np.float64] | None]],
    quadratics: list[Quadratic],
) -> None:
    """Prints solved programs, times, and the largest excess of the elastic cost over the first solver's."""
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
            costs.append(np.nan if x is None else q.elastic_cost(x))
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
    compare("hard constraints, every row twice", hard, [q.twice() for q in near])
    elastic = {
        "DAQP, compliance": by_daqp_elastic,
        "quadprog, slack variables": lambda q: by_quadprog(q.with_slacks()),
        "PIQP, slack variables": lambda q: by_piqp(q.with_slacks()),
    }
    compare("elastic constraints, far from a solution", elastic, far)


if __name__ == "__main__":
    main()
