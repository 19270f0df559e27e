# SPDX-License-Identifier: Apache-2.0
"""Writes hrp2.urdf, hrp2.yaml and their variants with ankle bushings and soft soles from one table of numbers.

``python urdf/hrp2_generate.py`` rewrites the four files; a test holds them equal to this script's output.

What is known and what is not. Thigh, shank, ankle height and the half-sitting posture of HRP-2 are public
and reproduce its published waist height of 0.648702 m. The other offsets and the joint ranges are from the
literature as remembered. Link masses, inertias, torque limits, gains and rotor inertias of HRP-2 are not
public: they follow the rules stated here.
"""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
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

from humanoid_model.robot import Robot, load_robot

FOLDER = Path(__file__).resolve().parent

APPROXIMATE = (
    "HRP-2-like: joint offsets beyond the legs, joint ranges, masses, inertias, torque and velocity limits, gains, "
    "rotor inertias, shapes and sensor places are approximate, by the rules of docs/robots.md"
)

COLOURS = {
    "white": (0.92, 0.92, 0.94),
    "grey": (0.50, 0.51, 0.54),
    "blue": (0.11, 0.17, 0.38),
    "black": (0.06, 0.06, 0.08),
}

# Sole of specification 000 section 17, and where it is below the ankle.
SOLE_LENGTH, SOLE_WIDTH, SOLE_AHEAD = 0.22, 0.13, 0.03
# Soft soles (specification 000 section 19): as large as the feet, 2 cm of rubber.
SOFT_SOLE = (SOLE_LENGTH, SOLE_WIDTH, 0.02)
SOFT_SOLE_CELLS = (8, 5, 2)
ANKLE_HEIGHT = 0.105
FOOT_THICKNESS = 0.035

# Ankle bushing (specification 000 section 16): orders of magnitude of public models of similar robots.
BUSHING_TRANSLATION = (1.0e6, 1.0e3)  # N/m, N s/m
BUSHING_ROTATION = (2.5e3, 2.5)  # N m/rad, N m s/rad
BUSHING_HEIGHT = -0.055  # of the bushing in the ankle frame, m

# Rule of the torque limits.
TORQUE_MARGIN, CARRIED, TORQUE_STEP = 1.3, 5.0, 5.0


@dataclass(frozen=True)
class Body:
    """A link: its mass, the shapes drawn, of which the first also carries the mass, and those that collide.

    Where ``touching`` is empty the first shape drawn collides.
    """

    mass: float
    shapes: tuple[Shape, ...]
    touching: tuple[Shape, ...] = ()


@dataclass(frozen=True)
class Hinge:
    """A joint of the right side or of the middle; ``lower`` and ``upper`` in degrees, ``speed`` in degrees/s."""

    axis: str
    offset: tuple[float, float, float]
    lower: float
    upper: float
    speed: float
    armature: float


ORIGIN = (0.0, 0.0, 0.0)

WAIST = Body(
    12.0,
    (
        box(0.20, 0.25, 0.16, (-0.01, 0.0, 0.115), "white"),
        box(0.09, 0.22, 0.124, (-0.085, 0.0, 0.0), "grey"),
        box(0.13, 0.17, 0.11, (0.02, 0.0, 0.25), "grey"),
        box(0.02, 0.16, 0.09, (0.095, 0.0, 0.125), "blue"),
    ),
    # Cut out where thighs go: forward up to their limit of 125 degrees, and back to 23 degrees beside the seat.
    touching=(
        box(0.20, 0.25, 0.05, (-0.01, 0.0, 0.17), "white"),
        box(0.10, 0.25, 0.11, (-0.06, 0.0, 0.09), "white"),
        box(0.04, 0.22, 0.124, (-0.11, 0.0, 0.0), "grey"),  # what it sits on
    ),
)

