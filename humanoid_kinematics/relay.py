# SPDX-License-Identifier: Apache-2.0
"""Relay between the joints that a robot measures and drives, and all joints that its loops move with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_kinematics.analysis.dexterity import following
from humanoid_kinematics.mechanism import Mechanism
from humanoid_kinematics.solver.commands import ToolGoal
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver, SolverOptions
from humanoid_model import InputError
from humanoid_model.arrays import Array
from humanoid_model.loop_closure import ROWS

_STEP = 0.2
"""Drives that moved further than this since the last sample are followed in shorter steps, scaled."""
_MAX_STEPS = 256


@dataclass(frozen=True, eq=False)
class CompleteState:
    """State of all joints of a mechanism.

    Attributes:
        q: (nq,) positions.
        v: (nv,) velocities, None if the drives' weren't given.
        efforts: (nv,) efforts, None if the drives' weren't given: the drives' own, those of the joints that stand for
            them, and 0 elsewhere.
        reason: why the loops can't be closed with the drives where they are; None if they are closed. With a reason, it
            is the last state that could.
    """

    q: Array
    v: Array | None
    efforts: Array | None
    reason: str | None

    @property
    def closed(self) -> bool:
        """Whether this is the state with the drives where they are."""
        return self.reason is None


class Relay:
    """Completes the state of a mechanism from that of its driven joints, in the assembly mode in which it began.

    Attributes:
        solver: the mechanism, where it was last.
        driven: joints whose positions come in.
        standing: joints that efforts of the drives are told of as if these were driven, as an ankle's joints for its
            screws; as many as drives, or none.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        driven: Sequence[str] | None = None,
        standing: Sequence[str] = (),
        options: SolverOptions | None = None,
    ) -> None:
        """Close the mechanism's loops from its initial posture.

        Args:
            mechanism: with its loops.
            driven: joints whose positions come in; None takes the mechanism's.
            standing: see above.
            options: of the solver.

        Raises:
            InputError: no drives, drives that can't all move as they like, loops that don't close.
        """
        names = driven if driven is not None else mechanism.driven
        if not names:
            raise InputError(
                "has no driven joints", element=f"mechanism '{mechanism.name}'", remedy="Name the joints with motors"
            )
        self.solver = MechanismSolver(mechanism, options)
        if not self.solver.closing.closed:
            gaps = ", ".join(f"{name} by {d:.3g} m, {a:.3g} rad" for name, (d, a) in self.solver.closing.gaps.items())
            raise InputError(
                f"loops don't close from the initial posture: {gaps}", element=f"mechanism '{mechanism.name}'",
                remedy="Give a posture nearer to a closed one",
            )  # fmt: skip
        self.driven, self.standing = tuple(names), tuple(standing)
        if standing and len(standing) != len(names):
            raise InputError(
                f"{len(standing)} joints stand for {len(names)} drives", element="standing",
                remedy="Name as many as there are drives",
            )  # fmt: skip
        robot = mechanism.robot
        self._columns = [robot.index_v(joint) for joint in self.driven]
        self._positions = [mechanism.model.joints[robot.parts.joint_ids[joint]].idx_q for joint in self.driven]
        self._standing = [robot.index_v(joint) for joint in self.standing]
        self._following = following(self.solver, self.driven)

    @property
    def names(self) -> tuple[str, ...]:
        """Joints in the order of the state."""
        return self.solver.mechanism.robot.joint_names

    def update(
        self, positions: ArrayLike, velocities: ArrayLike | None = None, efforts: ArrayLike | None = None
    ) -> CompleteState:
        """Take the state of the drives, in their order, and complete it.

        The loops are closed from the last state along the drives' way; where they can't be closed, the last state
        stays, and the answer says so.

        Raises:
            InputError: not as many numbers as drives, or not finite.
        """
        target = self._numbers(positions, "positions")
        v = None if velocities is None else self._numbers(velocities, "velocities")
        tau = None if efforts is None else self._numbers(efforts, "efforts")
        reason = self._go(target)
        all_v = None if v is None else self._following @ v
        all_tau = None
        if tau is not None:
            all_tau = np.zeros(len(self._following))
            if self._standing:
                all_tau[self._standing] = np.linalg.lstsq(self._following[self._standing].T, tau, rcond=1e-9)[0]
            all_tau[self._columns] = tau
        return CompleteState(self.solver.q.copy(), all_v, all_tau, reason)

    def holding_efforts(self) -> Array:
        """(k,) efforts of the drives that hold the mechanism's weight where it is, by virtual work [N m, N]."""
        model = self.solver.mechanism.model
        weight = pin.computeGeneralizedGravity(model, model.createData(), self.solver.q)
        return np.asarray(self._following.T @ weight)

    def _go(self, target: Array) -> str | None:
        """Bring the drives to a target; why, if the loops can't be closed on the way."""
        solver = self.solver
        begin, D = solver.q.copy(), self._following
        start = begin.copy()
        way = target - start[self._positions]
        scale = solver.scale[self._columns]
        steps = max(1, int(np.ceil(np.abs(way / scale).max() / _STEP)))
        while True:
            here, following_here = start, D
            for step in range(1, steps + 1):
                part = way / steps
                guess = pin.integrate(solver.mechanism.model, here, following_here @ part)
                guess[self._positions] = start[self._positions] + way * (step / steps)
                closing = solver.close(guess, held=self.driven)
                away = np.abs(pin.difference(solver.mechanism.model, guess, closing.q) / solver.scale).max()
                # Closed far from where the drives led: another branch.
                if not closing.closed or away > 0.5 * max(np.abs(part / scale).max(), 1e-3):
                    break
                here = closing.q
                following_here = following(solver, self.driven)
            else:
                self._following = following_here
                return None
            solver.close(start)
            if steps >= _MAX_STEPS:
                break
            steps *= 4
        start[self._positions] = target
        asked = solver.close(start, held=self.driven)
        if asked.closed:
            solver.close(begin)
            return "the loops close there, but not on the way: in another assembly mode"
        gaps = ", ".join(f"{name} by {d:.3g} m, {a:.3g} rad" for name, (d, a) in asked.gaps.items())
        return f"loops stay open: {gaps}"

    def _numbers(self, values: ArrayLike, what: str) -> Array:
        numbers = np.asarray(values, float)
        if numbers.shape != (len(self.driven),) or not np.isfinite(numbers).all():
            raise InputError(
                f"are {numbers}", element=what, remedy=f"Give {len(self.driven)} finite numbers, for {self.driven}"
            )
        return numbers


