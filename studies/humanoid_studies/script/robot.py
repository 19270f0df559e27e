# SPDX-License-Identifier: Apache-2.0
"""A robot as the script's generator sees it: joints and links in lists, linked by names (thesis §3.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from humanoid_model.errors import RobotError
from humanoid_studies.script.force import Force
from humanoid_studies.script.identifiers import identifiers
from humanoid_studies.script.joint import Joint
from humanoid_studies.script.link import Link
from humanoid_studies.script.literal import literal, shown
from humanoid_studies.script.parser_urdf import parser_urdf
from humanoid_studies.script.robot_graph import robot_graph
from humanoid_studies.script.stacking import stack

if TYPE_CHECKING:
    import networkx

_Member = TypeVar("_Member", Joint, Link)


class Robot:
    """A tree of links and joints with one degree of freedom each.

    The lists keep the order of the URDF, which may be any; the tree is traversed from joint to joint by the names
    of parent and child links, as a linked list is. Floating and planar joints are replaced by stacks of joints.

    Attributes:
        name: of the robot.
        source: where it comes from, for the header of the script.
        links: all links; a root that only joints name comes first.
        joints: all joints.
        forces: forces of the environment that the URDF gives.
        root: name of the link that no joint moves.
        root_joints: joints that the root link carries.
        leaf_joints: joints whose child link carries none.
        variables: joints that move by themselves; row i of ``array_of_variables`` is for joint i of this list.
        identifiers: what stands for each joint and link in the names of variables.
        keys: what stands for each link in the keys of ``values_robot``: its name, unless a joint has the same.
    """

    def __init__(self, name: str, lists: Mapping[str, Sequence[Sequence[str]]], source: str = "") -> None:
        """Make a robot of the lists of :func:`parser_urdf`.

        Args:
            name: of the robot.
            lists: records by tag; tags may be missing, those that the robot doesn't know are no matter.
            source: where the lists come from.

        Raises:
            RobotError: a record makes no joint, link or force, a name is given twice, or the joints make no tree of
                the links.
        """
        self.name = name
        self.source = source
        joint_records, link_records = self._stacked(lists)
        self.links = [Link(record) for record in link_records]
        self.joints = [Joint(record) for record in joint_records]
        self.forces = [Force(record) for record in lists.get("force", ())]
        self._joint = _by_name(self.joints, "joint")
        declared = _by_name(self.links, "link")
        parents = dict.fromkeys(joint.parent for joint in self.joints)
        self.links[:0] = [Link([link]) for link in parents if link not in declared]
        self._link = _by_name(self.links, "link")
        self._connect()
        for joint, *limit in lists.get("limit", ()):
            if joint in self._joint:  # else a planar joint's, which are several now
                self._joint[joint].limit = list(limit)
        for record in lists.get("mimic", ()):
            self._follow(*record)
        self.variables = [joint for joint in self.joints if joint.moves and joint.leader is None]
        self._row = {joint.name: row for row, joint in enumerate(self.variables)}
        self._name_all()

    @classmethod
    def from_urdf(cls, path: str | Path) -> Robot:
        """Read a URDF file, or a URDF text.

        Raises:
            RobotError: as :func:`parser_urdf`.
        """
        name, lists = parser_urdf(path)
        is_text = isinstance(path, str) and path.lstrip().startswith("<")
        return cls(name, lists, "a URDF text" if is_text else Path(path).name)

    # The linked list -----------------------------------------------------------------------------------------------

    def joint(self, name: str) -> Joint:
        """Return the joint of that name; KeyError when there is none."""
        return self._joint[name]

    def link(self, name: str) -> Link:
        """Return the link of that name; KeyError when there is none."""
        return self._link[name]

    def find_previous_joint(self, joint: Joint) -> Joint | None:
        """Return the joint that moves the link which carries this one; None for a root joint."""
        return self._moving.get(joint.parent)

    def find_next_joints(self, joint: Joint) -> list[Joint]:
        """Return the joints that the child link of this one carries, in the order of the URDF."""
        return self._carried.get(joint.child, [])

    def find_moving_joint(self, link: str) -> Joint | None:
        """Return the joint that moves a link; None for the root."""
        return self._moving.get(link)

    def find_row(self, joint: Joint) -> int:
        """Return the row of ``array_of_variables`` of a joint that moves by itself; KeyError for another."""
        return self._row[joint.name]

    def find_leader(self, joint: Joint) -> tuple[Joint, float, float]:
        """Return the joint of ``variables`` that sets this one's position, and its multiplier and offset.

        A joint may follow one that follows another; one that moves by itself is its own leader.
        """
        multiplier, offset = 1.0, 0.0
        for _ in self.joints:
            if joint.leader is None:
                return joint, multiplier, offset
            offset += multiplier * joint.offset
            multiplier *= joint.multiplier
            joint = self._joint[joint.leader]
        raise self._fail(joint, "follows itself", "Let one joint of the ring move by itself")

    @cached_property
    def forward_order(self) -> list[Joint]:
        """All joints, each after the one that carries it; branch after branch."""
        order = []
        waiting = self.root_joints[::-1]
        while waiting:
            joint = waiting.pop()
            order.append(joint)
            waiting.extend(self.find_next_joints(joint)[::-1])
        return order

    def can_turn(self, joint: Joint | None) -> bool:
        """Return whether the link that this joint moves ever turns; the root (None) doesn't."""
        return joint is not None and joint.name in self._turning

    @cached_property
    def graph(self) -> networkx.DiGraph:
        """The robot as a graph: see :func:`~humanoid_studies.script.robot_graph.robot_graph`."""
        return robot_graph(self.name, self.links, self.joints)

    # The second output ---------------------------------------------------------------------------------------------

    def create_array_of_variables(self) -> str:
        """Source text to paste before the call of the model: three variables per joint, and the array of them.

        The variables are called ``gv_position_<joint>``, ``gv_velocity_<joint>`` and ``gv_acceleration_<joint>``
        (general variables); ``array_of_variables`` has them in the order that the script expects.
        """
        lines = [
            f"# Variables of the robot {shown(self.name)}: fill in the values, then call",
            "# values_robot = dynamic_model(array_of_variables)",
            "",
        ]
        rows = []
        for joint in self.variables:
            lines.append(f"# {shown(joint.name)}: {joint.type}, {joint.unit}, {joint.unit}/s, {joint.unit}/s^2")
            if joint.limit is not None and joint.type != "continuous":
                lower, upper = (literal(float(bound or 0)) for bound in joint.limit[:2])
                lines.append(f"# limits {lower} to {upper}, not checked")
            names = [f"gv_{what}_{self.identifiers[joint.name]}" for what in ("position", "velocity", "acceleration")]
            lines += [f"{name} = 0.0" for name in names] + [""]
            row = f"    [{', '.join(names)}],"
            rows += [row] if len(row) < 80 else ["    [", *(f"        {name}," for name in names), "    ],"]
        return "\n".join([*lines, "array_of_variables = [", *rows, "]", ""])

    # Making it -----------------------------------------------------------------------------------------------------

    def _stacked(self, lists: Mapping[str, Sequence[Sequence[str]]]) -> tuple[list[list[str]], list[list[str]]]:
        joints: list[list[str]] = []
        links = [list(record) for record in lists.get("link", ())]
        taken = {record[0] for tag in ("joint", "link") for record in lists.get(tag, ())}
        for record in lists.get("joint", ()):
            new_joints, new_links = stack(record, taken)
            joints += new_joints
            links += new_links
        return joints, links

    def _connect(self) -> None:
        self._moving: dict[str, Joint] = {}
        self._carried: dict[str, list[Joint]] = {}
        for joint in self.joints:
            if joint.child not in self._link:
                raise self._fail(joint, f"no link is named '{joint.child}'", "Declare that link")
            if joint.child in self._moving:
                other = self._moving[joint.child].name
                raise self._fail(joint, f"link '{joint.child}' is already moved by joint '{other}'", "Keep one of them")
            self._moving[joint.child] = joint
            self._carried.setdefault(joint.parent, []).append(joint)
        roots = [link.name for link in self.links if link.name not in self._moving]
        if len(roots) != 1:
            raise RobotError(
                f"robot '{self.name}' has {len(roots)} root links: {', '.join(roots) or 'its joints make a loop'}",
                source=self.source or None,
                remedy="Connect all links by joints so that one alone has no parent",
            )
        self.root = roots[0]
        self.root_joints = self._carried.get(self.root, [])
        self.leaf_joints = [joint for joint in self.joints if not self.find_next_joints(joint)]
        if len(self.forward_order) < len(self.joints):
            joint = next(joint for joint in self.joints if joint not in self.forward_order)
            raise self._fail(joint, "isn't reached from the root, the joints make a loop", "Cut the loop at one joint")
        self._turning: set[str] = set()
        for joint in self.forward_order:
            if joint.turns or self.can_turn(self.find_previous_joint(joint)):
                self._turning.add(joint.name)
        for force in self.forces:
            if force.link not in self._moving:
                raise RobotError(
                    f"no joint moves link '{force.link}'",
                    element=f"force '{force.name}'",
                    remedy="Name a link that moves",
                )

    def _follow(self, name: str, leader: str, multiplier: str, offset: str) -> None:
        for end in (name, leader):
            if end not in self._joint or not self._joint[end].moves:
                raise RobotError(
                    f"mimic involves '{end}', no joint of one degree of freedom",
                    element=f"joint '{name}'",
                    remedy="Only revolute, continuous and prismatic joints can mimic or be mimicked",
                )
        joint = self._joint[name]
        joint.leader, joint.multiplier, joint.offset = leader, float(multiplier), float(offset)

    def _name_all(self) -> None:
        names = {joint.name for joint in self.joints}
        self.keys = {}
        taken = set(names) | {link.name for link in self.links}
        for link in self.links:
            key = link.name
            if key in names:
                while key in taken:
                    key += "_link"
                taken.add(key)
            self.keys[link.name] = key
        self.identifiers = identifiers([*(joint.name for joint in self.joints), *self.keys.values()])

    def _fail(self, joint: Joint, problem: str, remedy: str) -> RobotError:
        return RobotError(problem, source=self.source or None, element=f"joint '{joint.name}'", remedy=remedy)


def _by_name(members: Iterable[_Member], what: str) -> dict[str, _Member]:
    found: dict[str, _Member] = {}
    for member in members:
        if member.name in found:
            raise RobotError(f"second {what} named '{member.name}'", remedy=f"Give each {what} a name of its own")
        found[member.name] = member
    return found
