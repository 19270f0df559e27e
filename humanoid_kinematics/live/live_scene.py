# SPDX-License-Identifier: Apache-2.0
"""All mechanisms of a file, running: loaded, edited, and driven by devices that may drive several of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from humanoid_kinematics.live.link_change import LinkChange, changed_scene
from humanoid_kinematics.live.live_mechanism import ROBUST, LiveMechanism
from humanoid_kinematics.live.newest_commands import LiveLimits
from humanoid_kinematics.load import Scene, build_scene, load_scene, read_scene
from humanoid_kinematics.mad.write import write_mad
from humanoid_kinematics.solver.commands import ToolGoal
from humanoid_kinematics.solver.mechanism_solver import SolverOptions
from humanoid_model import InputError
from humanoid_model.checks import check_known
from humanoid_model.joint_trajectory import warm_up_sampling


class LiveScene:
    """Mechanisms of one file that run.

    Attributes:
        scene: what was loaded, as changed since.
        mechanisms: by name.
    """

    def __init__(self, scene: Scene, options: SolverOptions | None = None, limits: LiveLimits | None = None) -> None:
        """Close the loops of all mechanisms.

        Raises:
            InputError: loops that don't close.
        """
        self.scene = scene
        self._options, self._limits = options, limits
        self.mechanisms = {
            name: LiveMechanism(mechanism, options, limits) for name, mechanism in scene.mechanisms.items()
        }

    @classmethod
    def load(
        cls, path: str | Path, options: SolverOptions | None = None, limits: LiveLimits | None = None
    ) -> LiveScene:
        """Load a file, or a mechanism that comes with the stack; as :func:`~humanoid_kinematics.load.load_scene`."""
        return cls(load_scene(path), options, limits)

    @classmethod
    def read(cls, text: str, options: SolverOptions | None = None, limits: LiveLimits | None = None) -> LiveScene:
        """Load a text; as :func:`~humanoid_kinematics.load.read_scene`."""
        return cls(read_scene(text), options, limits)

    @property
    def text(self) -> str:
        """The mechanisms as they are now, as a MAD or URDF text that :meth:`read` takes."""
        if self.scene.mad is not None:
            return write_mad(self.scene.mad)
        return next(iter(self.mechanisms.values())).mechanism.robot.urdf

    def prepare(self) -> None:
        """Command what is there already, so that a hand's first command waits for no compilation."""
        warm_up_sampling()
        for live in self.mechanisms.values():
            for joint in live.mechanism.robot.joint_names[:1]:
                link = live.mechanism.robot.description.joints[joint].child
                live.solver.command(ToolGoal(link, live.solver.placement(link)))
            live.state()

    def tick(self, dt: float) -> None:
        """Let all mechanisms follow their commands for a time [s]."""
        for mechanism in self.mechanisms.values():
            mechanism.tick(dt)

    def switch(self, profile: str, open_loops: Collection[str]) -> None:
        """Choose the profile, and which loops are let go of, of all mechanisms; all of it or nothing.

        Args:
            profile: as of :meth:`LiveMechanism.set_profile`.
            open_loops: names, ``mechanism/loop`` where there are several mechanisms; the others are held.

        Raises:
            InputError: an unknown name, or loops that don't close from here.
        """
        several = len(self.mechanisms) > 1
        known = {
            (f"{name}/" if several else "") + loop.name: (live, loop.name)
            for name, live in self.mechanisms.items()
            for loop in live.mechanism.loops
        }
        for name in open_loops:
            check_known(name, known, "open_loops", "loop")
        before = [(live, live.profile, live.q) for live in self.mechanisms.values()]
        opened = {name for name, (live, loop) in known.items() if loop in live.open_loops}
        try:
            self._switch(profile, known, set(open_loops))
        except InputError:
            for live, _, q in before:
                live.solver.q = q
            self._switch(before[0][1], known, opened)
            raise

    def _switch(self, profile: str, known: Mapping[str, tuple[LiveMechanism, str]], open_loops: set[str]) -> None:
        if profile == ROBUST:
            for live in self.mechanisms.values():
                live.set_profile(ROBUST)
        for name, (live, loop) in known.items():
            if name in open_loops and loop not in live.open_loops:
                live.open_loop(loop)
            elif name not in open_loops and loop in live.open_loops:
                live.hold_loop(loop)
        for live in self.mechanisms.values():
            live.set_profile(profile)

    def edit(self, mechanism: str, changes: Sequence[LinkChange]) -> float:
        """Change links of a mechanism where it is, all of them or none; the largest gap left by closing [m or rad].

        Its commands, locks, open loops and profile stay.

        Raises:
            InputError: an unknown link, numbers that can't be, loops that wouldn't close any more, geometry of a
                mechanism that isn't MAD. The mechanism stays as it was.
        """
        check_known(mechanism, self.mechanisms, "mechanism", "mechanism")
        live = self.mechanisms[mechanism]
        if self.scene.mad is None:
            self._limit(live, changes)
            return live.gap
        robot = live.mechanism.robot
        positions = {joint: float(live.q[robot.index_q(joint)]) for joint in robot.joint_names}
        mad = changed_scene(self.scene.mad, mechanism, changes, positions)
        scene = build_scene(mad)
        locks = {change.joint: change.locked for change in changes}
        locked = tuple(j for j in robot.joint_names if locks.get(j, j in live.solver.locked))
        live.rebuild(scene.mechanisms[mechanism], locked)
        self.scene = scene
        return live.gap

    def _limit(self, live: LiveMechanism, changes: Sequence[LinkChange]) -> None:
        """Change limits and locks alone."""
        children = {joint.child: joint.name for joint in live.mechanism.robot.description.joints.values()}
        joints = [children.get(change.link, change.link) for change in changes]
        for joint, change in zip(joints, changes, strict=True):
            change.check()
            check_known(joint, live.mechanism.robot.joint_names, "links", "joint or its link")
            if change.type is not None:
                raise InputError(
                    "isn't MAD: its geometry can't be changed", element=f"mechanism '{live.mechanism.name}'",
                    remedy="Leave the type 0, to change limits and lock alone, or write it as MAD",
                )  # fmt: skip
        for joint, change in zip(joints, changes, strict=True):
            lower, upper = change.limits if change.limits is not None else (-np.inf, np.inf)
            live.solver.set_limits(joint, lower, upper)
            (live.lock if change.locked else live.unlock)(joint)
