# SPDX-License-Identifier: Apache-2.0
"""What a bridge's file says: which controllers a robot has, what a motion may ask for, what a fault does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TypeVar

from humanoid_control.execution.motion_check import MotionBounds
from humanoid_model import Robot, load_robot
from humanoid_model.errors import InputError
from humanoid_model.fields import Described, flag, number, text
from humanoid_model.files import find_resource
from humanoid_model.yaml_node import YamlNode, read_yaml

S = TypeVar("S")
FOLDER = "config/bridge"
"""Where files that come with the stack are found by name."""


class Kind(str, Enum):
    """How a controller takes commands."""

    TRAJECTORY_ACTION = "trajectory_action"
    """joint_trajectory_controller, by its action: the whole trajectory as one goal."""
    TRAJECTORY_TOPIC = "trajectory_topic"
    """joint_trajectory_controller, by its topic: a window of the path at a time."""
    FORWARD_POSITION = "forward_position"
    """forward_command_controller or position_controllers, by Float64MultiArray: a set point at a time."""
    JOINT_STATE = "joint_state"
    """Hardware that takes JointState, as topic_based_ros2_control sends it: a set point at a time."""


class Fault(str, Enum):
    """What may end a motion early; silence is that of the bridge, for which its last window provides."""

    CANCEL = "cancel"
    TRACKING = "tracking"
    CONTROLLER = "controller"
    STALE_STATE = "stale_state"
    EMERGENCY_STOP = "emergency_stop"
    FALL = "fall"
    CLIENT = "client"
    DEACTIVATE = "deactivate"
    SILENCE = "silence"


class Stop(str, Enum):
    """What a fault does."""

    PATH = "path"
    """On along the path to the next place where the robot stands in static balance, and slow down to it."""
    HOLD = "hold"
    """Hold all joints at once where they are."""


@dataclass(frozen=True)
class ControllerSettings:
    """A controller.

    Attributes:
        key: its key in the file.
        kind: how it takes commands.
        name: of the controller; of JointState commands their topic.
        joints: in the controller's own order.
        efforts: whether it is sent feed-forward efforts; only trajectories have them.
    """

    key: str
    kind: Kind
    name: str
    joints: tuple[str, ...]
    efforts: bool


@dataclass(frozen=True)
class BridgeTiming(Described):
    """How often, how far ahead, how long."""

    rate: float = number(50.0, "of set points, windows and looks at the robot", "Hz", low=0.0, above=True)
    horizon: float = number(
        0.1, "how long what was sent moves a controller when nothing follows", "s", low=0.0, above=True
    )
    lead: float = number(0.2, "from a goal's check to its common start", "s", low=0.0, above=True)
    acceleration: float = number(2.0, "bound of the change of speed along the path", "1/s", low=0.0, above=True)
    braking: float = number(
        12.5, "the same where it is stopped, as far as balance and the bounds of accelerations allow", "1/s", low=0.0,
        above=True,
    )  # fmt: skip
    watchdog: float = number(
        0.2, "how long the bridge may stand still before goals are cancelled for it", "s", low=0.0, above=True
    )
    clock: float = number(5.0, "how long the clock may stand still", "s of wall-clock time", low=0.0, above=True)
    state_age: float = number(
        0.15, "how old each joint's state may be, and states that controllers publish", "s", low=0.0, above=True
    )
    dead_man: float = number(
        0.0, "how long a client's sign of life may be missing, where its goal doesn't say; 0: none is needed", "s",
        low=0.0,
    )  # fmt: skip


@dataclass(frozen=True)
class EmergencySettings(Described):
    """The emergency stop."""

    topic: str = text("emergency_stop", "that stops (std_msgs/Bool)")
    heartbeat: float = number(0.0, "how long nothing may come on it; 0: any time", "s of wall-clock time", low=0.0)
    latched: bool = flag(
        False, "whether it is kept for late listeners; then it counts as pressed until something has come"
    )


@dataclass(frozen=True)
class FallSettings(Described):
    """What a fall is known by.

    Attributes:
        wrenches: topics of force sensors that bear the robot together (geometry_msgs/WrenchStamped).
    """

    imu: str = text("", "topic of an inertial measurement unit that tells orientation (sensor_msgs/Imu); empty: none")
    sensor: str = text("", "of the robot, which that is; empty: it sits in the base, with its axes")
    attitude: float = number(
        0.5, "by which the base may be tilted from the motion's attitude", "rad", low=0.0, above=True
    )
    wrenches: tuple[str, ...] = ()
    force: float = number(0.0, "which they have to bear together", "N", low=0.0)
    time: float = number(0.1, "how long they may bear less", "s", low=0.0, above=True)


@dataclass(frozen=True)
class BridgeTolerances(Described):
    """How far joints may be from the path."""

    path: float = number(0.2, "on the way", "rad or m", low=0.0)
    goal: float = number(0.05, "at the end", "rad or m", low=0.0)
    goal_time: float = number(1.0, "how late the end may be reached", "s", low=0.0)


@dataclass(frozen=True)
class BalanceSettings(Described):
    """What balance is asked for."""

    friction: float = number(0.5, "at contacts", low=0.0)
    margin: float = number(0.0, "of balance along the motion; far below 0: it isn't looked at", "N", low=-1e9)
    stop_margin: float = number(10.0, "where the robot is stopped", "N", low=-1e9)


@dataclass(frozen=True)
class BridgeSettings:
    """A bridge's file.

    Attributes:
        robot: its robot.
        joint_states: topic of measured joints.
        emergency_stop: see there.
        fall: see there; None: it isn't watched.
        controllers: by key.
        timing: see there.
        tolerances: see there.
        bounds: of motions.
        balance: see there.
        stops: what each fault does.
    """

    robot: Robot
    joint_states: str
    emergency_stop: EmergencySettings
    fall: FallSettings | None
    controllers: Mapping[str, ControllerSettings]
    timing: BridgeTiming
    tolerances: BridgeTolerances
    bounds: MotionBounds
    balance: BalanceSettings
    stops: Mapping[Fault, Stop]


def load_bridge_settings(name_or_path: str) -> BridgeSettings:
    """Read a bridge's file.

    Args:
        name_or_path: path of a YAML file, or name of one in ``config/bridge``.

    Raises:
        InputError: it isn't there, or something in it can't be used; with file, line and key.
    """
    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml"):
        path = find_resource(f"{FOLDER}/{name_or_path}.yaml")
    top = read_yaml(path, InputError).mapping(
        (
            "robot",
            "joint_states",
            "emergency_stop",
            "fall",
            "controllers",
            "timing",
            "tolerances",
            "bounds",
            "balance",
            "stops",
        )
    )
    for key in ("robot", "controllers"):
        if key not in top:
            raise InputError("is missing", source=path, element=key, remedy=f"Give {key}")
    robot = load_robot(_beside(path, top["robot"].string()), geometry=False)
    return BridgeSettings(
        robot=robot,
        joint_states=top["joint_states"].string() if "joint_states" in top else "joint_states",
        emergency_stop=_emergency(top.get("emergency_stop")),
        fall=_fall(top["fall"], robot) if "fall" in top else None,
        controllers=_controllers(top["controllers"], robot),
        timing=_timing(top.get("timing")),
        tolerances=_read(BridgeTolerances, top.get("tolerances")),
        bounds=_bounds(top.get("bounds"), robot),
        balance=_read(BalanceSettings, top.get("balance")),
        stops=_stops(top.get("stops")),
    )


def _beside(path: Path, robot: str) -> str:
    """Return a robot's name, or the path of its URDF, which may be relative to the bridge's file."""
    beside = path.parent / robot
    return str(beside) if robot.endswith(".urdf") and beside.is_file() else robot


def _emergency(node: YamlNode | None) -> EmergencySettings:
    """Return the emergency stop's settings; a topic alone says it all where it has neither heartbeat nor latch."""
    return EmergencySettings(node.string()) if node is not None and node.is_text else _read(EmergencySettings, node)


