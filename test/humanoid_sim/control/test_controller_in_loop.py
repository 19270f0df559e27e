# SPDX-License-Identifier: Apache-2.0
"""Controllers in the simulator's loop: what they are told and when, and when their efforts act."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_model.controller import Command, Measurement
from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_sim.control import ControllerInLoop
from humanoid_sim.control.controller_in_loop import measure
from humanoid_sim.sensing import NoisySensors


class Recorder:
    """Remembers what it is told, and answers with one effort on the first joint."""

    def __init__(self, joint: str) -> None:
        self.heard: list[Measurement] = []
        self.joint = joint

    def update(self, time: float, measurement: Measurement) -> Command:
        self.heard.append(measurement)
        effort = np.array([float(len(self.heard))])
        return Command(time, (self.joint,), effort, np.zeros(1), np.zeros(1))


def loop(sensors: NoisySensors | None = None, **options: float) -> tuple[Simulation, ControllerInLoop, Recorder]:
    simulation = Simulation("bip_stand")
    if sensors is not None:
        simulation.add_module(sensors)
    recorder = Recorder(simulation.robots["bip"].joint_names[0])
    module = ControllerInLoop("bip", recorder, sensors=sensors, **options)
    simulation.add_module(module)
    return simulation, module, recorder


@pytest.mark.parametrize("noisy", [False, True])
def test_each_tick_hears_the_sensors_and_the_mean_of_inertial_readings_since_the_last_one(noisy: bool) -> None:
    sensors = NoisySensors(2) if noisy else None
    simulation, _, recorder = loop(sensors, period=3e-3)
    simulation.apply_wrench("bip/trunk", [300.0, 0.0, 0.0], duration=0.01)
    single = []
    for _ in range(9):
        simulation.step()
        single.append(measure(simulation, "bip", sensors))
    assert [each.time for each in recorder.heard] == pytest.approx([0.003, 0.006, 0.009])
    for k, told in enumerate(recorder.heard):
        since = single[3 * k : 3 * k + 3]
        np.testing.assert_allclose(told.specific_force, np.mean([m.specific_force for m in since], axis=0), rtol=1e-12)
        turned = np.mean([m.angular_velocity for m in since], axis=0)
        np.testing.assert_allclose(told.angular_velocity, turned, rtol=1e-9)
        np.testing.assert_array_equal(told.joint_positions, since[-1].joint_positions)
        for name, wrench in told.wrenches.items():
            np.testing.assert_array_equal(wrench, since[-1].wrenches[name])
    assert np.ptp([m.specific_force[0] for m in single]) > 0.1, "single readings differ, else their mean shows nothing"


def test_efforts_act_after_their_delay() -> None:
    simulation, _, _ = loop(period=2e-3, delay=3e-3)
    own, acting = simulation.robots["bip"], []
    for _ in range(10):
        simulation.step()
        acting.append(float(own.joint_efforts[0]))
    # Ticks end steps 2, 4, 6, ...; three steps later their efforts 1, 2, 3 act for two steps each.
    assert acting[5:] == pytest.approx([1.0, 1.0, 2.0, 2.0, 3.0])


def test_what_cannot_be_is_named() -> None:
    recorder = Recorder("hip")
    with pytest.raises(InputError, match="period"):
        ControllerInLoop("bip", recorder, period=0.0)
    with pytest.raises(InputError, match="delay"):
        ControllerInLoop("bip", recorder, delay=-1.0)
    with pytest.raises(InputError, match="no robot 'tom'"):
        Simulation("bip_stand").add_module(ControllerInLoop("tom", recorder))
