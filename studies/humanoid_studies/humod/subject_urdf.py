# SPDX-License-Identifier: Apache-2.0
"""URDF of a person as 3 prismatic and 33 revolute joints, from the lengths of its segments.

Specification 004 section 3.3: the base is at the lower lumbar joint (LLJ), groups of joints turn about the moving axes
X, Y, Z in this order (LLJ about X, Z; elbows and knees about Z), massless links between them. Link frames sit at the
joint nearest to the pelvis, so that the centres of mass of abdomen and thorax, which the regression counts from the
upper joint, move up by the segment's length.
"""

from __future__ import annotations

import numpy as np

from humanoid_studies.humod.regression import SEGMENTS, segment_inertias
from humanoid_studies.humod.subject import Subject

_AXES = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}


def subject_urdf(subject: Subject) -> str:
    """URDF text of the robot, joints and links named as those of ``syn3p33r``."""
    inertias = segment_inertias(subject.gender, subject.body_mass, subject.lengths)
    lines = [
        '<?xml version="1.0"?>',
        f"<!-- A person of 36 degrees of freedom, y up, x forward, z right: HuMoD subject {subject.name}. -->",
        f'<robot name="{subject.name}">',
        '  <link name="world"/>',
    ]
    for segment in SEGMENTS:
        part = inertias[segment]
        com = part.com + _up(subject, segment) if segment in ("abdomen", "thorax") else part.com
        tensor = part.inertia
        moments = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
        lines += [
            f'  <link name="{segment}">',
            "    <inertial>",
            f'      <origin xyz="{_numbers(com)}"/>',
            f'      <mass value="{part.mass:.12g}"/>',
            "      <inertia " + " ".join(f'{name}="{tensor[at]:.12g}"' for name, at in moments.items()) + "/>",
            "    </inertial>",
            "  </link>",
        ]
    for group, axes, parent, child, place in _groups(subject):
        lines += _group(group, axes, parent, child, place)
    return "\n".join([*lines, "</robot>", ""])


def _up(subject: Subject, segment: str) -> np.ndarray:
    return np.array([0.0, subject.lengths[segment], 0.0])


def _groups(subject: Subject) -> list[tuple[str, tuple[str, ...], str, str, np.ndarray]]:
    """Joint groups: name, axes (``px`` slides, ``x`` turns), parent and child segment, place in the parent's frame."""
    xyz, origin = ("x", "y", "z"), np.zeros(3)
    up_thorax = _up(subject, "thorax")
    groups: list[tuple[str, tuple[str, ...], str, str, np.ndarray]] = [
        ("WJ", ("px", "py", "pz", *xyz), "world", "pelvis", origin),
        ("LLJ", ("x", "z"), "pelvis", "abdomen", origin),
        ("ULJ", xyz, "abdomen", "thorax", _up(subject, "abdomen")),
        ("LNJ", xyz, "thorax", "head", up_thorax),
    ]
    for s in ("R", "L"):
        groups += [
            (f"SJ_{s}", xyz, "thorax", f"upperArm_{s}", up_thorax + subject.offsets[f"SJ_{s}"]),
            (f"EJ_{s}", ("z",), f"upperArm_{s}", f"lowerArm_{s}", -_up(subject, f"upperArm_{s}")),
            (f"HJ_{s}", xyz, "pelvis", f"thigh_{s}", subject.offsets[f"HJ_{s}"]),
            (f"KJ_{s}", ("z",), f"thigh_{s}", f"shank_{s}", -_up(subject, f"thigh_{s}")),
            (f"AJ_{s}", xyz, f"shank_{s}", f"foot_{s}", -_up(subject, f"shank_{s}")),
        ]
    return groups


def _group(group: str, axes: tuple[str, ...], parent: str, child: str, place: np.ndarray) -> list[str]:
    lines = []
    for k, axis in enumerate(axes):
        last = k == len(axes) - 1
        name = f"{group}_{axis}"
        moved = child if last else f"{name}_v"
        if not last:
            lines.append(f'  <link name="{moved}"/>')
        slides = axis.startswith("p")
        lines.append(f'  <joint name="{name}" type="{"prismatic" if slides else "continuous"}">')
        lines.append(f'    <parent link="{parent}"/>')
        lines.append(f'    <child link="{moved}"/>')
        if k == 0 and place.any():
            lines.append(f'    <origin xyz="{_numbers(place)}"/>')
        lines.append(f'    <axis xyz="{_AXES[axis[-1]]}"/>')
        if slides:
            lines.append('    <limit lower="-10" upper="10" effort="1" velocity="1"/>')
        lines.append("  </joint>")
        parent = moved
    return lines


def _numbers(values: np.ndarray) -> str:
    return " ".join(f"{value + 0.0:.12g}" for value in values)
