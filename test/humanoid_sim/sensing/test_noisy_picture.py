# SPDX-License-Identifier: Apache-2.0
"""Pictures with noise of known statistics, repeatable by their seed."""

import dataclasses
import math

import numpy as np
import pytest
from fixtures.scenes import floor, scene, standing

from humanoid_model import InputError, load_robot
from humanoid_model.sensor import Noise, Sensor
from humanoid_sim import Simulation
from humanoid_sim.sensing import NoisySensors
from humanoid_sim.sensing.noisy_picture import noisy_colours, noisy_distances

GREY = np.full((200, 300, 3), 128, dtype=np.uint8)


def draw(seed=0):
    return np.random.default_rng(seed)


def test_colours_have_the_deviation_and_the_biases_that_are_given():
    noises = {"colour": Noise(deviation=4.0, bias=(5.0, 0.0, -10.0))}
    errors = noisy_colours(GREY, noises, draw()).astype(float) - 128.0
    count = GREY.size / 3
    np.testing.assert_allclose(errors.mean(axis=(0, 1)), [5.0, 0.0, -10.0], atol=5 * 4.0 / math.sqrt(count))
    # rounding to whole levels adds its variance of 1/12
    np.testing.assert_allclose(errors.std(axis=(0, 1)), math.sqrt(16.0 + 1.0 / 12.0), rtol=5 / math.sqrt(2 * count))
    assert np.abs(np.corrcoef(errors.reshape(-1, 3).T) - np.eye(3)).max() < 5 / math.sqrt(count)


def test_colours_end_at_black_and_white():
    ends = np.tile(np.array([0, 255], dtype=np.uint8), (100, 100, 1))[:, :, :, None].reshape(100, 200, 1)
    found = noisy_colours(np.repeat(ends, 3, axis=2), {"colour": Noise(deviation=30.0)}, draw())
    assert found.dtype == np.uint8
    assert found[:, ::2].max() < 200
    assert found[:, 1::2].min() > 55


@pytest.mark.feature("000-F147")
@pytest.mark.parametrize("distance", [0.5, 1.0, 4.0])
def test_errors_of_distances_grow_with_their_square(distance):
    depths = np.full((300, 300), distance)
    found = noisy_distances(depths, {"inverse_depth": Noise(deviation=0.002)}, draw())
    assert found.std() == pytest.approx(0.002 * distance**2, rel=0.02)  # 5 deviations of a deviation of 90 000
    steps = noisy_distances(
        np.linspace(distance, 1.1 * distance, 5000), {"inverse_depth": Noise(resolution=0.01)}, draw()
    )
    assert np.diff(np.unique(steps))[0] == pytest.approx(0.01 * distance**2, rel=0.1)


def test_errors_of_distances_can_be_the_same_everywhere():
    depths = np.tile([1.0, 5.0], (200, 100))
    found = noisy_distances(depths, {"depth": Noise(deviation=0.01, bias=0.03)}, draw())
    np.testing.assert_allclose((found - depths)[:, ::2].std(), 0.01, rtol=0.03)
    np.testing.assert_allclose((found - depths)[:, 1::2].std(), 0.01, rtol=0.03)
    assert (found - depths).mean() == pytest.approx(0.03, abs=5e-4)


def test_what_is_nowhere_stays_there_and_what_is_lost_goes_there():
    depths = np.array([[np.inf, 2.0, 1000.0, np.inf]] * 500)
    found = noisy_distances(depths, {"inverse_depth": Noise(deviation=0.01), "depth": Noise(deviation=0.01)}, draw())
    assert np.isinf(found[:, [0, 3]]).all()
    assert np.isfinite(found[:, 1]).all()
    assert 0.3 < np.isinf(found[:, 2]).mean() < 0.7
    assert (found > 0.0).all()


def seeing(noise, seed=0):
    robot = load_robot("hrp2")
    eye = dataclasses.replace(robot.sensors["imu"], name="eye", type="camera", noise=noise, size=(40, 30))
    assert isinstance(eye, Sensor)
    simulation = Simulation(scene(floor(), robots=(standing(dataclasses.replace(robot, sensors={"eye": eye})),)))
    measured = NoisySensors(seed)
    simulation.add_module(measured)
    return simulation, measured


@pytest.mark.feature("000-F147")
def test_the_same_seed_and_time_give_the_same_picture():
    noise = {"colour": Noise(deviation=6.0), "inverse_depth": Noise(deviation=0.01)}
    (simulation, measured), (_, other) = seeing(noise, 1), seeing(noise, 2)
    first, deep = measured.image("hrp2", "eye"), measured.depth_image("hrp2", "eye")
    np.testing.assert_array_equal(measured.image("hrp2", "eye"), first)
    assert (other.image("hrp2", "eye") != first).any()
    ideal = simulation.robots["hrp2"].image("eye")
    assert np.abs(first.astype(float) - ideal)[(ideal > 30) & (ideal < 225)].std() > 2.0
    assert deep.shape == (30, 40)
    state = simulation.save_state()
    simulation.step()
    later = measured.image("hrp2", "eye")
    assert (later != first).mean() > 0.5
    simulation.restore_state(state)
    np.testing.assert_array_equal(measured.depth_image("hrp2", "eye"), deep)
    simulation.step()
    np.testing.assert_array_equal(measured.image("hrp2", "eye"), later)


def test_without_noise_a_camera_is_ideal():
    simulation, measured = seeing({})
    np.testing.assert_array_equal(measured.image("hrp2", "eye"), simulation.robots["hrp2"].image("eye"))
    np.testing.assert_allclose(
        measured.depth_image("hrp2", "eye"), simulation.robots["hrp2"].depth_image("eye")[0], rtol=1e-12
    )


@pytest.mark.parametrize(
    ("noise", "told"),
    [
        ({"colour": Noise(latency=1)}, "noise.colour: latency is 1. Leave it out"),
        ({"depth": Noise(bias=(1.0, 2.0, 3.0))}, "noise.bias"),
        ({"depth": Noise(deviation=-1.0)}, "noise.deviation: deviation is -1.0"),
    ],
)
def test_noise_that_pictures_cant_have_is_refused(noise, told):
    with pytest.raises(InputError, match=told):
        seeing(noise)


def test_who_has_no_such_camera_is_told():
    _, measured = seeing({})
    with pytest.raises(InputError, match="no"):
        measured.image("hrp2", "nose")
    with pytest.raises(InputError, match="there is no robot 'nobody'"):
        measured.depth_image("nobody", "eye")
