# SPDX-License-Identifier: Apache-2.0
"""Handles of places: where they are, and that a person's moves are counted."""

import asyncio
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

from humanoid_ros.viewer.handles.place_handles import PlaceHandles
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
