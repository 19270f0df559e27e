# SPDX-License-Identifier: Apache-2.0
"""A robot: its description, its Pinocchio models, and what is known of it beyond the URDF."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_model.actuator import DEFAULT_PEAK_TIME, Actuator, Spring, default_gains
from humanoid_model.coal_geometry import lowest_point
from humanoid_model.contact import ContactLocation
from humanoid_model.description import Mesh, Mimic, RobotDescription
from humanoid_model.errors import InputError, RobotError
from humanoid_model.files import PACKAGE_REMEDY, check_size, find_resource, list_resources, resolve_mesh_path
from humanoid_model.loop_closure import LoopClosure
from humanoid_model.pinocchio_model import AppendedRobot, append_to_model
from humanoid_model.robot_file import RobotFile, named_urdf, read_robot_file
from humanoid_model.sensor import Noise, Sensor
from humanoid_model.sole import Sole
from humanoid_model.urdf import read_urdf

#: Velocity coordinates beyond which a robot is refused: Pinocchio's data grow with their cube, here to 2 GB.
_MAX_COORDINATES = 300


@dataclass(frozen=True)
class Limits:
    """Limits in the order of the model's coordinates; infinite where there are none.

    Attributes:
        lower: (nq,) lowest positions.
        upper: (nq,) highest positions.
        velocity: (nv,) largest speeds.
        effort: (nv,) largest efforts.
    """

    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray


@dataclass(frozen=True, eq=False)
class Robot:
    """A robot ready for kinematics, dynamics, planning and simulation.

    Attributes:
        name: of the robot, from the URDF.
        description: links and joints.
        model: Pinocchio model; ``armature`` holds the actuators'.
        collision_model: collision geometries, without pairs.
        visual_model: visual geometries.
        parts: where joints and links are in ``model``.
        floating_base: whether the root moves freely in the world.
        base_joint: model joint of the free base, None for a robot fixed to the world.
        ball_joints: by name, the three URDF joints that a ball joint takes the place of.
        joint_names: movable joints without the base, in model order.
        postures: (nq,) by name; ``zero`` is always there. The base is placed so that the lowest point of the
            support contacts (of the collision shapes when there are none) is on z = 0.
        contacts: contact locations by name.
        limits: in model order.
        actuators: by joint name (of ``joint_names``).
        springs: passive joints' springs by joint name.
        mimics: joints that follow others; they keep a coordinate of their own, and postures respect them.
        sensors: by name.
        encoders: noise of measured joint positions and velocities, by URDF joint and quantity.
        limbs: joint names by limb.
        approximate: what is approximate about the robot, None when nothing is said to be.
        disabled_collisions: pairs of links that never touch each other.
        loops: joints that close loops, cut out of the tree.
        soles: deformable soles by the contact location that they are glued to.
    """

    name: str
    description: RobotDescription
    model: pin.Model
    collision_model: pin.GeometryModel
    visual_model: pin.GeometryModel
    parts: AppendedRobot
    floating_base: bool
    base_joint: int | None
    ball_joints: Mapping[str, tuple[str, ...]]
    joint_names: tuple[str, ...]
    postures: Mapping[str, np.ndarray]
    contacts: Mapping[str, ContactLocation]
    limits: Limits
    actuators: Mapping[str, Actuator]
    springs: Mapping[str, Spring]
    mimics: Mapping[str, Mimic]
    sensors: Mapping[str, Sensor]
    encoders: Mapping[str, Mapping[str, Noise]]
    limbs: Mapping[str, tuple[str, ...]]
    approximate: str | None
    disabled_collisions: tuple[tuple[str, str], ...] = ()
    loops: tuple[LoopClosure, ...] = ()
    soles: Mapping[str, Sole] = field(default_factory=dict)

    @property
    def urdf(self) -> str:
        """Legal URDF text, as robot_description carries it."""
        return self.description.text

    @property
    def total_mass(self) -> float:
        """Mass in kg."""
        return self.description.total_mass

    @property
    def default_posture(self) -> np.ndarray:
        """(nq,) a copy of ``half_sitting`` where the robot has it, else of ``zero``."""
        return np.array(self.postures.get("half_sitting", self.postures["zero"]))

    def posture(self, name: str) -> np.ndarray:
        """(nq,) a copy of a posture of the robot's file.

        Raises:
            InputError: there is none of that name.
        """
        if name not in self.postures:
            raise InputError(
                f"the robot '{self.name}' has no posture '{name}'",
                element="posture",
                remedy=f"Postures are {', '.join(self.postures)}",
            )
        return np.array(self.postures[name])

    def link_placements(self, q: np.ndarray) -> dict[str, pin.SE3]:
        """Return the placement of every link in the world at a configuration (nq,)."""
        data = self.model.createData()
        pin.forwardKinematics(self.model, data, q)
        return {name: data.oMi[link.joint_id] * link.placement_joint_link for name, link in self.parts.links.items()}

    def index_q(self, joint: str) -> int:
        """First index of a joint in ``q``.

        Raises:
            RobotError: unknown joint.
        """
        return int(self.model.joints[self._joint_id(joint)].idx_q)

    def index_v(self, joint: str) -> int:
        """First index of a joint in ``v``.

        Raises:
            RobotError: unknown joint.
        """
        return int(self.model.joints[self._joint_id(joint)].idx_v)

    def followed(self, joint: str) -> tuple[str, float, float]:
        """Return the joint that a joint follows in the end, with factor and offset; itself, 1, 0 if it follows none."""
        factor, offset = 1.0, 0.0
        while joint in self.mimics:
            mimic = self.mimics[joint]
            offset += factor * mimic.offset
            factor *= mimic.multiplier
            joint = mimic.joint
        return joint, factor, offset

    def _joint_id(self, joint: str) -> int:
        if joint not in self.parts.joint_ids:
            raise RobotError(
                f"unknown joint '{joint}'",
                element=f"robot '{self.name}'",
                remedy=f"Joints are {', '.join(self.joint_names)}",
            )
        return self.parts.joint_ids[joint]

    def place_base(self, q: np.ndarray, placement_world_root: pin.SE3) -> np.ndarray:
        """Return the copy of ``q`` with the root link's moving base at a place in the world.

        Args:
            q: (nq,) configuration.
            placement_world_root: of the floating base's link.

        Raises:
            RobotError: the robot is fixed to the world.
        """
        if self.base_joint is None:
            raise RobotError(
                "is fixed to the world: its base can't be placed", element=f"robot '{self.name}'"
            )
        placed = np.array(q, dtype=float)
        start = self.model.joints[self.base_joint].idx_q
        local = self.model.jointPlacements[self.base_joint].inverse() * placement_world_root
        placed[start : start + 7] = pin.SE3ToXYZQUAT(local)
        return placed

    def placement_base(self, q: np.ndarray) -> pin.SE3:
        """Place in the world of the floating base's link at ``q``.

        Raises:
            RobotError: the robot is fixed to the world.
        """
        if self.base_joint is None:
            raise RobotError("is fixed to the world", element=f"robot '{self.name}'")
        start = self.model.joints[self.base_joint].idx_q
        local = pin.XYZQUATToSE3(np.asarray(q, dtype=float)[start : start + 7])
        return self.model.jointPlacements[self.base_joint] * local


def load_robot(name_or_path: str | Path, *, floating_base: bool | None = None, geometry: bool = True) -> Robot:
    """Load a robot that comes with the stack, any URDF with the YAML of the same stem beside it (if any), or a text.

    Without a word in the YAML or here, a robot floats unless its root link is called ``world`` or has no mass
    (fixed joints considered). A URDF whose massless root carries just one floating joint floats by that joint.

    A robot whose URDF belongs to another package is a YAML alone, which names that URDF.

    Args:
        name_or_path: ``"hrp2"``, ``"bip"``, ..., the path of a URDF or YAML, also as ``package://name/path``, or a URDF
            text, which begins with "<".
        floating_base: True puts the root on a free-flyer, False fixes it to the world.
        geometry: False leaves visual and collision shapes out, so that meshes may be missing.

    Raises:
        RobotError: unknown robot, or a file that can't be used; it names file, line, element and remedy.
    """
    if isinstance(name_or_path, str) and name_or_path.lstrip().startswith("<"):
        description, file = read_urdf(name_or_path, geometry=geometry), RobotFile()
    else:
        path = _find(name_or_path)
        yaml_path = path.with_suffix(".yaml")
        if path == yaml_path:
            beside = path.with_suffix(".urdf")
            path = beside if beside.is_file() else named_urdf(path)
        description = read_urdf(path, geometry=geometry)
        file = read_robot_file(yaml_path, description) if yaml_path.is_file() else RobotFile()
    if floating_base is None:
        floating_base = file.floating_base
    return build_robot(description, file, floating_base)


def _find(name_or_path: str | Path) -> Path:
    if isinstance(name_or_path, str) and name_or_path.startswith("package://"):
        fail = lambda problem, remedy: RobotError(problem, remedy=remedy)  # noqa: E731
        found = resolve_mesh_path(name_or_path, Path.cwd(), fail)
        if found is None:
            raise RobotError(f"'{name_or_path}' not found", remedy=PACKAGE_REMEDY)
        return found
    path = Path(name_or_path)
    if path.suffix or len(path.parts) > 1 or isinstance(name_or_path, Path):
        return path
    if path.name in list_resources("urdf", (".urdf",)):
        return find_resource(f"urdf/{path.name}.urdf")
    known = list_resources("urdf", (".urdf", ".yaml"))
    if path.name not in known:
        raise RobotError(
            f"unknown robot '{name_or_path}'",
            remedy=f"Give the path of a URDF file or one of {', '.join(known)}",
        )
    return find_resource(f"urdf/{path.name}.yaml")


def build_robot(
    description: RobotDescription, file: RobotFile | None = None, floating_base: bool | None = None
) -> Robot:
    """Return the robot of a description, wherever that comes from.

    Args:
        description: links and joints.
        file: what is known beyond them.
        floating_base: as in :func:`load_robot`.

    Raises:
        RobotError: the two don't fit together, or the robot is too large.
    """
    file = RobotFile() if file is None else file
    own_base = _own_floating_joint(description)
    if own_base is not None and floating_base is False:
        raise RobotError(
            "floating_base is false, but this joint floats",
            source=description.source,
            element=f"joint '{own_base}'",
            remedy="Give that joint the type fixed, or let the base float",
        )
    floats = own_base is not None or (
        _root_mass(description) > 0 and description.root != "world"
        if floating_base is None
        else floating_base
    )
    _check_size(description, file, floats and own_base is None)
    description = _with_mesh_collision(_with_actuator_data(description, file), file.mesh_collision)
    given = _all_joints(description, file) if file.actuators is None else file.actuators
    model, collision_model, visual_model = pin.Model(), pin.GeometryModel(), pin.GeometryModel()
    model.name = description.name
    parts = append_to_model(
        model,
        collision_model,
        visual_model,
        description,
        floating_base=floats and own_base is None,
        ball_joints=file.ball_joints,
        armature={joint: values.get("armature", 0.0) for joint, values in given.items()},
    )
    base_joint = parts.base_joint if own_base is None else parts.joint_ids[own_base]
    robot = Robot(
        name=description.name,
        description=description,
        model=model,
        collision_model=collision_model,
        visual_model=visual_model,
        parts=parts,
        floating_base=floats,
        base_joint=base_joint,
        ball_joints=dict(file.ball_joints),
        joint_names=tuple(name for name in parts.joint_ids if parts.joint_ids[name] != base_joint),
        postures={},
        contacts=dict(file.contacts),
        limits=Limits(
            np.array(model.lowerPositionLimit),
            np.array(model.upperPositionLimit),
            np.array(model.velocityLimit),
            np.array(model.effortLimit),
        ),
        actuators=_actuators(model, parts, file, given),
        springs=dict(file.springs),
        mimics={name: joint.mimic for name, joint in description.joints.items() if joint.mimic},
        sensors=dict(file.sensors),
        encoders=dict(file.encoders),
        limbs=dict(file.limbs),
        approximate=file.approximate,
        disabled_collisions=file.disabled_collisions,
        loops=(*description.loops, *file.loops),
        soles=dict(file.soles),
    )
    postures: dict[str, dict[str, np.ndarray]] = {"zero": {}, **file.postures}
    return dataclasses.replace(
        robot, postures={name: _posture(robot, values) for name, values in postures.items()}
    )


def _check_size(description: RobotDescription, file: RobotFile, free_root: bool) -> None:
    def fail(problem: str, remedy: str) -> RobotError:
        return RobotError(problem, source=description.source, element=f"robot '{description.name}'", remedy=remedy)

    sizes = {"fixed": 0, "planar": 3, "floating": 6}
    count = 6 * free_root + sum(sizes.get(joint.type, 1) for joint in description.joints.values())
    if count > _MAX_COORDINATES:
        raise fail(
            f"has {count} velocity coordinates, more than {_MAX_COORDINATES}",
            "Give joints that never move the type fixed, or load the robot in parts",
        )
    check_size(len(description.loops) + len(file.loops), "loops", fail)
    links = description.links.values()
    shapes = max(sum(len(link.collisions) for link in links), sum(len(link.visuals) for link in links))
    check_size(shapes, "shapes of a robot", fail)


def _own_floating_joint(description: RobotDescription) -> str | None:
    """Return the name of the URDF's own joint between a massless root and the robot, if it floats."""
    root = description.links[description.root]
    joints = description.child_joints[root.name]
    if len(joints) == 1 and joints[0].type == "floating" and _root_mass(description) == 0:
        return joints[0].name
    return None


