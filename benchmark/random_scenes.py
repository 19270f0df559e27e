# SPDX-License-Identifier: Apache-2.0
"""Contact plans and their motions in scenes drawn at random: how many are found, at what cost, and why others aren't.

Nine scenes that are known can be tuned to; these are drawn afresh at each run (--seed repeats them): stepping stones
with tilt, slabs with slots between, beams, low walls, ramps, a log in a corridor, a platform beside a post, posts in
the way. The robot stands on one platform and has to come to the other on its feet. Each scene is planned twice:
contacts alone, of which a motion is made afterwards, and contacts with a motion, which ``verify_plan`` and
``verify_motion`` look at. Seconds are those of the processor, medians, which a busy machine moves least.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from examples.contact_scenarios import MARGIN, NARROW, ROUGH
from humanoid_model import Contact, Robot, Stance, load_robot
from humanoid_model.contact import Surface
from humanoid_model.description import Box, Cylinder, Geometry
from humanoid_model.progress import Progress
from humanoid_model.scene import PairRule, Scene, SceneBody
from humanoid_planner.contacts import (
    Attractor,
    CentreOfMassAttractor,
    ContactCount,
    ContactProblem,
    RandomCandidates,
    plan_contacts,
    verify_motion,
    verify_plan,
)
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.motion import generate_motion
from humanoid_planner.posture import CollisionModel, NearReference
from humanoid_planner.posture.tasks.link_tasks import centre_of_mass_at

FRICTION = 0.8
#: Length and width of the platforms at both ends, thickness of all that is walked on, width of the way [m].
PLATFORM, THICK, WIDE = (0.7, 1.2), 0.1, 1.0
#: How far from its goal the centre of mass may be at the end [m].
_REACH = 0.2

_COLOUR = np.array([0.7, 0.68, 0.64, 1.0])


class Terrain:
    """Bodies, and the faces that may be walked on, from the end of the first platform at x = 0.

    Attributes:
        end: x where the second platform begins [m].
        height: of its top [m].
    """

    def __init__(self) -> None:
        self.bodies: list[SceneBody] = []
        self.surfaces: list[Surface] = []
        self.end, self.height = 0.0, 0.0

    def obstacle(self, name: str, shape: Box | Cylinder, place: pin.SE3) -> None:
        """Put a shape somewhere that isn't walked on."""
        still = np.zeros(3), np.zeros((3, 3)), place, np.zeros(6)
        self.bodies.append(SceneBody(name, name, 0.0, *still, (Geometry("", shape, pin.SE3.Identity(), _COLOUR),)))

    def slab(self, name: str, size: tuple[float, float], top: pin.SE3) -> None:
        """Put a slab by the frame in the middle of its upper face, which may be walked on."""
        half = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.5 * THICK]))
        self.obstacle(name, Box(np.array([*size, THICK])), top * half.inverse())
        x, y = 0.5 * size[0], 0.5 * size[1]
        self.surfaces.append(Surface(name, name, half, np.array([(-x, -y), (x, -y), (x, y), (-x, y)])))


def _at(x: float, y: float, z: float, roll: float = 0.0, pitch: float = 0.0, yaw: float = 0.0) -> pin.SE3:
    return pin.SE3(pin.rpy.rpyToMatrix(roll, pitch, yaw), np.array([x, y, z]))


def stones(terrain: Terrain, rng: np.random.Generator) -> None:
    """Lay two rows of stones that are tilted, apart and of several heights."""
    x, z = 0.0, 0.0
    for column in range(rng.integers(2, 5)):
        gap = rng.uniform(0.03, 0.1)
        z += rng.uniform(-0.05, 0.05)
        for side, sign in (("left", 1.0), ("right", -1.0)):
            tilt = rng.uniform(-0.2, 0.2, 2)
            ahead, beside, above = rng.uniform(-0.03, 0.03), rng.uniform(0.12, 0.18), rng.uniform(-0.02, 0.02)
            place = _at(x + gap + 0.15 + ahead, sign * beside, z + above, *tilt)
            terrain.slab(f"{side}_{column}", (0.28, 0.2), place)
        x += gap + 0.3
    terrain.end, terrain.height = x + 0.03, z


def slots(terrain: Terrain, rng: np.random.Generator) -> None:
    """Lay slabs one behind the other with slots between them, some higher than others."""
    x, z = 0.0, 0.0
    for number in range(rng.integers(2, 5)):
        length, gap = rng.uniform(0.28, 0.45), rng.uniform(0.05, 0.2)
        z += rng.uniform(-0.1, 0.1)
        terrain.slab(f"slab_{number}", (length, WIDE), _at(x + gap + 0.5 * length, 0.0, z))
        x += gap + length
    terrain.end, terrain.height = x + rng.uniform(0.05, 0.15), z


def beam(terrain: Terrain, rng: np.random.Generator) -> None:
    """Lay a beam hardly wider than a foot."""
    length, width = rng.uniform(0.6, 1.2), rng.uniform(0.14, 0.3)
    terrain.slab("beam", (length, width), _at(0.5 * length, rng.uniform(-0.05, 0.05), 0.0))
    terrain.end = length


