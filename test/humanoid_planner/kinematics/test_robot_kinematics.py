# SPDX-License-Identifier: Apache-2.0
"""Kinematics over plain coordinates against Pinocchio and finite differences."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures.planner_robots import ROBOTS, finite_difference, random_variables, reference_data, robot_named

from humanoid_model import InputError, load_robot
from humanoid_planner.kinematics import RobotKinematics


@pytest.fixture(params=ROBOTS)
def kinematics(request: pytest.FixtureRequest) -> RobotKinematics:
    return RobotKinematics(robot_named(request.param))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.mark.feature("001-F030", "001-F031", "001-F032", "001-F034")
def test_links_and_centre_of_mass_are_where_pinocchio_puts_them(kinematics: RobotKinematics, rng) -> None:
    robot = kinematics.robot
    for _ in range(3):
        x = random_variables(kinematics, rng)
        q = kinematics.configuration(x)
        data = reference_data(robot, q)
        kinematics.set(x)
        for link, attachment in robot.parts.links.items():
            R, p = kinematics.placement(link)
            np.testing.assert_allclose(R, data.oMf[attachment.frame_id].rotation, atol=1e-12)
            np.testing.assert_allclose(p, data.oMf[attachment.frame_id].translation, atol=1e-12)
            local = rng.standard_normal(3)
            np.testing.assert_allclose(
                kinematics.direction(link, local), data.oMf[attachment.frame_id].rotation @ local, atol=1e-12
            )
            point = data.oMf[attachment.frame_id].act(local)
            np.testing.assert_allclose(kinematics.point(link, local), point, atol=1e-12)
        if kinematics.total_mass > 0:
            np.testing.assert_allclose(kinematics.centre_of_mass(), pin.centerOfMass(robot.model, data, q), atol=1e-12)


def test_coordinates_and_configuration_are_inverse(kinematics: RobotKinematics, rng) -> None:
    for _ in range(3):
        x = random_variables(kinematics, rng)
        np.testing.assert_allclose(kinematics.coordinates(kinematics.configuration(x)), x, atol=1e-12)


@pytest.mark.feature("001-F030")
def test_base_angles_are_those_of_the_thesis() -> None:
    """R = Rz(q6) Ry(q5) Rx(q4), (A.5)."""
    kinematics = RobotKinematics(load_robot("hrp2"))
    x = np.zeros(kinematics.size)
    names = [f"root_joint/{axis}" for axis in ("x", "y", "z", "yaw", "pitch", "roll")]
    x[[kinematics.names.index(name) for name in names]] = [1.0, 2.0, 3.0, 0.4, -0.5, 0.6]
    kinematics.set(x)
    R, p = kinematics.placement("WAIST")
    expected = pin.utils.rotate("z", 0.4) @ pin.utils.rotate("y", -0.5) @ pin.utils.rotate("x", 0.6)
    np.testing.assert_allclose(R, expected, atol=1e-14)
    np.testing.assert_allclose(p, [1.0, 2.0, 3.0])


@pytest.mark.feature("001-F031", "001-F032", "001-F034")
def test_derivatives_agree_with_finite_differences(kinematics: RobotKinematics, rng) -> None:
    links = list(kinematics.variables.bodies_of_links)
    x = random_variables(kinematics, rng)
    for link in (links[-1], links[len(links) // 2]):
        local = rng.standard_normal(3)
        for function, jacobian in (
            (kinematics.point, kinematics.point_jacobian),
            (kinematics.direction, kinematics.direction_jacobian),
        ):

            def at(y, function=function, link=link, local=local):
                kinematics.set(y)
                return function(link, local)

            expected = finite_difference(at, x)
            kinematics.set(x)
            np.testing.assert_allclose(jacobian(link, local), expected, atol=2e-8)

    def com(y):
        kinematics.set(y)
        return kinematics.centre_of_mass().copy()

    expected = finite_difference(com, x)
    kinematics.set(x)
    np.testing.assert_allclose(kinematics.centre_of_mass_jacobian(), expected, atol=2e-8)


@pytest.mark.feature("001-F033")
def test_pre_gradients_give_any_point_of_the_link(rng) -> None:
    """(3.23): dP = x J1 + y J2 + z J3 + J4."""
    kinematics = RobotKinematics(load_robot("hrp2"))
    kinematics.set(random_variables(kinematics, rng))
    J = kinematics.pre_gradients("RARM_LINK5")
    local = np.array([0.3, -0.2, 0.5])
    expected = kinematics.point_jacobian("RARM_LINK5", local)
    np.testing.assert_allclose(np.tensordot(local, J[:3], 1) + J[3], expected, atol=1e-13)


@pytest.mark.feature("001-F037")
def test_columns_outside_the_chain_are_exactly_zero(rng) -> None:
    kinematics = RobotKinematics(load_robot("hrp2"))
    kinematics.set(random_variables(kinematics, rng))
    kinematics.place_bodies()  # else those of other limbs have no motion yet
    J = kinematics.point_jacobian("RARM_LINK6", [0.1, 0.2, 0.3])
    outside = [i for i, name in enumerate(kinematics.names) if name.startswith(("LARM", "LLEG", "RLEG", "HEAD"))]
    assert len(outside) == 7 + 12 + 2
    assert (J[:, outside] == 0.0).all()
    assert (np.abs(np.delete(J, outside, axis=1)).max(axis=0) > 0).all()


@pytest.mark.feature("001-F035", "001-F036", "001-F038")
def test_a_body_is_placed_once_per_configuration_and_only_when_asked_for(rng) -> None:
    kinematics = RobotKinematics(load_robot("hrp2"))
    x = random_variables(kinematics, rng)
    kinematics.set(x)
    before = kinematics.placements_computed
    on_demand = kinematics.point("RARM_LINK5", [0.0, 0.0, 0.0])
    chain = len(kinematics.tree.chain(kinematics.body_of("RARM_LINK5")[0]))
    assert kinematics.placements_computed - before == chain < kinematics.variables.body_count - 1
    kinematics.point_jacobian("RARM_LINK5", [0.1, 0.0, 0.0])
    kinematics.placement("CHEST_LINK1")
    assert kinematics.placements_computed - before == chain
    kinematics.place_bodies()
    kinematics.place_bodies()
    assert kinematics.placements_computed - before == chain + kinematics.variables.body_count - 1
    np.testing.assert_allclose(kinematics.point("RARM_LINK5", [0.0, 0.0, 0.0]), on_demand, atol=1e-12)
    kinematics.set(x + 0.1)
    assert not np.allclose(kinematics.point("RARM_LINK5", [0.0, 0.0, 0.0]), on_demand)


@pytest.mark.feature("001-F032", "001-F035")
def test_a_new_configuration_leaves_nothing_of_the_last_one(rng) -> None:
    used, fresh = RobotKinematics(load_robot("hrp2")), RobotKinematics(load_robot("hrp2"))
    x = random_variables(used, rng)
    used.set(x)
    used.centre_of_mass(), used.centre_of_mass_jacobian(), used.placement("RARM_LINK5")
    used.set(x + 0.1)
    fresh.set(x + 0.1)
    np.testing.assert_array_equal(used.centre_of_mass(), fresh.centre_of_mass())
    np.testing.assert_array_equal(used.centre_of_mass_jacobian(), fresh.centre_of_mass_jacobian())
    np.testing.assert_array_equal(used.pre_gradients("RARM_LINK5"), fresh.pre_gradients("RARM_LINK5"))


@pytest.mark.feature("001-F003")
def test_mimicking_joints_follow_and_share_a_variable() -> None:
    kinematics = RobotKinematics(robot_named("mimicking"))
    assert kinematics.names[6:] == ("first",)
    x = np.zeros(kinematics.size)
    x[6] = 0.4
    q = kinematics.configuration(x)
    model = kinematics.robot.model
    second, third = (model.joints[model.getJointId(name)].idx_q for name in ("second", "third"))
    assert q[second] == pytest.approx(-1.5 * 0.4 + 0.1)
    assert q[third] == pytest.approx(0.2 * (-1.5 * 0.4 + 0.1))
    # -1 <= -1.5 x + 0.1 <= 1 leaves x between -0.6 and 11/15.
    assert kinematics.lower[6] == pytest.approx(-0.6)
    assert kinematics.upper[6] == pytest.approx(1.1 / 1.5)


def test_a_steep_base_can_be_counted_from_its_own_orientation() -> None:
    robot = load_robot("hrp2")
    kinematics = RobotKinematics(robot)
    flat = robot.place_base(robot.postures["zero"], pin.SE3(pin.utils.rotate("y", np.pi / 2), np.array([0, 0, 1.0])))
    kinematics.set_reference(flat)
    x = kinematics.coordinates(flat)
    np.testing.assert_allclose(x[:6], [0, 0, 1, 0, 0, 0], atol=1e-12)
    data = reference_data(robot, kinematics.configuration(x))
    np.testing.assert_allclose(data.oMi[1].rotation, pin.utils.rotate("y", np.pi / 2), atol=1e-12)
    # Away from it the derivatives stay regular where angles from the world's axes would be singular.
    kinematics.set(x)
    assert np.linalg.matrix_rank(kinematics.pre_gradients("WAIST")[:3].reshape(9, -1)[:, 3:6]) == 3


@pytest.mark.parametrize(
    ("q", "said"),
    [
        (np.zeros(3), r"configuration q: has shape \(3,\). Give 37 numbers"),
        (np.full(37, np.nan), "entry 0 is nan"),
        (np.zeros(37), r"quaternion .* has no direction"),
    ],
)
def test_bad_configurations_are_refused(q: np.ndarray, said: str) -> None:
    with pytest.raises(InputError, match=said):
        RobotKinematics(load_robot("hrp2")).coordinates(q)


def test_unknown_link_is_named() -> None:
    with pytest.raises(InputError, match=r"there is no link 'TAIL'.*WAIST"):
        RobotKinematics(load_robot("hrp2")).point("TAIL", [0, 0, 0])
