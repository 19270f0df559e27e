# SPDX-License-Identifier: Apache-2.0
"""What accuracy costs: time of a step against how far a run ends from the converged one, by the solver's tolerance.

    scripts/run python benchmark/accuracy.py --peers /path/to/peers/bin/python --figure out/accuracy.png

HRP-2 stands, is pushed by a tenth of its weight for 20 ms, and begins to walk; fifteen dominoes fall; ten boxes stand
on each other. Each run is made with several tolerances of our contact solver and of MuJoCo's. What is told is the
largest distance at the end between a body and where it is with the engine's own smallest tolerance: what the solver
does, not how the engines' contacts differ. Times are processor times; the engines take turns, the least of the rounds
counts.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from matplotlib import pyplot
from peer_engine import PeerEngine
from standing_task import standing_task

from humanoid_control.walking import generate_walk, plan_footsteps
from humanoid_model import Scene, load_robot
from humanoid_model.description import Box, Geometry, HalfSpace
from humanoid_model.scene import PairRule, SceneBody
from humanoid_sim import Simulation

DT = 1e-3
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
EXACT = 1e-11
PEER_TOLERANCES = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
"""1e-8 is its default."""
PEER_EXACT = {"tolerance": 1e-15, "iterations": 1000, "ls_tolerance": 1e-6, "ls_iterations": 200}
PUSH_STEPS = 20
WALK_STEPS = 2000
"""Of the walk: until the first foot is down again."""


def boxes(task: dict[str, Any]) -> Scene:
    """Return the scene of boxes on a floor that the peer builds too."""

    def geometry(shape: Box | HalfSpace) -> tuple[Geometry]:
        return (Geometry("", shape, pin.SE3.Identity(), np.ones(4)),)

    size, mass = np.array(task["size"]), task["mass"]
    inertia = mass / 12.0 * np.diag([*(np.sum(size**2) - size**2)])
    bodies = []
    for i, place in enumerate(task["places"]):
        twist = np.zeros(6)
        if i == 0 and "spin" in task:
            twist[0], twist[4] = 0.5 * task["spin"] * size[2], task["spin"]
        placement = pin.SE3(np.eye(3), np.array(place))
        shape = geometry(Box(size))
        bodies.append(SceneBody(f"box_{i}", f"box_{i}", mass, np.zeros(3), inertia, placement, twist, shape))
    ground = SceneBody(
        "ground", "ground", 0.0, np.zeros(3), np.zeros((3, 3)), pin.SE3.Identity(), np.zeros(6), geometry(HalfSpace())
    )
    rule = PairRule("*", "*", friction=task["friction"])
    return Scene("boxes", bodies=(ground, *bodies), rules=(rule,), gravity=np.array(task["gravity"]))


def robot_task(name: str) -> dict[str, Any]:
    """Return what HRP-2 is to do: "standing", "pushed" or "walking"."""
    robot = load_robot("hrp2")
    if name != "walking":
        task = standing_task(robot, "half_sitting", DT, 500) | {"steps": 500}
        force = 0.1 * robot.total_mass * 9.81
        push = {"link": robot.description.root, "force": force, "steps": PUSH_STEPS}
        return task | ({"push": push} if name == "pushed" else {})
    walk = generate_walk(robot, plan_footsteps(robot, "half_sitting"), "half_sitting")
    samples = [walk.trajectory.at(DT * (step + 1)) for step in range(WALK_STEPS)]
    return standing_task(robot, "half_sitting", DT, 0) | {
        "steps": len(samples), "joints": list(walk.joint_names),
        "positions": [sample.positions.tolist() for sample in samples],
        "velocities": [sample.velocities.tolist() for sample in samples],
    }  # fmt: skip


def box_task(name: str) -> dict[str, Any]:
    """Return what boxes are to do: "dominoes" or "stack"."""
    task = {"dt": DT, "gravity": [0.0, 0.0, -9.81], "friction": 0.5, "settle": 0}
    if name == "dominoes":
        places = [[0.07 * i, 0.0, 0.08] for i in range(15)]
        return task | {"steps": 400, "size": [0.02, 0.08, 0.16], "mass": 0.2, "spin": 2.0, "places": places}
    places = [[0.0, 0.0, 0.1 + 0.2 * i] for i in range(10)]
    return task | {"steps": 500, "size": [0.2, 0.2, 0.2], "mass": 1.0, "places": places}


RUNS = {"standing": robot_task, "pushed": robot_task, "walking": robot_task, "dominoes": box_task, "stack": box_task}


def own(task: dict[str, Any], tolerance: float) -> dict[str, Any]:
    """Make the steps of a task; seconds per step, where the bodies are at the end [m] and the steps left unsolved."""
    scene = boxes(task) if "places" in task else ("walk" if "joints" in task else "stand")
    simulation = Simulation(scene, DT, tolerance=tolerance)
    simulation.run(task["settle"] * DT)
    simulation.take_unsolved()
    if "push" in task:
        push = task["push"]
        simulation.apply_wrench(f"hrp2/{push['link']}", [push["force"], 0.0, 0.0], duration=PUSH_STEPS * DT)
    seconds = 0.0
    if "joints" in task:
        robot = simulation.robots["hrp2"]
        for positions, velocities in zip(task["positions"], task["velocities"], strict=True):
            robot.set_position_target(positions, velocities, task["joints"])
            begin = time.process_time()
            simulation.step()
            seconds += time.process_time() - begin
    else:
        begin = time.process_time()
        simulation.run(task["steps"] * DT)
        seconds = time.process_time() - begin
    ends = simulation.q.reshape(-1, 7)[:, :3] if "places" in task else simulation.q[None, :3]
    return {"seconds": seconds / task["steps"], "ends": ends.tolist(), "unsolved": simulation.take_unsolved().count}


def distance(answer: dict[str, Any], exact: dict[str, Any]) -> float:
    """Return the largest distance between bodies of two runs [m]."""
    return float(np.linalg.norm(np.array(answer["ends"]) - np.array(exact["ends"]), axis=1).max())


def measure(task: dict[str, Any], peer: PeerEngine, rounds: int) -> dict[str, list[tuple[float, float, float, int]]]:
    """Return tolerance, seconds per step, distance [m] and unsolved steps of each setting, by engine."""
    own_exact, peer_exact = own(task, EXACT), peer.ask(json.dumps([task, PEER_EXACT]))
    found: dict[tuple[str, float], list[dict[str, Any]]] = {}
    for _ in range(rounds):
        for tolerance in TOLERANCES:
            found.setdefault(("humanoid_sim", tolerance), []).append(own(task, tolerance))
        for tolerance in PEER_TOLERANCES:
            answer = peer.ask(json.dumps([task, {"tolerance": tolerance}]))
            found.setdefault(("MuJoCo", tolerance), []).append(answer | {"unsolved": 0})
    rows: dict[str, list[tuple[float, float, float, int]]] = {"humanoid_sim": [], "MuJoCo": []}
    for (engine, tolerance), answers in found.items():
        exact = own_exact if engine == "humanoid_sim" else peer_exact
        seconds = min(answer["seconds"] for answer in answers)
        rows[engine].append((tolerance, seconds, distance(answers[0], exact), answers[0]["unsolved"]))
    return rows


def main() -> None:
    """Measure, print the table and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True, help="Python of the peers' environment")
    parser.add_argument("--runs", nargs="+", choices=list(RUNS), default=list(RUNS))
    parser.add_argument("--rounds", type=int, default=3, help="runs of each kind")
    parser.add_argument("--figure", type=Path, help="where to draw it")
    arguments = parser.parse_args()
    peer = PeerEngine(arguments.peers, "mujoco_accuracy.py")
    print("| run | engine | tolerance | µs/step | from the converged run µm | steps unsolved |")
    print("|---|---|---:|---:|---:|---:|")
    names = arguments.runs
    figure, axes = pyplot.subplots(
        1, len(names), figsize=(3.2 * len(names), 3.4), layout="constrained", squeeze=False
    )
    for axis, name in zip(axes[0], names, strict=True):
        for engine, rows in measure(RUNS[name](name), peer, arguments.rounds).items():
            for tolerance, seconds, away, unsolved in rows:
                line = f"| {name} | {engine} | {tolerance:g} | {1e6 * seconds:.1f} | {1e6 * away:.3g} | {unsolved} |"
                print(line, flush=True)
            times, distances = [1e6 * row[1] for row in rows], [max(1e6 * row[2], 1e-9) for row in rows]
            axis.semilogy(times, distances, "o-", label=engine, markersize=4)
            for row, x, y in zip(rows, times, distances, strict=True):
                label = f"{row[0]:.0e}".replace("e-0", "e-")
                axis.annotate(label, (x, y), fontsize=6, xytext=(3, 3), textcoords="offset points")
        axis.set(title=name, xlabel="µs a step", ylabel="from the converged run [µm]" if name == names[0] else "")
        axis.set_xlim(0.0, 1.15 * axis.get_xlim()[1])
        axis.grid(True, alpha=0.2)
    axes[0, 0].legend(fontsize=7)
    peer.close()
    if arguments.figure is not None:
        figure.savefig(arguments.figure, dpi=110)


if __name__ == "__main__":
    main()
