# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's step of the standing robot; driven by ``benchmark/standing.py`` in the peers' environment."""

from __future__ import annotations

import json
import sys
import time

import mujoco
import numpy as np


def build_spec(task: dict) -> mujoco.MjSpec:
    """Return the same URDF on a floor, with four small spheres per sole."""
    spec = mujoco.MjSpec.from_string(task["urdf"])
    spec.option.timestep = task["dt"]
    spec.option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.gravity = task["gravity"]
    for shape in [*spec.geoms, *spec.meshes]:
        spec.delete(shape)
    root = spec.worldbody.first_body()
    if root.first_joint() is None:  # G1's URDF has one of its own
        root.add_freejoint()
    for corner in task["corners"]:
        spec.body(corner["link"]).add_geom(
            type=mujoco.mjtGeom.mjGEOM_SPHERE,
            size=[task["radius"], 0.0, 0.0],
            pos=corner["position"],
            mass=0.0,
            friction=[task["friction"], 0.0, 0.0],
            condim=3,
            contype=1,
            conaffinity=0,
        )
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5.0, 5.0, 0.1], contype=0, conaffinity=1,
        friction=[task["friction"], 0.0, 0.0], condim=3,
    )  # fmt: skip
    for name in task.get("motors", ()):
        motor = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.set_to_motor()
    return spec


def place(task: dict, model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Put the robot into its posture and give it the same servos as joint springs."""
    data.qpos[:7] = [*task["base"][:3], task["base"][6], *task["base"][3:6]]
    for name, servo in task["servos"].items():
        joint = model.joint(name)
        data.qpos[joint.qposadr[0]] = servo["position"]
        model.qpos_spring[joint.qposadr[0]] = servo["position"]
        model.jnt_stiffness[joint.id] = servo["stiffness"]
        model.dof_damping[joint.dofadr[0]] = servo["damping"]
        model.dof_armature[joint.dofadr[0]] = servo["armature"]


def build(task: dict) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return the robot on its floor, in its posture."""
    model = build_spec(task).compile()
    data = mujoco.MjData(model)
    place(task, model, data)
    return model, data


def main() -> None:
    """Read the task, settle, then time blocks of steps whenever the parent asks."""
    task = json.loads(sys.stdin.readline())
    model, data = build(task)
    mujoco.mj_step(model, data, task["settle"])
    start = data.qpos[:3].copy()
    print(json.dumps({"version": mujoco.__version__}), flush=True)
    total_steps = 0
    for line in sys.stdin:
        steps = int(line)
        push = task.get("push", {"force": 0.0})
        begin = time.process_time()
        if push["force"]:
            data.xfrc_applied[model.body(push["link"]).id, 0] = push["force"]
            mujoco.mj_step(model, data, push["steps"])
            data.xfrc_applied[:] = 0.0
            mujoco.mj_step(model, data, steps - push["steps"])
        else:
            mujoco.mj_step(model, data, steps)
        seconds = (time.process_time() - begin) / steps
        total_steps += steps
        force, normal = np.zeros(6), 0.0
        for contact in range(data.ncon):
            mujoco.mj_contactForce(model, data, contact, force)
            normal += force[0]
        answer = {
            "seconds": seconds,
            "contacts": data.ncon,
            "height": float(data.qpos[2]),
            "weight_ratio": normal / (sum(model.body_mass) * 9.81),
            "base_drift": float(np.linalg.norm(data.qpos[:2] - start[:2])) / (total_steps * task["dt"]),
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
