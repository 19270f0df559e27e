# SPDX-License-Identifier: Apache-2.0
"""The thesis' solver against the numbers of specification 002 §10 (oracles ORC-02 to ORC-16), in mm and degrees."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import load_mechanism
from humanoid_kinematics.solver.commands import POSITION, ToolMotion
from humanoid_kinematics.solver.thesis_solver import ThesisSolver
from humanoid_model import InputError
from humanoid_model.loop_closure import ROWS

MM = 1e-3

pytestmark = pytest.mark.filterwarnings("ignore:.*graphic file")


def solver(name, closed=True, **q):
    result = ThesisSolver(load_mechanism(name))
    if closed:
        result.close()
    for joint, value in q.items():
        result.q[column(result, joint)] = value
    return result


def column(result, joint):
    return result.mechanism.robot.index_v(joint)


def placement(result, link):
    body, in_body = result._frame(link)
    pin.forwardKinematics(result.mechanism.model, result._data, result.q)
    return result._data.oMi[body] * in_body


def degrees(q):
    return np.degrees(q)


@pytest.mark.feature("002-F030", "002-F190")
def test_hybrid_closes_as_printed_orc_07():
    hybrid = solver("planar_hybrid", closed=False)
    np.testing.assert_allclose(hybrid.gaps(), [-0.455883, -2.878331, 0, 0, 0, 0], atol=1e-6)
    norms = hybrid.close()
    assert norms[0] == pytest.approx(2.914209, abs=1e-6)
    assert norms[1] == pytest.approx(8.142e-4, abs=1e-6)
    assert norms[2] < 1e-10
    expected = [0, 51.208138, -120.037888, 60, -51.208138, 120.037888, -59.659499]
    np.testing.assert_allclose(degrees(hybrid.q), expected, atol=1e-5)
    tip = placement(hybrid, "frame_9")
    np.testing.assert_allclose(tip.translation[:2] / MM, [1164.911266, -278.435866], atol=2e-6)
    assert np.degrees(pin.log3(tip.rotation)[2]) == pytest.approx(-8.829750, abs=1e-6)


@pytest.mark.feature("002-F063", "002-F064")
def test_augmented_jacobian_of_the_hybrid_orc_04():
    J = solver("planar_hybrid").jacobian(("frame_9",))[[0, 1, 5, 6, 7, 11]]
    expected = [
        [278.4359, 278.4359, 590.2067, 30.6998, 0, 0, 0],
        [1164.9113, 664.9113, 414.3140, 197.6298, 0, 0, 0],
        [1, 1, 1, 1, 0, 0, 0],
        [0, -147.0248, -458.7956, 0, -7.4837, -381.4341, 0],
        [0, -428.2783, -177.6811, 0, 452.7501, 310.7604, 0],
        [0, -1, -1, 0, 1, 1, 1],
    ]
    np.testing.assert_allclose(J, expected, atol=1e-4)
    sigma = [1577.424106, 671.157241, 652.065388, 210.909337, 1.002314, 0.843598]
    np.testing.assert_allclose(np.linalg.svd(J)[1], sigma, atol=1e-6)
    null = np.linalg.svd(J)[2][-1]
    expected = [0.287519, -0.674658, 0.171416, 0.215723, -0.616191, 0.065957, 0.046993]
    np.testing.assert_allclose(null * np.sign(null[0]), expected, atol=1e-6)


@pytest.mark.feature("002-F062")
def test_jacobian_in_the_terminal_frame_orc_02():
    hybrid = solver("planar_hybrid")
    J, R = hybrid.jacobian(("frame_9",))[:6], placement(hybrid, "frame_9").rotation
    local = np.vstack([R.T @ J[:3], R.T @ J[3:]])
    np.testing.assert_allclose(local[0, :4], [96.32343779, 173.07290301, 519.61524227, 0], atol=1e-6)
    np.testing.assert_allclose(local[1, :4], [1193.84529346, 699.77088652, 500, 200], atol=1e-6)
    np.testing.assert_allclose(local[5, :4], 1.0, atol=1e-12)
    np.testing.assert_allclose(local[2:5], 0.0, atol=1e-9)


@pytest.mark.feature("002-F070")
def test_first_order_response_of_the_hybrid_orc_07b():
    hybrid = solver("planar_hybrid")
    expected = {
        0: [0.02496, -0.65611, 1.30350, -0.67235, 0.80432, -1.33075, 1.17383],
        1: [0.57372, 0.19673, -0.34114, -0.42931, -0.17979, 0.33802, -0.30263],
        2: np.zeros(7),
    }
    for axis, step in expected.items():
        motion = ToolMotion("frame_9", linear=0.01 * np.eye(3)[axis])
        np.testing.assert_allclose(degrees(hybrid.step(motion)), step, atol=1e-5)


def test_frames_of_gap_and_rows_decide_over_convergence_orc_03():
    """With the gap in the base's axes and columns in the ends' own, the cross-Delta's loops open wide."""
    cross = solver("cross", closed=False)
    norms = [np.linalg.norm(cross.gaps())]
    for _ in range(3):
        J, gaps = cross.jacobian(), cross.gaps()
        blocks = []
        for a, b in cross._loops():
            common = cross._moving(a[0]) & cross._moving(b[0])
            own = []
            for end in (a, b):
                R = (cross._data.oMi[end[0]] * end[1]).rotation
                rows = cross._rows(end)
                own.append(np.vstack([R.T @ rows[:3], R.T @ rows[3:]]))
            blocks.append(np.where(common, 0.0, own[0] - own[1]))
        mixed = np.vstack(blocks)
        assert mixed.shape == J.shape
        cross.q = cross.q + np.linalg.pinv(mixed, rcond=1e-9) @ gaps * cross._unit
        norms.append(np.linalg.norm(cross.gaps()))
    np.testing.assert_allclose(norms, [63.8, 88.1, 124.0, 178.0], rtol=5e-3)


