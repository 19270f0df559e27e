# SPDX-License-Identifier: Apache-2.0
"""All ways to the Delassus operator against J M^-1 J^T with Pinocchio's matrices, on random trees (oracle N4)."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_tree import random_state, random_tree
from numpy.testing import assert_allclose

from humanoid_model.tree.articulated_body import ArticulatedInertia, articulated_body
from humanoid_model.tree.kinematic_tree import KinematicTree
from humanoid_model.tree.tree_motion import TreeMotion, move_tree
from humanoid_sim.delassus.constraint_rows import ConstraintRows, TreeOperators, project
from humanoid_sim.delassus.recursions import chang_khatib, mark_branch, sort_branches, unit_forces, unit_wrenches

BLOCKS = 7


class Tree:
    """Random trees in one model, with random constraint rows and the dense matrices of Pinocchio."""

    def __init__(self, seed: int, trees: int = 1) -> None:
        rng = np.random.default_rng(seed)
        model = random_tree(rng, int(rng.integers(3, 20)))
        for _ in range(trees - 1):
            random_tree(rng, int(rng.integers(2, 6)), model)
        self.model = model
        q, v = random_state(model, rng)
        self.flat = KinematicTree.from_pinocchio(model)
        self.motion = TreeMotion.of_size(model.njoints, model.nv)
        move_tree(self.flat, q, v, self.motion)
        self.articulated = ArticulatedInertia.of_size(model.njoints, model.nv)
        own = rng.uniform(0.0, 0.3, model.nv)
        articulated_body(
            self.flat, self.motion, np.zeros(model.nv), own, np.zeros((model.njoints, 6)), self.articulated,
            np.empty(model.nv),
        )  # fmt: skip
        M = np.array(pin.crba(model, model.createData(), q, pin.Convention.WORLD))
        self.M = np.triu(M) + np.triu(M, 1).T + np.diag(own)
        self.rng = rng

    def rows(self, *, efforts: bool) -> tuple[ConstraintRows, np.ndarray, np.ndarray]:
        """Rows in blocks of one to three, where each block begins, and the dense Jacobian."""
        rng, flat = self.rng, self.flat
        rows = ConstraintRows.of_size(3 * BLOCKS)
        starts = [0]
        for _ in range(BLOCKS):
            begin = starts[-1]
            if efforts and rng.random() < 0.4:
                rows.dofs[begin] = int(rng.integers(self.model.nv))
                rows.wrenches[begin, 0] = rng.choice([-1.0, 1.0])
                starts.append(begin + 1)
                continue
            size = int(rng.integers(1, 4))
            a = int(rng.integers(1, self.model.njoints))
            b = int(rng.integers(0, self.model.njoints))
            for r in range(begin, begin + size):
                rows.wrenches[r] = rng.normal(size=6)
                rows.joint_a[r], rows.joint_b[r] = a, b if b != a else 0
            starts.append(begin + size)
        J = np.zeros((starts[-1], self.model.nv))
        for r in range(starts[-1]):
            if rows.dofs[r] >= 0:
                J[r, rows.dofs[r]] = rows.wrenches[r, 0]
                continue
            for sign, joint in ((1.0, rows.joint_a[r]), (-1.0, rows.joint_b[r])):
                k = flat.joints["last_dof"][joint]
                while k >= 0:
                    J[r, k] += sign * rows.wrenches[r] @ self.motion.S[k]
                    k = flat.dof_parent[k]
        return rows, np.array(starts), J

    def operators(self, rows: ConstraintRows, count: int, method) -> tuple[np.ndarray, ...]:
        """Operators of all trees by one of the body-level methods, as :func:`project` takes them."""
        flat = self.flat
        ntrees = int(flat.trees.max()) + 1
        place = np.full(self.model.njoints, -1)
        bodies: list[list[int]] = [[] for _ in range(ntrees)]
        for r in range(count):
            for joint in (int(rows.joint_a[r]), int(rows.joint_b[r])):
                if joint > 0 and place[joint] < 0 and rows.dofs[r] < 0:
                    place[joint] = len(bodies[flat.trees[joint]])
                    bodies[flat.trees[joint]].append(joint)
        sizes = np.array([len(own) for own in bodies])
        offsets = np.concatenate([[0], np.cumsum(sizes**2)[:-1]])
        omega = np.full((int((sizes**2).sum()) + 1, 6, 6), np.nan)
        marks, found = np.zeros(self.model.nv, dtype=np.int64), np.zeros(self.model.nv, dtype=np.int64)
        for tree, own in enumerate(bodies):
            length = 0
            for joint in own:
                length = mark_branch(flat, joint, marks, found, length)
            sort_branches(found, length, marks)
            assert not marks.any()
            size = len(own)
            blocks = omega[offsets[tree] : offsets[tree] + size * size].reshape(size, size, 6, 6)
            method(self, np.array(own, dtype=np.int64), found[:length].copy(), blocks)
        return place, sizes, offsets, omega


def by_unit_wrenches(tree: Tree, bodies: np.ndarray, branch: np.ndarray, omega: np.ndarray) -> None:
    nv = tree.model.nv
    U, A = np.empty((nv, 6)), np.empty((nv, 6, 6))
    unit_wrenches(tree.flat, tree.motion.S, tree.articulated, bodies, branch, U, A, omega)


def by_chang_khatib(tree: Tree, bodies: np.ndarray, branch: np.ndarray, omega: np.ndarray) -> None:
    nv = tree.model.nv
    path, diagonal = np.zeros(nv, dtype=np.int64), np.empty((nv, 6, 6))
    chang_khatib(tree.flat, tree.motion.S, tree.articulated, bodies, branch, path, diagonal, omega)


@pytest.mark.feature("000-F090", "000-F091")
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("trees", [1, 3])
def test_unit_forces(seed: int, trees: int) -> None:
    tree = Tree(seed, trees)
    rows, starts, J = tree.rows(efforts=True)
    n = len(J)
    expected = 1e-3 * J @ np.linalg.solve(tree.M, J.T)
    W = np.full((n, n), np.nan)
    marks = np.zeros(tree.model.nv, dtype=np.int64)
    unit_forces(
        tree.flat, tree.motion.S, tree.articulated, rows, 0, n, np.ones(n, dtype=np.bool_), 1e-3, marks, W
    )
    assert_allclose(W, expected, atol=1e-10 * np.abs(expected).max())
    assert starts[-1] == n


@pytest.mark.feature("000-F092", "000-F093", "000-F095", "000-F096")
@pytest.mark.parametrize("method", [by_unit_wrenches, by_chang_khatib])
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("trees", [1, 3])
def test_body_level_methods(method, seed: int, trees: int) -> None:
    tree = Tree(seed, trees)
    rows, starts, J = tree.rows(efforts=False)
    n = len(J)
    expected = 1e-3 * J @ np.linalg.solve(tree.M, J.T)
    place, sizes, offsets, omega = tree.operators(rows, n, method)
    for size, offset in zip(sizes, offsets, strict=True):
        blocks = omega[offset : offset + size * size].reshape(size, size, 6, 6)
        assert_allclose(blocks, blocks.transpose(1, 0, 3, 2), atol=1e-10 * max(np.abs(blocks).max(initial=0.0), 1.0))
    W = np.full((n, n), np.nan)
    reach = np.empty((2 * int(sizes.max()) + 1, 6, 6))
    project(rows, starts, 0, BLOCKS, TreeOperators(tree.flat.trees, place, sizes, offsets, omega), 1e-3, reach, W)
    assert_allclose(W, expected, atol=1e-10 * np.abs(expected).max())


def test_efforts_and_wrenches_together() -> None:
    """Rows of efforts by unit forces, the rest by the bodies."""
    for seed in range(10):
        tree = Tree(seed, 2)
        rows, starts, J = tree.rows(efforts=True)
        n = len(J)
        expected = J @ np.linalg.solve(tree.M, J.T)
        place, sizes, offsets, omega = tree.operators(rows, n, by_chang_khatib)
        W = np.full((n, n), np.nan)
        reach = np.empty((2 * int(sizes.max()) + 1, 6, 6))
        project(rows, starts, 0, BLOCKS, TreeOperators(tree.flat.trees, place, sizes, offsets, omega), 1.0, reach, W)
        marks = np.zeros(tree.model.nv, dtype=np.int64)
        unit_forces(
            tree.flat, tree.motion.S, tree.articulated, rows, 0, n, rows.dofs[:n] >= 0, 1.0, marks, W
        )
        assert_allclose(W, expected, atol=1e-10 * np.abs(expected).max())


def test_operator_of_a_group_that_starts_in_the_middle() -> None:
    tree = Tree(3)
    rows, starts, J = tree.rows(efforts=False)
    place, sizes, offsets, omega = tree.operators(rows, len(J), by_unit_wrenches)
    begin = starts[2]
    n = len(J) - begin
    W = np.full((n, n), np.nan)
    reach = np.empty((2 * int(sizes.max()) + 1, 6, 6))
    project(rows, starts, 2, BLOCKS, TreeOperators(tree.flat.trees, place, sizes, offsets, omega), 1.0, reach, W)
    expected = (J @ np.linalg.solve(tree.M, J.T))[begin:, begin:]
    assert_allclose(W, expected, atol=1e-10 * np.abs(expected).max())


class CountedRows(np.ndarray):
    """An operator that counts the entries of the parts of its rows that are computed."""

    entries = 0

    def __getitem__(self, key):
        if isinstance(key, tuple) and isinstance(key[1], slice):
            CountedRows.entries += key[1].stop - key[1].start
        return super().__getitem__(key)


@pytest.mark.feature("000-F095")
def test_only_the_upper_triangle_is_projected() -> None:
    """m (m + 1) / 2 products of 3 x 3 blocks instead of m^2: the rest is mirrored (equation 3.45, F095)."""
    tree = Tree(3)
    contacts = BLOCKS
    rows = ConstraintRows.of_size(3 * contacts)
    for c in range(contacts):  # neighbours on different bodies, which are not taken together
        rows.joint_a[3 * c : 3 * c + 3] = 1 + c % (tree.model.njoints - 1)
        rows.wrenches[3 * c : 3 * c + 3] = tree.rng.normal(size=(3, 6))
    n = 3 * contacts
    place, sizes, offsets, omega = tree.operators(rows, n, by_unit_wrenches)
    W = np.zeros((n, n)).view(CountedRows)
    CountedRows.entries = 0
    project.py_func(
        rows, np.arange(0, n + 1, 3), 0, contacts, TreeOperators(tree.flat.trees, place, sizes, offsets, omega), 1e-3,
        np.empty((2 * int(sizes.max()) + 1, 6, 6)), W,
    )  # fmt: skip
    assert CountedRows.entries == 9 * contacts * (contacts + 1) // 2
    whole = np.asarray(W)
    assert_allclose(whole, whole.T, atol=0.0)
    assert np.abs(whole).min() > 0.0
