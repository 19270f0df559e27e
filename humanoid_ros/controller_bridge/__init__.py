# SPDX-License-Identifier: Apache-2.0
"""The controller bridge: whole-body trajectories to a robot's controllers, checked, watched, stopped on the path."""