def _root_mass(description: RobotDescription) -> float:
    links = (description.links[name] for name in description.rigid_group(description.root))
    return sum(link.inertial.mass for link in links if link.inertial is not None)


def _all_joints(description: RobotDescription, file: RobotFile) -> dict[str, dict[str, float]]:
    """Return an actuator with default gains for each joint that moves by itself and has no spring."""
    members = {member for ball in file.ball_joints.values() for member in ball}
    own = [
        name
        for name, joint in description.joints.items()
        if joint.limit is not None and joint.mimic is None and name not in {*members, *file.springs}
    ]
    return {name: {} for name in (*own, *file.ball_joints)}


def _with_actuator_data(description: RobotDescription, file: RobotFile) -> RobotDescription:
    """Return the description with the limits and the friction that the YAML gives instead of the URDF's."""
    joints = dict(description.joints)
    for name, values in (file.actuators or {}).items():
        for member in file.ball_joints.get(name, (name,)):
            limit = joints[member].limit
            if limit is not None:
                limit = dataclasses.replace(
                    limit,
                    effort=values.get("effort", limit.effort),
                    velocity=values.get("velocity", limit.velocity),
                )
                joints[member] = dataclasses.replace(
                    joints[member],
                    limit=limit,
                    damping=values.get("viscous_friction", joints[member].damping),
                    friction=values.get("dry_friction", joints[member].friction),
                )
    return dataclasses.replace(description, joints=joints)


