# SPDX-License-Identifier: Apache-2.0
"""How far what should rest moves in a minute: this simulator and MuJoCo 4, in one run.

Three cases: HRP-2 standing; HRP-2 standing while 20 N push its waist sideways all the time; a block on a slope whose
tangent is 95 % of the friction coefficient. After a second to settle, the corners of the soles (of the block) are
watched every 10 ms: what is printed is the largest distance of any of them from where it was, and the largest angle
that a foot (the block) turned by. MuJoCo has the elliptic cone throughout, with its defaults and with what helps
against slip.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from peer_engine import ask
from standing_task import standing_task

from humanoid_model import Scene, load_robot, load_scene
from humanoid_model.description import Box, Geometry, HalfSpace
from humanoid_model.scene import PairRule, SceneBody
from humanoid_sim import Simulation

DT = 1e-3
SETTLE = 1000
EVERY = 10
"""Steps between two looks."""
PUSH = [0.0, 20.0, 0.0]
SHARE, FRICTION, MASS, SIZE = 0.95, 0.5, 1.0, (0.2, 0.2, 0.1)
"""Of the block: part of the cone, friction coefficient, mass [kg], edges [m]."""


def slope_scene() -> tuple[Scene, float]:
    """Return the block on its slope, and the slope's angle [rad]."""
    angle = math.atan(SHARE * FRICTION)
    turn = pin.SE3(pin.rpy.rpyToMatrix(0.0, angle, 0.0), np.zeros(3))
    x, y, z = SIZE
    inertia = MASS / 12.0 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])
    unit, colour = pin.SE3.Identity(), np.ones(4)
    slope = SceneBody(
        "slope", "slope", 0.0, np.zeros(3), np.zeros((3, 3)), turn, np.zeros(6),
        (Geometry("", HalfSpace(), unit, colour),),
    )  # fmt: skip
    block = SceneBody(
        "block", "block", MASS, np.zeros(3), inertia, turn * pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.5 * z])),
        np.zeros(6), (Geometry("", Box(np.array(SIZE)), unit, colour),),
    )  # fmt: skip
    rule = PairRule("*", "*", friction=FRICTION)
    return Scene("slope", bodies=(slope, block), rules=(rule,), gravity=np.array([0.0, 0.0, -9.81])), angle


def watch(simulation: Simulation, corners: list[dict[str, Any]], steps: int) -> dict[str, Any]:
    """Settle, then measure what moves."""
    links = sorted({str(corner["link"]) for corner in corners})

    def places() -> np.ndarray:
        return np.array([simulation.placement(c["link"]).act(np.array(c["position"])) for c in corners])

    def turns() -> list[np.ndarray]:
        return [simulation.placement(link).rotation for link in links]

    simulation.run(SETTLE * DT)
    first, first_turns = places(), turns()
    displacement = rotation = 0.0
    for _ in range(steps // EVERY):
        simulation.run(EVERY * DT)
        displacement = max(displacement, float(np.linalg.norm(places() - first, axis=1).max()))
        for now, before in zip(turns(), first_turns, strict=True):
            skew = now @ before.T - before @ now.T
            rotation = max(rotation, float(np.linalg.norm(skew)) / math.sqrt(8.0))
    end = float(np.linalg.norm(places() - first, axis=1).max())
    contacts = int((simulation.contacts.normal_force > 0.0).sum())
    return {"displacement": displacement, "rotation": rotation, "end": end, "contacts": contacts}


def cases(seconds: float) -> dict[str, tuple[Simulation, list[dict[str, Any]], dict[str, Any]]]:
    """By title: our simulation, the corners by our names, the task for the peer."""
    steps = round(seconds / DT)
    robot = load_robot("hrp2")
    standing = standing_task(robot, "half_sitting", DT, SETTLE) | {"steps": steps, "every": EVERY}
    soles = [corner | {"link": f"hrp2/{corner['link']}"} for corner in standing["corners"]]
    pushed = Simulation("stand", DT)
    pushed.apply_wrench("hrp2/WAIST", PUSH, duration=(SETTLE + steps + 1) * DT)
    scene, angle = slope_scene()
    x, y, z = (0.5 * edge for edge in SIZE)
    feet = [{"link": "block", "position": [a * x, b * y, -z]} for a in (-1, 1) for b in (-1, 1)]
    slope = {
        "corners": feet, "angle": angle, "friction": FRICTION, "mass": MASS, "size": SIZE, "dt": DT, "settle": SETTLE,
        "gravity": [0.0, 0.0, -9.81], "steps": steps, "every": EVERY,
    }  # fmt: skip
    return {
        "HRP-2 standing": (Simulation(load_scene("stand"), DT), soles, standing),
        "HRP-2 pushed by 20 N": (pushed, soles, standing | {"push": {"link": "WAIST", "force": PUSH}}),
        "block at 95 % of the cone": (Simulation(scene, DT), feet, slope),
    }


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True, help="Python of the peers' environment")
    parser.add_argument("--seconds", type=float, default=60.0)
    arguments = parser.parse_args()
    print(f"\nMovement in {arguments.seconds:g} s after settling for {SETTLE * DT:g} s, steps of {DT * 1e3:g} ms\n")
    print("| case | engine | largest µm | at the end µm | µm/s | rotation µrad | contacts |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for title, (simulation, corners, task) in cases(arguments.seconds).items():
        rows = {"humanoid_sim": watch(simulation, corners, task["steps"])}
        answers = ask(arguments.peers, "mujoco_creep.py", task)["answers"]
        rows |= {f"MuJoCo 4, {name}": answer for name, answer in answers.items()}
        for name, row in rows.items():
            print(
                f"| {title} | {name} | {1e6 * row['displacement']:.3g} | {1e6 * row['end']:.3g} "
                f"| {1e6 * row['end'] / arguments.seconds:.2g} | {1e6 * row['rotation']:.2g} | {row['contacts']} |"
            )


if __name__ == "__main__":
    main()
