# SPDX-License-Identifier: Apache-2.0
"""Writes the four models of BIP2000, each with its YAML, from its published tables.

bip: every joint has an actuator. bip_screws: the ankles are moved by their screws, closed loops (``bip_ankle.py``).
bip_ankle: one such ankle with its foot on a shank that is held. bip_planar: the sagittal plane.

``python urdf/bip_generate.py`` rewrites the eight files; a test holds them equal to this script's output.

Source of the spatial model: geometry and mass tables of P.-B. Wieber, INRIA BIPOP ("HuMAnS", modified
Denavit-Hartenberg parameters of Khalil and Kleinfinger), numbers retyped. Of the planar one: table III-3 of
the thesis behind specification 003 (sections 3.4 and 3.4.1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import bip_ankle
import numpy as np
from primitive_urdf import (
    Mass,
    Shape,
    box,
    capsule,
    cylinder,
    joint_text,
    link_text,
    material_text,
    number,
)

FOLDER = Path(__file__).resolve().parent

COLOURS = {
    "aluminium": (0.72, 0.74, 0.77),
    "black": (0.10, 0.10, 0.12),
    "orange": (0.90, 0.45, 0.10),
}

APPROXIMATE = (
    "joint efforts and speeds, gains, rotor inertias and shapes; inertias that the source rounds to multiples of "
    "0.01 kg m^2 are raised to what a body of that mass can have"
)
APPROXIMATE_ANKLE = (
    "which way the published distances of the ankle's screws and levers count, masses of nuts and rods (taken from the "
    "shank's), rotor inertias, forces, speeds, gains and shapes"
)
APPROXIMATE_PLANAR = (
    "the foot's triangle (specification 003 section 3.4.1), efforts, speeds, gains, shapes, and all inertias but those "
    "about y"
)

HALF_TURN, QUARTER_TURN = math.pi, math.pi / 2
# Solid: parent, alpha (about x), d (along x), theta (about z, at position zero), r (along z), metres.
DH = {
    "r_hip_bracket": ("pelvis", 0.0, 0.110, 0.0, 0.0),
    "r_hip_lever": ("r_hip_bracket", QUARTER_TURN, 0.0, QUARTER_TURN, 0.0),
    "r_thigh": ("r_hip_lever", QUARTER_TURN, 0.0, -QUARTER_TURN, 0.0),
    "r_shank": ("r_thigh", 0.0, 0.410, 0.0, 0.0),
    "r_ankle_cross": ("r_shank", 0.0, 0.410, 0.0, 0.0),
    "r_foot": ("r_ankle_cross", -QUARTER_TURN, 0.0, 0.0, 0.0),
    "l_hip_bracket": ("pelvis", 0.0, -0.110, 0.0, 0.0),
    "l_hip_lever": ("l_hip_bracket", QUARTER_TURN, 0.0, QUARTER_TURN, 0.0),
    "l_thigh": ("l_hip_lever", QUARTER_TURN, 0.0, -QUARTER_TURN, 0.0),
    "l_shank": ("l_thigh", 0.0, 0.410, 0.0, 0.0),
    "l_ankle_cross": ("l_shank", 0.0, 0.410, 0.0, 0.0),
    "l_foot": ("l_ankle_cross", -QUARTER_TURN, 0.0, 0.0, 0.0),
    "lumbar_lever": ("pelvis", QUARTER_TURN, 0.0, HALF_TURN, 0.128),
    "trunk_cross": ("lumbar_lever", QUARTER_TURN, 0.0, QUARTER_TURN, 0.0),
    "trunk": ("trunk_cross", -QUARTER_TURN, 0.0, 0.0, 0.0),
}
# The pelvis' own frame in the stack's axes (x forward, y left, z up): x right, y down, z forward.
PELVIS_AXES = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])

# Mass kg; centre of mass mm; inertia at the frame's origin, 0.01 kg m^2: xx yy zz xy xz yz. Solid's own axes.
BODIES = {
    "pelvis": (8.8, (0, 12, -68), (13, 14, 5, 0, 0, 2)),
    "r_hip_bracket": (3.2, (5, -29, -107), (6, 5, 1, 0, 0, -1)),
    "r_hip_lever": (0.7, (-2, 0, 34), (0, 0, 0, 0, 0, 0)),
    "r_thigh": (10.9, (160, -5, 45), (6, 41, 38, 1, -6, 0)),
    "r_shank": (5.93, (152, -28, 0), (2, 21, 21, 3, 0, 0)),
    "r_ankle_cross": (0.18, (0, 0, 0), (0, 0, 0, 0, 0, 0)),
    "r_foot": (2.34, (59, 0, 19), (2, 3, 1, 0, 0, 0)),
    "l_hip_bracket": (3.2, (-5, -29, -107), (6, 5, 1, 0, 0, -1)),
    "l_hip_lever": (0.7, (-2, 0, 34), (0, 0, 0, 0, 0, 0)),
    "l_thigh": (10.9, (160, -5, -45), (6, 41, 38, 1, 6, 0)),
    "l_shank": (5.93, (152, -28, 0), (2, 21, 21, 3, 0, 0)),
    "l_ankle_cross": (0.18, (0, 0, 0), (0, 0, 0, 0, 0, 0)),
    "l_foot": (2.34, (59, 0, 19), (2, 3, 1, 0, 0, 0)),
    "lumbar_lever": (1.05, (0, 47, -25), (0, 0, 1, 0, 0, 0)),
    "trunk_cross": (0.46, (0, 0, 46), (1, 0, 1, 0, 0, 0)),
    "trunk": (48.0, (405, 13, 9), (126, 1075, 1026, 6, -6, 0)),
}
SMALLEST_GYRATION = 0.03  # m: radius of gyration below which a solid's moments are not believed


@dataclass(frozen=True)
class Hinge:
    """A joint: its axis in the stack's axes, its stops in rad, its effort (N m, approximate) and its child."""

    name: str
    axis: str
    lower: float
    upper: float
    effort: float
    child: str


