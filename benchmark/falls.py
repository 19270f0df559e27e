# SPDX-License-Identifier: Apache-2.0
"""What steps cost when much touches at once: falling robots, a heap, dominoes, stacks; beside MuJoCo 4, in one run.

Robots fall from their standing posture, tilted a little, motors off, on a half-space, with the shapes of their
description (meshes as convex hulls) in both engines; TALOS also collides with itself, between links that don't overlap
in the posture. Boxes of the heap fall in layers at random attitudes. MuJoCo has Newton's method, the elliptic cone,
``implicitfast``. Both engines make every case twice: in one
call for the mean, step by step for the longest step. Times are the processor's. "deepest" is the deepest
penetration at the end, "unsolved" counts steps whose contact solve missed the tolerance.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from peer_engine import ask

from humanoid_model import Scene, load_robot
from humanoid_model.description import Box, Capsule, Cylinder, Geometry, HalfSpace, Mesh, Sphere
from humanoid_model.errors import RobotWarning
from humanoid_model.scene import PairRule, SceneBody, SceneRobot
from humanoid_sim import Simulation
from humanoid_sim.detection.self_collision import find_self_collision
from humanoid_sim.detection.solids import hull_vertices

DT = 1e-3
FRICTION = 0.6
LEAN = 0.15
"""Of a robot at the start, about its y axis [rad]."""


def geometry(shape: Box | HalfSpace) -> tuple[Geometry]:
    return (Geometry("", shape, pin.SE3.Identity(), np.ones(4)),)


def body(name: str, mass: float, size: np.ndarray, placement: pin.SE3) -> SceneBody:
    """Return a box."""
    inertia = mass / 12.0 * (np.sum(size**2) * np.eye(3) - np.diag(size**2))
    return SceneBody(name, name, mass, np.zeros(3), inertia, placement, np.zeros(6), geometry(Box(size)))


def scene_of(
    bodies: list[SceneBody], robots: tuple[SceneRobot, ...] = (), self_collision: bool = False
) -> Scene:
    """Return bodies and robots on a floor."""
    floor = SceneBody(
        "floor", "floor", 0.0, np.zeros(3), np.zeros((3, 3)), pin.SE3.Identity(), np.zeros(6), geometry(HalfSpace())
    )
    return Scene(
        "falls", robots=robots, bodies=(floor, *bodies), rules=(PairRule("*", "*", friction=FRICTION),),
        gravity=np.array([0.0, 0.0, -9.81]), self_collision=self_collision,
    )  # fmt: skip


def heap(count: int) -> Scene:
    """Return layers of 5 x 5 boxes at random attitudes, 0.1 to 0.3 m long."""
    random = np.random.default_rng(1)
    boxes = []
    for i in range(count):
        level, place = divmod(i, 25)
        centre = np.array([0.35 * (place % 5), 0.35 * (place // 5), 0.3 + 0.4 * level])
        size = random.uniform(0.1, 0.3, 3)
        turned = pin.Quaternion(random.normal(size=4)).normalized().matrix()
        boxes.append(body(f"box_{i}", 1000.0 * float(np.prod(size)), size, pin.SE3(turned, centre)))
    return scene_of(boxes)


def dominoes(count: int) -> Scene:
    """Return dominoes in a row, the first of which leans on the second."""
    size = np.array([0.02, 0.1, 0.2])
    pieces = []
    for i in range(count):
        turned = pin.rpy.rpyToMatrix(0.0, 0.25 if i == 0 else 0.0, 0.0)
        corner = np.array([0.5 * size[0], 0.0, -0.5 * size[2]])  # on which the first one stands
        centre = np.array([0.1 * i + corner[0], 0.0, 0.0]) - turned @ corner
        pieces.append(body(f"domino_{i}", 0.2, size, pin.SE3(turned, centre)))
    return scene_of(pieces)


def stack(masses: np.ndarray) -> Scene:
    """Return boxes on top of each other, from the bottom up."""
    return scene_of([
        body(f"box_{i}", float(mass), np.full(3, 0.2), pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.1 + 0.2 * i])))
        for i, mass in enumerate(masses)
    ])  # fmt: skip


def robot(name: str, posture: str, self_collision: bool = False) -> Scene:
    """Return a robot that leans forward."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)  # TALOS' gripper
        loaded = load_robot(name)
    q = loaded.postures[posture].copy()
    leaning = pin.SE3(pin.rpy.rpyToMatrix(0.0, LEAN, 0.0), np.array([0.0, 0.0, 0.05]))
    q[:7] = pin.SE3ToXYZQUAT(leaning * pin.XYZQUATToSE3(q[:7]))
    actuators = {
        joint: dataclasses.replace(actuator, stiffness=0.0, damping=0.0)
        for joint, actuator in loaded.actuators.items()
    }
    placed = SceneRobot("robot", dataclasses.replace(loaded, actuators=actuators), posture, pin.SE3.Identity(), q)
    return scene_of([], (placed,), self_collision)


