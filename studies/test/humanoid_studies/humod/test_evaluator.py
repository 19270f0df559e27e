# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import load_robot
from humanoid_studies.humod.evaluator import GRAVITY, pinocchio_evaluator
from humanoid_studies.humod.recording import FEET

ROBOT = load_robot("syn3p33r")
EVALUATOR = pinocchio_evaluator(ROBOT)

#: The order of specification 004 section 4.4.
GROUPS = {"WJ": ("px", "py", "pz", "x", "y", "z"), "LLJ": ("x", "z"), "ULJ": "xyz", "LNJ": "xyz"}
GROUPS |= {
    f"{joint}_{side}": axes
    for side in "RL"
    for joint, axes in (("SJ", "xyz"), ("EJ", "z"), ("HJ", "xyz"), ("KJ", "z"), ("AJ", "xyz"))
}
ORDER = [f"{group}_{axis}" for group, axes in GROUPS.items() for axis in axes]
I = np.arange(36)  # noqa: E741
STATE = {"q": 0.3 * np.sin(1 + 0.7 * I), "v": 0.5 * np.cos(2 + 0.9 * I), "a": 1.5 * np.sin(3 + 1.1 * I)}

#: First 14 efforts of the specification's table.
EFFORTS = {
    "": (
        0, 561.438, 0, -0.08552, 0, -3.721935, -0.069109, 1.451343, -0.054132, 0, 0.72045, -0.00979, 0, 0.156641,
    ),
    "q": (
        0, 561.438, 0, 24.929847, -0.053002, -8.727739, 8.689259, 21.248203, 1.385597, -0.807754, 8.329648, -0.803393,
        0.175437, 1.921417,
    ),
    "qv": (
        0.433843, 563.872206, -1.306819, 27.119766, -0.815544, -8.46907, 9.395267, 21.609231, 1.944719, -0.700996,
        8.747709, -0.70991, 0.157843, 1.997485,
    ),
    "qva": (
        15.494695, 490.355875, -75.007948, 18.249778, 0.68686, -2.489973, -3.85686, 21.147922, -5.413317, -1.476152,
        7.603645, -1.653869, 0.380496, 1.609032,
    ),
}  # fmt: skip


def in_model_order(values: np.ndarray) -> np.ndarray:
    return np.array([[values[ORDER.index(name)] for name in EVALUATOR.joint_names]])


@pytest.mark.parametrize("known", EFFORTS)
def test_efforts_are_those_of_the_specification(known: str) -> None:
    q, v, a = (in_model_order(STATE[name] if name in known else np.zeros(36)) for name in "qva")
    efforts = EVALUATOR.efforts(q, v, a, np.zeros((1, 2, 6)))[0]
    mine = [efforts[EVALUATOR.joint_names.index(name)] for name in ORDER[:14]]
    np.testing.assert_allclose(mine, EFFORTS[known], atol=1e-6)


def test_heights_are_those_of_the_specification() -> None:
    places = EVALUATOR.joint_positions(in_model_order(STATE["q"]))[0]
    heights = {
        "LLJ_x": 0.297499, "ULJ_x": 0.412935, "LNJ_x": 0.709759, "SJ_R_x": 0.668385, "EJ_L_z": 0.396127,
        "AJ_R_x": -0.516523, "AJ_L_x": -0.386445,
    }  # fmt: skip
    for joint, height in heights.items():
        assert places[EVALUATOR.joint_names.index(joint), 1] == pytest.approx(height, abs=1e-6), joint


def test_a_wrench_on_a_foot_acts_at_the_links_origin_in_world_axes() -> None:
    rng = np.random.default_rng(1)
    q, v, a = rng.uniform(-1, 1, (3, 4, 36))
    wrenches = rng.uniform(-100, 100, (4, 2, 6))
    difference = EVALUATOR.efforts(q, v, a, wrenches) - EVALUATOR.efforts(q, v, a, np.zeros_like(wrenches))
    data = ROBOT.model.createData()
    for k in range(4):
        expected = np.zeros(36)
        for link, wrench in zip(FEET, wrenches[k], strict=True):
            frame = ROBOT.parts.links[link].frame_id
            J = pin.computeFrameJacobian(ROBOT.model, data, q[k], frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            expected -= J.T @ wrench
        np.testing.assert_allclose(difference[k], expected, atol=1e-10)


def test_the_robots_own_gravity_stays_as_it_was() -> None:
    np.testing.assert_array_equal(ROBOT.model.gravity.linear, [0.0, 0.0, -9.81])
    np.testing.assert_array_equal(GRAVITY, [0.0, -9.81, 0.0])
