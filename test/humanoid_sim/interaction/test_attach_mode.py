# SPDX-License-Identifier: Apache-2.0
"""Holding things: experiment E9, rates, mice, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fixtures.scenes import ball, box, floor, place, scene
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_sim.interaction import AttachMode, MouseDevice, ScriptedDevice
from humanoid_sim.interaction.device import emulated_omni
from humanoid_sim.scenario import load_scenario, make_simulation, run_scenario

G = 9.8
WEIGHT = 1.75 * G
EXAMPLE = Path(__file__).parents[3] / "studies" / "examples" / "haptic_object.py"


def object_on_table(dt: float = 1e-3) -> Simulation:
    return Simulation(scene(floor(), box("table", (0.6, 0.6, 0.7), place(0, 0, 0.35), mass=0.0), block()), dt)


def block() -> object:
    return box("object", (0.2, 0.1, 0.1), place(0, 0, 0.75), mass=1.75)


@pytest.mark.feature("000-F109", "000-F111")
def test_experiment_e9_as_the_thesis_tells_it() -> None:
    """§27 E9: steady z force -m g within 1 %, 1.1 m within 2 cm, zero at the first tick after release."""
    from importlib import import_module

    scenario = load_scenario(EXAMPLE)()
    module = import_module(type(scenario).__module__)
    simulation = make_simulation(scenario, EXAMPLE)
    run_scenario(scenario, simulation, source=EXAMPLE)
    log = scenario.hand.log.device
    time, force = log["time"], log["force"]
    assert (force[time < module.GRASP] == 0.0).all()
    carried = (time > module.CARRIED - 0.3) & (time < module.CARRIED)
    assert force[carried, 2].mean() == pytest.approx(-WEIGHT, rel=0.01)
    lifting = (time > module.GRASP) & (time < module.LIFTED)
    assert -32.0 < force[lifting, 2].min() < -22.0  # the thesis reads -25 N
    along = (time > module.LIFTED) & (time < module.CARRIED)
    middle = 0.5 * (module.LIFTED + module.CARRIED)
    assert force[along & (time < middle - 0.5), 0].min() < -0.4  # pulled along first, x in [0, 0.58] m
    assert force[along & (time > middle + 0.5), 0].max() > 0.4  # held back then, x in [0.58, 1.1] m
    moved = simulation.bodies["object"].placement_world_body.translation
    assert moved[0] == pytest.approx(1.1, abs=0.02)
    released = time >= module.RELEASE
    assert (force[released] == 0.0).all()
    assert (log["displayed"][released] == 0.0).all()
    steps = scenario.hand.log.physics
    assert (steps["force"][steps["time"] >= module.RELEASE - 1e-9] == 0.0).all()
    assert np.abs(steps["force"][steps["time"] < module.RELEASE - 1e-9][-1]).max() > 1.0
    assert moved[2] == pytest.approx(0.05, abs=1e-3)  # it fell to the ground


def holding(device: object, simulation: Simulation, **options: float) -> AttachMode:
    hold = AttachMode(device, **options)  # type: ignore[arg-type]
    simulation.add_module(hold)
    return hold


def test_the_object_feels_the_opposite_of_what_the_pointer_does() -> None:
    """Errata 27: held at rest in the air, the pointer feels -m g, the object gets +m g."""
    simulation = object_on_table()
    device = ScriptedDevice([0.0, 0.1, 0.6], [[0, 0, 0.75]] * 2 + [[0, 0, 0.95]], presses=[(0.05, 9.0)])
    hold = holding(device, simulation)
    simulation.run(2.5)
    assert hold.forces[0].body == "object"
    assert_allclose(hold.forces[0].force, [0.0, 0.0, WEIGHT], atol=1e-3)
    assert_allclose(device.displayed, [0.0, 0.0, -WEIGHT], atol=1e-3)


def test_an_omni_displays_no_more_than_it_can_and_its_scale_brings_the_weight_down() -> None:
    for scale, felt in ((1.0, -3.3), (10.0, -WEIGHT / 10.0)):
        simulation = object_on_table()
        omni = emulated_omni([0.0, 0.1, 0.6], [[0, 0, 0.75]] * 2 + [[0, 0, 0.95]], presses=[(0.05, 9.0)])
        hold = holding(omni, simulation, force_scale=scale)
        simulation.run(2.0)
        assert omni.displayed[2] == pytest.approx(felt, rel=1e-3)
        assert hold.forces[0].force[2] == pytest.approx(WEIGHT, rel=1e-3)


@pytest.mark.feature("000-F109")
def test_what_is_held_at_its_end_hangs_from_there() -> None:
    """A block that is taken 8 cm beside its middle in the air: the middle falls, the held point stays."""
    bar = box("bar", (0.2, 0.04, 0.04), place(0, 0, 1.0), mass=1.0)
    simulation = Simulation(scene(floor(), bar))
    hold = holding(ScriptedDevice([0.0, 9.0], [[0.08, 0, 1.0]] * 2, presses=[(0, 9)]), simulation)
    simulation.run(0.1)
    assert_allclose(hold.forces[0].point, [0.08, 0.0, 0.0], atol=1e-12)
    placement = simulation.bodies["bar"].placement_world_body
    # It swings about the pointer: the middle falls, the held point stays within what the spring gives.
    assert simulation.bodies["bar"].placement_world_body.translation[2] < 0.98
    assert placement.act(np.array([0.08, 0.0, 0.0]))[2] > 0.97
    assert placement.rotation[2, 0] > 0.2


@pytest.mark.feature("000-F111")
def test_the_pointer_takes_what_it_is_in_or_near_and_goes_through_the_rest() -> None:
    simulation = Simulation(scene(floor(), ball("near", 0.1, place(0, 0, 0.1)), ball("far", 0.1, place(1, 0, 0.1))))
    for at, expected in (([1.0, 0, 0.15], "far"), ([0, 0, 0.205], "near"), ([0.5, 0, 0.1], None), ([0, 0, -0.2], None)):
        hold = holding(ScriptedDevice([0, 1], [at, at], presses=[(0, 9)]), simulation)
        simulation.step()
        assert (hold.held.body if hold.held else None) == expected
        simulation.remove_module("attach")


@pytest.mark.feature("000-F120")
def test_a_slow_device_makes_a_staircase_in_the_physics_log() -> None:
    """F120: a device of 100 Hz beside steps of 1 ms; between its ticks the object feels the last force."""
    simulation = object_on_table()
    device = ScriptedDevice([0.0, 0.5], [[0, 0, 0.75], [0.3, 0, 0.9]], presses=[(0, 9)], rate=100.0)
    hold = holding(device, simulation)
    simulation.run(0.3)
    stairs = hold.log.physics["force"].reshape(30, 10, 3)
    assert (np.ptp(stairs, axis=1) == 0.0).all()
    assert np.abs(np.diff(stairs[:, 0], axis=0)).max(axis=1)[1:].min() > 0.0
    assert_allclose(hold.log.device["time"], 0.01 * np.arange(30), atol=1e-12)


@pytest.mark.feature("000-F120")
def test_a_fast_device_sees_the_object_stand_still_within_a_step() -> None:
    """F120 the other way round: 1 kHz beside steps of 5 ms; the device's log shows the object's stairs."""
    simulation = object_on_table(dt=5e-3)
    device = ScriptedDevice([0.0, 0.5], [[0, 0, 0.75], [0.3, 0, 0.9]], presses=[(0, 9)])
    hold = holding(device, simulation)
    simulation.run(0.3)
    log = hold.log.device
    assert len(log["time"]) == 300
    assert hold.coupling is not None
    velocities = np.array([device.read(time).velocity for time in log["time"]])
    seen = log["force"] + hold.coupling.stiffness * log["position"] + hold.coupling.damping * velocities
    stairs = seen.reshape(60, 5, 3)  # k_p x_obj + k_v v_obj, which only physics changes
    assert np.ptp(stairs, axis=1).max() < 1e-9
    assert np.abs(np.diff(stairs[:, 0], axis=0)).max(axis=1)[10:].min() > 1e-6


def test_a_device_whose_rate_fits_no_step_is_served_in_time() -> None:
    simulation = object_on_table()
    hold = holding(ScriptedDevice([0.0, 0.5], [[0, 0, 0.75]] * 2, presses=[(0, 9)], rate=300.0), simulation)
    simulation.run(0.1)
    assert_allclose(hold.log.device["time"], np.arange(30) / 300.0)


@pytest.mark.feature("000-F110")
def test_a_mouse_drags_what_it_holds() -> None:
    """F110: posts from outside move a ball over the floor against friction."""
    simulation = Simulation(scene(floor(), ball("ball", 0.1, place(0, 0, 0.1))))
    mouse = MouseDevice()
    hold = holding(mouse, simulation)
    simulation.run(0.01)
    assert hold.forces == ()
    mouse.post([0.0, 0.0, 0.1], (True,))
    simulation.run(0.01)
    for k in range(20):
        mouse.post([0.03 * (k + 1), 0.0, 0.1], (True,))
        simulation.run(0.02)
    assert np.abs(mouse.displayed[0]) > 0.1
    simulation.run(1.0)
    assert simulation.bodies["ball"].placement_world_body.translation[0] == pytest.approx(0.6, abs=0.02)
    mouse.release()
    simulation.run(0.01)
    assert hold.held is None
    assert_allclose(mouse.displayed, 0.0)


def test_an_interaction_goes_on_bit_for_bit_from_a_saved_state() -> None:
    simulation = object_on_table()
    device = ScriptedDevice([0.0, 0.5], [[0.05, 0, 0.76], [0.3, 0, 0.9]], presses=[(0.01, 9)], rate=300.0)
    hold = holding(device, simulation, rotational_stiffness=2.0)
    simulation.run(0.1)
    state = simulation.save_state()
    simulation.run(0.1)
    q = simulation.q.copy()
    simulation.run(0.05)
    simulation.restore_state(state)
    assert hold.held is not None
    simulation.run(0.1)
    np.testing.assert_array_equal(simulation.q, q)
    simulation.reset()
    assert hold.held is None


def test_logs_are_written_with_units(tmp_path: Path) -> None:
    simulation = object_on_table()
    hold = holding(ScriptedDevice([0.0, 0.5], [[0, 0, 0.75]] * 2, presses=[(0, 9)]), simulation)
    simulation.run(0.01)
    hold.log.write(tmp_path / "log")
    lines = (tmp_path / "log" / "device.csv").read_text().splitlines()
    assert lines[0].split(",")[:4] == ["time [s]", "position_x [m]", "position_y [m]", "position_z [m]"]
    assert len(lines) == 11
    assert len((tmp_path / "log" / "physics.csv").read_text().splitlines()) == 11


def test_what_cannot_be_held_is_refused() -> None:
    simulation = object_on_table()
    device = ScriptedDevice([0.0, 0.5], np.zeros((2, 3)))
    with pytest.raises(InputError, match="the body 'table' is fixed"):
        simulation.add_module(AttachMode(device, body="table"))
    with pytest.raises(InputError, match=r"there is no body 'chair'.*table"):
        simulation.add_module(AttachMode(device, body="chair"))
    for wrong in ({"stiffness": 0.0}, {"stiffness": np.nan}, {"reach": -1.0}, {"max_force": 0.0}, {"force_scale": 0.0}):
        with pytest.raises(InputError, match=f"{next(iter(wrong))} is"):
            AttachMode(device, **wrong)  # type: ignore[arg-type]
