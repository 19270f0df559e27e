# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's step of free boxes on a plane; driven by ``benchmark/free_boxes.py`` in the peers' environment."""

from __future__ import annotations

import json
import sys
import time

import mujoco
import numpy as np


def build(task: dict) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return boxes that touch the plane and each other."""
    spec = mujoco.MjSpec()
    spec.option.timestep = task["dt"]
    spec.option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.gravity = task["gravity"]
    friction = [task["friction"], 0.0, 0.0]
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1.0], friction=friction, condim=3)
    for place in task["places"]:
        body = spec.worldbody.add_body(pos=place)
        body.add_freejoint()
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX, size=0.5 * np.array(task["size"]), mass=task["mass"], friction=friction,
            condim=3,
        )  # fmt: skip
    model = spec.compile()
    return model, mujoco.MjData(model)


def main() -> None:
    """Read the task, settle, then time blocks of steps whenever the parent asks."""
    task = json.loads(sys.stdin.readline())
    model, data = build(task)
    mujoco.mj_step(model, data, task["settle"])
    start = mujoco.MjData(model)
    mujoco.mj_copyData(start, model, data)
    print(json.dumps({"version": mujoco.__version__}), flush=True)
    for line in sys.stdin:
        steps = int(line)
        mujoco.mj_copyData(data, model, start)
        begin = time.process_time()
        mujoco.mj_step(model, data, steps)
        print(json.dumps({"seconds": (time.process_time() - begin) / steps, "contacts": data.ncon}), flush=True)


if __name__ == "__main__":
    main()
