# SPDX-License-Identifier: Apache-2.0
"""Generator of the readable script: the inverse dynamics of one robot, Newton-Euler in world axes (thesis §2.2, §3.3).

The thesis' listing with its errors mended (specification 004 §2.5 and §7). Every equation is one statement on what
earlier statements computed, with the numbers of the URDF in it: nothing grows but the number of statements, and a
person can find, understand and change each of them.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from humanoid_model.errors import InputError
from humanoid_studies.script.force import Force
from humanoid_studies.script.joint import Joint
from humanoid_studies.script.link import Link
from humanoid_studies.script.literal import literal, quoted, shown
from humanoid_studies.script.robot import Robot
from humanoid_studies.script.script_frame import FOOTER, HEADER, ROW_CHECK

#: m/s², world axes.
_GRAVITY = (0.0, 0.0, -9.81)

#: PEP 8: columns of a line of code; lines of the script pass them where a name alone is too long.
_COLUMNS = 79

_INDENTATION = "    "


def script_from_urdf(path: str | Path, gravity: Sequence[float] = _GRAVITY) -> tuple[str, str]:
    """Write both outputs of the thesis' tool for a URDF.

    Args:
        path: of a URDF file, or the URDF text itself.
        gravity: (3,) acceleration of gravity, world axes [m/s²]; whoever calls the script's function can give another.

    Returns:
        The script (see :func:`create_script`), and the snippet that declares its variables (see
        :meth:`Robot.create_array_of_variables`).

    Raises:
        RobotError: the file can't be read or is no legal robot.
        InputError: gravity isn't three finite numbers.
    """
    robot = Robot.from_urdf(path)
    return create_script(robot, gravity), robot.create_array_of_variables()


def create_script(robot: Robot, gravity: Sequence[float] = _GRAVITY) -> str:
    """Write the dynamic model of a robot as a stand-alone Python file that imports numpy only.

    Its function ``dynamic_model(array_of_variables, external_forces=None, gravity=GRAVITY)`` returns the dictionary
    ``values_robot``; the file's docstring says what it takes and gives.

    Args:
        robot: any tree, with one degree of freedom per joint.
        gravity: (3,) acceleration of gravity, world axes [m/s²].

    Raises:
        InputError: gravity isn't three finite numbers.
    """
    gravity = _checked(gravity)
    header = HEADER.format(
        robot=shown(robot.name),
        source=f" written from {shown(robot.source)}" if robot.source else " written by humanoid_codegen",
        rows="\n".join(f"{row:8d}  {shown(joint.name)} [{joint.unit}]" for row, joint in enumerate(robot.variables))
        or "    (none: no joint moves)",
        notes="".join(f"\n{line}\n" for line in _notes(robot)),
        gravity=literal(gravity),
        joints=_names(joint.name for joint in robot.variables),
        links=_names(link.name for link in robot.links if link.name != robot.root),
    )
    check = ROW_CHECK if robot.variables else ""
    body = [create_forward(robot, _INDENTATION), create_backward(robot, _INDENTATION)]
    return header + check + "\n".join([*body, _create_values(robot, _INDENTATION)]) + FOOTER


# Forward ---------------------------------------------------------------------------------------------------------


def create_forward(robot: Robot, indentation: str) -> str:
    """Write positions, velocities and accelerations, and the inertial effort of each link, from the root to the tips.

    Args:
        robot: the robot.
        indentation: white space before each statement.
    """
    text = _Text(indentation)
    text.comment("Part Forward : positions, velocities and accelerations, root to tips")
    text.blank()
    root, name = robot.link(robot.root), robot.identifiers[robot.keys[robot.root]]
    text.comment(f"Root link : {shown(root.name)}, at rest; gravity is the acceleration of its opposite")
    text.assign("base_acceleration", "-np.array(gravity)")
    text.assign(f"position_{name}", f"np.array({root.xyz})")
    text.assign(f"velocity_{name}", "np.zeros(3)")
    text.assign(f"acceleration_{name}", "base_acceleration")
    return str(text) + "".join("\n" + select_forward(robot, joint, indentation) for joint in robot.forward_order)


def select_forward(robot: Robot, joint: Joint, indentation: str) -> str:
    """Write the forward statements of a joint and of the link it moves.

    The equations are chosen by what carries the joint, then by the joint's own type: a link that can't turn, because
    only sliding joints are before it, needs no angular velocity. (The thesis looks at the type of the previous joint
    alone, which misses a revolute joint further back.)

    Args:
        robot: the robot.
        joint: one of its joints.
        indentation: white space before each statement.
    """
    previous = robot.find_previous_joint(joint)
    if previous is None:
        motion = _carried_by_root(joint)
    elif robot.can_turn(previous):
        motion = _carried_by_turning_link(joint, robot.identifiers[previous.name], robot.identifiers[joint.name])
    else:
        motion = _carried_by_sliding_link(joint, robot.identifiers[previous.name])
    text = _Text(indentation)
    carrier = f", moved by {shown(previous.name)}" if previous else ""
    text.comment(f"Joint : {shown(joint.name)} {joint.type}, from {shown(joint.parent)}{carrier}")
    _OWN_MOTION[joint.type](robot, joint, motion, text)
    _link_forward(robot, joint, text)
    return str(text)


@dataclass
class _Motion:
    """How a joint's frame moves with what carries it, as terms of sums; the joint's own motion is added to them.

    Attributes:
        rotation: factors of the orientation in the world.
        lever: of the vector from the previous joint to this one, world axes.
        position: of the origin; of them ``lever_<joint>`` stands for the lever.
        velocity: of the origin.
        acceleration: of the origin, without gravity.
        omega: of the angular velocity; none when the carrying link never turns.
        omegap: of the angular acceleration.
        carrier_omega: name of the carrying link's angular velocity, empty when it never turns.
    """

    rotation: list[str] = field(default_factory=list)
    lever: list[str] = field(default_factory=list)
    position: list[str] = field(default_factory=list)
    velocity: list[str] = field(default_factory=list)
    acceleration: list[str] = field(default_factory=list)
    omega: list[str] = field(default_factory=list)
    omegap: list[str] = field(default_factory=list)
    carrier_omega: str = ""


def _carried_by_root(joint: Joint) -> _Motion:
    return _Motion(position=[f"np.array({joint.xyz})"], acceleration=["base_acceleration"])


def _carried_by_sliding_link(joint: Joint, previous: str) -> _Motion:
    return _Motion(
        rotation=[f"rotation_{previous}"],
        lever=[f"rotation_{previous} @ {joint.xyz}"] if joint.is_shifted else [],
        position=[f"position_{previous}"],
        velocity=[f"velocity_{previous}"],
        acceleration=[f"acceleration_{previous}"],
    )


def _carried_by_turning_link(joint: Joint, previous: str, name: str) -> _Motion:
    motion = _carried_by_sliding_link(joint, previous)
    motion.carrier_omega = omega = f"omega_rev_{previous}"
    if joint.is_shifted or joint.type == "prismatic":
        motion.velocity.append(f"cross({omega}, lever_{name})")
        motion.acceleration.append(f"cross(omegap_rev_{previous}, lever_{name})")
        motion.acceleration.append(f"cross({omega}, cross({omega}, lever_{name}))")
    motion.omega.append(omega)
    motion.omegap.append(f"omegap_rev_{previous}")
    return motion


def _revolute_forward(robot: Robot, joint: Joint, motion: _Motion, text: _Text) -> None:
    name = robot.identifiers[joint.name]
    _general_variables(robot, joint, text)
    if joint.is_turned:
        text.product(f"frame_{name}", [*motion.rotation, f"matrix_rotation_rpy({joint.rpy})"])
    frame = _frame(robot, joint)
    text.product(f"rotation_{name}", [*frame, f"matrix_rotation(q_{name})"])
    rate = _product([*frame, f"qd_{name}"])
    motion.omega.append(rate)
    motion.omegap.append(_product([*frame, f"qdd_{name}"]))
    if motion.carrier_omega:
        motion.omegap.append(f"cross({motion.carrier_omega}, {rate})")
    _joint_forward(robot, joint, motion, text)


def _prismatic_forward(robot: Robot, joint: Joint, motion: _Motion, text: _Text) -> None:
    name = robot.identifiers[joint.name]
    _general_variables(robot, joint, text)
    _unturned(name, joint, motion, text)
    frame = _frame(robot, joint)
    slide, rate = _product([*frame, f"q_{name}"]), _product([*frame, f"qd_{name}"])
    (motion.lever if robot.find_previous_joint(joint) else motion.position).append(slide)
    motion.velocity.append(rate)
    if motion.carrier_omega:
        motion.acceleration.append(f"2.0 * cross({motion.carrier_omega}, {rate})")
    motion.acceleration.append(_product([*frame, f"qdd_{name}"]))
    _joint_forward(robot, joint, motion, text)


def _fixed_forward(robot: Robot, joint: Joint, motion: _Motion, text: _Text) -> None:
    name = robot.identifiers[joint.name]
    _unturned(name, joint, motion, text)
    _joint_forward(robot, joint, motion, text)


_OWN_MOTION: dict[str, Callable[[Robot, Joint, _Motion, _Text], None]] = {
    "revolute": _revolute_forward,
    "continuous": _revolute_forward,
    "prismatic": _prismatic_forward,
    "fixed": _fixed_forward,
}


def _general_variables(robot: Robot, joint: Joint, text: _Text) -> None:
    name = robot.identifiers[joint.name]
    leader, multiplier, offset = robot.find_leader(joint)
    variables = f"array_of_variables[{robot.find_row(leader)}]"
    if joint.leader is not None:
        text.comment(f"It follows {shown(leader.name)}: multiplier {literal(multiplier)}, offset {literal(offset)}")
        text.assign("variables", f"{literal(multiplier)} * {variables}", literal([offset, 0, 0]))
        variables = "variables"
    text.call(f"q_{name}, qd_{name}, qdd_{name}", "general_variables", [variables, joint.axis])


def _unturned(name: str, joint: Joint, motion: _Motion, text: _Text) -> None:
    """Orientation after a joint that doesn't turn."""
    turn = [f"matrix_rotation_rpy({joint.rpy})"] if joint.is_turned else []
    text.product(f"rotation_{name}", [*motion.rotation, *turn] or ["np.eye(3)"])


