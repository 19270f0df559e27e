# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's rollout of a walking robot; driven by ``benchmark/rollouts.py`` in the peers' environment."""

from __future__ import annotations

import json
import sys
import time

import mujoco
import numpy as np
from mujoco import rollout
from mujoco_standing import build


def main() -> None:
    """Read the task; walk as often as asked for with so many threads, whenever the parent asks."""
    task = json.loads(sys.stdin.readline())
    model, data = build(task)
    joints = [model.joint(name) for name in task["joints"]]
    dofs = np.array([joint.dofadr[0] for joint in joints])
    places = np.array([joint.qposadr[0] for joint in joints])
    stiffness = np.array([model.jnt_stiffness[joint.id] for joint in joints])
    # springs and dampers whose targets move, as forces: k (target - rest) + d (target velocity)
    forces = np.zeros((1, len(task["positions"]), model.nv))
    forces[0, :, dofs] = (
        stiffness * (np.array(task["positions"]) - model.qpos_spring[places])
        + model.dof_damping[dofs] * np.array(task["velocities"])
    ).T
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.zeros(mujoco.mj_stateSize(model, full))
    mujoco.mj_getState(model, data, start, full)
    print(json.dumps({"version": mujoco.__version__}), flush=True)
    for line in sys.stdin:
        runs, threads = json.loads(line)
        own = [mujoco.MjData(model) for _ in range(threads)]
        wall, begin = time.perf_counter(), time.process_time()
        states, _ = rollout.rollout(
            model, own, np.tile(start, (runs, 1)), forces, control_spec=int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)
        )
        answer = {
            "wall": time.perf_counter() - wall, "seconds": time.process_time() - begin,
            "base": states[0, -1, 1:4].tolist(),
        }  # fmt: skip
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
