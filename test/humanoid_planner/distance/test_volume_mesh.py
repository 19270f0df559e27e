# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np
import pytest
import trimesh
from fixtures.point_clouds import blob, box_corners

from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume
from humanoid_planner.distance.volume_mesh import volume_mesh

pytestmark = pytest.mark.feature("001-F136")


@pytest.mark.parametrize("R", [1.0, 20.0])
@pytest.mark.parametrize(
    "points",
    [np.ones((1, 3)), np.array([[0.0, 0, 0], [0.3, 0, 0]]), box_corners(0.1, 0.2, 0.3), blob(30, 0.1, 0)],
    ids=["ball", "spindle", "box", "blob"],
)
def test_corners_are_on_the_boundary(points, R):
    volume = SphereTorusVolume.from_points(points, 0.02, R)
    mesh = trimesh.Trimesh(*volume_mesh(volume, 0.15), process=False)
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    assert mesh.volume > 0
    directions = np.vstack([mesh.face_normals, volume.vertices[volume.faces].mean(axis=1) - volume.centres])
    units = directions / np.linalg.norm(directions, axis=1)[:, None]
    reach = np.einsum("ij,ij->i", volume.support(units), units)
    short = reach - (mesh.vertices @ units.T).max(axis=0)
    assert short.min() > -1e-10  # no corner outside
    # Over a facet the boundary is at most the sagitta of its normals' cone away, on the small spheres.
    assert short.max() < 2 * 0.02 * (1 - math.cos(0.3))


def test_finer_meshes_come_nearer_to_a_ball():
    ball = SphereTorusVolume.from_points(np.zeros((1, 3)), 0.1, 1.0)
    volumes = [trimesh.Trimesh(*volume_mesh(ball, step), process=False).volume for step in (0.4, 0.2, 0.1)]
    exact = 4.0 / 3.0 * math.pi * 1e-3
    errors = [exact - volume for volume in volumes]
    assert errors[0] > errors[1] > errors[2] > 0
    assert errors[2] < 0.01 * exact
