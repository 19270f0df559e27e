# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from fixtures.depth_images import ball_depth, ball_view
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_planner.posture.observation.voxel_model import DepthView, PinholeCamera, VoxelModel, VoxelState, look_at

CAMERA = PinholeCamera.with_field_of_view(120, 90, np.deg2rad(40))
CENTRE = np.array([0.5, -0.2, 0.8])


def circle(count: int, distance: float = 0.6, height: float = 0.0) -> list[pin.SE3]:
    angles = 2 * np.pi * np.arange(count) / count
    return [look_at(CENTRE + np.array([distance * np.cos(a), distance * np.sin(a), height]), CENTRE) for a in angles]


def corners(model: VoxelModel, state: VoxelState) -> np.ndarray:
    """(k, 8, 3) corners of the voxels in a state."""
    offsets = np.array([[a, b, c] for a in (-0.5, 0.5) for b in (-0.5, 0.5) for c in (-0.5, 0.5)])
    return model.centres(state)[:, None, :] + model.voxel_size * offsets


def test_a_block_covers_its_box_and_starts_unknown() -> None:
    model = VoxelModel([0, 0, 0], [0.3, 0.2, 0.11], 0.1)
    assert model.states.shape == (3, 2, 2)
    assert model.count(VoxelState.UNKNOWN) == 12
    assert_allclose(model.centres(VoxelState.UNKNOWN)[0], [0.05, 0.05, 0.05])
    centre, radius = model.bounding_ball
    assert_allclose(centre, [0.15, 0.1, 0.1])
    assert radius == pytest.approx(np.linalg.norm([0.15, 0.1, 0.1]))


def test_one_view_empties_what_is_in_front_and_beside_and_nothing_behind() -> None:
    balls = [(CENTRE, 0.1)]
    model = VoxelModel(CENTRE - 0.15, CENTRE + 0.15, 0.01)
    placement = look_at(CENTRE + np.array([-1.0, 0, 0]), CENTRE)
    unknown = model.count(VoxelState.UNKNOWN)
    known = model.carve(ball_view(CAMERA, placement, balls))
    assert known == unknown - model.count(VoxelState.UNKNOWN) > 0
    hidden = model.centres(VoxelState.UNKNOWN) - CENTRE
    # The shadow of the ball: within the tangent cone from the camera, not before the surface, a voxel or two of slack.
    ray = hidden + np.array([1.0, 0, 0])
    sine = np.linalg.norm(np.cross(ray, [1.0, 0, 0]), axis=1) / np.linalg.norm(ray, axis=1)
    beside = np.linalg.norm(ray, axis=1) * np.sin(np.arcsin(sine) - np.arcsin(0.1 / 1.0))
    assert beside.max() < 0.03
    before = (ray[:, 0] < 0.9) & (sine < 0.05)
    assert not before.any()
    # All of it that is behind the surface is still there, as unknown.
    inside = np.linalg.norm(corners(model, VoxelState.EMPTY) - CENTRE, axis=2).min(axis=1)
    assert inside.min() > 0.1
    surface = np.linalg.norm(model.centres(VoxelState.SURFACE) - CENTRE, axis=1)
    assert len(surface) > 50
    assert np.abs(surface - 0.1).max() < 0.5 * np.sqrt(3) * 0.01 + 1e-9


@pytest.mark.feature("001-F098")
def test_the_surface_is_where_it_was_seen_off_the_middle_of_the_image() -> None:
    """Depths count along the optical axis, not along the rays."""
    model = VoxelModel(CENTRE - 0.15, CENTRE + 0.15, 0.01)
    eye = CENTRE + np.array([-1.0, 0.0, 0.0])
    model.carve(ball_view(CAMERA, look_at(eye, CENTRE + np.array([0.0, 0.22, 0.0])), [(CENTRE, 0.1)]))
    surface = np.linalg.norm(model.centres(VoxelState.SURFACE) - CENTRE, axis=1)
    assert len(surface) > 50
    assert np.abs(surface - 0.1).max() < 0.5 * np.sqrt(3) * 0.01 + 1e-9


def hull_test(points: np.ndarray, balls: list[tuple[np.ndarray, float]], places: list[pin.SE3]) -> np.ndarray:
    """Whether points are in the shadow of the object in every image: the visual hull, by closed form."""
    inside = np.ones(len(points), dtype=bool)
    for placement in places:
        ray = points - placement.translation
        shadow = np.zeros(len(points), dtype=bool)
        for centre, radius in balls:
            axis = centre - placement.translation
            cosine = ray @ axis / np.linalg.norm(ray, axis=1) / np.linalg.norm(axis)
            shadow |= np.arccos(np.clip(cosine, -1, 1)) <= np.arcsin(radius / np.linalg.norm(axis))
        inside &= shadow
    return inside


