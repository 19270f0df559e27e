# SPDX-License-Identifier: Apache-2.0
"""Efforts that a motion asks for, by generated equations.

A motion is given by joint names; it is put in the coordinates of the generated functions, and efforts back. Models are
kept as long as their robots' files stay the same and there is room.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_codegen.dynamics.mechanism import JointKind, Mechanism
from humanoid_codegen.expression.function import evaluate
from humanoid_model import Robot, load_robot
from humanoid_model.errors import InputError
from humanoid_model.files import Shelf
from humanoid_model.joint_view import BallJoint, JointView
from humanoid_model.scene import STANDARD_GRAVITY


@dataclass
class _KeptRobot:
    """A robot, and its models by gravity and loaded links."""

    robot: Robot
    models: OrderedDict[tuple[tuple[float, ...], tuple[str, ...]], DynamicModel] = dataclasses.field(
        default_factory=OrderedDict
    )


class ModelCache:
    """The dynamic models used last; one thread at a time may ask.

    Attributes:
        size: robots kept, and models kept of each.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._robots = Shelf(size, _read)

    def model(self, robot: str, gravity: tuple[float, ...], links: tuple[str, ...] = ()) -> DynamicModel:
        """Give a robot's model, made unless it is there.

        Args:
            robot: its name, the path of its URDF, or the text.
            gravity: in the world frame [m/s^2], three numbers.
            links: links that known wrenches act on.

        Raises:
            RobotError: the robot can't be used.
        """
        kept, key = self._robots.get(robot), (gravity, links)
        if key not in kept.models:
            kept.models[key] = DynamicModel(kept.robot, gravity=gravity, wrench_links=links)
        kept.models.move_to_end(key)
        while len(kept.models) > self.size:
            kept.models.popitem(last=False)
        return kept.models[key]


def _read(name: str) -> tuple[_KeptRobot, tuple[Path, ...]]:
    robot = load_robot(name, geometry=False)
    path = Path(robot.description.source)
    return _KeptRobot(robot), (path, path.with_suffix(".yaml"))


@dataclass(frozen=True)
class GivenMotion:
    """A motion at one time.

    Attributes:
        joint_names: the n joints that aren't at rest at zero, a ball joint as its three members.
        positions: (n,) [rad] or [m].
        velocities: (n,) per second; empty: at rest.
        accelerations: (n,) per second squared; empty: steady.
        base: placement of the base link in the world; identity for a robot that is fixed, as zero below.
        base_twist: (6,) of the base link in its frame [m/s, rad/s].
        base_acceleration: (6,) rate of change of ``base_twist`` [m/s^2, rad/s^2].
    """

    joint_names: Sequence[str]
    positions: ArrayLike
    velocities: ArrayLike = ()
    accelerations: ArrayLike = ()
    base: pin.SE3 = dataclasses.field(default_factory=pin.SE3.Identity)
    base_twist: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    base_acceleration: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class KnownWrench:
    """What the surroundings exert on a link.

    Attributes:
        link: that it acts on.
        force: (3,) [N].
        torque: (3,) [N m].
        point: (3,) where the force acts, in the link frame [m].
        in_link_frame: force and torque are given in the link frame; otherwise in the world frame.
    """

    link: str
    force: ArrayLike = (0.0, 0.0, 0.0)
    torque: ArrayLike = (0.0, 0.0, 0.0)
    point: ArrayLike = (0.0, 0.0, 0.0)
    in_link_frame: bool = False


