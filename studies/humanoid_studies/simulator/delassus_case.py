# SPDX-License-Identifier: Apache-2.0
"""The Delassus operator of given contacts, by each method and by brute force (specification 000 §11, E5, E6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import pinocchio as pin
from numba import njit
from numpy.typing import NDArray

from humanoid_model.robot import Robot
from humanoid_model.tree.articulated_body import ArticulatedInertia, articulated_body
from humanoid_model.tree.kinematic_tree import KinematicTree
from humanoid_model.tree.tree_motion import TreeMotion, move_tree
from humanoid_sim.delassus.constraint_rows import ConstraintRows, TreeOperators, project
from humanoid_sim.delassus.operation_counts import ContactTopology, prefers_chang_khatib, topology
from humanoid_sim.delassus.recursions import chang_khatib, mark_branch, sort_branches, unit_forces, unit_wrenches

METHODS = ("unit_forces", "chang_khatib", "unit_wrenches")
"""Algorithms 3, 4 and 5 of the thesis."""


@dataclass(frozen=True)
class ContactOn:
    """Contact points of a link with the world, whose normal is the world's z.

    Attributes:
        link: name.
        points: in the link's frame [m], shape (k, 3).
    """

    link: str
    points: NDArray[np.float64]


class DelassusCase:
    """A robot in a configuration with contacts on some of its links.

    Attributes:
        topology: what the operation counts depend on.
    """

    def __init__(self, robot: Robot, q: NDArray[np.float64], contacts: Sequence[ContactOn]) -> None:
        """Move the robot there and run the articulated-body recursion, whose inertias all methods reuse.

        Args:
            robot: with a floating base.
            q: configuration, shape (nq,).
            contacts: on one or more links.
        """
        model = robot.model
        self._model, self._q = model, q
        self._flat = KinematicTree.from_pinocchio(model)
        self._motion = TreeMotion.of_size(model.njoints, model.nv)
        move_tree(self._flat, q, np.zeros(model.nv), self._motion)
        self._articulated = ArticulatedInertia.of_size(model.njoints, model.nv)
        articulated_body(
            self._flat, self._motion, np.zeros(model.nv), np.array(model.armature), np.zeros((model.njoints, 6)),
            self._articulated, np.empty(model.nv),
        )  # fmt: skip
        joints, points = [], []
        for contact in contacts:
            part = robot.parts.links[contact.link]
            R, p = self._motion.rotations[part.joint_id], self._motion.origins[part.joint_id]
            for point in contact.points:
                joints.append(part.joint_id)
                points.append(R @ part.placement_joint_link.act(point) + p)
        self._joints, self._points = np.array(joints, dtype=np.int64), np.array(points)
        self.topology: ContactTopology = topology(self._flat.joints["parent"], joints)
        n = 3 * len(joints)
        self._rows = ConstraintRows.of_size(n)
        for i, (joint, point) in enumerate(zip(joints, points, strict=True)):
            for r, direction in enumerate(_DIRECTIONS):
                self._rows.wrenches[3 * i + r] = np.concatenate([direction, np.cross(point, direction)])
                self._rows.joint_a[3 * i + r] = joint
        self._starts = np.arange(0, n + 1, 3)

    def operator(self, method: str) -> NDArray[np.float64]:
        """J M^-1 J^T by one of :data:`METHODS` [1/kg], shape (3m, 3m)."""
        return self._repeat(method, 1)

    def seconds(self, repetitions: int = 200, rounds: int = 15) -> Mapping[str, float]:
        """Return the computing time of one operator by each method [s]; they take turns, the fastest round counts."""
        best = dict.fromkeys(METHODS, np.inf)
        for _ in range(rounds):
            for method in METHODS:
                begin = perf_counter()
                self._repeat(method, repetitions)
                best[method] = min(best[method], (perf_counter() - begin) / repetitions)
        return best

    def brute_force(self) -> NDArray[np.float64]:
        """Return the same by Pinocchio's Jacobians and inertia matrix, shape (3m, 3m)."""
        model, data = self._model, self._model.createData()
        pin.computeJointJacobians(model, data, self._q)
        rows = []
        for joint, point in zip(self._joints, self._points, strict=True):
            J = pin.getJointJacobian(model, data, int(joint), pin.ReferenceFrame.WORLD)
            at_point = J[:3] - pin.skew(point) @ J[3:]
            rows += [direction @ at_point for direction in _DIRECTIONS]
        J = np.array(rows)
        pin.crba(model, data, self._q, pin.Convention.WORLD)
        M = np.triu(data.M) + np.triu(data.M, 1).T
        return np.asarray(J @ np.linalg.solve(M, J.T))

    @property
    def chosen(self) -> bool:
        """Whether a step takes Chang and Khatib's recursions for these contacts, not the new method."""
        bodies = np.unique(self._joints)
        nv = self._flat.dof_parent.size
        marks, found, length = np.zeros(nv, dtype=np.int64), np.zeros(nv, dtype=np.int64), 0
        for joint in bodies:
            length = mark_branch(self._flat, joint, marks, found, length)
        return bool(prefers_chang_khatib(self._flat, bodies, np.sort(found[:length]), marks))

    def _repeat(self, method: str, times: int) -> NDArray[np.float64]:
        """Return the operator, computed so many times."""
        n = len(self._rows.wrenches)
        W = np.full((n, n), np.nan)
        _compute(
            METHODS.index(method), times, self._flat, self._motion.S, self._articulated, self._rows, self._starts, W
        )
        return W


_DIRECTIONS = (np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))


@njit(cache=True, error_model="numpy")
def _compute(
    method: int,
    times: int,
    model: KinematicTree,
    S: np.ndarray,
    articulated: ArticulatedInertia,
    rows: ConstraintRows,
    starts: np.ndarray,
    W: np.ndarray,
) -> None:
    """Compute what a step does for its operator, for one tree."""
    nv = model.dof_parent.size
    n = W.shape[0]
    marks, found = np.zeros(nv, dtype=np.int64), np.zeros(nv, dtype=np.int64)
    place = np.full(model.trees.size, -1)
    bodies = np.empty(model.trees.size, dtype=np.int64)
    columns = np.ones(n, dtype=np.bool_)
    U, A = np.empty((nv, 6)), np.empty((nv, 6, 6))
    path = np.zeros(nv, dtype=np.int64)
    ntrees = model.trees.max() + 1
    for _ in range(times):
        if method == 0:
            unit_forces(model, S, articulated, rows, 0, n, columns, 1.0, marks, W)
            continue
        count = 0
        length = 0
        place[:] = -1
        for i in range(n):
            joint = rows.joint_a[i]
            if place[joint] < 0:
                place[joint] = count
                bodies[count] = joint
                count += 1
                length = mark_branch(model, joint, marks, found, length)
        sort_branches(found, length, marks)
        omega = np.empty((count * count, 6, 6))
        blocks = omega.reshape(count, count, 6, 6)
        if method == 1:
            chang_khatib(model, S, articulated, bodies[:count], found[:length], path, A, blocks)
        else:
            unit_wrenches(model, S, articulated, bodies[:count], found[:length], U, A, blocks)
        sizes, offsets = np.zeros(ntrees, dtype=np.int64), np.zeros(ntrees, dtype=np.int64)
        sizes[model.trees[bodies[0]]] = count
        reach = np.empty((2 * count + 1, 6, 6))
        trees = TreeOperators(model.trees, place, sizes, offsets, omega)
        project(rows, starts, 0, starts.size - 1, trees, 1.0, reach, W)
