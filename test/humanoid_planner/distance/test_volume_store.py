# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from fixtures.point_clouds import blob

from humanoid_planner.distance.rounded_hull import RoundedHull
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume
from humanoid_planner.distance.volume_store import store_folder, stored_parts, stored_volume

pytestmark = pytest.mark.feature("001-F122")

POINTS = blob(20, 0.1, 0)


def test_second_request_is_read_from_disk(tmp_path, monkeypatch):
    first = stored_volume(POINTS, 0.01, 20.0, tmp_path / "new")
    monkeypatch.setattr(SphereTorusVolume, "from_points", lambda *_: pytest.fail("built again"))
    assert stored_volume(POINTS.copy(), 0.01, 20.0, tmp_path / "new") == first


def test_other_content_is_another_file(tmp_path):
    near = POINTS + 1e-15
    for points, r, R in ((POINTS, 0.01, 20.0), (near, 0.01, 20.0), (POINTS, 0.02, 20.0), (POINTS, 0.01, 21.0)):
        assert stored_volume(points, r, R, tmp_path) == SphereTorusVolume.from_points(points, r, R)
    assert len(list(tmp_path.iterdir())) == 4


def test_broken_file_is_built_again(tmp_path):
    volume = stored_volume(POINTS, 0.01, 20.0, tmp_path)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert stored_volume(POINTS, 0.01, 20.0, tmp_path) == volume
    assert SphereTorusVolume.load(path) == volume


def test_without_a_folder_to_write_to_it_is_only_built(tmp_path):
    (tmp_path / "file").write_text("no folder")
    volume = stored_volume(POINTS, 0.01, 20.0, tmp_path / "file")
    assert volume == SphereTorusVolume.from_points(POINTS, 0.01, 20.0)


def test_folder_follows_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    stored_volume(POINTS, 0.01, 20.0)
    assert store_folder() == tmp_path / "humanoid_stack" / "volumes"
    assert len(list(store_folder().iterdir())) == 1
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert store_folder().is_absolute()


def test_parts_are_made_once_per_content(tmp_path):
    made = []

    def make():
        made.append(1)
        return [RoundedHull(POINTS[:3], 0.1, "hand"), RoundedHull(POINTS[3:], 0.0)]

    for _ in range(3):
        parts = stored_parts(b"content", make, tmp_path)
        assert parts == [RoundedHull(POINTS[:3], 0.1, "hand"), RoundedHull(POINTS[3:], 0.0)]
    assert len(made) == 1
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:100])
    assert stored_parts(b"content", make, tmp_path) == parts
    stored_parts(b"other", make, tmp_path)
    assert len(made) == 3
