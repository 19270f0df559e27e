# SPDX-License-Identifier: Apache-2.0
"""HRP-2-like: its numbers against those typed here from the specification, its rules against their own meaning."""

import math

import coal
import numpy as np
import pinocchio as pin
import pytest
from fixtures.generators import assert_files_are_generated, generator
from numpy.testing import assert_allclose

from humanoid_model import load_robot
from humanoid_model.coal_geometry import lowest_point
from humanoid_model.robot import Robot

pytestmark = pytest.mark.feature("001-F001", "001-F006")

CHAINS = {"RLEG": 6, "LLEG": 6, "CHEST": 2, "HEAD": 2, "RARM": 7, "LARM": 7}
# Right side: axis, offset in the parent, range in degrees.
TABLE = {
    "LEG": [
        ("z", (0, -0.060, 0), -45, 30),
        ("x", (0, 0, 0), -35, 20),
        ("y", (0, 0, 0), -125, 42),
        ("y", (0, -0.035, -0.300), 0, 150),
        ("y", (0, 0, -0.300), -75, 42),
        ("x", (0, 0, 0), -20, 35),
    ],
    "CHEST": [("z", (0.032, 0, 0.3507), -45, 45), ("y", (0, 0, 0), -5, 60)],
    "HEAD": [("z", (-0.007, 0, 0.2973), -45, 45), ("y", (0, 0, 0), -30, 45)],
    "ARM": [
        ("y", (0.008, -0.250, 0.181), -180, 60),
        ("x", (0, 0, 0), -95, 10),
        ("z", (0, 0, 0), -92, 92),
        ("y", (0, 0, -0.250), -135, 2),
        ("z", (0, 0, -0.250), -92, 92),
        ("y", (0, 0, 0), -92, 92),
        ("y", (0, 0, -0.09), -16, 60),
    ],
}
MIRRORED = {"sole", "toe", "heel", "ball", "knee", "thigh_back", "hand_fingers", "hand_back", "forearm"}


@pytest.fixture(scope="module")
def hrp2() -> Robot:
    return load_robot("hrp2")


def world(robot: Robot, link: str, q: np.ndarray) -> pin.SE3:
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q)
    attachment = robot.parts.links[link]
    return data.oMi[attachment.joint_id] * attachment.placement_joint_link


def vertices(robot: Robot, contact: str, q: np.ndarray) -> np.ndarray:
    location = robot.contacts[contact]
    placement = world(robot, location.link, q)
    return location.vertices_link @ placement.rotation.T + placement.translation


def test_files_equal_the_generators_output() -> None:
    assert_files_are_generated("hrp2_generate")


def test_thirty_joints_in_order_and_exact_mass(hrp2: Robot) -> None:
    expected = [f"{chain}_JOINT{i}" for chain, count in CHAINS.items() for i in range(count)]
    assert list(hrp2.joint_names) == expected
    assert list(hrp2.actuators) == expected
    assert (hrp2.model.nq, hrp2.model.nv) == (37, 36)
    assert abs(hrp2.total_mass - 58.0) < 1e-9
    assert abs(pin.computeTotalMass(hrp2.model) - 58.0) < 1e-9
    assert hrp2.approximate is not None
    assert "approximate" in hrp2.urdf


def test_waist_height_in_half_sitting(hrp2: Robot) -> None:
    height = world(hrp2, "WAIST", hrp2.postures["half_sitting"]).translation[2]
    thigh, shank = math.cos(math.radians(26)), math.cos(math.radians(24))
    assert abs(height - (0.3 * thigh + 0.3 * shank + 0.105)) < 1e-9
    assert abs(height - 0.648702) < 1e-6


def test_joints_are_those_of_the_table(hrp2: Robot) -> None:
    for chain, count in CHAINS.items():
        side = {"R": -1, "L": 1}.get(chain[0], 0) if chain[1:] in ("LEG", "ARM") else 0
        rows = TABLE[chain[1:] if side else chain]
        assert len(rows) == count
        for index, (axis, (x, y, z), lower, upper) in enumerate(rows):
            joint = hrp2.description.joints[f"{chain}_JOINT{index}"]
            if side > 0:
                y = -y
                if axis != "y":
                    lower, upper = -upper, -lower
            assert_allclose(joint.placement.translation, (x, y, z), atol=1e-12)
            assert_allclose(joint.placement.rotation, np.eye(3), atol=1e-12)
            assert_allclose(joint.axis, np.eye(3)["xyz".index(axis)])
            assert joint.limit is not None
            assert_allclose(np.degrees([joint.limit.lower, joint.limit.upper]), (lower, upper), atol=1e-6)
            assert 200 - 1e-6 <= math.degrees(joint.limit.velocity) <= 350 + 1e-6


