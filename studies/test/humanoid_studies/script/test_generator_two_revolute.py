# SPDX-License-Identifier: Apache-2.0
"""The thesis' robots of two revolute joints: specification 004 §4.1 to §4.3 and §4.5."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

PI = np.pi

#: State, 2R-A efforts, 2R-B efforts (specification 004 §4.2).
STATES = {
    "S0": ((0, 0), (0, 0), (0, 0), (392.4, 73.575), (176.58, 49.05)),
    "S1": ((PI / 2, 0), (0, 0), (0, 0), (0, 0), (0, 0)),
    "S2": ((0, PI / 2), (0, 0), (0, 0), (318.825, 0), (127.53, 0)),
    "S3": ((0, 0), (0, 0), (1, 0), (648, 132.325), (250.18, 74.05)),
    "S4": ((0, 0), (0, 0), (0, 1), (451.15, 94.825), (201.58, 64.05)),
    "S5": ((0, PI / 2), (1, 0), (0, 0), (318.825, 37.5), (127.53, 10)),
    "S6": ((0, PI / 2), (0, 1), (0, 0), (281.325, 0), (117.53, 0)),
    "S7": ((0, PI / 2), (1, 1), (0, 0), (206.325, 37.5), (97.53, 10)),
    "S8": (
        (0.3, -0.7), (0.5, -1.2), (2, -0.4),
        (834.1038732477788, 153.09068586224555), (297.29254540564216, 82.86434128343706),
    ),
    "S9": (
        (1.1, 0.4), (-0.8, 0.6), (-1.5, 2.5),
        (-76.46070790939856, -16.009151084553427), (16.147978191042192, 7.146022222532912),
    ),
}  # fmt: skip

#: l1, c1, c2, m1, m2, I1, I2 of both robots (§3.1).
DATA = {"robot_2r_a": (5, 2.5, 1.5, 3, 5, 15.6, 10), "robot_2r_b": (2, 1, 1, 3, 5, 15.6, 10)}

G = 9.81


def closed_form(robot: str, q, v, a) -> np.ndarray:
    """The boxed equations of §4.1 (Lagrange)."""
    l1, c1, c2, m1, m2, I1, I2 = DATA[robot]
    c, s = np.cos(q[1]), np.sin(q[1])
    h12 = I2 + m2 * (c2**2 + l1 * c2 * c)
    tip = m2 * c2 * G * np.cos(q[0] + q[1])
    return np.array(
        [
            (I1 + I2 + m1 * c1**2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * c)) * a[0]
            + h12 * a[1]
            - m2 * l1 * c2 * s * (2 * v[0] * v[1] + v[1] ** 2)
            + G * (m1 * c1 + m2 * l1) * np.cos(q[0])
            + tip,
            h12 * a[0] + (I2 + m2 * c2**2) * a[1] + m2 * l1 * c2 * s * v[0] ** 2 + tip,
        ]
    )


def motion(q, v, a) -> dict[str, tuple[float, float, float]]:
    return {"joint1": (q[0], v[0], a[0]), "joint2": (q[1], v[1], a[1])}


S8 = motion(*STATES["S8"][:3])


@pytest.mark.feature("004-F01", "004-F13")
@pytest.mark.parametrize("robot", DATA)
@pytest.mark.parametrize("state", STATES)
def test_ten_states(script_of, robot, state):
    *state_motion, efforts_a, efforts_b = STATES[state]
    expected = efforts_a if robot == "robot_2r_a" else efforts_b
    np.testing.assert_allclose(script_of(robot).efforts(motion(*state_motion)), expected, rtol=0, atol=1e-9)


@pytest.mark.feature("004-F47")
@pytest.mark.parametrize("robot", DATA)
def test_closed_form_of_lagrange(script_of, robot):
    script = script_of(robot)
    for state in np.random.default_rng(0).normal(scale=3, size=(100, 3, 2)):
        np.testing.assert_allclose(
            script.efforts(motion(*state)), closed_form(robot, *state), rtol=1e-12, atol=1e-12 * 1e3
        )


@pytest.mark.feature("004-F08", "004-F09", "004-F56")
def test_every_intermediate_value(script_of):
    """The table of §4.3, at S8."""
    values = script_of("robot_2r_b").values(S8)
    table = {
        "position_link1": (0.955336, 0.295520, 0),
        "velocity_link1": (-0.147760, 0.477668, 0),
        "acceleration_link1": (-0.829875, 11.646793, 0),
        "position_joint2": (1.910673, 0.591040, 0),
        "velocity_joint2": (-0.295520, 0.955336, 0),
        "acceleration_joint2": (-1.659749, 13.483586, 0),
        "position_link2": (2.831734, 0.201622, 0),
        "velocity_link2": (-0.568113, 0.310594, 0),
        "acceleration_link2": (-1.488000, 15.148098, 0),
        "forces_joint2": (-7.439998, 75.740492, 0),
        "torques_joint2": (0, 0, 82.864341),
        "forces_joint1": (-9.929622, 110.680871, 0),
        "torques_joint1": (0, 0, 297.292545),
    }
    for key, expected in table.items():
        np.testing.assert_allclose(values[key], expected, rtol=0, atol=1e-6, err_msg=key)


@pytest.mark.feature("004-F42")
def test_values_robot_has_these_keys_and_no_others(script_of):
    joints, links = ("joint1", "joint2"), ("world", "link1", "link2")
    motions = [f"{what}_{name}" for what in ("position", "velocity", "acceleration") for name in joints + links]
    efforts = [f"{what}_{name}" for what in ("rotation", "forces", "torques", "effort") for name in joints]
    assert set(script_of("robot_2r_b").values(S8)) == set(motions + efforts)


@pytest.mark.feature("004-F57")
def test_tip_carries_its_own_inertia_only(script_of):
    values = script_of("robot_2r_b").values(S8)
    np.testing.assert_allclose(values["forces_joint2"], 5 * values["acceleration_link2"], rtol=1e-15)


def test_numbers_are_not_those_of_the_thesis_listing(script_of):
    """What the printed listing returns when it is executed as it stands (§4.3)."""
    script = script_of("robot_2r_b")
    at_rest = motion(*STATES["S0"][:3])
    assert np.abs(script.efforts(at_rest) - (-225.63, -49.05)).min() > 1
    assert np.abs(script.efforts(S8) - (3.4417, 3.8438)).min() > 1


@pytest.mark.feature("004-F03")
def test_inertia_matrix_and_rest_of_the_model(script_of):
    """H, C and G at S8 (§4.2), from the model alone."""
    script = script_of("robot_2r_b")
    q, v, _ = STATES["S8"][:3]
    H = np.column_stack([script.efforts(motion(q, (0, 0), e), gravity=(0, 0, 0)) for e in np.eye(2)])
    np.testing.assert_allclose(H, [[68.896844, 22.648422], [22.648422, 15]], rtol=0, atol=1e-6)
    np.testing.assert_allclose(H, H.T, rtol=0, atol=1e-12)
    assert np.linalg.eigvalsh(H).min() > 0
    np.testing.assert_allclose(script.efforts(motion(q, v, (0, 0))), (168.558227, 43.567498), rtol=0, atol=1e-6)
    np.testing.assert_allclose(script.efforts(motion(q, (0, 0), (0, 0))), (167.012104, 45.178042), rtol=0, atol=1e-6)
    efforts = script.efforts(S8)
    assert np.dot(v, efforts) == pytest.approx(49.209063, abs=1e-6)
    np.testing.assert_allclose(
        H @ STATES["S8"][2] + script.efforts(motion(q, v, (0, 0))), efforts, rtol=0, atol=1e-11
    )


@pytest.mark.feature("004-F10")
@pytest.mark.parametrize("gravity", [(0, 0, -9.81), (1, -2, 3), (0, 0, 0)])
def test_any_gravity_given_to_the_generator_or_to_the_model(script_of, gravity):
    written = script_of("robot_2r_b", gravity).efforts(S8)
    given = script_of("robot_2r_b").efforts(S8, gravity=gravity)
    np.testing.assert_array_equal(written, given)
    assert not np.allclose(written, script_of("robot_2r_b").efforts(S8))


# Round trip: efforts along a motion, then the motion that these efforts cause (§4.5) ----------------------------------


def prescribed(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q = np.array([0.5 * np.sin(t) + 0.2, 0.8 * np.cos(1.5 * t) - 0.3])
    v = np.array([0.5 * np.cos(t), -1.2 * np.sin(1.5 * t)])
    a = np.array([-0.5 * np.sin(t), -1.8 * np.cos(1.5 * t)])
    return q, v, a


def caused(script):
    """The differential equation H q'' = effort - C under the efforts of the prescribed motion."""

    def derivative(t: float, x: np.ndarray) -> np.ndarray:
        efforts = script.efforts(motion(*prescribed(t)))
        rest = script.efforts(motion(x[:2], x[2:], (0, 0)))
        H = np.column_stack([script.efforts(motion(x[:2], (0, 0), e), gravity=(0, 0, 0)) for e in np.eye(2)])
        return np.concatenate([x[2:], np.linalg.solve(H, efforts - rest)])

    return derivative


def error(x: np.ndarray, t: float) -> float:
    return float(np.abs(x - np.concatenate(prescribed(t)[:2])).max())


@pytest.mark.parametrize("robot", DATA)
def test_round_trip_of_order_eight(script_of, robot):
    start = np.concatenate(prescribed(0)[:2])
    run = solve_ivp(caused(script_of(robot)), (0, 5), start, method="DOP853", rtol=1e-11, atol=1e-12)
    assert run.success
    assert error(run.y[:, -1], 5) < 1e-8


def test_round_trip_of_runge_and_kutta(script_of):
    f, h = caused(script_of("robot_2r_b")), 1e-2
    x = np.concatenate(prescribed(0)[:2])
    errors = []
    for step in (h, h / 2):
        x = np.concatenate(prescribed(0)[:2])
        for t in np.arange(round(1 / step)) * step:
            k1 = f(t, x)
            k2 = f(t + step / 2, x + step / 2 * k1)
            k3 = f(t + step / 2, x + step / 2 * k2)
            k4 = f(t + step, x + step * k3)
            x = x + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        errors.append(error(x, 1))
    assert errors[1] < 1e-8
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.3)


def test_round_trip_of_euler_is_of_first_order(script_of):
    f = caused(script_of("robot_2r_b"))
    errors = []
    for step in (2e-3, 1e-3):
        x = np.concatenate(prescribed(0)[:2])
        for t in np.arange(round(1 / step)) * step:
            x = x + step * f(t, x)
        errors.append(error(x, 1))
    assert errors[1] < 2e-3
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.1)
