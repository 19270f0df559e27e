# SPDX-License-Identifier: Apache-2.0
"""Joints that follow trajectories: a controller of theirs, timing and stops along a path, checks of motions."""
