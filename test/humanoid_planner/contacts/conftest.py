# SPDX-License-Identifier: Apache-2.0
"""Scenarios of the benchmark, and a check of plans by other means: Pinocchio's frames and scipy's linear programs."""

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from fixtures.one_step import SHUT, problem, shut
from scipy.optimize import linprog

from examples.contact_scenarios import can_on_table, five_stairs
from humanoid_model.contact import ContactKind
from humanoid_planner.contacts import ContactPlanner


@pytest.fixture(scope="package")
def can():
    """The can on the table: one hand has to bear before the other reaches the can."""
    return can_on_table()


@pytest.fixture(scope="package")
def stairs():
    """Five stairs, walked up on random footholds."""
    return five_stairs()


def placement(scene, contact):
    body = next(body for body in scene.bodies if body.name == contact.surface.body)
    return body.placement_world_body * contact.surface.placement_body_surface * contact.placement_surface_patch


def drift(robot, scene, stance, q):
    """Largest distance [m] or angle [rad] of a contact's frame on the robot from that on the scene."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    worst = 0.0
    for contact in stance.contacts:
        link = data.oMf[robot.model.getFrameId(contact.location.link)]
        away = placement(scene, contact).actInv(link * contact.location.placement_link_patch)
        worst = max(worst, np.abs(pin.log6(away).vector).max())
    return worst


def balanced(robot, scene, stance, q, friction):
    """Whether forces in 16-sided pyramids about the cones at the bearing patches' corners carry the weight."""
    data = robot.model.createData()
    com = pin.centerOfMass(robot.model, data, q)
    mass = pin.computeTotalMass(robot.model)
    columns = []
    for contact in stance.contacts:
        if contact.kind is not ContactKind.FIXED:
            continue
        place = placement(scene, contact)
        for x, y in contact.location.patch:
            point = place.act(np.array([x, y, 0.0]))
            for angle in 2 * np.pi * np.arange(16) / 16:
                # Around the cone: 16 sides leave it by less than two percent.
                mu = friction / np.cos(np.pi / 16)
                force = place.rotation @ [mu * np.cos(angle), mu * np.sin(angle), 1.0]
                columns.append(np.concatenate([force, np.cross(point - com, force)]))
    load = np.array([0, 0, mass * 9.81, 0, 0, 0])
    # 0.1 N m and 0.1 N for what the posture's own tolerances leave.
    slack = np.hstack([np.eye(6), -np.eye(6)])
    A = np.hstack([np.array(columns).T, slack])
    solved = linprog(
        np.zeros(A.shape[1]), A_eq=A, b_eq=load, bounds=[(0, None)] * len(columns) + [(0, 0.1)] * 12, method="highs"
    )
    return solved.status == 0


@pytest.fixture(scope="package")
def frame_drift():
    """Largest distance of a contact's frames from each other, by Pinocchio."""
    return drift


@pytest.fixture(scope="package")
def check_plan():
    """Asserts what every plan has to be."""

    def check(case, plan):
        lower, upper = case.robot.limits.lower, case.robot.limits.upper
        assert len(plan.stances) == len(plan.planned) == len(plan.postures) == len(plan.potentials)
        for stance, q in zip(plan.stances, plan.postures, strict=True):
            assert drift(case.robot, case.scene, stance, q) < 1e-4
            assert balanced(case.robot, case.scene, stance, q, case.friction)
            assert (q[7:] > lower[7:] - 1e-5).all()
            assert (q[7:] < upper[7:] + 1e-5).all()
        last = len(plan) - plan.success
        for before, after in zip(plan.planned[: last - 1], plan.planned[1:last], strict=True):
            assert len(set(before.settled().holds) ^ set(after.settled().holds)) == 1
        assert len(plan.planned[-1].key) >= 1

    return check


@pytest.fixture(scope="package")
def stepped():
    """A step ahead with its motion: the foothold that is tried first has no way."""
    planner = ContactPlanner(problem(), motion=True)
    shut(planner, [SHUT])
    before = []
    close = planner.search.close

    def watched(node):
        before.append([one for one in planner.search.nodes if not one.closed])
        close(node)

    planner.search.close = watched
    return SimpleNamespace(planner=planner, plan=planner.run(max_nodes=60), before=before)