@pytest.mark.feature("002-F030", "002-F065", "002-F193")
def test_cross_delta_closes_as_printed_orc_12():
    cross = solver("cross", closed=False)
    gap = [-8.883808, -29.815974, 32.633806, 0, 0, 0, -8.883808, 29.815974, 32.633806, 0, 0, 0]
    np.testing.assert_allclose(cross.gaps(), gap, atol=1e-6)
    loaded = [2818.237891, 2729.543318, 1316.505759, 1312.808501, 967.854294, 761.947863,
              1.637004, 1.597421, 0.996131, 0.957857, 0.541847, 0.438470]  # fmt: skip
    np.testing.assert_allclose(np.linalg.svd(cross.jacobian())[1], loaded, atol=1e-6)
    norms = cross.close()
    np.testing.assert_allclose(norms[:3], [63.763307, 1.257559, 5.4927e-4], rtol=1e-4)
    assert norms[3] < 2e-10
    closed = [-1785.650, 117.8211, 0, 0, -117.8211, -994.4301, 133.8342, 0.5568, -0.5568, -133.8342,
              -994.4301, 133.8342, -0.5568, 0.5568, -133.8342]  # fmt: skip
    values = np.where(cross._unit == MM, cross.q / MM, degrees(cross.q))
    np.testing.assert_allclose(values, closed, atol=1e-4)
    plate = placement(cross, "link_5")
    np.testing.assert_allclose(plate.translation / MM, [-858.751572, 0, 158.337605], atol=2e-6)
    np.testing.assert_allclose(plate.rotation, [[1, 0, 0], [0, 0, 1], [0, -1, 0]], atol=1e-9)
    J = cross.jacobian()
    sigma = [2811.955, 2738.631, 1313.153, 1308.333, 939.169, 779.754,
             1.63146, 1.60431, 0.995856, 0.962956, 0.522012, 0.447663]  # fmt: skip
    np.testing.assert_allclose(np.linalg.svd(J)[1], sigma, rtol=2e-6)
    free = np.linalg.svd(J)[2][12:]
    np.testing.assert_allclose(cross.jacobian(("link_5",))[3:6] @ free.T, 0.0, atol=1e-12)


