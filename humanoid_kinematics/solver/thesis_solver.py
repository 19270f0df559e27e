# SPDX-License-Identifier: Apache-2.0
"""The thesis' solver, faithfully: one pseudo-inverse of the augmented Jacobian a cycle (specification §3.8-§3.13).

Commands and closures weigh the same, units are those of the file, limits aren't looked at, and only the measured gap
of the loops brings them back (eq. 3.31). It opens loops under commands that can't be met, by half a degree where the
thesis' own robot is asked to turn: :class:`MechanismSolver` is what keeps them closed. Written with Pinocchio and numpy
alone, so that it is a second opinion on the kernels too. Its misprints are mended: gap and rows in one frame
(ERR-5), the sign of the rotation's gap (ERR-6), columns before the common ancestor exactly zero.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_kinematics.solver.commands import ToolMotion
from humanoid_kinematics.solver.mechanism import Mechanism
from humanoid_model import InputError
from humanoid_model.arrays import Array
from humanoid_model.loop_closure import ROWS
from humanoid_model.tree.kinematic_tree import KinematicTree


class ThesisSolver:
    """Moves a mechanism by increments of its tools.

    Attributes:
        mechanism: that is moved; joints of one coordinate each.
        q: (nq,) configuration [rad, m].
        threshold: singular values below this, relative to the largest, count as zero (the thesis gives none, ERR-7).
    """

    def __init__(self, mechanism: Mechanism, threshold: float = 1e-9) -> None:
        """Load a mechanism in its initial posture, loops as they are.

        Raises:
            InputError: a loop that holds neither a frame nor a point.
        """
        self.mechanism = mechanism
        self.q = np.array(mechanism.initial, float)
        self.threshold = threshold
        self._data = mechanism.model.createData()
        for loop in mechanism.loops:
            if loop.rows not in (ROWS, ROWS[:3]):
                raise InputError(
                    f"holds {' '.join(loop.rows)}", element=f"loop '{loop.name}'",
                    remedy="The thesis' loops hold a frame or a point; use MechanismSolver for others",
                )  # fmt: skip
        # Rows and columns of lengths are in the unit of the file.
        self._unit = np.where(KinematicTree.from_pinocchio(mechanism.model).is_length(), mechanism.length_unit, 1.0)

    def gaps(self) -> Array:
        """(rows,) motion that brings the first end of each loop onto the second, in world axes [file's unit, rad].

        Six rows for a frame, three for a ball joint.
        """
        self._place()
        gaps = []
        for loop, ends in zip(self.mechanism.loops, self._loops(), strict=True):
            a, b = (self._data.oMi[body] * placement for body, placement in ends)
            gaps.append((b.translation - a.translation) / self.mechanism.length_unit)
            if loop.rows == ROWS:
                gaps.append(pin.log3(b.rotation @ a.rotation.T))
        return np.concatenate(gaps) if gaps else np.zeros(0)

    def jacobian(self, tools: tuple[str, ...] = ()) -> Array:
        """(rows, nv) augmented Jacobian (eq. 3.24): six rows of each tool, then those of loops, in world axes."""
        self._place()
        blocks = [self._rows(self._frame(tool)) for tool in tools]
        for loop, (a, b) in zip(self.mechanism.loops, self._loops(), strict=True):
            common = np.logical_and(self._moving(a[0]), self._moving(b[0]))
            blocks.append((self._rows(a) - self._rows(b))[: len(loop.rows)])
            blocks[-1][:, common] = 0.0
        return np.vstack(blocks) if blocks else np.zeros((0, self.mechanism.model.nv))

    def step(self, *motions: ToolMotion, feedback: bool = True) -> Array:
        """(nv,) what one cycle adds to the configuration (eq. 3.27) [rad, m]; ``feedback``: loops are brought back.

        Rows that a motion leaves out are not commanded; the others are, be they zero (§3.7).
        """
        J = self.jacobian(tuple(motion.tool for motion in motions))
        wanted = [np.concatenate(self._in_unit(motion)) for motion in motions]
        for i, motion in enumerate(motions):
            body, placement = self._frame(motion.tool)
            to_axes = np.kron(np.eye(2), motion.axes(self._data.oMi[body] * placement).T)
            J[6 * i : 6 * i + 6], wanted[i] = to_axes @ J[6 * i : 6 * i + 6], to_axes @ wanted[i]
        gaps = self.gaps()
        rhs = np.concatenate([*wanted, gaps if feedback else np.zeros_like(gaps)])
        keep = np.ones(len(rhs), bool)
        for i, motion in enumerate(motions):
            keep[6 * i : 6 * i + 6] = [row in motion.rows for row in ROWS]
        return np.asarray(pseudo_inverse(J[keep], self.threshold) @ rhs[keep]) * self._unit

    def command(self, *motions: ToolMotion, feedback: bool = True) -> Array:
        """Take one cycle; the configuration after it."""
        self.q = self.q + self.step(*motions, feedback=feedback)
        return self.q.copy()

    def close(self, tolerance: float = 1e-10, iterations: int = 50, held: ArrayLike = ()) -> list[float]:
        """Close the loops by whole cycles without commands; the norms of the gaps on the way, the result's last.

        Args:
            tolerance: norm of the gaps to reach [file's unit, rad].
            iterations: most cycles; loops that can't be closed never reach the tolerance.
            held: velocities that don't move: the driven joints, which the thesis let move too (ERR-8).
        """
        free = np.setdiff1d(np.arange(self.mechanism.model.nv), np.asarray(held, int))
        norms = [float(np.linalg.norm(self.gaps()))]
        while norms[-1] >= tolerance and len(norms) <= iterations:
            step = pseudo_inverse(self.jacobian()[:, free], self.threshold) @ self.gaps()
            self.q[free] += step * self._unit[free]
            norms.append(float(np.linalg.norm(self.gaps())))
        return norms

    def _place(self) -> None:
        pin.computeJointJacobians(self.mechanism.model, self._data, self.q)

    def _in_unit(self, motion: ToolMotion) -> tuple[Array, Array]:
        body, placement = self._frame(motion.tool)
        linear, angular = motion.in_world(self._data.oMi[body] * placement)
        return linear / self.mechanism.length_unit, angular

    def _frame(self, name: str) -> tuple[int, pin.SE3]:
        tools = {tool.name: tool for tool in self.mechanism.tools}
        link = self.mechanism.robot.parts.links[tools[name].link if name in tools else name]
        in_link = tools[name].placement if name in tools else pin.SE3.Identity()
        return link.joint_id, link.placement_joint_link * in_link

    def _loops(self) -> list[tuple[tuple[int, pin.SE3], tuple[int, pin.SE3]]]:
        links = self.mechanism.robot.parts.links

        def end(link: str, placement: pin.SE3) -> tuple[int, pin.SE3]:
            return links[link].joint_id, links[link].placement_joint_link * placement

        return [
            (end(loop.link_a, loop.placement_a), end(loop.link_b, loop.placement_b)) for loop in self.mechanism.loops
        ]

    def _rows(self, frame: tuple[int, pin.SE3]) -> Array:
        """(6, nv) Jacobian of a frame's origin in world axes (eq. 3.15, 3.16) in the unit of the file."""
        body, placement = frame
        J = pin.getJointJacobian(self.mechanism.model, self._data, body, pin.WORLD)
        J[:3] += np.cross(J[3:].T, (self._data.oMi[body] * placement).translation).T
        J[:3] /= self.mechanism.length_unit
        return np.asarray(J * self._unit)

    def _moving(self, body: int) -> NDArray[np.bool_]:
        """(nv,) velocities that move a body."""
        moving = np.zeros(self.mechanism.model.nv, bool)
        while body > 0:
            joint = self.mechanism.model.joints[body]
            moving[joint.idx_v : joint.idx_v + joint.nv] = True
            body = self.mechanism.model.parents[body]
        return moving


def pseudo_inverse(A: Array, threshold: float) -> Array:
    """Pseudo-inverse by singular values (eq. 3.20-3.23), those below a share of the largest taken as zero."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    inverse = np.divide(1.0, s, out=np.zeros_like(s), where=s > threshold * s.max(initial=0.0))
    return np.asarray((Vt.T * inverse) @ U.T)
