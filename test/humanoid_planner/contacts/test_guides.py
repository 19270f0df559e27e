# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import load_robot, load_scene
from humanoid_model.errors import InputError
from humanoid_planner.contacts.guides import GuideSampler, GuideSpace


@pytest.fixture(scope="module")
def robot():
    return load_robot("hrp2")


@pytest.fixture(scope="module")
def keys(robot):
    return [robot.postures[name] for name in ("half_sitting", "squat", "sitting")]


@pytest.mark.feature("001-F196")
@pytest.mark.parametrize(("kappa", "length"), [(1.0, 0.240194), (10.0, 0.854185), (100.0, 0.985038)])
def test_orientations_have_the_mean_length_of_von_mises_and_fisher(robot, keys, kappa, length):
    """A_4(kappa) = I_2 / I_1 along q0; the sign of a quaternion is put back to that of its draw's half by symmetry."""
    sampler = GuideSampler(robot, keys, ([0, 0, 0], [1, 1, 1]), upright=(0.0, 0.6, 0.0, 0.8), concentration=kappa)
    rng = np.random.default_rng(1)
    draws = np.array([sampler.orientation(rng) for _ in range(4000)])
    np.testing.assert_allclose(np.linalg.norm(draws, axis=1), 1.0)
    assert (draws[:, 3] >= 0).all()
    along = np.abs(draws @ [0.0, 0.6, 0.0, 0.8])
    # |t| of the density exp(kappa t) sqrt(1 - t^2), by quadrature; for large kappa it is the resultant length.
    t = np.linspace(-1, 1, 20001)
    density = np.exp(kappa * (t - 1)) * np.sqrt(1 - t**2)
    assert along.mean() == pytest.approx(float(np.abs(t) @ density / density.sum()), abs=0.01)
    assert float(t @ density / density.sum()) == pytest.approx(length, abs=1e-4)


@pytest.mark.feature("001-F196")
def test_uniform_orientations_have_no_preferred_axis(robot, keys):
    sampler = GuideSampler(robot, keys, ([0, 0, 0], [1, 1, 1]), concentration=0.0)
    rng = np.random.default_rng(2)
    draws = np.array([sampler.orientation(rng) for _ in range(4000)])
    np.testing.assert_allclose(draws.T @ draws / len(draws), np.eye(4) / 4, atol=0.02)


@pytest.mark.feature("001-F195", "001-F197")
def test_postures_are_uniform_in_the_simplex_of_key_postures(robot, keys):
    sampler = GuideSampler(robot, keys, ([0, 0, 0], [1, 2, 3]))
    rng = np.random.default_rng(3)
    draws = np.array([sampler.draw(rng) for _ in range(3000)])
    span = np.array(keys)[1:, 7:] - keys[0][7:]
    shares = np.linalg.lstsq(span.T, (draws[:, 7:] - keys[0][7:]).T, rcond=None)[0].T
    assert (shares >= -1e-9).all()
    assert (shares.sum(axis=1) <= 1 + 1e-9).all()
    np.testing.assert_allclose(shares.mean(axis=0), 1 / 3, atol=0.015)
    assert (draws[:, 7:] >= robot.limits.lower[7:] - 1e-9).all()
    assert (draws[:, 7:] <= robot.limits.upper[7:] + 1e-9).all()
    np.testing.assert_allclose(draws[:, :3].mean(axis=0), [0.5, 1.0, 1.5], atol=0.05)
    np.testing.assert_allclose(draws[:, :3].std(axis=0), np.array([1, 2, 3]) / np.sqrt(12), rtol=0.05)


@pytest.mark.feature("001-F195")
def test_positions_of_a_gaussian(robot, keys):
    sampler = GuideSampler(robot, keys, ([0, 1, 2], [0.1, 0.2, 0.3]), gaussian=True)
    rng = np.random.default_rng(4)
    draws = np.array([sampler.draw(rng)[:3] for _ in range(3000)])
    np.testing.assert_allclose(draws.mean(axis=0), [0, 1, 2], atol=0.02)
    np.testing.assert_allclose(draws.std(axis=0), [0.1, 0.2, 0.3], rtol=0.05)


