# SPDX-License-Identifier: Apache-2.0
"""How long urdf2casadi takes to make C code of a robot's dynamics.

It knows chains only, so a tree is done chain by chain, from the root to each leaf. Driven by
``benchmark/generated_operations.py`` in the peers' environment: a line of JSON per answer, the first with the version,
then one per line on stdin.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from importlib.metadata import version

import casadi
from urdf2casadi.urdfparser import URDFparser

GRAVITY = [0.0, 0.0, -9.81]


def chains(path: str) -> list[tuple[str, str]]:
    """Root and leaf links."""
    robot = ElementTree.parse(path).getroot()
    parents = {joint.find("child").get("link"): joint.find("parent").get("link") for joint in robot.findall("joint")}
    roots = [link for link in parents.values() if link not in parents]
    leaves = [link for link in parents if link not in parents.values()]
    return [(roots[0], leaf) for leaf in leaves]


def generate(path: str) -> None:
    """C code of all functions of all chains, from the file to the file."""
    robot = URDFparser()
    robot.from_file(path)
    code = casadi.CodeGenerator("model.c")
    for i, (root, tip) in enumerate(chains(path)):
        functions = {
            "inverse_dynamics": robot.get_inverse_dynamics_rnea(root, tip, gravity=GRAVITY),
            "gravity": robot.get_gravity_rnea(root, tip, GRAVITY),
            "coriolis": robot.get_coriolis_rnea(root, tip),
            "mass_matrix": robot.get_inertia_matrix_crba(root, tip),
            "direct_dynamics": robot.get_forward_dynamics_aba(root, tip, gravity=GRAVITY),
            "kinematics": robot.get_forward_kinematics(root, tip)["T_fk"],
        }
        for name, function in functions.items():
            code.add(casadi.Function(f"{name}_{i}", function.sx_in(), function.call(function.sx_in())))
    with tempfile.TemporaryDirectory() as folder:
        code.generate(f"{folder}/")


def main() -> None:
    """Answer requests until stdin ends."""
    print(json.dumps({"version": version("urdf2casadi")}), flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        generate(line.strip())
        print(json.dumps({"seconds": time.perf_counter() - start}), flush=True)


if __name__ == "__main__":
    main()