def _frame(robot: Robot, joint: Joint) -> list[str]:
    """Return factors that turn the joint's axis to world axes; none on a root joint that isn't turned."""
    name = robot.identifiers[joint.name]
    if joint.is_turned:
        return [f"frame_{name}" if joint.turns else f"rotation_{name}"]
    previous = robot.find_previous_joint(joint)
    return [f"rotation_{robot.identifiers[previous.name]}"] if previous else []


def _joint_forward(robot: Robot, joint: Joint, motion: _Motion, text: _Text) -> None:
    """Write the motion of a joint: orientation is written already."""
    name = robot.identifiers[joint.name]
    is_bare_tip = robot.link(joint.child).is_empty and not robot.find_next_joints(joint)
    if motion.omega and not is_bare_tip:
        text.assign(f"omega_rev_{name}", *motion.omega)
        text.assign(f"omegap_rev_{name}", *motion.omegap)
    if motion.lever:
        text.assign(f"lever_{name}", *motion.lever)
        motion.position.append(f"lever_{name}")
    text.assign(f"position_{name}", *motion.position)
    text.assign(f"velocity_{name}", *motion.velocity or ["np.zeros(3)"])
    text.assign(f"acceleration_{name}", *motion.acceleration)


def _link_forward(robot: Robot, joint: Joint, text: _Text) -> None:
    """Write the motion of the centre of mass, and what moves this link alone, at the joint."""
    link = robot.link(joint.child)
    if link.is_empty:
        _empty_link_forward(robot, joint, link, text)
    else:
        _massive_link_forward(robot, joint, link, text)
    name = robot.identifiers[joint.name]
    text.comment("Extern forces and torques on the link")
    text.lines(f"forces_{name} -= extern[{quoted(link.name)}][0]", f"torques_{name} -= extern[{quoted(link.name)}][1]")
    for force in robot.forces:
        if force.link == link.name:
            _force_forward(name, force, text)


