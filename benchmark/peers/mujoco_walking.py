# SPDX-License-Identifier: Apache-2.0
"""MuJoCo plays a walking pattern; driven by ``benchmark/walking.py`` in the peers' environment."""

from __future__ import annotations

import json
import sys
import time

import mujoco
import numpy as np
from mujoco_standing import build


class ServoWalk:
    """The same robot, corners and servos; the servos' targets follow the pattern.

    Joint springs pull towards ``qpos_spring`` and joint damping brakes towards zero speed: what damping times the
    target's speed would add is applied as a force of its own, which makes it the servo of the other engine.
    """

    def __init__(self, task: dict) -> None:
        """Build the model."""
        self.model, self.data = build(task)
        joints = [self.model.joint(name) for name in task["joints"]]
        self.springs = np.array([joint.qposadr[0] for joint in joints])
        self.dofs = np.array([joint.dofadr[0] for joint in joints])
        self.damping = self.model.dof_damping[self.dofs].copy()
        self.positions = np.array(task["positions"])
        self.velocities = np.array(task["velocities"])
        self.start = self.data.qpos.copy()

    def walk(self) -> dict:
        """The whole walk from the start."""
        model, data = self.model, self.data
        mujoco.mj_resetData(model, data)
        data.qpos[:] = self.start
        seconds, contacts = 0.0, 0
        for position, velocity in zip(self.positions, self.velocities, strict=True):
            model.qpos_spring[self.springs] = position
            data.qfrc_applied[self.dofs] = self.damping * velocity
            begin = time.perf_counter()
            mujoco.mj_step(model, data)
            seconds += time.perf_counter() - begin
            contacts += data.ncon
        return {
            "seconds": seconds / len(self.positions),
            "contacts": contacts / len(self.positions),
            "place": [float(x) for x in data.qpos[:3]],
        }


def main() -> None:
    """Read the task, then walk whenever the parent asks."""
    walk = ServoWalk(json.loads(sys.stdin.readline()))
    print(json.dumps({"version": mujoco.__version__}), flush=True)
    for _ in sys.stdin:
        print(json.dumps(walk.walk()), flush=True)


if __name__ == "__main__":
    main()
