# SPDX-License-Identifier: Apache-2.0
import coal
import numpy as np
import pinocchio as pin
import pytest
from fixtures.volume_oracle import (
    CentreSet,
    all_pairs,
    box_corners,
    box_gap,
    gap_across,
    greatest_gap,
    random_placements,
    zoo,
)
from scipy.spatial.transform import Rotation

from humanoid_model.errors import InputError
from humanoid_planner.distance.distance_pairs import DistancePairs, distance
from humanoid_planner.distance.placed_volumes import HalfSpace, PlacedVolume
from humanoid_planner.distance.rounded_hull import RoundedHull
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume


def hull(points: np.ndarray) -> coal.ConvexBase:
    vector = coal.StdVec_Vec3s()
    for point in points:
        vector.append(point)
    return coal.ConvexBase.convexHull(vector, False, "")


@pytest.mark.feature("001-F129")
def test_distances_are_the_ones_of_the_definition() -> None:
    # A gap across the normal bounds the distance from below, two points from above: where both agree, that's it.
    rng = np.random.default_rng(0)
    volumes = zoo(rng)
    pairs = all_pairs(volumes)
    lightly = 0
    for _ in range(25):
        rotations, origins = random_placements(rng, 0.0, 0.7)
        pairs.evaluate(rotations, origins)
        for k in rng.integers(0, len(pairs.values), 12):
            i, j = divmod(int(k), len(volumes))
            a, b = (CentreSet(volumes[v], rotations[w], origins[w]) for w, v in enumerate((i, j)))
            value, n = pairs.values[k], pairs.normals[k]
            assert gap_across(a, b, n) == pytest.approx(value, abs=1e-11)
            deep = value <= -a.r - b.r
            assert np.allclose(pairs.points_a[k] - pairs.points_b[k], value * n, rtol=0.0, atol=1e-9 if deep else 1e-11)
            if deep:
                continue
            lightly += value < 0.0
            # The volumes without their small radii: apart, and as far as the points say.
            assert a.farthest_from(pairs.points_a[k] + a.r * n) <= a.rho + 1e-11
            assert b.farthest_from(pairs.points_b[k] - b.r * n) <= b.rho + 1e-11
    assert lightly >= 5


def test_other_pairs_of_the_same_volumes_are_as_made_anew_and_leave_the_first_alone() -> None:
    rng = np.random.default_rng(3)
    every = all_pairs(zoo(rng))
    placements = random_placements(rng, 0.0, 0.7)
    every.evaluate(*placements)
    before = every.values.copy()
    chosen = every.pairs[rng.permutation(len(every.pairs))[:40]]
    other, anew = every.with_pairs(chosen, 0.3), DistancePairs(every.volumes, chosen, 0.3)
    other.evaluate(*placements)
    anew.evaluate(*placements)
    for name in ("values", "slopes", "normals", "points_a", "points_b"):
        assert np.array_equal(getattr(other, name), getattr(anew, name)), name
    assert np.array_equal(every.values, before)
    assert (other.cutoff, every.cutoff) == (0.3, np.inf)
    with pytest.raises(InputError, match="pair 1"):
        every.with_pairs([(0, 1), (0, len(every.volumes))])


def check_deep(trials: int, starts: int) -> None:
    rng = np.random.default_rng(1)
    volumes = zoo(rng)
    pairs = all_pairs(volumes)
    for _ in range(trials):
        rotations, origins = random_placements(rng, 0.0, 0.15)
        pairs.evaluate(rotations, origins)
        k = int(rng.integers(0, len(pairs.values)))
        i, j = divmod(k, len(volumes))
        a, b = (CentreSet(volumes[v], rotations[w], origins[w]) for w, v in enumerate((i, j)))
        assert greatest_gap(a, b, rng, starts) <= pairs.values[k] + 2e-8


def test_no_shorter_translation_separates_in_deep_penetration() -> None:
    check_deep(6, 2)


@pytest.mark.slow
def test_no_shorter_translation_separates_in_deep_penetration_of_many() -> None:
    check_deep(200, 12)


