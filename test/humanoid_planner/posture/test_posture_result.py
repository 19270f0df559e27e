# SPDX-License-Identifier: Apache-2.0
"""Forces of the largest margin in place of the search's, and the torques with them."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import Contact, Robot, Scene, Stance, load_robot, load_scene
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture import Criterion, LeastTorque, NearReference, PostureResult, generate_posture


@pytest.fixture(scope="module")
def hrp2() -> Robot:
    return load_robot("hrp2", geometry=False)


@pytest.fixture(scope="module")
def stand() -> Scene:
    return load_scene("stand")


def found(robot: Robot, scene: Scene, criterion: str, **problem: object) -> PostureResult:
    (floor,) = (surface for surface in scene.surfaces if surface.name == "floor")
    sides = (("left", 0.1), ("right", -0.1))
    contacts = [Contact(robot.contacts[f"{side}_sole"], floor, 0.04, y, 0.0) for side, y in sides]
    kinematics = RobotKinematics(robot)
    chosen: dict[str, Criterion] = {
        "reference": NearReference(kinematics, robot.default_posture),
        "torque": LeastTorque(kinematics, robot.total_mass * 9.81),
    }
    result = generate_posture(
        robot,
        Stance(tuple(contacts)),
        scene=scene,
        criterion=chosen[criterion],
        **{"stability": "forces", "largest_margin": True, **problem},  # type: ignore[arg-type]
    )
    assert result.success
    return result


def worst_margin(result: PostureResult, friction: float) -> float:
    """Distance of the worst force to its cone's boundary, on level ground [N]."""
    f = result.forces
    return float((friction * f[:, 2] - np.hypot(f[:, 0], f[:, 1])).min() / np.hypot(1.0, friction))


def friction_of(result: PostureResult) -> float:
    assert result.balance is not None
    return float(result.balance.bearing.contacts[0].friction)


def test_forces_are_those_of_the_margin_that_is_told(hrp2: Robot, stand: Scene) -> None:
    balanced = found(hrp2, stand, "reference")
    assert balanced.balance is not None
    assert worst_margin(balanced, friction_of(balanced)) == pytest.approx(balanced.balance.margin, rel=1e-3)
    searched = found(hrp2, stand, "reference", largest_margin=False)
    assert searched.balance is None
    np.testing.assert_array_equal(searched.q, balanced.q)
    assert worst_margin(searched, friction_of(balanced)) <= balanced.balance.margin * (1.0 + 1e-6)


def test_torques_that_are_minimised_keep_their_forces(hrp2: Robot, stand: Scene) -> None:
    least = found(hrp2, stand, "torque")
    assert least.balance is not None
    assert worst_margin(least, friction_of(least)) < 0.9 * least.balance.margin


@pytest.mark.parametrize("criterion", ["reference", "torque"])
def test_torques_hold_the_posture_under_its_forces(hrp2: Robot, stand: Scene, criterion: str) -> None:
    """Against Pinocchio: the generalised gravity less what the contact forces do."""
    result = found(hrp2, stand, criterion)
    model, data = hrp2.model, hrp2.model.createData()
    tau = pin.computeGeneralizedGravity(model, data, result.q).copy()
    pin.computeJointJacobians(model, data, result.q)
    for location, point, force in zip(result.force_contacts, result.force_points, result.forces, strict=True):
        link = hrp2.parts.links[hrp2.contacts[location].link]
        J = pin.getJointJacobian(model, data, link.joint_id, pin.ReferenceFrame.WORLD)
        tau -= (pin.SE3(np.eye(3), point).toActionMatrixInverse() @ J)[:3].T @ force
    np.testing.assert_allclose(tau[:6], 0.0, atol=0.02)
    efforts = dict(zip(result.torque_names, result.torques, strict=True))
    assert set(hrp2.joint_names) <= set(efforts)
    for name in hrp2.joint_names:
        assert efforts[name] == pytest.approx(tau[hrp2.index_v(name)], abs=0.02)


def test_without_forces_only_the_margin_is_told(hrp2: Robot, stand: Scene) -> None:
    assert found(hrp2, stand, "reference", stability="none").balance is None
    by_polygon = found(hrp2, stand, "reference", stability="polygon").balance
    assert by_polygon is not None
    assert by_polygon.margin > 0.0
    assert len(by_polygon.forces) == 0
