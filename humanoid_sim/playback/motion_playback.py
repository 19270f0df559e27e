# SPDX-License-Identifier: Apache-2.0
"""Plays a whole-body motion in the simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from humanoid_model.errors import InputError
from humanoid_model.progress import Progress, ProgressCallback
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory
from humanoid_sim.actuation import TrajectoryPlayer
from humanoid_sim.playback.motion_watch import ContactLoad, MotionWatch, PlayedMotion
from humanoid_sim.playback.whole_body_tracking import WholeBodyTracking

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


def play_motion(
    simulation: Simulation,
    robot: str,
    trajectory: WholeBodyTrajectory,
    *,
    stabilise: bool = False,
    after: float = 1.0,
    every: int = 5,
    progress: ProgressCallback | None = None,
) -> PlayedMotion:
    """Put a robot where a motion begins, play it, and look at contacts, joints and efforts.

    Servos with the robot's own gains follow the joints, the trajectory's torques added. With ``stabilise`` torques of a
    whole-body controller bring the robot back to its plan instead, which knows soles alone.

    Args:
        simulation: whose robot moves, from now on.
        robot: its name in the scene.
        trajectory: of this robot.
        stabilise: close the loop.
        after: how long the robot is watched at its end [s].
        every: steps of time from one look to the next.
        progress: told now and then; returns True to end.

    Raises:
        InputError: there is no such robot, or it isn't the trajectory's.
    """
    if robot not in simulation.robots:
        raise InputError(
            f"there is no robot '{robot}'",
            element="robot",
            remedy=f"There are {', '.join(simulation.robots) or 'none'}",
        )
    own = simulation.robots[robot]
    if list(own.robot.model.names) != list(trajectory.robot.model.names):
        raise InputError(
            f"'{robot}' isn't the robot of the trajectory",
            element="trajectory",
            remedy=f"Give a motion of '{own.robot.name}'",
        )
    own.set_state(trajectory.q[0], trajectory.v[0])
    begin = simulation.time
    if stabilise:
        if begin > 0.0:
            raise InputError(f"is at {begin:g} s", element="simulation", remedy="Stabilise from the beginning on")
        module: WholeBodyTracking | TrajectoryPlayer = WholeBodyTracking(robot, trajectory)
    else:
        module = TrajectoryPlayer(robot, trajectory.joint_trajectory(), start_time=begin)
    simulation.add_module(module)
    watch = MotionWatch(trajectory)
    steps = round((trajectory.duration + after) / simulation.dt)
    try:
        for count in range(1, steps + 1):
            simulation.step()
            if count % every == 0 or count == steps:
                watch.look(simulation.time - begin, own.q, own.joint_efforts, _loads(simulation, robot))
                if watch.fallen is not None:
                    break
                told = Progress(f"{simulation.time - begin:.1f} s", count / steps)
                if progress is not None and count % (40 * every) == 0 and progress(told):
                    break
    finally:
        simulation.remove_module(module.name)
    return watch.played()


def _loads(simulation: Simulation, robot: str) -> list[ContactLoad]:
    """Return the contacts of a robot's links; one between two of them counts for both."""
    loads, contacts = [], simulation.contacts
    for place, force, normal, bodies in zip(
        contacts.position, contacts.force, contacts.normal, contacts.bodies, strict=True
    ):
        for body, sign in zip(bodies, (1.0, -1.0), strict=True):
            owner, _, link = body.partition("/")
            if owner == robot:
                loads.append(ContactLoad(link, place, sign * force, sign * normal))
    return loads
