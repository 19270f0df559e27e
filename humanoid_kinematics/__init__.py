# SPDX-License-Identifier: Apache-2.0
"""Mechanisms from text files, loops included: their geometry, their motion and what limits it."""

from humanoid_kinematics.kleinfinger_khalil import KleinfingerKhalil
from humanoid_kinematics.mechanism import Coupling, Mechanism, Tool

__all__ = ["Coupling", "KleinfingerKhalil", "Mechanism", "Tool"]
