# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's steps of falling robots and boxes; driven by ``benchmark/falls.py`` in the peers' environment."""

from __future__ import annotations

import json
import sys
import time

import mujoco
import numpy as np


def build(task: dict) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return the robot's URDF with the given shapes, or boxes, on a floor."""
    robot = "urdf" in task
    spec = mujoco.MjSpec.from_string(task["urdf"]) if robot else mujoco.MjSpec()
    spec.option.timestep = task["dt"]
    spec.option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    friction = [task["friction"], 0.0, 0.0]
    if robot:
        for shape in [*spec.geoms, *spec.meshes]:
            spec.delete(shape)
        root = spec.worldbody.first_body()
        if root.first_joint() is None:
            root.add_freejoint()
    for own in task["bodies"]:
        place = own["place"]
        body = spec.worldbody.add_body(name=own["name"], pos=place[:3], quat=[place[6], *place[3:6]])
        body.add_freejoint()
        body.mass, body.inertia, body.explicitinertial = own["mass"], own["inertia"], True
    for number, shape in enumerate(task["shapes"]):
        body = spec.body(shape["link"])
        place = shape["place"]
        given = {"type": getattr(mujoco.mjtGeom, f"mjGEOM_{shape['type'].upper()}")}
        if shape["type"] == "mesh":
            mesh = spec.add_mesh(name=f"mesh_{number}", uservert=shape["vertices"])
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
            given["meshname"] = mesh.name
        else:
            given["size"] = shape["size"]
        body.add_geom(
            pos=place[:3], quat=[place[6], *place[3:6]], mass=0.0, friction=friction, condim=3, contype=1,
            conaffinity=1 if task["self_collision"] else 0, **given,
        )  # fmt: skip
    for first, second in task["excluded"]:
        spec.add_exclude(bodyname1=first, bodyname2=second)
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1.0], contype=1, conaffinity=1, friction=friction, condim=3
    )
    model = spec.compile()
    data = mujoco.MjData(model)
    if robot:
        base = task["base"]
        data.qpos[:7] = [*base[:3], base[6], *base[3:6]]
        for name, value in task["joints"].items():
            joint = model.joint(name)
            data.qpos[joint.qposadr[0]] = value
            model.dof_armature[joint.dofadr[0]] = task["armature"][name]
    return model, data


def main() -> None:
    """Read the task, settle, then make the steps at once and one by one."""
    task = json.loads(sys.stdin.readline())
    model, data = build(task)
    mujoco.mj_step(model, data, round(task["settle"] / task["dt"]))
    start = mujoco.MjData(model)
    mujoco.mj_copyData(start, model, data)
    steps = round(task["duration"] / task["dt"])
    begin = time.process_time()
    mujoco.mj_step(model, data, steps)
    mean = (time.process_time() - begin) / steps
    mujoco.mj_copyData(data, model, start)
    longest, most = 0.0, 0
    for _ in range(steps):
        begin = time.process_time()
        mujoco.mj_step(model, data)
        longest = max(longest, time.process_time() - begin)
        most = max(most, data.ncon)
    deepest = float(-min(np.min(data.contact.dist), 0.0)) if data.ncon else 0.0
    print(json.dumps({"mean": mean, "longest": longest, "contacts": most, "deepest": deepest}))


if __name__ == "__main__":
    main()
