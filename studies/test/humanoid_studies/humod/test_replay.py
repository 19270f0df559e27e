# SPDX-License-Identifier: Apache-2.0
import dataclasses
from pathlib import Path

import numpy as np
import pytest

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_studies.humod.coordinates import JOINTS, POSITION_JOINTS
from humanoid_studies.humod.evaluator import Evaluator, pinocchio_evaluator
from humanoid_studies.humod.recording import read_recording, write_recording
from humanoid_studies.humod.replay import replay
from humanoid_studies.humod.rotation_order import RotationOrder, joint_positions
from humanoid_studies.humod.synthetic import synthetic_recording

ROBOT = load_robot("syn3p33r")
RUN = synthetic_recording(ROBOT, duration=2.5)
REPLAY = replay(RUN, pinocchio_evaluator(ROBOT))


def numpy_evaluator(order: RotationOrder) -> Evaluator:
    """Kinematics without Pinocchio, coordinates in an order of its own, no efforts."""
    names = tuple(reversed(JOINTS))

    def positions(q: np.ndarray) -> np.ndarray:
        found = joint_positions(ROBOT.description, q[:, ::-1], order)
        result = np.zeros((len(q), 36, 3))
        for i, name in enumerate(names):
            group = name.rpartition("_")[0]
            if group in POSITION_JOINTS:
                result[:, i] = found[:, POSITION_JOINTS.index(group)]
        return result

    return Evaluator("numpy", names, positions, lambda q, v, a, wrenches: np.zeros_like(q))


@pytest.mark.feature("004-F51")
def test_joints_come_where_the_data_say() -> None:
    """Specification 004 section 4.4, criteria (i) to (iii), over more than 2 s."""
    assert RUN.time[-1] - RUN.time[0] >= 2.0
    assert np.abs(REPLAY.errors["smoothed"]).max() < 1e-9
    assert REPLAY.thesis_level("estimated")
    assert REPLAY.all_within("estimated")
    assert 0.005 < REPLAY.largest("estimated").max() < 0.020
    np.testing.assert_allclose(REPLAY.rms("estimated"), 0.003, rtol=0.3)


def test_any_evaluator_will_do_in_any_order_of_joints() -> None:
    other = replay(RUN, numpy_evaluator(RotationOrder.MOVING_AXES))
    np.testing.assert_allclose(other.positions, REPLAY.positions, atol=1e-9)
    assert other.evaluator == "numpy"


def test_the_swapped_rotation_order_of_the_thesis_is_seen() -> None:
    """Defect D4 gives the pattern of Figs 4.2 to 4.4: fine near the base, wrong up the chain."""
    wrong = replay(RUN, numpy_evaluator(RotationOrder.WORLD_AXES))
    assert wrong.thesis_level("smoothed")
    assert not wrong.all_within("smoothed")
    largest = dict(zip(POSITION_JOINTS, wrong.largest("smoothed").max(axis=1), strict=True))
    assert largest["LLJ"] < 1e-12
    assert largest["ULJ"] < 0.005
    assert largest["LNJ"] > 0.015 > 1e6 * REPLAY.largest("smoothed").max()
    heights = dict(zip(POSITION_JOINTS, wrong.largest("smoothed")[:, 1], strict=True))
    assert heights["LNJ"] > 5 * heights["ULJ"]


def test_a_wrong_length_is_seen() -> None:
    """The thesis blames a wrong place of LLJ in its URDF for the 2 cm of Fig. 4.2."""
    shifted = dataclasses.replace(RUN, q=RUN.q + 0.025 * np.eye(36)[1])
    result = replay(shifted, pinocchio_evaluator(ROBOT))
    assert not result.thesis_level("smoothed")
    np.testing.assert_allclose(result.largest("smoothed"), np.tile([0.0, 0.025, 0.0], (13, 1)), atol=1e-12)


def test_the_ground_carries_the_person() -> None:
    weight = ROBOT.total_mass * 9.81
    assert np.abs(REPLAY.unsupported[:, 1]).max() > 2 * weight
    np.testing.assert_allclose(REPLAY.efforts[:, :3], 0.0, atol=1e-8)


def test_moments_balance_where_the_foot_reaches_far_enough() -> None:
    """A point force at the right place leaves a moment about the vertical only."""
    assert RUN.ground is not None
    force, point = RUN.ground.at(RUN.time)
    ankles = REPLAY.positions[:, [POSITION_JOINTS.index("AJ_L"), POSITION_JOINTS.index("AJ_R")]]
    reach = point - ankles
    inside = (force[..., 1] > 0) & (reach[..., 0] > -0.05 + 1e-9) & (reach[..., 0] < 0.16 - 1e-9)
    inside &= np.abs(reach[..., 2]) < 0.04 - 1e-9
    frames = inside.any(axis=1)
    assert frames.sum() > 10
    x, y, _ = RUN.q[frames, 3:6].T
    zero, one = np.zeros_like(x), np.ones_like(x)
    axes = np.stack(
        [
            np.stack([one, zero, zero], axis=1),
            np.stack([zero, np.cos(x), np.sin(x)], axis=1),
            np.stack([np.sin(y), -np.sin(x) * np.cos(y), np.cos(x) * np.cos(y)], axis=1),
        ],
        axis=1,
    )
    moments = np.linalg.solve(axes, REPLAY.efforts[frames, 3:6, np.newaxis])[..., 0]
    np.testing.assert_allclose(moments[:, [0, 2]], 0.0, atol=1e-7)
    assert np.abs(moments[:, 1]).max() > 1.0


def test_only_the_leg_on_the_ground_and_the_base_feel_it() -> None:
    assert RUN.ground is not None
    right = RUN.ground.at(RUN.time)[0][:, 1, 1] > 0
    felt = np.abs(REPLAY.efforts - replay(dataclasses.replace(RUN, ground=None), pinocchio_evaluator(ROBOT)).efforts)
    for name in ("HJ_L_z", "KJ_L_z", "SJ_R_x", "LNJ_z", "ULJ_z"):
        assert felt[right, JOINTS.index(name)].max() < 1e-9, name
    assert felt[right, JOINTS.index("KJ_R_z")].max() > 10.0


def test_without_ground_force_the_base_bears_all() -> None:
    result = replay(dataclasses.replace(RUN, ground=None), pinocchio_evaluator(ROBOT))
    np.testing.assert_array_equal(result.efforts, result.unsupported)
    np.testing.assert_allclose(result.efforts, REPLAY.unsupported, atol=1e-12)


def test_a_run_that_went_through_a_file_gives_the_same(tmp_path: Path) -> None:
    write_recording(tmp_path / "run.mat", RUN)
    result = replay(read_recording(tmp_path / "run.mat"), pinocchio_evaluator(ROBOT))
    np.testing.assert_allclose(result.efforts, REPLAY.efforts, atol=1e-7)
    np.testing.assert_allclose(result.positions, REPLAY.positions, atol=1e-12)


def test_another_robot_is_refused() -> None:
    for names, problem in (
        (("j0", "j1"), "lacks WJ_px, WJ_py, WJ_pz, WJ_x, WJ_y, WJ_z?, has j0, j1. Make the robot with subject_urdf"),
        ((*JOINTS, "tail"), "3P33R robot: has tail"),
        (JOINTS[1:], "3P33R robot: lacks WJ_px"),
        ((*JOINTS, "WJ_x"), "comes twice"),
    ):
        with pytest.raises(InputError, match=problem):
            replay(RUN, Evaluator("other", names, np.asarray, lambda q, v, a, wrenches: q))