@pytest.mark.feature("001-F130")
def test_the_translation_in_deep_penetration_separates() -> None:
    rng = np.random.default_rng(2)
    pairs = all_pairs(zoo(rng))
    for _ in range(3):
        rotations, origins = random_placements(rng, 0.0, 0.1)
        pairs.evaluate(rotations, origins)
        values, normals = pairs.values.copy(), pairs.normals.copy()
        assert np.all(np.isfinite(values))
        assert np.allclose(np.linalg.norm(normals, axis=1), 1.0)
        assert np.mean(values < -0.05) > 0.5
        for k in rng.integers(0, len(values), 10):
            moved = origins.copy()
            moved[0] -= values[k] * normals[k]
            pairs.evaluate(rotations, moved)
            assert pairs.values[k] == pytest.approx(0.0, abs=3e-8)  # repulsive, and no farther than needed


def overlapping_boxes(kind: str, poses: int, searched: int) -> None:
    """Boxes whose faces are parallel: the volumes' depth is the boxes' up to the margins, and no direction is better.

    It is the same with the two exchanged, with the world turned, and after another placement.
    """
    rng = np.random.default_rng(10)
    halves = np.array([[0.1, 0.1, 0.1], [0.3, 0.3, 0.05], [0.12, 0.05, 0.02], [0.05, 0.2, 0.3]])
    volumes = [SphereTorusVolume.from_points(box_corners(half), 0.01, 20.0) for half in halves]
    margins = np.array([volume.margin_bound for volume in volumes])
    warm, cold = all_pairs(volumes), all_pairs(volumes)
    exchanged = DistancePairs(cold.volumes, cold.pairs[:, ::-1])
    overlaps = 0
    for pose in range(poses):
        if kind == "quarter turns":
            rotations = np.round(Rotation.from_euler("xyz", 0.5 * np.pi * rng.integers(0, 4, (2, 3))).as_matrix())
        else:
            yaw = rng.uniform(-np.pi, np.pi, 2) if kind == "yaw" else np.zeros(2)
            rotations = Rotation.from_rotvec(np.outer(yaw, [0.0, 0.0, 1.0])).as_matrix()
        origins = rng.uniform(-0.3, 0.3, (2, 3)) * [1.0, 1.0, 0.3]
        if pose % 2:
            origins = np.round(origins, 2)
        warm.evaluate(rotations, origins)
        cold.forget()
        cold.evaluate(rotations, origins)
        values, normals = cold.values.copy(), cold.normals.copy()
        exchanged.forget()
        exchanged.evaluate(rotations, origins)
        assert warm.values == pytest.approx(values, abs=2e-8)
        assert exchanged.values == pytest.approx(values, abs=2e-8)
        turn = Rotation.random(random_state=rng).as_matrix()
        cold.forget()
        cold.evaluate(turn @ rotations, origins @ turn.T)
        assert cold.values == pytest.approx(values, abs=2e-8)
        searches = rng.integers(0, len(values), searched)
        for k in range(len(values)):
            i, j = divmod(k, len(volumes))
            gap = box_gap(halves[i], rotations[0], halves[j], rotations[1], origins[1] - origins[0])
            if gap > 0.0:
                continue
            overlaps += 1
            assert gap - margins[i] - margins[j] - 1e-9 <= values[k] <= gap - 0.02 + 1e-9
            a, b = (CentreSet(volumes[v], rotations[w], origins[w]) for w, v in enumerate((i, j)))
            assert gap_across(a, b, normals[k]) == pytest.approx(values[k], abs=1e-9)
            if k in searches:
                axes = np.vstack([rotations[0].T, rotations[1].T])
                assert greatest_gap(a, b, rng, 2, np.vstack([axes, -axes])) <= values[k] + 2e-8
    assert overlaps > 3 * poses


@pytest.mark.feature("001-F130")
@pytest.mark.parametrize("kind", ["aligned", "quarter turns", "yaw"])
def test_overlapping_boxes_with_parallel_faces(kind: str) -> None:
    overlapping_boxes(kind, 12, 1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["aligned", "quarter turns", "yaw"])
def test_many_overlapping_boxes_with_parallel_faces(kind: str) -> None:
    overlapping_boxes(kind, 200, 4)


