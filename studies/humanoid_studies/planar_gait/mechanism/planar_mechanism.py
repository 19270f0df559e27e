# SPDX-License-Identifier: Apache-2.0
"""A planar mechanism with loops: bodies, the joints between them, and what is known of its loops.

Loops and the kinds of closed systems: specification 003 sections 2.1 and 2.29 (thesis I.1, I.2). Which joints to cut
is told by :mod:`.loop_cut`, the phase model that comes of it by :func:`.open_mechanism.open_mechanism`.
"""

from __future__ import annotations

import cmath
import math
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass

from humanoid_model.errors import InputError

GROUND = "ground"


@dataclass(frozen=True)
class Link:
    """A rigid body by its own frame, which no joint is tied to.

    Attributes:
        name: unique; its absolute angle bears it too.
        mass: [kg].
        centre: centre of mass in the link's frame [m].
        inertia: about the centre of mass [kg m²].
    """

    name: str
    mass: float
    centre: complex
    inertia: float


@dataclass(frozen=True)
class Pivot:
    """A revolute joint, a weld or a contact between two links, or a link and the ground.

    A torque u of the joint acts as +u on ``child`` and -u on ``parent``; its angle is that of the child less that of
    the parent. Which of the two is nearer to the ground doesn't matter.

    Attributes:
        name: unique.
        parent: a link, or ``GROUND``.
        at_parent: its place in the parent's frame [m].
        child: a link, or ``GROUND``.
        at_child: its place in the child's frame [m].
        torque: name of the control if it is actuated.
        forces: names of the controls of its force components along X and Y should it be cut: the force on ``parent``.
        contact: whether it is a unilateral contact, which can only press.
        weld: whether it doesn't turn.
        lower: least relative angle [rad].
        upper: greatest relative angle [rad].
        rate_limit: greatest relative rate [rad/s].
        damping: viscous coefficient [N m s/rad].
        rotor: inertia of its motor's rotor as seen at the joint, gear ratio squared included [kg m²].
        sign: of the relative angle in the robot's own count: angle = sign (child - parent - offset).
        offset: relative angle at which the robot counts zero [rad].
    """

    name: str
    parent: str
    at_parent: complex
    child: str
    at_child: complex = 0.0
    torque: str | None = None
    forces: tuple[str, str] | None = None
    contact: bool = False
    weld: bool = False
    lower: float = -math.inf
    upper: float = math.inf
    rate_limit: float = math.inf
    damping: float = 0.0
    rotor: float = 0.0
    sign: int = 1
    offset: float = 0.0

    def other(self, link: str) -> str:
        """Return the link at the other end."""
        return self.child if link == self.parent else self.parent


@dataclass(frozen=True)
class Loop:
    """Joints that form a ring.

    Attributes:
        pivots: names of the joints, one after the other.
        unilateral: whether a contact is among them.
    """

    pivots: tuple[str, ...]
    unilateral: bool


