# SPDX-License-Identifier: Apache-2.0
"""Compiled motion on the manifold against Pinocchio's."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_tree import random_state, random_tree
from numpy.testing import assert_allclose

from humanoid_model.tree.integrate import integrate
from humanoid_model.tree.kinematic_tree import KinematicTree


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("dt", [1.0, 1e-2, 1e-5, 0.0])
def test_against_pinocchio(seed: int, dt: float) -> None:
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 30)
    q, v = random_state(model, rng)
    out = np.empty(model.nq)
    integrate(KinematicTree.from_pinocchio(model), q, v, dt, out)
    expected = pin.integrate(model, q, dt * v)
    # a quaternion and its opposite are the same rotation
    assert_allclose(pin.difference(model, expected, out), 0.0, atol=1e-11)
    assert pin.isNormalized(model, out, 1e-14)


def test_unit_length_is_kept() -> None:
    model = pin.Model()
    model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "ball")
    flat = KinematicTree.from_pinocchio(model)
    q, v = pin.neutral(model), np.array([3.0, -2.0, 1.0])
    for _ in range(10000):
        out = np.empty(4)
        integrate(flat, q, v, 1e-3, out)
        q = out
    assert abs(np.linalg.norm(q) - 1.0) < 1e-15