def test_bad_laws_are_named(robot, keys):
    for arguments, options, message in (
        (([], ([0, 0, 0], [1, 1, 1])), {}, "key postures of the guide: are missing"),
        (([keys[0][:-1]], ([0, 0, 0], [1, 1, 1])), {}, "Give 37 numbers"),
        ((keys, ([0, 0, 2], [1, 1, 1])), {}, "box of positions"),
        ((keys, ([0, 0, 0], [1, 1, 1])), {"concentration": -1.0}, "concentration"),
    ):
        with pytest.raises(InputError, match=message):
            GuideSampler(robot, *arguments, **options)


SOLES = ["left_sole", "right_sole"]


@pytest.fixture(scope="module")
def scene():
    return load_scene("under_the_table")


@pytest.fixture(scope="module")
def space(robot, scene):
    return GuideSpace(robot, scene, SOLES, thickness=0.04)


@pytest.fixture
def standing(robot):
    q = robot.postures["half_sitting"].copy()
    q[:3] = 0.0, 0.0, 0.648702
    return q


def soles(robot, q):
    """Heights of the soles' middles by Pinocchio."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    found = {}
    for name in SOLES:
        location = robot.contacts[name]
        place = data.oMf[robot.model.getFrameId(location.link)] * location.placement_link_patch
        found[name] = place.translation[2]
    return found


@pytest.mark.feature("001-F194")
def test_a_location_is_near_between_its_surface_and_the_thickness(space, standing):
    for height, count in ((-0.01, 0), (0.0, 2), (0.039, 2), (0.041, 0)):
        q = standing.copy()
        q[2] += height
        assert len(space.near(q)) == count


def test_standing_in_the_layer_is_in_the_space_and_leaning_over_is_not(space, standing):
    standing[2] += 0.02
    assert space.contains(standing)
    falling = standing.copy()
    falling[8:] = 0.0
    falling[standing.size - 1] = 0.0
    turned = pin.Quaternion(pin.exp3(np.array([0.0, 0.06, 0.0])))
    falling[3:7] = turned.coeffs()
    falling[:3] = turned.matrix() @ falling[:3]
    assert not space.stable(falling)


@pytest.mark.feature("001-F202")
def test_a_link_in_a_body_is_not_free_unless_that_is_relaxed(robot, scene, space, standing):
    standing[2] -= 0.005
    assert not space.free(standing)
    assert GuideSpace(robot, scene, SOLES, relaxation=0.01).free(standing)
    standing[0] = 1.0  # under the table, upright: the trunk is in its top
    assert not space.free(standing)


@pytest.mark.feature("001-F198", "001-F199")
def test_projection_ends_in_the_layer_with_the_first_task_kept(robot, space, standing):
    """Feet at different heights, the robot tilted: after it both soles are flat in the layer, and it stands."""
    rng = np.random.default_rng(1)
    done = 0
    for _ in range(10):
        q = pin.integrate(robot.model, standing, rng.normal(scale=0.06, size=robot.model.nv))
        found = space.project(q)
        if found is None:
            continue
        done += 1
        assert space.stable(found)
        assert all(height + 2e-3 >= 0 and height < 0.04 for height in soles(robot, found).values())
        assert (found[7:] >= robot.limits.lower[7:] - 1e-9).all()
    assert done >= 7


@pytest.mark.feature("001-F199", "001-F200")
def test_as_few_locations_come_near_as_it_takes_and_one_more_if_asked(robot, scene, standing):
    """On one foot's middle, one sole is enough; the redundant option brings the other one too."""
    names = ["left_sole", "right_sole"]
    q = standing.copy()
    q[2] += 0.03
    com = pin.centerOfMass(robot.model, robot.model.createData(), q)
    q[robot.model.joints[robot.model.getJointId("RLEG_JOINT3")].idx_q] += 0.9
    # The centre of mass above the left sole: the robot leans sideways about it.
    roll = np.arctan2(0.095 - com[1], com[2])
    for joint in ("LLEG_JOINT1", "LLEG_JOINT5"):
        sign = 1.0 if joint == "LLEG_JOINT5" else -1.0
        q[robot.model.joints[robot.model.getJointId(joint)].idx_q] += sign * roll
    q[1] += 0.06
    few = GuideSpace(robot, scene, names).project(q)
    more = GuideSpace(robot, scene, names, redundant=True).project(q)
    assert few is not None
    assert more is not None
    assert len(GuideSpace(robot, scene, names).near(few)) == 1
    assert len(GuideSpace(robot, scene, names).near(more)) == 2


