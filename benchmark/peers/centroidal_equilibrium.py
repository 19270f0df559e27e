# SPDX-License-Identifier: Apache-2.0
"""Equilibrium of stances by hpp-centroidal-dynamics, for ``benchmark/equilibrium.py`` in the peers' environment.

The first line of the input is the task; every further one names an algorithm, which runs over all stances once.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version

import numpy as np
from hpp_centroidal_dynamics import (
    LP_STATUS_OPTIMAL,
    LP_STATUS_UNBOUNDED,
    Equilibrium,
    EquilibriumAlgorithm,
    SolverLP,
)


def main() -> None:
    task = json.loads(sys.stdin.readline())
    stances = [
        (np.array(stance["positions"]), np.array(stance["normals"]), np.array(stance["centre"]))
        for stance in task["stances"]
    ]
    print(json.dumps({"version": version("hpp-centroidal-dynamics")}), flush=True)
    for line in sys.stdin:
        algorithm = getattr(EquilibriumAlgorithm, f"EQUILIBRIUM_ALGORITHM_{line.strip()}")
        setting, asking, answers = [], [], []
        for positions, normals, centre in stances:
            checker = Equilibrium("stance", task["mass"], task["facets"], SolverLP.SOLVER_LP_QPOASES)
            start = time.perf_counter()
            checker.setNewContacts(positions, normals, task["friction"], algorithm)
            middle = time.perf_counter()
            if line.strip() == "PP":
                for _ in range(task["repeats"]):
                    _, good = checker.checkRobustEquilibrium(centre)
            else:
                for _ in range(task["repeats"]):
                    status, robustness = checker.computeEquilibriumRobustness(centre)
                good = status == LP_STATUS_UNBOUNDED or (status == LP_STATUS_OPTIMAL and robustness >= 0.0)
            asking.append((time.perf_counter() - middle) / task["repeats"])
            setting.append(middle - start)
            answers.append(bool(good))
        print(json.dumps({"setting": setting, "asking": asking, "answers": answers}), flush=True)


if __name__ == "__main__":
    main()
