# SPDX-License-Identifier: Apache-2.0
"""Efforts of a motion by joint names, held against Pinocchio's; more of it over messages in humanoid_ros."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_codegen.inverse_dynamics import GivenMotion, KnownWrench, ModelCache, inverse_dynamics
from humanoid_model import load_robot
from humanoid_model.errors import InputError

DOWN = (0.0, 0.0, -9.81)
NOWHERE = (0.0, 0.0, 0.0)


def test_a_model_is_made_once() -> None:
    cache = ModelCache(2)
    model = cache.model("robot_2r_a", DOWN)
    assert cache.model("robot_2r_a", DOWN) is model
    assert cache.model("robot_2r_a", NOWHERE) is not model
    assert cache.model("robot_2r_a", NOWHERE).robot is model.robot


def test_the_robot_not_asked_for_longest_goes_first() -> None:
    cache = ModelCache(2)
    first, second = cache.model("robot_2r_a", DOWN), cache.model("robot_2r_b", DOWN)
    assert cache.model("robot_2r_a", DOWN) is first
    cache.model("tree4", DOWN)
    assert cache.model("robot_2r_a", DOWN) is first
    assert cache.model("robot_2r_b", DOWN) is not second


def test_models_of_one_robot_are_bounded_too() -> None:
    cache = ModelCache(2)
    models = [cache.model("robot_2r_a", (0.0, 0.0, -float(i))) for i in range(3)]
    assert cache.model("robot_2r_a", (0.0, 0.0, -2.0)) is models[2]
    assert cache.model("robot_2r_a", (0.0, 0.0, 0.0)) is not models[0]


def test_loaded_links_make_models_of_their_own() -> None:
    model = ModelCache(2).model("tree4", DOWN, ("tool",))
    assert model.function("inverse_dynamics").arguments[-1].shape == (1, 6)


def test_efforts_and_base_wrench_are_pinocchios() -> None:
    robot, rng = load_robot("hrp2", geometry=False), np.random.default_rng(1)
    model, data = robot.model, robot.model.createData()
    names = list(robot.joint_names)
    positions, velocities, accelerations = rng.uniform(-0.5, 0.5, (3, len(names)))
    base = pin.SE3.Random()
    q, v, a = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
    for name, position, velocity, acceleration in zip(names, positions, velocities, accelerations, strict=True):
        q[robot.index_q(name)], v[robot.index_v(name)], a[robot.index_v(name)] = position, velocity, acceleration
    q = robot.place_base(q, base)
    v[:6], a[:6] = rng.normal(size=(2, 6))
    motion = GivenMotion(names, positions, velocities, accelerations, base, v[:6], a[:6])
    push = KnownWrench("CHEST_LINK1", force=(10.0, -20.0, 30.0), point=(0.1, 0.0, 0.2), in_link_frame=True)
    answer = inverse_dynamics("hrp2", motion, wrenches=[push])
    tau = pin.rnea(model, data, q, v, a)
    J = pin.computeFrameJacobian(model, data, q, robot.parts.links["CHEST_LINK1"].frame_id, pin.ReferenceFrame.LOCAL)
    tau -= J.T @ np.concatenate([push.force, np.cross(push.point, push.force)])
    assert answer.joint_names == tuple(names)
    np.testing.assert_allclose(answer.efforts, [tau[robot.index_v(name)] for name in names], atol=1e-8)
    np.testing.assert_allclose(answer.base_wrench, tau[:6], atol=1e-8)


def test_a_kept_model_is_used_again_and_bad_values_are_refused() -> None:
    cache = ModelCache(2)
    first = inverse_dynamics("robot_2r_a", GivenMotion([], []), cache=cache)
    model = cache.model("robot_2r_a", (0.0, 0.0, -9.81))
    assert inverse_dynamics("robot_2r_a", GivenMotion([], []), cache=cache).efforts == first.efforts
    assert cache.model("robot_2r_a", (0.0, 0.0, -9.81)) is model
    with pytest.raises(InputError, match=r"joint_names\[0\]: the robot 'robot_2r_a' has no joint 'nose'"):
        inverse_dynamics("robot_2r_a", GivenMotion(["nose"], [0.0]), cache=cache)
