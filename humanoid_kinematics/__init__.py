# SPDX-License-Identifier: Apache-2.0
"""Mechanisms from text files, loops included: their geometry, their motion and what limits it."""

from humanoid_kinematics.graph import MechanismGraph
from humanoid_kinematics.kleinfinger_khalil import KleinfingerKhalil
from humanoid_kinematics.load import Scene, build_scene, load_mechanism, load_scene
from humanoid_kinematics.mad.error import MadError
from humanoid_kinematics.mechanism import Coupling, Mechanism, Tool
from humanoid_kinematics.relay import Relay, drive_trajectory
from humanoid_kinematics.report import report
from humanoid_kinematics.screw_drive import Screw, ScrewDrive, bip_drives
from humanoid_kinematics.solver.commands import CentreOfMassGoal, DeviceMotion, JointGoal, ToolGoal, ToolMotion
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver, SolverOptions
from humanoid_kinematics.solver.thesis_solver import ThesisSolver

__all__ = [
    "CentreOfMassGoal",
    "Coupling",
    "DeviceMotion",
    "JointGoal",
    "KleinfingerKhalil",
    "MadError",
    "Mechanism",
    "MechanismGraph",
    "MechanismSolver",
    "Relay",
    "Scene",
    "Screw",
    "ScrewDrive",
    "SolverOptions",
    "ThesisSolver",
    "Tool",
    "ToolGoal",
    "ToolMotion",
    "bip_drives",
    "build_scene",
    "drive_trajectory",
    "load_mechanism",
    "load_scene",
    "report",
]
