# SPDX-License-Identifier: Apache-2.0
"""BIP's boundary states against the table of specification 003 section 3.4.3, B0, U-13, and the reference solutions."""

import math
import re

import numpy as np
import pytest
from fixtures.gait_models import BIP, BRAKING, CYCLIC, MODELS
from fixtures.gait_oracles import ORACLES, samples

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.specification import seven_link
from humanoid_studies.planar_gait.specification.step_data import RestData

STEP = CYCLIC.step
START, END = seven_link.double_support_start(BIP, STEP), seven_link.double_support_end(BIP, STEP)
BRAKED = seven_link.double_support_end(BIP, BRAKING.step)
DOUBLE, SINGLE = MODELS["bip_dsp_cyclic"], MODELS["bip_ssp_cyclic"]


@pytest.mark.feature("003-F045")
def test_table_of_the_specification():  # F-045
    np.testing.assert_allclose(np.rad2deg(START.q), [147.865, 54.81, 90.99, -49.60, -92.30, -131.602, 90.0], atol=6e-3)
    np.testing.assert_allclose(START.v, [0.0, -0.8797, -1.1105, 0.0677, -1.4473, -1.4473, 0.0], atol=6e-5)
    np.testing.assert_allclose(np.rad2deg(END.q), [122.865, 39.77, 91.83, -54.13, -104.04, -142.602, 90.0], atol=6e-3)
    np.testing.assert_allclose(END.v, [-5.0, -1.4183, 1.0044, -0.7346, -1.2720, 0.0, 0.0], atol=6e-5)
    first, last = seven_link.single_from_double(END), seven_link.single_from_touch_down(BIP, START)
    np.testing.assert_allclose(np.rad2deg(first.q), [75.96, 125.87, -88.17, -140.23, -57.13, 90.0], atol=6e-3)
    np.testing.assert_allclose(first.v, [-1.2720, -0.7346, 1.0044, -1.4183, -5.0, 0.0], atol=6e-5)
    np.testing.assert_allclose(np.rad2deg(last.q), [54.81, 90.99, -49.60, -92.30, -21.135, 90.0], atol=6e-3)
    np.testing.assert_allclose(last.v, [-0.8797, -1.1105, 0.0677, -1.4473, -1.4473, 0.0], atol=6e-5)
    np.testing.assert_allclose(
        START.phase_variables(DOUBLE)[7:],
        [-3.7984, -27.7203, -27.3125, 1.6622, -0.1924, -0.0881, -19.0033],
        atol=6e-5,
    )
    np.testing.assert_allclose(
        END.phase_variables(DOUBLE)[7:], [-12.8589, -18.2434, -25.9445, 0.9812, -0.4315, 0.0, -19.4826], atol=6e-5
    )
    np.testing.assert_allclose(
        first.phase_variables(SINGLE)[6:], [-29.741, -25.7617, 5.4769, -0.6533, -0.2510, -19.4826], atol=6e-5
    )
    # With the rear foot still, the momenta after it are those of double support.
    np.testing.assert_allclose(last.phase_variables(SINGLE)[6:], START.phase_variables(DOUBLE)[8:], atol=1e-12)


@pytest.mark.feature("003-F043")
def test_ends_of_the_reference_solutions():
    rest = seven_link.rest(BIP, RestData())
    for state, case, end in [
        (START, "bip_dsp_cyclic", "x0"),
        (END, "bip_dsp_cyclic", "x1"),
        (START, "bip_dsp_brake", "x0"),
        (BRAKED, "bip_dsp_brake", "x1"),
        (seven_link.single_from_double(END), "bip_ssp_cyclic", "x0"),
        (seven_link.single_from_touch_down(BIP, START), "bip_ssp_cyclic", "x1"),
        (rest, "bip_ssp_start", "x0"),
        (seven_link.single_from_touch_down(BIP, START), "bip_ssp_start", "x1"),
        (seven_link.single_from_double(BRAKED), "bip_ssp_stop", "x0"),
        (rest, "bip_ssp_stop", "x1"),
    ]:
        np.testing.assert_allclose(state.phase_variables(MODELS[case]), ORACLES[case][end], atol=1e-12)


@pytest.mark.parametrize("state", [START, END, BRAKED])
def test_closed_in_place_and_rate(state):  # U-13
    np.testing.assert_allclose(DOUBLE.closure(state.q), 0.0, atol=1e-12)
    np.testing.assert_allclose(DOUBLE.closure_jacobian(state.q) @ state.v, 0.0, atol=1e-12)


@pytest.mark.feature("003-F049", "003-F050", "003-F051")
def test_b0():
    knees = DOUBLE.joint_angles(START.q)[[1, 4]]
    assert knees[0] > 0 > knees[1]  # both bent forward
    assert START.v[4] == START.v[5]  # (A.11), F-049
    heel = SINGLE.points["swing_heel"]
    touching = seven_link.single_from_touch_down(BIP, START)
    assert np.abs(heel.jacobian(touching.q) @ touching.v).max() < 1e-12  # F-050: no impact
    lifting = seven_link.single_from_double(END)
    assert np.abs(SINGLE.points["swing_toe"].jacobian(lifting.q) @ lifting.v).max() < 1e-12
    assert END.v[0] == STEP.final_rear_foot_rate  # F-051
    assert DOUBLE.slap(START.q)[0] == pytest.approx(STEP.initial_sole_angle)
    assert DOUBLE.slap(END.q)[0] == pytest.approx(0.0, abs=1e-15)
    for state, hip, speed in [
        (START, STEP.initial_hip, STEP.initial_hip_velocity),
        (END, STEP.final_hip, STEP.final_hip_velocity),
    ]:
        np.testing.assert_allclose(DOUBLE.points["hip"].position(state.q), [hip.real, hip.imag], atol=1e-14)
        rate = DOUBLE.points["hip"].jacobian(state.q) @ state.v
        np.testing.assert_allclose(rate, [speed.real, speed.imag], atol=1e-14)  # v_4^f too: erratum ER-09


