# SPDX-License-Identifier: Apache-2.0
"""A planar lift played every 5 ms by the whole robot in the simulator (000-F156)."""

from __future__ import annotations

import numpy as np
import pytest
from fixtures.lifting import hrp2

from humanoid_sim.simulation import Simulation
from humanoid_studies.lifting.planar_lifter import SHARE_OF_PEAK, PlanarLifter
from humanoid_studies.lifting.replay import BEFORE, lifting_scene, play_lift, sample_times, sampled
from humanoid_studies.lifting.weight_lift import LiftMotion, WeightLift
from humanoid_studies.simulator.weight_lifting import OBJECT, thesis_postures


@pytest.mark.feature("000-F156")
def test_the_simulated_robot_does_what_the_planar_one_plans() -> None:
    """Hands are raised and lowered by 4 cm; sensors and zero-moment point read what the plan says."""
    lifter = PlanarLifter(hrp2(), OBJECT)
    start, _ = thesis_postures(lifter)
    lift = WeightLift(lifter, start, start)
    rest = lift.straight(0.8)
    points = rest.points.copy()
    points[4:8, 4:6] += [-0.15, -0.2]
    motion = LiftMotion(points, 0.8)
    times = sample_times(motion.duration)
    np.testing.assert_allclose(np.diff(times), 5e-3)
    series = lift.series(motion, len(times))
    simulation = Simulation(lifting_scene(hrp2(), lifter, start))
    seen = play_lift(simulation, lifter, sampled(times, *motion.at(times)[:2], series.torques))
    assert simulation.time == pytest.approx(BEFORE + 0.8 + 1.0)
    during = (seen.time > 0.05) & (seen.time < 0.75)
    along, across, moment = (np.interp(seen.time[during], times, column) for column in series.sensor.T)
    np.testing.assert_allclose(seen.wrench[during, 2], along, atol=3.0)
    np.testing.assert_allclose(-seen.wrench[during, 0], across, atol=3.0)
    np.testing.assert_allclose(seen.wrench[during, 4], moment, atol=0.3)
    zmp = np.interp(seen.time[during], times, series.zero_moment_point)
    np.testing.assert_allclose(seen.zero_moment_point[during], zmp, atol=8e-3)
    place = lifter.grip.position(series.q @ lifter.absolute.T)
    assert np.ptp(place[:, 1]) > 0.03
    np.testing.assert_allclose(
        seen.object_place[during][:, 2], np.interp(seen.time[during], times, place[:, 1]), atol=2e-3
    )
    assert not seen.fell
    assert seen.feet_slip[-1] < 1e-4
    assert not seen.object_force.any()
    drives = seen.monitor.drives
    k = drives.place("LARM_JOINT5")
    assert drives.nominal_effort[k] == pytest.approx(lifter.nominal[6])
    assert drives.effort[k] == pytest.approx(lifter.nominal[6] / SHARE_OF_PEAK)
