# SPDX-License-Identifier: Apache-2.0
"""Experiment E19: HRP-2 swings a box up that is too far for it (specification 000 §21, §27, Figs. 5.14, 5.19-5.22)."""

from __future__ import annotations

import numpy as np

from humanoid_model.arrays import Array
from humanoid_model.robot import load_robot
from humanoid_sim.simulation import Simulation
from humanoid_studies.lifting.cam_profile import CamProfile
from humanoid_studies.lifting.dynamic_lift import DynamicLift, LiftTask, plan_dynamic_lift
from humanoid_studies.lifting.object_constraints import FEET_CONDITIONS, GROUND_CONDITIONS, GroundedObject, feet_margins
from humanoid_studies.lifting.planar_lifter import HeldObject, PlanarLifter
from humanoid_studies.lifting.reachable_space import CELL, ReachableSpace, reachable_space
from humanoid_studies.lifting.replay import SOLES_FRICTION, LiftRun, lifting_scene, play_lift, sampled
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve

FRICTION = 0.4
"""Of box and ground."""
SPACE_LOADS = (0.001, 4.5, 8.4, 23.4)
"""For which the space is found in which both balance [kg]; the first one is none."""


def replay(lift: DynamicLift, *, looks: tuple[float, ...] = (), progress: bool = False) -> LiftRun:
    """Play a lift in the simulator, the box on the ground at first.

    Args:
        lift: planned.
        looks: when to look from the side [s].
        progress: shows a bar.
    """
    simulation = Simulation(lifting_scene(load_robot("hrp2"), lift.lifter, lift.q[0], ground_friction=FRICTION))
    trajectory = sampled(lift.time, lift.q, lift.v, lift.torques)
    return play_lift(simulation, lift.lifter, trajectory, instants=looks, progress=progress)


def run(task: LiftTask | None = None, *, progress: bool = False) -> ExperimentResult:
    """Plan the lift, play it, and watch box, feet and zero-moment point.

    Args:
        task: another one than the default.
        progress: shows a bar.
    """
    robot = load_robot("hrp2")
    task = task or LiftTask()
    lift = plan_dynamic_lift(robot, task)
    end = float(lift.time[-1])
    seen = replay(lift, looks=(0.0, lift.impact_time, lift.impact_time + 0.25, end), progress=progress)
    grasp = task.held.below * task.held.height
    box = GroundedObject(
        task.held.mass, task.held.depth, 0.5 * task.held.depth, 0.5 * task.held.depth, grasp, FRICTION
    )
    swinging = seen.time < lift.impact_time
    hand, moment = _on_the_box(seen, box, lift)
    margins = box.margins(hand[swinging, 0], hand[swinging, 1], moment[swinging])
    feet = feet_margins(seen.feet_force[:, 0], seen.feet_force[:, 2], SOLES_FRICTION)
    zmp, heel, toe, front = *_ends(seen, lift), lift.box_x + 0.5 * task.held.depth
    aloft = seen.time > lift.impact_time + 0.01
    jump = abs(_mean(zmp, seen.time, lift.impact_time, 0.02) - _mean(zmp, seen.time, lift.impact_time - 0.02, 0.02))
    moved = np.linalg.norm(seen.object_place[swinging] - seen.object_place[0], axis=1).max()
    lifted = float(seen.object_place[-1, 2] - seen.object_place[0, 2])
    planned = lift.lifter.grip.position(lift.lifter.absolute @ lift.q[-1])[1] - grasp
    rigid = lift.rigid
    spaces = [
        reachable_space(PlanarLifter(robot, HeldObject(mass, 0.15, 0.3)), 0.0, torques=False) for mass in SPACE_LOADS
    ]
    rows = (
        *(Row(f"balance with {_named(mass)} ahead: area", "shrinks with load", space.area, "m²",
              None if i == 0 else space.area < spaces[i - 1].area)
          for i, (mass, space) in enumerate(zip(SPACE_LOADS, spaces, strict=True))),
        Row("speed of the robot before, rigid (5.11)-(5.13)", "", rigid.speed_before, "m/s"),
        Row("the same from all bodies' momentum", "", lift.speed_before, "m/s",
            abs(lift.speed_before / rigid.speed_before - 1.0) < 0.05),
        Row("direction of the lift", "", float(np.degrees(lift.direction)), "°"),
        *(Row(f"box while swinging, smallest margin: {name}", "> 0", float(margins[:, k].min()), unit,
              bool(margins[:, k].min() > 0.0))
          for k, (name, unit) in enumerate(zip(GROUND_CONDITIONS, ("N", "N m", "N m", "N"), strict=True))),
        Row("box while swinging moves by", "0", 1e3 * float(moved), "mm", bool(moved < 1e-3)),
        *(Row(f"smallest margin: {name}", "> 0", float(feet[:, k].min()), "N", bool(feet[:, k].min() > 0.0))
          for k, name in enumerate(FEET_CONDITIONS)),
        Row("zero-moment point, rearmost", f"> {heel:g}", float(zmp.min()), "m", bool(zmp.min() > heel)),
        Row("while swinging, foremost", f"< {front:.3f}, box", float(zmp[swinging].max()), "m",
            bool(zmp[swinging].max() < front)),
        Row("after the impact, foremost", f"< {toe:g}, toes", float(zmp[aloft].max()), "m",
            bool(zmp[aloft].max() < toe)),
        Row("jump at the impact, of the sole's length", "< 20; small", 100.0 * jump / (toe - heel), "%",
            jump < 0.2 * (toe - heel)),
        Row("box raised by", f"{planned:.3f}", lifted, "m", abs(lifted - planned) < 5e-3 and not seen.fell),
        Row("feet slip by", "0", 1e3 * float(seen.feet_slip[-1]), "mm", bool(seen.feet_slip[-1] < 1e-3)),
        Row("most of a motor's peak limits", "not considered", max(d.load for d in seen.drives)),
    )  # fmt: skip
    return ExperimentResult("E19", "Swinging a box up", rows, tuple(_panels(lift, seen, hand, box, spaces)))