def test_a_sole_that_lands_level_stands_at_once():
    """No place of it strikes the ground, and the hip moves as asked."""
    state = seven_link.double_support_start(BIP, STEP.replace(initial_sole_angle=0.0))
    assert DOUBLE.slap(state.q)[0] == pytest.approx(0.0, abs=1e-15)
    for name in ("front_heel", "front_toe"):
        point = DOUBLE.points[name]
        assert point.position(state.q)[1] == pytest.approx(0.0, abs=1e-15)
        np.testing.assert_allclose(point.jacobian(state.q) @ state.v, 0.0, atol=1e-14)
    speed = STEP.initial_hip_velocity
    np.testing.assert_allclose(DOUBLE.points["hip"].jacobian(state.q) @ state.v, [speed.real, speed.imag], atol=1e-14)


@pytest.mark.feature("003-F048")
def test_rates_are_those_of_the_pseudo_inverse():  # F-048
    for state, speed, given in [
        (START, STEP.initial_hip_velocity, {0: 0.0, 6: 0.0}),
        (END, STEP.final_hip_velocity, {0: STEP.final_rear_foot_rate, 5: 0.0, 6: 0.0}),
    ]:
        rows = [*DOUBLE.closure_jacobian(state.q), *DOUBLE.points["hip"].jacobian(state.q)]
        right = [0.0, 0.0, speed.real, speed.imag]
        for index, value in given.items():
            rows.append(np.eye(7)[index])
            right.append(value)
        if state is START:
            rows.append(np.eye(7)[5] - np.eye(7)[4])
            right.append(0.0)
        np.testing.assert_allclose(np.linalg.pinv(np.array(rows)) @ right, state.v, atol=1e-11)


def test_rear_heel_rises_with_the_pivot():
    heel = DOUBLE.points["rear_heel"]
    assert heel.position(START.q)[1] == pytest.approx(0.0, abs=1e-15)
    assert heel.position(END.q)[1] == pytest.approx(0.29 * math.sin(math.radians(25.0)))
    assert (heel.jacobian(END.q) @ END.v)[1] > 0.0


@pytest.mark.feature("003-F041")
def test_rear_heel_is_off_the_ground_throughout_double_support():  # F-041
    heights = DOUBLE.points["rear_heel"].position(samples("bip_dsp_cyclic")[0])[:, 1]
    assert heights[0] == pytest.approx(0.0, abs=1e-12)
    assert (heights[1:] > 0.0).all()


@pytest.mark.feature("003-F046")
def test_knees_bend_forward_in_all_reachable_samples():  # F-046
    rng = np.random.default_rng(1)
    reached, refused = 0, []
    for _ in range(300):
        step = STEP.replace(
            step_length=rng.uniform(0.3, 0.6),
            initial_hip=complex(rng.uniform(0.0, 0.15), rng.uniform(0.7, 0.87)),
            final_hip=complex(rng.uniform(0.1, 0.3), rng.uniform(0.7, 0.87)),
            initial_sole_angle=rng.uniform(0.0, 0.4),
            final_rear_foot_angle=rng.uniform(-0.6, 0.0),
        )
        try:
            states = [seven_link.double_support_start(BIP, step), seven_link.double_support_end(BIP, step)]
        except InputError as problem:
            refused.append(str(problem))
            continue
        model = BIP.double_support(step.step_length)
        for state in states:
            rear, front = model.joint_angles(state.q)[[1, 4]]
            assert 0.0 < rear < math.pi
            assert -math.pi < front < 0.0
            np.testing.assert_allclose(model.closure(state.q), 0.0, atol=1e-12)
            np.testing.assert_allclose(model.closure_jacobian(state.q) @ state.v, 0.0, atol=1e-9)
        reached += 1
    assert reached > 50
    assert all("has to span" in message for message in refused)


@pytest.mark.feature("003-F053")
def test_transition_and_its_inverse():
    again = seven_link.double_from_single(BIP, seven_link.single_from_touch_down(BIP, START))
    np.testing.assert_allclose(again.q, START.q, atol=1e-15)
    np.testing.assert_allclose(again.v, START.v, atol=1e-15)


def test_rest():
    state = seven_link.rest(BIP, RestData(hip_height=0.86, hip_ahead=0.01))
    points = {name: SINGLE.points[name].position(state.q) for name in ("swing_toe", "swing_heel", "hip")}
    np.testing.assert_allclose(points["swing_toe"], [0.0, 0.0], atol=1e-14)
    np.testing.assert_allclose(points["swing_heel"], [-0.29, 0.0], atol=1e-14)
    np.testing.assert_allclose(points["hip"], [0.01 - BIP.foot.toe_ahead, 0.86], atol=1e-14)


def test_unreachable():
    with pytest.raises(InputError, match="rear leg at the start: has to span"):
        seven_link.double_support_start(BIP, STEP.replace(initial_hip=0.3 + 0.9j))
    with pytest.raises(InputError, match="front leg at the end: has to span"):
        seven_link.double_support_end(BIP, STEP.replace(step_length=1.2))
    with pytest.raises(InputError, match=re.escape("legs at rest: has to span 0.8500 m and is 0.8200 m long")):
        seven_link.rest(BIP, RestData(hip_height=0.95))
