# SPDX-License-Identifier: Apache-2.0
"""Writes rabbit.urdf and five_bar.urdf, each with its YAML: two mechanisms of the optimal-gait thesis.

``python urdf/gait_mechanisms_generate.py`` rewrites the four files; tests hold them equal to this script's output, and
their dynamics to that of the gait generator's models.

Source of the numbers: tables III-1 and III-2 of the thesis behind specification 003 (sections 3.2 and 3.3). RABBIT's
centres of mass and inertias are read as from the proximal joint.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from primitive_urdf import Mass, Shape, capsule, cylinder, joint_text, link_text, material_text, number

FOLDER = Path(__file__).resolve().parent

COLOURS = {"aluminium": (0.72, 0.74, 0.77), "black": (0.10, 0.10, 0.12), "orange": (0.90, 0.45, 0.10)}
APPROXIMATE_RABBIT = "efforts, speeds, joint ranges, gains, shapes, and all inertias but those about y"
APPROXIMATE_FIVE_BAR = "the base's length, efforts, speeds, gains, shapes, and all inertias but those about y"

# Length, mass, distance of the centre of mass from the proximal joint, inertia about that joint.
SHANK = (0.4, 3.2, 0.127, 0.1)
THIGH = (0.4, 6.8, 0.163, 0.25)
TRUNK = (0.625, 20.0, 0.2, 2.22)
BAR = (0.4, 2.0, 0.2, 0.107)
LOAD = 5.0  # kg, a point at the end of the second bar
BASE = 0.4  # m
SPEED = 12.0  # rad/s, approximate
APEX = complex(0.1, 0.6)  # m, of the posture in which the thesis' transfer starts


def along(row: tuple[float, float, float, float], direction: tuple[float, float, float], load: float = 0.0) -> Mass:
    """Mass properties of a row of the tables, the body along a direction from the link's origin, a load at its end."""
    length, mass, centre, inertia = row
    total = mass + load
    middle = (mass * centre + load * length) / total
    about_com = inertia + load * length**2 - total * middle**2
    return Mass(total, np.array(direction) * middle, about_com * np.eye(3))


def header(name: str, approximate: str) -> str:
    """Return the opening of a file."""
    text = (
        '<?xml version="1.0"?>\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n'
        "<!-- Written by gait_mechanisms_generate.py: change the numbers there.\n"
        f"     Approximate: {approximate}. -->\n"
        f'<robot name="{name}">\n'
    )
    return text + "".join(material_text(colour, rgb) for colour, rgb in COLOURS.items())


def yaml_header(approximate: str) -> list[str]:
    """Return the opening of a YAML file."""
    return [
        "# SPDX-License-Identifier: Apache-2.0",
        "# Written by gait_mechanisms_generate.py: change the numbers there.",
        "floating_base: false",
        f"approximate: >-\n  {approximate}",
    ]


def rabbit_urdf() -> str:
    """Five links on a base that slides along x and z and turns about y."""
    text = header("rabbit", APPROXIMATE_RABBIT) + link_text("world")
    parent = "world"
    for name, kind, axis, child in (
        ("base_x", "prismatic", "x", "base_x_link"),
        ("base_z", "prismatic", "z", "base_z_link"),
        ("base_pitch", "revolute", "y", "trunk"),
    ):
        reach = math.pi if kind == "revolute" else 100.0
        text += joint_text(name, kind, parent, child, (0.0, 0.0, 0.0), axis, (-reach, reach, 0.0, 100.0))
        if child != "trunk":
            text += link_text(child)
        parent = child
    body = (
        capsule(0.06, TRUNK[0] - 0.12, (0.0, 0.0, TRUNK[0] / 2), "aluminium"),
        cylinder(0.05, 0.24, (0.0, 0.0, 0.0), "black", "y"),
    )
    text += link_text("trunk", along(TRUNK, (0.0, 0.0, 1.0)), body, body[:1])
    for side, y in (("rear", -0.1), ("front", 0.1)):
        parent, offset = "trunk", (0.0, 0.0, 0.0)
        for joint, part, row, lower, upper, effort in (
            ("hip", "thigh", THIGH, -2.0, 1.2, 150.0),
            ("knee", "shank", SHANK, 0.0, 2.5, 150.0),
        ):
            child = f"{side}_{part}"
            text += joint_text(f"{side}_{joint}", "revolute", parent, child, offset, "y", (lower, upper, effort, SPEED))
            radius = 0.045 if part == "thigh" else 0.03
            drawn: tuple[Shape, ...] = (
                capsule(radius, row[0] - 2 * radius, (0.0, y, -row[0] / 2), "aluminium"),
                cylinder(1.3 * radius, 0.08, (0.0, y, 0.0), "orange" if part == "shank" else "black", "y"),
            )
            text += link_text(child, along(row, (0.0, 0.0, -1.0)), drawn, drawn[:1])
            parent, offset = child, (0.0, 0.0, -row[0])
    return text + "</robot>\n"