def _empty_link_forward(robot: Robot, joint: Joint, link: Link, text: _Text) -> None:
    name, own = robot.identifiers[joint.name], robot.identifiers[robot.keys[link.name]]
    text.comment(f"Link : {shown(link.name)}, empty, nothing to accelerate")
    for quantity in ("position", "velocity", "acceleration"):
        text.assign(f"{quantity}_{own}", f"{quantity}_{name}")
    text.assign(f"forces_{name}", "np.zeros(3)")
    text.assign(f"torques_{name}", "np.zeros(3)")


def _massive_link_forward(robot: Robot, joint: Joint, link: Link, text: _Text) -> None:
    name, own = robot.identifiers[joint.name], robot.identifiers[robot.keys[link.name]]
    text.comment(f"Link : {shown(link.name)}, at its centre of mass")
    position, velocity, acceleration = [f"position_{name}"], [f"velocity_{name}"], [f"acceleration_{name}"]
    torques = []
    if link.is_shifted:
        text.assign(f"arm_{own}", f"rotation_{name} @ {link.xyz}")
        position.append(f"arm_{own}")
    if robot.can_turn(joint):
        omega, omegap = f"omega_rev_{name}", f"omegap_rev_{name}"
        if link.is_shifted:
            velocity.append(f"cross({omega}, arm_{own})")
            acceleration += [f"cross({omegap}, arm_{own})", f"cross({omega}, cross({omega}, arm_{own}))"]
        torques += [f"inertia_{own} @ {omegap}", f"cross({omega}, inertia_{own} @ {omega})"]
    text.assign(f"position_{own}", *position)
    text.assign(f"velocity_{own}", *velocity)
    text.assign(f"acceleration_{own}", *acceleration)
    if robot.can_turn(joint):
        axes = f"rotation_{name}"
        if link.is_turned:
            text.product(f"axes_{own}", [axes, f"matrix_rotation_rpy({link.rpy})"])
            axes = f"axes_{own}"
        rows = ",\n".join(f"{text.indentation}    {row}" for row in link.inertia)
        text.lines(f"inertia_{own} = {axes} @ [\n{rows},\n{text.indentation}] @ {axes}.T")
    text.comment(f"Forces and torques in local ({shown(joint.name)}) without extern forces")
    text.assign(f"forces_{name}", f"{literal(link.mass)} * acceleration_{own}")
    if link.is_shifted:
        torques.append(f"cross(arm_{own}, forces_{name})")
    text.assign(f"torques_{name}", *torques or ["np.zeros(3)"])


