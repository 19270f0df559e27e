# SPDX-License-Identifier: Apache-2.0
"""Joint trajectories read from files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_sim.actuation import read_joint_trajectory


def write(folder: Path, text: str) -> Path:
    path = folder / "motion.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_rows_every_five_milliseconds(tmp_path: Path) -> None:
    """Between its samples a sine is met to the fourth order of their period, derivatives to the third and second."""
    times = 0.005 * np.arange(201)
    rows = [f"{math.sin(7 * t)!r}, {math.cos(5 * t)!r}" for t in times]
    trajectory = read_joint_trajectory(write(tmp_path, "# a motion\nhip, knee\n\n" + "\n".join(rows)))
    assert trajectory.joint_names == ("hip", "knee")
    assert_allclose(trajectory.times, times)
    for t in np.linspace(0.05, 0.95, 77):
        sample = trajectory.at(float(t))
        assert_allclose(sample.positions, [math.sin(7 * t), math.cos(5 * t)], atol=1e-7)
        assert_allclose(sample.velocities, [7 * math.cos(7 * t), -5 * math.sin(5 * t)], atol=1e-5)
        assert_allclose(sample.accelerations, [-49 * math.sin(7 * t), -25 * math.cos(5 * t)], atol=0.02)


def test_times_of_its_own_and_another_period(tmp_path: Path) -> None:
    trajectory = read_joint_trajectory(write(tmp_path, "time,hip\n0,1\n0.5,2\n2,2\n"))
    assert_allclose(trajectory.times, [0.0, 0.5, 2.0])
    assert trajectory.at(0.5).positions[0] == pytest.approx(2.0)
    trajectory = read_joint_trajectory(write(tmp_path, "hip\n1\n2\n"), period=0.1)
    assert trajectory.end_time == pytest.approx(0.1)
    assert trajectory.at(0.05).positions[0] == pytest.approx(1.5)
    assert read_joint_trajectory(write(tmp_path, "hip\n1\n")).at(3.0).positions[0] == 1.0


def test_efforts_jump_where_a_time_is_there_twice(tmp_path: Path) -> None:
    text = "time,effort:knee,hip,knee\n0,1,0,0\n1,3,1,2\n1,-5,1,2\n2,-5,4,4\n3,0,9,6\n"
    trajectory = read_joint_trajectory(write(tmp_path, text))
    assert trajectory.joint_names == ("hip", "knee")
    assert_allclose(trajectory.at(1.5).positions, [2.25, 3.0], atol=1e-12)  # the spline runs through the jump
    assert_allclose(trajectory.at(1.0).velocities, [2.0, 2.0], atol=1e-12)
    assert_allclose(trajectory.mean_efforts(0.5, 1.0), [0.0, 2.5])
    assert_allclose(trajectory.mean_efforts(1.0, 1.5), [0.0, -5.0])
    assert read_joint_trajectory(write(tmp_path, "hip\n1\n2\n")).efforts is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no trajectory"),
        ("hip,knee\n", "holds no trajectory"),
        ("0,1\n0,1\n", "'0' is no joint's name"),
        ("hip,\n0,1\n", "a column has no name"),
        ("time\n0\n", "a column has no name"),
        ("hip,knee\n0,1\n0,1,2\n", r"motion.csv:3.*3 values.*Give 2"),
        ("# x\nhip,knee\n0,1\n0,up\n", r"motion.csv:4.*knee.*'up' is not a finite number"),
        ("hip\nnan\n", "'nan' is not a finite number"),
        ("time,hip\n0,1\n0,1\n", r"motion.csv:3.*time.*not later"),
        ("hip,hip\n0,1\n0,1\n", "'hip' occurs twice"),
        ("hip,effort:knee\n0,1\n0,1\n", "motion.csv:1.*has efforts of 'knee' without positions"),
        ("hip,effort:hip,effort:hip\n0,1,1\n0,1,1\n", "has efforts of 'hip' twice"),
        ("time,hip,effort:hip\n0,1,1\n0,2,1\n", "motion.csv: points.*positions jump at 0 s"),
        ("time,hip,effort:hip\n1,1,1\n0,2,1\n", r"motion.csv:3.*time.*not later"),
    ],
)
def test_files_that_hold_no_trajectory_are_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_joint_trajectory(write(tmp_path, text))


def test_files_and_periods_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be read"):
        read_joint_trajectory(tmp_path / "nothing.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_joint_trajectory(tmp_path / "binary.csv")
    with pytest.raises(InputError, match="period is 0"):
        read_joint_trajectory(write(tmp_path, "hip\n1\n"), period=0.0)
