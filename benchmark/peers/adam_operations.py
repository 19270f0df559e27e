# SPDX-License-Identifier: Apache-2.0
"""What adam's CasADi functions cost, and how long adam takes to make C code of them.

Driven by ``benchmark/generated_operations.py`` in the peers' environment: a line of JSON per answer. The first has the
operations of simple_humanoid from example-robot-data; each further line on stdin asks for one generation.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from importlib.metadata import distribution, version
from pathlib import Path

import casadi
from adam import Representations
from adam.casadi import KinDynComputations

HUMANOID = "cmeel.prefix/share/example-robot-data/robots/simple_humanoid_description/urdf/simple_humanoid.urdf"
MOVING = ("revolute", "continuous", "prismatic")


def load(path: str) -> tuple[KinDynComputations, list[str]]:
    """Return a robot with all its joints moving, and its links."""
    robot = ElementTree.parse(path).getroot()
    joints = [joint.get("name") for joint in robot.findall("joint") if joint.get("type") in MOVING]
    return KinDynComputations(path, joints), [link.get("name") for link in robot.findall("link")]


def count(function: casadi.Function) -> dict[str, int]:
    """Return instructions of a function by kind; a square is a product, twice a number a sum."""
    found = Counter(function.instruction_id(i) for i in range(function.n_instructions()))

    def total(*names: str) -> int:
        return sum(found[getattr(casadi, name)] for name in names)

    return {
        "multiplications": total("OP_MUL", "OP_SQ"),
        "additions": total("OP_ADD", "OP_SUB", "OP_TWICE"),
        "negations": total("OP_NEG"),
        "trigonometric": total("OP_SIN", "OP_COS"),
    }


def operations(path: str) -> dict[str, dict[str, dict[str, int]]]:
    """Return operations of each function by representation of the base's velocity."""
    answer = {}
    for representation in (Representations.MIXED_REPRESENTATION, Representations.BODY_FIXED_REPRESENTATION):
        robot, _ = load(path)
        robot.set_frame_velocity_representation(representation)
        answer[representation.name.removesuffix("_REPRESENTATION").lower()] = {
            "bias": count(robot.bias_force_fun()),
            "mass_matrix": count(robot.mass_matrix_fun()),
            "gravity": count(robot.gravity_term_fun()),
        }
    return answer


def generate(path: str) -> None:
    """C code of all functions, from the file to the file."""
    robot, links = load(path)
    functions = [robot.bias_force_fun(), robot.mass_matrix_fun(), robot.gravity_term_fun(), robot.aba_fun()]
    functions.append(robot.CoM_position_fun())
    for link in links:
        functions += [robot.forward_kinematics_fun(link), robot.jacobian_fun(link)]
    names = [f"f{i}" for i in range(len(functions))]
    code = casadi.CodeGenerator("model.c")
    for name, function in zip(names, functions, strict=True):
        code.add(casadi.Function(name, function.sx_in(), function.call(function.sx_in())))
    with tempfile.TemporaryDirectory() as folder:
        code.generate(f"{folder}/")


def main() -> None:
    """Answer requests until stdin ends."""
    humanoid = Path(str(distribution("example-robot-data").locate_file(HUMANOID)))
    answer = {"version": version("adam-robotics"), "humanoid": str(humanoid), "operations": operations(str(humanoid))}
    print(json.dumps(answer), flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        generate(line.strip())
        print(json.dumps({"seconds": time.perf_counter() - start}), flush=True)


if __name__ == "__main__":
    main()
