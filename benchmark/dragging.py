# SPDX-License-Identifier: Apache-2.0
"""An hour of random dragging of each mechanism at the rate of a device: do loops open, limits break, numbers fail?

A hand takes tools, links and joints at random for up to a second each and leads them smoothly, pushes them at a
constant speed, jumps with them by up to a metre (of a mechanism whose frames are half a metre apart), or slides joints
to where they can't go; now and then it locks a joint, lets a loop go or holds it again. Every tick is looked at:
largest gap of a loop, limits, finite numbers; every tenth also with Pinocchio's forward kinematics alone. Once a second
a command isn't finite. Pieces of a minute begin in the initial posture, each with a seed of its own, and go round all
mechanisms, so that a run that is to end early (--most) has dragged each as long. The exit code says whether all held.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from pinocchio import exp3

from humanoid_kinematics import JointGoal, Mechanism, MechanismSolver, ToolGoal, ToolMotion, load_scene
from humanoid_kinematics.solver.commands import ORIENTATION, POSITION, Command
from humanoid_model.errors import InputError
from humanoid_model.files import list_resources
from humanoid_model.loop_closure import ROWS

RATE = 1000.0
"""Ticks in a second of the device [Hz]."""
PIECE = 60.0
"""How long a mechanism is dragged from its initial posture [s]."""
OPEN = 1e-6
"""Gap from which a loop counts as open, lengths in the mechanism's characteristic length, rad."""
ROW_SHARES = (0.15, 0.5, 0.1, 0.1, 0.1, 0.05)
ROW_CHOICES = (ROWS, POSITION, ORIENTATION, ("x", "y", "rz"), ("z",), ("rx", "ry"))


@dataclass(frozen=True)
class Dragged:
    """What became of a mechanism that was dragged about.

    Attributes:
        ticks: of the solver.
        opened: ticks after which a loop was open.
        crossed: ticks after which a joint was beyond a limit.
        not_finite: ticks after which a number wasn't finite, and commands that weren't and moved something.
        gap: largest gap that the solver tells, scaled.
        checked_gap: largest gap that Pinocchio finds, scaled.
        longest: longest move of a joint in a tick [rad], lengths in the characteristic length.
        statuses: how often a tick ended how.
        seconds: processor time.
    """

    ticks: int = 0
    opened: int = 0
    crossed: int = 0
    not_finite: int = 0
    gap: float = 0.0
    checked_gap: float = 0.0
    longest: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def __add__(self, other: Dragged) -> Dragged:
        return Dragged(
            self.ticks + other.ticks, self.opened + other.opened, self.crossed + other.crossed,
            self.not_finite + other.not_finite, max(self.gap, other.gap), max(self.checked_gap, other.checked_gap),
            max(self.longest, other.longest), self.statuses + other.statuses, self.seconds + other.seconds,
        )  # fmt: skip

    @property
    def held(self) -> bool:
        """Whether loops, limits and numbers held."""
        return not (self.opened or self.crossed or self.not_finite)