def wall(terrain: Terrain, rng: np.random.Generator) -> None:
    """Lay a way with a low wall across it."""
    length, thick, high = rng.uniform(0.8, 1.2), rng.uniform(0.03, 0.1), rng.uniform(0.05, 0.2)
    terrain.slab("way", (length, WIDE), _at(0.5 * length, 0.0, 0.0))
    terrain.obstacle("wall", Box(np.array([thick, WIDE, high])), _at(rng.uniform(0.3, 0.6), 0.0, 0.5 * high))
    terrain.end = length


def ramp(terrain: Terrain, rng: np.random.Generator) -> None:
    """Lay a ramp up or down."""
    length, slope = rng.uniform(0.6, 1.0), rng.uniform(0.1, 0.45) * rng.choice([-1.0, 1.0])
    along, up = 0.5 * length * math.cos(slope), 0.5 * length * math.sin(slope)
    terrain.slab("ramp", (length, WIDE), _at(along + 0.02, 0.0, up, 0.0, -slope))
    terrain.end, terrain.height = 2.0 * along + 0.04, 2.0 * up


def log(terrain: Terrain, rng: np.random.Generator) -> None:
    """Lay a log across a corridor of two walls, not quite at right angles."""
    length, radius = rng.uniform(0.8, 1.1), rng.uniform(0.04, 0.1)
    terrain.slab("way", (length, WIDE), _at(0.5 * length, 0.0, 0.0))
    lying = _at(rng.uniform(0.35, 0.55), 0.0, radius, 0.5 * math.pi, 0.0, rng.uniform(-0.4, 0.4))
    terrain.obstacle("log", Cylinder(radius, WIDE), lying)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        place = _at(0.5 * length, sign * (0.5 * WIDE + 0.03), 0.6)
        terrain.obstacle(f"{side}_wall", Box(np.array([length, 0.04, 1.2])), place)
    terrain.end = length


def platform(terrain: Terrain, rng: np.random.Generator) -> None:
    """Put a step up onto a platform beside a post."""
    length, high = rng.uniform(0.5, 0.8), rng.uniform(0.1, 0.24)
    terrain.slab("platform", (length, WIDE), _at(0.5 * length + 0.02, 0.0, high))
    place = _at(rng.uniform(0.0, 0.3), rng.choice([-1.0, 1.0]) * rng.uniform(0.25, 0.35), high + 0.5)
    terrain.obstacle("post", Cylinder(0.04, 1.0), place)
    terrain.end, terrain.height = length + 0.04, high


def posts(terrain: Terrain, rng: np.random.Generator) -> None:
    """Put posts as high as a shin somewhere in the way."""
    length = rng.uniform(0.8, 1.2)
    terrain.slab("way", (length, WIDE), _at(0.5 * length, 0.0, 0.0))
    for number in range(rng.integers(2, 5)):
        place = _at(rng.uniform(0.2, length - 0.1), rng.uniform(-0.35, 0.35), 0.15)
        terrain.obstacle(f"post_{number}", Cylinder(rng.uniform(0.02, 0.05), 0.3), place)
    terrain.end = length


KINDS: Mapping[str, Callable[[Terrain, np.random.Generator], None]] = {
    one.__name__: one for one in (stones, slots, beam, wall, ramp, log, platform, posts)
}


def drawn_scene(kind: str, seed: int) -> tuple[Scene, Terrain]:
    """Return a scene of a kind, the same for a seed, and what is between its platforms."""
    terrain = Terrain()
    KINDS[kind](terrain, np.random.default_rng([seed, list(KINDS).index(kind)]))
    terrain.slab("begin", PLATFORM, _at(-0.5 * PLATFORM[0], 0.0, 0.0))
    terrain.slab("goal", PLATFORM, _at(terrain.end + 0.5 * PLATFORM[0], 0.0, terrain.height))
    rules = (PairRule("*", "*", FRICTION),)
    return Scene(f"{kind}_{seed}", bodies=tuple(terrain.bodies), surfaces=tuple(terrain.surfaces), rules=rules), terrain


def drawn_problem(robot: Robot, kind: str, seed: int) -> ContactProblem:
    """Return what a robot has to do in a scene: come onto the other platform with both feet, in balance and clear."""
    scene, terrain = drawn_scene(kind, seed)
    kinematics, upright = RobotKinematics(robot), _upright(robot)
    links, sides = robot.link_placements(upright), {"left_sole": 1.0, "right_sole": -1.0}
    beside = float(links[robot.contacts["left_sole"].link].translation[1])
    begin = next(surface for surface in scene.surfaces if surface.name == "begin")
    start = [Contact(robot.contacts[name], begin, 0.1, sign * beside, 0.0) for name, sign in sides.items()]
    centre = float(pin.centerOfMass(robot.model, robot.model.createData(), upright)[2])
    over = [terrain.end + 0.2, 0.0, terrain.height + centre]
    return ContactProblem(
        robot=robot,
        scene=scene,
        start=Stance(tuple(start)),
        goal=[centre_of_mass_at(over, _REACH)],
        goal_holds=[(name, "goal") for name in sides],
        locations=list(sides),
        candidates=RandomCandidates(density=12.0, radius=1.1, headings=(0.0,), turn=0.2),
        children=3,
        potential=CentreOfMassAttractor(Attractor(over, 0.0)),
        criterion=NearReference(kinematics, upright),
        terms=[ContactCount(0.02)],
        start_posture=upright,
        collisions=CollisionModel(robot, scene, r=NARROW),
        torque_limits=True,
        friction=0.9 * FRICTION,
        centre_margin=MARGIN,
        options=ROUGH,
        seed=seed,
    )


