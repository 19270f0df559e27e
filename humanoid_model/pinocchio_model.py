# SPDX-License-Identifier: Apache-2.0
"""Appending robots to a Pinocchio model, so that many robots and bodies can share one.

Joints are appended depth first in declaration order: Pinocchio's algorithms walk each subtree as one block
of velocity indices, and `pin.crba` is silently wrong for other orders.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import Geometry, Joint, Mesh, RobotDescription
from humanoid_model.errors import RobotError
from humanoid_model.inertia import spatial_inertia

#: Name of the joint between the world and a floating root link; Pinocchio's URDF reader uses the same.
ROOT_JOINT = "root_joint"


@dataclass(frozen=True)
class LinkAttachment:
    """Where a link is: the model joint that moves it, its constant placement there, its BODY frame."""

    joint_id: int
    placement_joint_link: pin.SE3
    frame_id: int


@dataclass(frozen=True)
class AppendedRobot:
    """Where a robot's parts are in the model that it was appended to.

    Attributes:
        joint_ids: model joint of each movable joint, by name without prefix; the floating base is under
            ``ROOT_JOINT``, a ball joint under its own name instead of its three members'.
        links: by link name without prefix.
        base_joint: model joint between the world and the floating root, None for a fixed root.
        q_slice: the robot's coordinates in the model's ``q``.
        v_slice: the robot's coordinates in the model's ``v``.
    """

    joint_ids: Mapping[str, int]
    links: Mapping[str, LinkAttachment]
    base_joint: int | None
    q_slice: slice
    v_slice: slice


@dataclass
class _Target:
    """The models that a robot is appended to, and what is known of it so far."""

    model: pin.Model
    collision_model: pin.GeometryModel | None
    visual_model: pin.GeometryModel | None
    description: RobotDescription
    prefix: str
    split_floating: bool
    ball_of_first: dict[str, tuple[str, tuple[Joint, Joint, Joint]]]
    joint_ids: dict[str, int] = field(default_factory=dict)
    links: dict[str, LinkAttachment] = field(default_factory=dict)


def append_to_model(
    model: pin.Model,
    collision_model: pin.GeometryModel | None,
    visual_model: pin.GeometryModel | None,
    description: RobotDescription,
    *,
    prefix: str = "",
    placement: pin.SE3 | None = None,
    floating_base: bool,
    split_floating: bool = False,
    ball_joints: Mapping[str, Sequence[str]] | None = None,
    armature: Mapping[str, float] | None = None,
) -> AppendedRobot:
    """Append a robot to a Pinocchio model and its geometry models.

    Every link becomes a BODY frame, every joint a JOINT or FIXED_JOINT frame, every collision and visual
    geometry an object named ``prefix + link + "/" + name or index``. Links without mass add nothing to the
    inertia; masses behind fixed joints are merged into the moving body. Continuous joints have one
    coordinate, the angle in rad. A mimic joint keeps a coordinate of its own.

    Args:
        model: grows by the robot's joints and frames.
        collision_model: extended by its collision geometries; the caller adds pairs. None reads no mesh.
        visual_model: grows by its visual geometries, likewise.
        description: the robot.
        prefix: put before every name, for example ``"hrp2/"``.
        placement: of the root link of a fixed robot in the world, or of the frame that a floating base's
            coordinates count from.
        floating_base: puts a free-flyer between the world and the root link.
        split_floating: writes every free-flyer as a translation followed by a ball joint. The coordinates ``q`` are the
            same; the linear velocity is then that of the origin in the axes of the joint's fixed frame instead of
            the moving body's, which time stepping needs to conserve the momentum of a spinning body.
        ball_joints: by name of the ball joint, the three revolute joints it replaces, parent first.
        armature: rotor inertia seen at the joint, kg m^2 or kg, by joint name.

    Raises:
        RobotError: a name is taken already, a ball joint can't be made of its joints, a mesh can't be loaded.
    """
    balls = {
        members[0]: (name, _check_ball(description, name, members))
        for name, members in (ball_joints or {}).items()
    }
    target = _Target(
        model, collision_model, visual_model, description, prefix, split_floating, balls
    )
    first_q, first_v = model.nq, model.nv
    world = pin.SE3.Identity() if placement is None else placement
    base_joint = None
    if floating_base:
        base_joint = _add_free_flyer(target, 0, world, ROOT_JOINT)
        target.joint_ids[ROOT_JOINT] = base_joint
        frame = model.addJointFrame(base_joint, 0)
        _attach_link(target, description.root, base_joint, pin.SE3.Identity(), frame)
    else:
        _attach_link(target, description.root, 0, world, 0)
    _append_children(target, description.root)
    for name, value in (armature or {}).items():
        joint = model.joints[target.joint_ids[name]]
        model.armature[joint.idx_v : joint.idx_v + joint.nv] = value
    return AppendedRobot(
        target.joint_ids,
        {link: target.links[link] for link in description.links},
        base_joint,
        slice(first_q, model.nq),
        slice(first_v, model.nv),
    )


def _add_free_flyer(target: _Target, parent: int, placement: pin.SE3, name: str) -> int:
    """Add a free-flyer, in one joint or two; returns the joint that moves the body."""
    model = target.model
    infinite, unit = np.full(3, math.inf), np.full(4, 1.01)
    if not target.split_floating:
        bounds = np.concatenate([infinite, unit])
        efforts = np.full(6, math.inf)
        return int(
            model.addJoint(
                parent, pin.JointModelFreeFlyer(), placement, _free_name(target, name),
                efforts, efforts, -bounds, bounds,
            )
        )  # fmt: skip
    translation = model.addJoint(
        parent, pin.JointModelTranslation(), placement, _free_name(target, f"{name}/translation"),
        infinite, infinite, -infinite, infinite,
    )  # fmt: skip
    return int(
        model.addJoint(
            translation, pin.JointModelSpherical(), pin.SE3.Identity(), _free_name(target, name),
            infinite, infinite, -unit, unit,
        )
    )  # fmt: skip


def _append_children(target: _Target, root: str) -> None:
    # A stack instead of recursion: chains of hundreds of links are legal.
    stack = list(reversed(target.description.child_joints[root]))
    while stack:
        joint = stack.pop()
        last = _append_joint(target, joint)
        stack.extend(reversed(target.description.child_joints[last]))


def _append_joint(target: _Target, joint: Joint) -> str:
    """Append one joint with its child link; returns the link to go on from."""
    model = target.model
    parent = target.links[joint.parent]
    placement = parent.placement_joint_link * joint.placement
    if joint.type == "fixed":
        name = target.prefix + joint.name
        frame = model.addFrame(
            pin.Frame(name, parent.joint_id, parent.frame_id, placement, pin.FrameType.FIXED_JOINT)
        )
        _attach_link(target, joint.child, parent.joint_id, placement, frame)
        return joint.child
    if joint.name in target.ball_of_first:
        return _append_ball(target, joint, parent, placement)
    # Pinocchio's planar joint moves in its xy plane; turn z onto the axis and the link back.
    turn = pin.SE3.Identity()
    if joint.type == "planar":
        turn.rotation = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), joint.axis).matrix()
    if joint.type == "floating":
        joint_id = _add_free_flyer(target, parent.joint_id, placement, joint.name)
    else:
        joint_model, effort, velocity, lower, upper = _joint_model(joint)
        joint_id = model.addJoint(
            parent.joint_id, joint_model, placement * turn, _free_name(target, joint.name),
            effort, velocity, lower, upper,
        )  # fmt: skip
    idx_v, nv = model.joints[joint_id].idx_v, model.joints[joint_id].nv
    _set_friction(model, slice(idx_v, idx_v + nv), [joint] * nv)
    target.joint_ids[joint.name] = joint_id
    frame = model.addJointFrame(joint_id, parent.frame_id)
    _attach_link(target, joint.child, joint_id, turn.inverse(), frame)
    return joint.child


def _append_ball(target: _Target, first: Joint, parent: LinkAttachment, placement: pin.SE3) -> str:
    model = target.model
    name, members = target.ball_of_first[first.name]
    for member in members[1:]:
        placement = placement * member.placement
    limits = [member.limit for member in members if member.limit is not None]
    bound = np.full(4, 1.01)
    joint_id = model.addJoint(
        parent.joint_id, pin.JointModelSpherical(), placement, _free_name(target, name),
        np.array([limit.effort for limit in limits]), np.array([limit.velocity for limit in limits]),
        -bound, bound,
    )  # fmt: skip
    idx_v = model.joints[joint_id].idx_v
    _set_friction(model, slice(idx_v, idx_v + 3), members)
    target.joint_ids[name] = joint_id
    frame = model.addJointFrame(joint_id, parent.frame_id)
    # The two links inside the ball have no place of their own any more; they ride with the last one.
    for member in members:
        _attach_link(target, member.child, joint_id, pin.SE3.Identity(), frame)
    return members[-1].child


def _set_friction(model: pin.Model, where: slice, joints: Sequence[Joint]) -> None:
    dry = np.array([joint.friction for joint in joints])
    model.damping[where] = [joint.damping for joint in joints]
    model.friction[where] = dry
    if hasattr(model, "lowerDryFrictionLimit"):  # from Pinocchio 4 on the two signs are apart
        model.lowerDryFrictionLimit[where] = -dry


def _joint_model(
    joint: Joint,
) -> tuple[pin.JointModel, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pinocchio joint with effort and velocity limits (nv) and lower and upper positions (nq)."""
    if joint.limit is None:
        free = np.full(3, math.inf)
        bounds = np.array([math.inf, math.inf, 1.01, 1.01])
        return pin.JointModelPlanar(), free, free, -bounds, bounds
    limit = joint.limit
    arrays = [
        np.array([value]) for value in (limit.effort, limit.velocity, limit.lower, limit.upper)
    ]
    aligned = np.flatnonzero(joint.axis == 1.0)
    if joint.type == "prismatic":
        kinds = (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ)
        unaligned = pin.JointModelPrismaticUnaligned
    else:
        kinds = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)
        unaligned = pin.JointModelRevoluteUnaligned
    kind = kinds[aligned[0]]() if len(aligned) else unaligned(np.array(joint.axis))
    return kind, arrays[0], arrays[1], arrays[2], arrays[3]


