# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io

from humanoid_model.errors import InputError
from humanoid_studies.humod.coordinates import COLUMNS, POSITION_JOINTS, POSITION_LABELS
from humanoid_studies.humod.recording import GroundForce, Recording, read_recording, write_recording


def recording(frames: int = 51, rate: float = 500.0) -> Recording:
    """Random numbers in the form of a recording, the force at twice the rate and off the ground at times."""
    rng = np.random.default_rng(0)
    q, v, a = rng.standard_normal((3, frames, 36))
    force, point = rng.standard_normal((2, 2 * frames - 1, 2, 3))
    point[10:20, 0] = np.nan
    return Recording(
        "made up",
        np.arange(frames) / rate,
        q,
        v,
        a,
        {"estimated": rng.standard_normal((frames, 13, 3)), "smoothed": rng.standard_normal((frames, 13, 3))},
        GroundForce(np.arange(2 * frames - 1) / (2 * rate), force, point),
    )


def content(path: Path) -> dict[str, Any]:
    whole = scipy.io.loadmat(path, simplify_cells=True)
    return {name: value for name, value in whole.items() if not name.startswith("__")}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_recording(tmp_path / "2.2.mat", recording())
    return tmp_path / "2.2.mat"


def test_a_recording_comes_back_from_its_file(path: Path) -> None:
    written, read = recording(), read_recording(path)
    assert read.name == "made up"
    for name in ("time", "q", "v", "a"):
        np.testing.assert_allclose(getattr(read, name), getattr(written, name), rtol=1e-14, atol=1e-16)
    assert list(read.positions) == ["estimated", "smoothed"]
    for kind, values in written.positions.items():
        np.testing.assert_allclose(read.positions[kind], values, rtol=1e-14)
    assert read.ground is not None
    assert written.ground is not None
    for name in ("time", "force", "point"):
        np.testing.assert_allclose(getattr(read.ground, name), getattr(written.ground, name), rtol=1e-14)


def test_the_file_has_the_fields_sizes_and_units_of_humod(path: Path) -> None:
    written, file = recording(), content(path)
    motion, force = file["motion"], file["force"]
    assert set(motion["trajectory"]) == {"q", "dqdt", "ddqddt"}
    assert motion["trajectory"]["q"].shape == (36, 51)
    np.testing.assert_allclose(motion["trajectory"]["dqdt"][1], 1e3 * written.v[:, 1])
    np.testing.assert_allclose(motion["trajectory"]["ddqddt"][3], written.a[:, 3])
    assert list(motion["trajectoryLabels"]) == list(COLUMNS)
    assert list(motion["jointLabels"]["smoothed"]) == list(POSITION_LABELS)
    row = POSITION_LABELS.index("SJ_R")
    lateral = written.positions["estimated"][:, POSITION_JOINTS.index("SJ_R"), 2]
    np.testing.assert_allclose(motion["jointZ"]["estimated"][row], 1e3 * lateral)
    assert (motion["frameRate"], motion["frames"]) == (500, 51)
    assert (force["frameRate"], force["frames"]) == (1000, 101)
    assert written.ground is not None
    np.testing.assert_allclose(force["grfY_R"], written.ground.force[:, 1, 1])
    np.testing.assert_allclose(force["copX_L"], 1e3 * written.ground.point[:, 0, 0])