def _on_the_box(seen: LiftRun, box: GroundedObject, lift: DynamicLift) -> tuple[Array, Array]:
    """Return forces (k, 2) of the hands on the box and moments (k,), from what the ground gives it while it rests.

    The moment about the hands is what moves the ground's force from below them to where it acts.
    """
    ground = seen.object_force[:, [0, 2]]
    hand = np.column_stack([-ground[:, 0], box.mass * box.gravity - ground[:, 1]])
    way = seen.object_pressed - seen.object_place[:, 0]
    return hand, np.asarray(ground[:, 0] * box.hand_z + way * ground[:, 1]) * -1.0


def _named(mass: float) -> str:
    return f"{mass:g} kg" if mass > 0.1 else "nothing"


def _ends(seen: LiftRun, lift: DynamicLift) -> tuple[Array, float, float]:
    return seen.zero_moment_point, *lift.lifter.sole


def _mean(values: Array, time: Array, start: float, length: float) -> float:
    """Return the mean of values in a window."""
    return float(values[(time >= start) & (time < start + length)].mean())


def _panels(
    lift: DynamicLift, seen: LiftRun, hand: Array, box: GroundedObject, spaces: list[ReachableSpace]
) -> list[Panel]:
    T = np.linspace(0.0, 1.0, 201)
    profile = CamProfile()
    swinging = seen.time < lift.impact_time
    fz = np.linspace(min(-50.0, 1.1 * float(hand[swinging, 1].min())), box.mass * box.gravity, 2)
    weight = box.mass * box.gravity
    slips = box.friction * (weight - fz)
    tips = (-weight * box.centre_x + fz * box.hand_x) / box.hand_z
    lower, upper = lift.lifter.sole
    ends, front = np.array([seen.time[0], seen.time[-1]]), lift.box_x + 0.5 * box.depth
    return [
        Panel(
            "x [m]", "z [m]",
            tuple(curve(s.cells[:, 0] + CELL * (0.2 + 0.2 * i), s.cells[:, 1] + 0.5 * CELL, _named(mass), "points")
                  for i, (mass, s) in enumerate(zip(SPACE_LOADS, spaces, strict=True))),
            "balance, object ahead", equal=True,
        ),
        Panel(
            "T", "",
            (curve(T, profile.position(T), "P"), curve(T, profile.velocity(T), "V"),
             curve(T, 0.1 * profile.acceleration(T), "A / 10")),
            "cam curve",
        ),
        *seen.views,
        Panel(
            "hand force forward [N]", "up [N]",
            (curve(hand[swinging, 0], hand[swinging, 1], "hands on the box"),
             curve(slips, fz, "slips", "dashed", "black"), curve(-slips, fz, "", "dashed", "black"),
             curve(tips, fz, "tips backward", "dashed", "red"), curve(-tips, fz, "tips forward", "dashed", "blue"),
             curve([-slips[-1] - 20, 20], [weight, weight], "lifts off", "dashed", "green")),
            "box on the ground, moment left out",
        ),
        Panel(
            "time [s]", "x [m]",
            (curve(seen.time, seen.zero_moment_point, "simulated"),
             curve(lift.time, lift.zero_moment_point, "planned", "dashed"),
             curve([lift.impact_time] * 2, [lower, front], "impact", "dashed", "black"),
             curve(ends, [lower, lower], "feet", "dashed", "red"), curve(ends, [upper, upper], "", "dashed", "red"),
             curve(ends, [front, front], "feet and box", "dashed", "blue")),
            "zero-moment point",
        ),
        Panel(
            "time [s]", "m",
            (curve(seen.time, seen.object_place[:, 2] - seen.object_place[0, 2], "up"),
             curve(seen.time, seen.object_place[:, 0] - seen.object_place[0, 0], "forward")),
            "way of the box",
        ),
    ]  # fmt: skip
