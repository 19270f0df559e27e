# SPDX-License-Identifier: Apache-2.0
"""HRP-2 plans its way up five stairs on the running stack, and the plan is checked by other means.

In one terminal ``scripts/run python -m humanoid_ros.bringup scene=five_stairs``, in another one ``scripts/run python
examples/plan_over_ros.py``. With ``--play`` the plan becomes a motion that the simulated robot follows.
"""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterator

import numpy as np
from humanoid_stack.action import PlanContacts
from humanoid_stack.msg import Contact as ContactMessage
from humanoid_stack.msg import PostureTask, StancePosture

from humanoid_model import Contact, HumanoidError, Robot, Stance, load_scene
from humanoid_model.progress import Progress
from humanoid_planner.contacts import PlanVerdict
from humanoid_planner.optimisation.program import ReturnCode
from humanoid_ros.client import HumanoidStack, PlanAnswer

SCENE, TOP = "five_stairs", (1.65, 0.0, 1.53)
"""Where the centre of mass is to come, above the last step [m]."""
MARGIN, PAUSE = 10.0, 0.3
"""Of contact forces to their friction cones in the plan [N], and at rest between two steps of the motion [s]."""
ARRIVED = 0.02
"""Distance of the base from where the plan has it, within which the robot has arrived [m]."""


def climb(stack: HumanoidStack, seed: int, limit: float) -> PlanAnswer:
    """Ask for the plan.

    Args:
        stack: that runs.
        seed: of the footholds.
        limit: wall-clock time for planning [s].
    """
    floor = next(surface for surface in load_scene(SCENE).surfaces if surface.name == "floor")
    soles = {name: stack.robot.contacts[name] for name in ("left_sole", "right_sole")}
    sides = (("left_sole", 0.095), ("right_sole", -0.095))
    return stack.plan(
        Stance(tuple(Contact(soles[name], floor, -0.2, y, 0.0) for name, y in sides)),
        [{"kind": PostureTask.CENTRE_OF_MASS, "target": TOP, "tolerance": 0.2}],
        scene=SCENE,
        used_locations=list(soles),
        candidates={"headings": [0.0], "turn": 0.1},
        potentials=[{"target": TOP}],
        terms=[{"weight": 0.02}],
        criterion="reference",
        stability="forces",
        stability_margin=MARGIN,
        torque_limits=True,
        shorten=True,
        seed=seed,
        time_limit=limit,
        progress=print_progress,
    )


def play(stack: HumanoidStack, answer: PlanAnswer) -> bool:
    """Turn the plan into a motion and let the simulated robot follow it; of one that ends too early, what there is.

    Returns:
        Whether the robot is where the whole plan ends.
    """
    result = stack.motion(answer, pause=PAUSE, progress=lambda news: print(news.stage))
    points = result.trajectory.joints.points
    if not points:
        raise SystemExit(result.message)
    print(result.message or f"a motion of {points[-1].time_from_start.sec} s")
    print(stack.play(result.trajectory).message)
    base, end = stack.state.base, result.trajectory.base[-1].position
    assert base is not None
    away = float(np.linalg.norm(base.translation - [end.x, end.y, end.z]))
    x, y, z = base.translation
    print(f"ends at x {x:.3f}, y {y:.3f}, z {z:.3f} m, {1e3 * away:.1f} mm from where it should")
    return bool(result.success and away < ARRIVED)


def report(robot: Robot, answer: PlanAnswer, verdict: PlanVerdict) -> str:
    """Return what was found: the machine and the model, each step, what the search took, what the check says."""
    spent = answer.plan.statistics
    lines = [
        f"machine: {os.cpu_count()} cores of {platform.machine()}, Python {platform.python_version()}",
        f"model: {robot.name}, {len(robot.joint_names)} joints, {robot.total_mass:.1f} kg, "
        f"{len(robot.contacts)} contact locations; scene {answer.plan.scene}",
        answer.explanation or f"goal reached in {len(answer.plan.steps)} stances",
        f"{'step':>4s} {'contact':28s} {'margin [N]':>10s} {'potential':>9s}",
    ]
    before: set[tuple[str, str, float, float]] = set()
    for number, step in enumerate(answer.plan.steps):
        now = {place(contact) for contact in step.stance.contacts}
        lines.append(f"{number:4d} {change(before, step):28s} {step.stability_margin:10.1f} {step.potential:9.3f}")
        before = now
    lines.append(f"{spent.nodes} nodes, {spent.posture_calls} posture calls, {spent.time:.2f} s:")
    for code, count, seconds in zip(spent.codes, spent.code_counts, spent.code_times, strict=True):
        name = ReturnCode(code).name.lower().replace("_", " ")
        lines.append(f"{count:6d} {name:24s} {seconds:7.2f} s, {1e3 * seconds / count:6.1f} ms each")
    lines.append(
        f"checked: {verdict.postures} postures, drift {1e3 * verdict.drift:.3f} mm, "
        f"centre of mass {1e3 * verdict.margin:.1f} mm or more from where balance is lost, "
        f"torques up to {verdict.torque:.0%} of their limits; "
        + ("nothing is wrong" if verdict.success else f"{len(verdict.violations)} things are wrong:")
    )
    lines += [f"  step {one.stance}: {one.kind}: {one.what}" for one in verdict.violations]
    return "\n".join(lines)


def place(contact: ContactMessage) -> tuple[str, str, float, float]:
    """Return what tells a contact from others."""
    return contact.location, contact.surface, contact.x, contact.y


def change(before: set[tuple[str, str, float, float]], step: StancePosture) -> str:
    """Return what is new in a step, or about to go."""
    return ", ".join(_changes(before, step)) or "all bear"


def _changes(before: set[tuple[str, str, float, float]], step: StancePosture) -> Iterator[str]:
    for contact in step.stance.contacts:
        if contact.kind == ContactMessage.RELEASED:
            word = "lifts off" if place(contact) in before else "to"
            yield f"{contact.location} {word} {contact.surface}"


def print_progress(news: Progress) -> None:
    """Say how far the search is whenever it has come nearer to the goal."""
    feedback = news.result
    if isinstance(feedback, PlanContacts.Feedback) and feedback.partial_plan.steps:
        print(f"{news.stage}, best potential {news.cost:.3f}")


def main() -> None:
    """Plan, and play, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the footholds")
    parser.add_argument("--time-limit", type=float, default=60.0, help="for planning [s]")
    parser.add_argument("--play", action="store_true", help="let the simulated robot follow it")
    chosen = parser.parse_args()
    try:
        with HumanoidStack("hrp2") as stack:
            answer = climb(stack, chosen.seed, chosen.time_limit)
            verdict = stack.verify(answer)
            print(report(stack.robot, answer, verdict))
            good = answer.success and verdict.success and (not chosen.play or play(stack, answer))
    except HumanoidError as error:
        raise SystemExit(str(error)) from None
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
