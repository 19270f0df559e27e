# SPDX-License-Identifier: Apache-2.0
"""Users who touch, hold and push what is simulated, through mice, haptic arms and scripts (specification 000 §15)."""

from humanoid_sim.interaction.attach_mode import AttachMode
from humanoid_sim.interaction.device import Device, MouseDevice, ScriptedDevice
from humanoid_sim.interaction.touch_mode import TouchMode

__all__ = ["AttachMode", "Device", "MouseDevice", "ScriptedDevice", "TouchMode"]