def _attach_link(
    target: _Target, link_name: str, joint_id: int, placement: pin.SE3, parent_frame: int
) -> None:
    model = target.model
    link = target.description.links[link_name]
    name = target.prefix + link_name
    if model.existFrame(name, pin.FrameType.BODY):
        raise RobotError(
            f"link '{name}' is in the model already",
            source=target.description.source,
            remedy="Give each robot of a scene its own name",
        )
    frame = model.addFrame(pin.Frame(name, joint_id, parent_frame, placement, pin.FrameType.BODY))
    if link.inertial is not None:
        com = link.inertial.placement_link_com
        inertia = com.rotation @ link.inertial.inertia @ com.rotation.T
        body = spatial_inertia(link.inertial.mass, com.translation, inertia)
        model.appendBodyToJoint(joint_id, body, placement)
    target.links[link_name] = LinkAttachment(joint_id, placement, frame)
    for geometries, geometry_model in (
        (link.collisions, target.collision_model),
        (link.visuals, target.visual_model),
    ):
        if geometry_model is None:
            continue
        for index, geometry in enumerate(geometries):
            label = f"{name}/{geometry.name or index}"
            if geometry_model.existGeometryName(label):
                label = f"{name}/{index}"
            geometry_model.addGeometryObject(
                geometry_object(label, geometry, joint_id, frame, placement)
            )


