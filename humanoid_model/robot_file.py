# SPDX-License-Identifier: Apache-2.0
"""Reader of the YAML beside a URDF: postures, contact locations, actuators, sensors and what is approximate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from humanoid_model.actuator import Spring
from humanoid_model.contact import ContactLocation, polygon_problem
from humanoid_model.description import MESH_COLLISIONS, Joint, RobotDescription
from humanoid_model.errors import RobotError
from humanoid_model.extensions import load_extensions
from humanoid_model.files import PACKAGE_REMEDY, check_size, resolve_mesh_path
from humanoid_model.loop_closure import CUT_KEYS, END_KEYS, LoopClosure, read_loop_closures
from humanoid_model.sensor import ENCODER_QUANTITIES, Noise, Sensor
from humanoid_model.sensor_kind import SENSOR_KINDS
from humanoid_model.sole import Sole, read_soles
from humanoid_model.yaml_node import YamlNode, read_placement, read_yaml

_KEYS = (
    "floating_base",
    "approximate",
    "ball_joints",
    "postures",
    "contacts",
    "actuators",
    "springs",
    "sensors",
    "encoders",
    "limbs",
    "mesh_collision",
    "disabled_collisions",
    "loops",
    "soles",
    "urdf",
)
_ACTUATOR_KEYS = (
    "stiffness",
    "damping",
    "effort",
    "velocity",
    "armature",
    "gear_ratio",
    "rotor_inertia",
    "motor_stiffness",
    "motor_damping",
    "viscous_friction",
    "dry_friction",
    "nominal_effort",
    "peak_time",
)
_AT_MOTOR = {
    "armature": ("rotor_inertia", "inertia", 2),
    "stiffness": ("motor_stiffness", "gain", 1),
    "damping": ("motor_damping", "gain", 1),
}
"""What may be given at the motor instead of the joint, and the power of the gear ratio between them."""
_NOISE_KEYS = ("deviation", "bias", "bias_walk", "resolution", "time_constant", "latency")
_PIXEL_NOISE_KEYS = ("deviation", "bias", "resolution")


@dataclass(frozen=True)
class RobotFile:
    """What the YAML beside a URDF says, checked against the description.

    Attributes:
        floating_base: None when the file leaves it open.
        approximate: what of the robot is approximate, None when nothing is said.
        ball_joints: by name, the three revolute joints that a ball joint takes the place of.
        postures: coordinates of each named posture by URDF joint; joints left out are at zero. One number
            for a one-coordinate joint, x y z roll pitch yaw for a floating one, x y angle for a planar one.
        contacts: contact locations by name.
        actuators: what is given of each actuator, by joint; None when the file has no ``actuators``.
        springs: passive joints' springs by joint.
        sensors: by name.
        encoders: noise of the joints' measured positions and velocities, by URDF joint and quantity.
        limbs: joint names by limb.
        mesh_collision: what the meshes of links collide as, by link.
        disabled_collisions: pairs of links that never touch each other.
        loops: joints that close loops, cut out of the tree.
        soles: deformable soles by the contact location that they are glued to.
    """

    floating_base: bool | None = None
    approximate: str | None = None
    ball_joints: dict[str, tuple[str, ...]] = field(default_factory=dict)
    postures: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    contacts: dict[str, ContactLocation] = field(default_factory=dict)
    actuators: dict[str, dict[str, float]] | None = None
    springs: dict[str, Spring] = field(default_factory=dict)
    sensors: dict[str, Sensor] = field(default_factory=dict)
    encoders: dict[str, dict[str, Noise]] = field(default_factory=dict)
    limbs: dict[str, tuple[str, ...]] = field(default_factory=dict)
    mesh_collision: dict[str, str] = field(default_factory=dict)
    disabled_collisions: tuple[tuple[str, str], ...] = ()
    loops: tuple[LoopClosure, ...] = ()
    soles: dict[str, Sole] = field(default_factory=dict)


def named_urdf(path: Path) -> Path:
    """Return URDF that a YAML names as ``urdf``, for a robot whose URDF belongs to somebody else's package.

    Args:
        path: the YAML file.

    Raises:
        RobotError: broken YAML, no ``urdf`` in it, or no file of that name; it tells how to get one.
    """
    top = read_yaml(path, RobotError)
    values = top.mapping(_KEYS)
    if "urdf" not in values:
        raise top.fail("has no 'urdf', and there is none of its name beside it", "Name the robot's URDF")
    address = values["urdf"].string()
    found = resolve_mesh_path(address, path.parent, values["urdf"].fail)
    if found is None:
        raise values["urdf"].fail(f"'{address}' not found", PACKAGE_REMEDY)
    return found


def read_robot_file(path: Path, description: RobotDescription) -> RobotFile:
    """Read the YAML beside a URDF, or the one that names it.

    Args:
        path: the YAML file.
        description: the robot it belongs to.

    Raises:
        RobotError: broken YAML, unknown key, joint or link, wrong count or kind of values.
    """
    return _Reader(read_yaml(path, RobotError), description, path.parent).read()


class _Reader:
    def __init__(self, top: YamlNode, description: RobotDescription, folder: Path) -> None:
        self.values = top.mapping(_KEYS)
        self.description = description
        self.folder = folder

    def read(self) -> RobotFile:
        values = self.values
        balls = self.read_ball_joints()
        # Names under which drives and controllers see the joints: a ball joint stands for its members.
        members = {member for ball in balls.values() for member in ball}
        self.driven = [
            name
            for name, joint in self.description.joints.items()
            if joint.limit is not None and joint.mimic is None and name not in members
        ] + list(balls)
        contacts = {key: self.read_contact(key, node) for key, node in self.section("contacts")}
        return RobotFile(
            floating_base=values["floating_base"].boolean() if "floating_base" in values else None,
            approximate=values["approximate"].string() if "approximate" in values else None,
            ball_joints=balls,
            postures=self.read_postures(),
            contacts=contacts,
            actuators=self.read_actuators() if "actuators" in values else None,
            springs={key: self.read_spring(key, node) for key, node in self.section("springs")},
            sensors={key: self.read_sensor(key, node) for key, node in self.section("sensors")},
            encoders=self.read_encoders(),
            limbs={key: self.read_limb(node) for key, node in self.section("limbs")},
            mesh_collision=self.read_mesh_collision(),
            disabled_collisions=self.read_disabled_collisions(),
            loops=self.read_loops(),
            soles=read_soles(values["soles"], contacts, self.folder) if "soles" in values else {},
        )

    def section(self, key: str) -> list[tuple[str, YamlNode]]:
        return list(self.values[key].mapping().items()) if key in self.values else []

    def read_ball_joints(self) -> dict[str, tuple[str, ...]]:
        balls: dict[str, tuple[str, ...]] = {}
        used: set[str] = set()
        for key, node in self.section("ball_joints"):
            if key in self.description.joints:
                raise node.fail("is the name of a URDF joint", "Give the ball joint a name of its own")
            items = node.items()
            if len(items) != 3:
                raise node.fail(f"holds {len(items)} joints", "Give three, parent first")
            balls[key] = tuple(self.joint(item).name for item in items)
            for item in items:
                if item.string() in used:
                    raise item.fail(f"joint '{item.string()}' is used twice", "Use each joint once")
                used.add(item.string())
        return balls

    def joint(self, node: YamlNode) -> Joint:
        name = node.string()
        if name not in self.description.joints:
            raise node.fail(f"unknown joint '{name}'", f"Joints of the URDF: {_some(self.description.joints)}")
        return self.description.joints[name]

    def driven_joint(self, node: YamlNode) -> str:
        name = node.string()
        if name not in self.driven:
            raise node.fail(f"'{name}' is no joint that moves by itself", f"Such are {_some(self.driven)}")
        return name

    def link(self, node: YamlNode) -> str:
        name = node.string()
        if name not in self.description.links:
            raise node.fail(f"unknown link '{name}'", f"Links of the URDF: {_some(self.description.links)}")
        return name

    def read_postures(self) -> dict[str, dict[str, np.ndarray]]:
        postures: dict[str, dict[str, np.ndarray]] = {}
        for name, node in self.section("postures"):
            postures[name] = {}
            for key, value in node.mapping().items():
                joint = self.description.joints.get(key)
                if joint is None:
                    raise value.fail(f"unknown joint '{key}'", f"Joints of the URDF: {_some(self.description.joints)}")
                if joint.type == "fixed":
                    raise value.fail(f"joint '{key}' is fixed", "Leave it out")
                if joint.mimic is not None:
                    raise value.fail(f"joint '{key}' mimics '{joint.mimic.joint}'", "Leave it out")
                if joint.limit is None:
                    postures[name][key] = value.numbers(6 if joint.type == "floating" else 3)
                    continue
                position = value.number()
                limit = joint.limit
                if not limit.lower - 1e-9 <= position <= limit.upper + 1e-9:
                    raise value.fail(
                        f"{position:g} is outside the joint's range {limit.lower:g} ... {limit.upper:g}",
                        "Give a position within the range",
                    )
                postures[name][key] = np.array([position])
        return postures

    def read_contact(self, name: str, node: YamlNode) -> ContactLocation:
        values = node.mapping(("link", "xyz", "rpy", "patch", "support"))
        if "link" not in values or "patch" not in values:
            raise node.fail("lacks 'link' or 'patch'", "Give both")
        patch = values["patch"].polygon()
        problem = polygon_problem(patch)
        if problem is not None:
            raise values["patch"].fail(problem, "List the corners of a convex patch counter-clockwise")
        return ContactLocation(
            name,
            self.link(values["link"]),
            read_placement(values),
            patch,
            "support" in values and values["support"].boolean(),
        )

    def read_actuators(self) -> dict[str, dict[str, float]]:
        given: dict[str, dict[str, float]] = {}
        for pattern, node in self.section("actuators"):
            matching = [joint for joint in self.driven if fnmatchcase(joint, pattern)]
            if not matching:
                raise node.fail(f"no joint that moves by itself is named '{pattern}'", f"Such are {_some(self.driven)}")
            values = {
                key: value.number(above=0.0) if key in ("gear_ratio", "peak_time") else value.number(lowest=0.0)
                for key, value in node.mapping(_ACTUATOR_KEYS).items()
            }
            for joint in matching:
                given[joint] = given.get(joint, {}) | values
                for at_joint, (at_motor, quantity, _) in _AT_MOTOR.items():
                    if at_joint in given[joint] and at_motor in given[joint]:
                        raise node.fail(
                            f"the actuator of '{joint}' has both '{at_joint}' and '{at_motor}'",
                            f"Give the {quantity} at the joint ({at_joint}) or that of the motor ({at_motor})",
                        )
        for values in given.values():
            for at_joint, (at_motor, _, power) in _AT_MOTOR.items():
                if at_motor in values:
                    values[at_joint] = values.pop(at_motor) * values.get("gear_ratio", 1.0) ** power
        return given

    def read_spring(self, name: str, node: YamlNode) -> Spring:
        if name not in self.driven:
            raise node.fail(f"'{name}' is no joint that moves by itself", f"Such are {_some(self.driven)}")
        values = node.mapping(("stiffness", "damping", "rest"))
        if "stiffness" not in values:
            raise node.fail("lacks 'stiffness'", "Give it in N m/rad or N/m")
        return Spring(
            values["stiffness"].number(lowest=0.0),
            values["damping"].number(lowest=0.0) if "damping" in values else 0.0,
            values["rest"].number() if "rest" in values else 0.0,
        )

    def read_mesh_collision(self) -> dict[str, str]:
        given: dict[str, str] = {}
        for pattern, node in self.section("mesh_collision"):
            matching = [link for link in self.description.links if fnmatchcase(link, pattern)]
            if not matching:
                raise node.fail(f"no link is named '{pattern}'", f"Links of the URDF: {_some(self.description.links)}")
            given.update(dict.fromkeys(matching, node.string(MESH_COLLISIONS)))
        return given

    def read_disabled_collisions(self) -> tuple[tuple[str, str], ...]:
        pairs = []
        for node in self.values["disabled_collisions"].items() if "disabled_collisions" in self.values else []:
            items = node.items()
            if len(items) != 2:
                raise node.fail(f"holds {len(items)} links", "Give two")
            pairs.append((self.link(items[0]), self.link(items[1])))
        return tuple(pairs)

    def read_loops(self) -> tuple[LoopClosure, ...]:
        if "loops" not in self.values:
            return ()
        loops = read_loop_closures(self.values["loops"])
        for loop, cut in zip(loops, self.values["loops"].mapping().values(), strict=True):
            ends = cut.mapping(CUT_KEYS)
            for end in ("a", "b"):
                self.link(ends[end].mapping(END_KEYS)["link"])
            if loop.link_a == loop.link_b:
                raise cut.fail(f"joins '{loop.link_a}' with itself", "Name two different links")
        return loops

    def read_limb(self, node: YamlNode) -> tuple[str, ...]:
        names: list[str] = []
        for item in node.items():
            name = self.driven_joint(item)
            if name in names:
                raise item.fail(f"joint '{name}' is listed twice", "Name each joint once")
            names.append(name)
        if not names:
            raise node.fail("holds no joint", "Name the limb's joints, or leave the limb out")
        return tuple(names)

    def read_sensor(self, name: str, node: YamlNode) -> Sensor:
        values = node.mapping(("type", "link", "xyz", "rpy", "gain", "noise", "field_of_view", "size"))
        if "type" not in values or "link" not in values:
            raise node.fail("lacks 'type' or 'link'", "Give both")
        if values["type"].string() not in SENSOR_KINDS:
            load_extensions("sensors")
        kind, link = values["type"].string(SENSOR_KINDS), self.link(values["link"])
        if kind == "force_torque" and link in self.description.rigid_group(self.description.root):
            raise values["link"].fail(f"no joint carries the link '{link}'", "Name a link that a joint moves")
        gain = np.eye(6)
        if "gain" in values:
            if kind != "force_torque":
                raise values["gain"].fail(f"a sensor of type {kind} has no gain", "Leave it out")
            gain = self.read_gain(values["gain"])
        for key in ("field_of_view", "size"):
            if key in values and kind != "camera":
                raise values[key].fail(f"a sensor of type {kind} has no {key}", "Leave it out")
        noise: dict[str, Noise] = {}
        if "noise" in values:
            axes, keys = SENSOR_KINDS[kind].quantities, _PIXEL_NOISE_KEYS if kind == "camera" else _NOISE_KEYS
            given = values["noise"].mapping(tuple(axes))
            noise = {key: self.read_noise(value, axes[key], keys) for key, value in given.items()}
        sensor = Sensor(name, kind, link, read_placement(values), gain, noise)
        if "field_of_view" in values:
            angle = values["field_of_view"].number()
            if not 0.0 < angle < np.pi:
                raise values["field_of_view"].fail(f"is {angle:g}", "Give an angle between 0 and pi [rad]")
            sensor = replace(sensor, field_of_view=angle)
        if "size" in values:
            width, height = values["size"].numbers(2).tolist()
            if min(width, height) < 1 or width != int(width) or height != int(height):
                raise values["size"].fail(f"is {width:g} x {height:g}", "Give whole numbers of pixels, width first")
            check_size(width * height, "pixels", values["size"].fail)
            sensor = replace(sensor, size=(int(width), int(height)))
        return sensor

    def read_gain(self, node: YamlNode) -> np.ndarray:
        rows = node.items()
        if len(rows) != 6:
            raise node.fail(f"holds {len(rows)} rows", "Give six rows of six numbers, the force first")
        gain = np.array([row.numbers(6) for row in rows])
        if np.linalg.cond(gain) > 1e12:
            raise node.fail("is singular", "Give a matrix that can be inverted")
        return gain

    def read_noise(self, node: YamlNode, axes: int, keys: tuple[str, ...] = _NOISE_KEYS) -> Noise:
        values = node.mapping(keys)
        numbers: dict[str, float] = {}
        for key in ("deviation", "bias_walk", "resolution", "time_constant"):
            if key in values:
                numbers[key] = values[key].number(lowest=0.0)
        bias: float | tuple[float, ...] = 0.0
        if "bias" in values:
            each = values["bias"].is_list
            bias = tuple(values["bias"].numbers(axes).tolist()) if each else values["bias"].number()
        latency = values["latency"].number(lowest=0.0) if "latency" in values else 0.0
        if latency != int(latency):
            raise values["latency"].fail(f"is {latency:g}", "Give a whole number of samples")
        check_size(latency, "samples of delay", values.get("latency", node).fail)
        return Noise(bias=bias, latency=int(latency), **numbers)

    def read_encoders(self) -> dict[str, dict[str, Noise]]:
        movable = [name for name, joint in self.description.joints.items() if joint.limit is not None]
        encoders: dict[str, dict[str, Noise]] = {}
        for pattern, node in self.section("encoders"):
            matching = [joint for joint in movable if fnmatchcase(joint, pattern)]
            if not matching:
                raise node.fail(f"no joint of one coordinate is named '{pattern}'", f"Such are {_some(movable)}")
            noises = {key: self.read_noise(value, 1) for key, value in node.mapping(ENCODER_QUANTITIES).items()}
            for joint in matching:
                encoders[joint] = encoders.get(joint, {}) | noises
        return encoders


def _some(names: Mapping[str, object] | list[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:40]) + (", ..." if len(listed) > 40 else "")