@dataclass(frozen=True)
class PlanarMechanism:
    """Links and joints, with or without loops.

    Attributes:
        name: of the mechanism.
        links: in the order of the coordinates.
        pivots: joints; those that bear the links have to connect every link with the ground or, if the mechanism
            floats, with each other.
    """

    name: str
    links: tuple[Link, ...]
    pivots: tuple[Pivot, ...]

    def __post_init__(self) -> None:
        """Check names and places.

        Raises:
            InputError: no link, a name twice, an unknown link, a joint of a link with itself, or a place that isn't
                finite.
        """
        names = [link.name for link in self.links]
        if not names:
            raise InputError("no link", element=self.name, remedy="Give at least one")
        for kind, given in (("link", names), ("joint", [pivot.name for pivot in self.pivots])):
            for name in given:
                if given.count(name) > 1 or name == GROUND:
                    raise InputError(
                        f"{kind} '{name}' is given twice or named like the ground",
                        element=self.name,
                        remedy="Give each a name of its own",
                    )
        for pivot in self.pivots:
            for end in (pivot.parent, pivot.child):
                if end not in (*names, GROUND):
                    raise InputError(
                        f"unknown link '{end}'", element=pivot.name, remedy=f"Use one of {', '.join((*names, GROUND))}"
                    )
            if pivot.parent == pivot.child:
                raise InputError(f"joins '{pivot.parent}' to itself", element=pivot.name, remedy="Name two links")
            if not (cmath.isfinite(pivot.at_parent) and cmath.isfinite(pivot.at_child)):
                raise InputError("has a place that isn't finite", element=pivot.name, remedy="Give finite lengths")

    def pivot(self, name: str) -> Pivot:
        """Return a joint by its name.

        Raises:
            InputError: there is none of that name.
        """
        for pivot in self.pivots:
            if pivot.name == name:
                return pivot
        known = ", ".join(pivot.name for pivot in self.pivots)
        raise InputError(f"unknown joint '{name}'", element=self.name, remedy=f"Use one of {known}")

    @property
    def loop_count(self) -> int:
        """Number of independent loops."""
        return len(self.pivots) - len(self.links) - 1 + self._parts()

    @property
    def kind(self) -> str:
        """What the thesis calls it: "open", "bilateral", "unilateral" or "multi-loop" (section I.2)."""
        loops = self.loops()
        if not loops:
            return "open"
        if len(loops) > 1:
            return "multi-loop"
        return "unilateral" if loops[0].unilateral else "bilateral"

    def loops(self) -> list[Loop]:
        """Independent loops: a shortest ring, one of its joints taken away, and so on."""
        rings: list[Loop] = []
        cut: set[str] = set()
        while (loop := self.shortest_loop(cut)) is not None:
            rings.append(loop)
            cut.add(loop.pivots[-1])
        return rings

    def mobility(self) -> int:
        """Degrees of freedom: three for each link, less what joints take, as long as no joint repeats another one."""
        taken = sum(3 if pivot.weld else 2 for pivot in self.pivots)
        return 3 * len(self.links) - taken

    def overactuation(self) -> int:
        """Actuators beyond the degrees of freedom (section 2.29): efforts that move nothing; negative if too few."""
        return sum(pivot.torque is not None for pivot in self.pivots) - self.mobility()

    def distances(self, cut: Collection[str] = ()) -> dict[str, int]:
        """Return the number of joints between the ground and each link, where there is a way."""
        steps = {GROUND: 0}
        queue = deque([GROUND])
        while queue:
            here = queue.popleft()
            for pivot in self.pivots:
                if pivot.name not in cut and here in (pivot.parent, pivot.child):
                    there = pivot.other(here)
                    if there not in steps:
                        steps[there] = steps[here] + 1
                        queue.append(there)
        return steps

    def shortest_loop(self, cut: Collection[str] = ()) -> Loop | None:
        """Return a shortest ring of joints without those that are cut; None if there is none."""
        best: tuple[str, ...] | None = None
        for pivot in self.pivots:
            if pivot.name in cut:
                continue
            way = self._way(pivot.parent, pivot.child, {*cut, pivot.name})
            if way is not None and (best is None or len(way) + 1 < len(best)):
                best = (*way, pivot.name)
        if best is None:
            return None
        return Loop(best, any(self.pivot(name).contact for name in best))

    def _way(self, start: str, end: str, without: Collection[str]) -> tuple[str, ...] | None:
        """Return joints of a shortest way between two links."""
        came: dict[str, tuple[str, ...]] = {start: ()}
        queue = deque([start])
        while queue:
            here = queue.popleft()
            if here == end:
                return came[here]
            for pivot in self.pivots:
                if pivot.name not in without and here in (pivot.parent, pivot.child):
                    there = pivot.other(here)
                    if there not in came:
                        came[there] = (*came[here], pivot.name)
                        queue.append(there)
        return None

    def _parts(self) -> int:
        """Return the number of pieces that hang together, the ground in one of them."""
        left = {GROUND, *(link.name for link in self.links)}
        parts = 0
        while left:
            parts += 1
            reached = {left.pop()}
            queue = deque(reached)
            while queue:
                here = queue.popleft()
                for pivot in self.pivots:
                    if here in (pivot.parent, pivot.child) and pivot.other(here) not in reached:
                        reached.add(pivot.other(here))
                        queue.append(pivot.other(here))
            left -= reached
        return parts