# Right leg, from the waist outwards (the left one mirrors y).
LEG: tuple[tuple[Hinge, Body], ...] = (
    (
        Hinge("z", (0.0, -0.060, 0.0), -45, 30, 220, 0.2),
        Body(1.0, (cylinder(0.045, 0.08, (0.0, 0.0, 0.0), "grey"),)),
    ),
    (
        Hinge("x", ORIGIN, -35, 20, 220, 0.3),
        Body(1.3, (cylinder(0.042, 0.11, ORIGIN, "grey", "x"),)),
    ),
    (
        Hinge("y", ORIGIN, -125, 42, 300, 0.3),
        Body(
            2.9,
            (
                capsule(0.062, 0.16, (0.0, -0.035, -0.15), "white"),
                cylinder(0.055, 0.10, (0.0, -0.02, 0.0), "grey", "y"),
                box(0.02, 0.07, 0.16, (0.056, -0.035, -0.15), "blue"),
            ),
        ),
    ),
    (
        Hinge("y", (0.0, -0.035, -0.300), 0, 150, 350, 0.3),
        Body(
            2.1,
            (
                capsule(0.052, 0.16, (0.0, 0.0, -0.15), "white"),
                cylinder(0.055, 0.11, ORIGIN, "grey", "y"),
                box(0.025, 0.075, 0.10, (0.0475, 0.0, -0.02), "blue"),
            ),
        ),
    ),
    (
        Hinge("y", (0.0, 0.0, -0.300), -75, 42, 300, 0.3),
        Body(0.3, (cylinder(0.032, 0.09, ORIGIN, "grey", "y"),)),
    ),
    (Hinge("x", ORIGIN, -20, 35, 220, 0.2), Body(1.3, ())),
)

ANKLE_BLOCK = box(0.08, 0.07, 0.07, (0.0, 0.0, -0.035), "grey")
FOOT_BLOCK = box(
    SOLE_LENGTH,
    SOLE_WIDTH,
    FOOT_THICKNESS,
    (SOLE_AHEAD, 0.0, FOOT_THICKNESS / 2 - ANKLE_HEIGHT),
    "white",
)
TOE_CAP = box(0.06, 0.11, 0.02, (0.105, 0.0, FOOT_THICKNESS + 0.01 - ANKLE_HEIGHT), "blue")
ANKLE_MASS = 0.3  # of the foot's 1.3 kg, what is above the bushing in the bushing variant

CHEST: tuple[tuple[Hinge, Body], ...] = (
    (
        Hinge("z", (0.032, 0.0, 0.3507), -45, 45, 200, 0.3),
        Body(1.4, (cylinder(0.06, 0.08, ORIGIN, "grey"),)),
    ),
    (
        Hinge("y", ORIGIN, -5, 60, 200, 0.3),
        Body(
            16.0,
            (
                box(0.22, 0.34, 0.26, (-0.01, 0.0, 0.13), "white"),
                box(0.13, 0.28, 0.30, (-0.185, 0.0, 0.12), "blue"),  # backpack
                box(0.02, 0.22, 0.12, (0.105, 0.0, 0.17), "blue"),
                cylinder(0.055, 0.10, (0.008, -0.195, 0.181), "grey", "y"),
                cylinder(0.055, 0.10, (0.008, 0.195, 0.181), "grey", "y"),
                cylinder(0.04, 0.05, (-0.007, 0.0, 0.275), "grey"),
            ),
        ),
    ),
)

HEAD: tuple[tuple[Hinge, Body], ...] = (
    (
        Hinge("z", (-0.007, 0.0, 0.2973), -45, 45, 300, 0.05),
        Body(0.4, (cylinder(0.035, 0.06, ORIGIN, "grey"),)),
    ),
    (
        Hinge("y", ORIGIN, -30, 45, 300, 0.05),
        Body(
            1.2,
            (
                box(0.16, 0.15, 0.16, (0.01, 0.0, 0.11), "white"),
                box(0.03, 0.13, 0.06, (0.09, 0.0, 0.12), "black"),  # visor
                cylinder(0.035, 0.17, (0.0, 0.0, 0.11), "blue", "y"),
            ),
        ),
    ),
)

