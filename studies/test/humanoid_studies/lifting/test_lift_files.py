# SPDX-License-Identifier: Apache-2.0
"""Edited lifts are written and read again, and the replay plays them (000-F158)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from fixtures.lifting import hrp2

from humanoid_model.errors import InputError
from humanoid_sim.actuation.trajectory_player import read_joint_trajectory
from humanoid_sim.simulation import Simulation
from humanoid_studies.lifting.lift_files import read_lift, write_lift, write_samples
from humanoid_studies.lifting.planar_lifter import JOINTS, PlanarLifter
from humanoid_studies.lifting.replay import joint_of_side, lifting_scene, play_lift
from humanoid_studies.lifting.weight_lift import LiftMotion, WeightLift
from humanoid_studies.simulator.weight_lifting import OBJECT, thesis_postures


@cache
def problem() -> WeightLift:
    lifter = PlanarLifter(hrp2(), OBJECT)
    return WeightLift(lifter, *thesis_postures(lifter), count=8)


def test_a_lift_comes_back_as_it_was(tmp_path: Path) -> None:
    motion = problem().straight(1.23456789).edited(4, 5, -1.0 / 3.0)
    write_lift(OBJECT, motion, tmp_path / "lift.yaml")
    held, read = read_lift(tmp_path / "lift.yaml")
    assert held == OBJECT
    assert read.duration == motion.duration
    np.testing.assert_array_equal(read.points, motion.points)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("duration: 1.5", "duration: -1.5", ":2: duration: is -1.5"),
        ("duration: 1.5", "", "has no 'duration'"),
        ("mass: 8.4", "mass: 0", "object.mass: is 0"),
        ("mass: 8.4", "weight: 8.4", ":1: object.weight: unknown key"),
        ("ARM_JOINT0", "ARM_JOINT1", ":3: joints: are others"),
    ],
)
def test_what_is_no_lift_is_refused_by_line(tmp_path: Path, before: str, after: str, told: str) -> None:
    path = tmp_path / "lift.yaml"
    write_lift(OBJECT, problem().straight(1.5), path)
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))
    with pytest.raises(InputError, match=told):
        read_lift(path)


def test_points_that_do_not_rest_at_the_ends_are_refused(tmp_path: Path) -> None:
    motion, path = problem().straight(1.5), tmp_path / "lift.yaml"
    motion.points[1, 0] += 0.1
    write_lift(OBJECT, motion, path)
    with pytest.raises(InputError, match="doesn't begin and end at rest"):
        read_lift(path)
    write_lift(OBJECT, LiftMotion(motion.points[:6], 1.5), path)
    with pytest.raises(InputError, match="holds 6 points"):
        read_lift(path)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for write in (
        lambda path: write_lift(OBJECT, problem().straight(), path),
        lambda path: write_samples(problem(), problem().straight(), path),
    ):
        with pytest.raises(InputError, match="can't be written: No such file"):
            write(tmp_path / "nowhere" / "lift")


@pytest.mark.feature("000-F158")
def test_the_replay_plays_the_samples(tmp_path: Path) -> None:
    """The whole robot follows the file with its torques fed forward, and stands."""
    lift = problem()
    rest = WeightLift(lift.lifter, lift.start, lift.start, count=8)
    motion = rest.straight(0.6).edited(4, 5, float(lift.start[5]) - 0.3)
    write_samples(rest, motion, tmp_path / "lift.csv")
    trajectory = read_joint_trajectory(tmp_path / "lift.csv")
    assert trajectory.end_time == pytest.approx(0.6)
    assert trajectory.efforts is not None
    for time in (0.0, 0.2, 0.301, 0.6):
        q = motion.at([time])[0][0]
        for name, angle in zip(JOINTS, q, strict=True):
            for side in "RL":
                place = trajectory.joint_names.index(joint_of_side(name, side))
                assert trajectory.at(time).positions[place] == pytest.approx(angle, abs=1e-6)
    torques = rest.series(motion, np.array([0.3])).torques[0]
    place = trajectory.joint_names.index("LARM_JOINT3")
    assert trajectory.mean_efforts(0.2999, 0.3001)[place] == pytest.approx(torques[5], rel=1e-3)
    simulation = Simulation(lifting_scene(hrp2(), lift.lifter, motion.points[0]))
    seen = play_lift(simulation, lift.lifter, trajectory)
    assert not seen.fell
    assert seen.joint_error < 0.02
    assert np.ptp(seen.object_place[:, 2]) > 0.01
