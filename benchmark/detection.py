# SPDX-License-Identifier: Apache-2.0
"""Time of collision detection: per step against the number of bodies, per pair of shapes beside coal.

One run, medians of processor time; ours and coal get the same poses. coal is called from Python for each pair, the
only way that a Python program has; ours is called as the simulator calls it, many pairs in one compiled call.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable

import coal
import numpy as np
import pinocchio as pin
from numba import njit

from humanoid_model import load_robot
from humanoid_model.description import Box, Capsule, Cylinder, Geometry, HalfSpace, Shape, Sphere
from humanoid_model.scene import Scene, SceneBody, SceneRobot
from humanoid_sim.detection.backends import coal_solid
from humanoid_sim.detection.convex_pair import contact_patch, convex_distance
from humanoid_sim.detection.detector import CONTACT_MARGIN, ContactDetector
from humanoid_sim.detection.face_contact import MAX_POINTS
from humanoid_sim.detection.shape_table import Nearest, PatchPoints, Pose, ShapeTable, shape_table
from humanoid_sim.detection.solids import Polytope, SolidShape
from humanoid_sim.world.world import World

POSES = 200
ROUNDS = 15


def body(name: str, shape: Shape, placement: pin.SE3, mass: float) -> SceneBody:
    """Return a body of one shape."""
    geometry = Geometry("", shape, pin.SE3.Identity(), np.ones(4))
    return SceneBody(
        name, name, mass, np.zeros(3), 0.1 * mass * np.eye(3), placement, np.zeros(6), (geometry,)
    )


def scene_of(kind: str, count: int) -> Scene:
    """Return boxes of 0.2 m on a floor: one by one, 1 m apart, or in stacks of ten that stand 1 cm apart."""
    crates = []
    for i in range(count):
        side = int(np.ceil(np.sqrt(count if kind == "spread" else count / 10)))
        if kind == "spread":
            place = np.array([i % side, i // side, 0.1])
        else:
            column = i // 10
            place = np.array([0.21 * (column % side), 0.21 * (column // side), 0.1 + 0.2 * (i % 10)])
        crates.append(body(f"crate_{i}", Box(np.full(3, 0.2)), pin.SE3(np.eye(3), place), 1.0))
    return Scene("boxes", bodies=(body("floor", HalfSpace(), pin.SE3.Identity(), 0.0), *crates))


def microseconds(action: Callable[[], object], calls: int) -> float:
    """Median processor time of a call [us]: what else the machine does must not count."""
    action()
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(calls):
            action()
        times.append((time.process_time() - start) / calls)
    return 1e6 * float(np.median(times))


def time_of_scene(scene: Scene) -> tuple[float, int]:
    """Return the time of one detection at the start [us] and its contact points."""
    world = World(scene)
    R, p = np.tile(np.eye(3), (world.model.njoints, 1, 1)), np.zeros((world.model.njoints, 3))
    for crate in scene.bodies:
        if crate.name in world.free_bodies:
            joint, placement = world.model.getJointId(crate.name), crate.placement_world_body
            R[joint], p[joint] = placement.rotation, placement.translation
    if scene.robots:
        data = world.model.createData()
        pin.forwardKinematics(world.model, data, world.q)
        R = np.array([placement.rotation for placement in data.oMi])
        p = np.array([placement.translation for placement in data.oMi])
    twists = np.zeros((len(R), 6))
    detector = ContactDetector(world)
    points = detector.detect(R, p, twists, 1e-3)
    calls = max(3, min(200, 20000 // max(points.size, 1)))
    return microseconds(lambda: detector.detect(R, p, twists, 1e-3), calls), points.size


@njit(cache=True)
def many_contacts(table: ShapeTable, R: np.ndarray, p: np.ndarray, margin: float, points: PatchPoints) -> int:
    """Return contacts of shape 0 at many poses with shape 1 at the origin; the number of points."""
    nearest = Nearest(np.empty(3), np.empty(3), np.empty(3))
    ground = Pose(np.eye(3), np.zeros(3))
    count = 0
    for k in range(R.shape[0]):
        pose = Pose(R[k], p[k])
        distance = convex_distance(table, 0, 1, pose, ground, margin, nearest)
        if distance < np.inf:
            count += contact_patch(table, 0, 1, pose, ground, distance, margin, nearest, points)
    return count


def solids() -> dict[str, SolidShape]:
    """Return shapes of about the same size."""
    rng = np.random.default_rng(0)
    on_ball = rng.normal(size=(200, 3))
    return {
        "box": Box(np.array([0.3, 0.2, 0.1])),
        "sphere": Sphere(0.1),
        "capsule": Capsule(0.05, 0.3),
        "cylinder": Cylinder(0.08, 0.2),
        "hull 20": Polytope.of_points(0.1 * rng.normal(size=(20, 3))),
        "hull 200": Polytope.of_points(0.12 * on_ball / np.linalg.norm(on_ball, axis=1)[:, None]),
    }


def touching_poses(a: SolidShape, b: SolidShape, gap: float) -> tuple[np.ndarray, np.ndarray]:
    """Random attitudes in which two shapes are ``gap`` apart."""
    rng = np.random.default_rng(1)
    table = shape_table([a, b])
    rotations, origins = [], []
    nearest = Nearest(np.zeros(3), np.zeros(3), np.zeros(3))
    for _ in range(POSES):
        R = np.array(pin.Quaternion(rng.normal(size=4)).normalized().matrix())
        way = rng.normal(size=3)
        p = 0.6 * way / np.linalg.norm(way)
        for _ in range(60):  # along the normal until they are so far apart
            distance = convex_distance(table, 0, 1, Pose(R, p), Pose(np.eye(3), np.zeros(3)), 9.0, nearest)
            p = p - (distance - gap) * nearest.normal
        rotations.append(R)
        origins.append(p)
    return np.array(rotations), np.array(origins)


def time_of_pair(a: SolidShape, b: SolidShape, R: np.ndarray, p: np.ndarray) -> tuple[float, float]:
    """Our contacts and coal's distance alone, each per pair [us]."""
    table = shape_table([a, b])
    room = PatchPoints.of_size(MAX_POINTS)
    ours = microseconds(lambda: many_contacts(table, R, p, CONTACT_MARGIN, room), 10) / len(R)
    shapes = coal_solid(a), coal_solid(b)
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    still = coal.Transform3s(np.eye(3), np.zeros(3))
    places = [coal.Transform3s(rotation, origin) for rotation, origin in zip(R, p, strict=True)]

    def with_coal() -> None:
        for place in places:
            result.clear()
            coal.distance(shapes[0], place, shapes[1], still, request, result)

    return ours, microseconds(with_coal, 3) / len(R)


