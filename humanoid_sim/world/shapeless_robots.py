# SPDX-License-Identifier: Apache-2.0
"""Robots that nothing can hold up: what a description without collision shapes means."""

from __future__ import annotations

from humanoid_model.scene import Scene


def shapeless_robots(scene: Scene) -> list[str]:
    """Return a warning for each robot that moves freely and has no collision shapes; each says what to do."""
    return [
        f"robot '{own.name}' has no collision shapes: it touches nothing and falls through the floor. Give the links "
        "of its URDF <collision>, or fix its base"
        for own in scene.robots
        if own.robot.base_joint is not None and not own.robot.collision_model.ngeoms
    ]