@pytest.mark.feature("002-F063", "002-F067")
def test_augmented_jacobian_of_the_cross_delta_and_its_response_to_turns_b3():
    cross = solver("cross")
    sigma = [3304.736, 3242.489, 1313.206, 1308.398, 1080.574, 981.546, 125.930, 115.750,
             1.74791, 1.72192, 0.924481, 0.911280, 0.884408, 0.003302, 0.003026]  # fmt: skip
    np.testing.assert_allclose(np.linalg.svd(cross.jacobian(("link_5",)))[1], sigma, rtol=5e-6, atol=5e-7)
    expected = [(0.044687, 0, -0.023582), (0, 0.049003, 0), (-0.023582, 0, 0.012444)]
    J = cross.jacobian(("link_5",))
    for axis in range(3):
        step = cross.step(ToolMotion("link_5", angular=0.1 * np.eye(3)[axis])) / cross._unit
        np.testing.assert_allclose(J[3:6] @ step, expected[axis], atol=1e-6)


@pytest.mark.feature("002-F069")
@pytest.mark.parametrize(
    ("feedback", "cycles", "distance", "angle", "turned"),
    [(False, 10, 0.036, 2.53, 4.94), (True, 10, None, 0.4996, 0.9646), (True, 100, None, 0.5, 0.9654),
     (False, 100, 1.0, 23.7, 62.3)],
)  # fmt: skip
def test_feedback_bounds_the_gap_under_a_turn_that_cannot_be_made_orc_06(feedback, cycles, distance, angle, turned):
    cross = solver("cross")
    before = placement(cross, "link_5").rotation
    for _ in range(cycles):
        cross.command(ToolMotion("link_5", angular=(0.0, np.radians(1.0), 0.0)), feedback=feedback)
    gaps = cross.gaps().reshape(2, 2, 3)
    assert np.degrees(abs(gaps[:, 1]).max()) == pytest.approx(angle, rel=0.01)
    if distance is None:
        assert abs(gaps[:, 0]).max() < 1e-4
    else:
        assert abs(gaps[:, 0]).max() == pytest.approx(distance, rel=0.02)
    now = placement(cross, "link_5").rotation
    assert np.degrees(np.linalg.norm(pin.log3(now @ before.T))) == pytest.approx(turned, rel=0.01)


@pytest.mark.feature("002-F089")
def test_loops_close_again_when_the_turn_ends_orc_06b():
    cross = solver("cross")
    for _ in range(100):
        cross.command(ToolMotion("link_5", angular=(0.0, np.radians(1.0), 0.0)))
    held, freed = cross.q.copy(), []
    angles = []
    for _ in range(10):
        cross.command(ToolMotion("link_5"))
        angles.append(np.degrees(abs(cross.gaps().reshape(2, 2, 3)[:, 1]).max()))
    np.testing.assert_allclose(angles[:4], [0.2456, 0.1207, 0.0592, 0.0290], rtol=0.01)
    assert angles[9] == pytest.approx(4.0e-4, rel=0.05)
    cross.q = held
    for _ in range(2):
        cross.command()
        freed.append(np.degrees(abs(cross.gaps().reshape(2, 2, 3)[:, 1]).max()))
    assert freed[0] == pytest.approx(4.1e-3, rel=0.02)
    assert freed[1] < 1e-7


@pytest.mark.feature("002-F069")
@pytest.mark.parametrize(("axis", "end"), [(0, -658.697), (1, 199.994)])
def test_feedback_keeps_the_cross_delta_closed_over_a_long_way_orc_06(axis, end):
    gaps = {}
    for feedback in (True, False):
        cross = solver("cross")
        largest = 0.0
        for _ in range(100):
            cross.command(ToolMotion("link_5", linear=0.002 * np.eye(3)[axis]), feedback=feedback)
            largest = max(largest, abs(cross.gaps().reshape(2, 2, 3)[:, 0]).max())
        assert placement(cross, "link_5").translation[axis] / MM == pytest.approx(end, abs=2e-3 if feedback else 0.3)
        gaps[feedback] = largest
    assert gaps[True] <= (0.0022, 0.0010)[axis] * 1.05
    assert gaps[False] == pytest.approx((0.205, 0.098)[axis], rel=0.01)


