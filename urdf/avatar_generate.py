# SPDX-License-Identifier: Apache-2.0
"""Writes avatar.urdf and avatar.yaml: a human with ball joints (specification 000 section 14.3).

``python urdf/avatar_generate.py`` rewrites the two files; a test holds them equal to this script's output.

A man of 75 kg and 1.75 m. Masses are the fractions of Clauser (1969), lengths the fractions of stature
of Drillis and Contini (1966), shapes uniform solids in Hanavan's (1964) manner, all as remembered: approximate.
Shoulders, wrists, hips and ankles are ball joints; URDF has none, so each is written as three revolute
joints x, y, z in one point, which the YAML's ``ball_joints`` merges. All other joints have one degree of freedom.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from primitive_urdf import (
    QUARTER,
    Shape,
    box,
    capsule,
    cylinder,
    joint_text,
    link_text,
    material_text,
    number,
    uniform,
)

FOLDER = Path(__file__).resolve().parent
DEGREE = math.pi / 180
APPROXIMATE = (
    "a human of 75 kg and 1.75 m by fractions of mass and stature from the literature as remembered: masses, lengths, "
    "inertias, joint ranges, efforts, speeds, gains and shapes"
)
COLOURS = {
    "skin": (0.87, 0.68, 0.56),
    "shirt": (0.24, 0.45, 0.62),
    "trousers": (0.22, 0.24, 0.30),
    "shoe": (0.12, 0.12, 0.13),
}

BODY, STATURE = 75.0, 1.75
# Fractions of the body's mass; the trunk's is divided into pelvis, abdomen and thorax.
MASS = {
    "head": 0.073,
    "pelvis": 0.142,
    "abdomen": 0.139,
    "thorax": 0.226,
    "upper_arm": 0.026,
    "forearm": 0.016,
    "hand": 0.007,
    "thigh": 0.103,
    "shank": 0.043,
    "foot": 0.015,
}
FINGERS = ("thumb", "index", "middle", "ring", "little")
FINGER_SHARE = 0.06  # of the hand's mass, for each finger

THIGH, SHANK, ANKLE = 0.245 * STATURE, 0.246 * STATURE, 0.039 * STATURE
UPPER_ARM, FOREARM, HAND = 0.186 * STATURE, 0.146 * STATURE, 0.108 * STATURE
PALM, FINGER = 0.5 * HAND, 0.5 * HAND
HIP_HALF, SHOULDER_HALF = 0.052 * STATURE, 0.115 * STATURE
HIP, SHOULDER, NECK = 0.530 * STATURE, 0.818 * STATURE, 0.850 * STATURE
WAIST, CHEST = HIP + 0.10, HIP + 0.25  # heights of the two joints of the trunk
FOOT_LENGTH, FOOT_WIDTH, HEEL = 0.152 * STATURE, 0.055 * STATURE, 0.045 * STATURE


@dataclass(frozen=True)
class Hinge:
    """A joint of one degree of freedom: axis, range in degrees, effort in N m."""

    axis: str
    lower: float
    upper: float
    effort: float


BALLS = {  # ranges of the members x, y, z in degrees (right side), and the effort of each
    "hip": (((-45, 25), (-120, 30), (-40, 40)), 200.0),
    "ankle": (((-25, 35), (-45, 30), (-20, 20)), 120.0),
    "shoulder": (((-170, 30), (-180, 60), (-90, 90)), 80.0),
    "wrist": (((-30, 30), (-80, 80), (-80, 80)), 15.0),
}
HINGES = {
    "waist": Hinge("y", -25, 60, 200),
    "chest": Hinge("z", -45, 45, 120),
    "neck": Hinge("y", -50, 50, 30),
    "knee": Hinge("y", 0, 150, 200),
    "elbow": Hinge("y", -150, 0, 60),
    "finger": Hinge("y", -95, 5, 3),
}
SPEED = 10.0  # rad/s


def mass(segment: str) -> float:
    """Return mass of a segment in kg."""
    return BODY * MASS[segment]


def body(name: str, kilograms: float, *shapes: Shape) -> str:
    """Return a link whose first shape carries the mass and collides."""
    return link_text(name, uniform(kilograms, shapes[0]), shapes, shapes[:1])


def hinge(name: str, kind: Hinge, parent: str, child: str, offset: tuple[float, float, float]) -> str:
    """Return a joint of one degree of freedom."""
    limits = (kind.lower * DEGREE, kind.upper * DEGREE, kind.effort, SPEED)
    return joint_text(name, "revolute", parent, child, offset, kind.axis, limits)


def ball(name: str, parent: str, child: str, offset: tuple[float, float, float], side: str) -> str:
    """Return a ball joint: three revolute joints in one point, and the two empty links between them."""
    ranges, effort = BALLS[name]
    text = ""
    for axis, (low, high) in zip("xyz", ranges, strict=True):
        if side == "l" and axis != "y":
            low, high = -high, -low
        link = child if axis == "z" else f"{side}_{name}_{axis}_link"
        limits = (low * DEGREE, high * DEGREE, effort, SPEED)
        text += joint_text(f"{side}_{name}_{axis}", "revolute", parent, link, offset, axis, limits)
        if axis != "z":
            text += link_text(link)
        parent, offset = link, (0.0, 0.0, 0.0)
    return text


def urdf_text() -> str:
    """Return the URDF."""
    text = (
        '<?xml version="1.0"?>\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n'
        "<!-- Written by avatar_generate.py: change the numbers there.\n"
        f"     Approximate: {APPROXIMATE}. -->\n"
        '<robot name="avatar">\n'
    )
    text += "".join(material_text(name, rgb) for name, rgb in COLOURS.items())
    text += body("pelvis", mass("pelvis"), box(0.20, 0.32, 0.17, (0.0, 0.0, 0.015), "trousers"))
    text += leg("r", -1) + leg("l", 1)
    text += hinge("waist", HINGES["waist"], "pelvis", "abdomen", (0.0, 0.0, WAIST - HIP))
    text += body("abdomen", mass("abdomen"), box(0.20, 0.29, 0.15, (0.0, 0.0, 0.075), "shirt"))
    text += hinge("chest", HINGES["chest"], "abdomen", "thorax", (0.0, 0.0, CHEST - WAIST))
    height = NECK - CHEST
    text += body(
        "thorax",
        mass("thorax"),
        box(0.22, 0.32, height, (0.0, 0.0, height / 2), "shirt"),
        capsule(0.06, 2 * SHOULDER_HALF - 0.08, (0.0, 0.0, SHOULDER - CHEST), "shirt", "y"),
    )
    text += hinge("neck", HINGES["neck"], "thorax", "head", (0.0, 0.0, height))
    text += body(
        "head",
        mass("head"),
        capsule(0.09, 0.0625, (0.015, 0.0, STATURE - NECK - 0.12125), "skin"),
        cylinder(0.05, 0.08, (0.0, 0.0, 0.02), "skin"),
    )
    return text + arm("r", -1) + arm("l", 1) + "</robot>\n"


def leg(side: str, sign: int) -> str:
    """Return a leg from the hip down."""
    text = ball("hip", "pelvis", f"{side}_thigh", (0.0, sign * HIP_HALF, 0.0), side)
    radius = 0.075
    text += body(
        f"{side}_thigh",
        mass("thigh"),
        capsule(radius, THIGH - radius, (0.0, 0.0, -THIGH / 2), "trousers"),
    )
    text += hinge(f"{side}_knee", HINGES["knee"], f"{side}_thigh", f"{side}_shank", (0.0, 0.0, -THIGH))
    radius = 0.052
    text += body(
        f"{side}_shank",
        mass("shank"),
        capsule(radius, SHANK - radius, (0.0, 0.0, -SHANK / 2), "trousers"),
    )
    foot = f"{side}_foot"
    text += ball("ankle", f"{side}_shank", foot, (0.0, 0.0, -SHANK), side)
    middle = FOOT_LENGTH / 2 - HEEL
    return text + body(
        foot,
        mass("foot"),
        box(FOOT_LENGTH, FOOT_WIDTH, 0.05, (middle, 0.0, 0.025 - ANKLE), "shoe"),
        box(0.09, 0.07, 0.06, (0.0, 0.0, 0.06 - ANKLE), "shoe"),
    )


def arm(side: str, sign: int) -> str:
    """Return an arm from the shoulder down, the palm facing backwards."""
    shoulder = (0.0, sign * SHOULDER_HALF, SHOULDER - CHEST)
    text = ball("shoulder", "thorax", f"{side}_upper_arm", shoulder, side)
    radius = 0.045
    text += body(
        f"{side}_upper_arm",
        mass("upper_arm"),
        capsule(radius, UPPER_ARM - radius, (0.0, 0.0, -UPPER_ARM / 2), "shirt"),
    )
    elbow, forearm = f"{side}_elbow", f"{side}_forearm"
    text += hinge(elbow, HINGES["elbow"], f"{side}_upper_arm", forearm, (0.0, 0.0, -UPPER_ARM))
    radius = 0.036
    text += body(
        forearm,
        mass("forearm"),
        capsule(radius, FOREARM - radius, (0.0, 0.0, -FOREARM / 2), "skin"),
    )
    palm = f"{side}_palm"
    text += ball("wrist", forearm, palm, (0.0, 0.0, -FOREARM), side)
    share = mass("hand") * FINGER_SHARE
    text += body(
        palm,
        mass("hand") - len(FINGERS) * share,
        box(0.028, 0.084, PALM, (0.0, 0.0, -PALM / 2), "skin"),
    )
    for index, finger in enumerate(FINGERS):
        # The thumb starts at the palm's inner edge, the others side by side at its end.
        inner = -sign * 0.052
        across = inner if finger == "thumb" else -sign * (0.0315 - 0.021 * (index - 1))
        down = -0.4 * PALM if finger == "thumb" else -PALM
        link, length = f"{side}_{finger}", FINGER * (0.75 if finger in ("thumb", "little") else 1.0)
        text += hinge(f"{link}_joint", flexing(), palm, link, (0.0, across, down))
        text += body(link, share, capsule(0.009, length - 0.018, (0.0, 0.0, -length / 2), "skin"))
    return text


def flexing() -> Hinge:
    """Return a finger's joint: flexion towards the palm, which faces -x, is positive about y."""
    kind = HINGES["finger"]
    return Hinge(kind.axis, -kind.upper, -kind.lower, kind.effort)


