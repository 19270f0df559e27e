# SPDX-License-Identifier: Apache-2.0
"""The running stack as one Python object: its services, actions and topics behind a few methods."""

from humanoid_ros.client.answers import PlanAnswer
from humanoid_ros.client.connection import StackError
from humanoid_ros.client.stack import HumanoidStack

__all__ = ["HumanoidStack", "PlanAnswer", "StackError"]
