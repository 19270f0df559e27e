# SPDX-License-Identifier: Apache-2.0
"""What the example says of its loads: 120 kg are within all torque limits by Pinocchio's word, 300 kg are refused."""

import numpy as np
import pinocchio as pin
import pytest

from examples.lean_on_table import LEFT_HAND, lean, main
from humanoid_model import load_robot


def test_120_kg_are_held_within_all_torque_limits() -> None:
    robot, result = load_robot("hrp2"), lean(120.0)
    assert result.success, result.explanation
    model, data = robot.model, robot.model.createData()
    pin.computeJointJacobians(model, data, result.q)
    pin.updateFramePlacements(model, data)

    def effort(force: np.ndarray, link: str, point: np.ndarray | None = None) -> np.ndarray:
        frame = robot.parts.links[link].frame_id
        J = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        arm = np.zeros(3) if point is None else point - data.oMf[frame].translation
        return J.T @ np.concatenate([force, np.cross(arm, force)])

    weight = np.array([0.0, 0.0, -9.81 * 120.0])
    efforts = pin.computeGeneralizedGravity(model, model.createData(), result.q) - effort(weight, LEFT_HAND)
    for force, point, name in zip(result.forces, result.force_points, result.force_contacts, strict=True):
        assert np.hypot(*force[:2]) <= 0.5 * force[2] + 1e-2  # friction of the scene
        efforts -= effort(force, robot.contacts[name].link, point)
    np.testing.assert_allclose(efforts[:6], 0.0, atol=0.05)  # of 1750 N
    assert (np.abs(efforts[6:]) <= 1.0001 * robot.limits.effort[6:]).all()


def test_300_kg_are_refused_with_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    main(300.0)
    said = capsys.readouterr().out
    assert said.startswith("No posture found from ")
    assert "These hold each other back: " in said
