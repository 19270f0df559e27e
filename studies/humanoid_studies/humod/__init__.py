# SPDX-License-Identifier: Apache-2.0
"""Replay of the HuMoD database's human motions on a model of the person (specification 004 §4, thesis section 4.2)."""

from humanoid_studies.humod.evaluator import pinocchio_evaluator
from humanoid_studies.humod.generated_evaluator import generated_evaluator
from humanoid_studies.humod.recording import read_recording, write_recording
from humanoid_studies.humod.replay import replay
from humanoid_studies.humod.subject import SYNTHETIC_SUBJECT, read_subject, write_subject
from humanoid_studies.humod.subject_urdf import subject_urdf
from humanoid_studies.humod.synthetic import synthetic_recording

__all__ = [
    "SYNTHETIC_SUBJECT",
    "generated_evaluator",
    "pinocchio_evaluator",
    "read_recording",
    "read_subject",
    "replay",
    "subject_urdf",
    "synthetic_recording",
    "write_recording",
    "write_subject",
]
