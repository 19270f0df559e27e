# SPDX-License-Identifier: Apache-2.0
"""The validations of specification 004, §4, on the generated functions."""

import numpy as np
import pytest
from fixtures.generated_functions import compute
from fixtures.pinocchio_dynamics import random_state
from scipy.integrate import solve_ivp

from humanoid_codegen import DynamicModel

DOWN_Y = (0.0, -9.81, 0.0)
HALF = np.pi / 2
# State: q1 q2, v1 v2, a1 a2; efforts of 2R-A and 2R-B.
STATES = [
    ((0, 0, 0, 0, 0, 0), (392.4, 73.575), (176.58, 49.05)),
    ((HALF, 0, 0, 0, 0, 0), (0, 0), (0, 0)),
    ((0, HALF, 0, 0, 0, 0), (318.825, 0), (127.53, 0)),
    ((0, 0, 0, 0, 1, 0), (648, 132.325), (250.18, 74.05)),
    ((0, 0, 0, 0, 0, 1), (451.15, 94.825), (201.58, 64.05)),
    ((0, HALF, 1, 0, 0, 0), (318.825, 37.5), (127.53, 10)),
    ((0, HALF, 0, 1, 0, 0), (281.325, 0), (117.53, 0)),
    ((0, HALF, 1, 1, 0, 0), (206.325, 37.5), (97.53, 10)),
    ((0.3, -0.7, 0.5, -1.2, 2, -0.4), (834.103873, 153.090686), (297.292545, 82.864341)),
    ((1.1, 0.4, -0.8, 0.6, -1.5, 2.5), (-76.460708, -16.009151), (16.147978, 7.146022)),
]
# m1, m2, l1, c1, c2, izz1, izz2
NUMBERS = {"robot_2r_a": (3, 5, 5, 2.5, 1.5, 15.6, 10), "robot_2r_b": (3, 5, 2, 1, 1, 15.6, 10)}


def closed_form(name, q, v, a):
    """The boxed formula of §4.1."""
    m1, m2, l1, c1, c2, i1, i2 = NUMBERS[name]
    g = 9.81
    c, s = np.cos(q[1]), np.sin(q[1])
    tau1 = (
        (i1 + i2 + m1 * c1**2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * c)) * a[0]
        + (i2 + m2 * (c2**2 + l1 * c2 * c)) * a[1]
        - m2 * l1 * c2 * s * (2 * v[0] * v[1] + v[1] ** 2)
        + g * ((m1 * c1 + m2 * l1) * np.cos(q[0]) + m2 * c2 * np.cos(q[0] + q[1]))
    )
    tau2 = (
        (i2 + m2 * (c2**2 + l1 * c2 * c)) * a[0]
        + (i2 + m2 * c2**2) * a[1]
        + m2 * l1 * c2 * s * v[0] ** 2
        + m2 * c2 * g * np.cos(q[0] + q[1])
    )
    return np.array([tau1, tau2])


@pytest.mark.feature("004-F13")
@pytest.mark.parametrize(("state", "of_a", "of_b"), STATES)
def test_ten_states_of_the_two_link_arm(state, of_a, of_b):
    q, v, a = np.array(state, dtype=float).reshape(3, 2)
    for name, expected in (("robot_2r_a", of_a), ("robot_2r_b", of_b)):
        tau = compute(DynamicModel(name, gravity=DOWN_Y), "inverse_dynamics", q=q, v=v, a=a)["tau"]
        np.testing.assert_allclose(tau, expected, rtol=1e-8, atol=1e-6)
        np.testing.assert_allclose(tau, closed_form(name, q, v, a), rtol=1e-12, atol=1e-12)


