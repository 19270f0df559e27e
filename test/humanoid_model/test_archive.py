# SPDX-License-Identifier: Apache-2.0
"""Arrays are made once for each content, whatever happens to their files."""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from numpy.testing import assert_array_equal

from humanoid_model.archive import stored_arrays

ARRAYS = {"points": np.arange(6.0).reshape(2, 3), "names": np.array(["a", "bc"])}


def refuse() -> dict[str, np.ndarray]:
    raise AssertionError("made again")


def test_what_is_kept_is_not_made_again(tmp_path: Path) -> None:
    stored_arrays(b"one", lambda: ARRAYS, tmp_path / "new")
    found = stored_arrays(b"one", refuse, tmp_path / "new")
    assert sorted(found) == sorted(ARRAYS)
    for name, array in ARRAYS.items():
        assert_array_equal(found[name], array)
    assert_array_equal(stored_arrays(b"two", lambda: {"x": np.ones(1)}, tmp_path / "new")["x"], 1.0)


def test_a_damaged_file_is_made_anew(tmp_path: Path) -> None:
    """Cut short, a byte turned, empty, another format."""
    stored_arrays(b"one", lambda: ARRAYS, tmp_path)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    turned = bytearray(whole)
    turned[whole.index(np.float64(5.0).tobytes()) + 7] ^= 1
    for damaged in (whole[:-30], bytes(turned), b"", b"text"):
        path.write_bytes(damaged)
        assert_array_equal(stored_arrays(b"one", lambda: ARRAYS, tmp_path)["points"], ARRAYS["points"])
        assert path.read_bytes() == whole


def make_slowly() -> dict[str, np.ndarray]:
    time.sleep(0.05)
    return ARRAYS


def test_processes_that_make_the_same_at_once_read_it_whole(tmp_path: Path) -> None:
    with ProcessPoolExecutor(4, mp_context=get_context("fork")) as workers:
        found = list(workers.map(stored_arrays, [b"one"] * 12, [make_slowly] * 12, [tmp_path] * 12))
    for arrays in found:
        assert_array_equal(arrays["points"], ARRAYS["points"])
    assert [path.suffix for path in tmp_path.iterdir()] == [".npz"]


def test_without_a_folder_to_write_to_it_is_only_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    assert stored_arrays(b"one", lambda: ARRAYS, tmp_path / "file") is ARRAYS
