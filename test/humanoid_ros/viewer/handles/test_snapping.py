# SPDX-License-Identifier: Apache-2.0
"""Handles near a surface are meant for it."""

import dataclasses
import math

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import Scene, Surface, load_scene
from humanoid_model.contact import SurfaceForm
from humanoid_ros.viewer.handles.snapping import NEAR, TILT, pointed_at, snap


@pytest.fixture(scope="module")
def stairs() -> Scene:
    return load_scene("stairs")


def at(x: float, y: float, z: float, turn: float = 0.0, tilt: float = 0.0) -> pin.SE3:
    return pin.SE3(pin.utils.rotate("z", turn) @ pin.utils.rotate("x", tilt), np.array([x, y, z]))


def test_the_place_is_told_in_the_surfaces_frame(stairs: Scene) -> None:
    found = snap(at(0.5, 0.1, 0.12, 0.3), stairs)
    assert found is not None
    assert found.surface.name == "step_1"
    assert (found.x, found.y, found.theta) == pytest.approx((0.05, 0.1, 0.3))


@pytest.mark.parametrize("order", [1, -1])
def test_the_nearest_surface_wins(stairs: Scene, order: int) -> None:
    floor = stairs.surfaces[0]
    mat = Surface("mat", "floor", pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.03])))
    scene = dataclasses.replace(stairs, surfaces=(floor, mat)[::order])
    low, high = snap(at(-1.0, 0.0, 0.014), scene), snap(at(-1.0, 0.0, 0.016), scene)
    assert low is not None
    assert high is not None
    assert (low.surface.name, high.surface.name) == ("floor", "mat")


@pytest.mark.parametrize(
    "placement",
    [
        at(0.5, 0.0, 0.1 + 1.01 * NEAR),
        at(-0.5, 0.0, -1.01 * NEAR),
        at(0.5, 0.0, 0.1, tilt=1.01 * TILT),
        at(0.5, 0.0, 0.1, tilt=math.pi),
        at(2.1, 0.61, 0.5),
    ],
    ids=["above", "below", "tilted", "upside down", "beside"],
)
def test_what_is_not_near_is_free(stairs: Scene, placement: pin.SE3) -> None:
    assert snap(placement, stairs) is None


def test_a_ray_meets_the_nearest_upper_side(stairs: Scene) -> None:
    down = np.array([0.0, 0.0, -1.0])
    np.testing.assert_allclose(pointed_at(np.array([0.45, 0.05, 3.0]), down, stairs), [0.45, 0.05, 0.1], atol=1e-9)
    np.testing.assert_allclose(pointed_at(np.array([0.3, 0.05, 3.0]), down, stairs), [0.3, 0.05, 0.0], atol=1e-9)
    aside = np.array([1.0, 0.0, -1.0])
    np.testing.assert_allclose(pointed_at(np.array([-0.05, 0.0, 0.6]), aside, stairs), [0.45, 0.0, 0.1], atol=1e-9)
    assert pointed_at(np.array([0.45, 0.05, -3.0]), -down, stairs) is None


@pytest.mark.feature("001-F009")
@pytest.mark.parametrize("form", [SurfaceForm.CYLINDER, SurfaceForm.SPHERE])
def test_a_ray_meets_the_outer_side_of_a_curved_surface_within_its_outline(stairs: Scene, form: SurfaceForm) -> None:
    """A round of 0.2 m whose top is at height 1: 0.12 m beside its middle it is 0.04 m lower."""
    outline = np.array([[-0.25, -0.16], [0.25, -0.16], [0.25, 0.16], [-0.25, 0.16]])  # to 45.8 degrees
    top = Surface("round", "floor", pin.SE3(np.eye(3), np.array([0.0, 0.0, 1.0])), outline, form, 0.2)
    scene = dataclasses.replace(stairs, surfaces=(top, stairs.surfaces[0]))
    down = np.array([0.0, 0.0, -2.0])
    np.testing.assert_allclose(pointed_at(np.array([0.0, 0.12, 3.0]), down, scene), [0.0, 0.12, 0.96], atol=1e-12)
    np.testing.assert_allclose(pointed_at(np.array([0.0, 0.16, 3.0]), down, scene), [0.0, 0.16, 0.0], atol=1e-12)
    lower = 1.0 if form is SurfaceForm.CYLINDER else 0.96
    np.testing.assert_allclose(pointed_at(np.array([0.12, 0.0, 3.0]), down, scene), [0.12, 0.0, lower], atol=1e-12)
    assert pointed_at(np.array([0.0, 0.0, 0.5]), -down, scene) is None  # from within