# Stops of the published simulation of the robot; flexion of the knee and lean of the trunk are positive. The
# knee's lower end is its actuator's published 0 instead of the simulation's 0.11, which would exclude the zero posture.
LEG = (
    Hinge("hip_roll", "x", -0.17, 0.17, 250, "hip_bracket"),
    Hinge("hip_yaw", "z", -0.14, 0.14, 100, "hip_lever"),
    Hinge("hip_pitch", "y", -1.17, 0.20, 300, "thigh"),
    Hinge("knee", "y", 0.0, 1.41, 400, "shank"),
    Hinge("ankle_pitch", "y", -0.64, 0.64, 250, "ankle_cross"),
    Hinge("ankle_roll", "x", -0.21, 0.21, 150, "foot"),
)
TRUNK = (
    Hinge("trunk_yaw", "z", -0.17, 0.17, 100, "lumbar_lever"),
    Hinge("trunk_roll", "x", -0.08, 0.08, 250, "trunk_cross"),
    Hinge("trunk_pitch", "y", -0.08, 0.21, 300, "trunk"),
)
SPEED = 6.0  # rad/s, approximate
ROTOR = 0.2  # kg m^2, approximate

ANKLE_HEIGHT = 0.083
TOE, HEEL = 0.170, -0.120  # of the sole from the ankle
TOE_HALF, HEEL_HALF = 0.090, 0.060
ANKLE = np.array([0.0, 0.0, -0.410])  # in the shank's frame
STANDING = {"hip_pitch": -0.25, "knee": 0.5, "ankle_pitch": -0.25}
STANDING_DRIVE = bip_ankle.Drive(4e7, 1.6e6)  # what the plain model's gains about the ankle's pitch come to at the nuts
HIP_HEIGHT = 0.410 + 0.410 + ANKLE_HEIGHT
TRUNK_HEIGHT = 0.660

