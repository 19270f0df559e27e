# SPDX-License-Identifier: Apache-2.0
"""Siconos' non-smooth Gauss-Seidel on contact problems from a file; needs nothing but numpy and Siconos.

Driven by ``benchmark/contact_solvers.py --siconos PYTHON``, the Python that Siconos was built for.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import siconos.numerics as numerics


def main() -> None:
    """Solve every problem of the file once and print forces, iterations and times."""
    data = np.load(sys.argv[1])
    tolerance, limit = float(sys.argv[2]), int(sys.argv[3])
    answers = []
    for number in range(int(data["count"])):
        W, v, mu = data[f"W{number}"], data[f"v{number}"], data[f"mu{number}"]
        size_W, size_v = np.diag(W).max(), np.abs(v).max() or 1.0
        begin = time.perf_counter()
        problem = numerics.FrictionContactProblem(3, np.asfortranarray(W / size_W), v / size_v, mu)
        options = numerics.SolverOptions(numerics.SICONOS_FRICTION_3D_NSGS)
        options.iparam[numerics.SICONOS_IPARAM_MAX_ITER] = limit
        options.dparam[numerics.SICONOS_DPARAM_TOL] = 0.1 * tolerance
        force, velocity = np.zeros(len(v)), np.zeros(len(v))
        numerics.fc3d_driver(problem, force, velocity, options)
        seconds = time.perf_counter() - begin
        iterations = int(options.iparam[numerics.SICONOS_IPARAM_ITER_DONE])
        answers.append({"f": (force * size_v / size_W).tolist(), "iterations": iterations, "seconds": seconds})
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
