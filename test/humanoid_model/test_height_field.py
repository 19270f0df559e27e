# SPDX-License-Identifier: Apache-2.0
"""Height fields read from files and made by rules."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image

from humanoid_model.errors import InputError
from humanoid_model.height_field import generate_heights, grid_triangles, read_heights

GRID = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.5]])


def test_numpy_and_csv_files_hold_the_same_grid(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", GRID)
    np.savetxt(tmp_path / "a.csv", GRID, delimiter=",")
    assert_allclose(read_heights(tmp_path / "a.npy"), GRID)
    assert_allclose(read_heights(tmp_path / "a.csv"), GRID)


@pytest.mark.parametrize(("kind", "white"), [(np.uint8, 255), (np.uint16, 65535)])
def test_picture_is_black_to_white_with_its_upper_edge_at_the_largest_y(
    tmp_path: Path, kind: type, white: int
) -> None:
    Image.fromarray(np.array([[0, white, 0], [white, 0, 0]], dtype=kind)).save(tmp_path / "a.png")
    assert_allclose(read_heights(tmp_path / "a.png"), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.csv", "1,2\n3,x\n", "can't be read"),
        ("a.csv", "1,2\n", r"shape \(1, 2\)"),
        ("a.csv", "1,2\n3,nan\n", "row 1, column 1 is nan"),
        ("a.npy", "no array", "can't be read"),
        ("a.png", "no picture", "can't be read"),
        ("a.txt", "1 2", "no kind of grid file"),
    ],
)
def test_refused(tmp_path: Path, name: str, content: str, problem: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=problem):
        read_heights(tmp_path / name)


def test_rules() -> None:
    size = np.array([2.0, 1.0])
    slope = generate_heights("slope", size, (4, 3), 0.4, 1.0, 0)
    assert_allclose(slope, np.tile([0.0, 0.1, 0.2, 0.3, 0.4], (4, 1)))
    waves = generate_heights("waves", size, (200, 100), 0.1, 0.5, 0)
    assert_allclose([waves.min(), waves.max()], [-0.05, 0.05], atol=1e-3)
    assert_allclose(waves[:, 0], waves[:, 50], atol=1e-12)  # one wavelength on
    rough = generate_heights("random", size, (20, 10), 0.1, 1.0, 5)
    assert 0.0 <= rough.min() < 0.01 < 0.09 < rough.max() <= 0.1
    assert (rough == generate_heights("random", size, (20, 10), 0.1, 1.0, 5)).all()
    assert (rough != generate_heights("random", size, (20, 10), 0.1, 1.0, 6)).any()


def test_triangles_cover_the_grid_and_look_up() -> None:
    points, corners = grid_triangles(np.array([2.0, 1.0]), GRID)
    triangles = points[corners]
    cross = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    assert_allclose(0.5 * cross[:, 2].sum(), 2.0)  # area from above
    assert cross[:, 2].min() > 0.0
    assert_allclose(points[[0, -1]], [[-1.0, -0.5, 0.0], [1.0, 0.5, 5.5]])
