# SPDX-License-Identifier: Apache-2.0
"""Features of the page, those of users too: their folders, and what they ask for, over DDS."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from fixtures.asked_feature import Asked, at_once
from fixtures.ros_domain import claim_domain

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

import rclpy
from humanoid_stack.msg import SimulationStatus

from examples.extending import energy_panel
from humanoid_ros.node.parameter_declaration import declare_number
from humanoid_ros.node.qos import LATCHED
from humanoid_ros.viewer.feature import FEATURES, View, known_features
from humanoid_ros.viewer.page import Page
from humanoid_ros.viewer.planner_calls import PresentRobot
from humanoid_ros.viewer.shown_robots import ShownRobots
from humanoid_ros.viewer.simulator_calls import SimulatorCalls

pytestmark = [pytest.mark.ros, pytest.mark.feature("000-F006", "000-F019")]


@pytest.fixture
def view(page: Page) -> Iterator[View]:
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=claim_domain())
    node = rclpy.create_node("viewer", context=context)
    for name in ("cone_scale", "arrow_scale"):
        declare_number(node, name, 0.001, 1e-6, 1.0, "of drawings", read_only=True)
    simulator: Any = Asked(SimulatorCalls)
    before = list(FEATURES)
    yield View(node, page, ShownRobots(page.server.scene), PresentRobot(), simulator, at_once)
    FEATURES[:] = before
    node.destroy_node()
    context.try_shutdown()


def test_a_mechanism_alone_has_no_folders_of_robots(view: View) -> None:
    for kind in known_features():
        kind.declare_parameters(view.node)
    features = {kind.name: kind(view) for kind in known_features()}
    assert list(features) == ["walk", "posture", "gait", "plan", "mechanism"]
    of_robots: list[Any] = [features[name] for name in ("posture", "gait", "plan")]
    for alone in (True, False, True):
        for feature in features.values():
            feature.offer(alone)
        assert [feature._panel.folder.visible for feature in of_robots] == [not alone] * 3
    for feature in features.values():
        feature.close()
    declared = {"posture_rate", "posture_time_limit", "gait_arrow_scale", "gait_time_limit", "plan_time_limit"}
    assert all(view.node.has_parameter(name) for name in declared)


def test_a_panel_of_a_user_is_one_file_and_one_line(view: View, urdf: str) -> None:
    FEATURES.clear()
    energy_panel.register()
    (panel,) = (kind(view) for kind in known_features())
    assert isinstance(panel, energy_panel.EnergyPanel)
    publisher = view.node.create_publisher(SimulationStatus, "status", LATCHED)
    publisher.publish(SimulationStatus(kinetic_energy=0.25, potential_energy=431.0))
    end = time.monotonic() + 60.0
    while not panel.text.content:
        assert time.monotonic() < end
        panel.update(time.monotonic())
        time.sleep(0.01)
    assert panel.text.content == "0.25 J kinetic, 431 J potential"
    assert panel._folder.visible
    asked: Any = view.simulator
    click(panel.lift)
    assert asked == []  # nobody is there to be lifted
    view.robots.describe("", urdf)
    click(panel.lift)
    assert asked == [("push", "base", (0.0, 0.0, 48.0), 0.1)]


def click(control: Any) -> None:
    for callback in control._impl.update_cb:
        callback(SimpleNamespace(target=control))