MIDDLE_SHAPES: dict[str, tuple[Shape, ...]] = {
    "pelvis": (
        box(0.12, 0.26, 0.08, (-0.06, 0.0, 0.04), "aluminium"),
        cylinder(0.05, 0.09, (0.0, 0.0, 0.09), "black"),
    ),
    "lumbar_lever": (cylinder(0.035, 0.06, (0.0, 0.0, -0.01), "aluminium"),),
    "trunk_cross": (cylinder(0.025, 0.10, (0.0, 0.0, 0.0), "black", "x"),),
    "trunk": (
        box(0.26, 0.22, 0.60, (-0.01, 0.0, 0.36), "aluminium"),
        box(0.30, 0.22, 0.04, (0.0, 0.0, 0.64), "black"),
        box(0.09, 0.12, 0.10, (0.0, 0.0, 0.04), "black"),
        box(0.01, 0.18, 0.20, (0.125, 0.0, 0.45), "orange"),
    ),
}
LEG_SHAPES: dict[str, tuple[Shape, ...]] = {
    "hip_bracket": (box(0.13, 0.05, 0.06, (-0.09, 0.0, 0.03), "black"),),
    "hip_lever": (cylinder(0.035, 0.07, (0.0, 0.0, 0.02), "aluminium"),),
    "thigh": (
        capsule(0.055, 0.28, (-0.005, 0.0, -0.205), "aluminium"),
        box(0.05, 0.06, 0.24, (-0.06, 0.0, -0.19), "black"),
    ),
    "shank": (
        capsule(0.045, 0.28, (-0.005, 0.0, -0.20), "aluminium"),
        cylinder(0.045, 0.12, (0.0, 0.0, 0.0), "orange", "y"),
        box(0.05, 0.05, 0.22, (-0.055, 0.0, -0.20), "black"),
    ),
    "ankle_cross": (cylinder(0.02, 0.10, (0.0, 0.0, 0.0), "black", "y"),),
    "foot": (
        box(TOE - HEEL, 2 * HEEL_HALF, 0.02, ((TOE + HEEL) / 2, 0.0, 0.01 - ANKLE_HEIGHT), "black"),
        box(0.09, 2 * TOE_HALF, 0.02, (TOE - 0.045, 0.0, 0.01 - ANKLE_HEIGHT), "black"),
        box(0.07, 0.08, 0.06, (0.0, 0.0, 0.05 - ANKLE_HEIGHT), "aluminium"),
    ),
}


def frames() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Axes (3, 3) and origin (3,) of each solid's published frame in the pelvis at position zero."""
    found = {"pelvis": (PELVIS_AXES, np.zeros(3))}
    for name, (parent, alpha, d, theta, r) in DH.items():
        axes, origin = found[parent]
        ca, sa, ct, st = math.cos(alpha), math.sin(alpha), math.cos(theta), math.sin(theta)
        turn = np.array([[ct, -st, 0.0], [ca * st, ca * ct, -sa], [sa * st, sa * ct, ca]])
        step = np.array([d, -sa * r, ca * r])
        found[name] = ((axes @ turn).round(12), origin + axes @ step)
    return found


def mass_properties(name: str, axes: np.ndarray) -> Mass:
    """Mass properties of a solid in the stack's axes, the inertia made possible where rounding left none."""
    mass, com, (xx, yy, zz, xy, xz, yz) = BODIES[name]
    centre = np.array(com) * 1e-3
    origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) * 1e-2
    shift = mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    return Mass(mass, axes @ centre, axes @ possible(origin - shift, mass) @ axes.T)


