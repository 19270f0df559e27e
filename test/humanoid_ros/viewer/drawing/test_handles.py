# SPDX-License-Identifier: Apache-2.0
"""Handles: where places are wanted, that what is near a surface is meant for it, and how a spring pulls."""

import asyncio
import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import Scene, Surface, load_scene
from humanoid_model.contact import SurfaceForm
from humanoid_ros.viewer.drawing.handles import NEAR, TILT, PlaceHandles, PullHandle, Spring, pointed_at, snap
from humanoid_ros.viewer.page import Page

SQUARE = np.array([[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]])
PLACEMENT = pin.SE3(pin.utils.rotate("x", 0.3) @ pin.utils.rotate("z", 0.7), np.array([0.1, 0.2, 0.3]))


@pytest.fixture
def handles(page: Page) -> PlaceHandles:
    return PlaceHandles(page.server.scene, "/handles")


def test_a_handle_is_where_it_was_put_and_where_it_is_dragged(handles: PlaceHandles) -> None:
    handles.add("right_sole", PLACEMENT, SQUARE)
    assert handles.placement("right_sole").isApprox(PLACEMENT, 1e-9)
    assert handles.moves == 0
    handle = handles._handles["right_sole"]
    handle._impl.position = np.array([1.0, 2.0, 3.0])
    handle._impl.wxyz = np.array([0.0, 0.0, 0.0, 2.0])  # a browser's numbers are rounded
    event = SimpleNamespace(target=handle, phase="update", client_id=0)
    asyncio.run(handles._on_update(event))  # type: ignore[arg-type]
    assert handles.moves == 1
    expected = pin.SE3(np.diag([-1.0, -1.0, 1.0]), np.array([1.0, 2.0, 3.0]))
    assert handles.placement("right_sole").isApprox(expected, 1e-9)


def test_handles_come_move_and_go(handles: PlaceHandles) -> None:
    for name in ("right_sole", "left_sole"):
        handles.add(name, PLACEMENT, SQUARE)
    handles.add("left_sole", pin.SE3.Identity(), SQUARE)
    assert handles.placement("left_sole").isIdentity(1e-12)
    assert handles.names == ["right_sole", "left_sole"]
    handles.remove("right_sole")
    handles.remove("right_sole")
    assert handles.names == ["left_sole"]
    handles.clear()
    assert handles.names == []


def test_a_patch_may_be_a_point(handles: PlaceHandles) -> None:
    handles.add("tip", PLACEMENT, np.zeros((1, 2)))
    assert handles.names == ["tip"]


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


def test_damping_of_the_specification() -> None:
    # Specification 000 §26.2: k_v for 1.75 kg.
    assert Spring(500.0, 1.75, 100.0).damping == pytest.approx(41.83, abs=5e-3)
    assert Spring(1000.0, 1.75, 100.0).damping == pytest.approx(59.16, abs=5e-3)


def test_damping_ratio_by_step_response() -> None:
    """A mass on the spring overshoots by exp(-pi): damping ratio 1/sqrt(2)."""
    spring = Spring(stiffness=600.0, mass=2.0, max_force=1e9)
    dt, position, velocity, peak = 1e-5, np.zeros(3), np.zeros(3), 0.0
    target = np.array([0.1, 0.0, 0.0])
    for _ in range(50_000):
        velocity = velocity + dt * spring.force(target, position, velocity) / spring.mass
        position = position + dt * velocity
        peak = max(peak, float(position[0]))
    assert peak / 0.1 - 1.0 == pytest.approx(np.exp(-np.pi), rel=1e-2)


def test_force_is_shortened_but_keeps_its_direction() -> None:
    spring = Spring(1000.0, 1.0, 50.0)
    force = spring.force(np.array([3.0, 4.0, 0.0]), np.zeros(3), np.zeros(3))
    np.testing.assert_allclose(force, [30.0, 40.0, 0.0])


def drag(handle: PullHandle, phase: str, client: int = 7) -> None:
    asyncio.run(handle._on_update(SimpleNamespace(phase=phase, client_id=client)))  # type: ignore[arg-type]


def test_handle_rides_on_the_link_and_stays_put_while_dragged(page: Page) -> None:
    handle = PullHandle(page.server.scene)
    handle.update(np.array([0.0, 0.0, 1.0]))
    np.testing.assert_allclose(handle.position, [0.0, 0.0, 1.0])
    drag(handle, "start")
    handle._handle.position = (0.5, 0.0, 1.0)
    handle.update(np.array([0.1, 0.0, 1.0]))
    np.testing.assert_allclose(handle.position, [0.5, 0.0, 1.0])
    np.testing.assert_allclose(handle._line.points[0], [[0.1, 0.0, 1.0], [0.5, 0.0, 1.0]])
    assert handle._line.visible
    drag(handle, "end")
    handle.update(np.array([0.2, 0.0, 1.0]))
    np.testing.assert_allclose(handle.position, [0.2, 0.0, 1.0])
    assert not handle._line.visible


def test_browser_that_leaves_lets_go(page: Page) -> None:
    handle = PullHandle(page.server.scene)
    drag(handle, "start", client=7)
    handle.client_left(3)
    assert handle.dragging
    handle.client_left(7)
    assert not handle.dragging


def test_no_link_no_handle(page: Page) -> None:
    handle = PullHandle(page.server.scene)
    handle.update(np.zeros(3))
    assert handle._handle.visible
    handle.update(None)
    assert not handle._handle.visible
