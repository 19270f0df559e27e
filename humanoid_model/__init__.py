# SPDX-License-Identifier: Apache-2.0
"""What a robot, a scene, a surface and a contact are; readers of their files, and their errors."""

from humanoid_model.contact import Contact, ContactLocation, Stance, Surface
from humanoid_model.errors import HumanoidError, InputError, RobotError, SceneError
from humanoid_model.robot import Robot, load_robot

__all__ = [
    "Contact",
    "ContactLocation",
    "HumanoidError",
    "InputError",
    "Robot",
    "RobotError",
    "SceneError",
    "Stance",
    "Surface",
    "load_robot",
]
