# SPDX-License-Identifier: Apache-2.0
"""The one mechanism that every source gives: MAD, URDF with or without loops, MJCF, SDF.

A mechanism is a robot (:class:`humanoid_model.Robot`: a tree of links and joints, its Pinocchio model, and the cuts
that close its loops) and what only kinematics asks for. Simulator, planner and model generator take its ``robot``.
Everything is in metres and radians; ``length_unit`` is the unit of the file it came from.

Kleinfinger-Khalil parameters describe one joint and the body it moves in six numbers, in trees and loops alike. The
graph of a mechanism is a tree of links, closed by loops, with tools hung on (specification §3.6).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pinocchio as pin

from humanoid_model import Robot, RobotError
from humanoid_model.loop_closure import LoopClosure


@dataclass(frozen=True)
class KleinfingerKhalil:
    """Place of a joint's frame, whose z is the joint's axis, in the frame of the joint before it (specification §3.3).

    The frame is ``Rz(gamma) Tz(epsilon) Rx(alpha) Tx(d) Rz(theta) Tz(r)``. A revolute joint's variable is ``theta``, a
    prismatic joint's is ``r``; the value here is the initial one. ``gamma`` and ``epsilon`` are zero but where a body
    carries several joints.

    Attributes:
        theta: angle about z of the joint [rad].
        r: distance along z of the joint [m].
        alpha: angle about x from the z before to z of the joint [rad].
        d: distance along x from the z before to z of the joint [m].
        gamma: angle about the z before, to the x of this branch [rad].
        epsilon: distance along the z before, to the x of this branch [m].
    """

    theta: float = 0.0
    r: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    gamma: float = 0.0
    epsilon: float = 0.0

    @property
    def placement(self) -> pin.SE3:
        """Placement of the joint's frame in the frame before it, the variable included (eq. 3.9, its sign mended)."""
        cg, sg = math.cos(self.gamma), math.sin(self.gamma)
        ca, sa = math.cos(self.alpha), math.sin(self.alpha)
        ct, st = math.cos(self.theta), math.sin(self.theta)
        rotation = np.array(
            [
                [cg * ct - sg * ca * st, -cg * st - sg * ca * ct, sg * sa],
                [sg * ct + cg * ca * st, -sg * st + cg * ca * ct, -cg * sa],
                [sa * st, sa * ct, ca],
            ]
        )
        translation = np.array(
            [self.d * cg + self.r * sg * sa, self.d * sg - self.r * cg * sa, self.r * ca + self.epsilon]
        )
        return pin.SE3(rotation, translation)

    @classmethod
    def from_placement(cls, placement: pin.SE3) -> KleinfingerKhalil:
        """Return the parameters of any placement of one joint's frame in another's.

        Six numbers for six freedoms: there always are such. Where the two z are parallel, to 1e-8, ``epsilon`` is zero,
        and ``gamma`` too where they are on one line.
        """
        rotation, translation = placement.rotation, placement.translation
        x, y, z = (float(value) for value in translation)
        sine = math.hypot(rotation[0, 2], rotation[1, 2])
        if sine > 1e-8:
            alpha = math.atan2(sine, rotation[2, 2])
            gamma = math.atan2(rotation[0, 2], -rotation[1, 2])
            # The x of the branch could as well point the other way: take the smaller turn.
            if abs(gamma) > math.pi / 2:
                alpha, gamma = -alpha, gamma - math.copysign(math.pi, gamma)
            d = x * math.cos(gamma) + y * math.sin(gamma)
            r = (x * math.sin(gamma) - y * math.cos(gamma)) / math.sin(alpha)
            side = math.copysign(1.0, alpha)
            theta = math.atan2(side * rotation[2, 0], side * rotation[2, 1])
            return cls(theta, r, alpha, d, gamma, z - r * math.cos(alpha))
        d = math.hypot(x, y)
        gamma = math.atan2(y, x) if d > 1e-12 else 0.0
        if rotation[2, 2] > 0:
            return cls(math.atan2(rotation[1, 0], rotation[0, 0]) - gamma, z, 0.0, d, gamma)
        return cls(gamma - math.atan2(rotation[1, 0], rotation[0, 0]), -z, math.pi, d, gamma)

    def at_zero(self, kind: str) -> pin.SE3:
        """Return the placement with the joint's variable at zero.

        Args:
            kind: ``"revolute"`` or ``"prismatic"``.
        """
        return dataclasses.replace(self, **({"theta": 0.0} if kind == "revolute" else {"r": 0.0})).placement


