# SPDX-License-Identifier: Apache-2.0
"""Replay of a recorded motion on a model of the person: where its joints come, and the efforts that it takes.

Thesis section 4.2, validation V4 of specification 004.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from humanoid_model.errors import InputError
from humanoid_studies.humod.coordinates import JOINTS, POSITION_JOINTS, first_joint, to_joint_order
from humanoid_studies.humod.evaluator import Evaluator
from humanoid_studies.humod.recording import FEET, Recording

#: Largest deviation that the specification allows, m.
TOLERANCE = 0.020


@dataclass(frozen=True, eq=False)
class Replay:
    """Result of a replay.

    Attributes:
        recording: the motion.
        evaluator: name of what computed.
        positions: (N, 13, 3) m, the model's joints in the order of ``POSITION_JOINTS``.
        errors: (N, 13, 3) m, model minus published, by ``estimated``, ``smoothed``.
        efforts: (N, 36) N and N m, in the order of ``JOINTS``, the ground's force included where it is known. The base
            has no motor: its six, the first, are the wrench that is missing to explain the motion.
        unsupported: (N, 36) the same without the ground's force.
    """

    recording: Recording
    evaluator: str
    positions: np.ndarray
    errors: Mapping[str, np.ndarray]
    efforts: np.ndarray
    unsupported: np.ndarray

    def largest(self, kind: str) -> np.ndarray:
        """Largest absolute error per joint and axis, (13, 3) m."""
        return np.abs(self.errors[kind]).max(axis=0)

    def rms(self, kind: str) -> np.ndarray:
        """Root mean square error per joint and axis, (13, 3) m."""
        return np.sqrt((self.errors[kind] ** 2).mean(axis=0))

    def thesis_level(self, kind: str) -> bool:
        """Criterion (i): heights of LLJ and ULJ within 20 mm."""
        rows = [POSITION_JOINTS.index(joint) for joint in ("LLJ", "ULJ")]
        return bool((self.largest(kind)[rows, 1] <= TOLERANCE).all())

    def all_within(self, kind: str) -> bool:
        """Criterion (ii): every joint within 20 mm along every axis."""
        return bool((self.largest(kind) <= TOLERANCE).all())


def replay(recording: Recording, evaluator: Evaluator) -> Replay:
    """Compute positions and efforts along a recording and compares the positions with the published ones.

    Raises:
        InputError: the evaluator is not of a 3P33R robot.
    """
    names = evaluator.joint_names
    if sorted(names) != sorted(JOINTS):
        missing = [name for name in JOINTS if name not in names]
        strange = [name for name in names if name not in JOINTS]
        problems = [f"{verb} {', '.join(few[:6])}" for verb, few in (("lacks", missing), ("has", strange)) if few]
        raise InputError(
            f"is not of a 3P33R robot: {', '.join(problems) or 'a joint comes twice'}",
            element=f"evaluator '{evaluator.name}'",
            remedy="Make the robot with subject_urdf, or name its joints like syn3p33r's",
        )
    order = to_joint_order(names)
    q, v, a = (values[:, order] for values in (recording.q, recording.v, recording.a))
    joints = evaluator.joint_positions(q)
    positions = joints[:, [first_joint(label, names) for label in POSITION_JOINTS]]
    errors = {kind: positions - published for kind, published in recording.positions.items()}
    none = np.zeros((len(q), len(FEET), 6))
    efforts = unsupported = evaluator.efforts(q, v, a, none)
    if recording.ground is not None:
        force, point = recording.ground.at(recording.time)
        ankles = joints[:, [first_joint(link.replace("foot", "AJ"), names) for link in FEET]]
        torque = np.cross(point - ankles, force)
        efforts = evaluator.efforts(q, v, a, np.concatenate([force, torque], axis=2))
    back = [names.index(name) for name in JOINTS]
    return Replay(recording, evaluator.name, positions, errors, efforts[:, back], unsupported[:, back])
