# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pinocchio as pin
import pytest

from humanoid_model.errors import InputError
from humanoid_planner.distance.distance import distance
from humanoid_planner.distance.half_space import HalfSpace
from humanoid_planner.distance.rounded_hull import RoundedHull
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume

CUBE = np.array([[x, y, z] for x in (-0.05, 0.05) for y in (-0.05, 0.05) for z in (-0.05, 0.05)])


def shifted(*translation: float) -> pin.SE3:
    return pin.SE3(np.eye(3), np.array(translation))


@pytest.mark.parametrize(
    ("R", "expected"), [(1.0, 0.02494304), (10.0, 0.02949949), (20.0, 0.02974987), (100.0, 0.02994999)]
)
def test_facing_cubes_of_the_specification(R: float, expected: float) -> None:
    cube = SphereTorusVolume.from_points(CUBE, 0.01, R)
    result = distance(cube, shifted(0.15, 0.0, 0.0), cube, shifted(0.0, 0.0, 0.0))
    assert result.value == pytest.approx(expected, abs=5e-9)
    assert np.allclose(result.normal, [1.0, 0.0, 0.0], atol=1e-12)
    assert np.allclose(result.points[0] - result.points[1], [expected, 0.0, 0.0], atol=5e-9)


def test_balls() -> None:
    small, large = (SphereTorusVolume.from_points(np.zeros((1, 3)), r, 20.0) for r in (0.1, 0.25))
    apart = distance(small, shifted(0.0, 3.0, 4.0), large, shifted(0.0, 0.0, 0.0))
    assert apart.value == pytest.approx(5.0 - 0.35, abs=1e-14)
    assert np.allclose(apart.points, [[0.0, 2.94, 3.92], [0.0, 0.15, 0.2]])
    concentric = distance(small, shifted(0.0, 0.0, 0.0), large, shifted(0.0, 0.0, 0.0))
    assert concentric.value == pytest.approx(-0.35, abs=1e-12)
    assert np.linalg.norm(concentric.normal) == pytest.approx(1.0)


@pytest.mark.feature("001-F131")
def test_gradient_is_that_of_the_twists() -> None:
    rng = np.random.default_rng(1)
    a = SphereTorusVolume.from_points(rng.normal(size=(15, 3)) * 0.1, 0.01, 20.0)
    b = SphereTorusVolume.from_points(rng.normal(size=(12, 3)) * 0.1, 0.02, 2.0)
    placement_a = pin.SE3.Random()
    placement_b = pin.SE3(pin.SE3.Random().rotation, placement_a.translation + np.array([0.5, 0.1, -0.2]))
    result = distance(a, placement_a, b, placement_b)
    step = 1e-6
    for which in range(2):
        for k in range(6):
            values = []
            for sign in (1.0, -1.0):
                twist = np.zeros(6)
                twist[k] = sign * step
                moved = [placement_a, placement_b]
                moved[which] = pin.SE3(
                    pin.exp3(twist[3:]) @ moved[which].rotation, moved[which].translation + twist[:3]
                )
                values.append(distance(a, moved[0], b, moved[1]).value)
            assert (values[0] - values[1]) / (2 * step) == pytest.approx(result.gradient[which, k], abs=1e-7)


def test_half_space_first_and_second() -> None:
    cube = SphereTorusVolume.from_points(CUBE, 0.01, 20.0)
    ground = HalfSpace(np.array([0.0, 0.0, 1.0]), 0.0)
    above = distance(cube, shifted(0.0, 0.0, 1.0), ground, shifted(0.0, 0.0, 0.2))
    below = distance(ground, shifted(0.0, 0.0, 0.2), cube, shifted(0.0, 0.0, 1.0))
    assert above.value == pytest.approx(0.75 - 0.01012506, abs=1e-8)
    assert below.value == above.value
    assert np.allclose(above.normal, [0.0, 0.0, 1.0])
    assert np.allclose(below.normal, [0.0, 0.0, -1.0])
    assert np.allclose(above.points, below.points[::-1])
    assert np.allclose(above.points[1], [0.0, 0.0, 0.2])
    assert np.allclose(above.gradient, below.gradient[::-1])


@pytest.mark.feature("001-F133")
def test_plain_body_first_and_second() -> None:
    """Points are each body's own: the plain one's on the face of its box, the volume's beyond its margin."""
    volume, box = SphereTorusVolume.from_points(CUBE, 0.01, 20.0), RoundedHull(2.0 * CUBE, 0.0)
    up = pin.SE3(pin.rpy.rpyToMatrix(0.5, 0.7, 0.0), np.array([0.02, 0.01, 0.5]))
    above, below = distance(volume, up, box, shifted(0.0, 0.0, 0.0)), distance(box, shifted(0.0, 0.0, 0.0), volume, up)
    assert above.value == pytest.approx(below.value, abs=1e-12)
    assert np.allclose(above.points, below.points[::-1], atol=1e-12)
    assert np.allclose(above.normal, -below.normal, atol=1e-12)
    assert below.points[0, 2] == pytest.approx(0.1, abs=1e-9)
    assert below.points[1, 2] == pytest.approx(0.1 + below.value, abs=1e-9)


def test_two_half_spaces_have_no_distance() -> None:
    ground = HalfSpace(np.array([0.0, 0.0, 1.0]), 0.0)
    with pytest.raises(InputError, match="is a and b, neither of them strictly convex"):
        distance(ground, pin.SE3.Identity(), ground, pin.SE3.Identity())
