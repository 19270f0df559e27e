# SPDX-License-Identifier: Apache-2.0
"""Parameters of the controller node, and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rclpy.node import Node

from humanoid_control.estimation import Estimator, EstimatorSettings
from humanoid_control.stepping import Walker
from humanoid_control.stepping.walker_settings import WalkerSettings
from humanoid_control.whole_body_control import BodyGains
from humanoid_model import Robot, load_robot
from humanoid_model.fields import Described, count, descriptions, flag, number, text
from humanoid_ros.node.parameter_declaration import declare_field

_PARTS = {"walker": WalkerSettings, "walker.gains": BodyGains, "estimator": EstimatorSettings}
"""Settings of the library whose fields are parameters of these names."""
STANDING = ("half_sitting", "standing")
"""Names of postures in which robots stand."""


@dataclass(frozen=True)
class ControllerSettings(Described):
    """What the node's parameters of the same names say."""

    robot: str = text("hrp2", "robot that is kept on its feet; a name, or the path of a URDF")
    posture: str = text("", "posture in which it stands; empty: half_sitting, or else standing")
    stiffness: float = number(0.0, "of the drives, beside the efforts", "N m/rad or N/m", low=0.0)
    damping: float = number(0.0, "of the drives, beside the efforts", "N m s/rad or N s/m", low=0.0)
    ticks_ahead: int = count(
        2, "ticks after a measurement until which the next command is promised; simulated time may wait for it then",
        low=1, high=100,
    )  # fmt: skip
    fastest: float = number(0.4, "largest commanded speed ahead and back", "m/s", low=0.0, high=2.0)
    fastest_sideways: float = number(0.15, "largest commanded speed aside", "m/s", low=0.0, high=1.0)
    fastest_turn: float = number(0.5, "largest commanded turning", "rad/s", low=0.0, high=2.0)
    velocity_timeout: float = number(
        0.5, "a commanded velocity lasts for so long; then the robot stops", "s", low=0.0, high=3600.0
    )
    patience: float = number(
        0.1, "for how long a sensor may be silent; then the robot stops, and holds its joints", "s of wall-clock time",
        low=0.01, high=10.0,
    )  # fmt: skip
    start_tolerance: float = number(
        0.1, "how far each joint may be from where a motion begins", "rad or m", low=0.0, high=1.0
    )
    approach: float = number(
        5.0, "longest way on both feet to the posture in which a motion begins", "s", low=0.0, high=60.0
    )
    odom_frame: str = text("odom", "frame in which the robot's place is estimated")
    base_frame: str = text("", "frame of the estimated base; empty: the robot's base link")
    publish_tf: bool = flag(
        False, "whether the estimated base is a transform; not where another node publishes the base's frame"
    )
    odometry_rate: float = number(100.0, "messages per second of odom and transforms", "Hz", low=0.1, high=1000.0)
    status_rate: float = number(20.0, "messages per second of status and markers", "Hz", low=0.1, high=100.0)
    autostart: bool = flag(True, "become active without being told")


def declare_controller(node: Node) -> None:
    """Declare all parameters of the node; they are read when it is configured."""
    for name, one in descriptions(ControllerSettings).items():
        declare_field(node, name, one, read_only=name == "autostart")
    for part, kind in _PARTS.items():
        for name, one in descriptions(kind).items():
            declare_field(node, f"{part}.{name}", one)


def part_values(node: Node, part: str) -> dict[str, Any]:
    """Return what the parameters of a part say."""
    return {
        name: one.read(node.get_parameter(f"{part}.{name}").value) for name, one in descriptions(_PARTS[part]).items()
    }


def standing_posture(robot: Robot, settings: ControllerSettings) -> str:
    """Return the name of the posture in which a robot stands."""
    return settings.posture or next((name for name in STANDING if name in robot.postures), STANDING[0])


def new_walker(node: Node, settings: ControllerSettings) -> Walker:
    """Return what the parameters describe.

    Raises:
        HumanoidError: the robot can't be read or walk, or a setting can't be used.
    """
    robot = load_robot(settings.robot)
    posture = standing_posture(robot, settings)
    walker = WalkerSettings(**part_values(node, "walker"), gains=BodyGains(**part_values(node, "walker.gains")))
    return Walker(robot, posture, walker, Estimator(robot, EstimatorSettings(**part_values(node, "estimator"))))
