# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import load_robot, load_scene
from humanoid_model.errors import InputError
from humanoid_planner.contacts.candidates import Place, PredefinedCandidates, RandomCandidates, SearchVolumes
from humanoid_planner.contacts.stance import Couples


@pytest.fixture(scope="module")
def couples():
    return Couples(load_robot("hrp2"), load_scene("five_stairs"), ["left_sole"])


def at(x, y, z, seed=0, surface=None):
    return Place(surface or pin.SE3.Identity(), np.array([x, y, z]), np.random.default_rng(seed))


@pytest.mark.feature("001-F170")
def test_random_places_lie_in_the_sphere_with_the_whole_sole_on_the_step(couples):
    couple = couples.number_of("left_sole", "step_2")
    surface = pin.SE3(np.eye(3), np.array([0.75, 0, 0.3]))
    place, found = Place(surface, np.array([0.6, 0.3, 0.9]), np.random.default_rng(0)), []
    for _ in range(60):
        found += RandomCandidates(density=20.0, radius=0.7).holds(couples, couple, place)
    assert len(found) > 50
    patch = couples.location(couple).patch
    for hold in found:
        assert np.linalg.norm(surface.act(np.array([hold.x, hold.y, 0])) - place.pelvis) <= 0.7
        turn = pin.utils.rotate("z", hold.theta)[:2, :2]
        corners = patch @ turn.T + [hold.x, hold.y]
        assert (np.abs(corners) <= np.array([0.15, 0.4]) + 1e-9).all()


@pytest.mark.feature("001-F170")
def test_no_draw_is_lost_on_a_rung_hardly_wider_than_the_patch():
    robot, scene = load_robot("hrp2"), load_scene("ladder")
    rungs = Couples(robot, scene, ["left_ball"], ["rung_1"])
    strategy, found = RandomCandidates(density=40.0, radius=1.0, headings=(0.0,), turn=0.05), []
    for seed in range(10):
        found += strategy.holds(rungs, 0, at(0, 0, 0, seed))
    assert len(found) == 10 * round(40.0 * math.sqrt(0.06 * 0.6))
    for hold in found:
        corners = rungs.locations[0].patch @ pin.utils.rotate("z", hold.theta)[:2, :2].T + [hold.x, hold.y]
        assert (np.abs(corners) <= np.array([0.03, 0.3]) + 1e-9).all()
    assert np.ptp([hold.y for hold in found]) > 0.3
    # Across a rung that the patch doesn't fit on.
    across = RandomCandidates(density=40.0, headings=(math.pi / 2,))
    assert not across.holds(rungs, 0, at(0, 0, 0))
    assert across.why_none(rungs, 0) == "left_ball doesn't fit on it"
    assert not strategy.why_none(rungs, 0)
    assert not RandomCandidates(headings=(math.pi / 2,), turn=math.pi / 2).why_none(rungs, 0)
    assert not SearchVolumes().why_none(rungs, 0)


def test_places_on_a_round_rail_lie_within_reach_with_all_of_the_line_that_touches():
    robot, scene = load_robot("hrp2"), load_scene("rail_and_step")
    couples = Couples(robot, scene, ["right_hand_fingers"], ["rail"])
    rail = couples.surfaces[0]
    strategy, found = RandomCandidates(density=400.0, radius=0.5, headings=(0.0,), turn=0.3), []
    found = strategy.holds(couples, 0, at(0.3, 0.0, 0.2))
    assert len(found) > 20
    for hold in found:
        place = rail.place(hold.x, hold.y, hold.theta)
        assert np.linalg.norm(place.translation - [0.3, 0.0, 0.2]) <= 0.5
        assert np.hypot(place.translation[1], place.translation[2] + 0.025) == pytest.approx(0.025)
        assert abs(hold.x) <= 0.55 - 0.025 / math.cos(hold.theta) + 1e-9
    assert np.ptp([hold.y for hold in found]) > 0.03


@pytest.mark.feature("001-F170")
def test_four_times_the_area_has_twice_the_places():
    robot, scene = load_robot("hrp2"), load_scene("stand")
    couples = Couples(robot, scene, ["left_sole"], ["floor"])
    counts = []
    for radius in (1.0, 2.0):
        # The floor has no outline: no place is left out but those in the corners of the square around the circle.
        draws = [len(RandomCandidates(20.0, radius).holds(couples, 0, at(0, 0, 0, seed))) for seed in range(60)]
        counts.append(np.mean(draws))
    assert counts[0] == pytest.approx(20 * 2.0 * math.pi / 4, rel=0.05)
    assert counts[1] / counts[0] == pytest.approx(2.0, rel=0.05)


@pytest.mark.feature("001-F170")
def test_random_places_cover_the_surface_evenly(couples):
    couple = couples.number_of("left_sole", "floor")
    found = []
    for seed in range(80):
        found += RandomCandidates(50.0, 5.0).holds(couples, couple, at(0, 0, 0.6, seed))
    # Where the sole fits in whatever direction.
    inner = np.array([(h.x, h.y) for h in found if -0.4 < h.x < 0.1 and abs(h.y) < 0.4])
    counts = np.histogram2d(*inner.T, bins=[4, 4])[0].ravel()
    mean = counts.mean()
    assert mean > 30
    assert ((counts - mean) ** 2 / mean).sum() < 37.7  # 0.1 % of the chi-squared law of 15 degrees of freedom


def test_headings_are_kept(couples):
    couple = couples.number_of("left_sole", "floor")
    strategy = RandomCandidates(80.0, 2.0, turn=0.2, headings=(0.0, 1.5))
    angles = np.array([hold.theta for hold in strategy.holds(couples, couple, at(0, 0, 0.6))])
    assert (np.minimum(np.abs(angles), np.abs(angles - 1.5)) <= 0.2).all()
    assert (angles < 0.5).any()
    assert (angles > 1.0).any()


def test_a_surface_beyond_the_sphere_has_no_places(couples):
    couple = couples.number_of("left_sole", "floor")
    assert not RandomCandidates(radius=1.0).holds(couples, couple, at(0, 0, 1.2))
    assert not RandomCandidates(radius=1.0).holds(couples, couple, at(5, 0, 0.5))
    assert SearchVolumes(radius=1.0).volume(couples, couple, at(5, 0, 0.5)) is None


@pytest.mark.feature("001-F012", "001-F169")
def test_predefined_places_are_those_given(couples):
    given = PredefinedCandidates({("left_sole", "step_1"): [(0.01, 0.1, 0.2), (0.0, -0.1, 0.0)]})
    couple = couples.number_of("left_sole", "step_1")
    holds = given.holds(couples, couple, at(0, 0, 0))
    assert [(h.x, h.y, h.theta) for h in holds] == [(0.01, 0.1, 0.2), (0.0, -0.1, 0.0)]
    assert not given.holds(couples, couples.number_of("left_sole", "step_2"), at(0, 0, 0))


@pytest.mark.feature("001-F170")
def test_bad_numbers_are_named():
    with pytest.raises(InputError, match="density: is 0"):
        RandomCandidates(density=0)
    with pytest.raises(InputError, match="turn: is nan"):
        RandomCandidates(turn=math.nan)
    with pytest.raises(InputError, match=r"turn: is -0\.1"):
        RandomCandidates(turn=-0.1)
    with pytest.raises(InputError, match=r"headings\[1\]: is inf"):
        RandomCandidates(headings=(0.0, math.inf))
    with pytest.raises(InputError, match="size: is nan"):
        SearchVolumes(size=math.nan)
