# SPDX-License-Identifier: Apache-2.0
r"""Coordinates in which time derivatives are plain: joints, and a chart of the base's group of placements.

A base that floats has its position p and twice the vector part of its unit quaternion, relative to a heading that is
chosen once: :math:`\xi=(p, 2\,\mathrm{vec}(r_0^* r))`. The chart holds for turns of less than half a turn from the
heading. With :math:`u=\xi_{3..6}/2` and :math:`w=\sqrt{1-u\cdot u}`,

.. math::

    \omega = 2(w\dot u-\dot w u-u\times\dot u),\qquad \dot\omega = 2(w\ddot u-\ddot w u-u\times\ddot u)

in the axes of the body. Everything else is a joint with one coordinate that is its own chart. Robots with a planar
root or a fixed base are the same without the chart.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_model import InputError, Robot
from humanoid_model.arrays import Array


class Coordinates:
    """Charts of a robot's configurations.

    Attributes:
        robot: whose they are.
        size: number of coordinates, the model's nv.
        base: first coordinate of the floating base, None where there is none.
        heading: of the base in which the chart is centred, about the vertical [rad].
    """

    def __init__(self, robot: Robot, heading: float = 0.0) -> None:
        """Look at the joints.

        Args:
            robot: with joints of one coordinate, save its base.
            heading: of the base about which the chart lies [rad].

        Raises:
            InputError: another joint has several coordinates, or follows another one.
        """
        model = robot.model
        self.robot, self.size, self.heading = robot, int(model.nv), heading
        self.base: int | None = None
        self._base_q = 0
        for name, joint in zip(list(model.names)[1:], list(model.joints)[1:], strict=True):
            if joint.nq == 7:
                self.base, self._base_q = int(joint.idx_v), int(joint.idx_q)
            elif joint.nq != 1 or name in robot.mimics:
                raise InputError(
                    f"joint '{name}' has {joint.nq} coordinates or follows another one",
                    element=f"robot '{robot.name}'",
                    remedy="Gaits take joints of one coordinate of their own",
                )
        self._turn = np.array([0.0, 0.0, np.sin(0.5 * heading), np.cos(0.5 * heading)])
        self._functions: dict[str, ca.Function] = {}

    def motion(self, y: ca.SX, rate: ca.SX, change: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return Pinocchio's q (nq,), v (nv,) and a (nv,) as expressions.

        Args:
            y: (n,) coordinates.
            rate: their first derivatives.
            change: their second ones.
        """
        if self.base is None:
            return y, rate, change
        b = self.base
        linear, pushed = rate[b : b + 3], change[b : b + 3]
        u, du, ddu = (0.5 * values[b + 3 : b + 6] for values in (y, rate, change))
        w = ca.sqrt(1.0 - ca.dot(u, u))
        dw = -ca.dot(u, du) / w
        ddw = -(ca.dot(du, du) + ca.dot(u, ddu) + dw * dw) / w
        turning = 2.0 * (w * du - dw * u - ca.cross(u, du))
        turning_change = 2.0 * (w * ddu - ddw * u - ca.cross(u, ddu))
        q = self.configuration(y)
        R = rotation(q[b + 3 : b + 7])
        own = R.T @ linear
        v = ca.vertcat(rate[:b], own, turning, rate[b + 6 :])
        a = ca.vertcat(change[:b], R.T @ pushed - ca.cross(turning, own), turning_change, change[b + 6 :])
        return q, v, a

    def configuration(self, y: ca.SX) -> ca.SX:
        """(nq,) Pinocchio's configuration of coordinates (n,), as an expression."""
        if self.base is None:
            return y
        b = self.base
        u = 0.5 * y[b + 3 : b + 6]
        quaternion = quaternion_product(ca.DM(self._turn), ca.vertcat(u, ca.sqrt(1.0 - ca.dot(u, u))))
        return ca.vertcat(y[:b], y[b : b + 3], quaternion, y[b + 6 :])

    def chart(self, q: ArrayLike) -> Array:
        """(..., n) coordinates of configurations (..., nq).

        Raises:
            InputError: a base is turned by half a turn or more from the heading.
        """
        given = np.atleast_2d(np.asarray(q, dtype=float))
        if self.base is None:
            return np.asarray(given.reshape(np.shape(q)))
        k, b = self._base_q, self.base
        back = pin.Quaternion(self._turn).conjugate()
        own = np.array([(back * pin.Quaternion(row)).coeffs() for row in given[:, k + 3 : k + 7]])
        own *= np.where(own[:, 3:] < 0.0, -1.0, 1.0)
        if (own[:, 3] < 0.1).any():
            raise InputError(
                f"the base is turned by {2.0 * np.degrees(np.arccos(own[:, 3].min())):.0f} deg from the heading",
                element=f"robot '{self.robot.name}'",
                remedy="Keep it within 165 deg, or choose another heading",
            )
        y = np.hstack([given[:, :b], given[:, k : k + 3], 2.0 * own[:, :3], given[:, k + 7 :]])
        return np.asarray(y.reshape(*np.shape(q)[:-1], self.size))

    def rates(self, q: ArrayLike, v: ArrayLike) -> Array:
        """(..., n) rates of the coordinates at configurations (..., nq) moved by velocities (..., nv)."""
        moved = np.array(np.atleast_2d(v), dtype=float)
        if self.base is None:
            return np.asarray(moved.reshape(np.shape(v)))
        k, b = self._base_q, self.base
        for row, y, full in zip(moved, np.atleast_2d(self.chart(q)), np.atleast_2d(q), strict=True):
            u = 0.5 * y[b + 3 : b + 6]
            w = np.sqrt(1.0 - u @ u)
            row[b : b + 3] = pin.Quaternion(full[k + 3 : k + 7]).matrix() @ row[b : b + 3]
            row[b + 3 : b + 6] = w * row[b + 3 : b + 6] + np.cross(u, row[b + 3 : b + 6])
        return np.asarray(moved.reshape(np.shape(v)))

    def samples(self, y: Array, rate: Array, change: Array) -> tuple[Array, Array, Array]:
        """Return q (K, nq), v (K, nv) and a (K, nv) of coordinates and derivatives, each (K, n)."""
        if "samples" not in self._functions:
            names = ("y", "rate", "change")
            symbols = [ca.SX.sym(name, self.size) for name in names]
            self._functions["samples"] = ca.Function("samples", symbols, list(self.motion(*symbols)))
        found = self._functions["samples"](y.T, rate.T, change.T)
        q, v, a = (np.atleast_2d(np.array(part).T) for part in found)
        return q, v, a


def rotation(quaternion: ca.SX | ca.DM) -> ca.SX:
    """(3, 3) rotation of a unit quaternion x, y, z, w."""
    x, y, z, w = ca.vertsplit(quaternion)
    return ca.vertcat(
        ca.horzcat(1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
        ca.horzcat(2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
        ca.horzcat(2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
    )


def quaternion_product(a: ca.SX | ca.DM, b: ca.SX | ca.DM) -> ca.SX:
    """(4,) product of two quaternions x, y, z, w."""
    vector = a[3] * b[:3] + b[3] * a[:3] + ca.cross(a[:3], b[:3])
    return ca.vertcat(vector, a[3] * b[3] - ca.dot(a[:3], b[:3]))