def possible(inertia: np.ndarray, mass: float) -> np.ndarray:
    """Return the inertia with its principal moments raised, as little as needed, to those of a solid body.

    Each moment is at least mass x (3 cm)^2, and the largest at most 98 % of the sum of the others.
    """
    moments, axes = np.linalg.eigh(inertia)
    moments = np.maximum(moments, mass * SMALLEST_GYRATION**2)
    moments[0] = max(moments[0], moments[2] / 0.98 - moments[1])
    return np.asarray(axes @ np.diag(moments) @ axes.T)


def bip_urdf() -> str:
    """Return the spatial model with an actuator in each joint."""
    return spatial_urdf("bip", APPROXIMATE, {}) + "</robot>\n"


def bip_screws_urdf() -> str:
    """Return the spatial model with the ankles' screws."""
    place = frames()
    shanks = {
        f"{side}_shank": bip_ankle.shank_without(mass_properties(f"{side}_shank", place[f"{side}_shank"][0]), ANKLE)
        for side in "rl"
    }
    text = spatial_urdf("bip_screws", f"{APPROXIMATE}; {APPROXIMATE_ANKLE}", shanks)
    for side in "rl":
        text += bip_ankle.urdf_text(f"{side}_ankle_", f"{side}_shank", ANKLE)
    return text + "</robot>\n"


def ankle_urdf() -> str:
    """One ankle on a shank that is held, with its foot in the air."""
    text = header("bip_ankle", APPROXIMATE_ANKLE)
    shank = mass_properties("l_shank", frames()["l_shank"][0])
    text += link_text("l_shank", bip_ankle.shank_without(shank, ANKLE), LEG_SHAPES["shank"])
    parent, offset = "l_shank", ANKLE
    for hinge in LEG[-2:]:
        child = f"l_{hinge.child}"
        limits = (hinge.lower, hinge.upper, hinge.effort, SPEED)
        text += joint_text(f"l_{hinge.name}", "revolute", parent, child, offset, hinge.axis, limits)
        text += link_text(child, mass_properties(child, frames()[child][0]), LEG_SHAPES[hinge.child])
        parent, offset = child, np.zeros(3)
    return text + bip_ankle.urdf_text("l_ankle_", "l_shank", ANKLE) + "</robot>\n"


def spatial_urdf(name: str, approximate: str, masses: dict[str, Mass]) -> str:
    """Return spatial model up to its closing tag, some solids with other mass properties than the published ones."""
    text = header(name, approximate)
    place = frames()
    shapes = dict(MIDDLE_SHAPES)
    for side, sign in (("r", -1), ("l", 1)):
        for part, drawn in LEG_SHAPES.items():
            shapes[f"{side}_{part}"] = tuple(s.mirrored() if sign < 0 else s for s in drawn)
    text += link_text("pelvis", mass_properties("pelvis", PELVIS_AXES), shapes["pelvis"], shapes["pelvis"][:1])
    for prefix, chain in (("r_", LEG), ("l_", LEG), ("", TRUNK)):
        for hinge in chain:
            child = prefix + hinge.child
            parent = DH[child][0]
            offset = place[child][1] - place[parent][1]
            limits = (hinge.lower, hinge.upper, hinge.effort, SPEED)
            text += joint_text(prefix + hinge.name, "revolute", parent, child, offset, hinge.axis, limits)
            solid = shapes[child][:2] if hinge.child == "foot" else shapes[child][:1]
            mass = masses.get(child) or mass_properties(child, place[child][0])
            text += link_text(child, mass, shapes[child], solid)
        if prefix:
            sole = f"{prefix}sole"
            text += link_text(sole)
            text += joint_text(f"{sole}_joint", "fixed", f"{prefix}foot", sole, (0.0, 0.0, -ANKLE_HEIGHT))
    return text


def header(name: str, approximate: str) -> str:
    """Return the opening of a file."""
    text = (
        '<?xml version="1.0"?>\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n'
        "<!-- Written by bip_generate.py: change the numbers there.\n"
        f"     Approximate: {approximate}. -->\n"
        f'<robot name="{name}">\n'
    )
    return text + "".join(material_text(colour, rgb) for colour, rgb in COLOURS.items())


