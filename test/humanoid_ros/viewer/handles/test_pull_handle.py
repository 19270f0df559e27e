# SPDX-License-Identifier: Apache-2.0
"""The spring's law and damping, and the life of a drag."""

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest

from humanoid_ros.viewer.handles.pull_handle import PullHandle, Spring
from humanoid_ros.viewer.page import Page


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
