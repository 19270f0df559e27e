# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's steps of a walking robot; driven by ``benchmark/walking.py`` in the peers' environment."""

from __future__ import annotations

import json
import sys
import time

import mujoco
import numpy as np
from mujoco_standing import build


def main() -> None:
    """Read the task, then play the whole walk whenever the parent asks."""
    task = json.loads(sys.stdin.readline())
    model, data = build(task)
    start = mujoco.MjData(model)
    mujoco.mj_copyData(start, model, data)
    joints = [model.joint(name) for name in task["joints"]]
    places = np.array([joint.qposadr[0] for joint in joints])
    dofs = np.array([joint.dofadr[0] for joint in joints])
    positions, velocities = np.array(task["positions"]), np.array(task["velocities"])
    pushes = velocities * model.dof_damping[dofs]  # MuJoCo's damping is against the joint's speed, not its error
    print(json.dumps({"version": mujoco.__version__}), flush=True)
    for _ in sys.stdin:
        mujoco.mj_copyData(data, model, start)
        seconds = 0.0
        contacts = 0
        for step in range(len(positions)):
            model.qpos_spring[places] = positions[step]
            data.qfrc_applied[dofs] = pushes[step]
            begin = time.process_time()
            mujoco.mj_step(model, data)
            seconds += time.process_time() - begin
            contacts += data.ncon
        answer = {
            "seconds": seconds / len(positions),
            "contacts": contacts / len(positions),
            "base": data.qpos[:3].tolist(),
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
