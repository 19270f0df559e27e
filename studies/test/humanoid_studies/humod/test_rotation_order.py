# SPDX-License-Identifier: Apache-2.0
import dataclasses

import numpy as np
import pytest

from humanoid_model import load_robot
from humanoid_studies.humod.coordinates import JOINTS, POSITION_JOINTS, first_joint, to_joint_order
from humanoid_studies.humod.evaluator import pinocchio_evaluator
from humanoid_studies.humod.rotation_order import RotationOrder, joint_positions, rotation_order_errors
from humanoid_studies.humod.synthetic import synthetic_recording

ROBOT = load_robot("syn3p33r")
RUN = synthetic_recording(ROBOT, duration=1.0)


def test_moving_axes_are_what_pinocchio_computes() -> None:
    evaluator = pinocchio_evaluator(ROBOT)
    names = evaluator.joint_names
    q = np.random.default_rng(0).uniform(-2, 2, (20, 36))
    expected = evaluator.joint_positions(q[:, to_joint_order(names)])
    expected = expected[:, [first_joint(label, names) for label in POSITION_JOINTS]]
    own = joint_positions(ROBOT.description, q, RotationOrder.MOVING_AXES)
    np.testing.assert_allclose(own, expected, atol=1e-12)


@pytest.mark.parametrize("order", RotationOrder)
def test_the_order_is_written_as_it_is_computed(order: RotationOrder) -> None:
    q = np.zeros((1, 36))
    angles = {"WJ_x": 0.3, "WJ_y": -0.5, "WJ_z": 0.7, "HJ_R_x": 0.2, "HJ_R_y": 0.6, "HJ_R_z": -0.4}
    for name, angle in angles.items():
        q[0, JOINTS.index(name)] = angle

    def turn(group: str, axis: str) -> np.ndarray:
        c, s = np.cos(angles[f"{group}_{axis}"]), np.sin(angles[f"{group}_{axis}"])
        return {
            "x": np.array([[1, 0, 0], [0, c, -s], [0, s, c]]),
            "y": np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]),
            "z": np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
        }[axis]

    def rotation(group: str, R: np.ndarray) -> np.ndarray:
        factors = {"R": R} | {f"R{axis}": turn(group, axis) for axis in "xyz"}
        return np.linalg.multi_dot([factors[name] for name in order.value.split()])

    pelvis = rotation("WJ", np.eye(3))
    knee = pelvis @ [0.0, -0.10, 0.08] + rotation("HJ_R", pelvis) @ [0.0, -0.38, 0.0]
    own = joint_positions(ROBOT.description, q, order)[0, POSITION_JOINTS.index("KJ_R")]
    np.testing.assert_allclose(own, knee, atol=1e-14)


@pytest.mark.parametrize(
    ("range_", "means"),
    [(0.3, {"ULJ": 1.1, "LNJ": 6.0, "SJ_R": 10.0, "AJ_R": 11.0}), (0.2, {"ULJ": 0.3, "LNJ": 1.8})],
)
def test_the_swapped_order_errs_as_the_specification_says(range_: float, means: dict[str, float]) -> None:
    """Specification 004 section 4.4: mean height errors of defect D4, mm, at independent angles."""
    q = np.random.default_rng(0).uniform(-range_, range_, (3000, 36))
    right, wrong = (
        joint_positions(ROBOT.description, q, order) for order in (RotationOrder.MOVING_AXES, RotationOrder.WORLD_AXES)
    )
    errors = 1e3 * np.abs(wrong - right)[:, :, 1].mean(axis=0)
    for joint, mean in means.items():
        assert errors[POSITION_JOINTS.index(joint)] == pytest.approx(mean, rel=0.05, abs=0.05), joint
    assert errors[POSITION_JOINTS.index("LLJ")] == 0.0


@pytest.mark.parametrize("truth", RotationOrder)
def test_the_data_decide_on_the_order(truth: RotationOrder) -> None:
    positions = {"smoothed": joint_positions(ROBOT.description, RUN.q, truth)}
    orders = rotation_order_errors(ROBOT.description, dataclasses.replace(RUN, positions=positions))
    assert next(iter(orders)) is truth
    first, second, _ = orders.values()
    assert first < 1e-12
    assert second > 3e-3


def test_noisy_positions_decide_too() -> None:
    run = dataclasses.replace(RUN, positions={"estimated": RUN.positions["estimated"]})
    orders = rotation_order_errors(ROBOT.description, run)
    assert next(iter(orders)) is RotationOrder.MOVING_AXES
    assert orders[RotationOrder.MOVING_AXES] == pytest.approx(np.sqrt(3) * 0.003, rel=0.05)
