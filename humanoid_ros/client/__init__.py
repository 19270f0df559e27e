# SPDX-License-Identifier: Apache-2.0
"""The running stack as one Python object: its services, actions and topics behind a few methods."""

from humanoid_ros.client.answers import Efforts, EquilibriumAnswer, FollowAnswer, PlanAnswer, PostureAnswer, RobotState
from humanoid_ros.client.connection import StackError, Task
from humanoid_ros.client.stack import HumanoidStack

__all__ = [
    "Efforts",
    "EquilibriumAnswer",
    "FollowAnswer",
    "HumanoidStack",
    "PlanAnswer",
    "PostureAnswer",
    "RobotState",
    "StackError",
    "Task",
]