@pytest.mark.feature("004-F03")
def test_parts_of_the_efforts_at_the_ninth_state():
    model = DynamicModel("robot_2r_b", gravity=DOWN_Y)
    q, v, a = np.array(STATES[8][0]).reshape(3, 2)
    np.testing.assert_allclose(
        compute(model, "mass_matrix", q=q)["M"], [[68.896844, 22.648422], [22.648422, 15]], atol=1e-6
    )
    b = compute(model, "bias", q=q, v=v)["b"]
    np.testing.assert_allclose(b, [168.558227, 43.567498], atol=1e-6)
    np.testing.assert_allclose(compute(model, "gravity", q=q)["g"], [167.012104, 45.178042], atol=1e-6)
    energies = compute(model, "energies", q=q, v=v)
    assert energies["kinetic_energy"] == pytest.approx(5.823052, abs=1e-6)
    assert energies["potential_energy"] == pytest.approx(18.586722, abs=1e-6)
    assert v @ compute(model, "inverse_dynamics", q=q, v=v, a=a)["tau"] == pytest.approx(49.209063, abs=1e-6)
    other = DynamicModel("robot_2r_a", gravity=DOWN_Y)
    np.testing.assert_allclose(
        compute(other, "mass_matrix", q=q)["M"], [[237.963164, 49.931582], [49.931582, 21.25]], atol=1e-6
    )
    assert compute(other, "energies", q=q, v=v)["kinetic_energy"] == pytest.approx(15.086446, abs=1e-6)


@pytest.mark.feature("004-F02", "004-F19")
def test_mechanism_with_branches():
    model = DynamicModel("tree4", gravity=DOWN_Y, wrench_links=["tool"])
    order = [model.mechanism.v_names.index(name) for name in ("j0", "j1", "j2", "j3")]
    q, v, a = np.zeros((3, 4))
    q[order], v[order], a[order] = (0.3, -0.5, 0.15, 0.8), (0.7, -1.1, 0.4, 0.9), (1.2, 0.6, -0.8, -1.5)
    none, full = np.zeros((1, 6)), np.array([[1.0, 2.0, -3.0, 0.1, -0.2, 0.3]])
    for at, wrench, expected in (
        ((q, 0 * v, 0 * a), none, (3.969275, 0.279506, 18.231664, 0.594718)),
        ((q, v, 0 * a), none, (4.124762, 0.314474, 18.008993, 0.643278)),
        ((q, v, a), none, (5.251747, 0.363426, 15.425169, 0.660416)),
        ((q, v, a), full, (5.073688, 0.363426, 14.203585, 0.304081)),
    ):
        tau = compute(model, "inverse_dynamics", q=at[0], v=at[1], a=at[2], wrenches=wrench)["tau"]
        np.testing.assert_allclose(tau[order], expected, atol=1e-6)


@pytest.mark.feature("004-F48", "004-F50")
def test_person_of_36_coordinates():
    model = DynamicModel("syn3p33r", gravity=DOWN_Y)
    names = ["WJ_px", "WJ_py", "WJ_pz", "WJ_x", "WJ_y", "WJ_z", "LLJ_x", "LLJ_z"]
    names += [f"{joint}_{axis}" for joint in ("ULJ", "LNJ") for axis in "xyz"]
    for side in "RL":
        names += [f"SJ_{side}_{axis}" for axis in "xyz"] + [f"EJ_{side}_z"]
        names += [f"HJ_{side}_{axis}" for axis in "xyz"] + [f"KJ_{side}_z"] + [f"AJ_{side}_{axis}" for axis in "xyz"]
    order = [model.mechanism.v_names.index(name) for name in names]
    i = np.arange(36)
    q, v, a = np.zeros((3, 36))
    q[order], v[order], a[order] = 0.3 * np.sin(1 + 0.7 * i), 0.5 * np.cos(2 + 0.9 * i), 1.5 * np.sin(3 + 1.1 * i)
    full = [15.494695, 490.355875, -75.007948, 18.249778, 0.68686, -2.489973, -3.85686]
    full += [21.147922, -5.413317, -1.476152, 7.603645, -1.653869, 0.380496, 1.609032]
    tau = compute(model, "inverse_dynamics", q=q, v=v, a=a)["tau"][order]
    np.testing.assert_allclose(tau[:14], full, atol=1e-6)
    static = compute(model, "gravity", q=q)["g"][order]
    np.testing.assert_allclose(static[:3], [0.0, 57.231193 * 9.81, 0.0], atol=1e-5)
    # A person standing straight is the same on both sides.
    zero = compute(model, "gravity", q=np.zeros(36))["g"][order]
    right, left = zero[14:25], zero[25:36]
    mirrored = np.array([-1.0 if name.split("_")[2] in "xy" else 1.0 for name in names[14:25]])
    np.testing.assert_allclose(left, mirrored * right, atol=1e-9)
    places = compute(model, "kinematics", q=q)["p"]
    heights = dict(zip((link.name for link in model.links), places[:, 1], strict=True))
    thorax = [name for name in heights if "thorax" in name.lower()]
    assert thorax
    assert heights[thorax[-1]] == pytest.approx(0.412935, abs=1e-6)


