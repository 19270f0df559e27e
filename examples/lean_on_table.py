# SPDX-License-Identifier: Apache-2.0
"""Can HRP-2 lean on a table with one hand while it holds a bucket in the other? Which forces and torques does it take?

python examples/lean_on_table.py            # 5 kg
python examples/lean_on_table.py 300        # too much: what would have to go

120 kg are still found: the arm hangs under the shoulder like a rope, so that joints feel little of the load, and their
torques are all that is limited. What bones and bearings bear isn't in the model.
"""

from __future__ import annotations

import argparse

import numpy as np

from humanoid_model import Contact, Stance, load_robot, load_scene
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture import Load, NearReference, PostureResult, generate_posture

LEFT_HAND = "LARM_LINK6"


def lean(bucket: float) -> PostureResult:
    """Generate the posture.

    Args:
        bucket: mass in the left hand [kg].
    """
    robot, scene = load_robot("hrp2"), load_scene("lean")
    surfaces = {surface.name: surface for surface in scene.surfaces}
    stance = Stance(
        (
            Contact(robot.contacts["right_sole"], surfaces["floor"], 0.0, -0.095, 0.0),
            Contact(robot.contacts["left_sole"], surfaces["floor"], 0.0, 0.095, 0.0),
            Contact(robot.contacts["right_hand_fingers"], surfaces["table_top"], 0.0, -0.15, 0.0),
        )
    )
    return generate_posture(
        robot,
        stance,
        scene=scene,
        criterion=NearReference(RobotKinematics(robot), robot.postures["half_sitting"]),
        stability="forces",
        torque_limits=True,
        collisions=True,
        loads=[Load(LEFT_HAND, [0.0, 0.0, -9.81 * bucket])],
    )


def main(bucket: float) -> None:
    """Print what holds the posture.

    Args:
        bucket: mass in the left hand [kg].
    """
    result = lean(bucket)
    print(result.explanation)
    if not result.success:
        return
    milliseconds = 1e3 * result.solution.time
    print(f"{result.iterations} iterations, {milliseconds:.1f} ms, {result.distance_evaluations} distances")
    for name in dict.fromkeys(result.force_contacts):
        rows = [row for row, contact in enumerate(result.force_contacts) if contact == name]
        force = result.forces[rows].sum(axis=0)
        print(f"  {name:20} {force[0]:8.1f} {force[1]:8.1f} {force[2]:8.1f} N")
    limits = dict(zip(result.torque_names, RobotKinematics(load_robot("hrp2")).effort, strict=True))
    used = {
        name: abs(torque) / limits[name]
        for name, torque in zip(result.torque_names, result.torques, strict=True)
        if np.isfinite(limits[name])
    }
    hardest = sorted(used, key=lambda name: -used[name])[:3]
    print("  hardest joints: " + ", ".join(f"{name} {100 * used[name]:.0f} %" for name in hardest))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bucket", nargs="?", type=float, default=5.0, help="mass in the left hand [kg]")
    main(parser.parse_args().bucket)
