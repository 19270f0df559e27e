# SPDX-License-Identifier: Apache-2.0
"""Links of HRP-2 that may touch each other, and that they then do."""

import dataclasses

import coal
import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import floor, scene, standing

from humanoid_model import load_robot
from humanoid_model.coal_geometry import coal_geometry
from humanoid_sim import Simulation
from humanoid_sim.detection.self_collision import SelfCollision, find_self_collision

HAND, THIGH = "RARM_LINK6", "RLEG_LINK2"


@pytest.fixture(scope="module")
def found() -> SelfCollision:
    robot = load_robot("hrp2")
    return find_self_collision(robot, robot.postures["half_sitting"])


def allowed(found: SelfCollision, a: str, b: str) -> bool:
    return bool(found.allowed[found.links.index(a), found.links.index(b)])


def test_neighbours_and_what_always_overlaps_are_left_out(found: SelfCollision) -> None:
    assert ("RLEG_LINK3", "RLEG_LINK4") in found.adjacent
    assert ("RLEG_LINK0", "RLEG_LINK2") in found.start  # the hip's axes cross in a point
    assert ("RLEG_LINK0", "RLEG_LINK2") in found.always
    for pair in found.adjacent | found.start | found.always:
        assert not allowed(found, *pair)
    assert allowed(found, HAND, THIGH)
    assert allowed(found, "RARM_LINK6", "LARM_LINK6")
    assert (found.allowed == found.allowed.T).all()


def test_nothing_allowed_overlaps_at_the_start_as_coal_sees_it(found: SelfCollision) -> None:
    robot = load_robot("hrp2")
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, robot.postures["half_sitting"])
    placed = []
    for link in found.links:
        attachment = robot.parts.links[link]
        for geometry in robot.description.links[link].collisions:
            at = data.oMi[attachment.joint_id] * attachment.placement_joint_link * geometry.placement
            placed.append((link, coal_geometry(geometry.shape), coal.Transform3s(at.rotation, at.translation)))
    request, result, overlapping = coal.CollisionRequest(), coal.CollisionResult(), set()
    for i, (a, shape_a, at_a) in enumerate(placed):
        for b, shape_b, at_b in placed[i + 1 :]:
            result.clear()
            if a != b and coal.collide(shape_a, at_a, shape_b, at_b, request, result):
                overlapping.add((a, b))
    assert not any(allowed(found, *pair) for pair in overlapping)
    assert found.start <= overlapping
    assert overlapping - found.start <= found.adjacent  # shapes flush at a joint, on which rounding decides


def test_links_that_overlap_at_the_start_are_left_alone() -> None:
    robot = load_robot("hrp2")
    q = robot.postures["half_sitting"].copy()
    q[robot.index_q("RARM_JOINT1")], q[robot.index_q("RARM_JOINT2")] = 0.1, 0.3
    found = find_self_collision(robot, q, samples=20)
    assert (THIGH, HAND) in found.start
    assert not allowed(found, HAND, THIGH)


def test_robots_file_can_exclude_a_pair() -> None:
    robot = dataclasses.replace(load_robot("hrp2"), disabled_collisions=((HAND, THIGH),))
    found = find_self_collision(robot, robot.postures["half_sitting"], samples=5)
    assert not allowed(found, HAND, THIGH)
    assert found.disabled == {(THIGH, HAND)}


def test_same_seed_finds_the_same(found: SelfCollision) -> None:
    robot = load_robot("hrp2")
    again = find_self_collision(robot, robot.postures["half_sitting"])
    assert (again.allowed == found.allowed).all()
    assert again.never == found.never
    assert not any(HAND in pair and THIGH in pair for pair in found.never)


@pytest.mark.feature("000-F073")
@pytest.mark.parametrize("self_collision", [False, True])
def test_hand_cannot_pass_through_the_thigh(self_collision: bool) -> None:
    """The right arm is told to go where hand and thigh overlap: only without self-collision does it get there."""
    robot = load_robot("hrp2", floating_base=False)
    world = dataclasses.replace(
        scene(robots=(standing(robot),), gravity=(0.0, 0.0, 0.0)), self_collision=self_collision
    )
    simulation = Simulation(world)
    arm = simulation.robots["hrp2"]
    joints = ["RARM_JOINT1", "RARM_JOINT2"]
    start = np.array([-0.17, 0.0])
    for share in np.linspace(0.0, 1.0, 400):
        arm.set_position_target(start + share * (np.array([0.1, 0.3]) - start), joints=joints)
        simulation.step()
    simulation.run(0.2)
    touching = {frozenset((a.split("/")[1], b.split("/")[1])) for a, b in simulation.contacts.bodies}
    reached = np.array(
        [arm.joint_positions[list(robot.joint_names).index(name)] for name in joints]
    )
    if self_collision:
        assert any(THIGH in pair and pair & {"RARM_LINK5", HAND} for pair in touching)
        assert simulation.contacts.gap.min() > -1e-4
        assert simulation.contacts.normal_force.max() > 1.0
        assert np.abs(reached - [0.1, 0.3]).max() > 0.02
    else:
        assert not touching
        assert np.abs(reached - [0.1, 0.3]).max() < 0.02


def test_standing_robot_does_not_touch_itself() -> None:
    world = dataclasses.replace(scene(floor(), robots=(standing(load_robot("hrp2")),)), self_collision=True)
    simulation = Simulation(world)
    simulation.run(0.02)
    assert all(b == "floor" for _, b in simulation.contacts.bodies)