def geometry_object(
    name: str, geometry: Geometry, joint_id: int, frame_id: int, placement_joint_body: pin.SE3
) -> pin.GeometryObject:
    """Pinocchio's geometry object of a geometry.

    Args:
        name: name of the object.
        geometry: shape, place in its link or body, colour.
        joint_id: model joint that moves it.
        frame_id: model frame of its link or body.
        placement_joint_body: link or body frame in the joint frame.

    Raises:
        InputError: a mesh can't be loaded.
    """
    shape = geometry.shape
    path, scale = ("", np.ones(3))
    if isinstance(shape, Mesh):
        path, scale = str(shape.path), np.array(shape.scale)
    return pin.GeometryObject(
        name,
        joint_id,
        frame_id,
        placement_joint_body * geometry.placement,
        coal_geometry(shape),
        path,
        scale,
        True,
        np.array(geometry.colour),
    )


def _free_name(target: _Target, joint: str) -> str:
    name = target.prefix + joint
    if target.model.existJointName(name):
        raise RobotError(
            f"joint '{name}' is in the model already",
            source=target.description.source,
            remedy="Rename the joint, or give each robot of a scene its own name",
        )
    return name


def _check_ball(
    description: RobotDescription, name: str, members: Sequence[str]
) -> tuple[Joint, Joint, Joint]:
    """Return the three joints of a ball joint, after checking that they can be one."""

    def fail(problem: str) -> RobotError:
        return RobotError(
            problem,
            source=description.source,
            element=f"ball joint '{name}'",
            remedy="A ball joint takes the place of three revolute joints one after the other, with axes "
            "at right angles through one point and nothing on the two links between them",
        )

    if len(members) != 3:
        raise fail(f"has {len(members)} member joints")
    unknown = [member for member in members if member not in description.joints]
    if unknown:
        raise fail(f"names the unknown joint '{unknown[0]}'")
    joints = tuple(description.joints[member] for member in members)
    for joint in joints:
        if joint.type not in ("revolute", "continuous") or joint.mimic is not None:
            raise fail(f"joint '{joint.name}' is not a revolute joint that moves by itself")
    axes = np.zeros((3, 3))
    rotation = np.eye(3)
    for row, joint in enumerate(joints):
        if row:
            link = description.links[joint.parent]
            if joints[row - 1].child != joint.parent:
                raise fail(f"joint '{joint.name}' does not follow '{joints[row - 1].name}'")
            if len(description.child_joints[joint.parent]) > 1:
                raise fail(f"link '{link.name}' inside it carries other joints")
            if (link.inertial and link.inertial.mass) or link.visuals or link.collisions:
                raise fail(f"link '{link.name}' inside it has a mass or a shape")
            if np.abs(joint.placement.translation).max() > 1e-9:
                raise fail(f"joint '{joint.name}' is away from the one before")
            rotation = rotation @ joint.placement.rotation
        axes[row] = rotation @ joint.axis
    if np.abs(axes @ axes.T - np.eye(3)).max() > 1e-6:
        raise fail("its axes are not at right angles")
    return joints  # type: ignore[return-value]