class DynamicsCoordinates:
    """Where the joints and the base of a robot are in the arguments q, v, a and the result tau of generated functions.

    A ball joint is its three members, as in joint_states; joints that follow others have no coordinates.

    Attributes:
        joint_names: of the movable joints, in the order of the answer.

    Raises:
        InputError: a joint of the robot has several coordinates and is neither its base nor a ball joint.
    """

    def __init__(self, robot: Robot, mechanism: Mechanism) -> None:
        """Look up the joints.

        Args:
            robot: the robot.
            mechanism: made of it.
        """
        self._robot = robot
        self._joints: list[JointView] = []
        self._base: tuple[slice, slice] | None = None
        own = [body for body in mechanism.bodies if body.name in mechanism.joint_names]
        for body in own:
            q, v = slice(body.first_q, body.first_q + body.nq), slice(body.first_v, body.first_v + body.nv)
            if robot.base_joint is not None and body.name == robot.model.names[robot.base_joint]:
                self._base = (q, v)
            elif body.name in robot.ball_joints:
                members = tuple(robot.ball_joints[body.name])
                self._joints.append(JointView(members, q, v, BallJoint(robot.description, members), True))
            elif body.kind in (JointKind.REVOLUTE, JointKind.PRISMATIC):
                self._joints.append(JointView((body.name,), q, v, None, True))
            else:
                raise InputError(
                    f"its {body.kind.value} joint '{body.name}' has {body.nv} coordinates",
                    element=f"robot '{robot.name}'",
                    remedy="Write it as joints of one coordinate",
                )
        self._size = (mechanism.nq, mechanism.nv)
        self.joint_names = tuple(name for joint in self._joints for name in joint.names)

    def motion(self, motion: GivenMotion) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Give the arguments q (nq,), v (nv,) and a (nv,) that a motion means.

        Raises:
            InputError: an unknown, repeated or following joint, a wrong number of values, a value that can't be used.
        """
        names, values = self._named_values(motion)
        given = dict(zip(names, zip(*values, strict=True), strict=True))
        q, v, a = np.zeros(self._size[0]), np.zeros(self._size[1]), np.zeros(self._size[1])
        for joint in self._joints:
            at, rate, change = np.array([given.get(name, (0.0, 0.0, 0.0)) for name in joint.names]).T
            q[joint.q] = joint.coordinates(at)
            v[joint.v] = joint.velocity_coordinates(at, rate)
            a[joint.v] = joint.velocity_coordinates(at, change)
            if joint.ball is not None:
                a[joint.v] += _carried_acceleration(joint.ball, at, rate)
        self._place_base(motion, q, v, a)
        return q, v, a

    def efforts(self, q: np.ndarray, tau: np.ndarray) -> list[float]:
        """Efforts about the axes of :attr:`joint_names` [N m or N] of generalised efforts (nv,) at q (nq,)."""
        return [float(value) for joint in self._joints for value in joint.efforts(q, tau)]

    def base_wrench(self, tau: np.ndarray) -> np.ndarray:
        """Force and torque on the base link in its frame, (6,) [N, N m]; zero where the base is fixed."""
        return np.zeros(6) if self._base is None else tau[self._base[1]]

    def _named_values(self, motion: GivenMotion) -> tuple[list[str], list[np.ndarray]]:
        """Joint names of a motion, and their positions, velocities and accelerations."""
        names = list(motion.joint_names)
        for i, name in enumerate(names):
            element = f"joint_names[{i}]"
            if name in self._robot.mimics:
                leader = self._robot.mimics[name].joint
                raise InputError(f"'{name}' follows '{leader}'", element=element, remedy=f"Give '{leader}' only")
            if name not in self.joint_names:
                raise InputError(
                    f"the robot '{self._robot.name}' has no joint '{name}'",
                    element=element,
                    remedy=f"Joints are {', '.join(self.joint_names)}",
                )
            if name in names[:i]:
                raise InputError(f"'{name}' comes twice", element=element, remedy="Name each joint once")
        arrays = []
        for field in ("positions", "velocities", "accelerations"):
            values = np.array(getattr(motion, field), dtype=float)
            optional = field != "positions"
            if len(values) != len(names) and not (optional and not len(values)):
                raise InputError(
                    f"has {len(values)} values for {len(names)} joint_names",
                    element=field,
                    remedy="Give one value per joint, or none" if optional else "Give one value per joint",
                )
            _check_finite(values, field)
            arrays.append(values if len(values) else np.zeros(len(names)))
        return names, arrays

    def _place_base(self, motion: GivenMotion, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
        motions = []
        for field in ("base_twist", "base_acceleration"):
            motions.append(np.asarray(getattr(motion, field), dtype=float))
            _check_finite(motions[-1], field)
        if self._base is None:
            moved = {"base": motion.base != pin.SE3.Identity(), "base_twist": motions[0].any()}
            moved["base_acceleration"] = motions[1].any()
            for field, is_moved in moved.items():
                if is_moved:
                    raise InputError(
                        f"the base of the robot '{self._robot.name}' is fixed to the world",
                        element=field,
                        remedy="Leave it at its default",
                    )
            return
        joint = self._robot.base_joint
        at, rows = self._base
        q[at] = pin.SE3ToXYZQUAT(self._robot.model.jointPlacements[joint].actInv(motion.base))
        v[rows], a[rows] = motions


def wrenches_at_origins(
    wrenches: Sequence[KnownWrench], link_names: Sequence[str], rotations: np.ndarray
) -> tuple[tuple[str, ...], np.ndarray]:
    """Wrenches as generated functions take them; several on one link are added.

    Args:
        wrenches: to convert.
        link_names: all links of the robot.
        rotations: of the links in the world, (L, 3, 3).

    Returns:
        The k links that wrenches act on, and force [N] and torque [N m] about each one's origin in world axes, (k, 6).

    Raises:
        InputError: an unknown link, or a value that is not finite.
    """
    found: dict[str, np.ndarray] = {}
    for i, wrench in enumerate(wrenches):
        if wrench.link not in link_names:
            raise InputError(
                f"there is no link '{wrench.link}'",
                element=f"wrenches[{i}].link",
                remedy=f"Links are {', '.join(link_names)}",
            )
        point, force, torque = (np.asarray(values, float) for values in (wrench.point, wrench.force, wrench.torque))
        for name, values in (("point", point), ("wrench.force", force), ("wrench.torque", torque)):
            _check_finite(values, f"wrenches[{i}].{name}")
        rotation = rotations[link_names.index(wrench.link)]
        if wrench.in_link_frame:
            force, torque = rotation @ force, rotation @ torque
        torque = torque + np.cross(rotation @ point, force)
        found[wrench.link] = found.get(wrench.link, np.zeros(6)) + np.concatenate([force, torque])
    return tuple(found), np.array(list(found.values())).reshape(-1, 6)


def _check_finite(values: np.ndarray, field: str) -> None:
    if not np.isfinite(values).all():
        raise InputError(f"is {values.tolist()}", element=field, remedy="Give finite numbers")


def _carried_acceleration(ball: BallJoint, angles: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Angular acceleration of a ball joint whose members turn steadily, in its moving frame, (3,) [rad/s^2]."""
    turning = ball.rate_matrix(angles) * rates
    # What a member turns is seen turning the other way by those after it.
    return np.cross(turning[:, 0], turning[:, 1] + turning[:, 2]) + np.cross(turning[:, 1], turning[:, 2])


