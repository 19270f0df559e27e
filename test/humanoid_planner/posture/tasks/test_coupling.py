# SPDX-License-Identifier: Apache-2.0
"""Couplings of two postures: values against Pinocchio, derivatives against finite differences."""

from collections.abc import Callable, Sequence

import numpy as np
import pinocchio as pin
import pytest
from fixtures.planner_robots import finite_difference, random_variables, reference_data
from fixtures.posture_problems import HRP2
from numpy.testing import assert_allclose

from humanoid_model import Stance
from humanoid_model.errors import InputError
from humanoid_planner.posture.problem.problem import PostureProblem
from humanoid_planner.posture.problem.requirements import PostureRequirements
from humanoid_planner.posture.problem.state import PostureState
from humanoid_planner.posture.tasks.coupling import Coupling, SameFootprint, SamePlacement

SOLE = HRP2.contacts["right_sole"]
TILTED = pin.SE3(pin.utils.rotate("x", 0.3) @ pin.utils.rotate("z", 1.0), np.array([0.3, 0.1, -0.2]))
MAKERS: list[Callable[[], Coupling]] = [
    lambda: SamePlacement(0, 1, SOLE.link),
    lambda: SameFootprint(0, 1, SOLE),
    lambda: SameFootprint(0, 1, SOLE, TILTED),
]


@pytest.fixture
def states() -> list[PostureState]:
    problems = [PostureProblem(HRP2, Stance(()), PostureRequirements(stability="none")) for _ in range(2)]
    rng = np.random.default_rng(4)
    for problem in problems:
        problem.state.set(random_variables(problem.kinematics, rng))
    return [problem.state for problem in problems]


@pytest.mark.parametrize("make", MAKERS)
def test_jacobians(make: Callable[[], Coupling], states: Sequence[PostureState]) -> None:
    coupling = make()
    rng = np.random.default_rng(5)
    for trial in range(3):
        if trial == 2:  # nearly the same placement, as at a solution
            states[1].set(states[0].x + 1e-4 * rng.normal(size=states[0].size))
        here = [state.x.copy() for state in states]
        matrices = coupling.jacobians(states)
        for index, state in enumerate(states):

            def value(x: np.ndarray, state: PostureState = state) -> np.ndarray:
                state.set(x)
                return coupling.value(states)

            expected = finite_difference(value, here[index])
            state.set(here[index])
            assert_allclose(matrices[index], expected, atol=2e-7)
        for state in states:
            state.set(random_variables(state.kinematics, rng))


def _placement(state: PostureState, link: str) -> pin.SE3:
    data = reference_data(HRP2, state.kinematics.configuration(state.x))
    return data.oMf[HRP2.model.getFrameId(link)].copy()


def test_same_placement_measures_the_difference(states: Sequence[PostureState]) -> None:
    a, b = (_placement(state, SOLE.link) for state in states)
    value = SamePlacement(0, 1, SOLE.link).value(states)
    assert_allclose(value[:3], b.translation - a.translation, atol=1e-12)
    assert_allclose(pin.exp3(value[3:]), a.rotation.T @ b.rotation, atol=1e-12)
    states[1].set(states[0].x)
    assert_allclose(SamePlacement(0, 1, SOLE.link).value(states), 0.0, atol=1e-12)


@pytest.mark.feature("001-F093")
@pytest.mark.parametrize("surface", [pin.SE3.Identity(), TILTED])
def test_same_footprint_measures_slips_and_turns(surface: pin.SE3, states: Sequence[PostureState]) -> None:
    """A foot flat on a plane, moved along it and turned about its normal: found again, and nothing else counts."""
    a, x = _placement(states[0], SOLE.link), states[0].x.copy()
    flat = surface * SOLE.placement_link_patch.inverse()  # link placement whose patch is the surface's frame
    slip = pin.SE3(pin.utils.rotate("z", 0.7), np.array([0.2, -0.1, 0.0]))
    there = surface * slip * SOLE.placement_link_patch.inverse()
    for state, link in zip(states, (flat, there), strict=True):
        q = state.kinematics.configuration(x)
        base = link * a.inverse() * pin.XYZQUATToSE3(q[:7])
        q[:7] = pin.SE3ToXYZQUAT(base)
        goal = state.kinematics.coordinates(q)
        state.set(goal)
        assert_allclose(_placement(state, SOLE.link).homogeneous, link.homogeneous, atol=1e-9)
    assert_allclose(SameFootprint(0, 1, SOLE, surface).value(states), [0.2, -0.1, 0.7], atol=1e-9)


def test_bad_couplings() -> None:
    for postures in ((1, 1), (-1, 2)):
        with pytest.raises(InputError, match="different indices"):
            SamePlacement(*postures, SOLE.link)

    class Crossing(Coupling):
        def value(self, states: Sequence[PostureState]) -> np.ndarray:
            return np.zeros(1)

        def jacobians(self, states: Sequence[PostureState]) -> list[np.ndarray]:
            return []

    with pytest.raises(InputError, match="none above"):
        Crossing("crossing", (0, 1), [1.0], [0.0])