def _with_mesh_collision(description: RobotDescription, given: Mapping[str, str]) -> RobotDescription:
    """Return the description with what the YAML says of the links' meshes."""
    links = dict(description.links)
    for name, collision in given.items():
        collisions = tuple(
            dataclasses.replace(geometry, shape=dataclasses.replace(geometry.shape, collision=collision))
            if isinstance(geometry.shape, Mesh)
            else geometry
            for geometry in links[name].collisions
        )
        links[name] = dataclasses.replace(links[name], collisions=collisions)
    return dataclasses.replace(description, links=links)


def _actuators(
    model: pin.Model, parts: AppendedRobot, file: RobotFile, given: dict[str, dict[str, float]]
) -> dict[str, Actuator]:
    supports = {
        parts.links[contact.link].joint_id for contact in file.contacts.values() if contact.support
    }
    stiffness, damping = default_gains(model, supports)
    actuators = {}
    for name, joint_id in parts.joint_ids.items():
        if name not in given:
            continue
        values = given[name]
        joint = model.joints[joint_id]
        where = slice(joint.idx_v, joint.idx_v + joint.nv)
        actuators[name] = Actuator(
            stiffness=values.get("stiffness", float(stiffness[where].max())),
            damping=values.get("damping", float(damping[where].max())),
            effort=float(model.effortLimit[where].min()),
            velocity=float(model.velocityLimit[where].min()),
            armature=values.get("armature", 0.0),
            gear_ratio=values.get("gear_ratio", 1.0),
            viscous_friction=float(model.damping[where].max()),
            dry_friction=float(model.friction[where].max()),
            nominal_effort=values.get("nominal_effort", math.inf),
            peak_time=values.get("peak_time", DEFAULT_PEAK_TIME),
        )
    return actuators


