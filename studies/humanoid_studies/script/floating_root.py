# SPDX-License-Identifier: Apache-2.0
"""A robot with a free base, as the thesis has it: a joint of six degrees between the world and the root."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from humanoid_model.description import RobotDescription

#: Name of the joint; Pinocchio's readers call it so.
ROOT_JOINT = "root_joint"


def with_floating_root(description: RobotDescription) -> str:
    """URDF text of a robot whose root floats in a world link added above it.

    Args:
        description: the robot.
    """
    world, joint = "world", ROOT_JOINT
    while world in description.links:
        world += "_"
    while joint in description.joints:
        joint += "_"
    head, closing, tail = description.text.rpartition("</robot>")
    added = (
        f'<link name="{world}"/><joint name="{joint}" type="floating"><parent link="{world}"/>'
        f"<child link={quoteattr(description.root)}/></joint>\n"
    )
    return head + added + closing + tail
