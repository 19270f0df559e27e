# SPDX-License-Identifier: Apache-2.0
"""Plays a whole-body motion in the simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from humanoid_model.errors import InputError
from humanoid_model.progress import Progress, ProgressCallback
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory
from humanoid_sim.actuation import TrajectoryPlayer
from humanoid_sim.control import ControllerInLoop
from humanoid_sim.control.controller_in_loop import Controller
from humanoid_sim.playback.motion_watch import ContactLoad, MotionWatch, PlayedMotion

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


class MotionController(Controller, Protocol):
    """A controller that carries a motion out, as ``MotionTracker`` of ``humanoid_control`` does."""

    @property
    def phase(self) -> float:
        """Time of the motion that it has come to [s]."""
        ...


def play_motion(
    simulation: Simulation,
    robot: str,
    trajectory: WholeBodyTrajectory,
    *,
    controller: MotionController | None = None,
    after: float = 1.0,
    every: int = 5,
    progress: ProgressCallback | None = None,
) -> PlayedMotion:
    """Put a robot where a motion begins, play it, and look at contacts, joints and efforts.

    Servos with the robot's own gains follow the joints, the trajectory's torques added, or a controller carries it out.

    Args:
        simulation: whose robot moves, from now on.
        robot: its name in the scene.
        trajectory: of this robot.
        controller: of this trajectory, in place of servos; it may take up to twice as long as the plan.
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
    if controller is None:
        module: ControllerInLoop | TrajectoryPlayer = TrajectoryPlayer(
            robot, trajectory.joint_trajectory(), start_time=begin
        )
    else:
        module = ControllerInLoop(robot, controller)
    simulation.add_module(module)
    watch = MotionWatch(trajectory)
    end, first = trajectory.duration + after, float(trajectory.times[0])
    longest = round((end if controller is None else 2.0 * end) / simulation.dt)
    try:
        for count in range(1, longest + 1):
            simulation.step()
            now = simulation.time - begin if controller is None else controller.phase - first
            last = count == longest or now > end - 0.5 * simulation.dt
            if count % every == 0 or last:
                watch.look(now, own.q, own.joint_efforts, _loads(simulation, robot))
                told = Progress(f"{now:.1f} s", min(now / end, 1.0))
                if last or watch.fallen is not None:
                    break
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