def _fall(node: YamlNode, robot: Robot) -> FallSettings:
    fields, others = node.fields(FallSettings, ("wrenches",))
    if "imu" not in fields and "wrenches" not in others:
        raise node.fail("names no sensor", "Give imu, or wrenches with force")
    if "wrenches" in others and not fields.get("force"):
        raise node.fail("force is missing", "Give the force that the wrenches' sensors bear together at least, in N")
    units = [name for name, sensor in robot.sensors.items() if sensor.type == "imu"]
    sensor = fields.setdefault("sensor", units[0] if len(units) == 1 else "")
    if sensor and sensor not in units:
        raise node.fail(f"sensor is '{sensor}'", f"Use one of {', '.join(units)}")
    return FallSettings(
        **fields, wrenches=tuple(item.string() for item in others["wrenches"].items()) if "wrenches" in others else ()
    )


def _controllers(node: YamlNode, robot: Robot) -> dict[str, ControllerSettings]:
    found: dict[str, ControllerSettings] = {}
    owners: dict[str, str] = {}
    for key, value in node.mapping().items():
        fields = value.mapping(("kind", "name", "joints", "efforts"))
        for field in ("kind", "joints"):
            if field not in fields:
                raise value.fail(f"{field} is missing", f"Give {field}")
        kind = Kind(fields["kind"].string([item.value for item in Kind]))
        joints = _joints(fields["joints"], robot)
        for joint in joints:
            if joint in owners:
                raise fields["joints"].fail(f"'{joint}' belongs to '{owners[joint]}' too", "Give it one controller")
            owners[joint] = key
        efforts = fields["efforts"].boolean() if "efforts" in fields else False
        if efforts and kind not in (Kind.TRAJECTORY_ACTION, Kind.TRAJECTORY_TOPIC):
            raise fields["efforts"].fail(f"{kind.value} has none", "Leave it out")
        name = fields["name"].string() if "name" in fields else key
        found[key] = ControllerSettings(key, kind, name, joints, efforts)
    if not found:
        raise node.fail("names no controller", "Give one for each group of joints")
    return found


