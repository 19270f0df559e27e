# SPDX-License-Identifier: Apache-2.0
"""What a robot, a scene, a surface and a contact are; readers of their files, and their errors."""

from humanoid_model.camera import Camera
from humanoid_model.contact import Contact, ContactKind, ContactLocation, Stance, Surface
from humanoid_model.errors import HumanoidError, InputError, RobotError, RobotWarning, SceneError
from humanoid_model.robot import Robot, load_robot
from humanoid_model.scene import (
    Light,
    PairProperties,
    PairRule,
    Scene,
    SceneBody,
    SceneRobot,
    with_robot,
)
from humanoid_model.scene_file import load_scene

__all__ = [
    "Camera",
    "Contact",
    "ContactKind",
    "ContactLocation",
    "HumanoidError",
    "InputError",
    "Light",
    "PairProperties",
    "PairRule",
    "Robot",
    "RobotError",
    "RobotWarning",
    "Scene",
    "SceneBody",
    "SceneError",
    "SceneRobot",
    "Stance",
    "Surface",
    "load_robot",
    "load_scene",
    "with_robot",
]
