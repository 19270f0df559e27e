# SPDX-License-Identifier: Apache-2.0
"""Equilibrium of stances by solvers at hand, for ``benchmark/equilibrium.py`` in the peers' environment.

The first line of the input is the task; every further one names a contestant, which runs over all stances once. Times
are those of the solvers' own calls, with the matrices put together beforehand.

Clarabel yes or no   round cones as a second-order cone program, any forces that balance
Clarabel margin      the same, forces as far inside their cones as possible
HiGHS yes or no      pyramids with the task's facets as a linear program
cddlib               half-spaces of the cone of wrenches from the pyramids' generators, in doubles
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import clarabel
import highspy
import numpy as np
from scipy import sparse

try:
    import cdd  # no wheel for every Python: built where GMP's headers are
except ImportError:
    cdd = None


def clarabel_program(stance: dict[str, Any], task: dict[str, Any], margin: bool) -> tuple[Any, ...]:
    """Return arguments of Clarabel's solver; forces in units of the weight and in contact frames t1, t2, n."""
    positions, frames = np.array(stance["positions"]), np.array(stance["frames"])
    centre, mu, count = np.array(stance["centre"]), task["friction"], len(stance["positions"])
    size = 3 * count + margin
    balance = np.zeros((6, size))
    cones = np.zeros((3 * count, size))
    for i, (R, p) in enumerate(zip(frames, positions, strict=True)):
        balance[:3, 3 * i : 3 * i + 3] = R
        balance[3:, 3 * i : 3 * i + 3] = np.cross(p - centre, R.T).T
        cones[3 * i, 3 * i + 2], cones[3 * i + 1, 3 * i], cones[3 * i + 2, 3 * i + 1] = -mu, -1.0, -1.0
    cost = np.zeros(size)
    if margin:
        cones[::3, -1] = np.sqrt(1.0 + mu * mu)
        cost[-1] = -1.0
    rows = sparse.csc_matrix(np.vstack([balance, cones]))
    kinds = [clarabel.ZeroConeT(6), *[clarabel.SecondOrderConeT(3)] * count]
    right = np.concatenate([[0.0, 0.0, 1.0], np.zeros(3 + 3 * count)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    return sparse.csc_matrix((size, size)), cost, rows, right, kinds, settings


def by_clarabel(stance: dict[str, Any], task: dict[str, Any], margin: bool) -> Callable[[], bool]:
    arguments = clarabel_program(stance, task, margin)

    def solve() -> bool:
        solution = clarabel.DefaultSolver(*arguments).solve()
        return str(solution.status) == "Solved" and (not margin or -solution.obj_val >= 0.0)

    return solve


def by_highs(stance: dict[str, Any], task: dict[str, Any]) -> Callable[[], bool]:
    generators, wrench = np.array(stance["generators"]), np.array(stance["wrench"])
    matrix = sparse.csc_matrix(generators.T)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = len(generators), 6
    program.col_cost_ = program.col_lower_ = np.zeros(len(generators))
    program.col_upper_ = np.full(len(generators), np.inf)
    program.row_lower_ = program.row_upper_ = wrench
    program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
    program.a_matrix_.value_ = matrix.data
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)

    def solve() -> bool:
        highs.passModel(program)
        highs.run()
        return bool(highs.getModelStatus() == highspy.HighsModelStatus.kOptimal)

    return solve


def by_cddlib(stance: dict[str, Any], task: dict[str, Any]) -> Callable[[], int]:
    generators = np.array(stance["generators"])
    rows = np.hstack([np.zeros((len(generators), 1)), generators]).tolist()

    def solve() -> int:
        matrix = cdd.Matrix(rows, number_type="float")
        matrix.rep_type = cdd.RepType.GENERATOR
        try:
            return len(cdd.Polyhedron(matrix).get_inequalities())
        except RuntimeError:  # numerical inconsistency
            return 0

    return solve


CONTESTANTS: dict[str, Callable[[dict[str, Any], dict[str, Any]], Callable[[], Any]]] = {
    "Clarabel yes or no": lambda stance, task: by_clarabel(stance, task, False),
    "Clarabel margin": lambda stance, task: by_clarabel(stance, task, True),
    "HiGHS yes or no": by_highs,
}
if cdd is not None:
    CONTESTANTS["cddlib wrench cone"] = by_cddlib


def main() -> None:
    task = json.loads(sys.stdin.readline())
    told = f"Clarabel {version('clarabel')}, HiGHS {version('highspy')}"
    print(json.dumps({"version": told, "contestants": list(CONTESTANTS)}), flush=True)
    for line in sys.stdin:
        asking, answers = [], []
        for stance in task["stances"]:
            solve = CONTESTANTS[line.strip()](stance, task)
            repeats = 1 if "cone" in line else task["repeats"]
            start = time.perf_counter()
            for _ in range(repeats):
                answer = solve()
            asking.append((time.perf_counter() - start) / repeats)
            answers.append(answer)
        print(json.dumps({"asking": asking, "answers": answers}), flush=True)


if __name__ == "__main__":
    main()
