# SPDX-License-Identifier: Apache-2.0
import itertools

import numpy as np
import pytest
from fixtures.gait_models import BIP
from PIL import Image

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.report.gait_animation import frame_times, gait_strip, write_animation, write_strip
from humanoid_studies.planar_gait.report.stick_figure import force_arrows, leg_outline, sample_at
from humanoid_studies.planar_gait.solvers.synthesize_gait import synthesize_gait
from humanoid_studies.planar_gait.specification.phase_spec import cyclic_walk
from humanoid_studies.planar_gait.specification.step_data import load_walk
from humanoid_studies.planar_gait.specification.walker import BipWalker
from humanoid_studies.planar_gait.trajectory.gait_series import gait_series


@pytest.mark.feature("003-F104")
def test_film_has_the_frames_that_its_length_asks_for(rabbit_gait, tmp_path):
    path = tmp_path / "gait.gif"
    count = write_animation(rabbit_gait, path, frames_per_second=10, speed=1.0)
    assert count == round(rabbit_gait.duration * 10.0) + 1
    with Image.open(path) as film:
        assert film.n_frames == count
        assert film.info["duration"] == 100
        frames = []
        for index in (0, count // 2, count - 1):
            film.seek(index)
            frames.append(np.asarray(film.convert("L"), dtype=float))
    assert all(np.abs(first - second).max() > 100.0 for first, second in itertools.pairwise(frames))


@pytest.mark.feature("003-F104")
def test_times_of_frames():
    np.testing.assert_allclose(frame_times(1.0, 10.0, 0.5), np.linspace(0.0, 1.0, 21))
    assert len(frame_times(1e-3, 25.0, 1.0)) == 2


@pytest.mark.feature("003-F104")
def test_strip_has_a_picture_for_each_time(bip_gait, tmp_path):
    figure = gait_strip(bip_gait, 7)
    shown = [axes for axes in figure.axes if axes.axison]
    assert len(shown) == 7
    assert shown[0].get_title() == "0.000 s   1: double support"
    assert "4: single support" in shown[-1].get_title()
    write_strip(bip_gait, tmp_path / "strip.png", 2)
    assert (tmp_path / "strip.png").stat().st_size > 10_000


def test_outline_goes_around_the_foot(bip_gait):
    series = gait_series(bip_gait)
    outline = leg_outline(series, 0, "left")
    lengths = np.linalg.norm(np.diff(outline, axis=0), axis=1)
    np.testing.assert_allclose(lengths[:2], 0.41, atol=1e-9)
    assert lengths[3] == pytest.approx(0.29)
    np.testing.assert_array_equal(outline[2], outline[-1])


def test_arrows_carry_the_robot(bip_gait):
    """Where both feet press, their arrows' heights add up to the force on the ground."""
    series = gait_series(bip_gait)
    arrows = force_arrows(series, 100, 104.81 * 9.81)
    assert len(arrows) == 2
    height = sum(vector[1] for _, vector in arrows)
    total = sum(foot.total[100] for foot in series.forces.values())
    assert height == pytest.approx(0.35 * total / (104.81 * 9.81))
    assert all(place[1] == 0.0 for place, _ in arrows)
    single = sample_at(series, 0.4)
    assert len(force_arrows(series, single, 1000.0)) == 1


def test_later_phase_is_shown_at_a_transition(bip_gait):
    series = gait_series(bip_gait)
    assert series.phase[sample_at(series, 0.17)] == 1
    assert series.phase[sample_at(series, 99.0)] == 3


def test_stairs_are_drawn():
    walk = load_walk("bip_stairs_up")
    gait = synthesize_gait(BipWalker(BIP), cyclic_walk(walk), progress=lambda _: True)
    heights = {float(y) for axes in gait_strip(gait, 2).axes for line in axes.lines for y in line.get_ydata()}
    assert {0.0, 0.08, 0.16} <= {round(value, 9) for value in heights}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"frames_per_second": 0}, "frames_per_second: is 0"),
        ({"frames_per_second": 60}, "at most 50"),
        ({"speed": -1.0}, "speed: is -1.0"),
        ({"speed": float("nan")}, "speed: is nan"),
    ],
)
def test_bad_input(rabbit_gait, tmp_path, options, words):
    with pytest.raises(InputError, match=words):
        write_animation(rabbit_gait, tmp_path / "gait.gif", **options)


def test_bad_files(rabbit_gait, tmp_path):
    with pytest.raises(InputError, match=r"ending '\.avi'"):
        write_animation(rabbit_gait, tmp_path / "gait.avi")
    with pytest.raises(InputError, match="can't be written"):
        write_animation(rabbit_gait, tmp_path / "missing" / "gait.gif", frames_per_second=2, speed=2.0)
    with pytest.raises(InputError, match="count: is 0"):
        gait_strip(rabbit_gait, 0)
