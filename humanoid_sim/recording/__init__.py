# SPDX-License-Identifier: Apache-2.0
"""Logs of simulations: tables, ROS 2 messages, paths of points, and curves drawn from them."""

from humanoid_sim.recording.log import plot_log, read_log
from humanoid_sim.recording.mcap_recorder import McapRecorder
from humanoid_sim.recording.tables import CsvRecorder

__all__ = ["CsvRecorder", "McapRecorder", "plot_log", "read_log"]
