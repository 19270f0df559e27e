# SPDX-License-Identifier: Apache-2.0
"""Relay between the joints that a robot measures and drives, and all joints that its loops move with them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_kinematics.analysis.dexterity import following
from humanoid_kinematics.solver.assembly_modes import mode_margin
from humanoid_kinematics.solver.commands import ToolGoal
from humanoid_kinematics.solver.mechanism import Mechanism
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver, SolverOptions
from humanoid_model import InputError
from humanoid_model.arrays import Array
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_model.loop_closure import ROWS

_STEP = 0.2
"""Drives that moved further than this since the last sample are followed in shorter steps, scaled."""
_FARTHEST = 128
"""Steps of the longest way that is followed from one sample to the next; twice as many are tried at most."""
_FINEST = 256
"""A step that doesn't close is tried shorter, down to this part of the longest."""


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
            InputError: not as many numbers as drives, not finite, or drives further from the last state than one sample
                may bring them (25.6 rad, or characteristic lengths), with their range.
        """
        target = self._numbers(positions, "positions")
        v = None if velocities is None else self._numbers(velocities, "velocities")
        tau = None if efforts is None else self._numbers(efforts, "efforts")
        self._check_way(target)
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
        begin, following_begin = solver.q.copy(), self._following
        start, way = begin[self._positions], target - begin[self._positions]
        size = float(np.abs(way / solver.scale[self._columns]).max())
        longest = share = 1.0 / max(1.0, np.ceil(size / _STEP))
        here, done = begin, 0.0
        for _ in range(2 * _FARTHEST):
            share = min(share, 1.0 - done)
            last = done + share > 1.0 - 1e-9
            drives = target if last else start + (done + share) * way
            found = self._step(here, share * way, drives, share * size)
            if found is not None:
                if last:
                    return None
                here, done, share = found, done + share, min(2.0 * share, longest)
            elif share <= longest / _FINEST:
                break
            else:
                share *= 0.25
        solver.close(begin)
        self._following = following_begin
        posture = begin.copy()
        posture[self._positions] = target
        asked = solver.close(posture, held=self.driven)
        if asked.closed:
            solver.close(begin)
            return "the loops close there, but not on the way: in another assembly mode"
        gaps = ", ".join(f"{name} by {d:.3g} m, {a:.3g} rad" for name, (d, a) in asked.gaps.items())
        return f"loops stay open: {gaps}"

    def _step(self, here: Array, part: Array, drives: Array, size: float) -> Array | None:
        """Go on from a closed configuration by a part of the way; None if that leads elsewhere than the drives did."""
        solver, model = self.solver, self.solver.mechanism.model
        guess = pin.integrate(model, here, self._following @ part)
        guess[self._positions] = drives
        before = np.delete(solver.scaled_loop_jacobian(), self._columns, axis=1)
        closing = solver.close(guess, held=self.driven)
        if not closing.closed:
            return None
        away = np.abs(pin.difference(model, guess, closing.q) / solver.scale).max()
        after = np.delete(solver.scaled_loop_jacobian(), self._columns, axis=1)
        # Closed far from where the drives led, or beyond a singularity: another branch.
        if away <= 0.5 * max(size, 1e-3) and mode_margin(before, after, solver.options.rank) > 0.0:
            with contextlib.suppress(InputError):  # a singularity: nothing says which way it goes on
                self._following = following(solver, self.driven)
                return closing.q
        solver.close(here)
        return None

    def _check_way(self, target: Array) -> None:
        """Refuse drives that are further away than one sample may bring them."""
        here, reach = self.solver.q[self._positions], _FARTHEST * _STEP * self.solver.scale[self._columns]
        for joint, position, now, most in zip(self.driven, target, here, reach, strict=True):
            if not abs(position - now) <= most:
                raise InputError(
                    f"is {position:g}, {abs(position - now):g} from where it was last",
                    element=f"position of '{joint}'",
                    remedy=f"Give {now - most:.6g} to {now + most:.6g}, or begin anew where the drives are",
                )  # fmt: skip

    def _numbers(self, values: ArrayLike, what: str) -> Array:
        numbers = np.asarray(values, float)
        if numbers.shape != (len(self.driven),) or not np.isfinite(numbers).all():
            raise InputError(
                f"are {numbers}", element=what, remedy=f"Give {len(self.driven)} finite numbers, for {self.driven}"
            )
        return numbers


def drive_trajectory(
    solver: MechanismSolver,
    driven: Sequence[str],
    tool: str,
    times: ArrayLike,
    poses: Sequence[pin.SE3],
    rows: tuple[str, ...] = ROWS,
) -> JointTrajectory:
    """Turn a tool's way into that of the driven joints, from where the mechanism is.

    Args:
        solver: the mechanism; it is at the last pose afterwards.
        driven: joints with motors, of one coordinate each.
        tool: name of a tool or link.
        times: (n,) rising [s].
        poses: (n,) of the tool in the world.
        rows: directions that the tool follows.

    Returns:
        Their positions, with differences of these as velocities.

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
    positions = np.array(found)[:, columns]
    return JointTrajectory(driven, at, positions, np.asarray(np.gradient(positions, at, axis=0)))
