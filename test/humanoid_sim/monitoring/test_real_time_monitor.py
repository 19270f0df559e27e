# SPDX-License-Identifier: Apache-2.0
"""Computing times of steps (specification 000, F026)."""

from __future__ import annotations

import time

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_sim import Module, Simulation
from humanoid_sim.monitoring.real_time_monitor import RealTimeMonitor


def test_every_step_is_measured_once_with_all_modules() -> None:
    simulation = Simulation("box_on_slope")
    simulation.run(0.01)
    monitor = RealTimeMonitor()
    simulation.add_module(monitor)
    with pytest.raises(InputError, match="no step has been measured"):
        monitor.report()
    before = sum(simulation.profile.sums.values())
    simulation.run(0.2)
    seconds = monitor.seconds
    assert seconds.shape == (200,)
    assert seconds.sum() == pytest.approx(sum(simulation.profile.sums.values()) - before, rel=1e-9)
    assert len(monitor.seconds) == 200  # reading twice counts nothing twice
    report = monitor.report(bins=7)
    assert report.steps == 200
    assert report.mean == pytest.approx(seconds.mean())
    assert report.longest == seconds.max()
    assert report.median <= report.percentile_99 <= report.longest
    assert report.factor == pytest.approx(simulation.dt / seconds.mean())
    assert report.late == np.mean(seconds > simulation.dt)
    assert report.counts.sum() == 200
    assert report.counts.shape == (7,)
    assert (np.diff(report.edges) > 0.0).all()
    lines = str(report).splitlines()
    assert lines[0].startswith("200 steps: mean ")
    assert len(lines) == 8
    with pytest.raises(InputError, match="bins is 0"):
        monitor.report(bins=0)


@pytest.mark.feature("000-F026")
def test_slow_steps_are_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that spends a step's time and a half in every fourth step, by a clock that is put forward."""
    clock, forward = time.perf_counter, [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock() + forward[0])

    class Slow(Module):
        name = "slow"

        def after_step(self, simulation: Simulation) -> None:
            if simulation.step_count % 4 == 0:
                forward[0] += 1.5 * simulation.dt

    simulation = Simulation("box_on_slope")
    monitor = RealTimeMonitor()
    simulation.add_module(monitor)
    simulation.add_module(Slow())
    simulation.run(0.04)
    slow = monitor.seconds > 1.5 * simulation.dt
    assert slow[3::4].all()
    assert monitor.report().late >= 0.25
    assert monitor.report().late == pytest.approx(np.mean(monitor.seconds > simulation.dt))


def test_a_reset_profile_is_counted_anew() -> None:
    simulation = Simulation("box_on_slope")
    monitor = RealTimeMonitor()
    simulation.add_module(monitor)
    simulation.run(0.01)
    simulation.reset()
    simulation.run(0.005)
    assert 14 <= len(monitor.seconds) <= 15
    assert (monitor.seconds > 0.0).all()
