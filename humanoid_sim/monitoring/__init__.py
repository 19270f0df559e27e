# SPDX-License-Identifier: Apache-2.0
"""Monitors of a running simulation: balance, friction, real-time factor."""

from humanoid_sim.monitoring.balance import Balance, BalanceMonitor, FootForceMonitor, FootForceSeries, robot_balance
from humanoid_sim.monitoring.friction_identification import PullTest, identify_friction
from humanoid_sim.monitoring.real_time_monitor import RealTimeMonitor

__all__ = [
    "Balance",
    "BalanceMonitor",
    "FootForceMonitor",
    "FootForceSeries",
    "PullTest",
    "RealTimeMonitor",
    "identify_friction",
    "robot_balance",
]
