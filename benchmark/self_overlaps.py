# SPDX-License-Identifier: Apache-2.0
"""How deep robots' true shapes are in each other: in random postures that volumes call free, and along plans.

For each robot and kind: how many postures were looked at, how many have shapes deeper in each other than in the robot's
own postures (by more than a millimetre, as the verifier has it), and the pair that is deepest. "reaching" are answers
of the posture generator for a robot on both feet whose left hand is at a random place about the chest, which provokes
overlaps; "plans" are the stances of shipped scenes' plans on other random places. Another ``--seed`` gives others.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from examples.contact_scenarios import Scenario, bip_over_bars, five_stairs, g1_up_stairs, safely, talos_up_stairs
from humanoid_model import Robot, Scene, load_robot, load_scene
from humanoid_model.contact import Contact, Stance
from humanoid_model.errors import RobotError, RobotWarning
from humanoid_model.self_overlap import Overlap, self_overlap
from humanoid_planner.contacts import plan_contacts
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.program import SolverOptions
from humanoid_planner.posture import CollisionModel, generate_posture
from humanoid_planner.posture.tasks.link_tasks import point_at

PLANS: dict[str, Callable[[], Scenario]] = {
    "hrp2": five_stairs,
    "bip": bip_over_bars,
    "talos": talos_up_stairs,
    "g1": g1_up_stairs,
}
#: Last link of the left arm.
HANDS = {"hrp2": "LARM_LINK6", "talos": "arm_left_7_link", "g1": "left_wrist_yaw_link"}
#: What shapes may be deeper in each other than in own postures, as of the verifier [m].
TOLERANCE = 1e-3
#: Half the sides of the box about the chest that places to reach are drawn from [m].
ASIDE = np.array([0.35, 0.45, 0.35])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="of the random postures, places and plans")
    parser.add_argument("--count", type=int, default=60, help="of reached places for each robot")
    parser.add_argument("--plans", type=int, default=3, help="for each robot")
    parser.add_argument("--robots", nargs="+", choices=list(PLANS), default=list(PLANS))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", RobotWarning)
    head = f"{'robot':6s} {'kind':9s} {'found':>9s} {'looked at':>9s} {'overlap':>7s} {'mm':>6s} {'cpu s':>6s}"
    print(f"{head}  deepest pair")
    for name in arguments.robots:
        try:
            robot = load_robot(name)
        except RobotError as error:
            print(f"{name:6s} {error}")
            continue
        if name in HANDS:
            show(name, robot, "reaching", arguments.count, reached(robot, HANDS[name], arguments.count, arguments.seed))
        show(name, robot, "plans", arguments.plans, planned(name, arguments.plans, arguments.seed))


def show(name: str, robot: Robot, kind: str, asked: int, found: Iterator[list[NDArray[np.float64]]]) -> None:
    """Print the row of a kind: each item of ``found`` is one answer, its postures."""
    began = time.process_time()
    answers = [postures for postures in found if postures]
    spent = time.process_time() - began
    told: list[list[Overlap]] = [
        self_overlap(robot).overlaps(q, TOLERANCE, measured=True) for postures in answers for q in postures
    ]
    worst = max((one for overlaps in told for one in overlaps), key=lambda one: one.depth - one.allowed, default=None)
    pair = "-" if worst is None else f"{worst.first} {worst.second}, allowed {1e3 * worst.allowed:.1f}"
    deep = 0.0 if worst is None else 1e3 * worst.depth
    print(
        f"{name:6s} {kind:9s} {f'{len(answers)} of {asked}':>9s} {len(told):9d} {sum(map(bool, told)):7d} "
        f"{deep:6.1f} {spent:6.1f}  {pair}",
        flush=True,
    )


def reached(robot: Robot, hand: str, count: int, seed: int) -> Iterator[list[NDArray[np.float64]]]:
    """Yield postures on both feet, a hand at random places about the chest; none where none was found."""
    scene, kinematics, random = load_scene("stand"), RobotKinematics(robot), np.random.default_rng(seed)
    q = robot.postures["half_sitting" if "half_sitting" in robot.postures else "standing"]
    model, stance = CollisionModel(robot, scene), standing(robot, scene, q)
    middle = robot.placement_base(q).translation + np.array([0.1, 0.0, 0.25])
    for _ in range(count):
        place = middle + ASIDE * random.uniform(-1.0, 1.0, 3)
        task = point_at(kinematics, hand, [0.0, 0.0, 0.0], place, 0.01)
        answer = generate_posture(
            robot, stance, initial=q, scene=scene, tasks=[task], collisions=model, explain=False, restarts=2,
            options=SolverOptions(time_limit=10.0),
        )  # fmt: skip
        yield [answer.q] if answer.success else []


def standing(robot: Robot, scene: Scene, q: NDArray[np.float64]) -> Stance:
    """Return the contacts of both soles where they are in a posture (nq,)."""
    floor = next(surface for surface in scene.surfaces if surface.name == "floor")
    links = robot.link_placements(q)
    soles = [robot.contacts[f"{side}_sole"] for side in ("left", "right")]
    places = [(links[sole.link] * sole.placement_link_patch).translation for sole in soles]
    return Stance(tuple(Contact(sole, floor, at[0], at[1], 0.0) for sole, at in zip(soles, places, strict=True)))


def planned(name: str, count: int, seed: int) -> Iterator[list[NDArray[np.float64]]]:
    """Yield the postures of plans on the robot's stairs or bars; none where no plan was found."""
    for other in range(count):
        problem = PLANS[name]().but(**safely(), seed=1000 * seed + other).problem
        plan = plan_contacts(problem, max_nodes=400, time_limit=120.0)
        yield list(plan.postures) if plan.success else []


if __name__ == "__main__":
    main()