def test_group_masses(hrp2: Robot) -> None:
    groups = {"RLEG": 8.9, "LLEG": 8.9, "RARM": 4.6, "LARM": 4.6, "HEAD": 1.6, "CHEST": 17.4, "WAIST": 12.0}
    for prefix, expected in groups.items():
        links = [link for name, link in hrp2.description.links.items() if name.startswith(prefix)]
        mass = sum(link.inertial.mass for link in links if link.inertial is not None)
        assert mass == pytest.approx(expected, abs=1e-9), prefix


def test_height_is_that_of_the_robot(hrp2: Robot) -> None:
    q = hrp2.postures["zero"]
    data, visual = hrp2.model.createData(), hrp2.visual_model.createData()
    pin.updateGeometryPlacements(hrp2.model, data, hrp2.visual_model, visual, q)
    upside_down = pin.SE3(pin.utils.rotate("x", math.pi), np.zeros(3))
    top = -min(
        lowest_point(item.geometry, upside_down * placement)
        for item, placement in zip(hrp2.visual_model.geometryObjects, visual.oMg, strict=True)
    )
    assert top == pytest.approx(1.54, abs=0.02)


def test_every_posture_stands_on_the_ground(hrp2: Robot) -> None:
    for name, q in hrp2.postures.items():
        heights = [vertices(hrp2, f"{side}_sole", q)[:, 2] for side in ("right", "left")]
        assert abs(np.min(heights)) < 1e-12, name
        assert np.ptp(heights) < 1e-9, f"{name}: feet are flat"
        assert (q[7:] >= hrp2.limits.lower[7:] - 1e-9).all(), name
        assert (q[7:] <= hrp2.limits.upper[7:] + 1e-9).all(), name


@pytest.mark.parametrize("posture", ["zero", "half_sitting", "squat", "arms_forward"])
def test_standing_postures_are_balanced_and_symmetric(hrp2: Robot, posture: str) -> None:
    q = hrp2.postures[posture]
    com = pin.centerOfMass(hrp2.model, hrp2.model.createData(), q)
    sole = vertices(hrp2, "right_sole", q)
    assert abs(com[1]) < 1e-9
    assert sole[:, 0].min() + 0.02 < com[0] < sole[:, 0].max() - 0.02


def test_feet_stand_apart_as_published(hrp2: Robot) -> None:
    q = hrp2.postures["zero"]
    assert world(hrp2, "r_sole", q).translation[1] == pytest.approx(-0.095)
    assert world(hrp2, "l_sole", q).translation[1] == pytest.approx(0.095)
    assert world(hrp2, "r_sole", q).translation[2] == pytest.approx(0.0, abs=1e-12)


def test_contact_locations(hrp2: Robot) -> None:
    expected = {f"{side}_{name}" for side in ("right", "left") for name in MIRRORED} | {"seat", "chest_front"}
    assert set(hrp2.contacts) == expected
    assert {name for name, c in hrp2.contacts.items() if c.support} == {"right_sole", "left_sole"}
    sizes = {"sole": (0.22, 0.13), "hand_fingers": (0.05, 0.05), "hand_back": (0.05, 0.05), "forearm": (0.15, 0.05)}
    for name, size in sizes.items():
        for side in ("right", "left"):
            assert_allclose(np.ptp(hrp2.contacts[f"{side}_{name}"].patch, axis=0), size, atol=1e-9)
    for side in ("right", "left"):
        sole = hrp2.contacts[f"{side}_sole"]
        assert_allclose(sole.vertices_link.mean(axis=0), (0.03, 0.0, -0.105), atol=1e-12)
        for edge, x in (("toe", 0.14), ("heel", -0.08)):
            points = hrp2.contacts[f"{side}_{edge}"].vertices_link
            assert points.shape == (2, 3)
            assert_allclose(points[:, 0], x, atol=1e-12)
            for point in points:
                assert np.abs(sole.vertices_link - point).max(axis=1).min() < 1e-12, "an edge of the sole"


