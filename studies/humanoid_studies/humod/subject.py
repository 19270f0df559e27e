# SPDX-License-Identifier: Apache-2.0
"""A person as HuMoD's ``Parameters.mat`` describes it: lengths, joint offsets, mass; reader and writer of that file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import scipy.io

from humanoid_studies.humod.mat_file import MatFile
from humanoid_studies.humod.regression import SEGMENTS, TABLES, segment_inertias

#: Joints that don't lie on their parent's y axis, and the segment whose frame their offset is in.
OFFSET_JOINTS = {"SJ_R": "thorax", "SJ_L": "thorax", "HJ_R": "pelvis", "HJ_L": "pelvis"}

_MILLIMETRE = 1e-3


@dataclass(frozen=True, eq=False)
class Subject:
    """Lengths and mass of a person.

    Attributes:
        name: of the subject; names the robot.
        gender: ``female`` or ``male``, chooses the regression table.
        body_mass: kg.
        lengths: m, by segment of ``SEGMENTS``; of a foot, the distance from the ankle to the middle of the metatarsals.
        offsets: (3,) m, of the joints of ``OFFSET_JOINTS``: the shoulders from LNJ, the hips from LLJ.
        published_masses: kg by segment, where the file gives them; only to compare with the regression.
    """

    name: str
    gender: str
    body_mass: float
    lengths: Mapping[str, float]
    offsets: Mapping[str, np.ndarray]
    published_masses: Mapping[str, float] = field(default_factory=dict)

    def mass_difference(self) -> float | None:
        """Largest difference, kg, of the file's own segment masses from the regression; None where it gives none."""
        if not self.published_masses:
            return None
        own = segment_inertias(self.gender, self.body_mass, self.lengths)
        return max(abs(own[segment].mass - mass) for segment, mass in self.published_masses.items())


def _synthetic() -> Subject:
    length = {
        "pelvis": 0.10, "abdomen": 0.13, "thorax": 0.30, "head": 0.26,
        "upperArm": 0.26, "lowerArm": 0.24, "thigh": 0.38, "shank": 0.38, "foot": 0.15,
    }  # fmt: skip
    shoulder, hip = np.array([0.0, -0.05, 0.16]), np.array([0.0, -0.10, 0.08])
    left = np.array([1.0, 1.0, -1.0])
    return Subject(
        name="syn3p33r",
        gender="female",
        body_mass=562 / 9.81,
        lengths={segment: length[segment.partition("_")[0]] for segment in SEGMENTS},
        offsets={"SJ_R": shoulder, "SJ_L": shoulder * left, "HJ_R": hip, "HJ_L": hip * left},
    )


#: Made-up lengths of specification 004 section 3.3 (c), the robot ``syn3p33r``.
SYNTHETIC_SUBJECT = _synthetic()


def read_subject(path: str | Path) -> Subject:
    """Read ``Parameters.mat`` of a subject of the HuMoD database.

    Raises:
        InputError: the file is missing or no MATLAB file of version 7 or before; a field is missing, of another size
            or not a possible value.
    """
    file = MatFile(path)
    gender = file.text("gender")
    if gender not in TABLES:
        raise file.fail("gender", f"is '{gender}'", f"Known are {', '.join(TABLES)}")
    lengths = {}
    for segment in SEGMENTS:
        if segment.startswith("foot"):
            parts = [file.vector(f"{segment}.referenceLength{axis}", 1)[0] for axis in "XYZ"]
            lengths[segment] = float(np.linalg.norm(parts)) * _MILLIMETRE
            if lengths[segment] <= 0:
                raise file.fail(f"{segment}.referenceLengthX", "and Y and Z are 0", "Give the foot a length, mm")
        else:
            lengths[segment] = file.positive(f"{segment}.segmentLengthY") * _MILLIMETRE
    offsets = {
        joint: file.vector(f"{segment}.relativePosition.{joint}", 3) * _MILLIMETRE
        for joint, segment in OFFSET_JOINTS.items()
    }
    published = {segment: file.positive(f"{segment}.mass") for segment in SEGMENTS if file.get(f"{segment}.mass")}
    name = file.text("subject")
    if re.fullmatch(r"\w+", name) is None:
        raise file.fail("subject", f"is '{name:.40}'", "Letters, digits and underscores can name a robot")
    return Subject(f"humod_{name}", gender, file.positive("bodyMass"), lengths, offsets, published)


def write_subject(path: str | Path, subject: Subject) -> None:
    """Write a ``Parameters.mat`` with the fields and units of HuMoD's: mm, kg, kg m^2."""
    segments: dict[str, dict[str, object]] = {}
    for segment, inertia in segment_inertias(subject.gender, subject.body_mass, subject.lengths).items():
        length = subject.lengths[segment] / _MILLIMETRE
        if segment.startswith("foot"):
            content: dict[str, object] = {"referenceLengthX": length, "referenceLengthY": 0.0, "referenceLengthZ": 0.0}
        else:
            content = {"segmentLengthY": length}
        content["mass"] = inertia.mass
        for i, axis in enumerate("XYZ"):
            content[f"com{axis}"] = inertia.com[i] / _MILLIMETRE
            content[f"moi{axis}{axis}"] = inertia.inertia[i, i]
        for i, j in ((0, 1), (0, 2), (1, 2)):
            content[f"poi{'XYZ'[i]}{'XYZ'[j]}"] = inertia.inertia[i, j]
        segments[segment] = content
    for parent in ("thorax", "pelvis"):
        segments[parent]["relativePosition"] = {
            joint: subject.offsets[joint][:, np.newaxis] / _MILLIMETRE
            for joint, segment in OFFSET_JOINTS.items()
            if segment == parent
        }
    person = {"subject": subject.name, "gender": subject.gender, "bodyMass": subject.body_mass}
    scipy.io.savemat(path, {**person, **segments}, do_compression=True, oned_as="column")
