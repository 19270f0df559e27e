# SPDX-License-Identifier: Apache-2.0
"""A person of 36 joints and five limbs: specification 004 §4.4, `data/004_oracles.json`."""

import numpy as np
import pytest

from humanoid_studies.script import script_from_urdf
from humanoid_studies.script.robot import Robot

JOINTS = [
    "WJ_px", "WJ_py", "WJ_pz", "WJ_x", "WJ_y", "WJ_z",
    "LLJ_x", "LLJ_z", "ULJ_x", "ULJ_y", "ULJ_z", "LNJ_x",
    "LNJ_y", "LNJ_z", "SJ_R_x", "SJ_R_y", "SJ_R_z", "EJ_R_z",
    "HJ_R_x", "HJ_R_y", "HJ_R_z", "KJ_R_z", "AJ_R_x", "AJ_R_y",
    "AJ_R_z", "SJ_L_x", "SJ_L_y", "SJ_L_z", "EJ_L_z", "HJ_L_x",
    "HJ_L_y", "HJ_L_z", "KJ_L_z", "AJ_L_x", "AJ_L_y", "AJ_L_z",
]  # fmt: skip

EFFORTS = {
    "zero": [
        0.0, 561.438, 0.0, -0.08551954, 0.0, -3.72193492,
        -0.06910914, 1.45134252, -0.05413184, 0.0, 0.72045028, -0.00979004,
        0.0, 0.15664064, 0.04388096, 0.0, -0.18368408, 0.05098464,
        -0.62489904, 0.0, -2.54971532, -0.1488738, -0.046365, 0.0,
        0.322026, -0.04388096, 0.0, -0.18368408, 0.05098464, 0.62489904,
        0.0, -2.54971532, -0.1488738, 0.046365, 0.0, 0.322026,
    ],
    "static": [
        0.0, 561.438, 0.0, 24.9298467667, -0.0530020220629, -8.72773899015,
        8.68925886405, 21.2482034002, 1.38559720337, -0.807754351786, 8.32964753899, -0.803393234617,
        0.175436838247, 1.92141710892, -1.63048049077, 0.2296392237, -0.831535567058, -0.0262455164131,
        7.80543294211, 0.898845949614, -3.12685152799, -0.357795568191, -0.0660348601572, 0.029469703403,
        0.221459743715, -0.666194613683, -0.226514466249, 0.79080074251, 0.587828741346, 5.9580861964,
        -1.76839704652, -17.5128669424, -4.4444754389, 0.0111792873274, 0.0124278955272, 0.0924913529854,
    ],
    "vel": [
        0.433842908131, 563.872205795, -1.30681908571, 27.1197660525, -0.815544457559, -8.46907001965,
        9.39526735627, 21.6092314369, 1.94471890092, -0.700996449934, 8.74770938766, -0.709909961647,
        0.157843044274, 1.99748513878, -1.51253230587, 0.220196248229, -0.835644088519, -0.0240157423658,
        8.77682871493, 1.07461582998, -3.53775165057, -0.500795728729, -0.0546523457527, 0.0373771815233,
        0.220267875272, -0.665253122188, -0.223125270764, 0.786635616737, 0.590373948148, 6.39088135921,
        -1.90833967435, -16.9293966649, -4.32011877413, 0.012883535443, 0.0156077849023, 0.125986556105,
    ],
    "full": [
        15.4946951249, 490.355874985, -75.0079477858, 18.2497779192, 0.686860072529, -2.48997282381,
        -3.85685973225, 21.1479215421, -5.41331720161, -1.47615208413, 7.60364547858, -1.65386912761,
        0.380495888868, 1.60903181393, -0.952780284591, 0.11761800944, -0.0656009523127, 0.249230438222,
        9.7426206912, 1.05158879504, -0.804107442561, 0.170064535087, -0.039362284522, 0.0482947764506,
        0.217234369358, 0.0534340417027, -0.0181353248484, 1.25131882101, 0.734621285948, 8.18286094462,
        -2.65348140981, -14.0778708321, -3.51536759111, 0.0289423216009, 0.0395149281738, 0.118333654772,
    ],
}

