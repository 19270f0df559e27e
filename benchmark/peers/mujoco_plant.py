# SPDX-License-Identifier: Apache-2.0
"""A robot in MuJoCo for a controller outside of it: efforts in, sensors' readings out; driven by ``balance_mujoco.py``.

One line of JSON each tick: {"efforts": [..] or null, "push": [x, y, z]}. Without efforts the servos hold the posture.
Inertial readings are means over the tick's steps, as the stack's.
"""

from __future__ import annotations

import json
import sys

import mujoco
import numpy as np
from mujoco_standing import build_spec, place


class Plant:
    """The simulated robot and its sensors."""

    def __init__(self, task: dict) -> None:
        spec = build_spec(task)
        for sensor in task["sensors"]:
            site = spec.body(sensor["link"]).add_site(name=sensor["name"], pos=sensor["position"], quat=sensor["quat"])
            kinds = {
                "imu": (mujoco.mjtSensor.mjSENS_GYRO, mujoco.mjtSensor.mjSENS_ACCELEROMETER),
                "force_torque": (mujoco.mjtSensor.mjSENS_FORCE, mujoco.mjtSensor.mjSENS_TORQUE),
            }[sensor["type"]]
            for number, kind in enumerate(kinds):
                spec.add_sensor(
                    name=f"{sensor['name']}_{number}", type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=site.name
                )
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        place(task, self.model, self.data)
        joints = [self.model.joint(name) for name in task["joints"]]
        self.places = np.array([joint.qposadr[0] for joint in joints])
        self.dofs = np.array([joint.dofadr[0] for joint in joints])
        self.imu = next(sensor["name"] for sensor in task["sensors"] if sensor["type"] == "imu")
        self.wrenches = [sensor["name"] for sensor in task["sensors"] if sensor["type"] == "force_torque"]
        self.steps, self.link = task["steps"], self.model.body(task["root"]).id

    def _pair(self, name: str) -> list[float]:
        return [*self.data.sensor(f"{name}_0").data, *self.data.sensor(f"{name}_1").data]

    def tick(self, efforts: list[float] | None, push: list[float]) -> dict:
        """Make the steps of one tick; return what the sensors read then, and the truth about the base beside it."""
        model, data = self.model, self.data
        if efforts is not None:
            model.jnt_stiffness[:] = 0.0
            model.dof_damping[:] = 0.0
            data.ctrl[:] = efforts
        inertial = np.zeros(6)
        for _ in range(self.steps):
            # The push acts at the robot's centre of mass.
            arm = data.subtree_com[self.link] - data.xipos[self.link]
            data.xfrc_applied[self.link] = [*push, *np.cross(arm, push)]
            mujoco.mj_step(model, data)
            inertial += np.array(self._pair(self.imu)) / self.steps
        return {
            "positions": data.qpos[self.places].tolist(),
            "velocities": data.qvel[self.dofs].tolist(),
            "rate": inertial[:3].tolist(),
            "force": inertial[3:].tolist(),
            # What the rest exerts on the link, by its sign; the stack's is what the link exerts on the rest.
            "wrenches": {name: [-x for x in self._pair(name)] for name in self.wrenches},
            "base": data.xpos[self.link].tolist(),
            "upright": float(data.xmat[self.link][8]),
        }


def main() -> None:
    """Read the task, then answer each tick; a line "restart" puts the robot back."""
    task = json.loads(sys.stdin.readline())
    plant = Plant(task)
    print(json.dumps({"version": mujoco.__version__}), flush=True)
    for line in sys.stdin:
        tick = json.loads(line)
        if tick == "restart":
            plant = Plant(task)
            print("{}", flush=True)
        else:
            print(json.dumps(plant.tick(**tick)), flush=True)


if __name__ == "__main__":
    main()