def test_a_window_is_cut_out_of_motion_and_force(path: Path) -> None:
    whole, part = read_recording(path), read_recording(path, start=0.02, duration=0.04)
    assert part.time[[0, -1]] == pytest.approx([0.02, 0.06])
    np.testing.assert_array_equal(part.q, whole.q[10:31])
    np.testing.assert_array_equal(part.positions["smoothed"], whole.positions["smoothed"][10:31])
    assert part.ground is not None
    assert whole.ground is not None
    np.testing.assert_array_equal(part.ground.force, whole.ground.force[20:61])
    for a, b in zip(part.ground.at(part.time), whole.ground.at(part.time), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_window_starts_where_the_steady_part_does(path: Path) -> None:
    file = content(path)
    file["meta"]["startTime"] = 0.05
    scipy.io.savemat(path, file)
    assert read_recording(path).time[0] == pytest.approx(0.05)


def test_a_foot_off_the_ground_bears_nothing() -> None:
    ground = recording().ground
    assert ground is not None
    force, point = ground.at(np.array([0.007, 0.0124]))  # samples 7 and 12
    np.testing.assert_array_equal(force[0], ground.force[7])
    np.testing.assert_array_equal(point[0], ground.point[7])
    assert not force[1, 0].any()
    assert not point[1, 0].any()
    np.testing.assert_array_equal(force[1, 1], ground.force[12, 1])


def change_file(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    file = content(path)
    change(file)
    scipy.io.savemat(path, file)


def test_rows_are_matched_by_their_labels(path: Path) -> None:
    def turn_round(file: dict[str, Any]) -> None:
        motion = file["motion"]
        motion["trajectoryLabels"] = motion["trajectoryLabels"][::-1]
        motion["trajectory"] = {name: values[::-1] for name, values in motion["trajectory"].items()}
        motion["jointLabels"]["smoothed"] = motion["jointLabels"]["smoothed"][::-1]
        for axis in "XYZ":
            motion[f"joint{axis}"]["smoothed"] = motion[f"joint{axis}"]["smoothed"][::-1]

    whole = read_recording(path)
    change_file(path, turn_round)
    np.testing.assert_allclose(read_recording(path).q, whole.q)
    np.testing.assert_allclose(read_recording(path).positions["smoothed"], whole.positions["smoothed"])


def test_without_labels_the_documented_order_holds(path: Path) -> None:
    def strip(file: dict[str, Any]) -> None:
        del file["motion"]["trajectoryLabels"], file["motion"]["jointLabels"], file["meta"]

    whole = read_recording(path)
    change_file(path, strip)
    read = read_recording(path)
    assert read.name == "2.2"
    np.testing.assert_allclose(read.a, whole.a)
    np.testing.assert_allclose(read.positions["estimated"], whole.positions["estimated"])


def test_more_joints_than_ours_are_skipped(path: Path) -> None:
    def add(file: dict[str, Any]) -> None:  # the real files have estimated toe joints too
        motion = file["motion"]
        motion["jointLabels"]["estimated"] = np.array([*POSITION_LABELS, "TJ_L", "TJ_R"], dtype=object)
        for axis in "XYZ":
            values = motion[f"joint{axis}"]["estimated"]
            motion[f"joint{axis}"]["estimated"] = np.vstack([values, values[:2]])

    whole = read_recording(path)
    change_file(path, add)
    np.testing.assert_allclose(read_recording(path).positions["estimated"], whole.positions["estimated"])


def test_a_file_without_force_per_foot_has_none(path: Path) -> None:
    change_file(path, lambda file: file.pop("force"))
    assert read_recording(path).ground is None


def test_a_gap_outside_the_window_does_no_harm(path: Path) -> None:
    change_file(path, lambda file: file["motion"]["trajectory"]["q"].__setitem__((7, 40), np.nan))
    read_recording(path, start=0.0, duration=0.05)
    with pytest.raises(InputError, match=r"trajectory.q: of rLNJY is nan in frame 41. Choose a window without gaps"):
        read_recording(path)


def shorten(file: dict[str, Any], field: str) -> None:
    *parents, name = field.split(".")
    for parent in parents:
        file = file[parent]
    file[name] = file[name][..., :-3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.pop("motion"), "motion.frameRate: missing"),
        (lambda f: f["motion"].pop("trajectory"), "motion.trajectory.q: missing"),
        (lambda f: f["motion"]["trajectory"].pop("ddqddt"), "motion.trajectory.ddqddt: missing"),
        (lambda f: f["motion"]["trajectory"].update(q=np.zeros((34, 51))), "motion.trajectory.q: has size 34 × 51"),
        (lambda f: shorten(f, "motion.trajectory.dqdt"), "motion.trajectory.dqdt: has 48 frames, not the 51"),
        (lambda f: shorten(f, "motion.jointY.estimated"), "motion.jointY.estimated: has size 13 × 48, not 13 × 51"),
        (lambda f: f["motion"].update(frameRate=0.0), "motion.frameRate: is 0"),
        (lambda f: shorten(f, "motion.trajectoryLabels"), "has 33 names, none of them rAJX_R, rAJY_R, rAJZ_R"),
        (lambda f: shorten(f, "motion.jointLabels.smoothed"), "motion.jointLabels.smoothed: has no KJ_R, AJ_R, AJ_L"),
        (lambda f: [f["motion"].pop(f"joint{axis}") for axis in "XYZ"], "motion.jointX.smoothed: missing"),
        (lambda f: shorten(f, "force.copZ_R"), "force.copZ_R: has 98 frames, not the 101 of force.grfX_L"),
        (lambda f: f["force"].pop("grfZ_L"), "force.grfZ_L: missing"),
        (lambda f: f["force"].update(frameRate=2000.0), "has 101 frames at 2000 Hz, but the window ends at 0.1 s"),
        (lambda f: f["meta"].update(startTime=3.0), "the window from 3 s holds no motion. The motion lasts from 0 to"),
    ],
)
def test_a_wrong_file_is_refused_by_the_field(
    path: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    change_file(path, change)
    with pytest.raises(InputError) as caught:
        read_recording(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("start", "duration"),
    [(-0.01, 1.0), (0.0, 0.0), (0.0, -1.0), (0.1, 1.0), (np.nan, 1.0), (np.inf, 1.0), (0.0, np.nan)],
)
def test_a_window_without_motion_is_refused(path: Path, start: float, duration: float) -> None:
    with pytest.raises(InputError, match="holds no motion"):
        read_recording(path, start=start, duration=duration)