def test_left_contacts_mirror_the_right_ones(hrp2: Robot) -> None:
    q = hrp2.postures["half_sitting"]
    for name in MIRRORED:
        right, left = (vertices(hrp2, f"{side}_{name}", q) for side in ("right", "left"))
        mirrored = right * (1, -1, 1)
        assert all(np.linalg.norm(left - point, axis=1).min() < 1e-9 for point in mirrored), name


def test_contact_patches_lie_on_the_skin(hrp2: Robot) -> None:
    """Just inside the patch (along the inward normal) there is robot, just outside there is none of this link."""
    grain = coal.Sphere(1e-4)
    for name, contact in hrp2.contacts.items():
        link = hrp2.description.links[contact.link]
        items = [item for item in hrp2.visual_model.geometryObjects if item.name.startswith(f"{contact.link}/")]
        assert len(items) == len(link.visuals)
        attachment = hrp2.parts.links[contact.link]
        middle = contact.placement_link_patch.translation
        inward = contact.placement_link_patch.rotation[:, 2]
        gaps = []
        for step in (0.004, -0.004):
            point = attachment.placement_joint_link.act(middle + step * inward)
            place = coal.Transform3s(np.eye(3), point)
            gaps.append(
                min(
                    coal.distance(
                        item.geometry,
                        coal.Transform3s(item.placement.rotation, item.placement.translation),
                        grain,
                        place,
                        coal.DistanceRequest(),
                        coal.DistanceResult(),
                    )
                    for item in items
                )
            )
        assert gaps[0] < 1e-4, f"{name} is off the link"
        assert gaps[1] > 3e-3, f"{name} is inside the link"


def test_what_bears_in_motions_collides(hrp2: Robot) -> None:
    """Without a shape above its seat the robot would hover over the chair it sits on."""
    grain = coal.Sphere(1e-4)
    for name in ("seat", "left_sole", "right_sole", "left_hand_fingers", "right_hand_fingers"):
        contact = hrp2.contacts[name]
        link = hrp2.parts.links[contact.link]
        place = link.placement_joint_link * contact.placement_link_patch
        items = [item for item in hrp2.collision_model.geometryObjects if item.parentJoint == link.joint_id]
        gaps = [
            coal.distance(
                item.geometry,
                coal.Transform3s(item.placement.rotation, item.placement.translation),
                grain,
                coal.Transform3s(np.eye(3), place.act(np.array([*corner, 0.0]))),
                coal.DistanceRequest(),
                coal.DistanceResult(),
            )
            for corner in 0.9 * contact.patch
            for item in items
        ]
        gaps = np.reshape(gaps, (len(contact.patch), -1)).min(axis=1)
        assert np.abs(gaps).max() < 2e-3, name


def test_sitting_puts_seat_and_thighs_on_one_plane(hrp2: Robot) -> None:
    q = hrp2.postures["sitting"]
    heights = [vertices(hrp2, name, q)[:, 2] for name in ("seat", "right_thigh_back", "left_thigh_back")]
    assert np.ptp(np.concatenate(heights)) < 1e-9


def test_limbs_share_out_all_joints(hrp2: Robot) -> None:
    assert set(hrp2.limbs) == {"right_leg", "left_leg", "torso", "head", "right_arm", "left_arm"}
    assert [joint for limb in hrp2.limbs.values() for joint in limb] == list(hrp2.joint_names)


def test_sensors(hrp2: Robot) -> None:
    kinds = {name: sensor.type for name, sensor in hrp2.sensors.items()}
    assert kinds.pop("imu") == "imu"
    assert kinds == dict.fromkeys(("right_ankle", "left_ankle", "right_wrist", "left_wrist"), "force_torque")


