# SPDX-License-Identifier: Apache-2.0
"""Traces are the ways that points took, in bounded memory."""

from __future__ import annotations

import numpy as np
import pytest
from fixtures.scenes import ball, floor, place, scene
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_sim.recording.path_trace import PathTrace


def thrown() -> Simulation:
    """A ball in free flight that turns, 1 m/s along x, 5 m above the floor."""
    twist = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 8.0])
    return Simulation(
        scene(floor(), ball("ball", 0.1, place(0, 0, 5), twist=twist), ball("rests", 0.1, place(3, 0, 0.1)))
    )


@pytest.mark.feature("000-F166")
def test_a_thrown_ball_leaves_a_parabola_and_its_rim_a_spiral() -> None:
    simulation, trace = thrown(), PathTrace({"centre": ("ball", [0, 0, 0]), "rim": ("ball", [0.1, 0, 0])}, spacing=0.02)
    simulation.add_module(trace)
    simulation.run(0.5)
    centre, rim = trace["centre"], trace["rim"]
    assert_allclose(centre.positions[:, 0], centre.times, atol=1e-9)
    assert_allclose(centre.positions[:, 2], 5.0 - 4.9 * centre.times**2, atol=5e-3)
    gaps = np.linalg.norm(np.diff(centre.positions, axis=0), axis=1)
    assert gaps.min() >= 0.02
    assert gaps.max() < 0.03
    along = np.column_stack([np.cos(8 * rim.times), np.sin(8 * rim.times)])
    assert_allclose(rim.positions[:, :2], np.column_stack([rim.times, 0 * rim.times]) + 0.1 * along, atol=1e-6)


def test_what_rests_leaves_one_point() -> None:
    simulation, trace = thrown(), PathTrace(["rests"])
    simulation.add_module(trace)
    simulation.run(0.2)
    assert trace.names == ("rests",)
    assert_allclose(trace["rests"].positions, [[3.0, 0.0, 0.1]], atol=1e-6)


def test_memory_is_bounded_and_the_whole_way_stays() -> None:
    simulation, trace = thrown(), PathTrace(["ball"], spacing=0.001, most=40)
    simulation.add_module(trace)
    simulation.run(0.8)
    positions = trace["ball"].positions
    assert 15 <= len(positions) < 40
    assert_allclose(positions[0], [0.0, 0.0, 5.0])
    assert positions[-1, 0] > 0.7
    gaps = np.linalg.norm(np.diff(positions, axis=0), axis=1)
    assert gaps.max() < 6 * np.median(gaps)


def test_traces_go_back_with_the_simulation() -> None:
    simulation, trace = thrown(), PathTrace(["ball"])
    simulation.add_module(trace)
    simulation.run(0.1)
    state, kept = simulation.save_state(), len(trace["ball"].times)
    simulation.run(0.1)
    assert len(trace["ball"].times) > kept
    simulation.restore_state(state)
    assert len(trace["ball"].times) == kept
    simulation.reset()
    assert_allclose(trace["ball"].positions, [[0.0, 0.0, 5.0]])


def test_bad_traces_are_refused() -> None:
    for make, message in (
        (lambda: PathTrace([]), "no point is traced"),
        (lambda: PathTrace({"a": ("ball", [0, np.nan, 0])}), "the point of 'a' is"),
        (lambda: PathTrace(["ball"], spacing=-1.0), "spacing is -1.0"),
        (lambda: PathTrace(["ball"], every=0), "every is 0"),
        (lambda: PathTrace(["ball"], most=2), "most is 2"),
        (lambda: thrown().add_module(PathTrace(["nobody"])), "there is no body 'nobody'"),
        (lambda: PathTrace(["ball"])["other"], "there is no trace 'other'"),
    ):
        with pytest.raises(InputError, match=message):
            make()
