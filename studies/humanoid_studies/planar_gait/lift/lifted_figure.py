# SPDX-License-Identifier: Apache-2.0
"""Stick figures of a lifted gait in space: legs, trunk and arms, and the forces on both feet."""

from __future__ import annotations

import itertools

import numpy as np
import pinocchio as pin

from humanoid_model.arrays import Reals
from humanoid_studies.planar_gait.lift.bearing import Part, SoleGeometry, sole_of_leg
from humanoid_studies.planar_gait.lift.lifted_gait import LiftedGait, LiftedPhase, corner_forces
from humanoid_studies.planar_gait.models.sagittal_projection import SagittalProjection
from humanoid_studies.planar_gait.trajectory.gait_series import LEGS
from humanoid_studies.planar_gait.trajectory.moving_figure import MovingFigure
from humanoid_studies.planar_gait.trajectory.planned_forces import PRESSES

FIGURE_PERIOD = 0.02
"""Between two stick figures [s]."""
SAME_PLACE = 1e-3
"""Joints of a limb whose axes meet are one point of its figure [m]."""


def lifted_figure(lifted: LiftedGait, projection: SagittalProjection) -> MovingFigure:
    """Stick figures of the whole robot.

    Args:
        lifted: the gait.
        projection: of its robot.
    """
    skeleton = _Skeleton(lifted, projection)
    times: list[float] = []
    points: list[Reals] = []
    at: list[Reals] = []
    forces: list[Reals] = []
    for phase in lifted.phases:
        for i in _spread(phase.t):
            times.append(float(phase.t[i]))
            points.append(skeleton.places(phase.q[i]))
            pressure, force = skeleton.foot_forces(phase, i)
            at.append(pressure)
            forces.append(force)
    return MovingFigure(
        np.array(times),
        tuple(skeleton.names),
        np.array(points),
        tuple(skeleton.pairs),
        LEGS,
        np.array(at),
        np.array(forces),
        tuple(skeleton.widths),
    )


def _spread(t: Reals) -> list[int]:
    """Return samples of a phase for figures: evenly spread, both ends among them."""
    count = max(2, round(float(t[-1] - t[0]) / FIGURE_PERIOD) + 1)
    return sorted(set(np.linspace(0, len(t) - 1, min(count, len(t))).round().astype(int).tolist()))


class _Skeleton:
    """Points of a robot that figures are made of.

    Attributes:
        names: of the points.
        pairs: of points that a line joins.
        widths: of the soles, at heel and toe of each foot [m].
    """

    def __init__(self, lifted: LiftedGait, projection: SagittalProjection) -> None:
        self._lifted = lifted
        self._robot = robot = lifted.robot
        self._data = robot.model.createData()
        pin.forwardKinematics(robot.model, self._data, projection.reference)
        trunk = projection.hip_reference + np.array([0.0, 0.0, projection.bip.segments["trunk"].length])
        base = robot.placement_base(projection.reference)
        self._trunk_top = base.actInv(trunk)
        legs = self._legs(projection)
        self._hips = [int(robot.parts.joint_ids[joints[0]]) for joints, _ in legs.values()]
        self._soles = {side: sole for side, (_, sole) in legs.items()}
        self._on_joints: dict[str, tuple[int, Reals]] = {}
        self.pairs = [("hip", "trunk_top")]
        self.widths: list[float] = []
        for side, (joints, sole) in legs.items():
            for name, joint in zip(("hip", "knee", "ankle"), joints, strict=True):
                self._on_joints[f"{side}_{name}"] = int(robot.parts.joint_ids[joint]), np.zeros(3)
            for name, part in (("heel", Part.HEEL), ("toe", Part.TOE)):
                corners = sole.corners(part)
                self._on_joints[f"{side}_{name}"] = sole.joint, corners.mean(axis=0)
                self.widths.append(float(np.linalg.norm(np.ptp(corners, axis=0))))
            chain = ["hip", *(f"{side}_{name}" for name in ("hip", "knee", "ankle", "heel", "toe", "ankle"))]
            self.pairs += itertools.pairwise(chain)
            self._add_arm(side)
        self.names = ["hip", "trunk_top", *self._on_joints]

    def places(self, q: Reals) -> Reals:
        """(P, 3) places of the points in a posture [m]."""
        pin.forwardKinematics(self._robot.model, self._data, q)
        hip = np.mean([self._data.oMi[joint].translation for joint in self._hips], axis=0)
        top = self._robot.placement_base(q).act(self._trunk_top)
        return np.array([hip, top, *(self._data.oMi[joint].act(place) for joint, place in self._on_joints.values())])

    def foot_forces(self, phase: LiftedPhase, i: int) -> tuple[Reals, Reals]:
        """(F, 3) centres of pressure [m] and (F, 3) forces [N] of the feet at a sample of a phase."""
        at, forces = np.zeros((len(LEGS), 3)), np.zeros((len(LEGS), 3))
        feet = [sole.name for sole in self._soles.values()]
        for sole, force, place in corner_forces(self._lifted, phase, i):
            foot = feet.index(sole.name)
            forces[foot] += force
            at[foot] += force[2] * place
        presses = forces[:, 2] > PRESSES
        at[presses] /= forces[presses, 2, None]
        at[~presses] = 0.0
        return at, forces

    def _legs(self, projection: SagittalProjection) -> dict[str, tuple[tuple[str, str, str], SoleGeometry]]:
        """Pitch joints and sole of the left and of the right leg, told by where their hips are."""
        robot = self._robot
        chains = [leg.joints for leg in (projection.rear, projection.front)]
        chains.sort(key=lambda joints: -float(self._data.oMi[robot.parts.joint_ids[joints[0]]].translation[1]))
        return {side: (joints, sole_of_leg(robot, joints[2])) for side, joints in zip(LEGS, chains, strict=True)}

    def _add_arm(self, side: str) -> None:
        limb = self._robot.limbs.get(f"{side}_arm", ())
        joints = [int(self._robot.parts.joint_ids[joint]) for joint in limb]
        last, above = None, "trunk_top"
        for joint in joints:
            place = self._data.oMi[joint].translation
            if last is not None and np.linalg.norm(place - last) < SAME_PLACE:
                continue
            name = f"{side}_arm_{joint}"
            self._on_joints[name] = joint, np.zeros(3)
            self.pairs.append((above, name))
            last, above = place.copy(), name
