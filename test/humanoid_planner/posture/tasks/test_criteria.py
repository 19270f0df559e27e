# SPDX-License-Identifier: Apache-2.0
"""Criteria: their formulas, gradients and Hessians."""

from __future__ import annotations

import re

import numpy as np
import pinocchio as pin
import pytest
from fixtures.planner_robots import finite_difference
from fixtures.posture_problems import HALF_SITTING, HRP2, feet_and_hand

from humanoid_model import InputError, Stance, load_robot
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.motion.reactive import ReactiveBlend
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements
from humanoid_planner.posture.tasks.criteria import (
    CentreOfMassNear,
    Comfort,
    LeastTorque,
    NearPath,
    NearReference,
    NoCriterion,
    WeightedSum,
    near_middle,
)
from humanoid_planner.posture.tasks.state import ForceModel, PostureState

KINEMATICS = RobotKinematics(HRP2)
WEIGHT = 9.81 * KINEMATICS.total_mass


def criteria() -> dict:
    nx = KINEMATICS.size
    return {
        "K0": NoCriterion(),
        "K1": NearReference(KINEMATICS, HALF_SITTING),
        "K1 weighted": NearReference(KINEMATICS, HALF_SITTING, np.arange(nx) / nx),
        "K2": near_middle(KINEMATICS),
        "K5": CentreOfMassNear([0.1, 0.2]),
        "K7": LeastTorque(KINEMATICS, WEIGHT),
        "K8": Comfort(lambda x: float(np.sum(np.sin(x))), np.cos),
        "sum": WeightedSum([(0.3, near_middle(KINEMATICS)), (2.0, LeastTorque(KINEMATICS, WEIGHT))]),
    }


@pytest.fixture(scope="module")
def problem() -> PostureProblem:
    return PostureProblem(HRP2, feet_and_hand(), PostureRequirements(stability="forces"), start=HALF_SITTING)


@pytest.mark.feature("001-F048", "001-F049", "001-F050", "001-F055")
@pytest.mark.parametrize("name", criteria())
def test_gradient_agrees_with_finite_differences(name: str, problem: PostureProblem) -> None:
    criterion, state = criteria()[name], problem.state
    x = problem.start(HALF_SITTING) + 0.1 * np.random.default_rng(0).standard_normal(state.size)

    def value(y: np.ndarray) -> list[float]:
        state.set(y)
        return [criterion.value(state)]

    expected = finite_difference(value, x)[0]
    state.set(x)
    np.testing.assert_allclose(criterion.gradient(state), expected, atol=1e-6)
    assert name == "K0" or np.abs(expected).max() > 1e-3


@pytest.mark.parametrize("name", ["K1", "K2"])
def test_quadratic_criteria_have_an_exact_hessian(name: str, problem: PostureProblem) -> None:
    criterion, state = criteria()[name], problem.state
    x = problem.start(HALF_SITTING)

    def gradient(y: np.ndarray) -> np.ndarray:
        state.set(y)
        return criterion.gradient(state).copy()

    np.testing.assert_allclose(criterion.hessian(state), finite_difference(gradient, x), atol=1e-6)


@pytest.mark.parametrize("name", ["K5", "K7", "sum"])
def test_approximate_hessians_are_positive_semidefinite(name: str, problem: PostureProblem) -> None:
    criterion, state = criteria()[name], problem.state
    state.set(problem.start(HALF_SITTING))
    H = criterion.hessian(state)
    np.testing.assert_allclose(H, H.T)
    assert np.linalg.eigvalsh(H).min() > -1e-9 * np.abs(H).max()


@pytest.mark.feature("001-F051")
def test_half_way_reference_is_formula_4_11(problem: PostureProblem) -> None:
    state = problem.state
    state.set(problem.start(HALF_SITTING))
    q = state.x[6 : KINEMATICS.size]
    lower, upper = KINEMATICS.lower[6:], KINEMATICS.upper[6:]
    expected = float(np.sum((q - (lower + upper) / 4) ** 2))
    assert criteria()["K2"].value(state) == pytest.approx(expected, rel=1e-12)


@pytest.mark.feature("001-F050")
def test_weights_are_those_of_the_user(problem: PostureProblem) -> None:
    state = problem.state
    state.set(problem.start(HALF_SITTING) + 0.1)
    off = state.x[: KINEMATICS.size] - KINEMATICS.coordinates(HALF_SITTING)
    expected = float(np.sum(np.arange(KINEMATICS.size) / KINEMATICS.size * off**2))
    assert criteria()["K1 weighted"].value(state) == pytest.approx(expected, rel=1e-12)


@pytest.mark.feature("001-F049")
def test_the_centre_of_mass_is_measured_from_its_target(problem: PostureProblem) -> None:
    state = problem.state
    x = problem.start(HALF_SITTING)
    state.set(x)
    com = pin.centerOfMass(HRP2.model, HRP2.model.createData(), problem.posture(x))
    expected = (com[0] - 0.1) ** 2 + (com[1] - 0.2) ** 2
    assert criteria()["K5"].value(state) == pytest.approx(expected, rel=1e-9)