def rabbit_yaml() -> str:
    """Return what RABBIT's URDF can't say."""
    height = (THIGH[0] + SHANK[0]) * math.cos(0.3)
    lines = [*yaml_header(APPROXIMATE_RABBIT), "limbs:"]
    lines += [f"  {side}_leg: [{side}_hip, {side}_knee]" for side in ("rear", "front")]
    lines += ["postures:  # rad, m; joints left out are at 0", "  standing:", f"    base_z: {number(height)}"]
    for side in ("rear", "front"):
        lines += [f"    {side}_hip: -0.3", f"    {side}_knee: 0.6"]
    lines.append("contacts:")
    lines += [
        f"  {side}_tip: {{link: {side}_shank, xyz: [0, 0, -{SHANK[0]}], support: true, patch: [[0, 0]]}}"
        for side in ("rear", "front")
    ]
    lines += ["actuators:  # gains by the default rule", '  "rear_*": {}', '  "front_*": {}']
    return "\n".join(lines) + "\n"


def five_bar_urdf() -> str:
    """Four bars in a row from O1; the YAML closes the loop at O5. Joints turn about y: bars rise at negative angles."""
    text = header("five_bar", APPROXIMATE_FIVE_BAR) + link_text("base")
    parent, offset = "base", (0.0, 0.0, 0.0)
    for index in range(1, 5):
        child = f"bar_{index}"
        limits = (-2 * math.pi, 2 * math.pi, 150.0, SPEED)
        text += joint_text(f"O{index}", "revolute", parent, child, offset, "y", limits)
        length = BAR[0]
        drawn: tuple[Shape, ...] = (
            capsule(0.02, length - 0.04, (length / 2, 0.0, 0.0), "aluminium", "x"),
            cylinder(0.03, 0.06, (0.0, 0.0, 0.0), "black", "y"),
        )
        if index == 2:
            drawn += (cylinder(0.07, 0.08, (length, 0.0, 0.0), "orange", "y"),)
        text += link_text(child, along(BAR, (1.0, 0.0, 0.0), LOAD if index == 2 else 0.0), drawn)
        parent, offset = child, (length, 0.0, 0.0)
    return text + "</robot>\n"


def apex_angles() -> list[float]:
    """Joint positions that close the loop with the load at APEX, knees outward."""
    length = BAR[0]

    def two_links(span: complex) -> tuple[float, float]:
        half = math.acos(abs(span) / (2.0 * length))
        middle = math.atan2(span.imag, span.real)
        return middle + half, middle - half

    absolute = [0.0, *two_links(APEX), *two_links(BASE - APEX)]
    return [-(absolute[i] - absolute[i - 1]) for i in range(1, 5)]


def five_bar_yaml() -> str:
    """Return what the five-bar mechanism's URDF can't say."""
    lines = yaml_header(APPROXIMATE_FIVE_BAR)
    lines += ["postures:  # rad; the load above the base, where the transfer of the thesis starts", "  transfer_start:"]
    lines += [f"    O{index}: {number(angle)}" for index, angle in enumerate(apex_angles(), start=1)]
    lines += [
        "loops:",
        "  O5:",
        f"    a: {{link: bar_4, xyz: [{BAR[0]}, 0, 0]}}",
        f"    b: {{link: base, xyz: [{BASE}, 0, 0]}}",
        "    rows: [x, z]",
        "actuators:  # gains by the default rule",
        '  "O*": {}',
    ]
    return "\n".join(lines) + "\n"


def generate() -> dict[str, str]:
    """Return the files' texts by file name."""
    return {
        "rabbit.urdf": rabbit_urdf(),
        "rabbit.yaml": rabbit_yaml(),
        "five_bar.urdf": five_bar_urdf(),
        "five_bar.yaml": five_bar_yaml(),
    }


def main() -> None:
    """Write the files beside this script."""
    for name, text in generate().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"wrote {name}")


if __name__ == "__main__":
    main()
