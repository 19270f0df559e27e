# SPDX-License-Identifier: Apache-2.0
"""Analytic sets of the two-link robot (F026): oracle O1-02, memberships, homeomorphism, steps and walks."""

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_studies.two_link.two_link import TwoLinkRobot

pytestmark = pytest.mark.feature("001-F002", "001-F026")

ROBOT = TwoLinkRobot(1.0, 0.6)


def test_oracle_o1_02() -> None:
    q = ROBOT.transition(1.0, 0.0)
    assert_allclose(q, [0.18, 0.57236352, 0.96141102, -0.30469265], atol=5e-9)
    assert_allclose(q[2], math.acos(0.6 * math.cos(q[3])), atol=1e-12)


def test_transitions_are_unique() -> None:
    """Each pair of places within reach has one configuration, found again by its own feet; others have none."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        x1 = rng.uniform(-5, 5)
        x2 = x1 + rng.choice([-1, 1]) * rng.uniform(0.4001, 1.5999)
        q = ROBOT.transition(x1, x2)
        assert ROBOT.stands_on_both(q)
        assert_allclose(ROBOT.feet(q), [[x1, 0.0], [x2, 0.0]], atol=1e-12)
        # (2.5): the sign of theta_1 is that of the step
        assert_allclose(q[2], np.sign(x1 - x2) * math.acos(0.6 * math.cos(q[3])), atol=1e-9)
    for span in (0.0, 0.4, -0.4, 1.6, -1.6, 3.0):
        with pytest.raises(InputError, match="apart"):
            ROBOT.transition(1.0, 1.0 + span)


def test_free_sets_are_those_of_their_inequalities() -> None:
    """(2.2)-(2.4) on a grid of angles, against heights of the feet; the three sets are disjoint."""
    counts = np.zeros(3, dtype=int)
    for a in np.linspace(-3.1, 3.1, 63):
        for b in np.linspace(-3.1, 3.1, 63):
            first = abs(a) < math.pi / 2 and abs(a) < math.acos(0.6 * math.cos(b))
            ratio = math.cos(a) / 0.6
            second = abs(b) < math.pi / 2 and ratio <= 1 and abs(b) < math.acos(max(ratio, -1.0))
            q1, q2 = ROBOT.leaf(1, 0.3, (a, b)), ROBOT.leaf(2, 0.3, (a, b))
            assert ROBOT.stands_on(1, q1) == first
            assert ROBOT.stands_on(2, q2) == second
            assert not (first and second)
            for q, foot, inside in ((q1, 1, first), (q2, 2, second)):
                assert ROBOT.touches(foot, q)
                assert not ROBOT.stands_on_both(q)
                if inside:
                    assert ROBOT.in_contact(q)
                    assert not ROBOT.stands_on(3 - foot, q)
            counts += first, second, not (first or second)
    assert (counts > 100).all()


def test_transitions_bound_both_free_sets() -> None:
    """T_free is the common boundary: from any of its points both sets are next to it."""
    for span in (-1.4, -0.8, 0.5, 1.1, 1.5):
        q = ROBOT.transition(span, 0.0)
        assert not ROBOT.stands_on(1, q)
        assert not ROBOT.stands_on(2, q)
        inward = np.array([-1e-4 * np.sign(q[2]), 0.0])
        assert ROBOT.stands_on(1, ROBOT.leaf(1, span, q[2:] + inward))
        assert ROBOT.stands_on(2, ROBOT.leaf(2, 0.0, q[2:] - inward))


def test_feet_below_the_ground_or_in_the_air_are_no_contact() -> None:
    assert not ROBOT.in_contact([0.0, 0.9, 0.0, 0.0])
    assert not ROBOT.in_contact([0.0, 1.1, 0.0, 0.0])
    assert ROBOT.in_contact([0.0, 1.0, 0.0, 0.0])
    assert not ROBOT.stands_on(2, [0.0, 0.6, 0.0, 0.0])


def test_projection_is_one_to_one() -> None:
    """p_y and its inverse (E-02) on the cross; outside of it O would be below the ground."""
    rng = np.random.default_rng(1)
    inside = 0
    for a, b in rng.uniform(-math.pi, math.pi, (300, 2)):
        if abs(a) > math.pi / 2 and abs(b) > math.pi / 2:
            with pytest.raises(InputError, match="upwards"):
                ROBOT.lift([0.2, a, b])
            continue
        q = ROBOT.lift([0.2, a, b])
        assert ROBOT.in_contact(q)
        assert_allclose(ROBOT.project(q), [0.2, a, b])
        inside += 1
    assert inside > 150


@pytest.mark.parametrize("foot", [1, 2])
@pytest.mark.parametrize(("before", "after"), [(-1.2, 0.7), (0.45, 1.55), (-0.5, -1.5), (1.0, -1.0)])
def test_step(foot: int, before: float, after: float) -> None:
    """A path in one leaf with its ends on both feet, without jumps (Fig. 2.6)."""
    places = [(0.3, 0.3 + d) if foot == 1 else (0.3 + d, 0.3) for d in (before, after)]
    start, end = (ROBOT.transition(*place) for place in places)
    path = ROBOT.step(foot, start, end, samples=40)
    assert_allclose(path[0], start, atol=1e-12)
    assert_allclose(np.exp(1j * path[-1]), np.exp(1j * end), atol=1e-12)
    assert all(ROBOT.stands_on(foot, q) for q in path[1:-1])
    assert_allclose([ROBOT.feet(q)[foot - 1] for q in path], np.tile([0.3, 0.0], (len(path), 1)), atol=1e-12)
    assert np.abs(np.diff(path, axis=0)).max() < 2 * math.pi / 40 + 1e-9


def test_walk() -> None:
    """Leaves foliate: a foot's place changes in transitions only, one foot at a time."""
    walk = [ROBOT.transition(*places) for places in ((1.0, 0.0), (1.0, 2.0), (3.0, 2.0), (3.0, 4.0))]
    assert ROBOT.is_walk(walk)
    assert ROBOT.is_walk([])
    assert not ROBOT.is_walk([walk[0], walk[2]])
    assert not ROBOT.is_walk([walk[0], ROBOT.leaf(1, 1.0, (0.1, 0.2))])
    for one, other in itertools.pairwise(walk):
        kept = 1 + int(np.argmin(np.abs(ROBOT.feet(one)[:, 0] - ROBOT.feet(other)[:, 0])))
        path = ROBOT.step(kept, one, other)
        assert all(ROBOT.in_contact(q) for q in path)


def test_bad_input() -> None:
    for lengths in ((0.6, 1.0), (1.0, 0.0), (math.inf, 1.0), (1.0, math.nan)):
        with pytest.raises(InputError, match="l1 > l2"):
            TwoLinkRobot(*lengths)
    with pytest.raises(InputError, match="foot 3"):
        ROBOT.touches(3, [0, 0, 0, 0])
    with pytest.raises(InputError, match="both feet"):
        ROBOT.step(1, ROBOT.transition(1.0, 0.0), ROBOT.leaf(1, 1.0, (0.1, 0.2)))
    with pytest.raises(InputError, match="foot 1 is at"):
        ROBOT.step(1, ROBOT.transition(1.0, 0.0), ROBOT.transition(1.2, 0.0))
