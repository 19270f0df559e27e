# SPDX-License-Identifier: Apache-2.0
"""Couplings of two postures: values against Pinocchio, derivatives against finite differences."""

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pinocchio as pin
import pytest
import scipy.sparse
from fixtures.planner_robots import finite_difference, random_variables, reference_data
from fixtures.posture_problems import HALF_SITTING, HRP2, feet, feet_and_hand
from fixtures.turning_walk import SOLES, SUPPORTS, displaced, turning_walk, walk_couplings, walk_start
from numpy.testing import assert_allclose

from humanoid_model import Stance
from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.support_polygon import SupportPolygon
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.program import SolverOptions
from humanoid_planner.posture.multiple import Coupling, MultiplePostures, SameFootprint, SamePlacement
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements
from humanoid_planner.posture.tasks.criteria import NearReference
from humanoid_planner.posture.tasks.state import PostureState

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


BACKWARDS = pin.SE3(pin.utils.rotate("z", 0.8), np.array([-0.6, 0.2, 0.0]))


def _two_problems() -> list[PostureProblem]:
    """The second one has force variables, so that the blocks differ in size."""
    problems = []
    for stance, stability in ((Stance(feet()), "polygon"), (feet_and_hand(), "forces")):
        kinematics = RobotKinematics(HRP2)
        criterion = NearReference(kinematics, HALF_SITTING)
        problems.append(PostureProblem(
            HRP2, stance, PostureRequirements(criterion=criterion, stability=stability), kinematics=kinematics
        ))
    return problems


@pytest.mark.feature("001-F093")
def test_program_derivatives() -> None:
    couplings = [SamePlacement(0, 1, "HEAD_LINK1"), SameFootprint(1, 0, HRP2.contacts["left_sole"])]
    postures = MultiplePostures(_two_problems(), couplings, weights=[1.0, 3.0])
    program = postures.program
    rng = np.random.default_rng(0)
    x = postures.start([HALF_SITTING] * 2) + 0.05 * rng.normal(size=program.size)
    pattern = program.nonzeros
    J = scipy.sparse.coo_array((program.jacobian(x), (pattern.row, pattern.col)), shape=pattern.shape).toarray()
    assert pattern.shape == (len(program.constraint_lower), program.size)
    assert_allclose(J, finite_difference(lambda y: program.constraints(y).copy(), x), atol=1e-6)
    gradient = finite_difference(lambda y: [program.objective(y)], x)[0]
    assert_allclose(program.objective_gradient(x), gradient, atol=1e-6)
    assert_allclose(program.objective_hessian(x), finite_difference(program.objective_gradient, x), atol=1e-6)
    first, second = program.split(x)
    expected = postures.problems[0].program.objective(first) + 3.0 * postures.problems[1].program.objective(second)
    assert_allclose(program.objective(x), expected)


def test_uncoupled_postures_are_those_found_one_by_one() -> None:
    options = SolverOptions(optimality_tolerance=1e-6, max_iterations=300)
    together = MultiplePostures(_two_problems()[:1]).solve([HALF_SITTING], solver="sqp", options=options)
    both = MultiplePostures([_two_problems()[0], _two_problems()[0]]).solve(
        [HALF_SITTING, HALF_SITTING], solver="sqp", options=options
    )
    assert together.success
    assert both.success
    for q in both.postures:
        assert_allclose(q, together.postures[0], atol=1e-4)


def _sole(q: np.ndarray, name: str) -> pin.SE3:
    location = HRP2.contacts[name]
    data = reference_data(HRP2, q)
    return data.oMf[HRP2.model.getFrameId(location.link)] * location.placement_link_patch


@pytest.mark.feature("001-F093", "001-F258")
def test_walking_backwards_while_turning() -> None:
    """X02: every foot lies flat and stays where it stands, and the centre of mass is above what bears it."""
    walk = turning_walk(BACKWARDS)
    assert len(walk.problems) == 10
    result = walk.solve(walk_start(BACKWARDS))
    assert result.success
    soles = [{name: _sole(q, name) for name in SOLES} for q in result.postures]
    for placement in (sole for posture in soles for sole in posture.values()):
        assert abs(placement.translation[2]) < 1e-6
        assert_allclose(placement.rotation[:, 2], [0.0, 0.0, 1.0], atol=1e-5)
    moves = 0
    for before, (one, other) in enumerate(itertools.pairwise(soles)):
        for name in SOLES:
            same = np.abs(one[name].homogeneous - other[name].homogeneous).max() < 1e-5
            if before % 2 == 0 or name == SUPPORTS[before]:
                offset = one[name].translation - other[name].translation
                assert np.linalg.norm(offset) < 1e-6
                assert same
            moves += not same
    assert moves == 4
    for foot in feet():
        goal = displaced(foot, BACKWARDS)
        for contact, posture in ((foot, soles[0]), (goal, soles[-1])):
            sole = posture[contact.location.name]
            assert_allclose(sole.translation, [contact.x, contact.y, 0.0], atol=1e-6)
            assert_allclose(math.atan2(sole.rotation[1, 0], sole.rotation[0, 0]), contact.theta, atol=1e-5)
    for q, support, posture in zip(result.postures, SUPPORTS, soles, strict=True):
        bearing = SOLES if support is None else (support,)
        corners = np.concatenate(
            [
                np.array([posture[name].act(np.array([*corner, 0.0])) for corner in HRP2.contacts[name].patch])
                for name in bearing
            ]
        )
        data = HRP2.model.createData()
        centre = pin.centerOfMass(HRP2.model, data, q)
        margin = SupportPolygon.of_points(corners[:, :2]).margin(centre[:2])
        assert margin > (-1e-6 if support is None else 0.01 - 1e-6)


def test_impossible_walk() -> None:
    """Four metres in four steps are too far."""
    motion = pin.SE3(np.eye(3), np.array([-4.0, 0.0, 0.0]))
    result = turning_walk(motion).solve(walk_start(motion), options=SolverOptions(max_iterations=60))
    assert not result.success
    assert result.residual > 1e-3


def test_couplings_of_the_walk() -> None:
    """Both feet keep their place while weight is shifted (5 times), one while the other steps (4 times)."""
    assert len(walk_couplings()) == 5 * 2 + 4


def test_bad_input() -> None:
    problems = _two_problems()
    with pytest.raises(InputError, match="there are none"):
        MultiplePostures([])
    with pytest.raises(InputError, match="share their kinematics"):
        MultiplePostures([problems[0], problems[0]])
    with pytest.raises(InputError, match="couples posture 2"):
        MultiplePostures(problems, [SamePlacement(0, 2, "HEAD_LINK1")])
    for weights in ([1.0], [1.0, -1.0], [1.0, math.nan]):
        with pytest.raises(InputError, match="weights"):
            MultiplePostures(problems, weights=weights)
    with pytest.raises(InputError, match="1 postures"):
        MultiplePostures(problems).solve([HALF_SITTING])
