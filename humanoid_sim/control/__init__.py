# SPDX-License-Identifier: Apache-2.0
"""Joints that follow trajectories, with the rules of ros2_control."""
