# SPDX-License-Identifier: Apache-2.0
"""Mechanisms from text files, loops included: their geometry, their motion and what limits it."""

from humanoid_kinematics.devices.device import Device, Increment, PanelDevice, RateDevice
from humanoid_kinematics.devices.force_rendering import ForceRendering, HapticLoop
from humanoid_kinematics.devices.selection import DeviceDesk, DeviceSelection
from humanoid_kinematics.devices.syntaxeur import Syntaxeur
from humanoid_kinematics.live.live_scene import LinkChange, LiveScene
from humanoid_kinematics.live.newest_commands import JointVelocity, ToolVelocity
from humanoid_kinematics.mad.load import build_scene, load_mechanism, load_scene
from humanoid_kinematics.relay import Relay
from humanoid_kinematics.report import report
from humanoid_kinematics.screw_drive import bip_drives
from humanoid_kinematics.solver.commands import JointGoal, ToolGoal, ToolMotion
from humanoid_kinematics.solver.mechanism import Coupling, KleinfingerKhalil, Mechanism
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver

__all__ = [
    "Coupling",
    "Device",
    "DeviceDesk",
    "DeviceSelection",
    "ForceRendering",
    "HapticLoop",
    "Increment",
    "JointGoal",
    "JointVelocity",
    "KleinfingerKhalil",
    "LinkChange",
    "LiveScene",
    "Mechanism",
    "MechanismSolver",
    "PanelDevice",
    "RateDevice",
    "Relay",
    "Syntaxeur",
    "ToolGoal",
    "ToolMotion",
    "ToolVelocity",
    "bip_drives",
    "build_scene",
    "load_mechanism",
    "load_scene",
    "report",
]
