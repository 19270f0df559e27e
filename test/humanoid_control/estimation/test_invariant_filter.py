# SPDX-License-Identifier: Apache-2.0
"""The filter against plain integration, differences, and chance."""

from __future__ import annotations

import copy

import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.stats import chi2

from humanoid_control.estimation.filter_kernels import NONE, POINT, POSE, correct
from humanoid_control.estimation.invariant_filter import InvariantFilter

GRAVITY = np.array([0.0, 0.0, -9.81])
OPEN = np.array([np.inf, np.inf, 1.0])
SILENT = np.zeros(4)
STILL = np.zeros((2, 4))
KINDS = (POSE, POINT)


def seen(R: np.ndarray, p: np.ndarray, Z: np.ndarray, d: np.ndarray) -> np.ndarray:
    return np.vstack([R.T @ Z, R.T @ (d - p)])


def random_filter(rng: np.random.Generator) -> InvariantFilter:
    """Anywhere, with a contact that holds its pose and one that holds its place."""
    own = InvariantFilter(2)
    own.reset(pin.exp3(rng.normal(size=3)), rng.normal(size=3), rng.normal(size=3), np.zeros(15))
    for k, kind in enumerate(KINDS):
        own.add(k, kind, np.vstack([pin.exp3(rng.normal(size=3)), rng.normal(size=3)]), np.zeros((6, 6)))
    own.biases[:] = 0.1 * rng.normal(size=(2, 3))
    return own


def group(own: InvariantFilter) -> np.ndarray:
    """(7, 7) rotation, velocity, position, places of two contacts as one matrix of SE_4(3)."""
    X = np.eye(7)
    X[:3, :3], X[:3, 3:] = own.rotation, own.state.vectors.T
    return X


def moved(own: InvariantFilter, e: np.ndarray) -> InvariantFilter:
    """What the truth is, seen from the filter, for an error (27,), by matrix exponentials."""
    truth, generator = copy.deepcopy(own), np.zeros((7, 7))
    generator[:3, :3], generator[:3, 3:] = pin.skew(e[:3]), e[[[3, 6, 15, 21], [4, 7, 16, 22], [5, 8, 17, 23]]]
    X = expm(generator) @ group(own)
    truth.rotation[:], truth.state.vectors[:] = X[:3, :3], X[:3, 3:].T
    truth.biases[:] += e[9:15].reshape(2, 3)
    for k in range(2):
        truth.state.rotations[1 + k] = pin.exp3(e[18 + 6 * k : 21 + 6 * k]) @ own.state.rotations[1 + k]
    return truth


def error(truth: InvariantFilter, own: InvariantFilter) -> np.ndarray:
    """The error (27,) to first order and, of the rotations, exactly."""
    X, e = group(truth) @ np.linalg.inv(group(own)), np.zeros(27)
    e[:3] = pin.log3(X[:3, :3])
    inverse = np.linalg.inv(pin.Jexp3(-e[:3]))  # of the left Jacobian
    e[3:9], e[15:18], e[21:24] = (inverse @ X[:3, 3:5]).T.ravel(), inverse @ X[:3, 5], inverse @ X[:3, 6]
    e[9:15] = (truth.biases - own.biases).ravel()
    for k in range(2):
        e[18 + 6 * k : 21 + 6 * k] = pin.log3(truth.state.rotations[1 + k] @ own.state.rotations[1 + k].T)
    return e


def test_errors_of_these_tests_are_inverse_to_each_other() -> None:
    rng = np.random.default_rng(1)
    own, e = random_filter(rng), 0.3 * rng.normal(size=27)
    assert np.abs(error(moved(own, e), own) - e).max() < 1e-12


@pytest.mark.parametrize("rate", [0.0, 1e-3, 2.0])
def test_a_constant_rate_and_force_are_integrated_exactly(rate: float) -> None:
    rng = np.random.default_rng(2)
    own = random_filter(rng)
    omega, force = rate * np.array([0.6, -0.64, 0.48]), np.array([2.0, -3.0, 8.0])

    def motion(_: float, x: np.ndarray) -> np.ndarray:
        R = x[:9].reshape(3, 3)
        return np.concatenate([(R @ pin.skew(omega)).ravel(), R @ force + GRAVITY, x[9:12]])

    begin = np.concatenate([own.rotation.ravel(), own.velocity, own.position])
    end = solve_ivp(motion, (0.0, 0.7), begin, rtol=1e-12, atol=1e-12).y[:, -1]
    own.propagate(np.stack([omega, force]) + own.biases, SILENT, STILL, 0.7)
    assert np.abs(np.concatenate([own.rotation.ravel(), own.velocity, own.position]) - end).max() < 1e-9


