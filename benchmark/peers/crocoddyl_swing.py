# SPDX-License-Identifier: Apache-2.0
"""A swing of one foot by Crocoddyl, for ``benchmark/gait_peers.py``: differential dynamic programming, one thread.

The other foot is a rigid contact of six coordinates, costs are weighted squares of efforts, the end is a penalty on the
state. Integration is Euler's, since Crocoddyl's contacts with Runge-Kutta's cost four times as much.
"""

from __future__ import annotations

import json
import sys
import time

import crocoddyl
import numpy as np
import pinocchio as pin


def sorted_state(row: tuple[list[float], list[float]], places: list[int]) -> np.ndarray:
    """Return a state whose joints come in another order."""
    q, v = (np.array(part) for part in row)
    return np.concatenate([q[:7], q[7:][places], v[:6], v[6:][places]])


def problem(task: dict) -> tuple[crocoddyl.ShootingProblem, list[np.ndarray], np.ndarray, list[str]]:
    """Return the problem, states that it begins with, the state at the end, and names of the joints in order."""
    model = pin.buildModelFromXML(task["urdf"], pin.JointModelFreeFlyer())
    armature = np.zeros(model.nv)
    for joint, value in task["armature"].items():
        armature[model.joints[model.getJointId(joint)].idx_v] = value
    model.armature = armature
    state = crocoddyl.StateMultibody(model)
    actuation = crocoddyl.ActuationModelFloatingBase(state)
    order = list(model.names[2:])
    places = [task["names"].index(name) for name in order]
    ends = [sorted_state(row, places) for row in task["states"]]
    data = model.createData()
    pin.framesForwardKinematics(model, data, ends[0][: model.nq])
    foot = model.getFrameId(task["foot"])
    contacts = crocoddyl.ContactModelMultiple(state, actuation.nu)
    held = crocoddyl.ContactModel6D(
        state, foot, data.oMf[foot], pin.LOCAL_WORLD_ALIGNED, actuation.nu, np.array([0.0, 50.0])
    )
    contacts.addContact("foot", held)
    weights = 2.0 * np.array([task["weights"][name] for name in order])
    effort = crocoddyl.CostModelResidual(
        state, crocoddyl.ActivationModelWeightedQuad(weights), crocoddyl.ResidualModelControl(state, actuation.nu)
    )
    costs = crocoddyl.CostModelSum(state, actuation.nu)
    costs.addCost("effort", effort, 1.0)
    change = crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelJointAcceleration(state, actuation.nu))
    costs.addCost("acceleration", change, 2.0 * task["smooth"])
    last = crocoddyl.CostModelSum(state, actuation.nu)
    reached = crocoddyl.CostModelResidual(
        state, crocoddyl.ActivationModelQuad(state.ndx), crocoddyl.ResidualModelState(state, ends[1], actuation.nu)
    )
    last.addCost("end", reached, task["end"])
    dynamics = [
        crocoddyl.DifferentialActionModelContactFwdDynamics(state, actuation, contacts, own, 0.0, True)
        for own in (costs, last)
    ]
    running = crocoddyl.IntegratedActionModelEuler(dynamics[0], task["dt"])
    knots = round(task["duration"] / task["dt"])
    end = crocoddyl.IntegratedActionModelEuler(dynamics[1], 0.0)
    found = crocoddyl.ShootingProblem(ends[0], [running] * knots, end)
    found.nthreads = 1
    way = state.diff(ends[0], ends[1])
    return found, [state.integrate(ends[0], share * way) for share in np.linspace(0.0, 1.0, knots + 1)], ends[1], order


def main() -> None:
    """Read the task, then solve whenever the parent asks, from the states it gives if there are any."""
    task = json.loads(sys.stdin.readline())
    print(json.dumps({"version": crocoddyl.__version__}), flush=True)
    for line in sys.stdin:
        begin = time.process_time()
        shooting, states, end, order = problem(task)
        places = [task["names"].index(name) for name in order]
        if near := json.loads(line):
            states = [sorted_state(row, places) for row in near]
        built = time.process_time() - begin
        begin = time.process_time()
        solver = crocoddyl.SolverFDDP(shooting)
        solver.th_stop = 1e-9
        controls = shooting.quasiStatic(states[:-1])
        converged = solver.solve(states, controls, 300, False)
        seconds = time.process_time() - begin
        state = shooting.runningModels[0].state
        answer = {
            "build": built, "seconds": seconds, "converged": bool(converged), "iterations": int(solver.iter),
            "cost": float(sum(data.cost for data in shooting.runningDatas)),
            "off": float(np.abs(state.diff(solver.xs[-1], end)).max()),
            "q": [[*x[:7], *[x[7 + order.index(name)] for name in task["names"]]] for x in solver.xs],
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