def _posture(robot: Robot, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the configuration of a posture, its base put on the ground."""
    description, model = robot.description, robot.model
    position: dict[str, float] = {
        name: float(values[name][0]) if name in values else 0.0
        for name, joint in description.joints.items()
        if joint.limit is not None
    }
    for name, joint in description.joints.items():
        factor, offset, followed = 1.0, 0.0, joint
        while followed.mimic is not None:
            offset += factor * followed.mimic.offset
            factor *= followed.mimic.multiplier
            followed = description.joints[followed.mimic.joint]
        if joint.mimic is not None:
            position[name] = factor * position[followed.name] + offset
    q = pin.neutral(model)
    for name, joint_id in robot.parts.joint_ids.items():
        start = model.joints[joint_id].idx_q
        if name in position:
            q[start] = position[name]
        elif name in robot.ball_joints:
            q[start : start + 4] = _ball_quaternion(description, robot.ball_joints[name], position)
        elif name in values and len(values[name]) == 6:
            turn = pin.rpy.rpyToMatrix(*values[name][3:])
            q[start : start + 7] = pin.SE3ToXYZQUAT(pin.SE3(turn, values[name][:3]))
        elif name in values:
            x, y, angle = values[name]
            q[start : start + 4] = [x, y, math.cos(angle), math.sin(angle)]
    if robot.base_joint is None:
        return q
    q = robot.place_base(q, pin.SE3.Identity())
    height = -_lowest_point(robot, q)
    return robot.place_base(q, pin.SE3(np.eye(3), np.array([0.0, 0.0, height])))


def _ball_quaternion(
    description: RobotDescription, members: tuple[str, ...], position: Mapping[str, float]
) -> np.ndarray:
    """(4,) x y z w of a ball joint whose three revolute joints are at the given angles."""
    turned, at_zero = np.eye(3), np.eye(3)
    for index, name in enumerate(members):
        joint = description.joints[name]
        step = joint.placement.rotation if index else np.eye(3)
        at_zero = at_zero @ step
        turned = turned @ step @ pin.exp3(joint.axis * position[name])
    return np.asarray(pin.Quaternion(at_zero.T @ turned).normalized().coeffs())


def _lowest_point(robot: Robot, q: np.ndarray) -> float:
    """Smallest z of the support contacts, else of the collision shapes, else 0."""
    model = robot.model
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    heights = []
    for name, contact in robot.contacts.items():
        if contact.support:
            link = robot.parts.links[contact.link]
            placement = data.oMi[link.joint_id] * link.placement_joint_link
            below = np.zeros(3)
            if name in robot.soles:  # the patch's z points into the robot
                below[2] = -robot.soles[name].height
            below = contact.placement_link_patch.rotation @ below
            heights += [placement.act(vertex + below)[2] for vertex in contact.vertices_link]
    if not heights:
        heights = [
            lowest_point(item.geometry, data.oMi[item.parentJoint] * item.placement)
            for item in robot.collision_model.geometryObjects
        ]
    return float(min(heights, default=0.0))