def bip_yaml() -> str:
    """Return what the URDF of the spatial model can't say."""
    return spatial_yaml(
        APPROXIMATE,
        {side: [f"{side}_{hinge.name}" for hinge in LEG] for side in "rl"},
        [],
        ["actuators:  # gains by the default rule (docs/robots.md); kg m^2", f'  "*": {{armature: {ROTOR}}}'],
    )


def bip_screws_yaml() -> str:
    """Return what the URDF of the spatial model with screws can't say."""
    limbs = {
        side: [
            *(f"{side}_{hinge.name}" for hinge in LEG[:-2]),
            *(f"{side}_ankle_{word}_screw" for word in bip_ankle.SIDES),
        ]
        for side in "rl"
    }
    pitch = STANDING["ankle_pitch"]
    standing = [line for side in "rl" for line in bip_ankle.posture_lines(f"{side}_ankle_", pitch, 0.0)]
    driven = ["[rl]_hip_*", "[rl]_knee", "trunk_*"]
    return spatial_yaml(
        f"{APPROXIMATE}; {APPROXIMATE_ANKLE}",
        limbs,
        standing,
        [
            "loops:  # ball joints between rods and feet",
            *(line for side in "rl" for line in bip_ankle.loop_lines(f"{side}_ankle_", f"{side}_foot")),
            "actuators:  # ankle joints and rods are passive; gains of the screws N/m, N s/m; kg m^2",
            *(f'  "{pattern}": {{armature: {ROTOR}}}' for pattern in driven),
            bip_ankle.actuator_line("*_screw", STANDING_DRIVE),
        ],
    )


def ankle_yaml() -> str:
    """Return what the URDF of the ankle alone can't say."""
    prefix = "l_ankle_"
    lines = [
        *yaml_header(APPROXIMATE_ANKLE, floating=False),
        f"  ankle: [{', '.join(f'{prefix}{word}_screw' for word in bip_ankle.SIDES)}]",
        "postures:  # rad, m; joints left out are at 0",
    ]
    for name, pitch, roll in (("toes_down", 0.4, 0.0), ("outer_edge_up", 0.0, 0.15), ("both", -0.3, -0.1)):
        lines += [f"  {name}:", f"    l_ankle_pitch: {pitch}", f"    l_ankle_roll: {roll}"]
        lines += bip_ankle.posture_lines(prefix, pitch, roll)
    lines += ["loops:  # ball joints between rods and foot", *bip_ankle.loop_lines(prefix, "l_foot")]
    lines += ["actuators:", bip_ankle.actuator_line("*_screw", bip_ankle.Drive(1e6, 1.5e4))]
    return "\n".join(lines) + "\n"


def spatial_yaml(approximate: str, legs: dict[str, list[str]], standing: list[str], ending: list[str]) -> str:
    """Return the YAML of a spatial model: its own limbs, further joints in its standing posture, its last sections."""
    lines = [
        *yaml_header(approximate, floating=True),
        f"  right_leg: [{', '.join(legs['r'])}]",
        f"  left_leg: [{', '.join(legs['l'])}]",
        f"  trunk: [{', '.join(hinge.name for hinge in TRUNK)}]",
        "postures:  # rad; joints left out are at 0; 'zero' is always there",
        "  standing:",
        *(f"    {side}_{name}: {value}" for side in "rl" for name, value in STANDING.items()),
        *standing,
        "contacts:  # frames: z is the inward normal; patches counter-clockwise, metres",
    ]
    corners = ((HEEL, -HEEL_HALF), (TOE, -TOE_HALF), (TOE, TOE_HALF), (HEEL, HEEL_HALF))
    for word, side in (("right", "r"), ("left", "l")):
        link, height = f"{side}_foot", number(-ANKLE_HEIGHT)
        patch = ", ".join(f"[{number(x)}, {number(y)}]" for x, y in corners)
        lines += [
            f"  {word}_sole:\n    {{link: {link}, xyz: [0, 0, {height}], support: true,\n     patch: [{patch}]}}",
            f"  {word}_toe: {{link: {link}, xyz: [{TOE}, 0, {height}], "
            f"patch: [[0, -{TOE_HALF}], [0, {TOE_HALF}]]}}",
            f"  {word}_heel: {{link: {link}, xyz: [{HEEL}, 0, {height}], "
            f"patch: [[0, -{HEEL_HALF}], [0, {HEEL_HALF}]]}}",
        ]
    lines += [
        "sensors:",
        "  imu: {type: imu, link: trunk, xyz: [0, 0, 0.1]}",
        "  right_ankle: {type: force_torque, link: r_foot}",
        "  left_ankle: {type: force_torque, link: l_foot}",
        *ending,
    ]
    return "\n".join(lines) + "\n"


