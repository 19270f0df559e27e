# SPDX-License-Identifier: Apache-2.0
"""The contact planner node: postures that hold a stance, and whether a stance holds a robot."""