#: Origins of link frames in the world at the static state.
ORIGINS = {
    "pelvis": [0.252441295442, 0.297499443136, 0.202638954165],
    "abdomen": [0.252441295442, 0.297499443136, 0.202638954165],
    "thorax": [0.307747323966, 0.412935291222, 0.179927543254],
    "head": [0.347071457231, 0.709759481471, 0.161245663645],
    "upperArm_R": [0.355004595394, 0.668385435093, 0.323496252565],
    "thigh_R": [0.209417290689, 0.200860876763, 0.274818747075],
    "shank_R": [0.195976148818, -0.157821904919, 0.150054978976],
    "foot_R": [0.183441675283, -0.516523089448, 0.0252497419438],
    "lowerArm_R": [0.301875308016, 0.428645665919, 0.40894870659],
    "upperArm_L": [0.326030274646, 0.6521921311, 0.0052223679267],
    "thigh_L": [0.238621822947, 0.20282316821, 0.117518891042],
    "shank_L": [0.078176829566, -0.12488371309, 0.011379341165],
    "foot_L": [-0.172334025119, -0.386445327996, -0.103641671229],
    "lowerArm_L": [0.360602050742, 0.396127499317, 0.0341307862096],
}


def motion(case: str) -> dict[str, tuple[float, float, float]]:
    i = np.arange(36)
    q, qd, qdd = 0.3 * np.sin(1 + 0.7 * i), 0.5 * np.cos(2 + 0.9 * i), 1.5 * np.sin(3 + 1.1 * i)
    rows = np.array([q * (case != "zero"), qd * (case in ("vel", "full")), qdd * (case == "full")]).T
    return dict(zip(JOINTS, rows, strict=True))


@pytest.fixture(scope="module")
def person(script_of):
    return script_of("syn3p33r")


@pytest.mark.feature("004-F48")
@pytest.mark.parametrize("case", EFFORTS)
def test_efforts_are_those_of_the_specification(person, case):
    np.testing.assert_allclose(person.efforts(motion(case)), EFFORTS[case], rtol=1e-9, atol=1e-9)


def test_every_link_is_where_the_specification_has_it(person, urdf_folder):
    robot = Robot.from_urdf(urdf_folder / "syn3p33r.urdf")
    values = person.values(motion("static"))
    for link, origin in ORIGINS.items():
        joint = robot.find_moving_joint(link).name
        np.testing.assert_allclose(values[f"position_{joint}"], origin, rtol=0, atol=1e-9)


@pytest.mark.feature("004-F50")
def test_heights_of_the_joints(person):
    """The list of §4.4: joint heights at the static state, y up."""
    values = person.values(motion("static"))
    heights = {
        "LLJ_x": 0.297499, "ULJ_x": 0.412935, "LNJ_x": 0.709759, "SJ_R_x": 0.668385,
        "EJ_L_z": 0.396127, "AJ_R_x": -0.516523, "AJ_L_x": -0.386445,
    }  # fmt: skip
    for joint, height in heights.items():
        assert values[f"position_{joint}"][1] == pytest.approx(height, abs=1e-6)


@pytest.mark.feature("004-F49")
def test_floating_base_carries_the_weight(person):
    efforts = dict(zip(JOINTS, person.efforts(motion("static")), strict=True))
    assert efforts["WJ_py"] == pytest.approx(57.231193 * 9.81, abs=1e-4)
    assert abs(efforts["WJ_px"]) < 1e-10
    assert abs(efforts["WJ_pz"]) < 1e-10


@pytest.mark.feature("004-F49")
def test_base_efforts_are_the_sum_of_all_external_forces(person):
    """Standing on both feet with the ground's forces under them, the base needs nothing."""
    values = person.values(motion("zero"))
    weight = values["effort_WJ_py"]
    # The ground's moment about a foot's origin, from the balance of moments about the pelvis.
    wrench = np.array([values["effort_WJ_x"], values["effort_WJ_y"], values["effort_WJ_z"]])
    origin = (values["position_AJ_R_z"] + values["position_AJ_L_z"]) / 2
    moment = wrench - np.cross(origin - values["position_WJ_z"], [0, weight, 0])
    ground = [0, weight / 2, 0, *moment / 2]
    standing = person.values(motion("zero"), external_forces={"foot_R": ground, "foot_L": ground})
    base = [standing[f"effort_{joint}"] for joint in JOINTS[:6]]
    np.testing.assert_allclose(base, np.zeros(6), rtol=0, atol=1e-10)


def test_left_and_right_mirror_each_other_at_rest(person):
    efforts = dict(zip(JOINTS, person.efforts(motion("zero")), strict=True))
    for joint, effort in efforts.items():
        if "_R_" in joint:
            sign = 1 if joint.endswith("_z") else -1
            assert efforts[joint.replace("_R_", "_L_")] == pytest.approx(sign * effort, abs=1e-9)


@pytest.mark.feature("004-F44")
def test_script_is_small(urdf_folder):
    assert len(script_from_urdf(urdf_folder / "syn3p33r.urdf")[0]) < 200_000