HAND = "right_hand_fingers"


@pytest.fixture(scope="module")
def rail(robot):
    """A space of the hand alone beside a round rail, the rail's frame in the world, and its surface."""
    scene = load_scene("rail_and_step")
    surface = next(one for one in scene.surfaces if one.name == "rail")
    body = next(one for one in scene.bodies if one.name == surface.body)
    return GuideSpace(robot, scene, [HAND], thickness=0.04), body.placement_world_body * surface.placement_body_surface


def held_at(robot, place):
    """The robot's usual posture, put where its hand's patch is at a place."""
    location, q = robot.contacts[HAND], robot.postures["half_sitting"]
    patch = robot.link_placements(q)[location.link] * location.placement_link_patch
    return robot.place_base(q, place * patch.inverse() * robot.placement_base(q))


@pytest.mark.feature("001-F009")
def test_a_hand_is_near_a_round_rail_where_its_palm_is_tangent_within_the_layer(robot, rail):
    """At an angle of 0.4 about the axis, 0.1 m along it, as high as said above it; and beside the outline."""
    space, frame = rail
    for angle, height, near in ((0.4, -0.01, 0), (0.4, 0.0, 1), (0.4, 0.039, 1), (0.4, 0.041, 0), (1.2, 0.01, 0)):
        turn = pin.utils.rotate("x", angle)
        out = np.array([0.1, 0.0, -0.025]) + (0.025 + height) * turn[:, 2]
        found = space.near(held_at(robot, frame * pin.SE3(turn, out)))
        assert [surface.name for _, surface in found] == ["rail"] * near


@pytest.mark.feature("001-F009")
def test_projection_brings_a_hand_to_a_round_rail(robot, rail):
    space, frame = rail
    away = frame * pin.SE3(pin.exp3(np.array([0.15, 0.2, 0.3])), np.array([0.1, 0.01, 0.1]))
    number = [surface.name for surface, _ in space._surfaces].index("rail")
    x = space._newton(space.kinematics.coordinates(held_at(robot, away)), [(0, number)])
    location = robot.contacts[HAND]
    place = robot.link_placements(space.kinematics.configuration(x))[location.link] * location.placement_link_patch
    frame_of_axis = np.array([0.0, 0.0, -0.025])
    corners = [place.act(np.array([*corner, 0.0])) for corner in location.patch]
    from_axis = (frame.actInv(one) - frame_of_axis for one in (place.translation, *corners))
    away = [float(np.linalg.norm(one[1:])) for one in from_axis]
    assert 0.025 - 2e-3 < away[0] < 0.025 + 0.04
    assert min(away[1:]) > 0.025 - 2e-3


def test_bad_spaces_are_named(robot, scene):
    with pytest.raises(InputError, match="tail"):
        GuideSpace(robot, scene, ["tail"])
    with pytest.raises(InputError, match="thickness"):
        GuideSpace(robot, scene, SOLES, thickness=0.0)
    with pytest.raises(InputError, match="surfaces"):
        GuideSpace(robot, load_scene("beam"), SOLES)