def test_errors_advance_as_differences_do() -> None:
    rng, h, dt = np.random.default_rng(3), 1e-6, 0.02
    own, imu = random_filter(rng), np.stack([3.0 * rng.normal(size=3), 10.0 * rng.normal(size=3)])
    for u in [*np.eye(27), *rng.normal(size=(5, 27))]:
        u[24:27] = 0.0  # a point has no orientation
        after, truth = copy.deepcopy(own), moved(own, h * u)
        after.covariance[:] = np.outer(u, u)
        after.propagate(imu, SILENT, STILL, dt)
        truth.propagate(imu, SILENT, STILL, dt)
        slope = error(truth, after) / h
        assert np.abs(after.covariance - np.outer(slope, slope)).max() < 1e-4 * max(1.0, np.abs(u).max() ** 2)


def test_noise_grows_as_samples_of_it_spread() -> None:
    rng, dt, count = np.random.default_rng(4), 0.01, 4000
    own, imu = random_filter(rng), np.array([[0.3, -1.0, 2.0], [1.0, 2.0, 9.0]])
    own.biases[:] = 0.0
    noise = np.array([0.02, 0.1, 0.05, 0.2])
    rolling = np.array([[0.03, 0.2, 0.1, -0.05], [0.04, 0.3, 0.0, 0.1]])
    mean = copy.deepcopy(own)
    mean.propagate(imu, noise, rolling, dt)
    errors = []
    for _ in range(count):
        sample = copy.deepcopy(own)
        sample.propagate(imu + np.array([[noise[0]], [noise[1]]]) / np.sqrt(dt) * rng.normal(size=(2, 3)), SILENT,
                         STILL, dt)  # fmt: skip
        sample.biases[:] += np.array([[noise[2]], [noise[3]]]) * np.sqrt(dt) * rng.normal(size=(2, 3))
        for k in range(2):
            turn = rolling[k, 1] * np.sqrt(dt) * rng.normal(size=3)
            lever = -own.state.rotations[1 + k][:, :2] @ rolling[k, 2:]
            drift = rolling[k, 0] * np.sqrt(dt) * rng.normal(size=3) + np.cross(turn, lever)
            sample.state.vectors[2 + k] += drift
            if k == 0:
                sample.state.rotations[1] = pin.exp3(turn) @ sample.state.rotations[1]
        errors.append(error(sample, mean))
    sampled = np.cov(np.array(errors).T)
    scale = np.sqrt(np.maximum(np.diag(mean.covariance), 1e-30))
    difference = (sampled - mean.covariance) / np.outer(scale, scale)
    assert np.abs(difference[:24, :24]).max() < 0.1  # six deviations of such a correlation are 0.095


@pytest.mark.parametrize("k", [0, 1])
def test_innovations_are_linear_in_the_errors(k: int) -> None:
    """A correction by a contact whose measurement is sure ends where the truth is, seen from there."""
    rng, held = np.random.default_rng(5), (6, 3)[k]
    own = random_filter(rng)
    for e in 1e-4 * rng.normal(size=(10, 27)):
        own.covariance[:] = np.eye(27)
        own.covariance[24:27], own.covariance[:, 24:27] = 0.0, 0.0
        truth, after = moved(own, e), copy.deepcopy(own)
        told = seen(truth.rotation, truth.position, truth.state.rotations[1 + k], truth.state.vectors[3 + k - 1])
        after.correct(k, told, 1e-12 * np.eye(6), OPEN)
        told_again = seen(after.rotation, after.position, after.state.rotations[1 + k], after.state.vectors[2 + k])
        assert np.abs(told_again[3] - told[3]).max() < 1e-7
        if held == 6:
            assert np.abs(told_again[:3] - told[:3]).max() < 1e-7


