# SPDX-License-Identifier: Apache-2.0
"""Devices: increments that don't depend on the rate, dead bands, silence, clutches, jumps, steps and keys."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import PanelDevice, RateDevice
from humanoid_kinematics.devices.device import JOY_MAPPINGS, HybridDevice, JoyMapping, NullDevice, PoseDevice, Response
from humanoid_model import InputError


def total(device, seconds, rate):
    """Read a device for some seconds at a rate; the sum of its motions."""
    reads = [device.read(1.0 / rate) for _ in range(round(seconds * rate))]
    return sum(read.linear for read in reads), sum(read.angular for read in reads)


@pytest.mark.feature("002-F101")
@pytest.mark.parametrize("rate", [30, 1000])
def test_a_deflection_is_a_speed_whatever_the_rate_of_reading(rate):
    mouse = RateDevice("mouse", response=Response(0.2, 0.5, dead_band=0.0, silence=10.0))
    mouse.post([0.5, 0.0, -1.0, 0.0, 0.1, 0.0])
    linear, angular = total(mouse, 2.0, rate)
    np.testing.assert_allclose(linear, [0.2, 0.0, -0.4], atol=1e-12)
    np.testing.assert_allclose(angular, [0.0, 0.1, 0.0], atol=1e-12)


@pytest.mark.feature("002-F007", "002-F114")
def test_a_device_without_rotations_leaves_them_zero():
    mouse = RateDevice("mouse", translation=3, rotation=0, response=Response(dead_band=0.0))
    mouse.post(np.ones(6))
    read = mouse.read(0.1)
    assert read.linear.all()
    assert not read.angular.any()
    with pytest.raises(InputError, match=r"'flat': translation: is 4\. Give 0 to 3"):
        RateDevice("flat", translation=4)


@pytest.mark.feature("002-F101")
def test_a_dead_band_moves_nothing_and_speed_grows_from_its_edge():
    response = Response(linear_speed=1.0, dead_band=0.2)
    for deflection, speed in ((0.19, 0.0), (-0.2, 0.0), (0.6, 0.5), (-1.0, -1.0), (3.0, 1.0)):
        assert response.speed(np.array([deflection, 0, 0, 0, 0, 0]))[0][0] == pytest.approx(speed)


def test_of_a_dominant_response_only_the_largest_deflection_counts():
    linear, angular = Response(dominant=True).speed(np.array([0.3, 0.9, 0.1, 0.0, -0.8, 0.0]))
    assert np.flatnonzero([*linear, *angular]).tolist() == [1]


def test_a_device_that_falls_silent_stops_and_goes_on_when_it_comes_back():
    mouse = RateDevice("mouse", response=Response(1.0, dead_band=0.0, silence=0.2))
    assert not mouse.read(0.01).linear.any()  # nothing said yet
    mouse.post([1.0, 0, 0, 0, 0, 0])
    linear, _ = total(mouse, 5.0, 100)
    assert linear[0] == pytest.approx(0.2, abs=0.02)
    mouse.post([1.0, 0, 0, 0, 0, 0])
    assert mouse.read(0.01).linear[0] == pytest.approx(0.01)
    mouse.release()
    assert not mouse.read(0.01).linear.any()


@pytest.mark.feature("002-F102")
def test_a_closed_path_of_a_device_gives_no_net_motion_and_clutching_none():
    device, moved, turned = PoseDevice("tracker"), np.zeros(3), 0.0
    for t in np.linspace(0.0, 2 * np.pi, 50):
        turn = pin.exp3(np.array([0.0, 0.0, np.sin(t)]))
        device.post(pin.SE3(turn, np.array([np.cos(t), np.sin(2 * t), 0.0])))
        read = device.read(0.1)
        moved += read.linear
        turned += read.angular[2]
    np.testing.assert_allclose(moved, 0.0, atol=1e-14)
    assert abs(turned) < 1e-9
    assert not device.read(0.1).linear.any()  # it said nothing new
    device.post(pin.SE3(pin.exp3(np.array([0.0, 0.4, 0.0])), np.array([1.5, 0.0, 0.0])))
    read = device.read(0.1)
    np.testing.assert_allclose([*read.linear, *read.angular], [0.5, 0, 0, 0, 0.4, 0], atol=1e-12)
    device.post(pin.SE3(pin.exp3(np.array([0.0, 0.4, 0.0])), np.array([1.5, 0.1, 0.0])))
    read = device.read(0.1)
    np.testing.assert_allclose([*read.linear, *read.angular], [0, 0.1, 0, 0, 0, 0], atol=1e-12)
    device.release()
    device.post(pin.SE3(np.eye(3), np.array([9.0, 9.0, 9.0])))
    read = device.read(0.1)
    np.testing.assert_array_equal([*read.linear, *read.angular], np.zeros(6))


@pytest.mark.feature("002-F102")
def test_a_place_no_hand_gets_to_in_that_time_moves_nothing():
    device = PoseDevice("tracker", fastest=5.0)
    for x in (0.0, 0.004, 1.004, 1.008):
        device.post(pin.SE3(np.eye(3), np.array([x, 0.0, 0.0])))
        last = device.read(0.001).linear[0]
        assert last == pytest.approx(0.004 if x in (0.004, 1.008) else 0.0)
    assert device.jumps == 1


@pytest.mark.feature("002-F108")
def test_steps_add_up_and_sliders_spring_back():
    panel = PanelDevice("Mover", linear_step=0.002, angular_step=0.01, response=Response(1.0, 2.0, 0.0, silence=0.1))
    for axis in ("x", "y", "z", "rx", "ry", "rz"):
        panel.step(axis)
        panel.step(axis)
        panel.step(axis, -5)
    read = panel.read(0.01)
    np.testing.assert_allclose([*read.linear, *read.angular], [-0.006] * 3 + [-0.03] * 3)
    assert not panel.read(0.01).linear.any()
    panel.slide("y", 0.5)
    panel.slide("rz", -1.0)
    read = panel.read(0.01)
    np.testing.assert_allclose([*read.linear, *read.angular], [0, 0.005, 0, 0, 0, -0.02])
    assert total(panel, 3.0, 100)[0][1] < 0.06  # nobody holds it any more
    with pytest.raises(InputError, match=r"no axis 'w'\. Axes are x, y, z, rx, ry, rz"):
        panel.step("w")


@pytest.mark.feature("002-F109")
def test_every_key_is_a_step_of_its_axis():
    panel = PanelDevice("keys", linear_step=1.0, angular_step=1.0)
    seen = set()
    for key in panel.keys:
        assert panel.press(key)
        read = panel.read(0.01)
        seen.add((*read.linear, *read.angular))
    assert seen == {tuple(sign * row) for row in np.eye(6) for sign in (1.0, -1.0)}
    assert not panel.press("?")
    assert not panel.read(0.01).linear.any()


@pytest.mark.feature("002-F112")
def test_a_hybrid_device_moves_by_its_place_and_turns_by_its_deflection():
    device = HybridDevice("syntaxeur", Response(angular_speed=2.0, dead_band=0.0))
    moved, turned = np.zeros(3), np.zeros(3)
    for t in np.linspace(0.0, 1.0, 101):
        device.post([0.1 * t, 0.0, -0.05 * t], [0.0, 0.5, 0.0])
        read = device.read(0.01)
        moved, turned = moved + read.linear, turned + read.angular
    np.testing.assert_allclose(moved, [0.1, 0.0, -0.05], atol=1e-12)
    np.testing.assert_allclose(turned, [0.0, 1.01, 0.0], atol=1e-12)
    device.release()
    device.post([5.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    assert not device.read(0.01).linear.any()


@pytest.mark.parametrize("wrong", [[np.nan, 0, 0, 0, 0, 0], [0.0, 0.0], [np.inf] * 6])
def test_what_is_not_finite_is_refused_and_the_last_deflection_stays(wrong):
    mouse = RateDevice("mouse", response=Response(1.0, dead_band=0.0))
    mouse.post([1.0, 0, 0, 0, 0, 0])
    with pytest.raises(InputError, match=r"device 'mouse': deflection is .* 6 finite numbers"):
        mouse.post(wrong)
    assert mouse.read(0.01).linear[0] == pytest.approx(0.01)
    tracker = PoseDevice("tracker")
    with pytest.raises(InputError, match="'tracker': placement"):
        tracker.post(pin.SE3(np.eye(3), np.array([0.0, np.nan, 0.0])))
    assert not tracker.read(0.01).linear.any()


@pytest.mark.feature("002-F008")
def test_no_device_commands_nothing():
    assert NullDevice().read(0.01) is None


@pytest.mark.parametrize("wrong", [{"linear_speed": 0.0}, {"silence": -1.0}, {"dead_band": 1.0}])
def test_a_response_that_can_not_be_is_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        Response(**wrong)


@pytest.mark.feature("002-F101")
def test_axes_go_where_the_mapping_says_with_their_signs():
    mapping = JoyMapping((4, None, 0, 1, 2, 3), (1, 1, -1, 1, 1, 2))
    np.testing.assert_allclose(
        mapping.deflection([0.1, 0.2, 0.3, 0.8, 0.5]), [0.5, 0.0, -0.1, 0.2, 0.3, 1.0]
    )  # no further than full deflection


def test_nothing_moves_unless_the_button_is_held():
    pad, axes = JOY_MAPPINGS["gamepad"], [0.1, 0.2, 1.0, 0.3, 0.4, 1.0, -1.0, 0.0]
    assert not pad.deflection(axes, [0] * 11).any()
    held = [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    np.testing.assert_allclose(pad.deflection(axes, held), [0.2, 0.1, 0.4, -1.0, 0.0, 0.3])


def test_a_message_that_does_not_fit_is_refused():
    with pytest.raises(InputError, match=r"has 2 axes and 0 buttons.*asks for axes \[0, 1, 2, 3, 4, 5\]"):
        JOY_MAPPINGS["spacenav"].deflection([0.0, 0.0])
    with pytest.raises(InputError, match="button 4"):
        JOY_MAPPINGS["gamepad"].deflection([0.0] * 8, [0, 0])
    with pytest.raises(InputError, match="Give finite numbers"):
        JOY_MAPPINGS["spacenav"].deflection([0.0, np.nan, 0.0, 0.0, 0.0, 0.0])
    with pytest.raises(InputError, match="Give six of each"):
        JoyMapping((0, 1))
    with pytest.raises(InputError, match="count from 0"):
        JoyMapping((0, 1, 2, 3, 4, -1))
