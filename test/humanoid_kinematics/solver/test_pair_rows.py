# SPDX-License-Identifier: Apache-2.0
"""Gaps of pairs of frames, and their rows against finite differences."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics.solver.pair_rows import PAIR, fill_pair, moving_columns, pair_rows
from humanoid_model.loop_closure import ROWS
from humanoid_model.tree.forward_kinematics import place_all
from humanoid_model.tree.kinematic_tree import KinematicTree, Placements

ALL = {
    "point": ("x", "y", "z"),
    "revolute about z": ("x", "y", "z", "rx", "ry"),
    "revolute about x": ("x", "y", "z", "ry", "rz"),
    "revolute about y": ("x", "y", "z", "rx", "rz"),
    "frame": ROWS,
    "planar": ("x", "y", "rz"),
    "universal": ("x", "y", "z", "rx"),
    "angle about y": ("ry",),
    "slider": ("y", "z", "rx", "ry", "rz"),
    "plane": ("z",),
}


class Tree:
    """Two branches of a random tree and a pair across them."""

    def __init__(self, rows, seed):
        pin.seed(seed)
        model = pin.Model()
        trunk = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "trunk")
        ends = []
        for side in "ab":
            parent = trunk
            for n, kind in enumerate([pin.JointModelRX(), pin.JointModelPZ(), pin.JointModelSpherical()]):
                parent = model.addJoint(parent, kind, pin.SE3.Random(), f"{side}{n}")
            ends.append((parent, pin.SE3.Random()))
        model.lowerPositionLimit[:], model.upperPositionLimit[:] = -1.0, 1.0
        self.model, self.ends = model, ends
        self.tree = KinematicTree.from_pinocchio(model)
        self.placed = Placements.of_size(model.njoints, model.nv)
        self.pairs = np.zeros(1, PAIR)
        fill_pair(self.pairs[0], *ends, rows)
        self.pairs["weight"] = 2.0, 0.5
        self.columns = moving_columns(self.tree, self.pairs)

    def rows(self, q):
        m = int(self.pairs["rows"].sum())
        gap, J = np.empty(m), np.full((m, self.model.nv), np.nan)
        place_all(self.tree, q, self.placed)
        pair_rows(self.pairs, *self.columns, self.placed, gap, J)
        return gap, J


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("seed", range(3))
def test_rows_are_the_derivative_of_the_gap_however_far_it_is_open(name, seed):
    case = Tree(ALL[name], seed)
    q, h = pin.randomConfiguration(case.model), 1e-6
    _, J = case.rows(q)
    for k in range(case.model.nv):
        step = np.zeros(case.model.nv)
        step[k] = h
        ahead, _ = case.rows(pin.integrate(case.model, q, step))
        behind, _ = case.rows(pin.integrate(case.model, q, -step))
        np.testing.assert_allclose(J[:, k], (ahead - behind) / (2.0 * h), atol=2e-8)


@pytest.mark.feature("002-F064")
@pytest.mark.parametrize("seed", range(3))
def test_gap_of_a_frame_is_the_rotation_vector_and_the_origin_seen_from_the_first_frame(seed):
    case = Tree(ROWS, seed)
    q = pin.randomConfiguration(case.model)
    gap, J = case.rows(q)
    data = case.model.createData()
    pin.forwardKinematics(case.model, data, q)
    a, b = (data.oMi[body] * placement for body, placement in case.ends)
    between = a.actInv(b)
    np.testing.assert_allclose(gap[:3], 2.0 * between.translation, atol=1e-13)
    np.testing.assert_allclose(gap[3:], 0.5 * pin.log3(between.rotation), atol=1e-13)
    assert (J[:, :6] == 0.0).all()  # what moves both bodies alike drops out, exactly


@pytest.mark.parametrize("free", [0, 1, 2])
@pytest.mark.parametrize("angle", [0.0, 0.4, -2.0, np.pi, 4.0])
def test_a_revolute_closure_is_closed_at_any_angle_about_its_axis(free, angle):
    case = Tree(tuple(row for row in ROWS if row != ROWS[3 + free]), 0)
    q = pin.randomConfiguration(case.model)
    data = case.model.createData()
    pin.forwardKinematics(case.model, data, q)
    (body_a, in_a), (body_b, _) = case.ends
    turned = data.oMi[body_a] * in_a * pin.SE3(pin.exp3(angle * np.eye(3)[free]), np.zeros(3))
    fill_pair(case.pairs[0], (body_a, in_a), (body_b, data.oMi[body_b].actInv(turned)),
              tuple(row for row in ROWS if row != ROWS[3 + free]))  # fmt: skip
    gap, _ = case.rows(q)
    np.testing.assert_allclose(gap, 0.0, atol=1e-12)


def test_opposite_axes_give_half_a_turn_and_finite_rows():
    model = pin.Model()
    model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "ball")
    tree, pairs = KinematicTree.from_pinocchio(model), np.zeros(1, PAIR)
    placed = Placements.of_size(2, 3)
    fill_pair(pairs[0], (0, pin.SE3.Identity()), (1, pin.SE3.Identity()), ("rx", "ry"))
    pairs["weight"] = 1.0
    columns = moving_columns(tree, pairs)
    place_all(tree, np.array([1.0, 0.0, 0.0, 0.0]), placed)
    gap, J = np.empty(2), np.empty((2, 3))
    pair_rows(pairs, *columns, placed, gap, J)
    assert np.linalg.norm(gap) == pytest.approx(np.pi)
    assert np.isfinite(J).all()