def _force_forward(name: str, force: Force, text: _Text) -> None:
    def in_world(vector: str, frame: str) -> str:
        return vector if frame == "world" else f"rotation_{name} @ {vector}"

    text.comment(f"Force : {shown(force.name)}, given in the URDF along the axes of the {force.vector_frame}")
    text.assign("force", in_world(force.vector, force.vector_frame))
    text.lines(f"forces_{name} -= force")
    if not force.is_at_origin:
        text.lines(f"torques_{name} -= cross(rotation_{name} @ {force.xyz}, force)")
    if force.has_moment:
        text.lines(f"torques_{name} -= {in_world(force.moment, force.moment_frame)}")


# Backward --------------------------------------------------------------------------------------------------------


def create_backward(robot: Robot, indentation: str) -> str:
    """Write the sums of forces and torques from the tips to the root, and the effort of each actuator.

    Args:
        robot: the robot.
        indentation: white space before each statement.
    """
    text = _Text(indentation)
    text.comment("Part Backward : forces and torques, tips to root")
    blocks = [str(text)] + [recursive_backward(robot, joint, indentation) for joint in reversed(robot.forward_order)]
    followers = _Text(indentation)
    for joint in reversed(robot.forward_order):
        if joint.leader is not None:
            leader, multiplier, _ = robot.find_leader(joint)
            followers.comment(f"{shown(leader.name)} also moves {shown(joint.name)}, which follows it")
            effort = f"{literal(multiplier)} * effort_{robot.identifiers[joint.name]}"
            followers.lines(f"effort_{robot.identifiers[leader.name]} += {effort}")
    return "\n".join([*blocks, str(followers)] if str(followers) else blocks)


def recursive_backward(robot: Robot, joint: Joint, indentation: str) -> str:
    """Write one step of the recursion: all that the joint's link carries is added to what the link needs itself.

    Args:
        robot: the robot.
        joint: one of its joints; those that its link carries must have been written.
        indentation: white space before each statement.
    """
    text = _Text(indentation)
    name = robot.identifiers[joint.name]
    carried = robot.find_next_joints(joint)
    what = "carries " + ", ".join(shown(child.name) for child in carried) if carried else "a tip, carries nothing"
    text.comment(f"Joint : {shown(joint.name)}, {what}")
    for child in carried:
        outer = robot.identifiers[child.name]
        text.lines(f"forces_{name} += forces_{outer}")
        has_lever = child.is_shifted or child.type == "prismatic"
        lever = [f"cross(lever_{outer}, forces_{outer})"] if has_lever else []
        text.assign(f"torques_{name}", f"torques_{outer}", *lever, operator="+=")
    if joint.moves:
        effort = f"torques_{name}" if joint.turns else f"forces_{name}"
        text.product(f"effort_{name}", [effort, *_frame(robot, joint), joint.axis])
    return str(text)


# The rest of the script ------------------------------------------------------------------------------------------


