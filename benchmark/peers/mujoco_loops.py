# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's equality constraints on a mechanism with loops; driven by ``benchmark/kinematics.py``.

The mechanism's URDF without gravity and collisions, its loops as welds or connects, its drives held by joint
equalities at the values asked for. MuJoCo's equalities are stiff dampers on dynamics: it takes steps until the
mechanism has come to rest, so a step's time is given beside how many it takes.
"""

from __future__ import annotations

import json
import sys
import time

import mujoco
import numpy as np


def build(task: dict) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return the model with its loops and drives."""
    spec = mujoco.MjSpec.from_string(task["urdf"])
    spec.option.timestep = 1e-3
    spec.option.gravity = [0.0, 0.0, 0.0]
    spec.option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    spec.option.tolerance = 1e-12
    for shape in [*spec.geoms, *spec.meshes]:
        spec.delete(shape)
    stiff = {"solref": [0.002, 1.0], "solimp": [0.9999, 0.9999, 0.001, 0.5, 2.0]}
    for loop in task["loops"]:
        weld = spec.add_equality(
            type=mujoco.mjtEq.mjEQ_WELD, name1=loop["body_1"], name2=loop["body_2"],
            objtype=mujoco.mjtObj.mjOBJ_BODY, **stiff,
        )  # fmt: skip
        weld.data[:11] = [0.0, 0.0, 0.0, *loop["position_2_in_1"], *loop["quaternion_2_in_1"], 1.0]
    for joint in task["drives"]:
        spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, name1=joint, objtype=mujoco.mjtObj.mjOBJ_JOINT, **stiff)
    model = spec.compile()
    model.dof_damping[:] = 0.5
    model.dof_armature[:] = 0.01
    data = mujoco.MjData(model)
    for joint, value in task["positions"].items():
        data.qpos[model.joint(joint).qposadr[0]] = value
    return model, data


def main() -> None:
    """Read the task; for each line of drive positions, step until at rest and answer with the tool's place."""
    task = json.loads(sys.stdin.readline())
    model, data = build(task)
    print(json.dumps({"version": mujoco.__version__}), flush=True)
    tool, first = model.body(task["tool"]).id, len(task["loops"])
    for line in sys.stdin:
        values = json.loads(line)
        for i, value in enumerate(values):
            model.eq_data[first + i, :5] = [value, 0.0, 0.0, 0.0, 0.0]
        steps, begin = 0, time.process_time()
        last = None
        while steps < 20_000:
            mujoco.mj_step(model, data, 50)
            steps += 50
            place = data.xpos[tool].copy()
            if last is not None and np.abs(place - last).max() < 1e-9:
                break
            last = place
        seconds = time.process_time() - begin
        gap = float(np.abs(data.efc_pos[: 6 * first]).max())
        answer = {"seconds": seconds / steps, "steps": steps, "place": data.xpos[tool].tolist(), "gap": gap}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