def test_a_cube_sunk_into_the_side_of_a_slab() -> None:
    # By hand: 1 cm of overlap of the boxes and twice the margin make 3 cm, and both faces bulge.
    cube, slab = (
        SphereTorusVolume.from_points(box_corners(half), 0.01, 20.0) for half in ([0.1, 0.1, 0.1], [0.3, 0.3, 0.05])
    )
    pairs = DistancePairs([PlacedVolume("cube", 0, cube), PlacedVolume("slab", 1, slab)], [(0, 1), (1, 0)])
    origins = np.array([[0.0, 0.0, 0.0], [0.39, 0.02, 0.03]])
    pairs.evaluate(np.stack([np.eye(3)] * 2), origins)
    assert np.all(pairs.values <= -0.03)
    assert np.all(pairs.values >= -0.01 - cube.margin_bound - slab.margin_bound)
    assert np.allclose(pairs.normals, [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], atol=2e-3)


def test_polyhedra_bound_the_distances_and_are_their_limit() -> None:
    rng = np.random.default_rng(3)
    clouds = [rng.normal(size=(count, 3)) * 0.1 for count in (8, 20, 60)]
    hulls = [hull(cloud) for cloud in clouds]
    usual, sharp = (
        all_pairs([SphereTorusVolume.from_points(cloud, r, R) for cloud in clouds])
        for r, R in ((0.01, 20.0), (1e-6, 1e4))
    )
    margins = [volume.volume.margin_bound for volume in usual.volumes[:3]]  # type: ignore[union-attr]
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    seen = 0
    for _ in range(60):
        rotations, origins = random_placements(rng, 0.3, 0.8)
        usual.evaluate(rotations, origins)
        sharp.evaluate(rotations, origins)
        for k in range(9):
            i, j = divmod(k, 3)
            result.clear()
            exact = coal.distance(
                hulls[i], coal.Transform3s(rotations[0], origins[0]),
                hulls[j], coal.Transform3s(rotations[1], origins[1]), request, result,
            )  # fmt: skip
            if exact < 1e-3:
                continue
            seen += 1
            assert exact - margins[i] - margins[j] - 1e-9 <= usual.values[k] <= exact - 0.02 + 1e-9
            assert sharp.values[k] == pytest.approx(exact, abs=1e-5)
    assert seen > 300


def test_motion_of_everything_and_exchange_change_nothing() -> None:
    rng = np.random.default_rng(4)
    pairs = all_pairs(zoo(rng))
    turned = DistancePairs(pairs.volumes, pairs.pairs[:, ::-1])
    for nearest, farthest in ((0.1, 0.2), (0.5, 0.9)):
        rotations, origins = random_placements(rng, nearest, farthest)
        pairs.evaluate(rotations, origins)
        turned.evaluate(rotations, origins)
        values, normals = pairs.values.copy(), pairs.normals.copy()
        assert turned.values == pytest.approx(values, abs=2e-8)
        apart = values > -0.01
        assert nearest < 0.5 or apart.all()
        assert np.allclose(turned.normals[apart], -normals[apart], atol=1e-9)
        assert np.allclose(turned.points_a[apart], pairs.points_b[apart], atol=1e-8)
        motion, shift = Rotation.random(random_state=rng).as_matrix(), rng.normal(size=3)
        pairs.evaluate(motion @ rotations, origins @ motion.T + shift)
        assert pairs.values == pytest.approx(values, abs=2e-8)
        assert np.allclose(pairs.normals[apart], normals[apart] @ motion.T, atol=1e-9)


def test_an_evaluation_does_not_depend_on_the_last_one() -> None:
    rng = np.random.default_rng(5)
    pairs = all_pairs(zoo(rng))
    fresh = all_pairs(zoo(np.random.default_rng(5)))
    for k in range(40):
        if k % 8 == 0:
            rotations, origins = random_placements(rng, 0.1, 0.6)
        rotations = Rotation.from_rotvec(0.05 * rng.normal(size=(2, 3))).as_matrix() @ rotations
        origins = origins + 0.01 * rng.normal(size=(2, 3))
        pairs.evaluate(rotations, origins)
        fresh.forget()
        fresh.evaluate(rotations, origins)
        assert pairs.values == pytest.approx(fresh.values, abs=2e-8)
        apart = pairs.values > -0.005
        assert np.allclose(pairs.normals[apart], fresh.normals[apart], atol=1e-8)


