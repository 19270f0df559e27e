# SPDX-License-Identifier: Apache-2.0
"""Joints that follow trajectories with the rules of ros2_control, and controllers in the simulator's loop."""

from humanoid_sim.control.controller_in_loop import ControllerInLoop

__all__ = ["ControllerInLoop"]
