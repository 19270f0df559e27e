# SPDX-License-Identifier: Apache-2.0
"""Cached kernels go when any source is newer, and stay otherwise."""

import os
from pathlib import Path

from humanoid_model.kernel_cache import drop_stale_kernels


def test_newer_source_drops_all_kernels(tmp_path: Path) -> None:
    cache = tmp_path / "contact" / "__pycache__"
    cache.mkdir(parents=True)
    source = tmp_path / "contact" / "cone.py"
    for path, time in ((source, 100), (cache / "cone.nbi", 200), (cache / "cone.1.nbc", 200)):
        path.write_text("")
        os.utime(path, (time, time))
    assert drop_stale_kernels(tmp_path) == 0
    assert (cache / "cone.nbi").exists()
    os.utime(source, (300, 300))
    assert drop_stale_kernels(tmp_path) == 2
    assert not list(cache.glob("*.nb?"))
    assert source.exists()
    assert drop_stale_kernels(tmp_path) == 0