def yaml_text() -> str:
    """Return the YAML."""
    lines = [
        "# SPDX-License-Identifier: Apache-2.0",
        "# Written by avatar_generate.py: change the numbers there.",
        "floating_base: true",
        f"approximate: >-\n  {APPROXIMATE}",
        "ball_joints:  # each takes the place of three revolute joints",
    ]
    for side in "rl":
        for name in BALLS:
            members = ", ".join(f"{side}_{name}_{axis}" for axis in "xyz")
            lines.append(f"  {side}_{name}: [{members}]")
    lines.append("limbs:")
    lines.append("  trunk: [waist, chest, neck]")
    for word, side in (("right", "r"), ("left", "l")):
        fingers = ", ".join(f"{side}_{finger}_joint" for finger in FINGERS)
        lines.append(f"  {word}_leg: [{side}_hip, {side}_knee, {side}_ankle]")
        lines.append(f"  {word}_arm: [{side}_shoulder, {side}_elbow, {side}_wrist, {fingers}]")
    lines.append("postures:  # rad, by the URDF's joints; joints left out are at 0")
    for posture, values in POSTURES.items():
        lines.append(f"  {posture}:")
        for side, sign in (("r", 1), ("l", -1)):
            for joint, degrees in values.items():
                turned = sign * degrees if joint.endswith(("_x", "_z")) else degrees
                lines.append(f"    {side}_{joint}: {number(turned * DEGREE)}")
    lines.append("contacts:  # frames: z is the inward normal; patches counter-clockwise, metres")
    x, y = FOOT_LENGTH / 2, FOOT_WIDTH / 2
    sole = [[-x, -y], [x, -y], [x, y], [-x, y]]
    palm = [[-0.04, -0.04], [0.04, -0.04], [0.04, 0.04], [-0.04, 0.04]]
    for word, side in (("right", "r"), ("left", "l")):
        lines += [
            f"  {word}_sole:\n    {{link: {side}_foot, xyz: [{number(x - HEEL)}, 0, {number(-ANKLE)}], "
            f"support: true,\n     patch: {corners(sole)}}}",
            f"  {word}_palm:\n    {{link: {side}_palm, xyz: [-0.014, 0, {number(-PALM / 2)}], "
            f"rpy: [0, {number(QUARTER)}, 0],\n     patch: {corners(palm)}}}",
        ]
    lines += [
        "sensors:",
        "  imu: {type: imu, link: thorax}",
        "  right_ankle: {type: force_torque, link: r_foot}",
        "  left_ankle: {type: force_torque, link: l_foot}",
        "actuators:  # muscles as drives: gains by the default rule",
        '  "*": {armature: 0.01}',
        '  "*_knee": {armature: 0.1}',
        '  "*_hip": {armature: 0.1}',
        '  "*_ankle": {armature: 0.1}',
        '  "*_wrist": {armature: 0.003}',
        *(f'  "?_{finger}_joint": {{armature: 0.0005}}' for finger in FINGERS),
    ]
    return "\n".join(lines) + "\n"


POSTURES: dict[str, dict[str, float]] = {  # degrees, right side; members x and z change sign on the left
    "standing": {
        "hip_y": -10,
        "knee": 20,
        "ankle_y": -10,
        "shoulder_x": -8,
        "elbow": -15,
        **{f"{finger}_joint": 15 for finger in FINGERS},
    },
    "arms_stretched": {
        "hip_y": -10,
        "knee": 20,
        "ankle_y": -10,
        "shoulder_x": -90,
    },
}


def corners(patch: list[list[float]]) -> str:
    """Vertices as YAML."""
    return "[" + ", ".join(f"[{number(a)}, {number(b)}]" for a, b in patch) + "]"


def generate() -> dict[str, str]:
    """Return the files' texts by file name."""
    return {"avatar.urdf": urdf_text(), "avatar.yaml": yaml_text()}


def main() -> None:
    """Write the files beside this script."""
    for name, text in generate().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"wrote {name}")


if __name__ == "__main__":
    main()
