# SPDX-License-Identifier: Apache-2.0
r"""All robots and bodies of a scene in one Pinocchio model, and what of them can touch what.

The simulator writes a free body as a translation followed by a ball joint: its linear velocity is in the axes of
the world. Pinocchio's free-flyer has it in the axes of the moving body, where a spinning body's linear velocity
turns all the time: explicit steps then make a thrown body faster by :math:`\omega^2\delta t^2/2` each.

Pinocchio's data grow with the cube of a model's coordinates (its derivatives of second order, which nothing here asks
for): 7 GB for a hundred free bodies in one model. What is computed of one robot is computed in its part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.description import Shape
from humanoid_model.errors import InputError, SceneError, SimulationError, did_you_mean
from humanoid_model.pinocchio_model import append_to_model
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene
from humanoid_sim.world.scene_check import check_scene


def rotation(q_base: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rotation from the body to its fixed frame, shape (3, 3), of coordinates x, y, z, qx, qy, qz, qw."""
    return np.asarray(pin.Quaternion(q_base[3:7]).matrix())


def stepped_velocity(q_base: NDArray[np.float64], twist: NDArray[np.float64]) -> NDArray[np.float64]:
    """Velocity coordinates of the simulator, shape (6,), of a body-frame twist, linear part first."""
    return np.concatenate([rotation(q_base) @ twist[:3], twist[3:]])


