# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's runs of ``benchmark/accuracy.py``, each with settings of its own, in the peers' environment."""

from __future__ import annotations

import json
import sys
import time

import mujoco
import mujoco_boxes
import mujoco_standing
import numpy as np


def run(task: dict, settings: dict) -> dict:
    """Make the steps of a task; seconds per step, and where the bodies are at the end [m]."""
    model, data = (mujoco_boxes if "places" in task else mujoco_standing).build(task)
    for name, value in settings.items():
        setattr(model.opt, name, value)
    if "spin" in task:  # the first box tips over its lower edge
        data.qvel[[0, 4]] = [0.5 * task["spin"] * task["size"][2], task["spin"]]
    mujoco.mj_step(model, data, task["settle"])
    seconds = 0.0
    push = task.get("push")
    joints = [model.joint(name) for name in task.get("joints", ())]
    places, dofs = [joint.qposadr[0] for joint in joints], [joint.dofadr[0] for joint in joints]
    for step in range(task["steps"]):
        if joints:
            model.qpos_spring[places] = task["positions"][step]
            data.qfrc_applied[dofs] = np.array(task["velocities"][step]) * model.dof_damping[dofs]
        if push is not None:
            data.xfrc_applied[model.body(push["link"]).id, 0] = push["force"] if step < push["steps"] else 0.0
        begin = time.process_time()
        mujoco.mj_step(model, data)
        seconds += time.process_time() - begin
    free = [joint for joint in range(model.njnt) if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE]
    ends = [data.qpos[model.jnt_qposadr[joint] :][:3].tolist() for joint in free]
    return {"seconds": seconds / task["steps"], "ends": ends}


def main() -> None:
    """Answer a task with settings at a time."""
    print(json.dumps({"version": mujoco.__version__}), flush=True)
    for line in sys.stdin:
        task, settings = json.loads(line)
        print(json.dumps(run(task, settings)), flush=True)


if __name__ == "__main__":
    main()
