# SPDX-License-Identifier: Apache-2.0
"""How far what should rest moves in MuJoCo; asked by ``benchmark/creep.py`` in the peers' environment."""

from __future__ import annotations

import json
import sys

import mujoco
import numpy as np
from mujoco_standing import build

SETTINGS = {
    "defaults": {},
    "impratio 100": {"impratio": 100.0},
    "20 no-slip iterations": {"noslip_iterations": 20},
    "impratio 100, 1000 no-slip iterations, tolerances 1e-14": {
        "impratio": 100.0, "noslip_iterations": 1000, "noslip_tolerance": 1e-14, "tolerance": 1e-14,
    },
}  # fmt: skip
"""All with the elliptic cone and Newton's method. The last is the best of some fifteen combinations that were tried;
harder contacts (solimp near 1) make the robot walk."""


def block_on_slope(task: dict) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return a box that lies on a tilted plane."""
    spec = mujoco.MjSpec()
    spec.option.timestep = task["dt"]
    spec.option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.gravity = task["gravity"]
    tilt, friction, size = task["angle"], [task["friction"], 0.0, 0.0], np.array(task["size"])
    turn = [np.cos(tilt / 2), 0.0, np.sin(tilt / 2), 0.0]
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5.0, 5.0, 0.1], quat=turn, friction=friction, condim=3
    )
    height = 0.5 * size[2]
    block = spec.worldbody.add_body(quat=turn, pos=[height * np.sin(tilt), 0.0, height * np.cos(tilt)], name="block")
    block.add_freejoint()
    block.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX, size=0.5 * size, mass=task["mass"], friction=friction, condim=3
    )
    model = spec.compile()
    return model, mujoco.MjData(model)


def apply(settings: dict, model: mujoco.MjModel) -> None:
    """Change what the settings name."""
    for name, value in settings.items():
        setattr(model.opt, name, value)


def watch(task: dict, model: mujoco.MjModel, data: mujoco.MjData) -> dict:
    """Largest displacement and rotation of the watched bodies from where they were after settling."""
    if task.get("push"):
        data.xfrc_applied[model.body(task["push"]["link"]).id, :3] = task["push"]["force"]
    watched = [(model.body(point["link"]).id, np.array(point["position"])) for point in task["corners"]]
    bodies = sorted({body for body, _ in watched})

    def places() -> np.ndarray:
        mujoco.mj_kinematics(model, data)
        return np.array([data.xpos[body] + data.xmat[body].reshape(3, 3) @ local for body, local in watched])

    def turns() -> np.ndarray:
        return data.xmat[bodies].reshape(-1, 3, 3).copy()

    mujoco.mj_step(model, data, task["settle"])
    first, first_turns = places(), turns()
    displacement = rotation = 0.0
    for _ in range(task["steps"] // task["every"]):
        mujoco.mj_step(model, data, task["every"])
        displacement = max(displacement, float(np.linalg.norm(places() - first, axis=1).max()))
        # of a small rotation, the angle is the norm of the skew part; arccos of the trace would drown in rounding
        skew = np.einsum("bij,bkj->bik", turns(), first_turns)
        skew = 0.5 * (skew - skew.transpose(0, 2, 1))
        rotation = max(rotation, float(np.sqrt(0.5 * (skew**2).sum(axis=(1, 2))).max()))
    end = float(np.linalg.norm(places() - first, axis=1).max())
    return {"displacement": displacement, "rotation": rotation, "end": end, "contacts": int(data.ncon)}


def main() -> None:
    """Read the task, answer for each of the settings."""
    task = json.loads(sys.stdin.readline())
    answers = {}
    for name, settings in SETTINGS.items():
        model, data = block_on_slope(task) if "angle" in task else build(task)
        apply(settings, model)
        answers[name] = watch(task, model, data)
    print(json.dumps({"version": mujoco.__version__, "answers": answers}))


if __name__ == "__main__":
    main()
