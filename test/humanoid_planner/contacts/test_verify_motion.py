# SPDX-License-Identifier: Apache-2.0
"""Motions that are spoilt in one way each are caught, and told by what is wrong with them."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from fixtures.one_step import ROBOT, SCENE

from humanoid_model.description import Box, Geometry
from humanoid_model.scene import SceneBody
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory
from humanoid_planner.contacts import verify_motion

pytestmark = pytest.mark.feature("001-F233")


@pytest.fixture(scope="module")
def motion(stepped):
    """Every fourth sample, and all where contacts change."""
    whole = stepped.plan.motion.trajectory
    twice = np.flatnonzero(np.diff(whole.times) == 0.0)
    kept = sorted({*range(0, len(whole.times), 4), *twice, *(twice + 1), len(whole.times) - 1})
    return picked(whole, kept)


def picked(whole, kept):
    return WholeBodyTrajectory(
        whole.robot, whole.times[kept], whole.q[kept], whole.v[kept], whole.a[kept], whole.contacts,
        tau=whole.tau[kept], forces=[whole.forces[k] for k in kept],
    )  # fmt: skip


def changed(motion, **fields):
    given = {name: np.array(getattr(motion, name)) for name in ("times", "q", "v", "a", "tau")}
    given |= {"contacts": motion.contacts, "forces": motion.forces} | fields
    arrays = [given.pop(name) for name in ("times", "q", "v", "a", "contacts")]
    return WholeBodyTrajectory(motion.robot, *arrays, **given)


def kinds(motion, scene=SCENE):
    verdict = verify_motion(motion, scene)
    assert verdict.success is not bool(verdict.violations)
    return {violation.kind for violation in verdict.violations}


def joint(name):
    index = ROBOT.model.joints[ROBOT.model.getJointId(name)]
    return index.idx_q, index.idx_v


def swinging(motion):
    """Index of the sample in which the right foot is highest."""
    return int(np.argmax([ROBOT.link_placements(q)["RLEG_LINK5"].translation[2] for q in motion.q]))


def test_the_motion_of_a_plan_holds(motion):
    verdict = verify_motion(motion, SCENE)
    assert verdict.violations == ()
    assert verdict.postures > 100
    assert 0.3 < verdict.torque <= 0.9 + 1e-6


def test_a_body_swept_through_a_post_between_samples(motion):
    """The hand is on one side of a post at a sample and on the other at the next; at rest at either nothing touches."""
    (index, rate), swing = joint("LARM_JOINT0"), 0.8
    ends = [motion.q[0].copy() for _ in range(3)]
    ends[1][index] += 0.5 * swing
    ends[2][index] += swing
    hand = ROBOT.link_placements(ends[1])["LARM_LINK6"].translation
    shape = Geometry("", Box(np.array([0.01, 0.01, 0.3])), pin.SE3.Identity(), np.ones(4))
    place = pin.SE3(np.eye(3), hand)
    post = SceneBody("post", "", 0.0, np.zeros(3), np.zeros((3, 3)), place, np.zeros(6), (shape,))
    scene = dataclasses.replace(SCENE, bodies=(*SCENE.bodies, post))

    def moving(first, last, speed):
        v = np.zeros((2, ROBOT.model.nv))
        v[:, rate] = speed
        return WholeBodyTrajectory(ROBOT, [0.0, 1.0], [first, last], v, 0.0 * v, motion.contacts)

    assert "collision" in kinds(moving(ends[0], ends[2], swing), scene)
    assert "collision" not in kinds(moving(ends[0], ends[2], swing))
    for end in (ends[0], ends[2]):
        assert "collision" not in kinds(moving(end, end, 0.0), scene)


def test_forces_that_are_none(motion):
    """Outside of the cone, pulling, beside the patch, on a foot in the air."""
    k = swinging(motion)

    def with_force(change):
        forces = list(motion.forces)
        forces[k] = tuple(change(one) for one in forces[k])
        return changed(motion, forces=forces)

    ahead, up = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
    for change in (
        lambda one: dataclasses.replace(one, force=one.force + 200.0 * ahead),
        lambda one: dataclasses.replace(one, force=-one.force),
        lambda one: dataclasses.replace(one, place=one.place + 0.05 * up),
        lambda one: dataclasses.replace(one, place=one.place + 0.3 * ahead),
        lambda one: dataclasses.replace(one, location="right_sole"),
    ):
        assert "force" in kinds(with_force(change))
    assert kinds(with_force(lambda one: dataclasses.replace(one, force=0.95 * one.force))) == {"dynamics"}


def test_a_contact_that_rolls(motion):
    """The foot that stands turns about its ankle, the rest of the robot stays."""
    q = np.array(motion.q)
    ramp = 0.05 * np.sin(np.pi * np.linspace(0.0, 1.0, len(q)))
    q[:, joint("LLEG_JOINT5")[0]] += ramp
    assert "drift" in kinds(changed(motion, q=q))


def test_a_robot_that_slides_with_all_its_contacts(motion):
    q = np.array(motion.q)
    q[:, 0] += np.linspace(0.0, 0.02, len(q))
    assert "drift" in kinds(changed(motion, q=q))


def test_a_self_overlap(motion):
    """The right arm goes through the body."""
    q = np.array(motion.q)
    q[:, joint("RARM_JOINT1")[0]] += 0.6 * np.sin(np.pi * np.linspace(0.0, 1.0, len(q)))
    assert "collision" in kinds(changed(motion, q=q))


def test_a_joint_too_fast(motion):
    """All of it so much faster that a joint is a tenth beyond its limit, speeds and accelerations as they are then."""
    pace = 1.1 / np.abs(motion.v[:, 6:] / ROBOT.limits.velocity[6:]).max()
    fast = changed(
        motion, times=motion.times / pace, v=pace * motion.v, a=pace**2 * motion.a,
        contacts=[dataclasses.replace(one, start=one.start / pace, end=one.end / pace) for one in motion.contacts],
    )  # fmt: skip
    assert {"speed", "dynamics"} <= kinds(fast)


def test_speeds_that_are_not_those_of_the_way(motion):
    v = np.array(motion.v)
    v[:, joint("HEAD_JOINT0")[1]] += 0.2
    assert "course" in kinds(changed(motion, v=v))


def test_a_jump_between_samples(motion):
    q, k = np.array(motion.q), len(motion.q) // 2
    q[k:, joint("HEAD_JOINT0")[0]] += 0.1
    assert kinds(changed(motion, q=q)) >= {"course"}


def test_a_joint_beyond_its_limit(motion):
    q, (index, _) = np.array(motion.q), joint("HEAD_JOINT0")
    q[:, index] = ROBOT.limits.upper[index] + 0.01
    assert "joint limit" in kinds(changed(motion, q=q))


def test_torques_beyond_limits_and_torques_that_do_not_hold_it(motion):
    tau, (_, index) = np.array(motion.tau), joint("RLEG_JOINT3")
    tau[:, index] = 1.1 * ROBOT.limits.effort[index]
    assert {"torque", "dynamics"} <= kinds(changed(motion, tau=tau))


def test_a_contact_that_is_left_before_it_is_off(motion):
    """A span of the contacts that ends too late: the foot has left by then."""
    swing = motion.times[swinging(motion)]
    late = [dataclasses.replace(one, end=max(one.end, swing)) for one in motion.contacts]
    assert "drift" in kinds(changed(motion, contacts=late))