class Outcome(NamedTuple):
    """What became of a scene.

    Attributes:
        plan: whether contacts alone were found.
        plan_seconds: that they took [s].
        afterwards: whether a motion was made of that plan.
        afterwards_seconds: that it took [s].
        motion: whether contacts with a motion were found.
        motion_seconds: that these took [s].
        verified: whether nothing is wrong with that motion.
        asked: ways.
        refused: of them.
        searched: steps of the motion whose way had to be searched for.
        why: what there isn't; empty where all is well.
    """

    plan: bool
    plan_seconds: float
    afterwards: bool
    afterwards_seconds: float
    motion: bool
    motion_seconds: float
    verified: bool
    asked: int
    refused: int
    searched: int
    why: str


def tried(problem: ContactProblem, nodes: int, limit: float) -> Outcome:
    """Plan a scene, and say what became of it.

    Args:
        problem: what is planned.
        nodes: most of a search.
        limit: of the processor, for a search and for a motion [s].
    """
    robot, scene, times = problem.robot, problem.scene, [time.process_time()]

    def over(_: Progress) -> bool:
        return time.process_time() - times[-1] > limit

    alone = plan_contacts(problem, max_nodes=nodes, progress=over)
    times.append(time.process_time())
    made = {"collisions": problem.collisions, "tasks": problem.tasks, "goal": problem.goal}
    afterwards = alone.success and generate_motion(robot, scene, alone, progress=over, **made).success
    times.append(time.process_time())
    whole = plan_contacts(problem, motion=True, max_nodes=nodes, progress=over)
    times.append(time.process_time())
    why, verified, searched = "" if whole.success else whole.explanation, False, 0
    if whole.success:
        assert whole.motion is not None
        assert whole.motion.trajectory is not None
        looks = verify_plan(robot, scene, *whole.motion.parts()), verify_motion(whole.motion.trajectory, scene)
        searched = sum(step.searched for step in whole.motion.steps)
        wrong = [one for look in looks for one in look.violations]
        verified = not wrong
        why = f"{len(wrong)} violations, the first {wrong[0].what}" if wrong else ""
    spent = np.diff(times)
    return Outcome(
        alone.success, spent[0], afterwards, spent[1], whole.success, spent[2], verified,
        len(whole.statistics.ways), whole.statistics.ways_refused, searched, why,
    )  # fmt: skip


def main() -> None:
    """Draw scenes and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", default="hrp2")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--scenes", type=int, default=10, help="of each kind")
    parser.add_argument("--seed", type=int, help="of the first scene; by the clock if not given")
    parser.add_argument("--nodes", type=int, default=600, help="of one search")
    parser.add_argument("--limit", type=float, default=120.0, help="of one search, by the processor [s]")
    arguments = parser.parse_args()
    robot, seed = load_robot(arguments.robot), int(time.time()) if arguments.seed is None else arguments.seed
    print(f"{arguments.robot}, {arguments.scenes} scenes of each kind, seeds from {seed}\n")
    whole = "plans with motion | s | verified | ways asked | refused | steps searched"
    print(f"| | plans | s | a motion afterwards | s | {whole} |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    lines: list[str] = []
    every: list[Outcome] = []
    for kind in arguments.kinds:
        found: list[Outcome] = []
        for number in range(seed, seed + arguments.scenes):
            found.append(tried(drawn_problem(robot, kind, number), arguments.nodes, arguments.limit))
            if found[-1].why:
                lines.append(f"{kind} {number}: {found[-1].why}")
        every += found
        print(_row(kind, found), flush=True)
    print(_row("all", every), *lines, sep="\n")


def _row(name: str, found: list[Outcome]) -> str:
    cells = []
    for column, values in zip(Outcome._fields[:-1], np.array([one[:-1] for one in found]).T, strict=True):
        cells.append(f"{np.median(values):.1f}" if column.endswith("seconds") else f"{values.sum():.0f}")
    return f"| {name} | {cells[0]} of {len(found)} | {' | '.join(cells[1:])} |"


def _upright(robot: Robot) -> np.ndarray:
    """(nq,) how it stands."""
    return robot.postures["half_sitting" if "half_sitting" in robot.postures else "standing"]


if __name__ == "__main__":
    main()