def yaml_header(approximate: str, *, floating: bool) -> list[str]:
    """Return the opening of a YAML file, up to its limbs."""
    return [
        "# SPDX-License-Identifier: Apache-2.0",
        "# Written by bip_generate.py: change the numbers there.",
        f"floating_base: {str(floating).lower()}",
        f"approximate: >-\n  {approximate}",
        "limbs:",
    ]


# Sagittal model ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Segment:
    """A row of table III-3: the centre of mass is at a + i b on the segment's axis, the inertia about its origin."""

    mass: float
    a: float
    b: float
    inertia: float


# The rear leg's segments point upwards (toe to ankle, ankle to knee, knee to hip), the front leg's downwards.
REAR_FOOT = Segment(2.34, 0.143, 0.042, 0.1)
REAR_SHANK = Segment(6.11, 0.258, 0.028, 0.69)
REAR_THIGH = Segment(10.9, 0.250, 0.005, 1.31)
FRONT_THIGH = Segment(10.9, 0.160, -0.005, 1.02)
FRONT_SHANK = Segment(6.11, 0.152, -0.028, 0.72)
FRONT_FOOT = Segment(2.34, 0.045, -0.042, 0.07)
PLANAR_TRUNK = Segment(66.11, 0.391, 0.029, 18.99)
SEGMENT_LENGTH = 0.410
ANKLE_TO_TOE = 0.188
FOOT_LENGTH, PLANAR_ANKLE_HEIGHT = 0.29, 0.10  # specification 003 section 3.4.1
TOE_AHEAD = math.sqrt(ANKLE_TO_TOE**2 - PLANAR_ANKLE_HEIGHT**2)


def segment_mass(segment: Segment, start: tuple[float, float], angle: float) -> Mass:
    """Mass properties in link axes.

    Args:
        segment: row of the table.
        start: (x, z) of the segment's origin in the link frame.
        angle: of the segment's axis from x towards z, rad, at position zero.
    """
    ahead = complex(segment.a, segment.b) * complex(math.cos(angle), math.sin(angle))
    about_com = segment.inertia - segment.mass * (segment.a**2 + segment.b**2)
    return Mass(segment.mass, (start[0] + ahead.real, 0.0, start[1] + ahead.imag), about_com * np.eye(3))


