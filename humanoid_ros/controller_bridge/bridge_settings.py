# SPDX-License-Identifier: Apache-2.0
"""What a bridge's file says: which controllers a robot has, what a motion may ask for, what a fault does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from humanoid_control.execution.motion_check import MotionBounds
from humanoid_model import Robot, load_robot
from humanoid_model.errors import InputError
from humanoid_model.resources import find_resource
from humanoid_model.yaml_node import YamlNode, read_yaml

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
class BridgeTiming:
    """How often, how far ahead, how long.

    Attributes:
        rate: of set points, windows and looks at the robot [Hz].
        horizon: how long what was sent moves a controller when nothing follows [s].
        lead: from a goal's check to its common start [s].
        acceleration: bound of the change of speed along the path [1/s].
        braking: the same where it is stopped, as far as balance and the bounds of accelerations allow [1/s].
        watchdog: how long the bridge may stand still before goals are cancelled for it [s].
        clock: how long the clock may stand still [s of wall-clock time].
        state_age: how old each joint's state may be, and states that controllers publish [s].
        dead_man: how long a client's sign of life may be missing, where its goal doesn't say [s]; 0: none is needed.
    """

    rate: float = 50.0
    horizon: float = 0.1
    lead: float = 0.2
    acceleration: float = 2.0
    braking: float = 12.5
    watchdog: float = 0.2
    clock: float = 5.0
    state_age: float = 0.15
    dead_man: float = 0.0


@dataclass(frozen=True)
class EmergencySettings:
    """The emergency stop.

    Attributes:
        topic: that stops (std_msgs/Bool).
        heartbeat: how long nothing may come on it [s of wall-clock time]; 0: any time.
        latched: whether it is kept for late listeners; then it counts as pressed until something has come.
    """

    topic: str = "emergency_stop"
    heartbeat: float = 0.0
    latched: bool = False


@dataclass(frozen=True)
class FallSettings:
    """What a fall is known by.

    Attributes:
        imu: topic of an inertial measurement unit that gives its orientation (sensor_msgs/Imu); empty: none.
        sensor: of the robot, which that is; empty: it sits in the base, with its axes.
        attitude: by which the base may be tilted from the motion's attitude [rad].
        wrenches: topics of force sensors that bear the robot together (geometry_msgs/WrenchStamped).
        force: which they have to bear together [N].
        time: how long they may bear less [s].
    """

    imu: str = ""
    sensor: str = ""
    attitude: float = 0.5
    wrenches: tuple[str, ...] = ()
    force: float = 0.0
    time: float = 0.1


@dataclass(frozen=True)
class BridgeTolerances:
    """How far joints may be from the path.

    Attributes:
        path: on the way [rad or m].
        goal: at the end [rad or m].
        goal_time: how late the end may be reached [s].
    """

    path: float = 0.2
    goal: float = 0.05
    goal_time: float = 1.0


@dataclass(frozen=True)
class BalanceSettings:
    """What balance is asked for.

    Attributes:
        friction: at contacts.
        margin: of balance along the motion [N]; minus infinite: it isn't looked at.
        stop_margin: where the robot is stopped [N].
    """

    friction: float = 0.5
    margin: float = 0.0
    stop_margin: float = 10.0


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
        tolerances=BridgeTolerances(**_numbers(top.get("tolerances"), ("path", "goal", "goal_time"))),
        bounds=_bounds(top.get("bounds"), robot),
        balance=BalanceSettings(**_numbers(top.get("balance"), ("friction", "margin", "stop_margin"), lowest=-1e9)),
        stops=_stops(top.get("stops")),
    )


def _beside(path: Path, robot: str) -> str:
    """Return a robot's name, or the path of its URDF, which may be relative to the bridge's file."""
    beside = path.parent / robot
    return str(beside) if robot.endswith(".urdf") and beside.is_file() else robot


def _emergency(node: YamlNode | None) -> EmergencySettings:
    """Return the emergency stop's settings; a topic alone says it all where it has neither heartbeat nor latch."""
    if node is None:
        return EmergencySettings()
    if node.is_text:
        return EmergencySettings(node.string())
    fields = node.mapping(("topic", "heartbeat", "latched"))
    return EmergencySettings(
        topic=fields["topic"].string() if "topic" in fields else EmergencySettings.topic,
        heartbeat=fields["heartbeat"].number(above=0.0) if "heartbeat" in fields else 0.0,
        latched=fields["latched"].boolean() if "latched" in fields else False,
    )


def _fall(node: YamlNode, robot: Robot) -> FallSettings:
    fields = node.mapping(("imu", "sensor", "attitude", "wrenches", "force", "time"))
    if "imu" not in fields and "wrenches" not in fields:
        raise node.fail("names no sensor", "Give imu, or wrenches with force")
    if "wrenches" in fields and "force" not in fields:
        raise node.fail("force is missing", "Give the force that the wrenches' sensors bear together at least, in N")
    units = [name for name, sensor in robot.sensors.items() if sensor.type == "imu"]
    sensor = units[0] if len(units) == 1 else ""
    if "sensor" in fields:
        sensor = fields["sensor"].string(units)
    numbers = {name: fields[name].number(above=0.0) for name in ("attitude", "force", "time") if name in fields}
    return FallSettings(
        imu=fields["imu"].string() if "imu" in fields else "",
        sensor=sensor,
        wrenches=tuple(item.string() for item in fields["wrenches"].items()) if "wrenches" in fields else (),
        **numbers,
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
    names = ("rate", "horizon", "lead", "acceleration", "braking", "watchdog", "clock", "state_age", "dead_man")
    timing = BridgeTiming(**_numbers(node, names, above=0.0))
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


def _numbers(
    node: YamlNode | None, names: tuple[str, ...], *, lowest: float = 0.0, above: float = float("-inf")
) -> dict[str, float]:
    if node is None:
        return {}
    return {name: value.number(lowest, above) for name, value in node.mapping(names).items()}