# Right arm, from the trunk outwards.
ARM: tuple[tuple[Hinge, Body], ...] = (
    (
        Hinge("y", (0.008, -0.250, 0.181), -180, 60, 250, 0.1),
        Body(0.5, (cylinder(0.05, 0.08, ORIGIN, "white", "y"),)),
    ),
    (
        Hinge("x", ORIGIN, -95, 10, 250, 0.1),
        Body(0.5, (cylinder(0.045, 0.09, ORIGIN, "grey", "x"),)),
    ),
    (
        Hinge("z", ORIGIN, -92, 92, 250, 0.1),
        Body(
            1.2,
            (
                capsule(0.045, 0.13, (0.0, 0.0, -0.14), "white"),
                box(0.02, 0.05, 0.10, (0.04, 0.0, -0.14), "blue"),
            ),
        ),
    ),
    (
        Hinge("y", (0.0, 0.0, -0.250), -135, 2, 300, 0.1),
        Body(
            0.9,
            (
                capsule(0.040, 0.13, (0.0, 0.0, -0.12), "white"),
                cylinder(0.042, 0.09, ORIGIN, "grey", "y"),
            ),
        ),
    ),
    (
        Hinge("z", (0.0, 0.0, -0.250), -92, 92, 350, 0.05),
        Body(0.6, (cylinder(0.034, 0.06, (0.0, 0.0, -0.01), "grey"),)),
    ),
    (
        Hinge("y", ORIGIN, -92, 92, 350, 0.05),
        Body(0.5, (box(0.05, 0.07, 0.09, (0.005, 0.0, -0.055), "white"),)),
    ),
    (
        Hinge("y", (0.0, 0.0, -0.09), -16, 60, 200, 0.03),
        Body(0.4, (box(0.06, 0.06, 0.07, (-0.005, 0.0, -0.04), "grey"),)),
    ),
)

DEGREE = math.pi / 180
# Published (robots.md): legs and arms of the half-sitting posture; the hand in rad.
HALF_SITTING = {
    "LEG_JOINT2": -26 * DEGREE, "LEG_JOINT3": 50 * DEGREE, "LEG_JOINT4": -24 * DEGREE,
    "ARM_JOINT0": 15 * DEGREE, "ARM_JOINT1": -10 * DEGREE, "ARM_JOINT3": -30 * DEGREE, "ARM_JOINT6": 0.1,
}
POSTURES = {
    "half_sitting": HALF_SITTING,
    "squat": {
        "LEG_JOINT2": -52 * DEGREE, "LEG_JOINT3": 95 * DEGREE, "LEG_JOINT4": -43 * DEGREE,
        "ARM_JOINT0": -10 * DEGREE, "ARM_JOINT1": -10 * DEGREE, "ARM_JOINT3": -40 * DEGREE, "ARM_JOINT6": 0.1,
    },
    "sitting": {
        "LEG_JOINT2": -90 * DEGREE, "LEG_JOINT3": 90 * DEGREE,
        "ARM_JOINT0": 15 * DEGREE, "ARM_JOINT1": -10 * DEGREE, "ARM_JOINT3": -90 * DEGREE, "ARM_JOINT6": 0.1,
    },
    "arms_forward": {
        "LEG_JOINT2": -26 * DEGREE, "LEG_JOINT3": 50 * DEGREE, "LEG_JOINT4": -24 * DEGREE,
        "ARM_JOINT0": -80 * DEGREE, "ARM_JOINT1": -5 * DEGREE, "ARM_JOINT3": -10 * DEGREE, "ARM_JOINT6": 0.1,
    },
}

# Contact locations of a side: name, link, origin, rotation (rpy), size of the patch along x and y.
# The patch's z axis is the inward normal: +z under a sole, +x behind a thigh, -x in front of a knee.
SIDE_CONTACTS = (
    ("sole", "LEG_LINK5", (SOLE_AHEAD, 0.0, -ANKLE_HEIGHT), 0.0, (SOLE_LENGTH, SOLE_WIDTH)),
    ("toe", "LEG_LINK5", (SOLE_AHEAD + SOLE_LENGTH / 2, 0.0, -ANKLE_HEIGHT), 0.0, (0.0, SOLE_WIDTH)),
    ("heel", "LEG_LINK5", (SOLE_AHEAD - SOLE_LENGTH / 2, 0.0, -ANKLE_HEIGHT), 0.0, (0.0, SOLE_WIDTH)),
    ("ball", "LEG_LINK5", (0.085, 0.0, -ANKLE_HEIGHT), 0.0, (0.05, 0.11)),  # of the foot: on rungs
    ("knee", "LEG_LINK3", (0.060, 0.0, -0.02), -QUARTER, (0.08, 0.07)),
    ("thigh_back", "LEG_LINK2", (-0.062, -0.035, -0.15), QUARTER, (0.16, 0.06)),
    ("hand_fingers", "ARM_LINK6", (-0.035, 0.0, -0.04), QUARTER, (0.05, 0.05)),
    ("hand_back", "ARM_LINK5", (0.030, 0.0, -0.055), -QUARTER, (0.05, 0.05)),
    ("forearm", "ARM_LINK3", (-0.040, 0.0, -0.12), QUARTER, (0.15, 0.05)),
)
MIDDLE_CONTACTS = (
    ("seat", "WAIST", (-0.11, 0.0, -0.062), 0.0, (0.04, 0.20)),
    ("chest_front", "CHEST_LINK1", (0.115, 0.0, 0.17), -QUARTER, (0.12, 0.22)),
)