def test_a_correction_is_that_of_the_textbook() -> None:
    rng = np.random.default_rng(6)
    own = random_filter(rng)
    root = rng.normal(size=(24, 24))
    P = 1e-4 * root @ root.T
    own.covariance[:24, :24] = P
    N_root = rng.normal(size=(6, 6))
    N = 1e-4 * N_root @ N_root.T
    told = seen(own.rotation, own.position, own.state.rotations[1], own.state.vectors[2])
    told[3] += 1e-3 * rng.normal(size=3)
    told[:3] = told[:3] @ pin.exp3(1e-3 * rng.normal(size=3))
    H = np.zeros((6, 24))
    H[:3, 15:18], H[:3, 6:9], H[3:, 18:21], H[3:, :3] = np.eye(3), -np.eye(3), np.eye(3), -np.eye(3)
    turn = np.kron(np.eye(2), own.rotation)
    S = H @ P @ H.T + turn @ N @ turn.T
    z = np.concatenate([own.rotation @ told[3] + own.position - own.state.vectors[2],
                        pin.log3(own.rotation @ told[:3] @ own.state.rotations[1].T)])  # fmt: skip
    K = P @ H.T @ np.linalg.inv(S)
    wanted = moved(own, np.concatenate([K @ z, np.zeros(3)]))
    assert correct(own.state, 0, told, N, OPEN) == pytest.approx(z @ np.linalg.solve(S, z))
    assert np.abs(own.covariance[:24, :24] - (P - K @ H @ P)).max() < 1e-12
    assert np.abs(group(own) - group(wanted)).max() < 1e-12
    assert np.abs(own.biases - wanted.biases).max() < 1e-14
    assert np.abs(own.state.rotations - wanted.state.rotations).max() < 1e-12


def test_a_contact_that_comes_is_known_as_the_sensor_is_and_its_joints() -> None:
    rng, h = np.random.default_rng(7), 1e-6
    own = InvariantFilter(2)
    own.reset(pin.exp3(rng.normal(size=3)), rng.normal(size=3), rng.normal(size=3), np.zeros(15))
    told = np.vstack([pin.exp3(rng.normal(size=3)), rng.normal(size=3)])
    for u, w in zip([*np.eye(15), *np.zeros((6, 15))], [*np.zeros((15, 6)), *np.eye(6)], strict=True):
        after, truth = copy.deepcopy(own), moved(own, np.concatenate([h * u, np.zeros(12)]))
        after.covariance[:15, :15] = np.outer(u, u)
        true_told = np.vstack([pin.exp3(h * w[3:]) @ told[:3], told[3] + h * w[:3]])
        after.add(0, POSE, told, np.outer(w, w))
        truth.add(0, POSE, true_told, np.zeros((6, 6)))
        slope = error(truth, after)[:21] / h
        assert np.abs(after.covariance[:21, :21] - np.outer(slope, slope)).max() < 1e-4


def test_a_contact_that_goes_leaves_the_rest_as_it_was() -> None:
    own = random_filter(np.random.default_rng(8))
    own.covariance[:24, :24] = np.arange(576.0).reshape(24, 24) + np.arange(576.0).reshape(24, 24).T
    before = own.covariance.copy()
    own.remove(0)
    assert own.kinds.tolist() == [NONE, POINT]
    assert not own.covariance[15:21].any()
    assert not own.covariance[:, 15:21].any()
    kept = np.r_[0:15, 21:27]
    assert np.array_equal(own.covariance[np.ix_(kept, kept)], before[np.ix_(kept, kept)])


def test_doubts_of_place_and_rotation_are_independent_wherever_the_sensor_is() -> None:
    own, deviations = InvariantFilter(1), np.arange(1.0, 16.0)
    own.reset(pin.exp3(np.array([0.3, -0.2, 1.0])), np.array([0.5, 1.0, -2.0]), np.array([3.0, -4.0, 5.0]), deviations)
    plain = np.eye(15)  # errors as differences, from those of the group
    plain[3:6, :3], plain[6:9, :3] = -pin.skew(own.velocity), -pin.skew(own.position)
    told = plain @ own.covariance[:15, :15] @ plain.T
    assert np.abs(told - np.diag(deviations**2)).max() < 1e-9


def test_what_is_too_far_away_is_not_believed() -> None:
    own = random_filter(np.random.default_rng(9))
    own.covariance[:24, :24] = 1e-6 * np.eye(24)
    told = seen(own.rotation, own.position, own.state.rotations[1], own.state.vectors[2] + np.array([0.05, 0.0, 0.0]))
    before = copy.deepcopy(own)
    gate = np.array([20.0, 30.0, 1.0])
    assert not own.correct(0, told, 1e-6 * np.eye(6), gate)
    # Of the contact, the sensor and the joints.
    assert correct(own.state, 0, told, 1e-6 * np.eye(6), gate) == pytest.approx(0.05**2 / 3e-6)
    assert np.array_equal(own.state.vectors, before.state.vectors)
    assert np.array_equal(own.covariance, before.covariance)
    told[0, 0] = np.nan
    assert not own.correct(0, told, 1e-6 * np.eye(6), gate)
    assert np.array_equal(own.state.vectors, before.state.vectors)


