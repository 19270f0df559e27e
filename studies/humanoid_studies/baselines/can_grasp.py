# SPDX-License-Identifier: Apache-2.0
"""A gripper closes on a can, with penalty contact and with constraints (specification 000 §27, E0)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.description import Cylinder, Geometry, HalfSpace, Shape
from humanoid_model.robot import load_robot
from humanoid_model.scene import PairRule, Scene, SceneBody, SceneRobot
from humanoid_sim.simulation import Simulation
from humanoid_sim.world.world import World
from humanoid_studies.baselines.penalty import Penalty
from humanoid_studies.integration.world_system import WorldContactSet, WorldSystem

CAN_RADIUS = 0.033
CAN_HEIGHT = 0.115
CAN_MASS = 0.35
GRIP_FORCE = 30.0
"""Largest force of each finger [N]."""
WALKING_STIFFNESS = 66e3
"""Lets a humanoid of 54 kg on eight points sink in by 1 mm [N/m]."""
WALKING_DAMPING = 670.0
"""Half the critical damping of that humanoid on that floor, per point [N s/m]."""
SERVO_STIFFNESS, SERVO_DAMPING = 4000.0, 40.0
"""Gains of the fingers' servos [N/m, N s/m]."""
OPENING, CLOSING, CLOSING_TIME = 0.01, 0.01, 0.5
"""The fingers start this far from the can and are commanded this far into it, within this time [m, m, s]."""

_FINGER = """
<link name="{name}"><inertial><mass value="0.15"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/>
</inertial><collision><geometry><box size="0.02 0.03 0.04"/></geometry></collision></link>
<joint name="{name}" type="prismatic"><parent link="world"/><child link="{name}"/><origin xyz="{x} 0 {z}"/>
<axis xyz="{axis} 0 0"/><limit lower="-0.1" upper="0.1" effort="{effort}" velocity="1"/></joint>
"""


@dataclass(frozen=True)
class GraspRun:
    """What one run of the experiment saw, one entry per step.

    Attributes:
        time: [s].
        penetration: largest overlap of a finger and the can [m].
        force: sum of the normal forces of the fingers on the can [N].
        height: of the can's centre [m].
        diverged: whether the state stopped being finite, or left all bounds.
    """

    time: NDArray[np.float64]
    penetration: NDArray[np.float64]
    force: NDArray[np.float64]
    height: NDArray[np.float64]
    diverged: bool


def can_scene() -> Scene:
    """Return a can on a table between the two fingers of a gripper that is fixed to the world."""
    start = CAN_RADIUS + 0.01 + OPENING
    fingers = (
        _FINGER.format(name=name, x=side * start, z=0.5 * CAN_HEIGHT, axis=-side, effort=GRIP_FORCE)
        for name, side in (("left", 1), ("right", -1))
    )
    gripper = load_robot(f'<robot name="gripper"><link name="world"/>{"".join(fingers)}</robot>')
    inertia = CAN_MASS * np.diag(
        [(3 * CAN_RADIUS**2 + CAN_HEIGHT**2) / 12, (3 * CAN_RADIUS**2 + CAN_HEIGHT**2) / 12, CAN_RADIUS**2 / 2]
    )
    on_table = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.5 * CAN_HEIGHT]))
    return Scene(
        name="can grasp",
        robots=(SceneRobot("gripper", gripper, "zero", pin.SE3.Identity(), np.zeros(2)),),
        bodies=(
            _body("table", HalfSpace(), 0.0, np.zeros((3, 3)), pin.SE3.Identity()),
            _body("can", Cylinder(CAN_RADIUS, CAN_HEIGHT), CAN_MASS, inertia, on_table),
        ),
        rules=(PairRule("*", "*", friction=0.5), PairRule("gripper/*", "table", collide=False)),
        gravity=np.array([0.0, 0.0, -9.8]),
    )


def _body(name: str, shape: Shape, mass: float, inertia: NDArray[np.float64], placement: pin.SE3) -> SceneBody:
    geometry = Geometry("", shape, pin.SE3.Identity(), np.ones(4))
    return SceneBody(name, name, mass, np.zeros(3), inertia, placement, np.zeros(6), (geometry,))


