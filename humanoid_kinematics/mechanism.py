# SPDX-License-Identifier: Apache-2.0
"""The one mechanism that every source gives: MAD, URDF with or without loops, MJCF, SDF.

A mechanism is a robot (:class:`humanoid_model.Robot`: a tree of links and joints, its Pinocchio model, and the cuts
that close its loops) and what only kinematics asks for. Simulator, planner and model generator take its ``robot``.
Everything is in metres and radians; ``length_unit`` is the unit of the file it came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_kinematics.kleinfinger_khalil import KleinfingerKhalil
from humanoid_model import Robot, RobotError
from humanoid_model.loop_closure import LoopClosure


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
