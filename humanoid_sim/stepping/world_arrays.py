# SPDX-License-Identifier: Apache-2.0
"""Joint servos, closed loops and pairs of bodies of a world as arrays that the step takes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fnmatch import fnmatchcase

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.actuator import default_gains
from humanoid_model.loop_closure import ROWS
from humanoid_sim.stepping.step_data import ClosureArrays, JointArrays, PairArrays
from humanoid_sim.world.world import World


def closures_of(world: World) -> ClosureArrays:
    """Return closures of a world: what of two frames on two bodies is held together."""
    loops = world.scene.closures()
    ends = [
        [
            (world.bodies[world.index[name]], placement)
            for name, placement in ((loop.link_a, loop.placement_a), (loop.link_b, loop.placement_b))
        ]
        for loop in loops
    ]
    frames = [[body.placement_joint_body * placement for body, placement in pair] for pair in ends]
    count = len(loops)
    joints = np.array([[body.joint for body, _ in pair] for pair in ends], dtype=np.int64).reshape(count, 2)
    rotations = np.array([[frame.rotation for frame in pair] for pair in frames]).reshape(count, 2, 3, 3)
    origins = np.array([[frame.translation for frame in pair] for pair in frames]).reshape(count, 2, 3)
    return ClosureArrays(
        joints[:, 0].copy(),
        joints[:, 1].copy(),
        rotations[:, 0].copy(),
        origins[:, 0].copy(),
        rotations[:, 1].copy(),
        origins[:, 1].copy(),
        np.array([[row in loop.rows for row in ROWS] for loop in loops], dtype=np.bool_).reshape(count, 6),
        np.zeros((count, 6)),
    )


def pair_table(world: World) -> PairArrays:
    """Return properties of all pairs of bodies.

    Bodies whose names match the same patterns of the scene's rules touch everything alike: they form a class. A scene
    of a thousand boxes has few classes, so that the table stays small.
    """
    patterns = sorted({pattern for rule in world.scene.rules for pattern in (rule.first, rule.second)})
    classes: dict[tuple[bool, ...], int] = {}
    members: list[str] = []
    of_body = np.zeros(len(world.bodies), dtype=np.int64)
    for i, body in enumerate(world.bodies):
        matched = tuple(fnmatchcase(body.name, pattern) for pattern in patterns)
        if matched not in classes:
            classes[matched] = len(members)
            members.append(body.name)
        of_body[i] = classes[matched]
    table = np.zeros((len(members), len(members), 6))
    for i, first in enumerate(members):
        for j, second in enumerate(members):
            pair = world.scene.pairs(first, second)
            dynamic = pair.friction if pair.dynamic_friction is None else pair.dynamic_friction
            table[i, j] = (
                pair.friction,
                dynamic,
                pair.torsional_friction,
                pair.rolling_friction,
                pair.viscous_friction,
                pair.compliance,
            )
    return PairArrays(of_body, table, np.array([int(np.any(table[:, :, 2:5] > 0.0))], dtype=np.int64))


_NO_LIMIT = 1e10
"""Larger position limits are none."""


@dataclass
class Servos:
    """Proportional-derivative servos, feed-forward efforts and passive joint properties.

    Attributes:
        q_target: target configuration of the world, shape (nq,).
        v_target: target velocity, shape (nv,).
        stiffness: position gains in force, zero for a joint in effort mode [N m/rad or N/m], shape (nv,).
        damping: velocity gains in force [N m s/rad or N s/m], shape (nv,).
        servo_stiffness: position gains of joints in position mode, shape (nv,).
        servo_damping: velocity gains of joints in position mode, shape (nv,).
        passive_damping: viscous friction of the joints, shape (nv,).
        feedforward: efforts given directly [N m or N], shape (nv,).
        wanted: those that are asked for, shape (nv,): the same array, unless actuators lag behind.
        limit: largest efforts of the actuators [N m or N], shape (nv,).
        lowest: least efforts that the actuators can give at present [N m or N], shape (nv,).
        highest: largest efforts that they can give at present [N m or N], shape (nv,).
        dry_friction: largest dry friction of the joints [N m or N], shape (nv,).
        saturated: which actuators gave -limit (-1) or +limit (1) in the last step, shape (nv,).
    """

    q_target: NDArray[np.float64]
    v_target: NDArray[np.float64]
    stiffness: NDArray[np.float64]
    damping: NDArray[np.float64]
    servo_stiffness: NDArray[np.float64]
    servo_damping: NDArray[np.float64]
    passive_damping: NDArray[np.float64]
    feedforward: NDArray[np.float64]
    wanted: NDArray[np.float64]
    limit: NDArray[np.float64]
    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]
    dry_friction: NDArray[np.float64]
    saturated: NDArray[np.int64]

    @classmethod
    def of_world(cls, world: World) -> Servos:
        """Servos with the gains of the robots' actuators, holding the initial configuration.

        A passive spring is a servo that holds its rest position without an effort limit. A joint that
        mimics another one is held at the place that the other one dictates by a stiff servo.
        """
        nv = world.model.nv
        feedforward = np.zeros(nv)
        stiffness = np.zeros(nv)
        damping = np.zeros(nv)
        limit = np.full(nv, np.inf)
        q_target = world.q.copy()
        for placed in world.scene.robots:
            robot, place = placed.robot, world.robots[placed.name]
            supports = {
                robot.parts.links[contact.link].joint_id
                for contact in robot.contacts.values()
                if contact.support
            }
            default_stiffness, default_damping = default_gains(robot.model, supports)
            for name in robot.joint_names:
                joint = world.model.joints[place.joints[name]]
                dofs = slice(joint.idx_v, joint.idx_v + joint.nv)
                if name in robot.actuators:
                    actuator = robot.actuators[name]
                    stiffness[dofs] = actuator.stiffness
                    damping[dofs] = actuator.damping
                    limit[dofs] = actuator.effort
                elif name in robot.springs:
                    spring = robot.springs[name]
                    stiffness[dofs] = spring.stiffness
                    damping[dofs] = spring.damping
                    q_target[joint.idx_q] = spring.rest
                elif name in robot.mimics:
                    own = slice(robot.index_v(name), robot.index_v(name) + joint.nv)
                    stiffness[dofs] = default_stiffness[own]
                    damping[dofs] = default_damping[own]
        return cls(
            q_target=q_target,
            v_target=np.zeros(nv),
            stiffness=stiffness,
            damping=damping,
            servo_stiffness=stiffness.copy(),
            servo_damping=damping.copy(),
            passive_damping=np.array(world.model.damping),
            feedforward=feedforward,
            wanted=feedforward,
            limit=limit,
            lowest=-limit,
            highest=limit.copy(),
            dry_friction=np.array(world.model.friction, dtype=float),
            saturated=np.zeros(nv, dtype=np.int64),
        )

    def position_mode(self, dofs: slice | NDArray[np.int64]) -> None:
        """Let the servos of some coordinates work, without feed-forward."""
        self.stiffness[dofs] = self.servo_stiffness[dofs]
        self.damping[dofs] = self.servo_damping[dofs]
        self.wanted[dofs] = 0.0

    def effort_mode(self, dofs: slice | NDArray[np.int64], efforts: NDArray[np.float64]) -> None:
        """Switch the servos of some coordinates off and give efforts directly [N m or N]."""
        self.stiffness[dofs] = 0.0
        self.damping[dofs] = 0.0
        self.wanted[dofs] = efforts

    def copy(self) -> Servos:
        """Return the same values in arrays of their own."""
        other = Servos(*(getattr(self, name).copy() for name in _NAMES))
        if self.wanted is self.feedforward:
            other.wanted = other.feedforward
        return other

    def assign(self, other: Servos) -> None:
        """Take all values of another one into the arrays that are there: the simulation's step shares them."""
        for name in _NAMES:
            getattr(self, name)[:] = getattr(other, name)

    def joint_arrays(self, world: World) -> JointArrays:
        """Return these arrays as the compiled step takes them, with the limits of the joints; shared, not copied."""
        model = world.model
        nv = model.nv
        lower, upper = np.full(nv, -np.inf), np.full(nv, np.inf)
        idx_q = np.zeros(nv, dtype=np.int64)
        for joint in model.joints[1:]:
            if joint.nq == joint.nv:  # coordinates that are numbers of their own
                for k in range(joint.nv):
                    idx_q[joint.idx_v + k] = joint.idx_q + k
                    low, high = model.lowerPositionLimit[joint.idx_q + k], model.upperPositionLimit[joint.idx_q + k]
                    if abs(low) < _NO_LIMIT:
                        lower[joint.idx_v + k] = low
                    if abs(high) < _NO_LIMIT:
                        upper[joint.idx_v + k] = high
        places, laws = _mimics(world)
        return JointArrays(
            q_target=self.q_target, v_target=self.v_target, stiffness=self.stiffness, damping=self.damping,
            passive_damping=self.passive_damping, dry_friction=self.dry_friction, feedforward=self.feedforward,
            lowest=self.lowest, highest=self.highest, saturated=self.saturated, efforts=np.zeros(nv),
            error=np.zeros(nv), own_inertia=np.zeros(nv), loads=np.zeros(nv), lower=lower, upper=upper, idx_q=idx_q,
            mimics=places, mimic_laws=laws,
        )  # fmt: skip

    def error(self, model: pin.Model, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Target minus position in the tangent space, shape (nv,); a rotation vector for a ball joint."""
        return np.asarray(pin.difference(model, q, self.q_target))


_NAMES = tuple(field.name for field in fields(Servos))


def _mimics(world: World) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return joints that follow others: both places in the configuration; factor and offset."""
    places, laws = [], []
    for placed in world.scene.robots:
        ids = world.robots[placed.name].joints
        for name, mimic in placed.robot.mimics.items():
            places.append((world.model.joints[ids[name]].idx_q, world.model.joints[ids[mimic.joint]].idx_q))
            laws.append((mimic.multiplier, mimic.offset))
    return np.array(places, dtype=np.int64).reshape(-1, 2), np.array(laws, dtype=float).reshape(-1, 2)