class Walker:
    """A body that walks with two feet along a closed form, and its noisy sensors."""

    dt, noise, doubt = 5e-3, np.array([2e-3, 2e-2, 1e-3, 5e-3]), np.diag([2e-3] * 3 + [4e-3] * 3) ** 2

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.truth, self.own = InvariantFilter(2), InvariantFilter(2)
        self.truth.reset(pin.exp3(np.array([0.1, -0.05, 0.7])), np.zeros(3), np.array([1.0, 2.0, 0.9]), np.zeros(15))
        deviations = np.array([0.03] * 3 + [0.1] * 3 + [0.02] * 3 + [0.01] * 3 + [0.1] * 3)
        self.own = copy.deepcopy(self.truth)
        self.own.reset(self.truth.rotation, self.truth.velocity, self.truth.position, deviations)
        drawn = np.zeros(27)
        drawn[:15] = np.linalg.cholesky(self.own.covariance[:15, :15]) @ self.rng.normal(size=15)
        self.truth.biases[:] = 0.0
        self.truth = moved(self.own, drawn)
        self.stand = [self.foothold(k) for k in range(2)]

    def foothold(self, k: int) -> np.ndarray:
        """Rotation and place of a foot in the world, (4, 3)."""
        aside = self.truth.rotation @ np.array([0.1, (-0.1, 0.1)[k], -0.9])
        return np.vstack([pin.exp3(0.1 * self.rng.normal(size=3)), self.truth.position + aside])

    def step(self, i: int) -> None:
        time = i * self.dt
        omega = np.array([0.2 * np.cos(3.0 * time), -0.3 * np.sin(4.0 * time), 0.3])
        swing = np.array([1.5 * np.cos(5.0 * time), 2.0 * np.cos(3.0 * time), np.sin(6.0 * time)])
        force = self.truth.rotation.T @ (swing - GRAVITY)
        imu = np.stack([omega, force]) + self.truth.biases
        self.truth.propagate(imu, SILENT, STILL, self.dt)
        noisy = imu + self.noise[:2, None] / np.sqrt(self.dt) * self.rng.normal(size=(2, 3))
        self.truth.biases[:] += self.noise[2:, None] * np.sqrt(self.dt) * self.rng.normal(size=(2, 3))
        self.own.propagate(noisy, self.noise, STILL, self.dt)
        for k in range(2):
            if i % 100 == 50 * k and i > 0:
                self.own.remove(k)
                self.stand[k] = self.foothold(k)
            if (i - 50 * k) % 100 < 15 and i > 50:
                continue  # in the air
            w = np.sqrt(np.diag(self.doubt)) * self.rng.normal(size=6)
            told = seen(self.truth.rotation, self.truth.position, self.stand[k][:3], self.stand[k][3])
            told = np.vstack([pin.exp3(w[3:]) @ told[:3], told[3] + w[:3]])
            if self.own.kinds[k] == NONE:
                self.own.add(k, KINDS[k], told, self.doubt)
            else:
                self.own.correct(k, told, self.doubt, OPEN)


def test_errors_are_as_large_as_the_filter_says() -> None:
    """Normalised squared errors of 40 walks of 4 s keep to the bounds of chance; they are correlated in time."""
    runs, normalised = 40, []
    for seed in range(runs):
        walker = Walker(seed)
        for i in range(801):
            walker.step(i)
            if i in (100, 300, 500, 800):
                e = error(walker.truth, walker.own)[:15]
                normalised.append(e @ np.linalg.solve(walker.own.covariance[:15, :15], e))
    for squares in np.array(normalised).reshape(runs, 4).T:
        lower, upper = chi2.ppf([1e-3, 1.0 - 1e-3], 15 * runs)
        assert lower < squares.sum() < upper


def test_place_and_heading_are_never_known_better_and_the_rest_is() -> None:
    walker = Walker(100)
    begin = walker.own.covariance.copy()
    for i in range(801):
        walker.step(i)
        P = walker.own.covariance
        # The error's z is the world's vertical. Biases, whose effect depends on the state, leave a trace.
        assert P[2, 2] > (1.0 - 1e-5) * begin[2, 2]
    assert P[2, 2] > 1.002 * begin[2, 2]
    place = np.hstack([-pin.skew(walker.own.position), np.zeros((3, 3)), np.eye(3)])  # without the group's lever
    assert np.linalg.eigvalsh(place @ P[:9, :9] @ place.T).min() > 0.02**2
    assert np.diag(P)[:2].max() < 0.3**2 * begin[0, 0]
    assert np.diag(P)[3:6].max() < 0.3**2 * begin[3, 3]
    assert np.diag(P)[9:12].max() < 0.3**2 * begin[9, 9]