@pytest.mark.feature("001-F054")
def test_torques_count_by_their_limits(problem: PostureProblem) -> None:
    """K7: a wrist at its limit counts as much as a knee at its own."""
    state = problem.state
    state.set(problem.start(HALF_SITTING) + 0.1)
    shares = state.efforts[6:] / HRP2.limits.effort[6:]
    assert criteria()["K7"].value(state) == pytest.approx(float(shares @ shares), rel=1e-12)


@pytest.mark.feature("001-F049")
def test_a_steep_base_is_measured_from_the_same_orientation_as_the_variables() -> None:
    """Lying on the back, the base's angles count from there; a sum hands that on to its terms."""
    turned = pin.SE3(pin.utils.rotate("y", -np.pi / 2), np.array([0.0, 0.0, 0.2]))
    lying = HRP2.place_base(HALF_SITTING, turned)
    for term in (NearReference, ReactiveBlend):
        options = {"base": True} if term is NearReference else {}
        criterion = WeightedSum([(2.0, term(RobotKinematics(HRP2), lying, **options))])
        problem = PostureProblem(
            HRP2, Stance(()), PostureRequirements(criterion=criterion, stability="none"), start=lying
        )
        problem.state.set(problem.start(lying))
        np.testing.assert_allclose(problem.state.x[3:6], 0.0, atol=1e-12)
        assert criterion.value(problem.state) == pytest.approx(0.0, abs=1e-20)


@pytest.mark.feature("001-F050")
def test_the_base_counts_only_when_asked_for(problem: PostureProblem) -> None:
    state = problem.state
    x = problem.start(HALF_SITTING)
    x[:6] += 1.0
    state.set(x)
    assert NearReference(KINEMATICS, HALF_SITTING).value(state) == pytest.approx(0.0, abs=1e-20)
    assert NearReference(KINEMATICS, HALF_SITTING, base=True).value(state) == pytest.approx(6.0)


def test_bad_weights_are_refused() -> None:
    with pytest.raises(InputError, match="weights have shape"):
        NearReference(KINEMATICS, HALF_SITTING, [1.0, 2.0])
    with pytest.raises(InputError, match="weight of a criterion: is -1"):
        WeightedSum([(-1.0, NoCriterion())])


GRAVITY = np.array([0.0, 0.0, -9.81])


@pytest.fixture(scope="module")
def kinematics() -> RobotKinematics:
    return RobotKinematics(load_robot("hrp2", geometry=False))


@pytest.fixture(scope="module")
def path(kinematics: RobotKinematics) -> NearPath:
    robot = kinematics.robot
    return NearPath(kinematics, [robot.postures[name] for name in ("half_sitting", "squat", "squat", "sitting")])


def state_at(kinematics: RobotKinematics, x: np.ndarray) -> PostureState:
    state = PostureState(kinematics, ForceModel(kinematics, (), (), GRAVITY), 2)
    state.set(np.concatenate([x, [0.3, -0.4]]))
    return state


@pytest.mark.feature("001-F049")
@pytest.mark.feature("001-F052")
@pytest.mark.parametrize("seed", range(5))
def test_the_distance_is_that_to_the_nearest_sample(kinematics: RobotKinematics, path: NearPath, seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = np.vstack(
        [np.linspace(a, b, 20001) for a, b in zip(path.points[:-1], path.points[1:], strict=True)]
    )
    # Near the path, and beyond both of its ends, where the end is the nearest.
    first, last = path.points[0] - path.points[1], path.points[-1] - path.points[-2]
    for near in (samples[rng.integers(len(samples))], path.points[0] + 0.4 * first, path.points[-1] + 0.4 * last):
        x = near + rng.normal(scale=0.2, size=kinematics.size)
        expected = ((samples - x) ** 2).sum(axis=1).min()
        assert path.value(state_at(kinematics, x)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.feature("001-F049")
@pytest.mark.feature("001-F052")
@pytest.mark.parametrize("share", [-0.2, 0.3, 0.7])
def test_derivatives(kinematics: RobotKinematics, path: NearPath, share: float) -> None:
    """Within a segment (0.3, 0.7) and before the path's start (-0.2)."""
    rng = np.random.default_rng(3)
    a, b = path.points[:2]
    x = a + share * (b - a) + rng.normal(scale=0.02, size=kinematics.size)
    state = state_at(kinematics, x)
    gradient, hessian = path.gradient(state), path.hessian(state)
    step, numbers = 1e-5, range(kinematics.size)
    moved = [[state_at(kinematics, x + sign * step * np.eye(kinematics.size)[i]) for sign in (1, -1)] for i in numbers]
    slopes = [(path.value(plus) - path.value(minus)) / (2 * step) for plus, minus in moved]
    np.testing.assert_allclose(gradient, [*slopes, 0.0, 0.0], atol=1e-7)
    rows = [(path.gradient(plus) - path.gradient(minus)) / (2 * step) for plus, minus in moved]
    np.testing.assert_allclose(hessian[: kinematics.size], rows, atol=1e-6)
    assert not hessian[kinematics.size :].any()


@pytest.mark.feature("001-F049")
def test_a_path_has_two_postures(kinematics: RobotKinematics) -> None:
    with pytest.raises(InputError, match=re.escape("path of the criterion: has 1 postures. Give two or more.")):
        NearPath(kinematics, [kinematics.robot.postures["zero"]])
