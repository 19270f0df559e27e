# SPDX-License-Identifier: Apache-2.0
"""What a robot, a scene, a surface and a contact are; readers of their files, and their errors."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from humanoid_model.contact import Contact, ContactKind, ContactLocation, Stance, Surface
    from humanoid_model.errors import HumanoidError, InputError, RobotError, RobotWarning
    from humanoid_model.robot import Robot, load_robot
    from humanoid_model.scene import PairRule, Scene, SceneBody, SceneRobot, with_robot
    from humanoid_model.scene_file import load_scene
    from humanoid_model.sensor import Camera
    from humanoid_model.sensor_kind import SensorKind, register_sensor

__all__ = [
    "Camera",
    "Contact",
    "ContactKind",
    "ContactLocation",
    "HumanoidError",
    "InputError",
    "PairRule",
    "Robot",
    "RobotError",
    "RobotWarning",
    "Scene",
    "SceneBody",
    "SceneRobot",
    "SensorKind",
    "Stance",
    "Surface",
    "load_robot",
    "load_scene",
    "register_sensor",
    "with_robot",
]


def __getattr__(name: str) -> Any:
    """Return a name of this package; who needs none of them, as the bring-up, needs no Pinocchio."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for module in ("contact", "errors", "robot", "scene", "scene_file", "sensor", "sensor_kind"):
        found = vars(import_module(f"{__name__}.{module}"))
        globals().update({known: found[known] for known in __all__ if known in found})
    return globals()[name]