CASES: dict[str, tuple[Callable[[], Scene], float, float]] = {
    "HRP-2 falls": (lambda: robot("hrp2", "half_sitting"), 0.0, 5.0),
    "G1 falls": (lambda: robot("g1", "standing"), 0.0, 5.0),
    "TALOS falls": (lambda: robot("talos", "half_sitting"), 0.0, 5.0),
    "TALOS falls, self-collision": (lambda: robot("talos", "half_sitting", True), 0.0, 5.0),
    "15 dominoes": (lambda: dominoes(15), 0.0, 2.0),
    "stack of 10": (lambda: stack(np.ones(10)), 0.2, 1.0),
    "stack of 10, masses 1:100": (lambda: stack(np.logspace(0.0, 2.0, 10)), 0.2, 1.0),
    "heap of 200 boxes": (lambda: heap(200), 0.5, 0.5),
}
"""By title: the scene, seconds before the measurement, and of it."""


def shape_task(link: str, shape: Any, placement: pin.SE3) -> dict[str, Any]:
    """Return a shape as the peer takes it."""
    own: dict[str, Any] = {"link": link, "place": pin.SE3ToXYZQUAT(placement).tolist()}
    if isinstance(shape, Box):
        return own | {"type": "box", "size": (0.5 * shape.size).tolist()}
    if isinstance(shape, Sphere):
        return own | {"type": "sphere", "size": [shape.radius, 0.0, 0.0]}
    if isinstance(shape, (Capsule, Cylinder)):
        kind = "capsule" if isinstance(shape, Capsule) else "cylinder"
        return own | {"type": kind, "size": [shape.radius, 0.5 * shape.length, 0.0]}
    assert isinstance(shape, Mesh)
    return own | {"type": "mesh", "vertices": hull_vertices(shape).ravel().tolist()}


def peer_task(scene: Scene) -> dict[str, Any]:
    """Return a scene as the peer takes it."""
    task: dict[str, Any] = {"dt": DT, "friction": FRICTION, "bodies": [], "shapes": [], "excluded": []}
    for own in scene.bodies:
        if own.mass > 0.0:
            task["bodies"].append({
                "name": own.name, "mass": own.mass, "place": pin.SE3ToXYZQUAT(own.placement_world_body).tolist(),
                "inertia": np.diag(own.inertia).tolist(),
            })  # fmt: skip
            task["shapes"] += [shape_task(own.name, part.shape, part.placement) for part in own.geometries]
    task["self_collision"] = scene.self_collision or not scene.robots
    for placed in scene.robots:
        task["urdf"], task["base"] = placed.robot.urdf, placed.q[:7].tolist()
        task["joints"] = {
            name: float(placed.q[placed.robot.index_q(name)]) for name in placed.robot.actuators
        }
        task["armature"] = {name: actuator.armature for name, actuator in placed.robot.actuators.items()}
        for link in placed.robot.description.links.values():
            task["shapes"] += [shape_task(link.name, part.shape, part.placement) for part in link.collisions]
        if scene.self_collision:
            found = find_self_collision(placed.robot, placed.q)
            task["excluded"] = [
                (first, second)
                for i, first in enumerate(found.links)
                for j, second in enumerate(found.links[:i])
                if not found.allowed[i, j]
            ]
    return task


def measure(scene: Scene, settle: float, duration: float, **options: Any) -> dict[str, Any]:
    """Measure this simulator."""
    simulation = Simulation(scene, DT, **options)
    simulation.run(settle)
    start = simulation.save_state()
    simulation.step(round(duration / DT))  # kernels that only some steps need are compiled and loaded
    simulation.restore_state(start)
    simulation.take_unsolved()
    begin = time.process_time()
    simulation.run(duration)
    mean = (time.process_time() - begin) / round(duration / DT)
    unsolved = simulation.take_unsolved().count
    simulation.restore_state(start)
    longest, most = 0.0, 0
    for _ in range(round(duration / DT)):
        begin = time.process_time()
        simulation.step()
        longest = max(longest, time.process_time() - begin)
        most = max(most, len(simulation.contacts.gap))
    gaps = simulation.contacts.gap
    return {
        "mean": mean, "longest": longest, "contacts": most, "unsolved": unsolved,
        "deepest": float(-min(gaps.min(), 0.0)) if len(gaps) else 0.0,
    }  # fmt: skip


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True, help="Python of the peers' environment")
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--tolerance", type=float, default=None, help="of our contact solve")
    arguments = parser.parse_args()
    # TALOS and G1 are in the peers' environment; ours may have them too
    packages = sorted(arguments.peers.absolute().parent.parent.glob("lib/python3*/site-packages/cmeel.prefix/share"))
    named = [str(place) for place in packages] + [os.environ.get("ROS_PACKAGE_PATH", "")]
    os.environ["ROS_PACKAGE_PATH"] = os.pathsep.join(named)
    options = {} if arguments.tolerance is None else {"tolerance": arguments.tolerance}
    print("| case | ours: mean, longest ms | MuJoCo | ratio | most points | deepest µm | unsolved |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name in arguments.cases:
        make, settle, duration = CASES[name]
        scene = make()
        own = measure(scene, settle, duration, **options)
        peer = ask(arguments.peers, "mujoco_falls.py", peer_task(scene) | {"settle": settle, "duration": duration})
        print(
            f"| {name} | {own['mean'] * 1e3:.3f}, {own['longest'] * 1e3:.2f} "
            f"| {peer['mean'] * 1e3:.3f}, {peer['longest'] * 1e3:.2f} | {own['mean'] / peer['mean']:.2f} "
            f"| {own['contacts']}, {peer['contacts']} | {own['deepest'] * 1e6:.1f}, {peer['deepest'] * 1e6:.0f} "
            f"| {own['unsolved']} of {round(duration / DT)} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