def _create_values(robot: Robot, indentation: str) -> str:
    """Write the dictionary of everything computed."""
    text = _Text(indentation)
    text.comment("Part Values : everything computed, by name")
    text.assign("values_robot", "{}")

    def fill(quantities: Sequence[str], key: str) -> None:
        for quantity in quantities:
            entry = quoted(f"{quantity}_{key}")
            text.lines(f"values_robot[{entry}] = {quantity}_{robot.identifiers[key]}")

    for joint in robot.joints:
        text.comment(f"Values of joint {shown(joint.name)}")
        fill(("position", "rotation", "velocity", "acceleration", "forces", "torques"), joint.name)
        fill(("effort",) if joint.moves else (), joint.name)
    for link in robot.links:
        text.comment(f"Values of link {shown(link.name)}")
        fill(("position", "velocity", "acceleration"), robot.keys[link.name])
    text.lines("return values_robot")
    return str(text)


def _notes(robot: Robot) -> list[str]:
    """Return what the docstring says on this robot alone."""
    notes = [
        f'Link {shown(link)} has the name of a joint: its keys end in "{shown(key)}".'
        for link, key in robot.keys.items()
        if key != link
    ]
    for joint in robot.joints:
        if joint.leader is not None:
            leader, multiplier, _ = robot.find_leader(joint)
            name, other = shown(joint.name), shown(leader.name)
            notes.append(f"Joint {name} follows {other}: effort_{other} has {literal(multiplier)} times")
            notes[-1] += f" effort_{name} in it."
    return ["\n".join(textwrap.wrap(note, _COLUMNS, break_long_words=False)) for note in notes]


def _checked(gravity: Sequence[float]) -> list[float]:
    try:
        numbers = [float(part) for part in gravity]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) != 3 or not all(map(math.isfinite, numbers)):
        raise InputError(f"gravity is {gravity}", remedy="Give three finite numbers, m/s^2 along world x, y, z")
    return numbers


def _names(names: Iterable[str]) -> str:
    """Source text of a list of names."""
    words = [quoted(name) for name in names]
    line = f"[{', '.join(words)}]"
    return line if len(line) <= _COLUMNS - 9 else "[\n" + "".join(f"    {word},\n" for word in words) + "]"


def _product(factors: Sequence[str]) -> str:
    return " @ ".join(factors)


class _Text:
    """Statements of the script, folded as PEP 8 prescribes."""

    def __init__(self, indentation: str) -> None:
        self.indentation = indentation
        self._lines: list[str] = []

    def __str__(self) -> str:
        return "".join(f"{line}\n" for line in self._lines)

    def blank(self) -> None:
        self._lines.append("")

    def lines(self, *lines: str) -> None:
        self._lines += [self.indentation + line for line in lines]

    def comment(self, text: str) -> None:
        width = _COLUMNS - len(self.indentation) - 2
        folded = textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        self.lines(*(f"# {line}" for line in folded))

    def assign(self, target: str, *terms: str, operator: str = "=") -> None:
        """Write a sum of terms."""
        self._folded(f"{target} {operator} ", " + ".join(terms), [terms[0], *(f"+ {term}" for term in terms[1:])])

    def product(self, target: str, factors: Sequence[str]) -> None:
        self._folded(f"{target} = ", _product(factors), [factors[0], *(f"@ {factor}" for factor in factors[1:])])

    def call(self, target: str, function: str, arguments: Sequence[str]) -> None:
        start = f"{target} = {function}"
        line = f"{start}({', '.join(arguments)})"
        if len(self.indentation + line) <= _COLUMNS:
            self.lines(line)
        else:
            self.lines(f"{start}(", f"    {', '.join(arguments)}", ")")

    def _folded(self, start: str, line: str, parts: Sequence[str]) -> None:
        if len(self.indentation + start + line) <= _COLUMNS or len(parts) == 1:
            self.lines(start + line)
        else:
            lines = [line for part in parts for line in self._folded_call(part)]
            self.lines(f"{start}(", *(f"    {line}" for line in lines), ")")

    def _folded_call(self, term: str) -> list[str]:
        """Return a term in one line, or, where that is too long and it is a call of two arguments, in four."""
        name, opening, arguments = term.partition("(")
        depth = 0
        for place, char in enumerate(arguments):
            depth += (char in "([") - (char in ")]")
            if char == "," and depth == 0 and len(self.indentation) + 4 + len(term) > _COLUMNS:
                first, second = arguments[:place], arguments[place + 2 : -1]
                return [name + opening, f"    {first},", f"    {second},", ")"]
        return [term]