@pytest.mark.feature("002-F073")
@pytest.mark.parametrize(
    ("held", "expected", "tip"),
    [
        (False, [0, 2.92971, -1.31892, 0, 1.94665, 0.42591, -0.76176], (1165.0758, -254.1556, -7.2190)),
        (True, [0, 5.0, -2.24613, 0, 3.30386, 0.73018, -1.28017], (1164.6635, -237.1937, -6.0759)),
    ],
)
def test_driven_joint_free_as_in_the_thesis_or_held_orc_08(held, expected, tip):
    hybrid = solver("planar_hybrid")
    before, driven = hybrid.q.copy(), column(hybrid, "joint_2")
    hybrid.q[driven] += np.radians(5.0)
    norms = hybrid.close(held=(driven,) if held else ())
    assert len(norms) == 4
    np.testing.assert_allclose(degrees(hybrid.q - before), expected, atol=1e-5)
    reached = placement(hybrid, "frame_9")
    np.testing.assert_allclose(reached.translation[:2] / MM, tip[:2], atol=1e-4)
    assert np.degrees(pin.log3(reached.rotation)[2]) == pytest.approx(tip[2], abs=1e-4)


MACDAC = np.radians([0.0, 30.0, -60.0, 120.0, 180.0])


@pytest.mark.feature("002-F067", "002-F068", "002-F078", "002-F191")
def test_macdac_answers_what_it_can_and_ignores_the_rest_orc_11():
    arm = ThesisSolver(load_mechanism("macdac"))
    arm.q = MACDAC.copy()
    expected = [
        ((10, 0, 0, 0, 0, 0), (10, 0, 0, 0, 0, 0), (0, -1.43959, 2.87918, -1.43959, 0)),
        ((0, 10, 0, 0, 0, 0), (0, 9.99999, 0, 0.00199, 0, 0.00977), (0.55951, 0.10262, -0.20525, 0.10262, 0.11380)),
        ((0, 0, 10, 0, 0, 0), (0, 0, 10, 0, 0, 0), (0, 0.83115, 0, -0.83115, 0)),
        ((0, 0, 0, 0.1, 0, 0), (0, 2e-5, 0, 0.09603, 0, -0.01953), (-1.11902, -0.20525, 0.41050, -0.20525, 5.50199)),
        ((0, 0, 0, 0, 0.1, 0), (0, 0, 0, 0, 0.1, 0), (0, -1.44961, 5.75837, -10.03834, 0)),
        ((0, 0, 0, 0, 0, 0.1), (0, 1e-4, 0, -0.01953, 0, 0.00397), (0.22760, 0.04175, -0.08349, 0.04175, -1.11902)),
    ]
    J = arm.jacobian(("frame_6",))
    for command, achieved, step in expected:
        dq = arm.step(ToolMotion("frame_6", MM * np.array(command[:3]), command[3:]))
        np.testing.assert_allclose(degrees(dq), step, atol=1e-5)
        np.testing.assert_allclose(J @ dq, achieved, atol=6e-6)
    unreachable = np.linalg.svd(J)[0][:, -1]
    np.testing.assert_allclose(unreachable * np.sign(unreachable[5]), [0, -0.001, 0, 0.1993, 0, 0.97994], atol=5e-5)


@pytest.mark.feature("002-F062", "002-F191")
def test_macdac_s_jacobian_orc_10():
    arm = ThesisSolver(load_mechanism("macdac"))
    arm.q = MACDAC.copy()
    expected = [[73, 200, 399, 200, 0], [983.356221, 0, 0, 0, 200], [0, 861.356221, 516.678111, 172, 0],
                [0, 0, 0, 0, 1], [0, -1, -1, -1, 0], [1, 0, 0, 0, 0]]  # fmt: skip
    np.testing.assert_allclose(arm.jacobian(("frame_6",)), expected, atol=1e-6)