def _joints(node: YamlNode, robot: Robot) -> tuple[str, ...]:
    """Return the joints that are named, one by one or by their limbs."""
    known = (*robot.limbs, *robot.joint_names)
    words = [item.string(known) for item in node.items()] if node.is_list else [node.string(known)]
    names = tuple(joint for word in words for joint in robot.limbs.get(word, (word,)))
    for index, name in enumerate(names):
        if name in names[:index]:
            raise node.fail(f"'{name}' occurs twice", "Name each joint once")
    if not names:
        raise node.fail("is empty", "Name the controller's joints")
    return names


def _timing(node: YamlNode | None) -> BridgeTiming:
    timing = _read(BridgeTiming, node)
    if node is not None and timing.braking < timing.acceleration:
        raise node.fail(
            f"braking is {timing.braking:g}, acceleration is {timing.acceleration:g}", "Give braking at least as much"
        )
    if node is not None and timing.horizon < 2.5 / timing.rate:
        raise node.fail(
            f"horizon is {timing.horizon:g} s, which a rate of {timing.rate:g} Hz can't keep filled",
            f"Give {2.5 / timing.rate:g} s or more, or a higher rate",
        )
    return timing


def _bounds(node: YamlNode | None, robot: Robot) -> MotionBounds:
    if node is None:
        return MotionBounds()
    fields = node.mapping(("start", "velocity", "effort", "acceleration", "slip"))
    values = {name: value.number(above=0.0) for name, value in fields.items() if name != "acceleration"}
    acceleration: dict[str, float] = {}
    if "acceleration" in fields:
        for name, value in fields["acceleration"].mapping((*robot.limbs, *robot.joint_names)).items():
            for joint in robot.limbs.get(name, (name,)):
                acceleration[joint] = value.number(above=0.0)
    return MotionBounds(**values, acceleration=acceleration)


def _stops(node: YamlNode | None) -> dict[Fault, Stop]:
    stops = dict.fromkeys(Fault, Stop.PATH) | dict.fromkeys(
        (Fault.EMERGENCY_STOP, Fault.FALL, Fault.SILENCE), Stop.HOLD
    )
    if node is not None:
        for name, value in node.mapping([item.value for item in Fault]).items():
            stops[Fault(name)] = Stop(value.string([item.value for item in Stop]))
    return stops


def _read(kind: type[S], node: YamlNode | None) -> S:
    """Return settings of which a file may say some."""
    return kind() if node is None else kind(**node.fields(kind)[0])
