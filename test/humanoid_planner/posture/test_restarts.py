# SPDX-License-Identifier: Apache-2.0
"""Postures that the first search misses, proofs that there is none, and limits of time and size."""

import dataclasses
import time

import numpy as np
import pinocchio as pin
import pytest
from fixtures.planner_robots import reference_data
from fixtures.posture_problems import HALF_SITTING, HRP2, feet, hand_on_wall

from humanoid_model import Contact, InputError, Stance, Surface, load_robot
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.program import ReturnCode, SolverOptions
from humanoid_planner.posture import NearReference, generate_posture
from humanoid_planner.posture.explanation import out_of_reach
from humanoid_planner.posture.generate import RESTARTS
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements
from humanoid_planner.posture.tasks import link_tasks

KINEMATICS = RobotKinematics(HRP2)
NEAR = NearReference(KINEMATICS, HALF_SITTING)


#: Where the left foot stands off its place in half-sitting (x, y, angle), and where the right hand shall be.
REACHES = [
    ((-0.075, 0.118, -0.126), (0.684, 0.478, 1.366)),
    ((-0.144, 0.126, -0.274), (0.624, 0.213, 1.291)),
    ((0.216, 0.110, -0.165), (0.215, -0.478, 0.320)),
    ((0.271, 0.080, 0.128), (0.638, 0.164, 1.458)),
]


def test_postures_behind_local_failures_are_found() -> None:
    """Of four reaches that the first search gives up, the same random starts find three at least, every time."""
    given_up = found = 0
    for (x, y, theta), target in REACHES:
        left, right = feet()
        stance = Stance((dataclasses.replace(left, x=left.x + x, y=left.y + y, theta=left.theta + theta), right))
        task = link_tasks.point_at(KINEMATICS, "RARM_LINK6", [0, 0, 0], target, 0.005)
        request = {"tasks": [task], "criterion": NEAR, "explain": False}
        once = generate_posture(HRP2, stance, restarts=0, **request)
        result = generate_posture(HRP2, stance, **request)
        assert once.starts == 1
        given_up += not once.success
        if result.success and not once.success:
            found += 1
            assert 2 <= result.starts <= 1 + RESTARTS
            hand = reference_data(HRP2, result.q).oMf[HRP2.parts.links["RARM_LINK6"].frame_id].translation
            assert np.linalg.norm(hand - target) <= 0.005 + 1e-5
            again = generate_posture(HRP2, stance, **request)
            assert again.starts == result.starts
            np.testing.assert_array_equal(again.q, result.q)
    assert given_up >= 3
    assert found >= given_up - 1


def test_restarts_end_within_the_time_limit() -> None:
    stance = Stance((*feet(), hand_on_wall(height=1.9)))  # within the chain's length, but not reachable
    generate_posture(HRP2, stance, stability="none", criterion=NEAR, explain=False, restarts=0)  # loads kernels
    began = time.perf_counter()
    result = generate_posture(
        HRP2, stance, restarts=100_000, options=SolverOptions(time_limit=2.0), stability="none", criterion=NEAR
    )
    assert time.perf_counter() - began < 20.0  # 100 000 searches would take half an hour
    assert not result.success
    assert result.impossible == ""
    assert 1 < result.starts < 10_000
    assert f"from {result.starts} starts" in result.explanation


def test_what_is_proved_impossible_is_tried_once() -> None:
    far = Surface("far wall", "world", pin.SE3(np.eye(3), np.array([3.0, 0.0, 0.5])))
    hand = Contact(HRP2.contacts["right_hand_fingers"], far, 0.0, 0.0, 0.0)
    feasible = generate_posture(HRP2, Stance((*feet(), hand_on_wall())), stability="none", criterion=NEAR)
    assert feasible.success
    assert feasible.impossible == ""
    result = generate_posture(HRP2, Stance((*feet(), hand)), stability="none", criterion=NEAR, explain=False)
    assert result.starts == 1
    assert "contact right_hand_fingers on far wall are 3." in result.impossible
    assert result.explanation.startswith(f"There is none: {result.impossible}. No posture found: ")
    assert result.evaluations <= 3 * max(feasible.evaluations, 10)
    # a point and a distance tell as well
    for tolerance in (0.0, 0.05):
        task = link_tasks.point_at(KINEMATICS, "RARM_LINK6", [0, 0, 0], [0.0, -3.0, 1.0], tolerance)
        result = generate_posture(HRP2, Stance(feet()), tasks=[task], explain=False)
        assert result.starts == 1
        assert "RARM_LINK6 at a point" in result.impossible


