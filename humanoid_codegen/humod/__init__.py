# SPDX-License-Identifier: Apache-2.0
"""Replay of the HuMoD database's human motions on a model of the person (thesis section 4.2)."""

from humanoid_codegen.humod.evaluator import Evaluator, pinocchio_evaluator
from humanoid_codegen.humod.generated_evaluator import generated_evaluator
from humanoid_codegen.humod.recording import GroundForce, Recording, read_recording, write_recording
from humanoid_codegen.humod.replay import Replay, replay
from humanoid_codegen.humod.rotation_order import RotationOrder, rotation_order_errors
from humanoid_codegen.humod.subject import SYNTHETIC_SUBJECT, Subject, read_subject, write_subject
from humanoid_codegen.humod.subject_urdf import subject_urdf
from humanoid_codegen.humod.synthetic import synthetic_recording

__all__ = [
    "SYNTHETIC_SUBJECT",
    "Evaluator",
    "GroundForce",
    "Recording",
    "Replay",
    "RotationOrder",
    "Subject",
    "generated_evaluator",
    "pinocchio_evaluator",
    "read_recording",
    "read_subject",
    "replay",
    "rotation_order_errors",
    "subject_urdf",
    "synthetic_recording",
    "write_recording",
    "write_subject",
]
