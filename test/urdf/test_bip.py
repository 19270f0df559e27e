# SPDX-License-Identifier: Apache-2.0
"""BIP2000 against the figures published of it; the sagittal model against its mass-matrix constants."""

import math

import numpy as np
import pinocchio as pin
import pytest
from fixtures.generators import assert_files_are_generated
from numpy.testing import assert_allclose

from humanoid_model import load_robot
from humanoid_model.robot import Robot


@pytest.fixture(scope="module")
def bip() -> Robot:
    return load_robot("bip")


@pytest.fixture(scope="module")
def planar() -> Robot:
    return load_robot("bip_planar")


def test_files_equal_the_generators_output() -> None:
    assert_files_are_generated("bip_generate")


def test_joints_and_mass(bip: Robot) -> None:
    assert len(bip.joint_names) == 15
    assert bip.joint_names[:6] == (
        "r_hip_roll", "r_hip_yaw", "r_hip_pitch", "r_knee", "r_ankle_pitch", "r_ankle_roll",
    )  # fmt: skip
    assert bip.joint_names[-3:] == ("trunk_yaw", "trunk_roll", "trunk_pitch")
    assert bip.floating_base
    assert bip.total_mass == pytest.approx(104.81, abs=1e-9)


def test_published_figures_at_zero(bip: Robot) -> None:
    """Eight sole corners at height 0, pelvis 0.903 m, centre of mass 1.011 m, trunk top 1.691 m."""
    q = bip.postures["zero"]
    model, data = bip.model, bip.model.createData()
    pin.forwardKinematics(model, data, q)
    corners = []
    for contact in (bip.contacts["right_sole"], bip.contacts["left_sole"]):
        attachment = bip.parts.links[contact.link]
        place = data.oMi[attachment.joint_id] * attachment.placement_joint_link
        corners += [place.act(vertex) for vertex in contact.vertices_link]
    assert_allclose([corner[2] for corner in corners], 0.0, atol=1e-12)
    expected = {(0.170, -0.2), (0.170, -0.02), (-0.120, -0.17), (-0.120, -0.05)}
    expected |= {(x, -y) for x, y in expected}
    assert {(round(x, 9), round(y, 9)) for x, y, _ in corners} == expected
    assert q[2] == pytest.approx(0.903, abs=1e-12)
    com = pin.centerOfMass(model, data, q)
    assert com[2] == pytest.approx(1.011, abs=5e-4)
    assert com[0] == pytest.approx(-0.022, abs=5e-4)
    trunk = data.oMi[bip.parts.links["trunk"].joint_id]
    assert trunk.act(np.array([0.0, 0.0, 0.660]))[2] == pytest.approx(1.691, abs=1e-12)


# The published table, in each solid's own axes: mass kg, centre of mass mm, inertia at the origin 0.01 kg m^2.
PUBLISHED = {
    "pelvis": (8.8, (0, 12, -68), [[13, 0, 0], [0, 14, 2], [0, 2, 5]]),
    "r_hip_bracket": (3.2, (5, -29, -107), [[6, 0, 0], [0, 5, -1], [0, -1, 1]]),
    "l_hip_bracket": (3.2, (-5, -29, -107), [[6, 0, 0], [0, 5, -1], [0, -1, 1]]),
    "hip_lever": (0.7, (-2, 0, 34), [[0, 0, 0], [0, 0, 0], [0, 0, 0]]),
    "r_thigh": (10.9, (160, -5, 45), [[6, 1, -6], [1, 41, 0], [-6, 0, 38]]),
    "l_thigh": (10.9, (160, -5, -45), [[6, 1, 6], [1, 41, 0], [6, 0, 38]]),
    "shank": (5.93, (152, -28, 0), [[2, 3, 0], [3, 21, 0], [0, 0, 21]]),
    "ankle_cross": (0.18, (0, 0, 0), [[0, 0, 0], [0, 0, 0], [0, 0, 0]]),
    "foot": (2.34, (59, 0, 19), [[2, 0, 0], [0, 3, 0], [0, 0, 1]]),
    "lumbar_lever": (1.05, (0, 47, -25), [[0, 0, 0], [0, 0, 0], [0, 0, 1]]),
    "trunk_cross": (0.46, (0, 0, 46), [[1, 0, 0], [0, 0, 0], [0, 0, 1]]),
    "trunk": (48.0, (405, 13, 9), [[126, 6, -6], [6, 1075, 0], [-6, 0, 1026]]),
}
# Those solids' x, y, z axes at position zero, as directions: forward, backward, left, right, up, down.
AXES = {
    "pelvis": "rdf", "hip_bracket": "rdf", "hip_lever": "flu", "thigh": "dfr", "shank": "dfr", "ankle_cross": "dfr",
    "foot": "dlf", "lumbar_lever": "lbu", "trunk_cross": "urf", "trunk": "ubr",
}  # fmt: skip
DIRECTIONS = {"f": (1, 0, 0), "b": (-1, 0, 0), "l": (0, 1, 0), "r": (0, -1, 0), "u": (0, 0, 1), "d": (0, 0, -1)}


