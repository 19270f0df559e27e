# SPDX-License-Identifier: Apache-2.0
"""Changes of a mechanism's links while it runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from humanoid_kinematics.kleinfinger_khalil import KleinfingerKhalil
from humanoid_kinematics.mad.build import LENGTH_UNIT
from humanoid_kinematics.mad.syntax import MadLink, MadScene
from humanoid_model import InputError
from humanoid_model.checks import check_known

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
    """Return a MAD scene with links changed.

    Args:
        mad: the scene.
        robot: name of one of its robots.
        changes: of its links.
        positions: of the joints now, from which a changed link's file value comes [rad, m].

    Raises:
        InputError: an unknown link, or a change that can't be.
    """
    unit = mad.length_unit or LENGTH_UNIT
    found = next(each for each in mad.robots if each.name == robot)
    links = {f"joint_{node.number}": node for node in found.nodes if isinstance(node, MadLink)}
    for change in changes:
        change.check()
        check_known(change.joint, links, "links", "link")
        old = links[change.joint]
        kind = change.type or old.type
        scale = unit if kind == PRISMATIC else math.pi / 180.0
        parameters = dict(old.parameters) if change.type is None else _in_file(change.parameters, unit)
        if kind == old.type:
            parameters["r" if kind == PRISMATIC else "theta"] = positions[change.joint] / scale
        limits = None
        if change.limits is not None:
            limits = change.limits[0] / scale, change.limits[1] / scale
        found = found.with_node(replace(old, parameters=parameters, type=kind, limits=limits, range=None))
    return mad.with_robot(found)


def _in_file(kk: KleinfingerKhalil, unit: float) -> dict[str, float]:
    return {
        "theta": math.degrees(kk.theta), "r": kk.r / unit, "alpha": math.degrees(kk.alpha), "d": kk.d / unit,
        "gamma": math.degrees(kk.gamma), "epsil": kk.epsilon / unit,
    }  # fmt: skip
