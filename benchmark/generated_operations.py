# SPDX-License-Identifier: Apache-2.0
"""What generated functions cost and how long they take to generate, beside adam and urdf2casadi, in one run.

Operations: simple_humanoid of example-robot-data, a free base and 29 joints, counted in the expressions (a CasADi
instruction each for adam). Generation: 36 joints, from the URDF to C code in a folder; tools take turns, medians.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from peer_engine import PeerEngine
from tqdm import tqdm

from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_codegen.expression.function import count_operations
from humanoid_codegen.generate import generate
from humanoid_model import load_robot
from humanoid_model.files import find_resource

LARGE = "syn3p33r"
FUNCTIONS = ("bias", "mass_matrix", "gravity")


def own_operations(path: str) -> dict[str, dict[str, dict[str, int]]]:
    """Our operations of each function, with inertial parameters grouped and not."""
    robot = load_robot(path, floating_base=True, geometry=False)
    answer: dict[str, dict[str, dict[str, int]]] = {}
    for name, grouped in (("grouped", True), ("not grouped", False)):
        model = DynamicModel(robot, base_parameters=grouped)
        answer[name] = {}
        for function in FUNCTIONS:
            count = count_operations(model.function(function))
            answer[name][function] = {
                "multiplications": count.multiplications,
                "additions": count.additions,
                "negations": count.negations,
                "trigonometric": count.trigonometric,
            }
    return answer


def own_generation(path: Path, derivatives: bool) -> float:
    """Return the time of one generation of everything [s]."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        generate(path, "c", out=folder, derivatives=derivatives)
        return time.perf_counter() - start


def for_peers(path: Path, folder: Path, free_base: bool) -> Path:
    """Return the same robot as the peers can read it.

    Every <origin> that the standard lets one leave out is there, as both stop without. For adam, whose prismatic joints
    are broken (12 rows in the motion subspace), its own free base takes the place of the six joints of the pelvis.
    """
    tree = ElementTree.parse(path)
    if free_base:
        robot = tree.getroot()
        for joint in [joint for joint in robot.findall("joint") if joint.get("name", "").startswith("WJ_")]:
            base = joint.find("parent")
            assert base is not None
            robot.remove(joint)
            robot[:] = [element for element in robot if element.get("name") != base.get("link")]
    for element in [*tree.iter("joint"), *tree.iter("inertial")]:
        if element.find("origin") is None:
            ElementTree.SubElement(element, "origin", xyz="0 0 0", rpy="0 0 0")
    written = folder / f"{'free' if free_base else 'fixed'}_{path.name}"
    tree.write(written)
    return written


@contextlib.contextmanager
def peers(python: Path) -> Iterator[tuple[PeerEngine, PeerEngine]]:
    """Yield the processes of adam and urdf2casadi, ended afterwards."""
    started = [PeerEngine(python, "adam_operations.py"), PeerEngine(python, "urdf2casadi_generation.py")]
    try:
        yield started[0], started[1]
    finally:
        for peer in started:
            peer.close()


def operations_table(rows: dict[str, dict[str, dict[str, int]]]) -> str:
    """Return a line per tool and function."""
    out = io.StringIO()
    print("| generator | function | mul | add | mul + add | neg | sin, cos |", file=out)
    print("|---|---|---:|---:|---:|---:|---:|", file=out)
    for function in FUNCTIONS:
        for tool, counts in rows.items():
            count = counts[function]
            mul, add = count["multiplications"], count["additions"]
            cells = [tool, function, mul, add, mul + add, count["negations"], count["trigonometric"]]
            print(f"| {' | '.join(map(str, cells))} |", file=out)
    return out.getvalue()


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, required=True, help="Python of the peers' environment")
    parser.add_argument("--rounds", type=int, default=7, help="generations per tool")
    arguments = parser.parse_args()
    large = find_resource(f"urdf/{LARGE}.urdf")
    with tempfile.TemporaryDirectory() as folder, peers(arguments.peers) as (adam, urdf2casadi):
        rows = {f"humanoid_codegen, {name}": counts for name, counts in own_operations(adam.first["humanoid"]).items()}
        for name, counts in adam.first["operations"].items():
            rows[f"adam {adam.version}, {name.replace('_', ' ')} base velocity"] = counts
        free, fixed = (for_peers(large, Path(folder), free_base) for free_base in (True, False))
        tools: dict[str, Callable[[], float]] = {
            "humanoid_codegen, all functions": lambda: own_generation(large, False),
            "humanoid_codegen, derivatives too": lambda: own_generation(large, True),
            f"adam {adam.version}, bias, mass matrix, gravity, ABA, kinematics, Jacobians": (
                lambda: float(adam.ask(str(free))["seconds"])
            ),
            f"urdf2casadi {urdf2casadi.version}, RNEA, CRBA, ABA, gravity, Coriolis, kinematics of 5 chains": (
                lambda: float(urdf2casadi.ask(str(fixed))["seconds"])
            ),
        }
        seconds: dict[str, list[float]] = {tool: [] for tool in tools}
        for _ in tqdm(range(arguments.rounds), unit="round"):
            for tool, run in tools.items():
                seconds[tool].append(run())
    print("\nOperations of one call, simple_humanoid, free base and 29 joints\n")
    print(operations_table(rows))
    print(f"Generation of C code, {LARGE}, 36 joints, medians of {arguments.rounds}\n")
    print("| generator | s |\n|---|---:|")
    for tool, times in seconds.items():
        print(f"| {tool} | {float(np.median(times)):.2f} |")


if __name__ == "__main__":
    main()
