# SPDX-License-Identifier: Apache-2.0
"""A lifted gait as the trajectory that controllers take."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_model.arrays import Reals
from humanoid_model.robot import Robot
from humanoid_studies.planar_gait.lift.bearing import Part, SoleGeometry
from humanoid_studies.planar_gait.lift.lifted_gait import LiftedGait, LiftedPhase
from humanoid_studies.planar_gait.lift.sagittal_samples import accelerations
from humanoid_studies.planar_gait.trajectory.contact_schedule import ContactInterval, merged
from humanoid_studies.planar_gait.trajectory.gait_trajectory import GaitTrajectory

_PLACES = ("heel", "toe")
_NAMES = {Part.WHOLE: "sole", Part.TOE: "toe", Part.HEEL: "heel"}


def whole_trajectory(lifted: LiftedGait) -> GaitTrajectory:
    """Joints, torques, contact schedule and planned forces of a lifted gait.

    Forces are summed over the corners of each heel and toe; their lateral parts and the zero-moment point are in the
    lifted gait alone. The base's lateral motion is in q and v.
    """
    robot, phases = lifted.robot, lifted.phases
    soles = lifted.soles
    names = tuple(name for name in robot.joint_names if name in robot.actuators)
    base = [_base(robot, phase) for phase in phases]
    feet = [_feet(robot, soles, phase) for phase in phases]
    contacts = [
        ContactInterval(bearing.sole, _NAMES[bearing.part], float(phase.t[0]), float(phase.t[-1]))
        for phase in phases
        for bearing in phase.bearings
    ]
    advance = base[-1][0][-1, 0] - base[0][0][0, 0]
    return GaitTrajectory(
        robot=robot.name,
        joint_names=names,
        joint_q=np.array([robot.index_q(name) for name in names], dtype=np.int64),
        joint_v=np.array([robot.index_v(name) for name in names], dtype=np.int64),
        times=np.concatenate([phase.t for phase in phases]),
        phase=np.concatenate([np.full(len(phase.t), index) for index, phase in enumerate(phases)]),
        kinds=tuple(phase.kind for phase in phases),
        starts=np.array([*(phase.t[0] for phase in phases), phases[-1].t[-1]]),
        q=np.vstack([phase.q for phase in phases]),
        v=np.vstack([phase.v for phase in phases]),
        acceleration=np.vstack([phase.a for phase in phases]),
        tau=np.vstack([phase.torques for phase in phases]),
        base=np.vstack([part[0] for part in base]),
        base_velocity=np.vstack([part[1] for part in base]),
        base_acceleration=np.vstack([part[2] for part in base]),
        legs=lifted.legs,
        feet=tuple(soles),  # type: ignore[arg-type]
        foot_places=_PLACES,
        normal=np.concatenate([part[0] for part in feet]),
        tangential=np.concatenate([part[1] for part in feet]),
        places=np.concatenate([part[2] for part in feet]),
        contacts=merged(contacts),
        next_offset=np.array([advance, 0.0]),
    )


def _base(robot: Robot, phase: LiftedPhase) -> tuple[Reals, Reals, Reals]:
    """(K, 3) x, z and pitch of the root link, their rates and the rates of those."""
    assert robot.base_joint is not None
    start = robot.model.joints[robot.base_joint].idx_v
    place, speed = np.empty((len(phase.t), 3)), np.empty((len(phase.t), 3))
    for i, (q, v) in enumerate(zip(phase.q, phase.v, strict=True)):
        root = robot.placement_base(q)
        turn = root.rotation
        linear, angular = turn @ v[start : start + 3], turn @ v[start + 3 : start + 6]
        place[i] = root.translation[0], root.translation[2], pin.rpy.matrixToRpy(turn)[1]
        speed[i] = linear[0], linear[2], angular[1]
    return place, speed, accelerations(phase.t, speed)


def _feet(robot: Robot, soles: dict[str, SoleGeometry], phase: LiftedPhase) -> tuple[Reals, Reals, Reals]:
    """(K, 2, 2) normal forces, (K, 2) forces along x, (K, 2, 2, 2) x and z of heels and toes."""
    data = robot.model.createData()
    count = len(phase.t)
    normal, tangential, places = np.zeros((count, 2, 2)), np.zeros((count, 2)), np.empty((count, 2, 2, 2))
    for i, q in enumerate(phase.q):
        pin.forwardKinematics(robot.model, data, q)
        for foot, sole in enumerate(soles.values()):
            for column, part in enumerate((Part.HEEL, Part.TOE)):
                middle = data.oMi[sole.joint].act(sole.corners(part).mean(axis=0))
                places[i, foot, column] = middle[0], middle[2]
        first = 0
        for bearing in phase.bearings:
            sole = soles[bearing.sole]
            foot = list(soles).index(bearing.sole)
            corners = len(sole.corners(bearing.part))
            forces = phase.forces[i, first : first + corners]
            first += corners
            indices = range(len(sole.vertices)) if bearing.part is Part.WHOLE else None
            for corner, force in enumerate(forces):
                at_toe = bearing.part is Part.TOE or (indices is not None and corner in sole.toe)
                normal[i, foot, int(at_toe)] += force[2]
                tangential[i, foot] += force[0]
    return normal, tangential, places
