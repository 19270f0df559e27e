# SPDX-License-Identifier: Apache-2.0
"""The simulation that the parameters of the simulator node ask for."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

import rclpy
from fixtures.ros_domain import claim_domain
from fixtures.scenes import box, floor, place, scene
from rclpy.node import Node

from humanoid_ros.simulator.simulator_parameters import declare_parameters, new_simulation
from humanoid_sim import Simulation


@pytest.mark.feature("000-F026")
def test_the_nodes_simulations_are_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    warm: list[Simulation] = []
    monkeypatch.setattr(Simulation, "warm_up", lambda self: warm.append(self))
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=claim_domain())
    node = Node("simulator", context=context)
    declare_parameters(node)
    simulation = new_simulation(node, scene(floor(), box("box", (0.1, 0.1, 0.1), place(0, 0, 0.05))))
    node.destroy_node()
    context.try_shutdown()
    assert warm == [simulation]