class RandomHand:
    """Grips a mechanism at random, and tells what it commands in each tick."""

    def __init__(self, solver: MechanismSolver, seed: int) -> None:
        """Take a mechanism."""
        self._solver = solver
        self._rng = np.random.default_rng(seed)
        self._tools = [tool.name for tool in solver.mechanism.tools] + list(solver.mechanism.robot.parts.links)[1:]
        self._joints = solver.mechanism.robot.joint_names
        self._left = 0
        self._tick = 0
        self._grips: list[tuple[str, object]] = []

    def commands(self) -> list[Command]:
        """Commands of the next tick."""
        if self._left == 0:
            self._take()
        self._left -= 1
        self._tick += 1
        return [self._command(kind, what) for kind, what in self._grips]

    def _take(self) -> None:
        rng, solver = self._rng, self._solver
        self._left, self._tick = int(rng.integers(20, 1000)), 0
        solver.unlock(*self._joints)
        if rng.random() < 0.05:
            solver.lock(str(rng.choice(self._joints)))
        loops = [loop.name for loop in solver.mechanism.loops]
        for loop in loops:
            if not solver.holds(loop) and not solver.hold_loop(loop).closed:
                solver.close(solver.mechanism.initial)
                solver.hold_loop(loop)
        if loops and rng.random() < 0.02:
            solver.open_loop(str(rng.choice(loops)))
        self._grips = [self._grip() for _ in range(1 + int(rng.random() < 0.3) + int(rng.random() < 0.1))]

    def _grip(self) -> tuple[str, object]:
        rng, size = self._rng, self._solver.length
        tool, rows = str(rng.choice(self._tools)), ROW_CHOICES[rng.choice(len(ROW_CHOICES), p=ROW_SHARES)]
        kind = str(rng.choice(["lead", "push", "jump", "slide"], p=[0.4, 0.25, 0.15, 0.2]))
        if kind == "lead":
            far = size * rng.choice([0.1, 1.0, 5.0])
            path = far * rng.normal(size=3), rng.normal(size=3), rng.uniform(0.2, 6.0, size=3)
            return kind, (tool, rows, self._solver.placement(tool), path)
        if kind == "push":
            speed = rng.choice([0.05, 0.5, 5.0])
            motion = np.concatenate([size * rng.normal(size=3), rng.normal(size=3)]) * speed / RATE
            frame = str(rng.choice(["centred", "world", "tool"]))
            return kind, ToolMotion(tool, motion[:3], motion[3:], frame, rows)
        if kind == "jump":
            return kind, (tool, rows, int(rng.integers(1, 300)), [None])
        joint = str(rng.choice(self._joints))
        k = self._solver.mechanism.robot.index_v(joint)
        reach = 4.0 if self._solver.angles[k] else 4.0 * size
        return kind, JointGoal(joint, float(self._solver.q[k] + reach * rng.normal()))

    def _command(self, kind: str, what: object) -> Command:
        if kind in ("push", "slide"):
            assert isinstance(what, ToolMotion | JointGoal)
            return what
        rng, size = self._rng, self._solver.length
        assert isinstance(what, tuple)
        tool, rows, *rest = what
        if kind == "lead":
            start, (far, turn, pace) = rest
            phase = np.sin(pace * self._tick / RATE)
            return ToolGoal(tool, pin.SE3(exp3(turn * phase) @ start.rotation, start.translation + far * phase), rows)
        pause, last = rest
        if last[0] is None or self._tick % pause == 0:
            here = self._solver.placement(tool)
            away = 2.0 * size * rng.normal(size=3)
            last[0] = pin.SE3(exp3(rng.normal(size=3)) @ here.rotation, here.translation + away)
        return ToolGoal(tool, last[0], rows)


class PinocchioGaps:
    """Gaps of a mechanism's loops by Pinocchio's forward kinematics, as a second opinion on the solver's."""

    def __init__(self, mechanism: Mechanism, length: float) -> None:
        """Take a mechanism and its characteristic length [m]."""
        self._model, self._length = mechanism.model, length
        self._data = mechanism.model.createData()
        links = mechanism.robot.parts.links
        self._loops = []
        for loop in mechanism.loops:
            a, b = links[loop.link_a], links[loop.link_b]
            ends = (
                (a.joint_id, a.placement_joint_link * loop.placement_a),
                (b.joint_id, b.placement_joint_link * loop.placement_b),
            )
            self._loops.append((loop.name, ends, [ROWS.index(row) for row in loop.rows]))

    def largest(self, solver: MechanismSolver) -> float:
        """Largest gap of the loops that are held, scaled."""
        pin.forwardKinematics(self._model, self._data, solver.q)
        largest = 0.0
        for name, ((a, on_a), (b, on_b)), rows in self._loops:
            if solver.holds(name):
                between = (self._data.oMi[a] * on_a).actInv(self._data.oMi[b] * on_b)
                gap = np.concatenate([between.translation / self._length, pin.log3(between.rotation)])
                largest = max(largest, float(np.abs(gap[rows]).max()))
        return largest


