# SPDX-License-Identifier: Apache-2.0
"""A planar tree as a Pinocchio model, for cross-checks and for whatever else takes such models (section 2.30)."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.planar_body import PlanarBody
from humanoid_studies.planar_gait.mechanism.planar_tree import PlanarTree


def to_pinocchio(tree: PlanarTree) -> pin.Model:
    """Return the same tree with revolute joints about Z in the plane X, Y, gravity along -Y.

    Its coordinates are relative: the place (x, y) of a floating root, then phi_i = q_i - q_parent of each angle, in an
    order of Pinocchio's choice: :func:`relative_coordinates` converts. Each body has a frame of its name on its axis.

    Args:
        tree: to convert.

    Raises:
        InputError: rotors of joints that aren't the tree's own.

    Returns:
        The model; moments of inertia about X and Y are those about Z, which no planar motion sees.
    """
    model = pin.Model()
    model.name = "planar_tree"
    model.gravity.linear = np.array([0.0, -tree.gravity, 0.0])
    floating = not bool(tree.turning[0])
    base = 0
    if floating:
        base = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "x")
        base = model.addJoint(base, pin.JointModelPY(), pin.SE3.Identity(), "y")
    carried: dict[str | None, list[PlanarBody]] = {}
    for body in tree.bodies:
        carried.setdefault(body.parent, []).append(body)

    def append(parent: str | None, joint: int, frame: pin.SE3) -> None:
        """Add what a body carries, one branch after the other: Pinocchio's algorithms rely on that order."""
        for body in carried.get(parent, []):
            at = frame * _translation(body.origin)
            own = joint if body.welded else model.addJoint(joint, pin.JointModelRZ(), at, body.name)
            axis = at if body.welded else pin.SE3.Identity()
            centre = _translation(body.centre).translation
            model.appendBodyToJoint(own, pin.Inertia(body.mass, centre, body.inertia * np.eye(3)), axis)
            model.addBodyFrame(body.name, own, axis, 0)
            append(body.name, own, axis)

    append(None, base, pin.SE3.Identity())
    if tree.rotors.any():
        # In relative angles a rotor of a joint of the tree is a number of its own.
        S = np.linalg.inv(jacobian_of_relative(tree, model))
        seen = S.T @ tree.rotors @ S
        if np.abs(seen - np.diag(seen.diagonal())).max() > 1e-12 * np.abs(seen).max():
            raise InputError(
                "couple joints",
                element="rotors",
                remedy="Leave out those of cut joints, which Pinocchio's trees can't have",
            )
        model.armature = seen.diagonal().copy()
    return model


def relative_coordinates(tree: PlanarTree, model: pin.Model, q: ArrayLike) -> NDArray[np.float64]:
    """(nq,) coordinates of the model of :func:`to_pinocchio` at absolute angles (n,); rates convert alike."""
    return jacobian_of_relative(tree, model) @ np.asarray(q, dtype=float)


def jacobian_of_relative(tree: PlanarTree, model: pin.Model) -> NDArray[np.float64]:
    """(nv, n) constant T of phi = T q, in the model's order: M_q = T^T M_phi T and tau_q = T^T tau_phi."""
    relative = np.linalg.inv(tree.ancestors())
    rows = [tree.index(model.names[joint]) for joint in range(1, model.njoints)]
    return np.asarray(relative[rows])


def _translation(place: complex) -> pin.SE3:
    return pin.SE3(np.eye(3), np.array([place.real, place.imag, 0.0]))
