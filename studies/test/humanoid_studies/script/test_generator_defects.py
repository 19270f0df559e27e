# SPDX-License-Identifier: Apache-2.0
"""The thesis' defects D1 to D9 put into the script, one at a time: the oracles see each (specification 004 §4.7)."""

import re

import numpy as np
import pytest

TREE = {"j0": (0.3, 0.7, 1.2), "j1": (-0.5, -1.1, 0.6), "j2": (0.15, 0.4, -0.8), "j3": (0.8, 0.9, -1.5)}
TWO = {"joint1": (0.3, 0.5, 2.0), "joint2": (-0.7, -1.2, -0.4)}


def gravity_sign(text: str) -> str:
    """D1: the base is accelerated along gravity, not against it."""
    return text.replace("base_acceleration = -np.array(gravity)", "base_acceleration = np.array(gravity)")


def absolute_lever_arms(text: str) -> str:
    """D2: ω × position and ω × velocity for ω × lever and ω × (ω × lever); sliding joints are none of the listing's."""
    blocks = text.split("\n\n")
    for index, block in enumerate(blocks):
        arms = "arm" if " prismatic, from " in block else "lever|arm"
        block = re.sub(
            rf"cross\((omega_rev_\w+), cross\(omega_rev_\w+, (?:{arms})_(\w+)\)\)", r"cross(\1, velocity_\2)", block
        )
        blocks[index] = re.sub(rf"cross\((omegap?_rev_\w+), (?:{arms})_(\w+)\)", r"cross(\1, position_\2)", block)
    return "\n\n".join(blocks)


def child_force_counted_twice(text: str) -> str:
    """D3: the child's force has the arm to the centre of mass on top of its own."""
    arms = dict(re.findall(r"\+ cross\(arm_(\w+), forces_(\w+)\)", text))
    arm_of = {joint: link for link, joint in arms.items()}

    def twice(found: re.Match) -> str:
        link = arm_of.get(found[1])
        return found[0] + (f" + cross(arm_{link}, forces_{found[2]})" if link else "")

    return re.sub(r"torques_(\w+) \+= torques_(\w+) \+ cross\(lever_\w+, forces_\w+\)", twice, text)


def rotation_order(text: str) -> str:
    """D4: R(rpy) R(q) R_previous."""
    frames = dict(re.findall(r"frame_(\w+) = (.*)", text))

    def reversed_order(found: re.Match) -> str:
        *previous, rpy = frames[found[1]].split(" @ ")
        return f"rotation_{found[1]} = " + " @ ".join([rpy, found[2], *previous])

    text = re.sub(r"rotation_(\w+) = frame_\w+ @ (matrix_rotation\(\w+\))", reversed_order, text)
    return re.sub(r"(rotation_\w+) = (rotation_\w+) @ (matrix_rotation\(\w+\))", r"\1 = \3 @ \2", text)


def axis_not_turned(text: str) -> str:
    """D5: the axis of the joint's own frame is added to angular velocities of the world's."""
    for sum_ in re.findall(r"omegap?_rev_\w+ = (?:\([^=]*\n    \)|.*)", text):
        text = text.replace(sum_, re.sub(r"(?:frame|rotation)_\w+ @ (qd+_\w+)", r"\1", sum_))
    return text


def missing_cross_of_rates(text: str) -> str:
    """D6: no ω × z q'."""
    return re.sub(r"(omegap_rev_\w+ = \([^=]*?)\s+\+ cross\(omega_rev_\w+, \w+ @ qd_\w+\)", r"\1", text)


def gyroscopic_term_of_acceleration(text: str) -> str:
    """D7: ω × (I ω')."""
    return re.sub(r"(cross\(omega_rev_\w+, inertia_\w+ @ )omega_rev", r"\1omegap_rev", text)


def inertia_not_turned(text: str) -> str:
    """D8: the inertia keeps the axes of the link."""
    text = re.sub(r"axes_(\w+) = rotation_\w+ @ ", r"axes_\1 = ", text)
    return re.sub(r"(inertia_\w+) = rotation_\w+ @ (\[[^=]*?\n    \]) @ rotation_\w+\.T", r"\1 = np.array(\2)", text)


def no_coriolis(text: str) -> str:
    """D9: no 2 ω × z q' on a sliding joint."""
    return re.sub(r"\s+\+ 2\.0 \* cross\(omega_rev_\w+, \w+ @ qd_\w+\)", "", text)


@pytest.mark.parametrize(
    ("defect", "change"),
    [
        (gravity_sign, (-7.9385, -0.5590, -36.4633, -1.1894)),
        (absolute_lever_arms, (0.8846, 0.4309, -2.9231, 0.0167)),
        (child_force_counted_twice, (1.2577, 0, 0, 0)),
        (rotation_order, (0.3762, 0.1518, -0.0121, 0.2730)),
        (axis_not_turned, (-0.0159, 0.0082, 0.1238, 0.0143)),
        (missing_cross_of_rates, (-0.0556, -0.0017, -0.0025, -0.0019)),
        (gyroscopic_term_of_acceleration, (0.0245, 0.0158, 0, 0.0003)),
        (inertia_not_turned, (-0.0089, -0.0168, 0, 0.0004)),
        (no_coriolis, (-0.0257, 0, 0, -0.0533)),
    ],
)
def test_tree_shows_the_defect(script_of, defect, change):
    script = script_of("tree4")
    found = script.mutated(defect).efforts(TREE) - script.efforts(TREE)
    np.testing.assert_allclose(found, change, rtol=0, atol=6e-5)


@pytest.mark.parametrize(
    ("defect", "change"),
    [
        (gravity_sign, (-334.02, -90.36)),
        (absolute_lever_arms, (43.34, 11.34)),
        (child_force_counted_twice, (74.56, 0)),
        (rotation_order, (0, 0)),
        (axis_not_turned, (0, 0)),
        (missing_cross_of_rates, (0, 0)),
        (gyroscopic_term_of_acceleration, (0, 0)),
        (inertia_not_turned, (0, 0)),
    ],
)
def test_what_a_planar_robot_shows_of_the_defect(script_of, defect, change):
    script = script_of("robot_2r_b")
    found = script.mutated(defect).efforts(TWO) - script.efforts(TWO)
    np.testing.assert_allclose(found, change, rtol=0, atol=6e-3)


@pytest.mark.parametrize(
    ("motion", "listing"),
    [
        ({"joint1": (0, 0, 0), "joint2": (0, 0, 0)}, (-225.63, -49.05)),
        (TWO, (3.4417, 3.8438)),
    ],
)
def test_all_defects_of_the_listing_together_give_its_numbers(script_of, motion, listing):
    """The printed listing, executed literally, returns these (§4.3): what the script would be without its mends."""
    script = script_of("robot_2r_b")
    for defect in (child_force_counted_twice, absolute_lever_arms, gravity_sign, gyroscopic_term_of_acceleration):
        script = script.mutated(defect)
    np.testing.assert_allclose(script.efforts(motion), listing, rtol=0, atol=6e-3)