def planar_urdf() -> str:
    """Return the seven links of the sagittal model on a base that slides along x and z and turns about y."""
    gamma = math.atan2(PLANAR_ANKLE_HEIGHT, TOE_AHEAD)
    toe = (TOE_AHEAD, -PLANAR_ANKLE_HEIGHT)
    down = -SEGMENT_LENGTH
    up, under = math.pi / 2, -math.pi / 2
    masses = {
        "trunk": segment_mass(PLANAR_TRUNK, (0.0, 0.0), up),
        "rear_thigh": segment_mass(REAR_THIGH, (0.0, down), up),
        "rear_shank": segment_mass(REAR_SHANK, (0.0, down), up),
        "rear_foot": segment_mass(REAR_FOOT, toe, math.pi - gamma),
        "front_thigh": segment_mass(FRONT_THIGH, (0.0, 0.0), under),
        "front_shank": segment_mass(FRONT_SHANK, (0.0, 0.0), under),
        "front_foot": segment_mass(FRONT_FOOT, (0.0, 0.0), -gamma),
    }
    text = header("bip_planar", APPROXIMATE_PLANAR) + link_text("world")
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
    text += link_text("trunk", masses["trunk"], (MIDDLE_SHAPES["trunk"]), MIDDLE_SHAPES["trunk"][:1])
    for side, y in (("rear", -0.1), ("front", 0.1)):
        parent, offset = "trunk", (0.0, 0.0, 0.0)
        for joint, part, lower, upper, effort in (
            ("hip", "thigh", -2.0, 1.0, 300.0),
            ("knee", "shank", 0.0, 2.2, 400.0),
            ("ankle", "foot", -1.2, 1.2, 250.0),
        ):
            child = f"{side}_{part}"
            limits = (lower, upper, effort, SPEED)
            text += joint_text(f"{side}_{joint}", "revolute", parent, child, offset, "y", limits)
            drawn = tuple(shape.moved(y=y) for shape in planar_shapes()[part])
            text += link_text(child, masses[child], drawn, drawn[:1])
            parent, offset = child, (0.0, 0.0, down)
    return text + "</robot>\n"


def planar_shapes() -> dict[str, tuple[Shape, ...]]:
    """Return shapes of the sagittal model's legs."""
    middle = TOE_AHEAD - FOOT_LENGTH / 2
    sole = box(FOOT_LENGTH, 0.12, 0.02, (middle, 0.0, 0.01 - PLANAR_ANKLE_HEIGHT), "black")
    ankle = box(0.07, 0.08, 0.08, (0.0, 0.0, 0.06 - PLANAR_ANKLE_HEIGHT), "aluminium")
    return {"thigh": LEG_SHAPES["thigh"], "shank": LEG_SHAPES["shank"], "foot": (sole, ankle)}


def planar_yaml() -> str:
    """Return what the URDF of the sagittal model can't say."""
    height = 2 * SEGMENT_LENGTH * math.cos(0.25) + PLANAR_ANKLE_HEIGHT
    lines = yaml_header(APPROXIMATE_PLANAR, floating=False)
    lines += [f"  {side}_leg: [{side}_hip, {side}_knee, {side}_ankle]" for side in ("rear", "front")]
    lines += ["postures:  # rad, m; joints left out are at 0", "  standing:", f"    base_z: {number(height)}"]
    for side in ("rear", "front"):
        lines += [f"    {side}_hip: -0.25", f"    {side}_knee: 0.5", f"    {side}_ankle: -0.25"]
    lines.append("contacts:")
    for side in ("rear", "front"):
        lines.append(
            f"  {side}_sole: {{link: {side}_foot, xyz: [0, 0, -{PLANAR_ANKLE_HEIGHT}], support: true, "
            f"patch: [[{number(TOE_AHEAD - FOOT_LENGTH)}, 0], [{number(TOE_AHEAD)}, 0]]}}"
        )
    lines += ["actuators:  # gains by the default rule", '  "rear_*": {}', '  "front_*": {}']
    return "\n".join(lines) + "\n"


def generate() -> dict[str, str]:
    """Return the files' texts by file name."""
    return {
        "bip.urdf": bip_urdf(),
        "bip.yaml": bip_yaml(),
        "bip_screws.urdf": bip_screws_urdf(),
        "bip_screws.yaml": bip_screws_yaml(),
        "bip_ankle.urdf": ankle_urdf(),
        "bip_ankle.yaml": ankle_yaml(),
        "bip_planar.urdf": planar_urdf(),
        "bip_planar.yaml": planar_yaml(),
    }


def main() -> None:
    """Write the files beside this script."""
    for name, text in generate().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"wrote {name}")


if __name__ == "__main__":
    main()
