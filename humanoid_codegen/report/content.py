# SPDX-License-Identifier: Apache-2.0
"""The document of a robot's equations, from its picture to its operation counts."""

from __future__ import annotations

from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_codegen.expression.function import Module
from humanoid_codegen.report.document import Block, Formula, Heading, Items, Name, Paragraph, Table, text
from humanoid_codegen.report.equations_section import equations_of_motion, functions_section
from humanoid_codegen.report.notation import Notation
from humanoid_codegen.report.robot_section import body_tables, pictures, tables
from humanoid_codegen.report.theory import recursion


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
