# SPDX-License-Identifier: Apache-2.0
"""Devices: scripts, emulated haptic arms, and mice that any thread moves."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_sim.interaction import Device, MouseDevice, ScriptedDevice
from humanoid_sim.interaction.device import emulated_omni


def test_scripts_pass_their_points_at_rest_with_consistent_velocities() -> None:
    device = ScriptedDevice([0.0, 1.0, 3.0], [[0, 0, 0], [0.2, 0, 0], [0.2, 0.4, -0.1]], presses=[(0.5, 2.0)])
    for time, position in ((0.0, [0, 0, 0]), (1.0, [0.2, 0, 0]), (3.0, [0.2, 0.4, -0.1]), (9.0, [0.2, 0.4, -0.1])):
        sample = device.read(time)
        assert_allclose(sample.position, position, atol=1e-12)
        assert_allclose(sample.velocity, 0.0, atol=1e-9)
    h = 1e-6
    slope = (device.read(1.7 + h).position - device.read(1.7 - h).position) / (2 * h)
    assert_allclose(device.read(1.7).velocity, slope, atol=1e-7)
    assert [device.read(time).pressed(0) for time in (0.49, 0.5, 1.999, 2.0)] == [False, True, True, False]
    assert not device.read(1.0).pressed(3)


def test_an_emulated_omni_has_its_rate_and_its_limits() -> None:
    device = emulated_omni([0.0, 1.0], np.zeros((2, 3)))
    assert device.rate == 1000.0
    assert_allclose(device.limited(np.array([0.0, 30.0, 40.0])), [0.0, 3.3 * 0.6, 3.3 * 0.8])
    assert_allclose(device.limited(np.array([0.0, 1.0, 2.0])), [0.0, 1.0, 2.0])
    assert device.max_stiffness == 1020.0


def test_a_mouse_says_nothing_before_it_is_moved() -> None:
    mouse = MouseDevice()
    assert mouse.read(0.0) is None
    mouse.post([1.0, 2.0, 3.0], (True,))
    sample = mouse.read(0.001)
    assert sample is not None
    assert_allclose(sample.position, [1.0, 2.0, 3.0])
    assert_allclose(sample.velocity, 0.0)
    assert sample.pressed(0)
    mouse.release()
    released = mouse.read(0.002)
    assert released is not None
    assert not released.pressed(0)


def test_a_mouse_is_smoothed_without_overshoot_whatever_the_rate() -> None:
    """The critically damped response 1 - (1 + w t) exp(-w t), its slope as velocity; exact at any reading times."""
    w = 1.0 / 0.02
    for times in (np.linspace(0.001, 0.2, 200), np.array([0.013, 0.05, 0.2])):
        mouse = MouseDevice(smoothing=0.02)
        mouse.post([0.0, 0.0, 0.0])
        mouse.read(0.0)
        mouse.post([1.0, 0.0, -2.0])
        for time in times:
            sample = mouse.read(float(time))
            assert sample is not None
            share = 1.0 - (1.0 + w * time) * np.exp(-w * time)
            slope = w * w * time * np.exp(-w * time)
            assert_allclose(sample.position, [share, 0.0, -2.0 * share], atol=1e-12)
            assert_allclose(sample.velocity, [slope, 0.0, -2.0 * slope], atol=1e-9)


def test_a_mouse_takes_posts_of_many_threads() -> None:
    """No post is torn: each holds one number three times, and so does every reading of a mouse that settles."""
    mouse = MouseDevice(smoothing=1e-6)
    stop = threading.Event()

    def move(value: float) -> None:
        while not stop.is_set():
            mouse.post([value] * 3, (value > 1.5,))

    threads = [threading.Thread(target=move, args=(float(i),)) for i in range(3)]
    for thread in threads:
        thread.start()
    try:
        for k in range(300):
            sample = mouse.read(0.01 * k)
            if sample is not None:
                assert np.ptp(sample.position) == 0.0
                mouse.display(np.full(3, float(k)))
                assert np.ptp(mouse.displayed) == 0.0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_mouse_keeps_its_last_post_when_the_next_is_bad() -> None:
    mouse = MouseDevice()
    mouse.post([1.0, 0.0, 0.0])
    for bad in ({"position": [np.nan, 0, 0]}, {"position": [1, 2]}, {"position": [0, 0, 0], "rotation": 2 * np.eye(3)}):
        with pytest.raises(InputError, match=r"position is|rotation is"):
            mouse.post(**bad)  # type: ignore[arg-type]
    sample = mouse.read(0.0)
    assert sample is not None
    assert_allclose(sample.position, [1.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Device("d", 0.0), "rate is 0.0"),
        (lambda: Device("d", np.inf), "rate is inf"),
        (lambda: Device("d", 100.0, max_force=-1.0), "max_force is -1.0"),
        (lambda: MouseDevice(smoothing=0.0), "smoothing is 0.0"),
        (lambda: ScriptedDevice([0, 1], [[0, 0], [1, 1]]), "positions have the shape"),
        (lambda: ScriptedDevice([1, 0], np.zeros((2, 3))), "not later than"),
        (lambda: ScriptedDevice([0, 1], np.zeros((2, 3)), presses=[(2.0, 1.0)]), "pressed from 2.0 s to 1.0 s"),
    ],
)
def test_bad_devices_are_refused(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]
