# SPDX-License-Identifier: Apache-2.0
"""Touching: what the user feels and what bodies feel."""

from __future__ import annotations

import numpy as np
import pytest
from fixtures.scenes import ball, box, floor, place, scene
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_sim.interaction import ScriptedDevice, TouchMode, emulated_omni

R = 0.005


def pressing(depth: float, **options: float) -> tuple[Simulation, ScriptedDevice, TouchMode]:
    """A heavy block on the floor, touched from above to a depth under its upper face."""
    simulation = Simulation(scene(floor(), box("block", (0.4, 0.4, 0.2), place(0, 0, 0.1), mass=10.0)))
    device = ScriptedDevice([0.0, 0.1, 0.3], [[0, 0, 0.3]] * 2 + [[0.05, 0, 0.2 - depth]])
    touch = TouchMode(device, radius=R, **options)
    simulation.add_module(touch)
    return simulation, device, touch


def weight_on_floor(simulation: Simulation) -> float:
    return float(simulation.contacts.force[:, 2].sum())


@pytest.mark.feature("000-F115")
@pytest.mark.parametrize("scale", [1.0, 0.5, 4.0])
def test_a_block_feels_the_scaled_force_of_the_device(scale: float) -> None:
    """F115; the ball stays on the block while the pointer is inside, and the floor carries block and push."""
    simulation, device, touch = pressing(0.02, stiffness=300.0, force_scale=scale)
    simulation.run(1.0)
    felt = 300.0 * (0.02 + R)
    assert_allclose(device.displayed, [0.0, 0.0, felt], rtol=1e-3, atol=1e-6)
    assert_allclose(touch.forces[0].force, [0.0, 0.0, -scale * felt], rtol=1e-3, atol=1e-6)
    assert weight_on_floor(simulation) == pytest.approx(10.0 * 9.8 + scale * felt, rel=1e-4)
    assert touch.proxy is not None
    assert_allclose(touch.proxy.position, [0.05, 0.0, 0.2 + R], atol=1e-4)


def test_free_space_feels_like_nothing() -> None:
    simulation, device, touch = pressing(-0.05)
    simulation.run(0.5)
    assert_allclose(device.displayed, 0.0)
    assert touch.forces == ()
    assert touch.contacts is None


@pytest.mark.feature("000-F113")
def test_the_ball_stays_outside_what_moves() -> None:
    """F113: a free block is pushed over the floor; the ball is never nearer than its radius, and never pulls."""
    simulation = Simulation(scene(floor(), box("block", (0.2, 0.2, 0.2), place(0, 0, 0.1))))
    device = ScriptedDevice([0.0, 0.1, 1.1, 1.6], [[-0.3, 0, 0.05]] * 2 + [[0.3, 0, 0.05], [-0.3, 0, 0.05]])
    touch = TouchMode(device, radius=R, stiffness=800.0)
    simulation.add_module(touch)
    gaps, pushes = [], []

    def watch(simulation: Simulation) -> None:
        assert touch.proxy is not None
        # the ball is placed at the step's start: seen from the block as it was then
        local = np.abs(before[0].actInv(touch.proxy.position))
        gaps.append(np.linalg.norm(np.maximum(local - 0.1, 0.0)) - R)
        pushes.append(touch.forces[0].force[0] if touch.forces else 0.0)
        before[0] = simulation.bodies["block"].placement_world_body

    before = [simulation.bodies["block"].placement_world_body]
    simulation.run(1.6, watch)
    assert min(gaps) > -2e-3 * R
    assert max(pushes) > 1.0
    assert min(pushes) >= 0.0
    moved = simulation.bodies["block"].placement_world_body.translation[0]
    assert 0.3 < moved < 0.5  # pushed along to where the pointer turned back, and not pulled back with it


def test_a_stiff_spring_cannot_shake_a_light_body() -> None:
    """The wall's limit for what moves: 1e9 N/m asked for on 20 g, pressed against the floor."""
    simulation = Simulation(scene(floor(), ball("ball", 0.05, place(0, 0, 0.05), mass=0.02)))
    device = ScriptedDevice([0.0, 0.1, 0.3], [[0, 0, 0.2]] * 2 + [[0.0, 0, 0.09]])
    touch = TouchMode(device, radius=R, stiffness=1e9)
    simulation.add_module(touch)
    energies: list[float] = []
    simulation.run(1.0, lambda s: energies.append(s.energy().kinetic))
    assert max(energies) < 0.02
    assert energies[-1] < 1e-9
    assert weight_on_floor(simulation) > 1.0


@pytest.mark.feature("000-F121")
def test_a_wall_is_no_stiffer_than_the_device_can_display() -> None:
    """F121: 1020 N/m for an Omni, whatever is asked for; the wall itself is not entered."""
    simulation = Simulation(scene(floor(), ball("ball", 0.05, place(1, 0, 0.05))))
    omni = emulated_omni([0.0, 0.1, 0.3], [[0, 0, 0.1]] * 2 + [[0.0, 0, R - 0.002]])
    touch = TouchMode(omni, radius=R, stiffness=1e5)
    simulation.add_module(touch)
    simulation.run(0.5)
    assert omni.displayed[2] == pytest.approx(1020.0 * 0.002, rel=5e-3)
    assert touch.proxy is not None
    assert touch.proxy.position[2] >= R * (1 - 2e-3)


def test_touch_goes_on_bit_for_bit_from_a_saved_state() -> None:
    simulation, _, touch = pressing(0.02, stiffness=300.0)
    simulation.run(0.25)
    state = simulation.save_state()
    simulation.run(0.2)
    q = simulation.q.copy()
    simulation.restore_state(state)
    simulation.run(0.2)
    np.testing.assert_array_equal(simulation.q, q)
    simulation.reset()
    assert touch.proxy is None


@pytest.mark.parametrize(
    "wrong", [{"radius": 0.0}, {"stiffness": np.inf}, {"stiffness": -1.0}, {"force_scale": np.nan}]
)
def test_bad_values_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(wrong))} is"):
        TouchMode(emulated_omni([0.0], np.zeros((1, 3))), **wrong)  # type: ignore[arg-type]
