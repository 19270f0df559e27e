# SPDX-License-Identifier: Apache-2.0
"""What a motion may cost, a class in a file each."""

from humanoid_gait.costs.acceleration import AccelerationCost
from humanoid_gait.costs.clearance import ClearanceCost
from humanoid_gait.costs.closure import ClosureCost
from humanoid_gait.costs.cost import Cost
from humanoid_gait.costs.force import ForceCost
from humanoid_gait.costs.power import PowerCost
from humanoid_gait.costs.time import TimeCost
from humanoid_gait.costs.torque import TorqueCost

__all__ = [
    "AccelerationCost", "ClearanceCost", "ClosureCost", "Cost", "ForceCost", "PowerCost", "TimeCost", "TorqueCost",
]  # fmt: skip
