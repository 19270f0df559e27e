# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from humanoid_model.errors import InputError
from humanoid_studies.humod.mat_file import MatFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    content = {
        "motion": {
            "frameRate": 500.0,
            "q": np.arange(6.0).reshape(2, 3),
            "labels": np.array(["a", "bc"], dtype=object),
            "name": "run",
            "gap": np.array([1.0, np.nan]),
            "complex": np.array([1j, 2.0]),
            "empty": np.zeros((0, 0)),
        }
    }
    scipy.io.savemat(tmp_path / "x.mat", content)
    return tmp_path / "x.mat"


def test_fields_are_addressed_as_in_matlab(path: Path) -> None:
    file = MatFile(path)
    assert file.positive("motion.frameRate") == 500.0
    assert file.labels("motion.labels") == ["a", "bc"]
    assert file.text("motion.name") == "run"
    assert file.get("motion.nothing") is None
    assert file.get("motion.empty") is None
    np.testing.assert_array_equal(file.matrix("motion.q", 2), np.arange(6.0).reshape(2, 3))


def test_a_matrix_that_lies_on_its_side_is_turned(path: Path) -> None:
    np.testing.assert_array_equal(MatFile(path).matrix("motion.q", 3), np.arange(6.0).reshape(2, 3).T)


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("need", ("motion.x",), "motion.x: missing. Give a processed HuMoD file; this one has complex, empty, frame"),
        ("need", ("force.grfX_L",), "force.grfX_L: missing. Give a processed HuMoD file; this one has no fields."),
        ("matrix", ("motion.q", 36), "motion.q: has size 2 × 3, not 36 × frames. HuMoD's files from version 1.2"),
        ("matrix", ("motion.q", 2, 4), "has size 2 × 3, not 2 × 4"),
        ("vector", ("motion.gap", 2), "motion.gap: is 1, nan. Give finite numbers"),
        ("vector", ("motion.gap", 3), "has 2 numbers, not 3"),
        ("array", ("motion.complex",), "is not an array of real numbers"),
        ("array", ("motion.name",), "is not an array of real numbers but str"),
        ("array", ("motion",), "is not an array of real numbers but dict"),
        ("text", ("motion.q",), "not a text"),
        ("labels", ("motion.gap",), "not a cell array of texts"),
        ("labels", ("motion.frameRate",), "not a cell array of texts"),
    ],
)
def test_a_wrong_field_is_named(path: Path, method: str, arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(InputError) as caught:
        getattr(MatFile(path), method)(*arguments)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


def test_a_negative_rate_is_refused(tmp_path: Path) -> None:
    scipy.io.savemat(tmp_path / "x.mat", {"rate": -500.0})
    with pytest.raises(InputError, match="rate: is -500"):
        MatFile(tmp_path / "x.mat").positive("rate")


@pytest.mark.parametrize("head", [b"\x89HDF\r\n\x1a\n", b"MATLAB 7.3 MAT-file, Platform: GLNXA64"])
def test_an_hdf5_file_is_refused_with_the_way_to_convert_it(tmp_path: Path, head: bytes) -> None:
    (tmp_path / "x.mat").write_bytes(head + bytes(600))
    with pytest.raises(InputError, match=r"7.3 file \(HDF5\).*'-v7'"):
        MatFile(tmp_path / "x.mat")


@pytest.mark.parametrize(
    "content", [b"", b"hello", bytes(300), b"MATLAB 5.0 MAT-file" + bytes(105) + b"\x00\x01IM" + b"\x55" * 64]
)
def test_what_is_no_matlab_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.mat").write_bytes(content)
    with pytest.raises(InputError, match=r"x\.mat"):
        MatFile(tmp_path / "x.mat").need("motion")


def test_a_file_cut_short_is_refused(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(InputError, match="damaged"):
        MatFile(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be read: No such file"):
        MatFile(tmp_path / "none.mat")
    with pytest.raises(InputError, match="can't be read: Is a directory"):
        MatFile(tmp_path)
