# SPDX-License-Identifier: Apache-2.0
"""A step written with Pinocchio 4's own contact solver (PGS), as its user would write it in Python.

Driven by ``benchmark/standing.py`` in the peers' environment. Everything is rebuilt at each step: contact
placements, Cholesky of the constrained system, solve, forward dynamics, integration.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import pinocchio as pin


class StandingLoop:
    """The robot on a floor held by explicit joint servos that are stable at the given step."""

    def __init__(self, task: dict) -> None:
        """Build the model, the contact points and the servos."""
        self.dt, self.friction = task["dt"], task["friction"]
        self.model = pin.buildModelFromXML(task["urdf"], pin.JointModelFreeFlyer())
        self.model.gravity.linear = np.array(task["gravity"])
        self.data = self.model.createData()
        self.q = pin.neutral(self.model)
        self.q[:7] = task["base"]
        self.stiffness, self.damping = np.zeros(self.model.nv), np.zeros(self.model.nv)
        armature = np.zeros(self.model.nv)
        for name, servo in task["servos"].items():
            joint = self.model.joints[self.model.getJointId(name)]
            self.q[joint.idx_q] = servo["position"]
            self.stiffness[joint.idx_v], self.damping[joint.idx_v] = servo["stiffness"], servo["damping"]
            armature[joint.idx_v] = servo["armature"]
        # The same servos as everywhere else in the table, taken implicitly: their part of the step's inertia is
        # added as armature, so that Pinocchio's own algorithms carry it.
        self.model.armature = armature + self.dt * self.damping + self.dt**2 * self.stiffness
        self.target, self.v = self.q.copy(), np.zeros(self.model.nv)
        self.points = []
        for corner in task["corners"]:
            frame = self.model.frames[self.model.getFrameId(corner["link"], pin.FrameType.BODY)]
            self.points.append((frame.parentJoint, frame.placement.act(np.array(corner["position"]))))
        self.guess = np.zeros(3 * len(self.points))
        self.iterations = 0
        self.impulses = self.guess

    def step(self) -> None:
        """One step."""
        model, data, dt = self.model, self.data, self.dt
        pin.forwardKinematics(model, data, self.q, self.v)
        pin.crba(model, data, self.q, pin.Convention.WORLD)
        models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        gaps = []
        for joint, local in self.points:
            point = data.oMi[joint].act(local)
            gaps.append(point[2])
            world = pin.SE3(np.eye(3), np.array([point[0], point[1], 0.0]))
            contact = pin.PointContactConstraintModel(
                model, 0, world, joint, pin.SE3(data.oMi[joint].rotation.T, local)
            )
            contact.setFriction(self.friction)
            models.append(pin.ConstraintModel(contact))
        for constraint in models:
            datas.append(constraint.createData())
        for constraint, constraint_data in zip(models, datas, strict=True):
            constraint.calc(model, data, constraint_data)
        cholesky = pin.ConstraintCholeskyDecomposition(model, data, models, datas)
        cholesky.compute(model, data, models, datas, 1e-9)
        operator = cholesky.getDelassusOperatorCholeskyExpression()
        J = pin.getConstraintsJacobian(model, data, models, datas)
        error = pin.difference(model, self.q, self.target)
        tau = self.stiffness * (error - dt * self.v) - self.damping * self.v
        v_free = self.v + dt * pin.aba(model, data, self.q, self.v, tau)
        drift = J @ v_free
        drift[2::3] += np.maximum(gaps, 0.0) / dt
        solver = pin.PGSConstraintSolver(len(drift))
        settings, result = pin.PGSSolverSettings(), pin.PGSSolverResult()
        settings.absolute_feasibility_tol = settings.relative_feasibility_tol = 1e-8
        settings.absolute_complementarity_tol = settings.relative_complementarity_tol = 1e-8
        result.setConstraintImpulseGuess(self.guess)
        solver.solve(operator, drift, models, datas, settings, result)
        self.guess = self.impulses = np.array(result.retrieveConstraintImpulses())
        self.iterations = result.iterations
        self.v = v_free + pin.computeMinverse(model, data, self.q) @ (J.T @ self.impulses)
        self.q = pin.integrate(model, self.q, dt * self.v)


def main() -> None:
    """Read the task, settle, then time blocks of steps whenever the parent asks."""
    task = json.loads(sys.stdin.readline())
    loop = StandingLoop(task)
    for _ in range(task["settle"]):
        loop.step()
    start = loop.q[:3].copy()
    print(json.dumps({"version": pin.__version__}), flush=True)
    total_steps = 0
    weight = pin.computeTotalMass(loop.model) * 9.81
    for line in sys.stdin:
        steps = int(line)
        begin = time.process_time()
        for _ in range(steps):
            loop.step()
        seconds = (time.process_time() - begin) / steps
        total_steps += steps
        answer = {
            "seconds": seconds,
            "contacts": len(loop.points),
            "weight_ratio": float(loop.impulses[2::3].sum()) / loop.dt / weight,
            "base_drift": float(np.linalg.norm(loop.q[:2] - start[:2])) / (total_steps * loop.dt),
            "iterations": loop.iterations,
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