@pytest.mark.feature("001-F098")
@pytest.mark.parametrize("size", [0.02, 0.01])
def test_a_concave_object_converges_to_its_visual_hull(size: float) -> None:
    """Silhouettes alone (surfaces infinitely far): what remains is the visual hull, but for a layer of voxels."""
    balls = [
        (CENTRE + np.array([0.06, 0, 0]), 0.07),
        (CENTRE - np.array([0.06, 0, 0]), 0.07),
        (CENTRE + np.array([0, 0, 0.09]), 0.05),
    ]
    model = VoxelModel(CENTRE - 0.16, CENTRE + 0.16, size)
    places = [*circle(8), *circle(4, height=0.4)]
    for placement in places:
        depth = ball_depth(CAMERA, placement, balls)
        # At 0.01 m every ray is inside the silhouette as far as carving by depth is concerned.
        model.carve(DepthView(CAMERA, placement, np.where(np.isfinite(depth), 0.01, np.inf)))
    kept = model.centres(VoxelState.UNKNOWN)
    gone = model.centres(VoxelState.EMPTY)
    assert not hull_test(gone, balls, places).any()
    # Kept voxels touch the hull, or miss it by the width of a pixel (0.005 m here) and a voxel's diagonal.
    slack = 0.006 + size * np.sqrt(3)
    wide = [(centre, radius + slack) for centre, radius in balls]
    assert hull_test(kept, wide, places).all()
    volume = len(kept) * size**3
    grid = np.stack(np.meshgrid(*3 * [np.linspace(-0.155, 0.155, 63)]), axis=-1).reshape(-1, 3) + CENTRE
    exact = hull_test(grid, balls, places).mean() * 0.315**3
    assert 0 < volume - exact < {0.02: 2.0, 0.01: 1.0}[size] * exact


def test_depths_carve_the_object_itself_and_never_into_it() -> None:
    """With depths the concavity between the balls goes too, which silhouettes leave in the hull."""
    balls = [(CENTRE + np.array([0.08, 0, 0]), 0.06), (CENTRE - np.array([0.08, 0, 0]), 0.06)]
    model = VoxelModel(CENTRE - 0.15, CENTRE + 0.15, 0.01)
    for placement in [*circle(12), *circle(6, 0.5, 0.4), *circle(6, 0.5, -0.4)]:
        model.carve(ball_view(CAMERA, placement, balls))
    away = np.min(
        [np.linalg.norm(corners(model, VoxelState.EMPTY) - c, axis=2).min(axis=1) - r for c, r in balls], axis=0
    )
    assert away.min() > -1e-9
    kept = np.concatenate([model.centres(VoxelState.UNKNOWN), model.centres(VoxelState.SURFACE)])
    outside = np.min([np.linalg.norm(kept - c, axis=1) - r for c, r in balls], axis=0)
    assert outside.max() < 0.02
    # Every voxel well inside is there, and none of them was seen.
    deep = np.min([np.linalg.norm(model.centres(VoxelState.SURFACE) - c, axis=1) - r for c, r in balls], axis=0)
    assert deep.min() > -0.02


def test_what_is_outside_the_image_or_behind_the_camera_stays_unknown() -> None:
    model = VoxelModel(CENTRE - 0.5, CENTRE + 0.5, 0.05)
    nothing = DepthView(CAMERA, look_at(CENTRE, CENTRE + np.array([1.0, 0, 0])), np.full((90, 120), np.inf))
    model.carve(nothing)
    left = model.centres(VoxelState.UNKNOWN) - CENTRE
    assert (left[:, 0] < 0).sum() == 20 * 20 * 10
    seen = model.centres(VoxelState.EMPTY) - CENTRE
    assert len(seen) > 50
    slope = np.tan(np.deg2rad(20))
    assert (np.abs(seen[:, 1]) < slope * seen[:, 0]).all()
    assert (np.abs(seen[:, 2]) < 0.75 * slope * seen[:, 0]).all()


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="voxel block"):
        VoxelModel([0, 0, 0], [1, 1, 0], 0.1)
    with pytest.raises(InputError, match="voxel_size"):
        VoxelModel([0, 0, 0], [1, 1, 1], 0.0)
    with pytest.raises(InputError, match="rows and columns"):
        DepthView(CAMERA, pin.SE3.Identity(), np.ones((120, 90)))
    with pytest.raises(InputError, match="positive depths"):
        DepthView(CAMERA, pin.SE3.Identity(), np.zeros((90, 120)))
    with pytest.raises(InputError, match="field of view"):
        PinholeCamera.with_field_of_view(10, 10, 4.0)
    with pytest.raises(InputError, match="straight up"):
        look_at(CENTRE, CENTRE + np.array([0, 0, 1.0]))
