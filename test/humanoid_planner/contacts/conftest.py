# SPDX-License-Identifier: Apache-2.0
"""Scenarios, and a check of plans that shares nothing with the planner: Pinocchio's frames and scipy's LP."""

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import linprog

from humanoid_model import load_robot, load_scene
from humanoid_model.contact import Contact, ContactKind, Stance
from humanoid_planner.contacts import (
    Attractor,
    CentreOfMassAttractor,
    ContactCount,
    PredefinedCandidates,
    RandomCandidates,
)
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture import NearReference
from humanoid_planner.posture.tasks.link_tasks import centre_of_mass_at, point_at

CAN = [1.15, 0.1, 0.78]
TOP = [1.65, 0.0, 1.53]


def feet(robot, surface, x):
    return Stance(
        tuple(
            Contact(robot.contacts[f"{side}_sole"], surface, x, y, 0.0)
            for side, y in (("left", 0.095), ("right", -0.095))
        )
    )


class Scenario:
    """What plan_contacts takes: positional arguments, keyword arguments."""

    def __init__(self, name):
        self.robot, self.scene = load_robot("hrp2"), load_scene(name)
        self.kinematics = RobotKinematics(self.robot)
        self.surfaces = {surface.name: surface for surface in self.scene.surfaces}
        self.options = {
            "criterion": NearReference(self.kinematics, self.robot.postures["half_sitting"]),
            "terms": [ContactCount(0.02)],
            "collisions": False,
        }

    @property
    def arguments(self):
        return self.robot, self.scene, self.start, self.goal


@pytest.fixture(scope="package")
def can():
    """The can on the table: one hand has to bear before the other reaches the can."""
    case = Scenario("can_on_table")
    case.start = feet(case.robot, case.surfaces["platform"], 0.1)
    fingers = case.robot.contacts["left_hand_fingers"].placement_link_patch.translation
    case.goal = [point_at(case.kinematics, "LARM_LINK6", fingers, CAN, 0.005)]
    places = {}
    for side, sign in (("left", 1), ("right", -1)):
        places[f"{side}_sole", "platform"] = [(x, sign * y, 0.0) for x in (0.0, 0.1) for y in (0.095, 0.2)]
        places[f"{side}_sole", "floor"] = [(-0.8, sign * 0.095, 0.0)]
        places[f"{side}_hand_fingers", "table_top"] = [(x, sign * 0.15, 0.0) for x in (-0.5, -0.35, -0.2)]
        places[f"{side}_knee", "table_edge"] = [(0.0, sign * 0.12, 0.0)]
    case.options |= {
        "locations": [f"{side}_{part}" for part in ("sole", "hand_fingers", "knee") for side in ("left", "right")],
        "candidates": PredefinedCandidates(places),
        "forbidden": [("left_sole", "table_top"), ("right_sole", "table_top")],
        "potential": CentreOfMassAttractor(Attractor(CAN, 0.0)),
    }
    return case


@pytest.fixture(scope="package")
def stairs():
    """Five stairs, walked up on random footholds."""
    case = Scenario("five_stairs")
    case.start = feet(case.robot, case.surfaces["floor"], -0.2)
    case.goal = [centre_of_mass_at(TOP, 0.2)]
    case.options |= {
        "locations": ["left_sole", "right_sole"],
        "candidates": RandomCandidates(density=10.0, radius=1.0, headings=(0.0,), turn=0.1),
        "potential": CentreOfMassAttractor(Attractor(TOP, 0.0)),
    }
    return case


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

    def check(case, plan, friction):
        lower, upper = case.robot.limits.lower, case.robot.limits.upper
        assert len(plan.stances) == len(plan.planned) == len(plan.postures) == len(plan.potentials)
        for stance, q in zip(plan.stances, plan.postures, strict=True):
            assert drift(case.robot, case.scene, stance, q) < 1e-4
            assert balanced(case.robot, case.scene, stance, q, friction)
            assert (q[7:] > lower[7:] - 1e-5).all()
            assert (q[7:] < upper[7:] + 1e-5).all()
        last = len(plan) - plan.success
        for before, after in zip(plan.planned[: last - 1], plan.planned[1:last], strict=True):
            assert len(set(before.settled().holds) ^ set(after.settled().holds)) == 1
        assert len(plan.planned[-1].key) >= 1

    return check
