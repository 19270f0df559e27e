# SPDX-License-Identifier: Apache-2.0
"""The document of a robot's equations, from its picture and tables to its operation counts."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pinocchio as pin

from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_codegen.dynamics.inertial_parameters import group_inertias
from humanoid_codegen.dynamics.mechanism import Body, Mechanism
from humanoid_codegen.expression.function import Module
from humanoid_codegen.report.diagrams import (
    body_of,
    coordinate_range,
    free_base,
    kind_name,
    stick_figure,
    tree_diagram,
    velocity_range,
)
from humanoid_codegen.report.document import Block, Figure, Formula, Heading, Items, Name, Paragraph, Table, Text, text
from humanoid_codegen.report.equations import equations_of_motion, functions_section, recursion
from humanoid_codegen.report.notation import Notation
from humanoid_model import Robot
from humanoid_model.description import Joint, JointLimit

_NONE = "\N{EN DASH}"


def pictures(robot: Robot, mechanism: Mechanism) -> list[Block]:
    """Return the tree and the stick figure."""
    return [
        Figure(
            "tree",
            tree_diagram(robot, mechanism),
            text("Links (boxes, with their masses) and joints of ", Name(robot.name), ", from the root downwards."),
        ),
        Figure(
            "zero",
            stick_figure(robot, mechanism),
            text(
                Name(robot.name),
                " at its zero posture: joints with their axes (arrows) and centres of mass (grey dots). Gravity points "
                "down the page.",
            ),
        ),
    ]


def tables(robot: Robot, mechanism: Mechanism) -> list[Block]:
    """Joints, links, body frames and base parameters."""
    return [
        Heading(2, text("Joints")),
        Paragraph(
            text(
                "In the order of the URDF file. Limits in rad and rad/s or m and m/s, N m or N; they are the user's "
                "responsibility, the equations hold beyond them."
            )
        ),
        Table(
            "nlnnnlll",
            _heads("joint", "$q$", "type", "parent", "child", "range", "speed", "effort"),
            (*_free_base_rows(robot, mechanism), *(_joint_row(robot, mechanism, joint) for joint in _joints(robot))),
        ),
        Paragraph(text("Placement of the joint frame in the parent link's frame, and the axis in the joint frame.")),
        Table(
            "nlll",
            _heads("joint", "origin [m]", "roll, pitch, yaw [rad]", "axis"),
            tuple(
                (
                    (Name(joint.name),),
                    _vector(joint.placement.translation),
                    _vector(pin.rpy.matrixToRpy(joint.placement.rotation)),
                    text(_NONE) if joint.type == "fixed" else _vector(joint.axis),
                )
                for joint in _joints(robot)
            ),
        ),
        Heading(2, text("Links")),
        Paragraph(
            text(
                "Centre of mass in the link's frame; inertia tensor about the centre of mass, in the link's axes. "
                "Links without mass are left out."
            )
        ),
        Table(
            "nllll",
            _heads(
                *("link", "mass [kg]", "centre of mass [m]"),
                *("$I_{xx}, I_{yy}, I_{zz}$ [kg m²]", "$I_{xy}, I_{xz}, I_{yz}$"),
            ),
            tuple(_link_rows(robot)),
        ),
    ]


def body_tables(mechanism: Mechanism, *, grouped: bool) -> list[Block]:
    """Frames and inertial parameters as the equations have them."""
    blocks: list[Block] = [
        Heading(2, text("Body frames")),
        Paragraph(
            text(
                "What hangs on fixed joints is part of a body. The frames are chosen so that most constants are zero: "
                "body $i$ turns about or slides along a coordinate axis of its own frame, placed at $r_i$ in the frame "
                "of its parent $p(i)$ and turned by the fixed rotation $R_i^0$, so that $R_i = R_i^0 R_{axis}(q_i)$ "
                "for a revolute joint."
            )
        ),
        Table(
            "rnrlllll",
            _heads(
                *("$i$", "joint", "$p(i)$", "motion", "$q$", "$v$"),
                *("$r_i$ [m]", "roll, pitch, yaw of $R_i^0$ [rad]"),
            ),
            tuple(
                (
                    text(str(i)),
                    (Name(body.name),),
                    text(str(body.parent + 1) if body.parent >= 0 else "world"),
                    text(_motion(body)),
                    text(coordinate_range(body)),
                    text(velocity_range(body)),
                    _vector(np.array(body.position, dtype=float)),
                    _vector(pin.rpy.matrixToRpy(np.array(body.rotation, dtype=float))),
                )
                for i, body in enumerate(mechanism.bodies, start=1)
            ),
        ),
    ]
    if grouped:
        blocks += _base_parameters(group_inertias(mechanism))
    return blocks


def _base_parameters(mechanism: Mechanism) -> list[Block]:
    rows = []
    for i, body in enumerate(mechanism.bodies, start=1):
        inertia = body.inertia
        values = (inertia.mass, *inertia.first, *inertia.second)
        rows.append((text(str(i)), *(_entry(float(value)) for value in values)))
    return [
        Heading(2, text("Base parameters")),
        Paragraph(
            text(
                "What the efforts depend on, after everything that a joint can't tell from the parent's inertia has "
                "moved to the parent: mass $m$, first moments $h = m c$ and second moments $J = \\int r r^T dm$ about "
                "the origin of the body frame; the inertia tensor is $tr(J) 1 - J$."
            )
        ),
        Table(
            "rllllllllll",
            _heads(
                *("$i$", "$m$", "$h_x$", "$h_y$", "$h_z$"),
                *("$J_{xx}$", "$J_{xy}$", "$J_{xz}$", "$J_{yy}$", "$J_{yz}$", "$J_{zz}$"),
            ),
            tuple(rows),
        ),
    ]


def _joints(robot: Robot) -> Iterable[Joint]:
    return robot.description.joints.values()


def _free_base_rows(robot: Robot, mechanism: Mechanism) -> list[tuple[Text, ...]]:
    base = free_base(robot, mechanism)
    if base is None:
        return []
    root = (Name(robot.description.root),)
    head = ((Name(base.name),), text(coordinate_range(base)), text(kind_name(base)), text("world"), root)
    return [(*head, text(_NONE), text(_NONE), text(_NONE))]


def _joint_row(robot: Robot, mechanism: Mechanism, joint: Joint) -> tuple[Text, ...]:
    body = body_of(robot, mechanism, joint)
    kind: Text = text(joint.type)
    if joint.name in robot.mimics:
        mimic = robot.mimics[joint.name]
        offset = f" + {mimic.offset:.5g}" if mimic.offset else ""
        kind = text(f"{mimic.multiplier:.5g} \N{MULTIPLICATION SIGN} ", Name(mimic.joint), offset)
    elif body is not None and body.name != joint.name:
        kind = text("part of ball ", Name(body.name))
    return (
        (Name(joint.name),),
        text(_NONE) if body is None else text(coordinate_range(body)),
        kind,
        (Name(joint.parent),),
        (Name(joint.child),),
        *_limits(joint.limit),
    )


def _limits(limit: JointLimit | None) -> tuple[Text, Text, Text]:
    if limit is None:
        return text(_NONE), text(_NONE), text(_NONE)
    both_infinite = math.isinf(limit.lower) and math.isinf(limit.upper)
    span = text(_NONE) if both_infinite else text(f"{_plain(limit.lower)} to {_plain(limit.upper)}")
    speed, effort = (text(_NONE if math.isinf(value) else _plain(value)) for value in (limit.velocity, limit.effort))
    return span, speed, effort


def _link_rows(robot: Robot) -> Iterable[tuple[Text, ...]]:
    for link in robot.description.links.values():
        inertial = link.inertial
        if inertial is None or (inertial.mass == 0 and not inertial.inertia.any()):
            continue
        placement = inertial.placement_link_com
        tensor = placement.rotation @ inertial.inertia @ placement.rotation.T
        size = float(np.abs(tensor).max())
        tensor = np.where(np.abs(tensor) < 1e-12 * size, 0.0, tensor)
        yield (
            (Name(link.name),),
            text(f"{inertial.mass:.6g}"),
            _vector(placement.translation),
            _vector(np.diag(tensor), 4),
            _vector(tensor[[0, 0, 1], [1, 2, 2]], 4),
        )


def _motion(body: Body) -> str:
    if body.kind.value not in ("revolute", "prismatic"):
        return kind_name(body)
    sign = "\N{MINUS SIGN}" if body.sign < 0 else ""
    return f"{'about' if body.kind.value == 'revolute' else 'along'} {sign}{'xyz'[body.axis]}"


def _vector(values: np.ndarray, digits: int = 5) -> Text:
    return text(", ".join(_plain(float(value), digits) for value in values))


def _plain(value: float, digits: int = 5) -> str:
    if abs(value) < 1e-12:
        return "0"
    return f"{value:.{digits}g}".replace("-", "\N{MINUS SIGN}")


def _entry(value: float) -> Text:
    return text(_NONE if value == 0.0 else _plain(value))


def _heads(*names: str) -> tuple[Text, ...]:
    return tuple(text(name) for name in names)


def content(module: Module, model: DynamicModel) -> list[Block]:
    """Return the document's blocks.

    Args:
        module: the functions, and what a reader must know of them.
        model: that they come from.
    """
    robot, mechanism = model.robot, model.mechanism
    notation = Notation.of(mechanism)
    base = "free" if robot.floating_base else "fixed to the world"
    return [
        Heading(1, text("Dynamic model of ", Name(module.robot))),
        Paragraph(
            text(
                f"{len(mechanism.links)} links, {len(robot.description.joints)} joints, "
                f"{mechanism.nv} degrees of freedom, {mechanism.total_mass:.6g} kg; the base is {base}."
            )
        ),
        *pictures(robot, mechanism),
        *tables(robot, mechanism),
        Heading(2, text("Conventions")),
        Items(
            (
                *(text(Name(note)) for note in module.notes),
                text(
                    "A frame stands at each joint and moves with the joint's child link; $R_i$ takes a vector from the "
                    "axes of frame $i$ to its parent's."
                ),
                text("Coordinates are numbered as in the table of joints, from 1."),
                *_velocity_note(notation),
                text("Numbers in brackets, as in (2.4), are those of the thesis' equations."),
            )
        ),
        *recursion(),
        *body_tables(mechanism, grouped=model.grouped),
        *_parameters(module),
        *equations_of_motion(model, notation),
        *functions_section(module.functions, notation),
    ]


def _parameters(module: Module) -> list[Block]:
    """Return the inertial parameters that are an argument of the functions."""
    if not module.parameter_names:
        return []
    rows = tuple(
        ((Formula(f"\\pi_{{{k}}}"),), (Name(name),), text(f"{value:.6g}".replace("-", "\N{MINUS SIGN}")))
        for k, (name, value) in enumerate(zip(module.parameter_names, module.parameters, strict=True), start=1)
    )
    return [
        Heading(2, text("Parameters")),
        Paragraph(text("The functions' argument parameters, with the values of the URDF file in SI units.")),
        Table("lll", (text("$\\pi$"), text("name"), text("value")), rows),
    ]


def _velocity_note(notation: Notation) -> list[tuple[str, ...]]:
    if notation.minimal:
        return [text("Every joint has one coordinate $q_i$; $v_i = \\dot{q}_i$ is its rate.")]
    return [
        text(
            "$v_i$ are the velocity coordinates, numbered on their own as in the table of body frames: a free flyer "
            "has seven coordinates (position, quaternion) and six velocities, a ball joint four and three."
        )
    ]