# Numbers -> URDF --------------------------------------------------------------------------------------


def hinge_text(
    name: str, parent: str, child: str, hinge: Hinge, side: int, effort: float
) -> str:
    """Return a joint of the right (-1) or left (1) side or of the middle (0)."""
    x, y, z = hinge.offset
    lower, upper = hinge.lower * DEGREE, hinge.upper * DEGREE
    if side > 0:
        y = -y
        if hinge.axis != "y":  # mirrored: yaw and roll ranges change sign
            lower, upper = -upper, -lower
    limits = (lower, upper, effort, hinge.speed * DEGREE)
    return joint_text(name, "revolute", parent, child, (x, y, z), hinge.axis, limits)


def body_text(name: str, mass: float, shapes: tuple[Shape, ...], touching: tuple[Shape, ...] = ()) -> str:
    """Return a link whose first shape carries the mass, and collides where no others do."""
    return link_text(name, uniform(mass, shapes[0]), shapes, touching or shapes[:1])


def foot_text(letter: str, mass: float, bushing: bool) -> str:
    """Return the last link of a leg, and below it the sole frame, behind the bushing if there is one."""
    name = f"{letter}LEG_LINK5"
    sole = f"{letter.lower()}_sole"
    if not bushing:
        return (
            body_text(name, mass, (FOOT_BLOCK, TOE_CAP, ANKLE_BLOCK))
            + link_text(sole)
            + joint_text(f"{sole}_joint", "fixed", name, sole, (0.0, 0.0, -ANKLE_HEIGHT))
        )
    text = body_text(name, ANKLE_MASS, (ANKLE_BLOCK,))
    parent, offset = name, (0.0, 0.0, BUSHING_HEIGHT)
    for step, (axis, kind, reach) in enumerate(
        (("z", "prismatic", 0.01), ("x", "revolute", 0.2), ("y", "revolute", 0.2))
    ):
        child = f"{letter}LEG_FOOT" if step == 2 else f"{letter}LEG_BUSHING_LINK{step}"
        joint = f"{letter}LEG_BUSHING_{axis.upper()}"
        text += joint_text(joint, kind, parent, child, offset, axis, (-reach, reach, 1e5, 10.0))
        if step < 2:
            text += link_text(child)
        else:
            shapes = tuple(shape.moved(z=-BUSHING_HEIGHT) for shape in (FOOT_BLOCK, TOE_CAP))
            text += body_text(child, mass - ANKLE_MASS, shapes)
        parent, offset = child, ORIGIN
    below = (0.0, 0.0, -ANKLE_HEIGHT - BUSHING_HEIGHT)
    return text + link_text(sole) + joint_text(f"{sole}_joint", "fixed", parent, sole, below)


def urdf_text(efforts: dict[str, float], bushing: bool, name: str = "hrp2") -> str:
    """Return the URDF, with a torque limit for each joint (named without its side)."""
    text = (
        '<?xml version="1.0"?>\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n'
        "<!-- Written by hrp2_generate.py: change the numbers there.\n"
        f"     {APPROXIMATE}. -->\n"
        f'<robot name="{name}">\n'
    )
    for colour, rgb in COLOURS.items():
        text += material_text(colour, rgb)
    text += body_text("WAIST", WAIST.mass, WAIST.shapes, WAIST.touching)
    for prefix, parent, chain, side in (
        ("RLEG", "WAIST", LEG, -1),
        ("LLEG", "WAIST", LEG, 1),
        ("CHEST", "WAIST", CHEST, 0),
        ("HEAD", "CHEST_LINK1", HEAD, 0),
        ("RARM", "CHEST_LINK1", ARM, -1),
        ("LARM", "CHEST_LINK1", ARM, 1),
    ):
        for index, (hinge, body) in enumerate(chain):
            joint, link = f"{prefix}_JOINT{index}", f"{prefix}_LINK{index}"
            text += hinge_text(joint, parent, link, hinge, side, efforts[sideless(joint)])
            if prefix.endswith("LEG") and index == 5:
                text += foot_text(prefix[0], body.mass, bushing)
            else:
                shapes = tuple(s.mirrored() if side > 0 else s for s in body.shapes)
                text += body_text(link, body.mass, shapes)
            parent = link
    return text + "</robot>\n"


