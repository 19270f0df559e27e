# SPDX-License-Identifier: Apache-2.0
"""HRP-2 plans contacts, makes a motion of its plan, verifies it and plays it in the simulator.

``scripts/run python examples/play_plan.py chair`` rises from a chair at a table; others are back, can, gap, glass,
ladder, rail, stairs and table. With ``--bridge`` the motion goes through the controller bridge to the simulator of a
stack that is started for it. It ends with a report and a picture of the robot, of forces predicted and measured, and of
what it kept to; ``--film`` writes what was played as a GIF. With ``--feedback`` it is carried out by a controller that
finds hand- and footholds by force, which a world other than planned needs: ``rail --feedback --off 0.01``.
``--in-stride`` lets contacts change while it moves, where it rests else.
``--stances 5`` takes the beginning of the plan alone, ``--seed`` chooses other footholds on the stairs.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
import pinocchio as pin
from matplotlib.animation import PillowWriter

from examples.contact_scenarios import (
    Scenario,
    backward_walk,
    can_on_table,
    chair_to_standing,
    five_stairs,
    gap_with_wall,
    ladder,
    reaching,
    sitting_with_glass,
    step_with_rail,
    uncrossed,
    under_the_table,
)
from examples.plan_picture import draw_posture
from humanoid_control.tracking import MotionTracker
from humanoid_gait.in_stride import in_stride
from humanoid_model import HumanoidError, Stance
from humanoid_model.fields import add_options
from humanoid_model.files import save_picture
from humanoid_model.progress import ProgressCallback, progress_bar
from humanoid_model.scene import Scene
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory
from humanoid_planner.contacts import (
    BarycentreNear,
    ContactPlanner,
    ContactProblem,
    RandomCandidates,
    collisions_of,
    verify_motion,
    verify_plan,
)
from humanoid_planner.motion import MotionResult, PlannedPostures, generate_motion
from humanoid_sim import Simulation
from humanoid_sim.playback import PlayedMotion, play_motion

matplotlib.use("Agg")
import matplotlib.pyplot as plt

#: Of all contact forces in the plan to their friction cones [N].
MARGIN = 10.0
#: Where scenes are seen from, azimuth and elevation [deg].
VIEWS: Mapping[str, tuple[float, float]] = {"chair": (-130.0, 15.0), "glass": (-130.0, 15.0)}
#: Pictures of the robot in the report, those of a second in the film, and how fast it is shown.
FIGURES, RATE, FASTER = 8, 8, 2.0
#: Most pictures of a film: what takes long is shown faster.
PICTURES = 140
#: Plans whose useless contacts are left out, and whose postures are brought nearer to each other, before they move.
TIDIED = frozenset({"ladder"})
#: Plans that are sought with their motion: so far does the robot reach that others leave a motion no reserve.
TOGETHER = frozenset({"can", "gap"})
#: How long the robot is watched at its end [s].
STOOD = 1.0


def climb() -> Scenario:
    """Climb a ladder of six rungs; without the term that hurries the search, a plan that has a motion comes first."""
    scenario = ladder()
    return scenario.but(terms=[one for one in scenario.problem.terms if not isinstance(one, BarycentreNear)], seed=4)


def glass() -> Scenario:
    """Turn and sit down, a glass kept upright; feet that cross would have no way past each other."""
    return _uncrossed(sitting_with_glass()).but(stability_margin=MARGIN, centre_margin=0.0)


def stairs() -> Scenario:
    """Walk up five stairs, both feet on the last one at the end."""
    return five_stairs().but(
        candidates=RandomCandidates(density=10.0, radius=0.8, headings=(0.0,), turn=0.1),
        collisions=True,
        stability_margin=0.015,
        goal_holds=[("left_sole", "step_5"), ("right_sole", "step_5")],
        seed=1,
    )


#: What is planned: walk a metre backwards with a quarter turn, rise from a chair and walk half a metre aside, cross a
#: gap with the hands on the wall behind it, go up a step with a hand on a rail, crouch through under a table, ...
SCENARIOS: Mapping[str, Callable[[], Scenario]] = {
    "back": backward_walk,
    "can": lambda: reaching(can_on_table()),
    "chair": lambda: chair_to_standing(0.4),
    "gap": gap_with_wall,
    "glass": glass,
    "ladder": climb,
    "rail": step_with_rail,
    "stairs": stairs,
    "table": lambda: _uncrossed(under_the_table()),
}


def _uncrossed(scenario: Scenario) -> Scenario:
    return scenario.but(
        terms=[*scenario.problem.terms, *uncrossed(scenario.scene, 0.12, [("left_sole", "right_sole")])]
    )


def make_motion(
    name: str, problem: ContactProblem, stances: int | None, progress: ProgressCallback | None
) -> MotionResult | None:
    """Plan, and make a motion of the plan; says what came of both.

    Args:
        name: of the scenario.
        problem: what is planned.
        stances: that are taken of the plan, from its beginning; None for all.
        progress: told all the while.

    Returns:
        The motion; None where there is no plan.
    """
    planner = ContactPlanner(problem, motion=name in TOGETHER)
    found = planner.run(progress=progress)
    statistics = found.statistics
    print(f"plan: {found.explanation} {len(found.stances)} stances, {statistics.nodes} nodes, {statistics.time:.1f} s")
    if not found.success:
        return None
    if name in TIDIED:
        found = planner.smoothed(planner.shortened())
    whole, motion = stances is None or stances >= len(found.stances), found.motion
    if motion is None or not whole:
        motion = generate_motion(
            problem.robot,
            problem.scene,
            PlannedPostures(found.stances[:stances], found.postures[:stances]),
            collisions=problem.collisions,
            tasks=problem.tasks,
            goal=problem.goal if whole else (),
            progress=progress,
        )
    print(f"motion: {motion.explanation} Made in {motion.time:.1f} s.")
    return motion


def verify(scenario: Scenario, motion: MotionResult) -> bool:
    """Return whether the motion holds by other means, and say with what margins."""
    began = time.perf_counter()
    assert motion.trajectory is not None
    verdict = verify_plan(motion.trajectory.robot, scenario.scene, *motion.parts())
    print(
        f"verified: {len(verdict.violations)} violations in {verdict.postures} postures, drift "
        f"{1e3 * verdict.drift:.3f} mm, centre of mass at least {1e3 * verdict.margin:.1f} mm inside, "
        f"efforts at most {verdict.torque:.0%} at rest, in {time.perf_counter() - began:.1f} s"
    )
    return bool(verdict.success)


def without_rests(scene: Scene, motion: WholeBodyTrajectory) -> tuple[WholeBodyTrajectory, bool]:
    """Return the motion in stride, and whether it holds by other means; says what came of it."""
    began = time.perf_counter()
    with progress_bar(sys.stderr) as progress:
        found = in_stride(motion, touches=lambda part: collisions_of(part, scene), progress=progress)
    print(
        f"in stride: {found.explanation} {motion.duration:.1f} s become {found.trajectory.duration:.1f} s. "
        f"Made in {time.perf_counter() - began:.1f} s."
    )
    verdict = verify_motion(found.trajectory, scene)
    print(f"verified: {len(verdict.violations)} violations, efforts at most {verdict.torque:.0%}")
    for violation in verdict.violations[:5]:
        print(f"  {violation.what}")
    return found.trajectory, bool(verdict.success)


def stance_at(motion: WholeBodyTrajectory, at: float) -> Stance:
    """Return the contacts that are held at a time [s]."""
    return Stance(tuple(span.contact for span in motion.held(at)))


def displaced(
    scene: Scene, motion: WholeBodyTrajectory, off: float, turned: float, rng: np.random.Generator
) -> Scene:
    """Return a scene whose bodies aren't where they were, but for those that the robot begins on.

    Args:
        scene: for which the motion was planned.
        motion: in it.
        off: greatest way of each body's surface [m].
        turned: greatest angle, about any axis through its middle [rad].
        rng: draws ways and turns.
    """
    begins = {span.contact.surface.body for span in motion.contacts if span.start <= motion.times[0]}
    surfaces, bodies = {surface.body: surface for surface in scene.surfaces}, []
    for body in scene.bodies:
        moved = body.placement_world_body
        if body.name in surfaces and body.name not in begins:
            way, axis = rng.normal(size=3), rng.normal(size=3)
            way *= off * rng.uniform() / np.linalg.norm(way)
            turn = pin.exp3(turned * rng.uniform() * axis / np.linalg.norm(axis))
            middle = (moved * surfaces[body.name].placement_body_surface).translation
            moved = pin.SE3(turn, middle + way - turn @ middle) * moved
        bodies.append(dataclasses.replace(body, placement_world_body=moved))
    return dataclasses.replace(scene, bodies=tuple(bodies))


def draw(name: str, scenario: Scenario, motion: WholeBodyTrajectory, played: PlayedMotion, path: str) -> None:
    """Draw the robot along its motion, contact forces, and how it kept to its plan."""
    figure = plt.figure(figsize=(2.2 * FIGURES, 14.0), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=(1, 4))
    for axis, at in zip(upper.subplots(1, FIGURES), np.linspace(0.0, motion.duration, FIGURES), strict=True):
        view = VIEWS.get(name, (-75.0, 10.0))
        draw_posture(
            axis, scenario.robot, scenario.scene, stance_at(motion, float(at)), motion.at(float(at)).q, view, 0.85
        )
        axis.set(aspect="equal", title=f"{at:.1f} s")
        axis.set_axis_off()
    draw_played(lower, played)
    save_picture(figure, path)
    plt.close(figure)


def draw_played(figure: Any, played: PlayedMotion) -> None:
    """Draw contact forces, zero-moment point and how a robot kept to its plan into a figure or a part of one."""
    forces, points, turns, base, efforts = figure.subplots(5, 1, sharex=True, height_ratios=(3, 3, 2, 2, 2))
    for column, location in enumerate(played.locations):
        forces.plot(played.times, played.planned[:, column], "--", color=f"C{column}", linewidth=1.8)
        forces.plot(played.times, played.measured[:, column], color=f"C{column}", linewidth=0.9, label=location)
    forces.set(ylabel="normal force [N]", title="measured, and predicted (dashed)")
    for axis, name in enumerate("xy"):
        points.plot(played.times, played.planned_zero_moment_point[:, axis], "--", color=f"C{axis}", linewidth=1.8)
        points.plot(played.times, played.zero_moment_point[:, axis], color=f"C{axis}", linewidth=0.9, label=name)
    points.set(ylabel="zero-moment point [m]")
    turns.plot(played.times, np.degrees(played.joints), label="largest joint error")
    turns.plot(played.times, np.degrees(np.linalg.norm(played.base[:, 3:], axis=1)), label="waist turned off its plan")
    turns.set(ylabel="[deg]")
    base.plot(played.times, 1e3 * np.linalg.norm(played.base[:, :3], axis=1))
    base.set(ylabel="base off its plan [mm]")
    efforts.plot(played.times, played.efforts)
    efforts.set(xlabel="time [s]", ylabel="largest share\nof an effort limit")
    for axis in (forces, points, turns):
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def film(name: str, scenario: Scenario, motion: WholeBodyTrajectory, path: str) -> None:
    """Write the motion as a moving picture."""
    figure, axis = plt.subplots(figsize=(4.0, 4.0), layout="constrained")
    writer = PillowWriter(fps=RATE)
    with writer.saving(figure, path, dpi=72):
        pace = max(FASTER / RATE, motion.duration / PICTURES)
        for at in [*np.arange(0.0, motion.duration, pace), *[motion.duration] * RATE]:
            axis.clear()
            axis.set_axis_off()
            axis.set(aspect="equal", title=f"{at:.1f} s")
            view = VIEWS.get(name, (-75.0, 10.0))
            draw_posture(
                axis, scenario.robot, scenario.scene, stance_at(motion, float(at)), motion.at(float(at)).q, view, 1.0
            )
            writer.grab_frame()
    plt.close(figure)


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
    parser.add_argument("scenario", choices=SCENARIOS)
    parser.add_argument("picture", nargs="?", default="play_plan.png")
    parser.add_argument("--bridge", action="store_true", help="play it through the controller bridge")
    parser.add_argument("--pace", type=float, default=1.0, help="of the bridge's simulator; below 1 on a busy machine")
    parser.add_argument("--film", help="GIF of the motion")
    add_options(parser, ContactProblem, ["seed"])
    parser.add_argument("--stances", type=int, help="of the plan that are taken, from its beginning")
    parser.add_argument("--in-stride", action="store_true", help="contacts change while it moves")
    parser.add_argument("--feedback", action="store_true", help="carry it out with feedback")
    parser.add_argument("--off", type=float, default=0.0, help="surfaces are off by up to so much [m], and by 2°")
    chosen = parser.parse_args(arguments)
    scenario = SCENARIOS[chosen.scenario]()
    if chosen.seed is not None:
        scenario = scenario.but(seed=chosen.seed)
    with progress_bar(sys.stderr) as progress:
        motion = make_motion(chosen.scenario, scenario.problem, chosen.stances, progress)
    if motion is None or motion.trajectory is None:
        return 1
    holds = verify(scenario, motion)
    trajectory = motion.trajectory
    if chosen.in_stride:
        trajectory, holds = without_rests(scenario.scene, trajectory)
    began, scene, rng = time.perf_counter(), scenario.scene, np.random.default_rng(chosen.seed)
    if chosen.off > 0.0:
        scene = displaced(scene, trajectory, chosen.off, np.radians(2.0), rng)
    if chosen.bridge:
        from examples.through_bridge import play_through_bridge, running_stack

        with running_stack(scene.name, chosen.pace) as stack:
            played = play_through_bridge(stack, trajectory)
    else:
        with progress_bar(sys.stderr) as progress:
            played = play_motion(
                Simulation(scene), scene.robots[0].name, trajectory,
                controller=MotionTracker(trajectory) if chosen.feedback else None, after=STOOD,
                progress=progress,
            )  # fmt: skip
    print(f"played: {trajectory.duration:.1f} s in {time.perf_counter() - began:.1f} s; {played.report()}")
    draw(chosen.scenario, scenario, trajectory, played, chosen.picture)
    print(f"written: {chosen.picture}")
    if chosen.film:
        film(chosen.scenario, scenario, trajectory, chosen.film)
        print(f"written: {chosen.film}")
    return 0 if motion.success and holds and played.fallen is None else 1


if __name__ == "__main__":
    sys.exit(main())
