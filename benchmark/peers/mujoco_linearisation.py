# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's ``mjd_transitionFD`` of a standing robot; driven by ``benchmark/linearisation.py``."""

from __future__ import annotations

import json
import sys
import time

import mujoco
import numpy as np
from mujoco_standing import build


def main() -> None:
    """Read the task; differentiate so many times, one-sided or centred, whenever the parent asks."""
    task = json.loads(sys.stdin.readline())
    model, data = build(task)
    mujoco.mj_step(model, data, task["settle"])
    n = 2 * model.nv
    A, B = np.zeros((n, n)), np.zeros((n, model.nu))
    print(json.dumps({"version": mujoco.__version__}), flush=True)
    for line in sys.stdin:
        times, centred = json.loads(line)
        begin = time.process_time()
        for _ in range(times):
            mujoco.mjd_transitionFD(model, data, 1e-6, centred, A, B if model.nu else None, None, None)
        print(json.dumps({"seconds": (time.process_time() - begin) / times, "columns": n + model.nu}), flush=True)


if __name__ == "__main__":
    main()
