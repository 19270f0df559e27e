# SPDX-License-Identifier: Apache-2.0
import dataclasses
from pathlib import Path

import matplotlib.image
import numpy as np

from humanoid_model import load_robot
from humanoid_studies.humod.evaluator import pinocchio_evaluator
from humanoid_studies.humod.figures import THESIS_FIGURES, write_figures
from humanoid_studies.humod.replay import replay
from humanoid_studies.humod.synthetic import synthetic_recording

ROBOT = load_robot("syn3p33r")
REPLAY = replay(synthetic_recording(ROBOT, duration=0.2), pinocchio_evaluator(ROBOT))
RED = np.array([214, 39, 40]) / 255  # tab:red, the model's line


def red_pixels(path: Path) -> np.ndarray:
    image = matplotlib.image.imread(path)[..., :3]
    return np.argwhere(np.abs(image - RED).max(axis=2) < 0.1)


def test_the_three_figures_of_the_thesis_and_two_more_are_drawn(tmp_path: Path) -> None:
    names = {path.name for path in write_figures(tmp_path, REPLAY)}
    assert THESIS_FIGURES == {"LLJ": "4.2", "LNJ": "4.3", "ULJ": "4.4"}
    assert names == {"height_LLJ.png", "height_LNJ.png", "height_ULJ.png", "overview.png", "efforts.png"}
    for name in names - {"efforts.png"}:
        assert len(red_pixels(tmp_path / name)) > 300, name


def test_a_wrong_model_leaves_the_line_of_the_data(tmp_path: Path) -> None:
    write_figures(tmp_path, REPLAY)
    before = red_pixels(tmp_path / "height_LNJ.png")
    up = np.array([0.0, 0.1, 0.0])
    errors = {kind: values + up for kind, values in REPLAY.errors.items()}
    write_figures(tmp_path, dataclasses.replace(REPLAY, positions=REPLAY.positions + up, errors=errors))
    after = red_pixels(tmp_path / "height_LNJ.png")
    assert after[:, 0].mean() < before[:, 0].mean() - 20  # rows count from the top


def test_a_recording_without_ground_force_is_drawn_too(tmp_path: Path) -> None:
    recording = dataclasses.replace(REPLAY.recording, ground=None)
    assert len(write_figures(tmp_path, dataclasses.replace(REPLAY, recording=recording))) == 5
