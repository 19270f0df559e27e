# SPDX-License-Identifier: Apache-2.0
"""Mechanisms from text files, loops included: their geometry, their motion and what limits it."""

from humanoid_kinematics.devices.device import (
    JOY_MAPPINGS,
    Device,
    HybridDevice,
    Increment,
    JoyMapping,
    NullDevice,
    PanelDevice,
    PoseDevice,
    RateDevice,
    Response,
)
from humanoid_kinematics.devices.force_rendering import ForceRendering, HapticLoop
from humanoid_kinematics.devices.selection import DeviceDesk, DeviceSelection, make_device
from humanoid_kinematics.devices.syntaxeur import Syntaxeur
from humanoid_kinematics.live.live_mechanism import LiveMechanism
from humanoid_kinematics.live.live_scene import LinkChange, LiveScene
from humanoid_kinematics.live.newest_commands import JointVelocity, LiveLimits, ToolVelocity
from humanoid_kinematics.mad.load import Scene, build_scene, load_mechanism, load_scene, read_scene
from humanoid_kinematics.relay import Relay, drive_trajectory
from humanoid_kinematics.report import report
from humanoid_kinematics.screw_drive import bip_drives
from humanoid_kinematics.solver.commands import JointGoal, ToolGoal, ToolMotion
from humanoid_kinematics.solver.mechanism import KleinfingerKhalil, Mechanism
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver, SolverOptions
from humanoid_kinematics.solver.thesis_solver import ThesisSolver

__all__ = [
    "JOY_MAPPINGS",
    "Device",
    "DeviceDesk",
    "DeviceSelection",
    "ForceRendering",
    "HapticLoop",
    "HybridDevice",
    "Increment",
    "JointGoal",
    "JointVelocity",
    "JoyMapping",
    "KleinfingerKhalil",
    "LinkChange",
    "LiveLimits",
    "LiveMechanism",
    "LiveScene",
    "Mechanism",
    "MechanismSolver",
    "NullDevice",
    "PanelDevice",
    "PoseDevice",
    "RateDevice",
    "Relay",
    "Response",
    "Scene",
    "SolverOptions",
    "Syntaxeur",
    "ThesisSolver",
    "ToolGoal",
    "ToolMotion",
    "ToolVelocity",
    "bip_drives",
    "build_scene",
    "drive_trajectory",
    "load_mechanism",
    "load_scene",
    "make_device",
    "read_scene",
    "report",
]
