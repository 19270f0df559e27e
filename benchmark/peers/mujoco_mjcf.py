# SPDX-License-Identifier: Apache-2.0
"""Writes test/fixtures/mjcf_oracles.json: what MuJoCo says of the MJCF files beside it.

.venv-peers/bin/python benchmark/peers/mujoco_mjcf.py
"""

import json
from pathlib import Path

import mujoco
import numpy as np

FOLDER = Path(__file__).parents[2] / "test/fixtures/mjcf"


def bodies(name: str) -> dict:
    """Mass, centre and inertia about it in the frame of each body, and its place in the first keyframe."""
    model = mujoco.MjModel.from_xml_path(str(FOLDER / f"{name}.xml"))
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    found = {}
    for i in range(1, model.nbody):
        turn = np.empty(9)
        mujoco.mju_quat2Mat(turn, model.body_iquat[i])
        turn = turn.reshape(3, 3)
        found[model.body(i).name] = {
            "mass": model.body_mass[i],
            "centre": model.body_ipos[i].tolist(),
            "inertia": (turn @ np.diag(model.body_inertia[i]) @ turn.T).tolist(),
            "position": data.xpos[i].tolist(),
            "rotation": data.xmat[i].reshape(3, 3).tolist(),
        }
    return found


def motion(name: str, times: list[float]) -> list[list[float]]:
    """Joint positions at some times, from the first keyframe, by Runge-Kutta's method with steps of 0.1 ms."""
    model = mujoco.MjModel.from_xml_path(str(FOLDER / f"{name}.xml"))
    model.opt.timestep = 1e-4
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    for i in range(model.nu):  # servos on tendons hold the start, as here
        data.ctrl[i] = data.actuator_length[i]
    found = []
    for time in times:
        while data.time < time - 5e-5:
            mujoco.mj_step(model, data)
        found.append(data.qpos.tolist())
    return found


if __name__ == "__main__":
    oracles = {
        "bodies": {name: bodies(name) for name in ("arm", "pile", "pendulum")},
        "motion": {
            "times": [0.5, 1.0, 2.0],
            "pendulum": motion("pendulum", [0.5, 1.0, 2.0]),
            "tendons": motion("tendons", [0.5, 1.0, 2.0]),
        },
    }
    (FOLDER.parent / "mjcf_oracles.json").write_text(json.dumps(oracles) + "\n")