@dataclass(frozen=True)
class MotionEfforts:
    """What a motion asks for.

    Attributes:
        joint_names: every joint that moves by itself, a ball joint as its three members.
        efforts: of these joints [N m] or [N].
        base_wrench: (6,) force and torque that the base link would need, in its frame [N, N m]; zero where it is fixed.
    """

    joint_names: tuple[str, ...]
    efforts: list[float]
    base_wrench: np.ndarray


def inverse_dynamics(
    robot: str,
    motion: GivenMotion,
    *,
    gravity: ArrayLike = STANDARD_GRAVITY,
    wrenches: Sequence[KnownWrench] = (),
    cache: ModelCache | None = None,
) -> MotionEfforts:
    """Efforts that a motion asks for.

    Args:
        robot: its name, the path of its URDF, or the text.
        motion: at one time.
        gravity: (3,) world frame [m/s^2].
        wrenches: that the surroundings exert on links.
        cache: where models are kept; None makes the model for this once.

    Raises:
        HumanoidError: the robot can't be used, or a value can't; the message names it.
    """
    cache = cache or ModelCache(2)
    down = tuple(np.asarray(gravity, dtype=float).tolist())
    model = cache.model(robot, down)
    coordinates = DynamicsCoordinates(model.robot, model.mechanism)
    arguments = list(coordinates.motion(motion))
    q = arguments[0]
    if wrenches:
        rotations = np.array(evaluate(model.function("kinematics"), [q.tolist()])[0], dtype=float).reshape(-1, 3, 3)
        links, at_origins = wrenches_at_origins(wrenches, [link.name for link in model.mechanism.links], rotations)
        model = cache.model(robot, down, links)
        arguments.append(at_origins.ravel())
    with np.errstate(all="ignore"):
        values = evaluate(model.function("inverse_dynamics"), [argument.tolist() for argument in arguments])
    tau = np.array(values[0], dtype=float)
    if not np.isfinite(tau).all():
        raise InputError(
            "the efforts are beyond the range of numbers", remedy="Give smaller velocities, accelerations or wrenches"
        )
    return MotionEfforts(coordinates.joint_names, coordinates.efforts(q, tau), coordinates.base_wrench(tau))
