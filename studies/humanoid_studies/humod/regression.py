# SPDX-License-Identifier: Apache-2.0
r"""Masses and inertias of a person's segments from their lengths: the regression tables that HuMoD uses.

Specification 004 section 3.3 (b), after Dumas et al. 2007 and 2015. A centre of mass is a share of the segment's length
L; an entry of the inertia about the centre of mass is
:math:`\operatorname{sgn}(\rho)\,(\rho L)^2 m`. Axes: x forward, y up, z right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

#: Segments, as HuMoD and the robot's links name them.
SEGMENTS = (
    "pelvis", "abdomen", "thorax", "head",
    "upperArm_R", "thigh_R", "shank_R", "foot_R", "lowerArm_R",
    "upperArm_L", "thigh_L", "shank_L", "foot_L", "lowerArm_L",
)  # fmt: skip


@dataclass(frozen=True)
class SegmentCoefficients:
    """Coefficients of one segment, right side.

    Attributes:
        mass: share of the body's mass.
        com: centre of mass over length; from the joint nearest to the pelvis, but LNJ for the thorax and ULJ for
            the abdomen, their upper joints.
        inertia: radii over length, signed: xx, yy, zz, xy, xz, yz.
    """

    mass: float
    com: tuple[float, float, float]
    inertia: tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class BodyTable:
    """Coefficients of a body; ``hand`` is the mass share of a hand, a point at the wrist."""

    segments: Mapping[str, SegmentCoefficients]
    hand: float


@dataclass(frozen=True, eq=False)
class SegmentInertia:
    """Mass properties of a segment.

    Attributes:
        mass: kg.
        com: (3,) m, from the origin that ``SegmentCoefficients.com`` counts from.
        inertia: (3, 3) kg m^2 about the centre of mass.
    """

    mass: float
    com: np.ndarray
    inertia: np.ndarray


TABLES = {
    "female": BodyTable(
        {
            "head": SegmentCoefficients(0.067, (0.016, 0.575, 0.001), (0.29, 0.23, 0.30, -0.04, 0.01, 0.0)),
            "thorax": SegmentCoefficients(0.263, (0.021, -0.528, 0.001), (0.39, 0.33, 0.35, -0.12, -0.03, 0.01)),
            "abdomen": SegmentCoefficients(0.041, (0.244, -0.415, 0.005), (0.67, 0.77, 0.55, 0.20, -0.03, -0.05)),
            "pelvis": SegmentCoefficients(0.146, (-0.009, -0.232, 0.002), (0.91, 1.0, 0.79, -0.34, -0.01, -0.01)),
            "upperArm": SegmentCoefficients(0.022, (-0.073, -0.454, -0.028), (0.33, 0.17, 0.33, 0.03, -0.05, -0.14)),
            "lowerArm": SegmentCoefficients(0.013, (0.021, -0.411, 0.019), (0.26, 0.14, 0.25, 0.10, 0.04, -0.13)),
            "thigh": SegmentCoefficients(0.146, (-0.077, -0.377, 0.009), (0.31, 0.19, 0.32, 0.07, -0.02, -0.07)),
            "shank": SegmentCoefficients(0.045, (-0.049, -0.404, 0.031), (0.28, 0.10, 0.28, 0.02, 0.01, 0.06)),
            "foot": SegmentCoefficients(0.010, (0.382, -0.309, 0.055), (0.24, 0.51, 0.50, -0.15, 0.09, -0.05)),
        },
        hand=0.005,
    ),
    "male": BodyTable(
        {
            "head": SegmentCoefficients(0.067, (0.02, 0.536, 0.001), (0.28, 0.21, 0.30, -0.07, -0.02, 0.03)),
            "thorax": SegmentCoefficients(0.304, (0.0, -0.555, -0.004), (0.42, 0.33, 0.36, -0.11, 0.01, 0.03)),
            "abdomen": SegmentCoefficients(0.029, (0.173, -0.361, -0.003), (0.54, 0.66, 0.40, 0.11, -0.06, -0.05)),
            "pelvis": SegmentCoefficients(0.142, (0.028, -0.28, -0.006), (1.01, 1.06, 0.95, -0.25, -0.12, -0.08)),
            "upperArm": SegmentCoefficients(0.024, (0.017, -0.452, -0.026), (0.31, 0.14, 0.32, 0.06, 0.05, 0.02)),
            "lowerArm": SegmentCoefficients(0.017, (0.010, -0.417, 0.014), (0.28, 0.11, 0.27, 0.03, 0.02, -0.08)),
            "thigh": SegmentCoefficients(0.123, (-0.041, -0.429, 0.033), (0.29, 0.15, 0.30, 0.07, -0.02, -0.07)),
            "shank": SegmentCoefficients(0.048, (-0.048, -0.41, 0.007), (0.28, 0.10, 0.28, -0.04, -0.02, 0.05)),
            "foot": SegmentCoefficients(0.012, (0.502, -0.199, 0.034), (0.22, 0.49, 0.48, 0.17, -0.11, 0.0)),
        },
        hand=0.006,
    ),
}


def segment_inertias(gender: str, body_mass: float, lengths: Mapping[str, float]) -> dict[str, SegmentInertia]:
    """Mass properties of every segment.

    The mass of a pair of limbs is shared by their lengths. The hand is merged into the forearm as HuMoD does: a point
    of mass :math:`m_h` at the wrist that moves the centre of mass along y only and adds :math:`m_h L^2` to xx and zz.

    Args:
        gender: ``female`` or ``male``.
        body_mass: kg.
        lengths: m, by segment.
    """
    table = TABLES[gender]
    result = {}
    for segment in SEGMENTS:
        kind, _, side = segment.partition("_")
        row, length = table.segments[kind], lengths[segment]
        share = 1.0
        if side:
            share = 2 * length / (lengths[f"{kind}_L"] + lengths[f"{kind}_R"])
        mass = share * row.mass * body_mass
        mirror = np.array([1.0, 1.0, -1.0 if side == "L" else 1.0])
        com = length * np.array(row.com) * mirror
        xx, yy, zz, xy, xz, yz = np.sign(row.inertia) * (np.array(row.inertia) * length) ** 2 * mass
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) * np.outer(mirror, mirror)
        if kind == "lowerArm":
            hand = table.hand * body_mass
            com[1] = (com[1] * mass - length * hand) / (mass + hand)
            inertia[0, 0] += hand * length**2
            inertia[2, 2] += hand * length**2
            mass += hand
        result[segment] = SegmentInertia(mass, com, inertia)
    return result
