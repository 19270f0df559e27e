# SPDX-License-Identifier: Apache-2.0
"""Ticks of pink and mink on a humanoid; driven by ``benchmark/kinematics.py`` in the peers' environment.

Three frames and the centre of mass, both with the quadratic program solver daqp, joint limits kept, one call of
``solve_ik`` and one integration in a tick, as their examples have it.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version

import numpy as np

PERIOD = 1e-3


class Pink:
    """Pink on Pinocchio."""

    def __init__(self, task: dict) -> None:
        """Set up the tasks where the robot is."""
        import pink
        import pink.tasks
        import pinocchio as pin

        self.pink, self.pin = pink, pin
        self.version = f"pink {pink.__version__}"
        model = pin.buildModelFromXML(task["urdf"], pin.JointModelFreeFlyer())
        q = pin.neutral(model)
        q[:7] = task["base"]
        for name, value in task["joints"].items():
            q[model.joints[model.getJointId(name)].idx_q] = value
        self.configuration = pink.Configuration(model, model.createData(), q)
        self.frames = [pink.tasks.FrameTask(frame, 1.0, 1.0) for frame in task["frames"]]
        self.centre = pink.tasks.ComTask(1.0)
        for frame in [*self.frames, self.centre]:
            frame.set_target_from_configuration(self.configuration)
        self.start = self.frames[-1].transform_target_to_world.translation.copy()

    def tick(self, offset: np.ndarray) -> float:
        """Follow the last frame's target; how far it is away."""
        target = self.frames[-1].transform_target_to_world.copy()
        target.translation = self.start + offset
        self.frames[-1].set_target(target)
        velocity = self.pink.solve_ik(
            self.configuration, [*self.frames, self.centre], PERIOD, solver="daqp", safety_break=False
        )
        self.configuration.integrate_inplace(velocity, PERIOD)
        here = self.configuration.get_transform_frame_to_world(self.frames[-1].frame).translation
        return float(np.linalg.norm(here - target.translation))


class Mink:
    """Mink on MuJoCo."""

    def __init__(self, task: dict) -> None:
        """Set up the tasks where the robot is."""
        import mink
        import mujoco

        self.mink = mink
        self.version = f"mink {version('mink')}"
        spec = mujoco.MjSpec.from_string(task["urdf"])
        for shape in [*spec.geoms, *spec.meshes]:
            spec.delete(shape)
        spec.compiler.fusestatic = False
        spec.worldbody.first_body().add_freejoint()
        model = spec.compile()
        self.configuration = mink.Configuration(model)
        q = self.configuration.q.copy()
        x, y, z, qx, qy, qz, qw = task["base"]
        q[:7] = [x, y, z, qw, qx, qy, qz]
        for name, value in task["joints"].items():
            q[model.joint(name).qposadr[0]] = value
        self.configuration.update(q)
        self.frames = [mink.FrameTask(frame, "body", 1.0, 1.0) for frame in task["frames"]]
        self.centre = mink.ComTask(1.0)
        for frame in [*self.frames, self.centre]:
            frame.set_target_from_configuration(self.configuration)
        self.limits = [mink.ConfigurationLimit(model)]
        self.start = self.frames[-1].transform_target_to_world.translation().copy()

    def tick(self, offset: np.ndarray) -> float:
        """Follow the last frame's target; how far it is away."""
        old = self.frames[-1].transform_target_to_world
        target = self.mink.SE3.from_rotation_and_translation(old.rotation(), self.start + offset)
        self.frames[-1].set_target(target)
        velocity = self.mink.solve_ik(
            self.configuration, [*self.frames, self.centre], PERIOD, solver="daqp", limits=self.limits
        )
        self.configuration.integrate_inplace(velocity, PERIOD)
        here = self.configuration.get_transform_frame_to_world(self.frames[-1].frame_name, "body").translation()
        return float(np.linalg.norm(here - self.start - offset))


def main() -> None:
    """Read the task; for each line of offsets, tick through them and answer with the median time of a tick."""
    task = json.loads(sys.stdin.readline())
    engine = {"pink": Pink, "mink": Mink}[task["engine"]](task)
    print(json.dumps({"version": engine.version}), flush=True)
    for line in sys.stdin:
        seconds, away = [], 0.0
        for offset in np.array(json.loads(line)):
            begin = time.process_time()
            away = max(away, engine.tick(offset))
            seconds.append(time.process_time() - begin)
        print(json.dumps({"seconds": float(np.median(seconds)), "away": away}), flush=True)


if __name__ == "__main__":
    main()
