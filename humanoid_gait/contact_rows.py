# SPDX-License-Identifier: Apache-2.0
"""Rows of a contact: where it is, how fast, how its velocity changes, and what its forces do to the link."""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np
import pinocchio as pin

from humanoid_gait.hold import Hold
from humanoid_gait.robot_model import RobotModel
from humanoid_model import InputError
from humanoid_model.arrays import Array

_SEEN = 1e-9
"""Rows of contacts that change by less than this with every coordinate constrain nothing."""


class ContactRows:
    """Kinematic rows of a hold that the robot can change: place, rates and accelerations.

    Attributes:
        hold: whose they are.
        kept: which of the three of the place and the three of the turn are rows: those that aren't zero for every
            motion of the robot, as a planar one's are across its plane, and turns about an edge or a point aren't.
    """

    def __init__(self, model: RobotModel, hold: Hold) -> None:
        """Find the rows.

        Raises:
            InputError: the robot can't move the contact at all.
        """
        self.hold, self._model = hold, model
        location, place = hold.contact.location, hold.placement
        corners = hold.corners
        origin = corners.mean(axis=0) if len(corners) < 3 else location.placement_link_patch.translation
        self._origin_link: Array = np.asarray(origin)
        self._target: Array = place.act(location.placement_link_patch.actInv(self._origin_link))
        self._patch: Array = location.placement_link_patch.rotation
        self._R: Array = place.rotation
        turns = np.eye(3)
        if len(corners) == 2:
            edge = self._patch.T @ (corners[1] - corners[0])
            turns = np.linalg.svd(edge[None, :])[2][1:]
        elif len(corners) == 1:
            turns = np.zeros((0, 3))
        self._turns: Array = turns
        y, rate = ca.SX.sym("y", model.n), ca.SX.sym("rate", model.n)
        self.kept: list[int] = []
        self.kept = list(range(3 + len(turns)))
        J = ca.Function("J", [y], [ca.jacobian(self.rate(y, rate), rate)])
        generator = np.random.default_rng(1)
        seen = np.abs([np.asarray(J(0.1 * generator.standard_normal(model.n))) for _ in range(3)])
        self.kept = np.flatnonzero(seen.max(axis=(0, 2)) > _SEEN).tolist()
        if not self.kept:
            raise InputError(
                "the robot can't move it", element=hold.name, remedy="Hold a place of a link that moves"
            )

    def __len__(self) -> int:
        return len(self.kept)

    @property
    def tangents(self) -> list[int]:
        """Which of the two axes along the surface the robot can move the contact along."""
        return [axis for axis in range(2) if axis in self.kept]

    def place(self, y: ca.SX, parameters: ca.SX | None = None) -> ca.SX:
        """(k,) how far the contact is from where it is held [m, rad].

        Args:
            y: (n,) coordinates.
            parameters: (13,) in place of the hold's own.
        """
        off, E = self._relative(y, parameters)
        turn = 0.5 * ca.vertcat(E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1])
        return ca.vertcat(off, ca.DM(self._turns) @ turn)[self.kept]

    def _relative(self, y: ca.SX, parameters: ca.SX | None) -> tuple[ca.SX, ca.SX]:
        """Return place (3,) and axes (3, 3) of the patch in the axes of where it is held."""
        given = ca.DM(self.parameters) if parameters is None else parameters
        q = self._model.configuration(y)
        R, p = self._model.placement(self.hold.contact.location.link, q)
        axes, target = ca.reshape(given[:9], 3, 3), given[10:13]
        if self.hold.on is not None:
            R_on, p_on = self._model.placement(self.hold.on, q)
            axes, target = R_on @ axes, p_on + R_on @ target
        return axes.T @ (p + R @ ca.DM(self._origin_link) - target), axes.T @ R @ ca.DM(self._patch)

    @property
    def parameters(self) -> Array:
        """(13,) axes of the surface, column by column, coefficient of friction, place of the origin [m].

        In the world, or in the link that the surface is on.
        """
        friction = self.hold.friction if np.isfinite(self.hold.friction) else 0.0
        return np.concatenate([self._R.T.ravel(), [friction], self._target])

    def rate(self, y: ca.SX, rate: ca.SX, parameters: ca.SX | None = None) -> ca.SX:
        """(k,) velocity of its origin in the surface's axes and turning rates in the patch's [m/s, rad/s].

        Args:
            y: (n,) coordinates.
            rate: their rates.
            parameters: (13,) in place of the hold's own.
        """
        off, E = self._relative(y, parameters)
        speed = ca.jtimes(off, y, rate)
        S = E.T @ ca.reshape(ca.jtimes(ca.vec(E), y, rate), 3, 3)
        return ca.vertcat(speed, ca.DM(self._turns) @ ca.vertcat(S[2, 1], S[0, 2], S[1, 0]))[self.kept]

    def acceleration(self, y: ca.SX, rate: ca.SX, change: ca.SX, parameters: ca.SX) -> ca.SX:
        """(k,) rates of these [m/s², rad/s²]."""
        speed = self.rate(y, rate, parameters)
        return ca.jtimes(speed, ca.vertcat(y, rate), ca.vertcat(rate, change))

    def wrench(
        self, multipliers: ca.SX, R: ca.SX, parameters: ca.SX, R_on: ca.SX | None = None
    ) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return force [N] and moment about the link's origin [N m] in the world, and forces at corners (k, 3).

        Args:
            multipliers: of the hold, in N and N m.
            R: (3, 3) rotation of the link.
            parameters: (13,) of the surface.
            R_on: (3, 3) rotation of the link that the surface is on, if it is on one.
        """
        axes = ca.reshape(parameters[:9], 3, 3)
        if R_on is not None:
            axes = R_on @ axes
        if self.hold.contact.bilateral:
            full = ca.SX.zeros(3 + len(self._turns))
            for i, row in enumerate(self.kept):
                full[row] = multipliers[i]
            force = axes @ full[:3]
            moment = R @ ca.DM(self._patch) @ ca.DM(self._turns.T) @ full[3:]
            about = moment + ca.cross(R @ ca.DM(self._origin_link), force)
            if self._shares is None:
                return force, about, force.T
            own = ca.DM(self._shares) @ ca.vertcat(R.T @ force, R.T @ moment)
            return force, about, (R @ ca.reshape(own, 3, len(self.hold.corners))).T
        up, sides = ca.DM([[0.0, 0.0, 1.0]]), [ca.DM.eye(3)[axis, :] for axis in self.tangents]
        edges: ca.DM | ca.SX = up
        if self.edges > 1 and np.isfinite(self.hold.friction):
            edges = ca.vertcat(*[up + sign * parameters[9] * side for side in sides for sign in (1.0, -1.0)])
        elif self.edges > 1:
            edges = ca.vertcat(up, *sides)
        force, moment, at_corners = ca.SX.zeros(3), ca.SX.zeros(3), []
        for k, corner in enumerate(self.hold.corners):
            own = axes @ edges.T @ multipliers[k * self.edges : (k + 1) * self.edges]
            force, moment = force + own, moment + ca.cross(R @ ca.DM(corner), own)
            at_corners.append(own.T)
        return force, moment, ca.vertcat(*at_corners)

    @property
    def edges(self) -> int:
        """Number of edges of the pyramid at every corner; without friction, or without an end of it, of components."""
        if self.hold.friction == 0.0:
            return 1
        return 1 + len(self.tangents) if np.isinf(self.hold.friction) else 2 * len(self.tangents) or 1

    @property
    def lower(self) -> Array:
        """(multipliers,) least values of the multipliers [N]."""
        if self.hold.contact.bilateral:
            return np.full(self.multipliers, -np.inf)
        if np.isinf(self.hold.friction):
            return np.tile([self.hold.least, *[-np.inf] * len(self.tangents)], len(self.hold.corners))
        return np.full(self.multipliers, self.hold.least if self.edges == 1 else 0.0)

    @cached_property
    def _shares(self) -> Array | None:
        """(3 k, 6) least forces at k corners that make a force and a moment about the origin, all in the link's axes.

        None where corners can't make every moment, or the contact takes none.
        """
        if len(self.hold.corners) < 3 or len(self) < 6:
            return None
        arms = [pin.skew(corner - self._origin_link) for corner in self.hold.corners]
        return np.asarray(np.linalg.pinv(np.vstack([np.tile(np.eye(3), len(arms)), np.hstack(arms)])))

    def excess(self, multipliers: ca.SX) -> ca.SX:
        """(k,) normal forces at corners less the least ones, where bounds of the multipliers don't keep them [N]."""
        free = self.hold.contact.bilateral or np.isinf(self.hold.friction) or self.edges == 1
        if free or self.hold.least == 0.0:
            return ca.SX(0, 1)
        return ca.sum1(ca.reshape(multipliers, self.edges, len(self.hold.corners))).T - self.hold.least

    @property
    def multipliers(self) -> int:
        """Number of multipliers."""
        return len(self) if self.hold.contact.bilateral else len(self.hold.corners) * self.edges