def finger_target(t: float) -> tuple[float, float]:
    """Position [m] and velocity [m/s] that both fingers are commanded."""
    way = OPENING + CLOSING
    if t >= CLOSING_TIME:
        return way, 0.0
    return way * t / CLOSING_TIME, way / CLOSING_TIME


def grasp_with_constraints(duration: float = 5.0, dt: float = 1e-3) -> GraspRun:
    """Close the gripper with the simulator's own contacts.

    Args:
        duration: simulated time [s].
        dt: time step [s].
    """
    simulation = Simulation(can_scene(), dt)
    place = simulation.world.robots["gripper"]
    can = simulation.world.free_bodies["can"]
    simulation.servos.stiffness[place.v] = SERVO_STIFFNESS
    simulation.servos.damping[place.v] = SERVO_DAMPING
    rows: list[tuple[float, float, float, float]] = []
    for _ in range(round(duration / dt)):
        simulation.servos.q_target[place.q], simulation.servos.v_target[place.v] = finger_target(simulation.time)
        simulation.step()
        contacts = simulation.contacts
        grips = np.array([any(name.startswith("gripper/") for name in pair) for pair in contacts.bodies], dtype=bool)
        overlap = max(0.0, -float(contacts.gap[grips].min(initial=0.0)))
        force = float(contacts.normal_force[grips].sum())
        rows.append((simulation.time, overlap, force, float(simulation.q[can.q][2])))
    return _run(rows, not bool(np.all(np.isfinite(simulation.v))))


def grasp_with_penalty(
    duration: float = 5.0,
    dt: float = 1e-3,
    stiffness: float = WALKING_STIFFNESS,
    damping: float = WALKING_DAMPING,
    pulls: bool = True,
) -> GraspRun:
    """Close the gripper with penalty contacts and Runge-Kutta of order 4, as OpenHRP2.

    With gains tuned for a robot that walks, the light can diverges as soon as it touches anything; softer gains are
    stable and let the fingers in. Gains that suit this very task exist: that they have to be searched for is
    what is shown. The run ends where the state leaves all bounds.

    Args:
        duration: simulated time [s].
        dt: time step [s].
        stiffness: of each contact point [N/m].
        damping: of each contact point [N s/m].
        pulls: the law as printed, which pulls a body that leaves fast.
    """
    world = World(can_scene())
    system = WorldSystem(world)
    place, can = world.robots["gripper"], world.free_bodies["can"]
    system.servos.stiffness[place.v] = SERVO_STIFFNESS
    system.servos.damping[place.v] = SERVO_DAMPING
    fingers = [i for i, body in enumerate(world.bodies) if body.owner == "gripper"]
    integrator = Penalty(stiffness, damping, pulls=pulls)
    q, v = world.q.copy(), world.v.copy()
    rows: list[tuple[float, float, float, float]] = []
    diverged = False
    for k in range(round(duration / dt)):
        system.servos.q_target[place.q], system.servos.v_target[place.v] = finger_target(k * dt)
        q, v, forces = integrator.step(system, q, v, dt, k * dt)
        diverged = not (np.all(np.isfinite(q)) and np.all(np.isfinite(v))) or float(np.abs(v).max()) > 1e3
        if diverged:
            break
        assert isinstance(forces.contacts, WorldContactSet)
        grips = np.isin(forces.contacts.bodies, fingers).any(axis=1)
        overlap = max(0.0, -float(forces.contacts.gaps[grips].min(initial=0.0)))
        rows.append(((k + 1) * dt, overlap, float(forces.forces[grips, 0].sum()), float(q[can.q][2])))
    return _run(rows, diverged)


def _run(rows: list[tuple[float, float, float, float]], diverged: bool) -> GraspRun:
    time, penetration, force, height = np.array(rows).reshape(-1, 4).T
    return GraspRun(time, penetration, force, height, diverged)