# Rules -> limits and gains ----------------------------------------------------------------------------


def joint_keys() -> list[str]:
    """Joint names without side, for example ``LEG_JOINT3``."""
    chains = (("LEG", LEG), ("CHEST", CHEST), ("HEAD", HEAD), ("ARM", ARM))
    return [f"{prefix}_JOINT{index}" for prefix, chain in chains for index in range(len(chain))]


def sideless(name: str) -> str:
    """Return a joint's name without its side: ``RLEG_JOINT3`` and ``LLEG_JOINT3`` are ``LEG_JOINT3``."""
    return name[1:] if name[1:4] in ("LEG", "ARM") else name


def loaded(text: str, yaml: str = "") -> Robot:
    """Return the robot of a URDF text and its YAML."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hrp2.urdf"
        path.write_text(text, encoding="utf-8")
        if yaml:
            path.with_suffix(".yaml").write_text(yaml, encoding="utf-8")
        return load_robot(path, floating_base=True)


def squat_torques(robot: Robot) -> dict[str, float]:
    """Largest torque of each joint (named without side) over a quasi-static squat on the right leg.

    The squat goes from a bent knee of 30 degrees to the deepest that the joint ranges allow, with the trunk
    upright or leaning forward by up to 45 degrees, the free leg hanging or stretched forward, and the arms,
    5 kg in each hand, hanging, held forward or held sideways. In each posture the ankle's pitch and the
    leg's sideways tilt bring the centre of mass above the middle of the sole, which bears the whole weight, or above
    the middle of one of its edges, as far as a foot can go before it tips.
    """
    model = robot.model.copy()
    for hand in ("RARM_LINK6", "LARM_LINK6"):
        link = robot.parts.links[hand]
        lever = link.placement_joint_link.act(np.array([0.0, 0.0, -0.04]))
        model.appendBodyToJoint(link.joint_id, pin.Inertia(CARRIED, lever, np.zeros((3, 3))), pin.SE3.Identity())
    data = model.createData()
    largest = dict.fromkeys(joint_keys(), 0.0)
    half = (SOLE_LENGTH / 2, SOLE_WIDTH / 2)
    edges = ((0, 0), (half[0], 0), (-half[0], 0), (0, half[1]), (0, -half[1]))
    targets = [np.array([SOLE_AHEAD + x, y]) for x, y in edges]
    for knee in range(30, 151, 10):
        for lean in (0, 15, 30, 45):
            for free_hip, free_knee in ((-20, 40), (-90, 0)):
                for shoulder, roll in ((0, -10), (-90, 0), (0, -90)):
                    angles: dict[str, float] = {"RARM_JOINT0": shoulder, "RARM_JOINT1": roll, "LARM_JOINT0": shoulder}
                    angles |= {"LARM_JOINT1": -roll, "LLEG_JOINT2": free_hip - lean, "LLEG_JOINT3": free_knee}
                    for target in targets:
                        q = balanced(robot, model, data, angles, float(knee), float(lean), target)
                        if q is None:
                            continue
                        for name, torque in support_torques(robot, model, data, q).items():
                            key = sideless(name)
                            largest[key] = max(largest[key], abs(torque))
    return largest


def balanced(
    robot: Robot,
    model: pin.Model,
    data: pin.Data,
    angles: dict[str, float],
    knee: float,
    lean: float,
    target: np.ndarray,
) -> np.ndarray | None:
    """Posture (nq,) on the right foot with the centre of mass above a point of the sole, None if out of range."""
    unknown = np.array([-knee / 2, 10.0])  # ankle pitch and sideways tilt of the leg, degrees

    def posture(ankle: float, tilt: float) -> np.ndarray:
        placed = {"RLEG_JOINT3": knee, "RLEG_JOINT4": ankle, "RLEG_JOINT2": -knee - ankle - lean}
        placed |= {"RLEG_JOINT5": tilt, "RLEG_JOINT1": -tilt}
        q = pin.neutral(model)
        for name, degrees in (angles | placed).items():
            q[robot.index_q(name)] = degrees * DEGREE
        # The waist leans about the y axis and carries the roll joint above the pitch joints: the foot is
        # level when the whole robot is turned so.
        pin.forwardKinematics(model, data, q)
        foot = data.oMi[robot.parts.links["RLEG_LINK5"].joint_id]
        return robot.place_base(q, foot.inverse())

    def miss(values: np.ndarray) -> np.ndarray:
        com = pin.centerOfMass(model, data, posture(*values))
        return np.asarray(com[:2]) - target

    for _ in range(30):
        error = miss(unknown)
        if np.abs(error).max() < 1e-10:
            break
        step = 1e-4
        columns = [(miss(unknown + step * row) - error) / step for row in np.eye(2)]
        unknown = unknown - np.clip(np.linalg.solve(np.array(columns).T, error), -10, 10)
    else:
        return None
    q = posture(*unknown)
    hinges = slice(7, model.nq)
    inside = (q >= robot.limits.lower - 1e-9) & (q <= robot.limits.upper + 1e-9)
    return q if inside[hinges].all() else None


def support_torques(
    robot: Robot, model: pin.Model, data: pin.Data, q: np.ndarray
) -> dict[str, float]:
    """Joint torques that hold a posture whose whole weight rests on the right foot."""
    torque = pin.computeGeneralizedGravity(model, data, q)
    foot = robot.parts.links["RLEG_LINK5"].joint_id
    jacobian = pin.computeJointJacobian(model, data, q, foot)
    # The foot's wrench that leaves nothing to the free base: J_base^T w = torque_base.
    wrench = np.linalg.solve(jacobian[:, :6].T, torque[:6])
    torque = torque - jacobian.T @ wrench
    return {name: float(torque[robot.index_v(name)]) for name in robot.joint_names}


def torque_limits(robot: Robot) -> dict[str, float]:
    """N m: 1.3 times the largest torque of the squat, rounded up to the next multiple of 5."""
    return {
        key: TORQUE_STEP * max(1, math.ceil(TORQUE_MARGIN * torque / TORQUE_STEP - 1e-9))
        for key, torque in squat_torques(robot).items()
    }


def armatures() -> dict[str, float]:
    """Rotor inertias by joint named without side."""
    chains = (("LEG", LEG), ("CHEST", CHEST), ("HEAD", HEAD), ("ARM", ARM))
    return {
        f"{prefix}_JOINT{index}": hinge.armature
        for prefix, chain in chains
        for index, (hinge, _) in enumerate(chain)
    }


def sided(key: str) -> str:
    """Return the pattern of a joint's or link's name on both sides."""
    return f"[RL]{key}" if key.startswith(("LEG", "ARM")) else key


def gains(robot: Robot) -> dict[str, tuple[float, float]]:
    """Stiffness and damping to two digits by joint named without side: the rule of actuator.default_gains."""
    found = {}
    for key in joint_keys():
        name = f"R{key}" if sided(key) != key else key
        actuator = robot.actuators[name]
        found[key] = (float(f"{actuator.stiffness:.2g}"), float(f"{actuator.damping:.2g}"))
    return found


# YAML -------------------------------------------------------------------------------------------------


def yaml_text(gain: dict[str, tuple[float, float]] | None, bushing: bool, soles: bool = False) -> str:
    """Return what the URDF can't say; without gains the default rule's count."""
    lines = [
        "# SPDX-License-Identifier: Apache-2.0",
        "# Written by hrp2_generate.py: change the numbers there.",
        "floating_base: true",
        f"approximate: >-\n  {APPROXIMATE}",
        "limbs:",
    ]
    for limb, prefix, count in (
        ("right_leg", "RLEG", 6),
        ("left_leg", "LLEG", 6),
        ("torso", "CHEST", 2),
        ("head", "HEAD", 2),
        ("right_arm", "RARM", 7),
        ("left_arm", "LARM", 7),
    ):
        names = ", ".join(f"{prefix}_JOINT{index}" for index in range(count))
        lines.append(f"  {limb}: [{names}]")
    lines.append("postures:  # rad; joints left out are at 0; 'zero' is always there")
    for posture, values in POSTURES.items():
        lines.append(f"  {posture}:")
        for letter, side in (("R", 1), ("L", -1)):
            entries = [
                f"{letter}{key}: {number(value * (side if key == 'ARM_JOINT1' else 1))}"
                for key, value in values.items()
            ]
            lines += [f"    {entry}" for entry in entries]
    lines.append("contacts:  # frames: z is the inward normal; patches counter-clockwise, metres")
    for word, letter, side in (("right", "R", 1), ("left", "L", -1)):
        for name, link, (x, y, z), pitch, size in SIDE_CONTACTS:
            place = (x, side * y, z)
            carrier = letter + link
            if bushing and link == "LEG_LINK5":
                carrier, place = f"{letter}LEG_FOOT", (x, side * y, z - BUSHING_HEIGHT)
            lines.append(contact_text(f"{word}_{name}", carrier, place, pitch, size, name == "sole"))
    for name, link, place, pitch, size in MIDDLE_CONTACTS:
        lines.append(contact_text(name, link, place, pitch, size, False))
    lines.append("sensors:")
    lines.append("  imu: {type: imu, link: CHEST_LINK1, xyz: [-0.13, 0, 0.118]}")
    for word, letter in (("right", "R"), ("left", "L")):
        lines.append(
            f"  {word}_ankle: {{type: force_torque, link: {letter}LEG_LINK5, xyz: [0, 0, -0.05]}}"
        )
    for word, letter in (("right", "R"), ("left", "L")):
        lines.append(f"  {word}_wrist: {{type: force_torque, link: {letter}ARM_LINK5}}")
    if bushing:
        lines.append("springs:  # specification 000 section 16; N/m and N s/m, N m/rad and N m s/rad")
        for letter in "RL":
            for axis in "ZXY":
                stiffness, damping = BUSHING_TRANSLATION if axis == "Z" else BUSHING_ROTATION
                lines.append(
                    f"  {letter}LEG_BUSHING_{axis}: "
                    f"{{stiffness: {number(stiffness)}, damping: {number(damping)}}}"
                )
    if soles:
        lines.append("soles:  # specification 000 section 19: rubber under each foot; m, Pa")
        x, y, z = (number(value) for value in SOFT_SOLE)
        cells = ", ".join(str(count) for count in SOFT_SOLE_CELLS)
        for word in ("right", "left"):
            lines.append(f"  {word}_sole:")
            lines.append(f"    shape: {{type: block, size: [{x}, {y}, {z}], cells: [{cells}]}}")
            lines.append("    material: {young_modulus: 3.0e+6, poisson_ratio: 0.4}")
    lines.append("actuators:  # N m/rad, N m s/rad, kg m^2")
    rotor = armatures()
    for key in joint_keys():
        entry = f"armature: {number(rotor[key])}"
        if gain is not None:
            entry = f"stiffness: {number(gain[key][0])}, damping: {number(gain[key][1])}, {entry}"
        lines.append(f'  "{sided(key)}": {{{entry}}}')
    return "\n".join(lines) + "\n"


def contact_text(
    name: str,
    link: str,
    place: tuple[float, float, float],
    pitch: float,
    size: tuple[float, float],
    support: bool,
) -> str:
    """Return a contact location; the patch is ``size`` long along x and y of its frame, which is turned about y."""
    x, y = size[0] / 2, size[1] / 2
    corners = [(-x, -y), (x, -y), (x, y), (-x, y)] if x else [(0.0, -y), (0.0, y)]
    patch = ", ".join(f"[{number(a)}, {number(b)}]" for a, b in corners)
    turn = f", rpy: [0, {number(pitch)}, 0]" if pitch else ""
    return (
        f"  {name}:\n    {{link: {link}, xyz: [{', '.join(number(c) for c in place)}]{turn}"
        f"{', support: true' if support else ''},\n     patch: [{patch}]}}"
    )


def generate() -> dict[str, str]:
    """Return the files' texts by file name."""
    draft = urdf_text(dict.fromkeys(joint_keys(), 1.0), bushing=False)
    efforts = torque_limits(loaded(draft))
    text = urdf_text(efforts, bushing=False)
    gain = gains(loaded(text, yaml_text(None, bushing=False)))
    return {
        "hrp2.urdf": text,
        "hrp2.yaml": yaml_text(gain, bushing=False),
        "hrp2_bushing.urdf": urdf_text(efforts, bushing=True, name="hrp2_bushing"),
        "hrp2_bushing.yaml": yaml_text(gain, bushing=True),
        "hrp2_soles.urdf": urdf_text(efforts, bushing=False, name="hrp2_soles"),
        "hrp2_soles.yaml": yaml_text(gain, bushing=False, soles=True),
    }


def main() -> None:
    """Write the files beside this script."""
    for name, text in generate().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"wrote {name}")


if __name__ == "__main__":
    main()
