# SPDX-License-Identifier: Apache-2.0
"""Recordings: differences, graphs, files that give the same numbers back, replay; and channels (ORC-17)."""

import numpy as np
import pytest

from humanoid_kinematics import load_mechanism
from humanoid_kinematics.analysis.recording import (
    DISTANCE_COLOURS,
    MARGIN_COLOURS,
    SPEED_SPHERES,
    Channel,
    Channels,
    Recording,
    read_channels,
)
from humanoid_kinematics.solver.commands import ToolMotion
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver, SolverOptions
from humanoid_model import InputError

pytestmark = pytest.mark.filterwarnings("ignore:.*graphic file")


def a_motion():
    solver = MechanismSolver(load_mechanism("cross"))
    recording = Recording()
    for i in range(20):
        solver.command(ToolMotion("link_5", (0.001 * i, 0.002, 0.0)))
        recording.add(0.01 * i, solver, ("link_5",), {"distance/link_5": 0.5 - 0.01 * i})
    return recording


@pytest.mark.feature("002-F166")
def test_values_are_those_of_the_mechanism_and_their_differences():
    recording = a_motion()
    y = recording.series("y/link_5")
    np.testing.assert_allclose(np.diff(y), 0.002, atol=1e-8)
    q = recording.series("position/joint_6")
    np.testing.assert_array_equal(q, [at[5] for at in recording.configurations])
    np.testing.assert_allclose(recording.series("speed/joint_6")[1:], np.diff(q) / 0.01, rtol=1e-9)
    np.testing.assert_allclose(recording.series("acceleration/joint_6")[2:], np.diff(q, 2) / 1e-4, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(recording.series("margin/joint_6"), np.minimum(q + 2.5, 0.8 - q), atol=1e-12)
    assert recording.series("gap/link_5-frame_16").max() < 1e-9
    assert (recording.series("dexterity/link_5") > 1.0).all()
    with pytest.raises(InputError, match="'speed/nothing' isn't recorded"):
        recording.series("speed/nothing")
    with pytest.raises(InputError, match="rising times"):
        recording.add(0.0, MechanismSolver(load_mechanism("cross")))


@pytest.mark.feature("002-F160", "002-F168")
def test_a_recording_read_back_is_the_same_bit_by_bit_and_replays(tmp_path):
    recording = a_motion()
    recording.write_csv(tmp_path / "motion.csv")
    again = Recording.read_csv(tmp_path / "motion.csv")
    assert again.times == recording.times
    assert again.rows == recording.rows
    np.testing.assert_array_equal(again.configurations, recording.configurations)
    np.testing.assert_array_equal(again.at(0.05), recording.configurations[5])
    half = again.at(0.055)
    np.testing.assert_allclose(half, 0.5 * (recording.configurations[5] + recording.configurations[6]), atol=1e-12)
    np.testing.assert_array_equal(again.at(99.0), recording.configurations[-1])
    recording.plot(["dexterity/link_5", "speed/joint_6"], tmp_path / "graph.png")
    assert (tmp_path / "graph.png").stat().st_size > 5000


def test_a_broken_recording_is_refused_by_line(tmp_path):
    path = tmp_path / "motion.csv"
    path.write_text("time,q0,x/tool\n0.0,1.0,2.0\n1.0,1.0\n")
    with pytest.raises(InputError, match=r"motion.csv:3.*2 numbers for 3 columns"):
        Recording.read_csv(path)
    path.write_text("time,q0,x/tool\n0.0,one,2.0\n")
    with pytest.raises(InputError, match=r"motion.csv:2"):
        Recording.read_csv(path)


@pytest.mark.feature("002-F162")
def test_spheres_are_as_large_as_the_joints_are_fast_orc_17():
    solver = MechanismSolver(load_mechanism("macdac"), SolverOptions(length=1.0))
    assert solver.close(np.radians([0, 30, -60, 120, 180])).closed
    recording, h = Recording(), 1e-4
    recording.add(0.0, solver)
    solver.command(ToolMotion("frame_6", (h, 0.0, 0.0)))
    row = recording.add(1.0, solver)
    steps = np.degrees([row[f"speed/joint_{n}"] for n in range(1, 6)]) * 0.01 / h
    np.testing.assert_allclose(steps, [0, -1.43959, 2.87918, -1.43959, 0], atol=2e-3)
    shown = Channels([Channel("speed/*", "size", "mark", 0.0, 1.0, (0.0, 1.0))]).update(row, 1.0)
    sizes = np.array([shown[f"joint_{n}", "mark", "size"] for n in range(1, 6)])
    np.testing.assert_allclose(sizes / sizes[1], [0, 1, 2, 1, 0], atol=1e-3)


@pytest.mark.feature("002-F163", "002-F165")
def test_channels_of_a_part_combine_and_smooth():
    channels = Channels(
        [
            SPEED_SPHERES,
            Channel("speed/*", "transparency", "mark", 0.0, 2.0, (1.0, 0.2), smoothing=0.1),
            DISTANCE_COLOURS,
    MARGIN_COLOURS,
        ]
    )
    first = channels.update({"speed/a": 0.0, "distance/tip": 0.25}, 0.01)
    assert first["a", "mark", "size"] == 0.0
    assert first["a", "mark", "transparency"] == 1.0
    np.testing.assert_allclose(first["tip", "part", "colour"], [0.6, 0.4, 0.2])
    second = channels.update({"speed/a": -1.0}, 0.1)
    assert second["a", "mark", "size"] == pytest.approx(0.05)
    assert second["a", "mark", "transparency"] == pytest.approx(1.0 - 0.4 * (1.0 - np.exp(-1.0)))


@pytest.mark.feature("002-F163")
def test_channels_from_a_file(tmp_path):
    path = tmp_path / "channels.yaml"
    path.write_text(
        "- {source: 'speed/*', kind: size, upper: 2.0, shows: [0.0, 0.1]}\n"
        "- {source: 'margin/*', kind: shape, 'on': mark, upper: 0.2, shows: [warning, sphere]}\n"
        "- {source: gap/loop, kind: colour, 'on': part, upper: 1.0e-3, shows: [[0, 1, 0], [1, 0, 0]]}\n"
    )
    shown = read_channels(path).update({"speed/a": 1.0, "margin/a": 0.05, "gap/loop": 1.0}, 0.1)
    assert shown["a", "mark", "size"] == pytest.approx(0.05)
    assert shown["a", "mark", "shape"] == "warning"
    np.testing.assert_array_equal(shown["loop", "part", "colour"], [1, 0, 0])
    path.write_text("- {source: 'speed/*', kind: smell, shows: [1]}\n")
    with pytest.raises(InputError, match=r"channels.yaml:1.*smell"):
        read_channels(path)
    path.write_text("- {source: 'speed/*', kind: colour, shows: [[1, 2]]}\n")
    with pytest.raises(InputError, match="colours of three numbers"):
        read_channels(path)


def test_a_joint_without_limits_shows_the_largest_margin():
    channels = Channels([MARGIN_COLOURS])
    for _ in range(2):
        shown = channels.update({"margin/a": np.inf}, 0.01)
        np.testing.assert_allclose(shown["a", "part", "colour"], [0.3, 0.7, 0.3])
