# SPDX-License-Identifier: Apache-2.0
"""All mechanisms of a file, running: loaded, edited, and driven by devices that may drive several of them.

Links are changed while a mechanism runs.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from humanoid_kinematics.live.live_mechanism import ROBUST, LiveMechanism
from humanoid_kinematics.live.newest_commands import LiveLimits
from humanoid_kinematics.mad.build import LENGTH_UNIT
from humanoid_kinematics.mad.load import Scene, build_scene, load_scene, read_scene
from humanoid_kinematics.mad.syntax import MadLink, MadScene
from humanoid_kinematics.mad.write import write_mad
from humanoid_kinematics.solver.commands import ToolGoal
from humanoid_kinematics.solver.mechanism import KleinfingerKhalil
from humanoid_kinematics.solver.mechanism_solver import SolverOptions
from humanoid_model import InputError
from humanoid_model.checks import check_known
from humanoid_model.joint_trajectory import warm_up_sampling

PRISMATIC, REVOLUTE = 1, 2


@dataclass(frozen=True)
class LinkChange:
    """What a link should be from now on.

    Attributes:
        link: its name, ``link_3``; or that of its joint, ``joint_3``.
        type: ``PRISMATIC`` or ``REVOLUTE``; None leaves type and geometry as they are.
        parameters: its geometry. The joint's own variable (theta of a revolute, r of a prismatic joint) stays where the
            joint is, unless the type changes: then the joint begins there.
        limits: lowest and highest position of the joint [rad, m]; None: none.
        locked: whether the joint keeps its position.
    """

    link: str
    type: int | None = None
    parameters: KleinfingerKhalil = field(default_factory=KleinfingerKhalil)
    limits: tuple[float, float] | None = None
    locked: bool = False

    def check(self) -> None:
        """Check the numbers.

        Raises:
            InputError: an unknown type, numbers that aren't finite, or limits that aren't in order.
        """
        at = f"link '{self.link}'"
        if self.type not in (None, PRISMATIC, REVOLUTE):
            raise InputError(f"type is {self.type}", element=at, remedy="Give 1 (prismatic) or 2 (revolute)")
        numbers = vars(self.parameters)
        wrong = {name: value for name, value in numbers.items() if not math.isfinite(value)}
        if wrong:
            name, value = next(iter(wrong.items()))
            raise InputError(f"{name} is {value}", element=at, remedy="Give a finite number")
        if self.limits is not None and not self.limits[0] <= self.limits[1]:
            raise InputError(
                f"limits are {self.limits[0]} to {self.limits[1]}", element=at, remedy="Give the lower one first"
            )

    @property
    def joint(self) -> str:
        """Name of the joint."""
        return f"joint_{self.link.removeprefix('joint_').removeprefix('link_')}"


def changed_scene(mad: MadScene, robot: str, changes: Sequence[LinkChange], positions: Mapping[str, float]) -> MadScene:
    """Return a MAD scene with links changed, in the posture in which its robot stands.

    Args:
        mad: the scene.
        robot: name of one of its robots.
        changes: of its links.
        positions: of the joints now, which are the file's from now on; limits counted from the old ones are absolute
            then [rad, m].

    Raises:
        InputError: an unknown link, or a change that can't be.
    """
    unit = mad.length_unit or LENGTH_UNIT
    found = next(each for each in mad.robots if each.name == robot)
    links = {f"joint_{node.number}": node for node in found.nodes if isinstance(node, MadLink)}
    for joint, node in links.items():
        own, scale = ("r", unit) if node.type == PRISMATIC else ("theta", math.pi / 180.0)
        here = {**node.parameters, own: positions[joint] / scale}
        links[joint] = replace(node, parameters=here, limits=node.bounds, range=None)
    for change in changes:
        change.check()
        if change.joint not in links:
            raise InputError(
                f"there is no link '{change.link}'", element="links",
                remedy=f"There are {', '.join(f'link_{node.number}' for node in links.values())}",
            )  # fmt: skip
        old = links[change.joint]
        kind = change.type or old.type
        own, scale = ("r", unit) if kind == PRISMATIC else ("theta", math.pi / 180.0)
        parameters = dict(old.parameters) if change.type is None else _in_file(change.parameters, unit)
        if kind == old.type:
            parameters[own] = old.parameters[own]
        limits = None
        if change.limits is not None:
            limits = change.limits[0] / scale, change.limits[1] / scale
            parameters[own] = min(max(parameters[own], limits[0]), limits[1])
        links[change.joint] = replace(old, parameters=parameters, type=kind, limits=limits)
    for node in links.values():
        found = found.with_node(node)
    return mad.with_robot(found)


def _in_file(kk: KleinfingerKhalil, unit: float) -> dict[str, float]:
    return {
        "theta": math.degrees(kk.theta), "r": kk.r / unit, "alpha": math.degrees(kk.alpha), "d": kk.d / unit,
        "gamma": math.degrees(kk.gamma), "epsil": kk.epsilon / unit,
    }  # fmt: skip


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
        """Load a file or a mechanism that comes with the stack, as :func:`~humanoid_kinematics.mad.load.load_scene`."""
        return cls(load_scene(path), options, limits)

    @classmethod
    def read(cls, text: str, options: SolverOptions | None = None, limits: LiveLimits | None = None) -> LiveScene:
        """Load a text; as :func:`~humanoid_kinematics.mad.load.read_scene`."""
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
