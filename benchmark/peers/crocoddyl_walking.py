# SPDX-License-Identifier: Apache-2.0
"""Crocoddyl's walk of a biped in space, for scale; driven by ``benchmark/gait.py`` in the peers' environment.

Two steps by differential dynamic programming as Crocoddyl's own example sets them up: rigid contacts of the whole feet,
feet along given arcs, penalties on states, joint limits, forces and torques. It is another problem than a planar phase
(all joints, no closed chain with its forces as unknowns, feet's ways given), so only the order of magnitude compares.
"""

from __future__ import annotations

import json
import sys
import time

import crocoddyl
import numpy as np
import pinocchio as pin
from crocoddyl.utils.biped import SimpleBipedGaitProblem


def main() -> None:
    """Read the task, then solve the walk whenever the parent asks."""
    task = json.loads(sys.stdin.readline())
    model = pin.buildModelFromUrdf(task["urdf"], pin.JointModelFreeFlyer())
    model.armature[6:] = task["armature"]
    posture = pin.neutral(model)
    for joint, angle in task["posture"].items():
        posture[model.joints[model.getJointId(joint)].idx_q] = angle
    data = model.createData()
    pin.framesForwardKinematics(model, data, posture)
    posture[2] -= data.oMf[model.getFrameId(task["feet"][0])].translation[2]
    model.referenceConfigurations["half_sitting"] = posture
    state = np.concatenate([posture, np.zeros(model.nv)])
    knots = [max(round(duration / task["dt"]), 1) for duration in (task["single_support"], task["double_support"])]
    print(json.dumps({"version": crocoddyl.__version__}), flush=True)
    for _ in sys.stdin:
        begin = time.process_time()
        walk = SimpleBipedGaitProblem(model, *task["feet"])
        problem = walk.createWalkingProblem(state, task["step_length"], task["step_height"], task["dt"], *knots)
        problem.nthreads = 1
        solver = crocoddyl.SolverFDDP(problem)
        solver.th_stop = 1e-4
        built = time.process_time() - begin
        begin = time.process_time()
        converged = solver.solve([state] * (problem.T + 1), problem.quasiStatic([state] * problem.T), 200, False)
        answer = {
            "build": built,
            "seconds": time.process_time() - begin,
            "converged": bool(converged),
            "iterations": int(solver.iter),
            "advance": float(solver.xs[-1][0] - state[0]),
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