@pytest.mark.feature("004-F06")
@pytest.mark.parametrize("name", ["tree4", "bip", "hrp2"])
def test_efforts_do_the_work_that_the_energy_shows(name):
    # d(Ec + Ep)/dt = v . tau along a motion with the model's own accelerations.
    import pinocchio as pin

    model = DynamicModel(name)
    state = random_state(model.mechanism, model.robot.model, np.random.default_rng(1))
    tau = compute(model, "inverse_dynamics", q=state.q, v=state.v, a=state.a)["tau"]
    h = 1e-5

    def energy(t):
        q = pin.integrate(model.robot.model, state.q, t * state.v + t * t / 2 * state.a)
        parts = compute(model, "energies", q=q, v=state.v + t * state.a)
        return parts["kinetic_energy"] + parts["potential_energy"]

    assert (energy(h) - energy(-h)) / (2 * h) == pytest.approx(state.v @ tau, rel=1e-6)


@pytest.mark.feature("004-F06", "004-F17")
def test_links_share_the_energy():
    model = DynamicModel("tree4")
    state = random_state(model.mechanism, model.robot.model, np.random.default_rng(1))
    parts = compute(model, "energies", q=state.q, v=state.v)
    assert parts["kinetic"].sum() == pytest.approx(parts["kinetic_energy"])
    assert parts["potential"].sum() == pytest.approx(parts["potential_energy"])
    assert (parts["kinetic"] >= 0).all()
    massless = [link.inertia is None for link in model.links]
    assert not parts["kinetic"][massless].any()


# V5: there and back ------------------------------------------------------------------------------------------------


def motion(t):
    q = np.array([0.5 * np.sin(t) + 0.2, 0.8 * np.cos(1.5 * t) - 0.3])
    v = np.array([0.5 * np.cos(t), -1.2 * np.sin(1.5 * t)])
    a = np.array([-0.5 * np.sin(t), -1.8 * np.cos(1.5 * t)])
    return q, v, a


def slope_of(model):
    def slope(t, state):
        q, v, a = motion(t)
        tau = compute(model, "inverse_dynamics", q=q, v=v, a=a)["tau"]
        found = compute(model, "direct_dynamics", q=state[:2], v=state[2:], tau=tau)["a"]
        return np.concatenate([state[2:], found])

    return slope


@pytest.mark.feature("004-F53")
@pytest.mark.parametrize("name", ["robot_2r_a", "robot_2r_b"])
def test_integrating_the_direct_model_gives_the_motion_back(name):
    slope = slope_of(DynamicModel(name, gravity=DOWN_Y))
    start = np.concatenate(motion(0.0)[:2])
    path = solve_ivp(slope, (0.0, 5.0), start, method="DOP853", rtol=1e-11, atol=1e-11)
    assert np.abs(path.y[:2, -1] - motion(5.0)[0]).max() < 1e-8


@pytest.mark.feature("004-F53")
def test_euler_and_runge_kutta_converge_at_their_orders():
    slope = slope_of(DynamicModel("robot_2r_b", gravity=DOWN_Y))

    def error(method, h):
        state, steps = np.concatenate(motion(0.0)[:2]), round(1.0 / h)
        for k in range(steps):
            state = method(k * h, state, h)
        return np.abs(state[:2] - motion(1.0)[0]).max()

    def euler(t, state, h):
        return state + h * slope(t, state)

    def runge_kutta(t, state, h):
        k1 = slope(t, state)
        k2 = slope(t + h / 2, state + h / 2 * k1)
        k3 = slope(t + h / 2, state + h / 2 * k2)
        k4 = slope(t + h, state + h * k3)
        return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    coarse, fine = error(euler, 4e-3), error(euler, 2e-3)
    assert fine < 4e-3
    assert coarse / fine == pytest.approx(2.0, rel=0.1)
    coarse, fine = error(runge_kutta, 0.02), error(runge_kutta, 0.01)
    assert fine < 1e-8
    assert coarse / fine == pytest.approx(16.0, rel=0.3)
