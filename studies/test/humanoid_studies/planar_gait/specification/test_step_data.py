# SPDX-License-Identifier: Apache-2.0
"""Step data: files, figures that follow from them, and what is refused."""

import dataclasses
import math
import re

import pytest

from humanoid_model.errors import InputError
from humanoid_model.files import find_resource
from humanoid_studies.planar_gait.specification.step_data import RestData, StepData, WalkData, load_walk


@pytest.mark.feature("003-F062")
def test_shipped_steps():
    walk = load_walk("bip_cyclic")
    assert math.degrees(walk.step.initial_sole_angle) == pytest.approx(11.0)
    assert math.degrees(walk.step.final_rear_foot_angle) == pytest.approx(-25.0)
    assert walk.duration == pytest.approx(0.67)
    assert walk.mean_speed == pytest.approx(0.746, abs=5e-4)  # F-062: 2.69 km/h
    assert 3.6 * walk.mean_speed == pytest.approx(2.69, abs=5e-3)
    hip_advance = walk.step.final_hip.real - walk.step.initial_hip.real
    assert hip_advance / walk.double_support == pytest.approx(0.765, abs=5e-4)
    assert (walk.step.step_length - hip_advance) / walk.single_support == pytest.approx(0.74)
    braking = load_walk("bip_braking")
    assert braking.step == walk.step.replace(final_hip_velocity=0.65 + 0.05j)
    assert braking.double_support == 0.186
    rabbit = load_walk("rabbit")
    assert 3.6 * rabbit.mean_speed == pytest.approx(3.07, abs=5e-3)
    advance = (rabbit.step.final_hip - rabbit.step.initial_hip).real
    assert advance / rabbit.double_support == pytest.approx(0.994, abs=5e-4)
    assert rabbit.step.initial_trunk_angle == math.pi / 2


GOOD = StepData(0.5, 0.07 + 0.845j, 0.2 + 0.83j, 0.75 - 0.2j, 0.75 + 0.05j, initial_sole_angle=0.19)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"step_length": 0.0}, "step.step_length: is 0 m"),
        ({"step_length": float("nan")}, "step.step_length: is nan"),
        ({"initial_hip": complex(0.1, float("inf"))}, "step.initial_hip: is"),
        ({"final_hip": 0.2 - 0.1j}, "step.final_hip: is -0.1 m high"),
        ({"final_hip_velocity": complex("nan")}, "step.final_hip_velocity: is"),
        ({"step_height": 0.9}, "step.initial_hip: is 0.845 m high"),
        ({"step_height": math.nan}, "step.step_height: is nan"),
        ({"initial_sole_angle": -0.1}, "step.initial_sole_angle: is -0.1 rad"),
        ({"final_rear_foot_angle": 0.2}, "step.final_rear_foot_angle: is 0.2 rad"),
        ({"final_rear_foot_rate": math.inf}, "step.final_rear_foot_rate: is inf"),
    ],
)
def test_no_step(changes, message):
    with pytest.raises(InputError, match=re.escape(message)):
        GOOD.replace(**changes)


def test_no_rest_and_no_durations():
    with pytest.raises(InputError, match=re.escape("rest.hip_height: is 0 m")):
        RestData(hip_height=0.0)
    with pytest.raises(InputError, match=re.escape("rest.trunk_angle: is nan")):
        RestData(trunk_angle=math.nan)
    with pytest.raises(InputError, match=re.escape("durations.single_support: is -0.5 s")):
        WalkData(GOOD, 0.1, -0.5)
    with pytest.raises(InputError, match=re.escape("durations.double_support: is nan s")):
        dataclasses.replace(WalkData(GOOD, 0.1, 0.5), double_support=math.nan)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("step_length: 0.50", "step_length: -0.5", "step.step_length is -0.5 m"),
        ("hip: [0.070, 0.845]", "hip: [0.070]", "start.hip: holds 1 values"),
        ("rear_foot_rate: -5", "rear_foot_speed: -5", "end.rear_foot_speed: unknown key"),
        ("double_support: 0.17", "double_support: 0", "durations.double_support: is 0. Give more than 0"),
        (", single_support: 0.5", "", "durations: 'single_support' is missing"),
        ("  hip_velocity: [0.75, -0.20]  # m/s\n", "", "start: 'hip_velocity' is missing"),
    ],
)
def test_bad_files(tmp_path, old, new, message):
    text = find_resource("config/gait/steps/bip_cyclic.yaml").read_text()
    assert old in text
    path = tmp_path / "step.yaml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=re.escape(message)):
        load_walk(path)


def test_rest_of_a_file(tmp_path):
    assert load_walk("bip_cyclic").rest == RestData(0.80, 0.05)
    assert load_walk("rabbit").rest == RestData()
    text = find_resource("config/gait/steps/bip_cyclic.yaml").read_text()
    path = tmp_path / "step.yaml"
    path.write_text(text.replace("hip_height: 0.80", "hip_height: -1"))
    with pytest.raises(InputError, match=re.escape("rest: rest.hip_height is -1 m")):
        load_walk(path)


def test_unknown_step():
    with pytest.raises(InputError, match=r"unknown step 'run'\. Use one of bip2000_first, .*bip_braking, bip_cyclic, "):
        load_walk("run")