@dataclass(frozen=True, eq=False)
class DriveTrajectory:
    """Motion of driven joints.

    Attributes:
        joints: driven joints.
        times: (n,) [s].
        positions: (n, k).
        velocities: (n, k), differences of the positions.
        configurations: (n, nq) of all joints.
    """

    joints: tuple[str, ...]
    times: Array
    positions: Array
    velocities: Array
    configurations: Array


def drive_trajectory(
    solver: MechanismSolver,
    driven: Sequence[str],
    tool: str,
    times: ArrayLike,
    poses: Sequence[pin.SE3],
    rows: tuple[str, ...] = ROWS,
) -> DriveTrajectory:
    """Turn a tool's way into that of the driven joints, from where the mechanism is.

    Args:
        solver: the mechanism; it is at the last pose afterwards.
        driven: joints with motors, of one coordinate each.
        tool: name of a tool or link.
        times: (n,) rising [s].
        poses: (n,) of the tool in the world.
        rows: directions that the tool follows.

    Raises:
        InputError: times that don't rise or aren't as many as poses; a pose that can't be reached, with its time and
            what is in the way.
    """
    at = np.asarray(times, float)
    if len(at) != len(poses) or len(at) < 2 or not (np.diff(at) > 0.0).all():
        raise InputError(
            f"{len(at)} times for {len(poses)} poses, or not rising", element="trajectory",
            remedy="Give two poses or more, and a later time for each",
        )  # fmt: skip
    model, robot = solver.mechanism.model, solver.mechanism.robot
    columns = [model.joints[robot.parts.joint_ids[joint]].idx_q for joint in driven]
    found = []
    for time, pose in zip(at, poses, strict=True):
        goal = pose if any(row in ROWS[3:] for row in rows) else pin.SE3(np.eye(3), pose.translation)
        for _ in range(100):
            motion = solver.command(ToolGoal(tool, goal, rows))
            if motion.status != "moving":
                break
        if motion.status != "reached":
            raise InputError(
                f"pose at {time:g} s can't be reached: it stays {motion.command_gap:.3g} away, and in the way is "
                f"{', '.join(solver.in_the_way())}", element=f"trajectory of '{tool}'",
                remedy="Give poses within reach, or fewer rows",
            )  # fmt: skip
        found.append(motion.q)
    configurations = np.array(found)
    positions = configurations[:, columns]
    return DriveTrajectory(tuple(driven), at, positions, np.asarray(np.gradient(positions, at, axis=0)), configurations)