def drag(mechanism: Mechanism, seconds: float, seed: int) -> Dragged:
    """Drag a mechanism about from its initial posture.

    Args:
        mechanism: with loops that close.
        seconds: of the device.
        seed: of the hand.
    """
    solver = MechanismSolver(mechanism)
    assert solver.closing.closed
    hand, gaps = RandomHand(solver, seed), PinocchioGaps(mechanism, solver.length)
    scale = np.where(solver.angles, 1.0, solver.length)
    ticks = round(seconds * RATE)
    opened, crossed, not_finite, gap, checked, longest = 0, 0, 0, 0.0, 0.0, 0.0
    statuses: Counter[str] = Counter()
    begin = time.process_time()
    for tick in range(ticks):
        commands = hand.commands()
        now = solver.q.copy()  # a loop that is held again moves the mechanism by itself
        motion = solver.command(*commands)
        gap_now = motion.loop_gap
        if tick % 10 == 0:
            by_pinocchio = gaps.largest(solver)
            checked, gap_now = max(checked, by_pinocchio), max(gap_now, by_pinocchio)
        gap = max(gap, motion.loop_gap)
        opened += gap_now > OPEN
        crossed += bool((motion.q < solver.lower).any() or (motion.q > solver.upper).any())
        not_finite += not (np.isfinite(motion.q).all() and np.isfinite(motion.command_gap))
        longest = max(longest, float(np.abs((motion.q - now) / scale).max(initial=0.0)))
        statuses[motion.status] += 1
        if tick % 1000 == 500:
            not_finite += not _refuses_nan(solver)
    return Dragged(ticks, opened, crossed, not_finite, gap, checked, longest, statuses, time.process_time() - begin)


def _refuses_nan(solver: MechanismSolver) -> bool:
    """Whether a command that isn't finite is refused and moves nothing."""
    before = solver.q.copy()
    try:
        solver.command(ToolMotion(next(reversed(solver.mechanism.robot.parts.links)), (float("nan"), 0.0, 0.0)))
    except InputError:
        return bool((solver.q == before).all())
    return False


def _piece(name: str, robot: str, seconds: float, seed: int) -> Dragged:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return drag(load_scene(name).mechanisms[robot], seconds, seed)


def print_table(found: dict[tuple[str, str], Dragged]) -> None:
    """Print what became of each mechanism."""
    print(
        f"\n{'mechanism':<26}{'minutes':>8}{'opened':>8}{'crossed':>8}{'NaN':>5}{'gap':>9}{'checked':>9}"
        f"{'longest':>9}{'stuck':>8}{'µs':>7}"
    )
    for (name, robot), came in found.items():
        stuck = (came.statuses["stuck"] + came.statuses["open"]) / came.ticks
        shown = name if name.startswith(robot) else f"{name}/{robot}"
        print(
            f"{shown:<26}{came.ticks / RATE / 60.0:>8.1f}{came.opened:>8}{came.crossed:>8}{came.not_finite:>5}"
            f"{came.gap:>9.0e}{came.checked_gap:>9.0e}{came.longest:>9.2f}{stuck:>8.2%}"
            f"{1e6 * came.seconds / came.ticks:>7.0f}",
            flush=True,
        )


def main() -> None:
    """Drag and print."""
    shipped = list_resources("urdf/mechanisms", (".mad",))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mechanisms", nargs="*", default=shipped, help="names or files; all that ship if none is given")
    parser.add_argument("--minutes", type=float, default=60.0, help="of the device, for each mechanism")
    parser.add_argument("--most", type=float, default=np.inf, help="wall-clock minutes; no piece begins after that")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    robots = [(name, robot) for name in arguments.mechanisms for robot in load_scene(name).mechanisms]
    found = {robot: Dragged() for robot in robots}
    left, end = 60.0 * arguments.minutes, time.monotonic() + 60.0 * arguments.most
    with ProcessPoolExecutor(arguments.jobs) as pool:
        piece = 0
        while left > 0.0 and time.monotonic() < end:
            seconds = min(left, PIECE)
            seed = arguments.seed + piece
            pieces = pool.map(_piece, *zip(*((*robot, seconds, seed) for robot in robots), strict=True))
            for robot, came in zip(robots, pieces, strict=True):
                found[robot] = found[robot] + came
            print_table(found)
            left, piece = left - seconds, piece + 1
    sys.exit(0 if all(came.held for came in found.values()) else 1)


if __name__ == "__main__":
    main()