@dataclass(frozen=True, eq=False)
class Tool:
    """A frame that commands move.

    Attributes:
        name: of the tool.
        link: that carries it.
        placement: of the tool's frame in the link's frame.
        devices: numbers of the input devices that may command it, the selected one first; 0 is no device.
    """

    name: str
    link: str
    placement: pin.SE3 = field(default_factory=pin.SE3.Identity)
    devices: tuple[int, ...] = ()


@dataclass(frozen=True)
class Coupling:
    """A linear law between joint positions: the sum of ``factors[joint] * q[joint]`` equals ``offset``.

    A joint that mimics another, a gear, a screw (a sliding and a turning joint), an adder of cables.

    Attributes:
        name: of the coupling.
        factors: by joint; joints of one coordinate.
        offset: rad or m, as the factors have it.
    """

    name: str
    factors: Mapping[str, float]
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class Mechanism:
    """Links and joints with their loops, and what moves them.

    Where a thing is: joint ``name`` has coordinates from ``robot.index_q(name)`` and velocities from
    ``robot.index_v(name)`` in the model's order, which is depth first in the order of the file; a revolute joint's
    coordinate is its angle, never wrapped. Link ``name`` is fixed to model joint
    ``robot.parts.links[name].joint_id``, at ``placement_joint_link``; so is every frame of the file, which is a link
    behind a fixed joint.

    Attributes:
        robot: the tree, its model and its loops; for simulator, planner and model generator too.
        initial: (nq,) posture that the file declares. Loops may be open by the rounding of its numbers.
        tools: frames that commands move.
        couplings: linear laws between joints, those of the robot's mimic joints included.
        parameters: Kleinfinger-Khalil parameters by joint, where the source gives them.
        driven: joints with a motor, None where the source doesn't say. The others are passive.
        locked: joints held still.
        length_unit: metres in a unit of length of the file.
    """

    robot: Robot
    initial: np.ndarray
    tools: tuple[Tool, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    parameters: Mapping[str, KleinfingerKhalil] = field(default_factory=dict)
    driven: tuple[str, ...] | None = None
    locked: tuple[str, ...] = ()
    length_unit: float = 1.0

    def __post_init__(self) -> None:
        """Check the names.

        Raises:
            RobotError: a joint or link that the robot doesn't have, a joint driven and locked, a coupling of a joint
                of several coordinates.
        """
        robot = self.robot
        for kind, joints in (("driven", self.driven or ()), ("locked", self.locked)):
            for joint in joints:
                self._known(joint, robot.joint_names, f"{kind} joint")
        for joint in self.locked:
            if joint in (self.driven or ()):
                raise RobotError(
                    "is driven and locked", source=robot.description.source, element=f"joint '{joint}'",
                    remedy="Keep one of the two",
                )  # fmt: skip
        for loop in self.loops:
            for link in (loop.link_a, loop.link_b):
                self._known(link, robot.parts.links, f"loop '{loop.name}', link")
        for tool in self.tools:
            self._known(tool.link, robot.parts.links, f"tool '{tool.name}', link")
        for coupling in self.couplings:
            for joint in coupling.factors:
                self._known(joint, robot.joint_names, f"coupling '{coupling.name}', joint")
                if self.model.joints[robot.parts.joint_ids[joint]].nv != 1:
                    raise RobotError(
                        f"joint '{joint}' has several coordinates", source=robot.description.source,
                        element=f"coupling '{coupling.name}'", remedy="Couple joints of one coordinate",
                    )  # fmt: skip

    def _known(self, name: str, names: Mapping[str, object] | tuple[str, ...], what: str) -> None:
        if name not in names:
            some = ", ".join([*names][:20]) + (", ..." if len(names) > 20 else "")
            raise RobotError(
                f"unknown {what} '{name}'", source=self.robot.description.source,
                element=f"mechanism '{self.name}'", remedy=f"There are {some or 'none'}",
            )  # fmt: skip

    @property
    def name(self) -> str:
        """Name of the robot."""
        return self.robot.name

    @property
    def model(self) -> pin.Model:
        """Pinocchio's model of the tree; its neutral configuration is ``pinocchio.neutral(model)``."""
        return self.robot.model

    @property
    def loops(self) -> tuple[LoopClosure, ...]:
        """Frames on two links that coincide: a point (rows x y z), an axis (all but rz) or a frame (all six)."""
        return self.robot.loops

    @property
    def passive(self) -> tuple[str, ...]:
        """Joints that no motor moves and nothing locks."""
        return tuple(name for name in self.robot.joint_names if name not in {*(self.driven or ()), *self.locked})

    @classmethod
    def from_robot(cls, robot: Robot, tools: tuple[Tool, ...] = (), couplings: tuple[Coupling, ...] = ()) -> Mechanism:
        """Return the mechanism of any robot: driven are the joints with an actuator, mimic joints are coupled.

        Args:
            robot: the robot, with its loops.
            tools: frames that commands move.
            couplings: further laws between its joints.

        Raises:
            RobotError: a tool or a coupling names what the robot doesn't have.
        """
        mimics = tuple(
            Coupling(name, {name: 1.0, mimic.joint: -mimic.multiplier}, mimic.offset)
            for name, mimic in robot.mimics.items()
        )
        driven = tuple(name for name in robot.joint_names if name in robot.actuators)
        return cls(robot, robot.default_posture, tools, mimics + couplings, driven=driven)


#: What an edge says: a link hangs on another, two coincide, a device may move one.
HIERARCHY, CLOSURE, TRACKING = "hierarchy", "closure", "tracking"


@dataclass(frozen=True)
class Edge:
    """One edge.

    Attributes:
        kind: ``HIERARCHY``, ``CLOSURE`` or ``TRACKING``.
        first: parent link, first link of a loop, or link of a tool.
        second: child link, second link of a loop, or name of the tool.
        name: of the joint, loop or tool.
    """

    kind: str
    first: str
    second: str
    name: str


class MechanismGraph:
    """Links and what joins them.

    Args:
        mechanism: any.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.root = mechanism.robot.description.root
        joints = mechanism.robot.description.joints.values()
        self.edges = (
            *(Edge(HIERARCHY, joint.parent, joint.child, joint.name) for joint in joints),
            *(Edge(CLOSURE, loop.link_a, loop.link_b, loop.name) for loop in mechanism.loops),
            *(Edge(TRACKING, tool.link, tool.name, tool.name) for tool in mechanism.tools),
        )

    @cached_property
    def _parents(self) -> dict[str, str]:
        return {edge.second: edge.first for edge in self.edges if edge.kind == HIERARCHY}

    def branch(self, link: str) -> tuple[str, ...]:
        """Return the links from one to the root, both included."""
        found = [link]
        while found[-1] != self.root:
            found.append(self._parents[found[-1]])
        return tuple(found)

    def ancestor(self, first: str, second: str) -> str:
        """Return the last link that both branches have in common; joints above it move neither end of a loop apart."""
        above = set(self.branch(first))
        return next(link for link in self.branch(second) if link in above)

    def text(self) -> str:
        """Return the tree, one link a line and deeper ones further in, with loops and tools behind their links."""
        beside: dict[str, list[str]] = {}
        children: dict[str, list[Edge]] = {}
        for edge in self.edges:
            if edge.kind == HIERARCHY:
                children.setdefault(edge.first, []).append(edge)
            elif edge.kind == CLOSURE:
                beside.setdefault(edge.first, []).append(f"= {edge.second}")
                beside.setdefault(edge.second, []).append(f"= {edge.first}")
            else:
                beside.setdefault(edge.first, []).append("<- tool" + f" {edge.name}" * (edge.name != edge.first))
        lines, stack = [], [(self.root, 0)]
        while stack:
            link, depth = stack.pop()
            lines.append("  ".join(["  " * depth + link, *beside.get(link, [])]))
            stack += [(edge.second, depth + 1) for edge in reversed(children.get(link, []))]
        return "\n".join(lines)
