# SPDX-License-Identifier: Apache-2.0
"""Mechanisms from text files, loops included: their geometry, their motion and what limits it."""

from humanoid_kinematics.graph import MechanismGraph
from humanoid_kinematics.kleinfinger_khalil import KleinfingerKhalil
from humanoid_kinematics.load import Scene, build_scene, load_mechanism, load_scene
from humanoid_kinematics.mad.error import MadError
from humanoid_kinematics.mechanism import Coupling, Mechanism, Tool
from humanoid_kinematics.screw_drive import Screw, ScrewDrive, bip_drives

__all__ = [
    "Coupling",
    "KleinfingerKhalil",
    "MadError",
    "Mechanism",
    "MechanismGraph",
    "Scene",
    "Screw",
    "ScrewDrive",
    "Tool",
    "bip_drives",
    "build_scene",
    "load_mechanism",
    "load_scene",
]
