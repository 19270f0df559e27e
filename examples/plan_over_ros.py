# SPDX-License-Identifier: Apache-2.0
"""HRP-2 plans its way up five stairs on the running stack, and the plan is checked by other means.

In one terminal ``scripts/run python -m humanoid_ros.contact_planner`` (and ``humanoid_ros.viewer``, or RViz, to see the
plan), in another one ``scripts/run python examples/plan_over_ros.py``.
"""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterator

from humanoid_stack.action import PlanContacts
from humanoid_stack.msg import Contact as ContactMessage
from humanoid_stack.msg import PostureTask, StancePosture

from humanoid_model import Contact, HumanoidError, Robot, Stance, load_scene
from humanoid_model.progress import Progress
from humanoid_planner.contacts import PlanVerdict
from humanoid_planner.optimisation.result import ReturnCode
from humanoid_ros.client import HumanoidStack, PlanAnswer

SCENE, TOP = "five_stairs", (1.65, 0.0, 1.53)
"""Where the centre of mass is to come, above the last step [m]."""


def climb(seed: int, limit: float) -> tuple[Robot, PlanAnswer, PlanVerdict]:
    """Ask for the plan and have it checked.

    Args:
        seed: of the footholds.
        limit: wall-clock time for planning [s].
    """
    floor = next(surface for surface in load_scene(SCENE).surfaces if surface.name == "floor")
    with HumanoidStack("hrp2") as stack:
        soles = {name: stack.robot.contacts[name] for name in ("left_sole", "right_sole")}
        start = Stance(
            (
                Contact(soles["left_sole"], floor, -0.2, 0.095, 0.0),
                Contact(soles["right_sole"], floor, -0.2, -0.095, 0.0),
            )
        )
        answer = stack.plan(
            start,
            [{"kind": PostureTask.CENTRE_OF_MASS, "target": TOP, "tolerance": 0.2}],
            scene=SCENE,
            used_locations=list(soles),
            candidates={"headings": [0.0], "turn": 0.1},
            potentials=[{"target": TOP}],
            terms=[{"weight": 0.02}],
            criterion="reference",
            stability="forces",
            stability_margin=10.0,
            torque_limits=True,
            shorten=True,
            seed=seed,
            time_limit=limit,
            progress=print_progress,
        )
        return stack.robot, answer, stack.verify(answer)


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
    """Plan as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the footholds")
    parser.add_argument("--time-limit", type=float, default=60.0, help="for planning [s]")
    chosen = parser.parse_args()
    try:
        robot, answer, verdict = climb(chosen.seed, chosen.time_limit)
    except HumanoidError as error:
        raise SystemExit(str(error)) from None
    print(report(robot, answer, verdict))
    raise SystemExit(0 if answer.success and verdict.success else 1)


if __name__ == "__main__":
    main()