def test_inertias_are_the_published_ones_or_rounded_ones_raised(bip: Robot) -> None:
    raised = set()
    solids = [link for link in bip.description.links.values() if link.inertial is not None]
    assert len(solids) == 16
    for link in solids:
        part = link.name.removeprefix("r_").removeprefix("l_")
        mass, com, inertia = PUBLISHED[link.name if link.name in PUBLISHED else part]
        axes = np.array([DIRECTIONS[letter] for letter in AXES[part]], dtype=float).T
        inertial = link.inertial
        assert inertial is not None
        assert inertial.mass == mass
        centre = axes.T @ inertial.placement_link_com.translation
        assert_allclose(centre, np.array(com) * 1e-3, atol=1e-9)
        about_origin = axes.T @ inertial.inertia @ axes
        about_origin = about_origin + mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
        change = np.abs(about_origin - np.array(inertia) * 1e-2).max()
        assert change < 0.011, f"{link.name}: more than the source's rounding explains"
        if change > 1e-7:
            raised.add(part)
        moments = np.linalg.eigvalsh(inertial.inertia)
        assert moments[0] >= mass * 0.03**2 - 1e-9
        assert moments[2] < moments[0] + moments[1]
    assert raised == {"hip_bracket", "hip_lever", "ankle_cross", "foot", "lumbar_lever", "trunk_cross"}


def test_bending_joints_bend_the_right_way(bip: Robot) -> None:
    """Knee flexion moves the foot back, hip flexion (negative) moves the knee ahead, the trunk leans ahead."""
    for joint, link, sign in (("r_knee", "r_foot", -1), ("r_hip_pitch", "r_shank", -1), ("trunk_pitch", "trunk", 1)):
        q = bip.postures["zero"].copy()
        q[bip.index_q(joint)] = 0.2
        data = bip.model.createData()
        pin.forwardKinematics(bip.model, data, q)
        point = np.array([0.0, 0.0, 0.5]) if link == "trunk" else np.zeros(3)
        assert sign * data.oMi[bip.parts.links[link].joint_id].act(point)[0] > 0.05


def test_standing_posture_is_balanced(bip: Robot) -> None:
    com = pin.centerOfMass(bip.model, bip.model.createData(), bip.postures["standing"])
    assert -0.08 < com[0] < 0.12
    assert abs(com[1]) < 0.02


def test_planar_model_has_seven_segments(planar: Robot) -> None:
    assert planar.total_mass == pytest.approx(104.81, abs=1e-9)
    assert not planar.floating_base
    assert planar.joint_names == (
        "base_x", "base_z", "base_pitch",
        "rear_hip", "rear_knee", "rear_ankle", "front_hip", "front_knee", "front_ankle",
    )  # fmt: skip
    assert len([link for link in planar.description.links.values() if link.inertial]) == 7


# Twice the kinetic energy when one segment turns at 1 rad/s and all others keep their orientation, the rear
# toe at rest: the diagonal of the mass matrix in absolute angles (specification 003 section 3.4.4).
@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ({"front_ankle": 1.0}, 0.07),
        ({"front_knee": 1.0, "front_ankle": -1.0}, 1.11335),
        ({"front_hip": 1.0, "front_knee": -1.0}, 2.44045),
        ({"base_pitch": 1.0, "rear_hip": -1.0, "front_hip": -1.0}, 18.99),
        ({"base_x": 0.41, "rear_hip": 1.0, "rear_knee": -1.0}, 15.67583),
        ({"base_x": 0.41, "rear_knee": 1.0, "rear_ankle": -1.0}, 16.88812),
    ],
)
def test_planar_mass_matrix_constants(planar: Robot, rates: dict[str, float], expected: float) -> None:
    v = np.zeros(planar.model.nv)
    for joint, rate in rates.items():
        v[planar.index_v(joint)] = rate
    inertia = pin.crba(planar.model, planar.model.createData(), planar.postures["zero"])
    inertia = np.triu(inertia) + np.triu(inertia, 1).T
    assert v @ inertia @ v == pytest.approx(expected, abs=6e-6)


def test_planar_rear_foot_constant(planar: Robot) -> None:
    """The rear foot turns about its toe: everything else moves as its ankle does."""
    contact = planar.contacts["rear_sole"]
    toe = contact.vertices_link[1]
    v = np.zeros(planar.model.nv)
    # At 1 rad/s about +y the ankle, at -toe from the toe, moves by y x (-toe).
    v[planar.index_v("base_x")], v[planar.index_v("base_z")] = -toe[2], toe[0]
    v[planar.index_v("rear_ankle")] = 1.0
    inertia = pin.crba(planar.model, planar.model.createData(), planar.postures["zero"])
    inertia = np.triu(inertia) + np.triu(inertia, 1).T
    assert v @ inertia @ v == pytest.approx(3.72170, abs=6e-6)


def test_planar_foot_triangle_and_stance(planar: Robot) -> None:
    contact = planar.contacts["front_sole"]
    heel, toe = contact.vertices_link
    assert math.hypot(toe[0], toe[2]) == pytest.approx(0.188, abs=1e-9)
    assert math.hypot(heel[0], heel[2]) == pytest.approx(0.16465, abs=5e-6)
    assert toe[0] - heel[0] == pytest.approx(0.29, abs=1e-8)
    data = planar.model.createData()
    pin.forwardKinematics(planar.model, data, planar.postures["standing"])
    for name in ("rear_sole", "front_sole"):
        foot = data.oMi[planar.parts.links[planar.contacts[name].link].joint_id]
        heights = [foot.act(vertex)[2] for vertex in planar.contacts[name].vertices_link]
        assert_allclose(heights, 0.0, atol=1e-9)
