# SPDX-License-Identifier: Apache-2.0
"""HRP-2 plans where to step on five stairs, makes a motion of it, verifies it and plays it in the simulator.

Run with ``python examples/play_plan.py stairs.png``. ``--seed`` chooses other footholds, ``--stances 5`` takes the
beginning of the plan alone, ``--stabilise`` closes the loop by a whole-body controller instead of servos.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

import matplotlib
import numpy as np

from humanoid_model import Contact, HumanoidError, Robot, Scene, Stance, load_robot, load_scene
from humanoid_model.picture_file import save_picture
from humanoid_model.progress import progress_bar
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory
from humanoid_planner.contacts import (
    Attractor,
    CentreOfMassAttractor,
    ContactCount,
    ContactPlan,
    ContactPlanner,
    RandomCandidates,
    StancePosture,
    verify_plan,
)
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.motion import Motion, PlannedPostures, generate_motion
from humanoid_planner.posture import NearReference
from humanoid_planner.posture.tasks.link_tasks import centre_of_mass_at
from humanoid_sim import Simulation
from humanoid_sim.walking import PlayedMotion, play_motion

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SCENE = "five_stairs"
TOP = (1.65, 0.0, 1.53)  # m, above the last step
FIGURES = 12  # of the robot in the picture
COLOURS = ("tab:blue", "tab:red", "tab:green", "tab:orange")


def plan(robot: Robot, scene: Scene, seed: int) -> ContactPlan:
    """Search for footholds that lead both feet onto the last step, the centre of mass above it.

    Args:
        robot: HRP-2.
        scene: the stairs.
        seed: of the footholds.
    """
    floor = next(surface for surface in scene.surfaces if surface.name == "floor")
    sides = (("left_sole", 0.095), ("right_sole", -0.095))
    start = Stance(tuple(Contact(robot.contacts[name], floor, -0.2, y, 0.0) for name, y in sides))

    def both_on_top(node: StancePosture, goal: StancePosture) -> bool:
        contacts = node.stance.stance(planner.space.couples).contacts
        return [contact.surface.name for contact in contacts] == ["step_5", "step_5"]

    planner = ContactPlanner(
        robot,
        scene,
        start,
        [centre_of_mass_at(TOP, 0.2)],
        locations=["left_sole", "right_sole"],
        candidates=RandomCandidates(density=10.0, radius=0.8, headings=(0.0,), turn=0.1),
        potential=CentreOfMassAttractor(Attractor(TOP, switch=0.0)),
        terms=[ContactCount(0.02)],
        criterion=NearReference(RobotKinematics(robot), robot.postures["half_sitting"]),
        stability_margin=0.015,
        goal_way_exists=both_on_top,
        seed=seed,
    )
    with progress_bar(sys.stderr) as progress:
        return planner.run(progress=progress)


def draw(scene: Scene, motion: Motion, played: PlayedMotion, path: str) -> None:
    """Draw the robot from the side, contact forces, and how it kept to its plan."""
    trajectory = motion.trajectory
    assert trajectory is not None
    figure, (side, forces, errors) = plt.subplots(
        3, 1, figsize=(11, 12), height_ratios=(2.2, 1, 1), layout="constrained"
    )
    for body in scene.bodies:
        for geometry in body.geometries:
            size = getattr(geometry.shape, "size", None)
            if size is not None:
                x, _, z = body.placement_world_body.translation
                side.add_patch(plt.Rectangle((x - size[0] / 2, z - size[2] / 2), size[0], size[2], color="0.8"))
    side.axhline(0.0, color="0.6", linewidth=0.8)
    for index, at in enumerate(np.linspace(0.0, trajectory.duration, FIGURES)):
        _stick(trajectory, side, float(at), plt.get_cmap("viridis")(index / (FIGURES - 1)))
    side.set(aspect="equal", title="from the right, dark to light", xlabel="x [m]", ylabel="z [m]")
    for column, name in enumerate(played.locations):
        forces.plot(played.times, played.planned[:, column], "--", color=COLOURS[column], linewidth=1.2)
        forces.plot(played.times, played.measured[:, column], color=COLOURS[column], linewidth=0.7, label=name)
    forces.set(ylabel="normal force [N]", title="measured, and planned (dashed)")
    forces.legend(loc="upper right")
    errors.plot(played.times, np.degrees(played.joints), label="largest joint error [deg]")
    errors.plot(played.times, 1e3 * np.linalg.norm(played.base[:, :3], axis=1), label="base off its plan [mm]")
    errors.plot(played.times, played.efforts, label="largest share of an effort limit")
    errors.set(xlabel="time [s]")
    errors.legend(loc="upper right")
    save_picture(figure, path)
    plt.close(figure)


def _stick(trajectory: WholeBodyTrajectory, axis: plt.Axes, at: float, colour: object) -> None:
    """Lines between the links' frames of limbs."""
    robot = trajectory.robot
    links = robot.link_placements(trajectory.at(at).q)
    for joint in robot.joint_names:
        one, other = (links[name].translation for name in (_parent(robot, joint), _child(robot, joint)))
        axis.plot([one[0], other[0]], [one[2], other[2]], color=colour, linewidth=1.5)
    for name in ("left_sole", "right_sole"):
        location = robot.contacts[name]
        corners = np.array([links[location.link].act(corner) for corner in location.vertices_link])
        axis.plot(corners[[0, 1, 2, 3, 0], 0], corners[[0, 1, 2, 3, 0], 2], color=colour, linewidth=2.5)


