# SPDX-License-Identifier: Apache-2.0
"""Which links of a robot may touch each other.

Neighbours in the tree always overlap at their joint, and so do some links of compound joints; they are left out, as
MoveIt's set-up assistant does for its SRDF: links joined by one joint, links that overlap in the start posture,
links that overlap in nearly all random postures, and what the robot's own file names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.compiling import counted
from humanoid_model.description import HalfSpace, Mesh
from humanoid_model.robot import Robot
from humanoid_sim.detection.broad_phase import place_shapes, sweep, widest_axis
from humanoid_sim.detection.convex_pair import convex_distance
from humanoid_sim.detection.shape_table import (
    AttachedShapes,
    JointMotion,
    Nearest,
    PlacedShapes,
    Pose,
    ShapeTable,
    shape_table,
)
from humanoid_sim.detection.solids import SolidShape, solids_of

ALWAYS = 0.95
"""Links that overlap in this part of the random postures are said to overlap always."""


@dataclass(frozen=True)
class SelfCollision:
    """Pairs of links of a robot, each with the first name first in the robot's order.

    Attributes:
        links: the robot's links.
        allowed: whether two links may touch, symmetric, shape (n, n).
        adjacent: pairs on one joint or on a joint and its parent.
        start: pairs that overlap in the start posture.
        always: pairs that overlap in nearly all random postures.
        disabled: pairs that the robot's file names.
        never: pairs that overlapped in no random posture. They stay allowed: a sample is no proof.
    """

    links: tuple[str, ...]
    allowed: NDArray[np.bool_]
    adjacent: frozenset[tuple[str, str]]
    start: frozenset[tuple[str, str]]
    always: frozenset[tuple[str, str]]
    disabled: frozenset[tuple[str, str]]
    never: frozenset[tuple[str, str]]


@counted()
def count_overlaps(
    table: ShapeTable,
    link: np.ndarray,
    rotations: np.ndarray,
    origins: np.ndarray,
    boxes: np.ndarray,
    order: np.ndarray,
    candidates: np.ndarray,
    counts: np.ndarray,
) -> None:
    """Add one to the count of each pair of links that overlap at a placement.

    Args:
        table: convex shapes of the links.
        link: link of each shape, shape (n,).
        rotations: of the shapes in the world, shape (n, 3, 3).
        origins: of the shapes in the world [m], shape (n, 3).
        boxes: around the shapes [m], shape (n, 6).
        order: order along the sweep, kept from call to call, shape (n,).
        candidates: room for all pairs, shape (n (n - 1) / 2, 2).
        counts: of two links, the smaller number first, shape (l, l).
    """
    size = sweep(boxes, order, widest_axis(boxes), candidates)
    seen = np.zeros(counts.shape, dtype=np.bool_)
    nearest = Nearest(np.empty(3), np.empty(3), np.empty(3))
    for k in range(size):
        i = candidates[k, 0]
        j = candidates[k, 1]
        a = min(link[i], link[j])
        b = max(link[i], link[j])
        if a == b or seen[a, b]:
            continue
        pose_i, pose_j = Pose(rotations[i], origins[i]), Pose(rotations[j], origins[j])
        distance = convex_distance(table, i, j, pose_i, pose_j, 0.0, nearest)
        if distance <= 0.0:
            seen[a, b] = True
            counts[a, b] += 1


def find_self_collision(
    robot: Robot, q: NDArray[np.float64], *, samples: int = 300, seed: int = 0
) -> SelfCollision:
    """Find out which links of a robot may touch each other.

    For this question a mesh stands for its convex hull.

    Args:
        robot: the robot.
        q: its start posture, shape (nq,).
        samples: number of random postures within the joint limits.
        seed: of the random postures.

    Raises:
        InputError: a mesh file can't be read.
    """
    model = robot.model
    links = tuple(robot.description.links)
    entries: list[tuple[int, int, pin.SE3, SolidShape]] = []
    for number, name in enumerate(links):
        attachment = robot.parts.links[name]
        for geometry in robot.description.links[name].collisions:
            shape = geometry.shape
            if isinstance(shape, HalfSpace):
                continue
            place = attachment.placement_joint_link * geometry.placement
            hull = replace(shape, collision="hull") if isinstance(shape, Mesh) else shape
            entries += [(number, attachment.joint_id, place, solid) for solid in solids_of(hull)]
    joints = np.array([robot.parts.links[name].joint_id for name in links])
    same = joints[:, None] == joints
    parents = np.array(list(model.parents))
    below = (parents[joints][:, None] == joints) & (joints > 0)[:, None]
    adjacent = same | below | below.T
    overlaps = _Overlaps(robot, entries)
    at_start = overlaps.count([q])
    rng = np.random.default_rng(seed)
    random = overlaps.count(_random_posture(robot, rng) for _ in range(samples))
    disabled = np.zeros_like(adjacent)
    for first, second in robot.disabled_collisions:
        i, j = links.index(first), links.index(second)
        disabled[i, j] = disabled[j, i] = True
    start, always = at_start > 0, random >= ALWAYS * samples
    excluded = adjacent | start | start.T | always | always.T | disabled

    def pairs(chosen: NDArray[np.bool_]) -> frozenset[tuple[str, str]]:
        return frozenset((links[i], links[j]) for i, j in np.argwhere(np.triu(chosen, 1)))

    shaped = np.zeros(len(links), dtype=bool)
    shaped[[number for number, *_ in entries]] = True
    never = (random == 0) & ~excluded & shaped[:, None] & shaped
    return SelfCollision(
        links, ~excluded, pairs(adjacent), pairs(start), pairs(always), pairs(disabled), pairs(never)
    )


class _Overlaps:
    """Overlapping links of a robot at one posture after the other."""

    def __init__(self, robot: Robot, entries: list[tuple[int, int, pin.SE3, SolidShape]]) -> None:
        n = len(entries)
        self._model, self._data = robot.model, robot.model.createData()
        self._links = len(robot.description.links)
        self._table = shape_table([solid for *_, solid in entries])
        self._link = np.array([number for number, *_ in entries], dtype=np.int64)
        self._shapes = AttachedShapes(
            np.array([joint for _, joint, *_ in entries], dtype=np.int64),
            np.array([place.rotation for _, _, place, _ in entries]).reshape(-1, 3, 3),
            np.array([place.translation for _, _, place, _ in entries]).reshape(-1, 3),
        )
        self._order = np.arange(n)
        self._placed = PlacedShapes.of_size(n)
        self._candidates = np.zeros((n * (n - 1) // 2, 2), dtype=np.int64)

    def count(self, postures: Iterable[NDArray[np.float64]]) -> NDArray[np.int64]:
        counts: NDArray[np.int64] = np.zeros((self._links, self._links), dtype=np.int64)
        still = np.zeros((self._model.njoints, 6))
        for q in postures:
            pin.forwardKinematics(self._model, self._data, q)
            R = np.array([placement.rotation for placement in self._data.oMi])
            p = np.array([placement.translation for placement in self._data.oMi])
            place_shapes(
                self._table, 0, len(self._link), JointMotion(R, p, still), self._shapes, 0.0, 0.0, self._placed
            )
            count_overlaps(
                self._table, self._link, self._placed.rotations, self._placed.origins, self._placed.boxes,
                self._order, self._candidates, counts,
            )  # fmt: skip
        return counts


def _random_posture(robot: Robot, rng: np.random.Generator) -> NDArray[np.float64]:
    """Joint positions uniform within the limits, in a whole turn where there are none; the base stays."""
    q = np.array(pin.neutral(robot.model))
    for name in robot.joint_names:
        joint = robot.model.joints[robot.parts.joint_ids[name]]
        if joint.nq != 1:
            turn = pin.Quaternion(rng.normal(size=4)).normalized().coeffs()
            q[joint.idx_q : joint.idx_q + joint.nq] = turn if joint.nq == 4 else q[joint.idx_q : joint.idx_q + joint.nq]
            continue
        lower, upper = robot.limits.lower[joint.idx_q], robot.limits.upper[joint.idx_q]
        q[joint.idx_q] = rng.uniform(max(lower, -np.pi), min(upper, np.pi))
    return q
