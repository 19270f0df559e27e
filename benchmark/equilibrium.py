# SPDX-License-Identifier: Apache-2.0
"""Equilibrium of stances on 3 faces of 4 points: ours, hpp-centroidal-dynamics and solvers at hand, in one run.

All calls are made from Python. The engines take turns, round by round, over the same stances; the medians over stances
and rounds are printed. Ours and Clarabel have exact friction cones, the others pyramids with 4 edges. cddlib takes part
where pycddlib is installed beside the peers.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from peer_engine import PeerEngine
from scipy.optimize import linprog
from tqdm import tqdm

from humanoid_planner.equilibrium.body_equilibrium import centre_of_mass_region
from humanoid_planner.equilibrium.contact_points import ContactPoints, wrench_generators
from humanoid_planner.equilibrium.force_distribution import check_equilibrium, in_equilibrium
from humanoid_planner.equilibrium.wrench_cone import WrenchCone

MASS = 58.0
FRICTION = 0.5
FACETS = 4
PATCH = np.array([[-0.1, -0.05, 0.0], [0.1, -0.05, 0.0], [0.1, 0.05, 0.0], [-0.1, 0.05, 0.0]])


def random_stance(random: np.random.Generator) -> tuple[ContactPoints, np.ndarray]:
    """Three patches about a metre apart, tilted by some 20 degrees, and a centre of mass above them."""
    positions, frames = [], []
    for _ in range(3):
        Q, _ = np.linalg.qr(np.eye(3) + 0.25 * random.normal(size=(3, 3)))
        R = Q * np.sign(np.diag(Q))
        R[:, 0] *= np.sign(np.linalg.det(R))
        positions.append(random.uniform([-0.4, -0.4, 0.0], [0.4, 0.4, 0.6]) + PATCH @ R.T)
        frames += [R] * 4
    contacts = ContactPoints(np.concatenate(positions), np.array(frames), np.full(12, FRICTION), np.zeros(12, bool))
    return contacts, contacts.positions.mean(axis=0) + random.uniform([-0.25, -0.25, 0.4], [0.25, 0.25, 0.8])


def timed(function: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Seconds per call, and the last answer."""
    start = time.perf_counter()
    for _ in range(repeats):
        answer = function()
    return (time.perf_counter() - start) / repeats, answer


class OwnEngines:
    """This library and scipy, over all stances."""

    def __init__(self, stances: list[tuple[ContactPoints, np.ndarray]], repeats: int) -> None:
        """Compile what is compiled, prepare the cones."""
        self.stances, self.repeats = stances, repeats
        self.cones = [WrenchCone.of_contacts(contacts, FACETS) for contacts, _ in stances]
        self.generators = [wrench_generators(contacts, FACETS) for contacts, _ in stances]
        self.wrenches = []
        for contacts, centre in stances:
            push = np.array([0.0, 0.0, MASS * 9.81])
            self.wrenches.append(np.concatenate([push, np.cross(centre, push)]))
            in_equilibrium(contacts, MASS, centre)
            check_equilibrium(contacts, MASS, centre)

    def run(self) -> dict[str, tuple[list[float], list[Any]]]:
        """Return times and answers by row of the table."""
        rows: dict[str, tuple[list[float], list[Any]]] = {}

        def add(name: str, function: Callable[[], Any], repeats: int) -> None:
            seconds, answer = timed(function, repeats)
            times, answers = rows.setdefault(name, ([], []))
            times.append(seconds)
            answers.append(answer)

        for (contacts, centre), cone, columns, wrench in zip(
            self.stances, self.cones, self.generators, self.wrenches, strict=True
        ):
            add("yes or no", lambda c=contacts, g=centre: in_equilibrium(c, MASS, g), self.repeats)
            add("with margin and forces", lambda c=contacts, g=centre: check_equilibrium(c, MASS, g), self.repeats)
            add("in a wrench cone at hand", lambda c=cone, w=wrench: c.contains(w), self.repeats)
            add("wrench cone by double description", lambda c=contacts: WrenchCone.of_contacts(c, FACETS), 1)
            add("region of the centre of mass, 1 mm", lambda c=contacts: centre_of_mass_region(c, MASS), 1)
            add(
                "scipy linprog (HiGHS)",
                lambda a=columns, w=wrench: linprog(np.zeros(len(a)), A_eq=a.T, b_eq=w / MASS).status == 0,
                1,
            )
        return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, required=True, help="Python of the peers' environment")
    parser.add_argument("--stances", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=50, help="of the short calls")
    arguments = parser.parse_args()
    random = np.random.default_rng(0)
    stances = [random_stance(random) for _ in range(arguments.stances)]
    own = OwnEngines(stances, arguments.repeats)
    task = {
        "mass": MASS,
        "friction": FRICTION,
        "facets": FACETS,
        "repeats": arguments.repeats,
        "stances": [
            {
                "positions": c.positions.tolist(),
                "normals": c.normals.tolist(),
                "frames": c.frames.tolist(),
                "generators": columns.tolist(),
                "wrench": (wrench / MASS).tolist(),
                "centre": g.tolist(),
            }
            for (c, g), columns, wrench in zip(stances, own.generators, own.wrenches, strict=True)
        ],
    }
    solvers = PeerEngine(arguments.peers, "solver_equilibrium.py", task)
    libraries = next(arguments.peers.absolute().parent.parent.glob("lib/python3*/site-packages/cmeel.prefix/lib"))
    peer = PeerEngine(
        arguments.peers,
        "centroidal_equilibrium.py",
        task,
        {"LD_LIBRARY_PATH": str(libraries)},  # the wheel doesn't find its own libraries
    )
    name = f"hpp-centroidal-dynamics {peer.version}"
    times: dict[str, list[list[float]]] = {}
    answers: dict[str, list[Any]] = {}
    for _ in tqdm(range(arguments.rounds), unit="round"):
        for row, (seconds, answer) in own.run().items():
            times.setdefault(row, []).append(seconds)
            answers[row] = answer
        for algorithm in ("LP", "DLP", "PP"):
            result = peer.ask(algorithm)
            row = f"{name} {algorithm}"
            times.setdefault(row, []).append(result["asking"])
            times.setdefault(f"{row}, new contacts", []).append(
                (np.array(result["asking"]) + result["setting"]).tolist()
            )
            answers[row] = answers[f"{row}, new contacts"] = result["answers"]
        for contestant in solvers.first["contestants"]:
            result = solvers.ask(contestant)
            times.setdefault(contestant, []).append(result["asking"])
            answers[contestant] = result["answers"]
    good = np.array(answers["yes or no"])
    print(f"\n3 faces of 4 points, medians over {len(stances)} stances ({good.sum()} in equilibrium)")
    print(f"and {arguments.rounds} rounds, µs a call from Python\n")
    print("| what | all | in equilibrium | not | answers like ours |")
    print("|---|---:|---:|---:|---:|")
    for row, seconds in times.items():
        micro = 1e6 * np.median(np.array(seconds), axis=0)
        same = ""
        if answers[row] and isinstance(answers[row][0], (bool, np.bool_)):
            same = f"{int((np.array(answers[row]) == good).sum())}"
        columns = " | ".join(f"{np.median(part):.1f}" for part in (micro, micro[good], micro[~good]))
        print(f"| {row} | {columns} | {same} |")


if __name__ == "__main__":
    main()
