# SPDX-License-Identifier: Apache-2.0
"""What is written into the files of one output language: the functions of a robot and what a reader must know of it."""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_codegen.expression.function import Function


@dataclass(frozen=True)
class Module:
    """Functions of one robot.

    Attributes:
        name: identifier, made of the robot's name; files and prefixes are called after it.
        robot: the robot's own name.
        functions: what to write, in order.
        q_names: names of the coordinates.
        v_names: names of the velocity coordinates.
        link_names: links in the order of kinematics' and jacobians' results.
        notes: sentences for the head of each file: conventions, gravity, what is grouped.
        parameter_names: of the entries of the argument ``parameters``, empty where the numbers are in the code.
        parameters: their values in the URDF, in SI units.
    """

    name: str
    robot: str
    functions: tuple[Function, ...]
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    link_names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    parameter_names: tuple[str, ...] = ()
    parameters: tuple[float, ...] = ()