def body_twist(q_base: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
    """Body-frame twist, shape (6,), of the simulator's velocity coordinates."""
    return np.concatenate([rotation(q_base).T @ v[:3], v[3:]])


def body_acceleration(
    q_base: NDArray[np.float64], v: NDArray[np.float64], a: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the body-frame twist, shape (6,), of the simulator's velocity and acceleration coordinates."""
    turned = body_twist(q_base, a)
    turned[:3] -= np.cross(v[3:], body_twist(q_base, v)[:3])
    return turned


_MAX_DATA_SIZE = 4e9
"""Bytes that Pinocchio's data of a whole world may take."""


@dataclass(frozen=True)
class TreePart:
    """Joints of a world that hang together in numbers, as a model.

    Attributes:
        model: of the joints; gravity is that of the world.
        q: their part of the world's configuration.
        v: their part of the world's velocity.
        before: number of the world's joints that come before them, the universe aside.
    """

    model: pin.Model
    q: slice
    v: slice
    before: int

    @classmethod
    def of(cls, world: pin.Model, q: slice, v: slice) -> TreePart:
        """Return the joints whose coordinates are in a range.

        Args:
            world: model of everything.
            q: range of the configuration.
            v: range of the velocity.
        """
        joints = [j for j in range(1, world.njoints) if v.start <= world.joints[j].idx_v < v.stop]
        before = joints[0] - 1 if joints else 0
        if len(joints) == world.njoints - 1:
            return cls(world, q, v, 0)
        model = pin.Model()
        model.gravity = world.gravity
        for j in joints:
            parent = max(world.parents[j] - before, 0)
            new = model.addJoint(parent, world.joints[j], world.jointPlacements[j], world.names[j])
            model.appendBodyToJoint(new, world.inertias[j], pin.SE3.Identity())
        model.armature = np.array(world.armature[v])
        return cls(model, q, v, before)

    def joint(self, of_world: int) -> int:
        """Return the number in the part of a joint of the world."""
        return of_world - self.before


def whole_world_data(model: pin.Model, user: str) -> pin.Data:
    """Pinocchio's data of a whole world.

    Args:
        model: of the world.
        user: what needs them, for the message.

    Raises:
        SimulationError: they would take more memory than a simulation may have.
    """
    size = 8.0 * (4.0 * model.nv**3 + 6.0 * model.nv**2)  # four tensors of second derivatives, one of Hessians
    if size > _MAX_DATA_SIZE:
        raise SimulationError(
            f"{user}: Pinocchio's matrices of {model.nv} velocity coordinates take {1e-9 * size:.0f} GB, more than "
            f"{1e-9 * _MAX_DATA_SIZE:.0f} GB. Simulate fewer bodies, or leave {user} out"
        )
    return model.createData()


@dataclass(frozen=True)
class WorldBody:
    """A rigid body of the world: a robot's link, a free body or a fixed one.

    Attributes:
        name: ``"robot/link"`` or the body's name.
        owner: name of the robot or body that moves as one tree.
        joint: joint of the world's model that moves it, 0 for a fixed body.
        placement_joint_body: body frame in the joint frame.
        shapes: collision shapes with their placement in the body frame.
        corners: corners of the supporting contact locations (soles) in the body frame [m], shape (k, 3).
    """

    name: str
    owner: str
    joint: int
    placement_joint_body: pin.SE3
    shapes: tuple[tuple[Shape, pin.SE3], ...]
    corners: NDArray[np.float64]


@dataclass(frozen=True)
class TreeSlices:
    """Where a robot or free body is in the world's configuration and velocity.

    Attributes:
        q: its part of the configuration.
        v: its part of the velocity.
        joints: joints of the world's model by their name in the robot; empty for a free body.
        base_q: the floating base within the tree's own configuration, None where the base is fixed.
        base_v: likewise within its velocity.
    """

    q: slice
    v: slice
    joints: Mapping[str, int]
    base_q: slice | None
    base_v: slice | None

    def stepped(self, q: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the simulator's velocity coordinates of a velocity as Pinocchio's free-flyer tells it."""
        converted = v.copy()
        if self.base_q is not None and self.base_v is not None:
            converted[self.base_v] = stepped_velocity(q[self.base_q], v[self.base_v])
        return converted

    def free_flyer_velocity(self, q: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the opposite of :meth:`stepped`."""
        converted = v.copy()
        if self.base_q is not None and self.base_v is not None:
            converted[self.base_v] = body_twist(q[self.base_q], v[self.base_v])
        return converted

    def free_flyer_acceleration(
        self, q: NDArray[np.float64], v: NDArray[np.float64], a: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Acceleration as Pinocchio's free-flyer tells it, of the simulator's velocity and acceleration."""
        converted = a.copy()
        if self.base_q is not None and self.base_v is not None:
            base = self.base_v
            converted[base] = body_acceleration(q[self.base_q], v[base], a[base])
        return converted


class World:
    """A scene as one mechanical system.

    Attributes:
        scene: the scene it was made from.
        model: Pinocchio model of everything that moves; joints and frames are named ``"robot/joint"``.
        bodies: all bodies, fixed ones included, in the order of the scene.
        index: place of a body in ``bodies`` by name.
        robots: where each robot is.
        free_bodies: where each mobile body is.
        q: initial configuration, shape (nq,).
        v: initial velocity, shape (nv,).
    """

    def __init__(self, scene: Scene) -> None:
        """Append every robot and body of a scene to one model.

        Raises:
            SceneError: something in the scene can't be (:func:`~humanoid_sim.world.scene_check.check_scene`), or
                nothing in it moves.
        """
        check_scene(scene)
        self.scene = scene
        self.model = pin.Model()
        self.model.gravity.linear = np.array(scene.gravity, dtype=float)
        self.bodies: list[WorldBody] = []
        self.robots: dict[str, TreeSlices] = {}
        self.free_bodies: dict[str, TreeSlices] = {}
        configurations: list[NDArray[np.float64]] = []
        velocities: list[NDArray[np.float64]] = []
        for placed in scene.robots:
            robot: Robot = placed.robot
            appended = append_to_model(
                self.model,
                None,
                None,
                robot.description,
                prefix=f"{placed.name}/",
                placement=None if robot.floating_base else placed.placement,
                floating_base=robot.parts.base_joint is not None,
                split_floating=True,
                ball_joints=robot.ball_joints,
                armature={name: actuator.armature for name, actuator in robot.actuators.items()},
            )
            base = robot.base_joint
            start_q = 0 if base is None else robot.model.joints[base].idx_q
            start_v = 0 if base is None else robot.model.joints[base].idx_v
            self.robots[placed.name] = TreeSlices(
                appended.q_slice,
                appended.v_slice,
                appended.joint_ids,
                None if base is None else slice(start_q, start_q + 7),
                None if base is None else slice(start_v, start_v + 6),
            )
            configurations.append(np.array(placed.q))
            velocities.append(np.zeros(robot.model.nv))
            for link_name, attachment in appended.links.items():
                link = robot.description.links[link_name]
                corners = [
                    contact.vertices_link
                    for contact in robot.contacts.values()
                    if contact.link == link_name and contact.support
                ]
                self.bodies.append(
                    WorldBody(
                        f"{placed.name}/{link_name}",
                        placed.name,
                        attachment.joint_id,
                        attachment.placement_joint_link,
                        tuple((geometry.shape, geometry.placement) for geometry in link.collisions),
                        np.vstack(corners) if corners else np.zeros((0, 3)),
                    )
                )
        for body in scene.bodies:
            shapes = tuple((geometry.shape, geometry.placement) for geometry in body.geometries)
            joint, placement = 0, body.placement_world_body
            if body.simulated and not body.fixed:
                translation = self.model.addJoint(
                    0, pin.JointModelTranslation(), pin.SE3.Identity(), f"{body.name}/translation"
                )
                joint = self.model.addJoint(
                    translation, pin.JointModelSpherical(), pin.SE3.Identity(), body.name
                )
                inertia = pin.Inertia(body.mass, np.array(body.com), np.array(body.inertia))
                self.model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
                first = self.model.joints[translation]
                self.free_bodies[body.name] = TreeSlices(
                    slice(first.idx_q, first.idx_q + 7),
                    slice(first.idx_v, first.idx_v + 6),
                    {},
                    slice(0, 7),
                    slice(0, 6),
                )
                configurations.append(pin.SE3ToXYZQUAT(placement))
                velocities.append(stepped_velocity(configurations[-1], np.array(body.twist)))
                placement = pin.SE3.Identity()
            self.bodies.append(
                WorldBody(body.name, body.name, joint, placement, shapes, np.zeros((0, 3)))
            )
        self.index = {body.name: i for i, body in enumerate(self.bodies)}
        if self.model.nv == 0:
            raise SceneError(
                f"nothing moves in the scene '{scene.name}'",
                source=scene.source,
                remedy="Add a robot, or a body with a mass",
            )
        self.q = np.concatenate(configurations)
        self.v = np.concatenate(velocities)
        self._parts: dict[str, TreePart] = {}

    def part(self, owner: str) -> TreePart:
        """Return a robot or a mobile body, by its name, as a model of its own."""
        if owner not in self._parts:
            slices = self.robots[owner] if owner in self.robots else self.free_bodies[owner]
            self._parts[owner] = TreePart.of(self.model, slices.q, slices.v)
        return self._parts[owner]

    def find_body(self, name: str) -> WorldBody:
        """Return a body by its name.

        Raises:
            InputError: there is none.
        """
        if name not in self.index:
            links = ", ".join(f"{placed.name}/<link>" for placed in self.scene.robots)
            bodies = ", ".join(body.name for body in self.scene.bodies)
            known = "; ".join(part for part in (bodies, links) if part)
            raise InputError(
                f"there is no body '{name}'",
                element="body",
                remedy=f"{did_you_mean(name, self.index)}Name one of {known}",
            )
        return self.bodies[self.index[name]]

    def coordinate_name(self, k: int) -> str:
        """Return the name of the joint or body that a velocity coordinate belongs to."""
        model = self.model
        return next(str(model.names[j]) for j in range(1, model.njoints) if k < model.idx_vs[j] + model.nvs[j])