@pytest.mark.parametrize("name", ["hrp2", "bip", "five_bar"])
def test_places_of_true_postures_are_never_called_out_of_reach(name: str) -> None:
    """The bound holds for random postures, of which each link's place is prescribed, by Pinocchio."""
    robot = load_robot(name)
    kinematics = RobotKinematics(robot)
    rng = np.random.default_rng(0)
    for _ in range(8):
        low, high = np.maximum(kinematics.lower, -3.0), np.minimum(kinematics.upper, 3.0)
        data_q = kinematics.configuration(rng.uniform(low, high))
        data = reference_data(robot, data_q)
        tasks = []
        for link, attachment in robot.parts.links.items():
            point = rng.uniform(-0.2, 0.2, 3)
            tasks.append(
                link_tasks.point_at(kinematics, link, point, data.oMf[attachment.frame_id].act(point), name=link)
            )
        centre = pin.centerOfMass(robot.model, data, data_q)
        tasks.append(link_tasks.centre_of_mass_at(centre, 1e-9))
        assert out_of_reach(kinematics.variables, (), tasks) == ""


def test_a_stretched_arm_reaches_just_as_far_as_the_bound() -> None:
    """HRP-2's elbow: two points about one joint are as far apart as both arms of the lever."""
    data = reference_data(HRP2, HALF_SITTING)
    upper, fore = HRP2.parts.links["RARM_LINK2"].frame_id, HRP2.parts.joint_ids["RARM_JOINT3"]
    elbow, ahead, up = data.oMi[fore].translation, *np.eye(3)[[0, 2]]
    hold = link_tasks.point_at(KINEMATICS, "RARM_LINK2", data.oMf[upper].actInv(elbow + 0.3 * up), 0.3 * up)
    fore_frame = HRP2.parts.links["RARM_LINK3"].frame_id
    point = data.oMf[fore_frame].actInv(elbow + 0.2 * ahead)
    for distance, proved in ((0.4999, False), (0.501, True)):
        reach = link_tasks.point_at(KINEMATICS, "RARM_LINK3", point, [0.0, 0.0, 0.3 - distance])
        assert bool(out_of_reach(KINEMATICS.variables, (), [hold, reach])) is proved


def test_a_centre_of_mass_that_a_stretched_leg_would_not_carry_is_proved_to_be_out_of_reach() -> None:
    """Stretched upwards from its toes, the robot with its arms hanging has its centre of mass below the bound."""
    data = reference_data(HRP2, HRP2.postures["zero"])
    foot = HRP2.parts.links["RLEG_LINK5"].frame_id
    hold = link_tasks.point_at(KINEMATICS, "RLEG_LINK5", [0, 0, 0], [0, 0, 0])
    height = float(pin.centerOfMass(HRP2.model, data, HRP2.postures["zero"])[2] - data.oMf[foot].translation[2])
    # Nothing of the robot is farther from its foot than all its offsets together.
    longest = sum(float(np.linalg.norm(place.translation)) for place in HRP2.model.jointPlacements) + 0.5
    for above, proved in ((height, False), (longest, True)):
        goal = link_tasks.centre_of_mass_at([0, 0, above], 1e-3)
        assert bool(out_of_reach(KINEMATICS.variables, (), [hold, goal])) is proved


@pytest.mark.parametrize("solver", ["sqp", "feasible_sqp"])
def test_time_limits_hold_within_an_iteration(solver: str) -> None:
    """A round sole of 240 vertices: one iteration takes longer than the limit."""
    angles = 2 * np.pi * np.arange(240) / 240
    left, right = feet()
    patch = np.column_stack([0.1 * np.cos(angles), 0.06 * np.sin(angles)])
    round_sole = dataclasses.replace(left, location=dataclasses.replace(left.location, patch=patch))
    began = time.perf_counter()
    result = generate_posture(
        HRP2, Stance((round_sole, right, hand_on_wall(height=2.6))), stability="forces", torque_limits=True,
        criterion=NEAR, solver=solver, options=SolverOptions(time_limit=0.5),
    )  # fmt: skip
    assert time.perf_counter() - began < 10.0
    assert result.status == ReturnCode.TIME_LIMIT


@pytest.mark.parametrize(("stability", "most"), [("forces", 256), ("polytope", 64)])
def test_more_contact_points_than_can_be_worked_with_are_refused(stability: str, most: int) -> None:
    left, right = feet()
    for count in (most - 4, most - 3):
        angles = 2 * np.pi * np.arange(count) / count
        patch = np.column_stack([0.1 * np.cos(angles), 0.06 * np.sin(angles)])
        many = dataclasses.replace(left, location=dataclasses.replace(left.location, patch=patch))
        if count == most - 4:
            if stability == "forces":
                PostureProblem(HRP2, Stance((many, right)), PostureRequirements(stability=stability))
            continue
        with pytest.raises(InputError, match=rf"stance: {most + 1} points bear force, {count} of them of 'left_sole'"):
            PostureProblem(HRP2, Stance((many, right)), PostureRequirements(stability=stability))