@pytest.mark.feature("001-F133")
def test_plain_hulls_after_any_placement() -> None:
    # As for two volumes: the gap across the normal bounds from below, the points from above; whatever came before.
    rng = np.random.default_rng(12)
    volumes = zoo(rng)[:8]
    shapes = [([0.1, 0.1, 0.1], 0.0), ([0.3, 0.3, 0.05], 0.01), ([0.05, 0.2, 0.3], 0.0), ([0.0, 0.0, 0.2], 0.01)]
    hulls = [RoundedHull(np.unique(box_corners(half), axis=0), radius) for half, radius in shapes]
    placed = [PlacedVolume(str(i), i // len(volumes), shape) for i, shape in enumerate([*volumes, *hulls])]
    pairs = DistancePairs(placed, [(i, len(volumes) + j) for i in range(len(volumes)) for j in range(len(hulls))])
    apart = overlapping = 0
    for pose in range(40):
        rotations, origins = random_placements(rng, 0.0, 0.7)
        if pose % 2:  # level, for faces and edges that are parallel
            rotations = Rotation.from_rotvec(np.outer(rng.uniform(-3.0, 3.0, 2), [0.0, 0.0, 1.0])).as_matrix()
        pairs.evaluate(rotations, origins)
        for k, (i, j) in enumerate(pairs.pairs):
            volume, hull_of_b = volumes[i], hulls[j - len(volumes)]
            value, n = pairs.values[k], pairs.normals[k]
            a, points = CentreSet(volume, rotations[0], origins[0]), hull_of_b.points @ rotations[1].T + origins[1]
            assert a.height(n) - a.R - (points @ n).max() - hull_of_b.radius == pytest.approx(value, abs=1e-9)
            if value > 1e-3 - volume.r - hull_of_b.radius:
                apart += 1
                assert np.allclose(pairs.points_a[k] - pairs.points_b[k], value * n, rtol=0.0, atol=1e-10)
                assert a.farthest_from(pairs.points_a[k] + a.r * n) <= a.rho + 1e-9
                core = RoundedHull(points, 0.0)
                assert core.distance(pairs.points_b[k] - hull_of_b.radius * n) < 1e-7
            else:
                overlapping += 1
    assert apart > 500
    assert overlapping > 50


def test_coaxial_prisms_are_the_same_in_a_turned_world() -> None:
    # Thirty sides to leave by, all as good.
    angles = 2.0 * np.pi * np.arange(30) / 30
    ring = 0.05 * np.column_stack([np.cos(angles), np.sin(angles)])
    prism = SphereTorusVolume.from_points(
        np.vstack([np.column_stack([ring, np.full(30, z)]) for z in (-0.3, 0.3)]), 0.01, 20.0
    )
    pairs = DistancePairs([PlacedVolume("a", 0, prism), PlacedVolume("b", 1, prism)], [(0, 1)])
    turned = Rotation.random(20, random_state=np.random.default_rng(13)).as_matrix()
    values = []
    for turn in [np.eye(3), *turned]:
        pairs.evaluate(np.stack([turn, turn]), np.zeros((2, 3)))
        values.append(pairs.values[0])
    assert np.ptp(values) < 1e-6


@pytest.mark.feature("001-F132")
def test_far_apart_touching_and_concentric() -> None:
    rng = np.random.default_rng(6)
    pairs = all_pairs(zoo(rng))
    rotations = Rotation.random(2, random_state=rng).as_matrix()
    pairs.evaluate(rotations, np.array([[0.0, 0.0, 0.0], [3000.0, -4000.0, 0.0]]))
    assert np.all(np.abs(pairs.values - 5000.0) < 2.0)
    assert np.allclose(pairs.normals, [-0.6, 0.8, 0.0], atol=1e-3)
    pairs.evaluate(rotations, np.zeros((2, 3)))
    assert np.all(np.isfinite(pairs.values))
    origins = np.array([[0.0, 0.0, 0.0], [0.6, 0.2, 0.1]])
    pairs.evaluate(rotations, origins)
    values, normals = pairs.values.copy(), pairs.normals.copy()
    for k in range(len(values)):
        moved = origins.copy()
        moved[0] -= values[k] * normals[k]
        pairs.evaluate(rotations, moved)
        assert pairs.values[k] == pytest.approx(0.0, abs=1e-11)
        assert np.allclose(pairs.normals[k], normals[k], atol=1e-9)  # from the surfaces, though the points coincide


def test_identical_boxes_face_to_face_edge_to_edge_and_corner_to_corner() -> None:
    box = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
    volume = SphereTorusVolume.from_points(box, 0.01, 20.0)
    pairs = DistancePairs([PlacedVolume("a", 0, volume), PlacedVolume("b", 1, volume)], [(0, 1)])
    for direction in ([1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]):
        origins = np.array([[0.3 * d for d in direction], [0.0, 0.0, 0.0]])
        pairs.evaluate(np.stack([np.eye(3)] * 2), origins)
        assert np.allclose(pairs.normals[0], np.array(direction) / np.linalg.norm(direction), atol=1e-12)
        middle = 0.5 * (pairs.points_a[0] + pairs.points_b[0])
        assert np.allclose(middle, origins[0] / 2.0, atol=1e-9)


def test_values_level_off_beyond_the_cutoff() -> None:
    # A pair moves apart through all of it: up to the cutoff its values are the distances, at 0.2 m more they rest.
    rng = np.random.default_rng(7)
    exact = all_pairs(zoo(rng))
    level = DistancePairs(exact.volumes, exact.pairs, cutoff=0.3)
    rotations, origins = random_placements(rng, 0.1, 0.1)
    way = rng.normal(size=3)
    way /= np.linalg.norm(way)
    step = 3e-3
    before = None
    seen = np.zeros(3)
    for k in range(400):
        moved = origins.copy()
        moved[0] += k * step * way
        exact.evaluate(rotations, moved)
        level.evaluate(rotations, moved)
        beyond = exact.values > 0.3
        assert level.values[~beyond] == pytest.approx(exact.values[~beyond], abs=2e-8)
        assert np.all(level.slopes[~beyond] == 1.0)
        at_rest = exact.values >= 0.5
        assert np.all(level.values[at_rest] == pytest.approx(0.4, abs=1e-15))
        assert np.all(level.slopes[at_rest] == 0.0)
        fading = beyond & ~at_rest
        # Its height over the cutoff is what is left of a parabola.
        expected = 0.4 - (0.5 - exact.values[fading]) ** 2 / 0.4
        assert level.values[fading] == pytest.approx(expected, abs=1e-8)
        seen += [np.sum(~beyond), np.sum(fading), np.sum(at_rest)]
        if before is not None:
            values, slopes = before
            apart = values > 0.0
            rise = level.slopes * (level.normals @ way) * step
            # Second derivatives: 1 / 0.2 m of the parabola, and those of the distances.
            assert np.allclose((level.values - values)[apart], rise[apart], atol=0.5 * step**2 * (5.0 + 100.0))
            assert np.all(np.abs(level.slopes - slopes) <= step / 0.2 + 1e-6)
        before = level.values.copy(), level.slopes.copy()
    assert np.all(seen > 2000)


@pytest.mark.feature("001-F131")
def test_derivatives_of_pairs_on_moving_bodies() -> None:
    rng = np.random.default_rng(8)
    volumes = zoo(rng)
    pairs = all_pairs(volumes)
    radii = np.array([volume.r for volume in volumes])
    light = -(radii[:, None] + radii[None]).ravel() + 2e-3
    rotations, origins = random_placements(rng, 0.35, 0.35)
    pairs.evaluate(rotations, origins)
    normals, points = pairs.normals.copy(), np.stack([pairs.points_a, pairs.points_b])
    checked = pairs.values > light
    assert checked.mean() > 0.5
    assert np.any(pairs.values[checked] < 0.0)
    step = 1e-6
    for body in range(2):
        for k in range(6):
            twist = np.zeros(6)
            twist[k] = 1.0
            values = []
            for sign in (1.0, -1.0):
                moved, shifted = rotations.copy(), origins.copy()
                moved[body] = Rotation.from_rotvec(sign * step * twist[3:]).as_matrix() @ moved[body]
                shifted[body] += sign * step * twist[:3]
                pairs.evaluate(moved, shifted)
                values.append(pairs.values.copy())
            velocity = twist[:3] + np.cross(twist[3:], points[body] - origins[body])
            expected = (1.0, -1.0)[body] * np.einsum("ij,ij->i", normals, velocity)
            found = (values[0] - values[1]) / (2.0 * step)
            assert np.allclose(found[checked], expected[checked], atol=2e-5)


def test_half_spaces_touch_the_lowest_point_at_any_depth() -> None:
    rng = np.random.default_rng(9)
    volumes = zoo(rng)
    count = len(volumes)
    ground = HalfSpace(np.array([0.2, -0.3, 1.0]), 0.1)
    placed = [*(PlacedVolume(str(i), 1, volume) for i, volume in enumerate(volumes)), PlacedVolume("ground", 0, ground)]
    pairs = DistancePairs(placed, [(i, count) for i in range(count)] + [(count, i) for i in range(count)])
    for _ in range(20):
        rotations, origins = random_placements(rng, 0.0, 1.0)
        pairs.evaluate(rotations, origins)
        normal = rotations[0] @ ground.normal
        for i, volume in enumerate(volumes):
            centres = CentreSet(volume, rotations[1], origins[1] - origins[0])
            expected = centres.height(normal) - volume.R - ground.offset
            assert pairs.values[i] == pytest.approx(expected, abs=1e-11)
            assert pairs.values[count + i] == pytest.approx(expected, abs=1e-11)
            assert centres.outside(pairs.points_a[i] - origins[0]) == pytest.approx(0.0, abs=1e-11)
            assert ground.height((pairs.points_b[i] - origins[0]) @ rotations[0]) == pytest.approx(0.0, abs=1e-12)
            assert np.allclose(pairs.points_a[count + i], pairs.points_b[i])
        assert np.allclose(pairs.normals[:count], normal)
        assert np.allclose(pairs.normals[count:], -normal)


def test_a_box_on_each_of_its_faces_in_turn_touches_a_half_space_below() -> None:
    rng = np.random.default_rng(11)
    ground = HalfSpace(np.array([0.0, 0.0, 1.0]))
    box = SphereTorusVolume.from_points(box_corners([0.3, 0.2, 0.05]), 0.01, 20.0)
    pairs = DistancePairs([PlacedVolume("box", 1, box), PlacedVolume("ground", 0, ground)], [(0, 1)])
    for _ in range(100):
        rotation = np.round(Rotation.from_euler("xyz", 0.5 * np.pi * rng.integers(0, 4, 3)).as_matrix())
        rotation = Rotation.from_rotvec([0.0, 0.0, rng.uniform(-3.0, 3.0) * rng.integers(0, 2)]).as_matrix() @ rotation
        origin = rng.normal(size=3)
        pairs.evaluate(np.stack([np.eye(3), rotation]), np.stack([np.zeros(3), origin]))
        expected = CentreSet(box, rotation, origin).height(np.array([0.0, 0.0, 1.0])) - box.R
        assert pairs.values[0] == pytest.approx(expected, abs=1e-11)


def test_no_pairs_and_no_volumes() -> None:
    pairs = DistancePairs([], np.zeros((0, 2), dtype=np.int64))
    pairs.evaluate(np.zeros((0, 3, 3)), np.zeros((0, 3)))
    assert pairs.values.shape == (0,)


def test_bad_input_is_refused() -> None:
    ball = SphereTorusVolume.from_points(np.zeros((1, 3)), 0.1, 20.0)
    ground = HalfSpace(np.array([0.0, 0.0, 1.0]))
    placed = [PlacedVolume("ball", 2, ball), PlacedVolume("ground", 0, ground), PlacedVolume("wall", 0, ground)]
    with pytest.raises(InputError, match=r"pair 1: is \(0, 3\). Give indices of the 3 volumes"):
        DistancePairs(placed, [(0, 1), (0, 3)])
    with pytest.raises(InputError, match="pair 0: is ground and wall, neither of them strictly convex"):
        DistancePairs(placed, [(1, 2)])
    with pytest.raises(InputError, match=r"cutoff: is -1.0"):
        DistancePairs(placed, [(0, 1)], cutoff=-1.0)
    pairs = DistancePairs(placed, [(0, 1)])
    with pytest.raises(InputError, match=r"placements of bodies: are 2\. The volumes are on bodies 0 to 2"):
        pairs.evaluate(np.stack([np.eye(3)] * 2), np.zeros((2, 3)))
    with pytest.raises(InputError, match="aren't finite"):
        pairs.evaluate(np.stack([np.eye(3)] * 3), np.full((3, 3), np.nan))
    with pytest.raises(InputError, match="have shapes"):
        pairs.evaluate(np.stack([np.eye(3)] * 3), np.zeros((2, 3)))


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