def _parent(robot: Robot, joint: str) -> str:
    return robot.description.joints[joint].parent


def _child(robot: Robot, joint: str) -> str:
    return robot.description.joints[joint].child


def main(arguments: Sequence[str] | None = None) -> int:
    """Plan, move, verify, play, draw.

    Args:
        arguments: words of the command line; None: those of this process.

    Returns:
        0 where the motion holds and the robot stands at its end, 1 if not, 2 where something given can't be used.
    """
    try:
        return _main(arguments)
    except HumanoidError as problem:
        print(f"play_plan: {problem}", file=sys.stderr)
        return 2


def _main(arguments: Sequence[str] | None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("picture", nargs="?", default="play_plan.png")
    parser.add_argument("--seed", type=int, default=1, help="of the footholds")
    parser.add_argument("--stances", type=int, help="of the plan that are taken, from its beginning")
    parser.add_argument("--stabilise", action="store_true", help="close the loop")
    chosen = parser.parse_args(arguments)
    robot, scene = load_robot("hrp2"), load_scene(SCENE)
    found = plan(robot, scene, chosen.seed)
    statistics = found.statistics
    print(f"plan: {found.explanation} {len(found.stances)} stances, {statistics.nodes} nodes, {statistics.time:.1f} s")
    if not found.success:
        return 1
    part = PlannedPostures(found.stances[: chosen.stances], found.postures[: chosen.stances])
    with progress_bar(sys.stderr) as progress:
        motion = generate_motion(robot, scene, part, progress=progress)
    print(f"motion: {motion.explanation} Made in {motion.time:.1f} s.")
    if motion.trajectory is None:
        return 1
    began = time.perf_counter()
    verdict = verify_plan(robot, scene, *motion.parts())
    print(
        f"verified: {len(verdict.violations)} violations in {verdict.postures} postures, drift "
        f"{1e3 * verdict.drift:.3f} mm, centre of mass at least {1e3 * verdict.margin:.1f} mm inside, "
        f"efforts at most {verdict.torque:.0%} at rest, in {time.perf_counter() - began:.1f} s"
    )
    with progress_bar(sys.stderr) as progress:
        played = play_motion(
            Simulation(scene), scene.robots[0].name, motion.trajectory, stabilise=chosen.stabilise, progress=progress
        )
    print(f"played: {played.report()}")
    draw(scene, motion, played, chosen.picture)
    return 0 if motion.success and verdict.success and played.fallen is None else 1


if __name__ == "__main__":
    sys.exit(main())