def flat_poses() -> tuple[np.ndarray, np.ndarray]:
    """Return a box that rests on another one, turned by some angle, a hair above or below."""
    rng = np.random.default_rng(2)
    R = np.array([pin.rpy.rpyToMatrix(0, 0, yaw) for yaw in rng.uniform(-3, 3, POSES)])
    p = np.column_stack([rng.uniform(-0.1, 0.1, (POSES, 2)), 0.1 + rng.choice([-1e-9, 1e-9], POSES)])
    return R, p


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 3, 10, 30, 100, 300, 1000])
    arguments = parser.parse_args()
    print("One detection, boxes on a floor [us]; slope of the logarithms from 10 boxes on")
    for kind in ("spread", "pile"):
        rows = [(count, *time_of_scene(scene_of(kind, count))) for count in arguments.counts]
        for count, time_us, points in rows:
            print(f"  {kind:7s} {count:5d} boxes {points:6d} points {time_us:10.1f} us {time_us / count:7.2f} us/box")
        large = [(count, time_us) for count, time_us, *_ in rows if count >= 10]
        if len(large) > 1:
            slope = np.polyfit(np.log([row[0] for row in large]), np.log([row[1] for row in large]), 1)[0]
            print(f"  {kind:7s} slope {slope:.2f}")
    robot = load_robot("hrp2")
    floor = body("floor", HalfSpace(), pin.SE3.Identity(), 0.0)
    placed = SceneRobot("hrp2", robot, "half_sitting", pin.SE3.Identity(), robot.postures["half_sitting"])
    for self_collision in (False, True):
        scene = Scene("stand", robots=(placed,), bodies=(floor,), self_collision=self_collision)
        print(f"  HRP-2 stands, self-collision {self_collision!s:5}: {time_of_scene(scene)[0]:6.1f} us")
    print("\nOne pair [us]: ours with contact points, coal's distance alone from Python; 0.5 mm apart, 0.5 mm deep")
    rest = flat_poses()
    box = Box(np.array([0.3, 0.2, 0.1]))
    ours, theirs = time_of_pair(box, box, *rest)
    print(f"  {'box at rest on box':24s} {ours:6.2f} {theirs:6.2f}")
    for (name_a, a), (name_b, b) in itertools.combinations_with_replacement(solids().items(), 2):
        apart = time_of_pair(a, b, *touching_poses(a, b, 5e-4))
        deep = time_of_pair(a, b, *touching_poses(a, b, -5e-4))
        print(f"  {name_a + ' - ' + name_b:24s} {apart[0]:6.2f} {apart[1]:6.2f}    {deep[0]:6.2f} {deep[1]:6.2f}")


if __name__ == "__main__":
    main()
