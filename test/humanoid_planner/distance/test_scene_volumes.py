# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from fixtures.scenes import ball, body, box, floor, place, scene

from humanoid_model.description import Box, HalfSpace
from humanoid_model.errors import InputError
from humanoid_model.files import find_resource
from humanoid_model.scene_file import load_scene
from humanoid_planner.distance.placed_volumes import HalfSpace as HalfSpaceVolume
from humanoid_planner.distance.placed_volumes import scene_shapes, volumes_around


def test_bodies_are_where_the_scene_has_them():
    there = place(1.0, 2.0, 3.0, roll=0.3)
    shapes = scene_shapes(scene(box("crate", (0.2, 0.4, 0.6), there), ball("ball", 0.2, there)))
    volumes = volumes_around(shapes, r=0.02)
    assert [(v.name, v.owner, v.body) for v in volumes] == [("crate", "crate", 0), ("ball", "ball", 0)]
    up = there.rotation[:, 2]
    top = volumes[0].volume.support(up)
    assert (top - there.translation) @ up == pytest.approx(0.3 + 0.02, abs=0.005)
    assert volumes[1].volume.vertices == pytest.approx(np.array([[1.0, 2.0, 3.0]]))
    assert volumes[1].volume.r == pytest.approx(0.22)


def test_half_space_stays_one():
    ramp = body("ramp", HalfSpace(), 0.0, np.zeros((3, 3)), place(0.0, 0.0, 1.0, pitch=0.5))
    ground, slope = volumes_around(scene_shapes(scene(floor(), ramp)))
    assert isinstance(ground.volume, HalfSpaceVolume)
    assert ground.volume.normal == pytest.approx([0, 0, 1])
    assert ground.volume.offset == 0.0
    normal = [np.sin(0.5), 0.0, np.cos(0.5)]
    assert slope.volume.normal == pytest.approx(normal)
    assert slope.volume.offset == pytest.approx(np.cos(0.5))


@pytest.mark.parametrize("size", [(0.1, 0.1, 0.1), (3.0, 2.0, 0.1), (20.0, 20.0, 1.0)])
def test_faces_bulge_no_more_than_allowed(size):
    (placed,) = volumes_around(scene_shapes(scene(box("slab", size, place(0, 0, 0)))), r=0.01, R=20.0, bulge=0.002)
    for axis in np.eye(3):
        excess = placed.volume.support(axis) @ axis - 0.5 * np.array(size) @ axis
        assert 0.01 <= excess <= 0.0121
    assert placed.volume.R >= 20.0
    assert (placed.volume.R == 20.0) == (size[0] < 1.0)


def test_table_is_named_by_its_parts():
    volumes = volumes_around(scene_shapes(load_scene(find_resource("config/scenes/table.yaml"))))
    assert {volume.name for volume in volumes} == {"floor", "table/top", *(f"table/leg_{i}" for i in (1, 2, 3, 4))}


def test_radius_that_cannot_be_used_names_the_body():
    crate = body("crate", Box(np.array([0.1, 0.1, 0.1])), 1.0, np.eye(3))
    with pytest.raises(InputError, match="body 'crate', r: is 0"):
        volumes_around(scene_shapes(scene(crate)), r=0.0)
