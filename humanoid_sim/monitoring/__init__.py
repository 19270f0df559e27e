# SPDX-License-Identifier: Apache-2.0
"""Monitors of a running simulation: balance, friction, real-time factor."""

from humanoid_sim.monitoring.balance import BalanceMonitor, FootForceMonitor

__all__ = ["BalanceMonitor", "FootForceMonitor"]