def test_support_torques_are_the_slope_of_the_potential_energy(hrp2: Robot) -> None:
    """Virtual work: with the right foot held, torque times joint motion is the rise of potential energy."""
    script = generator("hrp2_generate")
    rng = np.random.default_rng(1)
    model, data = hrp2.model, hrp2.model.createData()
    foot = hrp2.parts.links["RLEG_LINK5"].joint_id

    def potential(q: np.ndarray) -> float:
        pin.forwardKinematics(model, data, q)
        held = hrp2.place_base(q, data.oMi[foot].inverse() * data.oMi[hrp2.base_joint])
        return float(pin.computePotentialEnergy(model, data, held))

    q = hrp2.postures["half_sitting"].copy()
    q[7:] += rng.uniform(-0.3, 0.3, model.nq - 7)
    pin.forwardKinematics(model, data, q)
    q = hrp2.place_base(q, data.oMi[foot].inverse() * data.oMi[hrp2.base_joint])
    torques = script.support_torques(hrp2, model, data, q)
    step = 1e-5
    for name in hrp2.joint_names:
        ahead, behind = q.copy(), q.copy()
        ahead[hrp2.index_q(name)] += step
        behind[hrp2.index_q(name)] -= step
        slope = (potential(ahead) - potential(behind)) / (2 * step)
        assert torques[name] == pytest.approx(slope, abs=1e-5), name


def test_torque_limits_are_the_squat_with_margin(hrp2: Robot) -> None:
    torques = generator("hrp2_generate").squat_torques(hrp2)
    assert torques["LEG_JOINT3"] > 100, "one bent knee carries the robot and its load"
    for name in hrp2.joint_names:
        key = name[1:] if name[1:4] in ("LEG", "ARM") else name
        effort = hrp2.actuators[name].effort
        assert effort % 5 == 0
        assert effort >= 1.3 * torques[key] - 1e-9, name
        assert effort - 5 < 1.3 * torques[key] or effort == 5, f"{name}: rounded up, no more"


def test_half_sitting_needs_less_than_half_of_the_torque(hrp2: Robot) -> None:
    """On both feet each leg bears half: the weight shared evenly by the two soles' middles."""
    q = hrp2.postures["half_sitting"]
    model, data = hrp2.model, hrp2.model.createData()
    torque = pin.computeGeneralizedGravity(model, data, q)
    com = pin.centerOfMass(model, data, q)
    for letter in "RL":
        foot = hrp2.parts.links[f"{letter}LEG_LINK5"].joint_id
        jacobian = pin.computeJointJacobian(model, data, q, foot)
        force = np.array([0.0, 0.0, 58.0 * 9.81 / 2])
        placement = data.oMi[foot]
        point = np.array([com[0], placement.translation[1], 0.0]) - placement.translation
        wrench = np.concatenate([force, np.cross(point, force)])
        local = placement.toActionMatrix()[:3, :3].T
        wrench = np.concatenate([local @ wrench[:3], local @ wrench[3:]])
        torque = torque - jacobian.T @ wrench
    assert_allclose(torque[:6], 0.0, atol=1e-8)
    assert (np.abs(torque[6:]) < 0.5 * hrp2.limits.effort[6:]).all()


def test_bushing_variant_differs_only_below_the_ankle(hrp2: Robot) -> None:
    variant = load_robot("hrp2_bushing")
    assert abs(variant.total_mass - 58.0) < 1e-9
    extra = [f"{letter}LEG_BUSHING_{axis}" for letter in "RL" for axis in "ZXY"]
    assert sorted(set(variant.joint_names) - set(hrp2.joint_names)) == sorted(extra)
    assert list(variant.springs) == extra
    assert not set(extra) & set(variant.actuators)
    kinds = [variant.description.joints[name].type for name in extra[:3]]
    assert kinds == ["prismatic", "revolute", "revolute"]
    spring = variant.springs["RLEG_BUSHING_Z"]
    assert (spring.stiffness, spring.damping, spring.rest) == (1e6, 1e3, 0.0)
    for name, q in hrp2.postures.items():
        flexible = variant.postures[name]
        for contact in hrp2.contacts:
            assert_allclose(vertices(variant, contact, flexible), vertices(hrp2, contact, q), atol=1e-12)
    squashed = variant.postures["half_sitting"].copy()
    squashed[variant.index_q("RLEG_BUSHING_Z")] += 0.001
    assert_allclose(vertices(variant, "right_sole", squashed)[:, 2], 0.001, atol=1e-9)