REDONT = [
    ((0, 1, 0), (0, -0.25402, 0.19602, 0.23237, 0.04933, -0.22370), (0, -0.14651, 0.05314, 0.13630, 0.13251, 0.08290)),
    ((0, 0, 1), (0, -0.01353, 0.15817, 0.10665, -0.03869, -0.21261), (0, 0.06416, 0.05492, 0.03723, 0.02142, 0.00895)),
]


@pytest.mark.feature("002-F076", "002-F114", "002-F195")
@pytest.mark.parametrize(("direction", "whole", "position"), REDONT)
def test_redundant_joints_share_a_motion_orc_16(direction, whole, position):
    arm = ThesisSolver(load_mechanism("redont"))
    for rows, expected in ((ToolMotion("frame_7").rows, whole), (POSITION, position)):
        step = arm.step(ToolMotion("frame_7", 0.01 * np.array(direction), rows=rows))
        np.testing.assert_allclose(degrees(step), expected, atol=1e-5)


def test_redundant_joints_share_a_motion_along_the_tool_orc_16():
    arm = ThesisSolver(load_mechanism("redont"))
    step = arm.step(ToolMotion("frame_7", (0.01, 0.0, 0.0), frame="tool"))
    np.testing.assert_allclose(degrees(step), [0, -0.11529, -0.03897, 0.02382, 0.05817, 0.07227], atol=1e-5)


@pytest.mark.feature("002-F075", "002-F077")
@pytest.mark.parametrize(
    ("rows", "expected"),
    [(ToolMotion("").rows, [0, -0.286479, 0.948074, -1.010957, -0.134732, 0.763585]),
     (POSITION, [0, -0.286479, 0.948074, -1.234552, 0.572958, 0])],
)  # fmt: skip
def test_a_second_command_on_the_chain_bends_it_while_the_tool_stays_orc_16(rows, expected):
    arm = ThesisSolver(load_mechanism("redont"))
    both = ToolMotion("frame_7"), ToolMotion("link_4", (0.0, 0.0, 0.01), rows=rows)
    np.testing.assert_allclose(degrees(arm.step(*both)), expected, atol=1e-5)


@pytest.mark.feature("002-F079", "002-F192")
def test_parallelogram_of_hpr_orc_15():
    hpr = solver("hpr", closed=False)
    assert np.linalg.norm(hpr.gaps()) < 1e-9
    np.testing.assert_allclose(np.linalg.svd(hpr.jacobian())[1], [1066.14232, 251.68263, 1.18321, 0, 0, 0], atol=1e-5)
    before, driven = hpr.q.copy(), column(hpr, "joint_2")
    hpr.q[driven] += np.radians(10.0)
    norms = hpr.close(held=(driven, column(hpr, "joint_3")))
    assert len(norms) <= 5
    np.testing.assert_allclose(degrees(hpr.q - before), [0, 10, 0, 0, 0, 10, 0, 0], atol=1e-6)
    hpr.q = before.copy()
    hpr.q[driven] += np.radians(10.0)
    hpr.close(held=(driven,))
    expected = [0, 10, -2.40427, 0, 0, 7.59573, 2.40427, -2.40427]
    np.testing.assert_allclose(degrees(hpr.q - before), expected, atol=1e-5)


def test_a_ball_joint_closes_with_three_rows_and_other_loops_are_refused():
    rssr = solver("rssr", closed=False)
    assert rssr.gaps().shape == (3,)
    assert rssr.close()[-1] < 1e-10
    loop = rssr.mechanism.loops[0]
    hinge = dataclasses.replace(loop, rows=ROWS[:5])
    robot = dataclasses.replace(rssr.mechanism.robot, loops=(hinge,))
    with pytest.raises(InputError, match="holds x y z rx ry"):
        ThesisSolver(dataclasses.replace(rssr.mechanism, robot=robot))
