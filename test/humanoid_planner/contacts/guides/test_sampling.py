# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_planner.contacts.guides.sampling import GuideSampler


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
