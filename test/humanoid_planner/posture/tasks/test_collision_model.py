# SPDX-License-Identifier: Apache-2.0
"""Collision models: what is compared with what, and what is kept on disk."""

from pathlib import Path

import coal
import numpy as np
import pinocchio as pin
import pytest
from fixtures.planner_robots import finite_difference, reference_data
from fixtures.posture_problems import HALF_SITTING, HRP2, feet, where_it_is
from fixtures.scenes import box, place, scene
from fixtures.true_shapes import shape_distances

from humanoid_model import Contact, Scene, SceneBody, Stance, Surface, load_robot, load_scene
from humanoid_model.description import Box, Geometry
from humanoid_model.errors import RobotError, RobotWarning
from humanoid_planner.distance.collision_pairs import MarginRule
from humanoid_planner.distance.distance_pairs import DistancePairs
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture import CollisionModel, NearReference, PostureResult, generate_posture
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements
from humanoid_planner.posture.tasks.collision_model import load_pairs, save_pairs, store_path
from humanoid_planner.posture.tasks.collision_task import CompoundTask
from humanoid_planner.posture.tasks.link_tasks import point_at


@pytest.fixture(scope="module")
def model() -> CollisionModel:
    return CollisionModel(HRP2, load_scene("stairs"))


@pytest.mark.feature("001-F075")
def test_what_contacts_hold_may_touch(model: CollisionModel) -> None:
    """F075: the sole's link against the step it stands on, and nothing else, leaves the pairs."""
    scene = load_scene("stairs")
    step = next(surface for surface in scene.surfaces if surface.name == "step_1")
    free = model.task(Stance(()))
    held = model.task(Stance((Contact(HRP2.contacts["left_sole"], step, 0.0, 0.0, 0.0),)))
    assert free is not None
    assert held is not None
    assert set(free.labels) - set(held.labels) == {"collision LLEG_LINK5 step_1"}


@pytest.mark.feature("001-F077")
def test_neighbours_along_the_robot_have_no_pair(model: CollisionModel) -> None:
    """F077: joint limits keep them apart."""
    description = HRP2.description
    neighbours = {frozenset((joint.parent, joint.child)) for joint in description.joints.values()}
    for a, b in model.self_pairs:
        assert frozenset((model.volumes[a].owner, model.volumes[b].owner)) not in neighbours


@pytest.mark.feature("001-F121")
def test_radii_are_those_that_were_asked_for() -> None:
    """F121: of the robot's volumes and of the scene's."""
    robot = load_robot(
        """<robot name="slider">
        <link name="rail"><collision><geometry><box size="1 0.1 0.1"/></geometry></collision></link>
        <link name="sled"><collision><geometry><sphere radius="0.05"/></geometry></collision></link>
        <joint name="slide" type="prismatic"><parent link="rail"/><child link="sled"/><axis xyz="1 0 0"/>
        <limit lower="0" upper="0.5" effort="1" velocity="1"/></joint></robot>""",
        floating_base=False,
    )
    model = CollisionModel(robot, scene(box("crate", (0.2, 0.2, 0.2), place(1.0, 0.0, 0.5))), r=0.02, R=5.0)
    radii = {placed.owner: (placed.volume.r, placed.volume.R) for placed in model.volumes}
    assert radii == {"rail": (0.02, 5.0), "sled": (pytest.approx(0.07), 5.0), "crate": (0.02, 5.0)}


def test_compound_joints_take_their_pairs_over(model: CollisionModel) -> None:
    limited = {frozenset(pair) for limit in model.limits for pair in limit.pairs}
    assert limited
    for a, b in model.self_pairs:
        assert frozenset((model.volumes[a].owner, model.volumes[b].owner)) not in limited


@pytest.mark.feature("001-F044")
def test_margins_of_certain_pairs(model: CollisionModel) -> None:
    task = model.task(Stance(feet()), margin=0.02, rules=[MarginRule("RARM_*", "step_*", -0.01)])
    assert task is not None
    margins = dict(zip(task.labels, task.lower, strict=True))
    assert margins["collision RARM_LINK3 step_1"] == -0.01
    assert margins["collision LARM_LINK3 step_1"] == 0.02


@pytest.mark.feature("001-F044")
def test_the_users_margins_count_beside_a_contact_too(model: CollisionModel) -> None:
    step = next(surface for surface in load_scene("stairs").surfaces if surface.name == "step_1")
    held = Stance((Contact(HRP2.contacts["left_sole"], step, 0.0, 0.0, 0.0),))
    task = model.task(held, rules=[MarginRule("step_1", "LLEG_LINK3", 0.03)])
    assert task is not None
    assert dict(zip(task.labels, task.lower, strict=True))["collision LLEG_LINK3 step_1"] == 0.03


@pytest.mark.feature("001-F041", "001-F076")
def test_links_around_a_compound_joint_that_collide_by_coals_word_are_a_violation(model: CollisionModel) -> None:
    """F041, F076: a centimetre deeper in each other than in any of the robot's own postures, which count as free."""
    problem = PostureProblem(
        HRP2, Stance(()), PostureRequirements(collisions=model, stability="none"), start=HALF_SITTING
    )
    program, rng = problem.program, np.random.default_rng(0)

    def gap(q: np.ndarray, pairs: tuple[tuple[str, str], ...]) -> float:
        data = reference_data(HRP2, q)
        placed = [(item, data.oMi[item.parentJoint] * item.placement) for item in HRP2.collision_model.geometryObjects]
        return min(
            coal.distance(
                one.geometry, coal.Transform3s(at.rotation, at.translation),
                two.geometry, coal.Transform3s(to.rotation, to.translation),
                coal.DistanceRequest(), coal.DistanceResult(),
            )
            for a, b in pairs
            for one, at in placed if one.name.startswith(f"{a}/")
            for two, to in placed if two.name.startswith(f"{b}/")
        )  # fmt: skip

    colliding = 0
    for limit in model.limits:
        rows = [row for row, label in enumerate(program.row_labels) if label.endswith("+".join(limit.joint.joints))]
        assert len(rows) == 1
        free = min(0.0, *(gap(q, limit.pairs) for q in HRP2.postures.values()))
        columns = [problem.kinematics.names.index(name) for name in limit.joint.joints]
        for positions in rng.uniform(limit.joint.lower, limit.joint.upper, (60, len(columns))):
            x = problem.start(HALF_SITTING)
            x[columns] = positions
            if gap(problem.posture(x), limit.pairs) < free - 0.01:
                colliding += 1
                assert program.constraints(x)[rows[0]] > program.constraint_upper[rows[0]]
    assert colliding > 20


@pytest.mark.feature("001-F041", "001-F076")
def test_derivatives_of_compound_limits(model: CollisionModel) -> None:
    problem = PostureProblem(HRP2, Stance(feet()), PostureRequirements(stability="none"), start=HALF_SITTING)
    task = model.compound_task(problem.kinematics)
    assert isinstance(task, CompoundTask)
    x = problem.start(HALF_SITTING) + 0.1 * np.random.default_rng(0).standard_normal(problem.state.size)

    def value(y: np.ndarray) -> np.ndarray:
        problem.state.set(y)
        return task.value(problem.state).copy()

    expected = finite_difference(value, x)
    problem.state.set(x)
    np.testing.assert_allclose(task.jacobian(problem.state), expected, atol=1e-6 * max(1.0, np.abs(expected).max()))
    problem.state.set(problem.start(HALF_SITTING))
    assert (task.value(problem.state) <= 0).all(), "the robot's own postures are free"
    assert all(label.startswith("collision at ") for label in task.labels)


def test_pairs_are_found_again_on_disk(model: CollisionModel, tmp_path: Path) -> None:
    own = [volume for volume in model.volumes if volume.body]
    path = store_path(HRP2, own, tmp_path)
    assert load_pairs(path, HRP2) is None
    save_pairs(path, model.self_pairs, model.limits)
    found = load_pairs(path, HRP2)
    assert found is not None
    np.testing.assert_array_equal(found[0], model.self_pairs)
    assert len(found[1]) == len(model.limits)
    q = [0.1] * 3
    for one, other in zip(found[1], model.limits, strict=True):
        assert one.joint.joints == other.joint.joints
        assert one.pairs == other.pairs
        assert one.value(q[: len(one.joint.joints)]) == other.value(q[: len(one.joint.joints)])
    path.write_bytes(path.read_bytes()[:100])
    assert load_pairs(path, HRP2) is None
    # Another robot, other limits, another place.
    assert store_path(load_robot("bip"), own, tmp_path) != path
    unwritable = tmp_path / "file" / "pairs.npz"
    (tmp_path / "file").write_text("")
    save_pairs(unwritable, model.self_pairs, model.limits)


@pytest.mark.feature("001-F131")
def test_derivatives_of_distances(model: CollisionModel) -> None:
    """F131: of links from each other, both of which move, and from the scene."""
    problem = PostureProblem(
        HRP2, Stance(()), PostureRequirements(collisions=model, stability="none"), start=HALF_SITTING
    )
    task, state = problem.collisions, problem.state
    assert task is not None
    x = problem.start(HALF_SITTING) + 0.05 * np.random.default_rng(0).standard_normal(state.size)

    def value(y: np.ndarray) -> np.ndarray:
        state.set(y)
        return task.value(state).copy()

    expected = finite_difference(value, x)
    state.set(x)
    J = task.jacobian(state)
    np.testing.assert_allclose(J, expected, atol=1e-5)
    # Nothing between two links, whose pairs come first, changes with the base's place.
    own = J[: len(model.self_pairs)]
    np.testing.assert_allclose(own[:, :6], 0.0, atol=1e-9)
    assert np.abs(own[:, 6:]).max() > 0.1


def test_a_robot_without_neighbours_has_nothing_to_avoid() -> None:
    assert CollisionModel(load_robot("robot_2r_a")).task(Stance(())) is None


def test_distances_are_computed_once_per_posture(model: CollisionModel) -> None:
    problem = PostureProblem(HRP2, Stance(feet()), PostureRequirements(collisions=model), start=HALF_SITTING)
    task = problem.collisions
    assert task is not None
    x = problem.start(HALF_SITTING)
    problem.program.constraints(x)
    before = task.evaluations
    problem.program.constraints(x)
    problem.program.jacobian(x)
    assert task.evaluations == before
    problem.program.constraints(x + 1e-3)
    assert task.evaluations == before + task.size
    assert problem.kinematics.size == RobotKinematics(HRP2).size


def test_links_beside_a_contact_may_come_as_near_as_their_shapes() -> None:
    """The margins go, the shapes stay: what a row has left is the gap of the shapes.

    Less the bulge of the shin's volume, 0.2 mm, and 2 mm for corners of the polygon around the ankle's cylinder.
    """
    scene = load_scene("stairs")
    model = CollisionModel(HRP2, scene)
    step = next(surface for surface in scene.surfaces if surface.name == "step_1")
    task = model.task(Stance((Contact(HRP2.contacts["left_sole"], step, 0.0, 0.0, 0.0),)))
    assert task is not None
    problem = PostureProblem(HRP2, Stance(()), PostureRequirements(stability="none"), start=HALF_SITTING)
    state = problem.state
    gaps = []
    for lowered in np.linspace(0.0, 0.3, 7):
        x = problem.start(HALF_SITTING)
        x[0], x[2] = 0.35, x[2] - lowered
        state.set(x)
        found = shape_distances(HRP2, scene, problem.posture(x))
        left = dict(zip(task.labels, task.value(state) - task.lower, strict=True))
        for link, less in (("LLEG_LINK3", 3e-4), ("LLEG_LINK4", 2.3e-3)):
            gap = found[link, "step_1"]
            gaps.append(gap)
            if gap > 0.0:
                assert gap - less <= left[f"collision {link} step_1"] <= gap + 1e-9
            else:
                assert left[f"collision {link} step_1"] < 1e-9
    assert 0.0 < min(gap for gap in gaps if gap > 0.0) < 0.05
    assert min(gaps) < -0.01
    margins = dict(zip(task.labels, task.lower, strict=True))
    assert margins["collision LLEG_LINK2 step_1"] == 0.0
    assert margins["collision LLEG_LINK3 step_2"] == 0.0


def test_a_margin_that_is_asked_for_counts_beside_a_contact(model: CollisionModel) -> None:
    scene = load_scene("stairs")
    step = next(surface for surface in scene.surfaces if surface.name == "step_1")
    stance = Stance((Contact(HRP2.contacts["left_sole"], step, 0.0, 0.0, 0.0),))
    task = model.task(stance, rules=[MarginRule("LLEG_LINK3", "step_1", 0.03)])
    assert task is not None
    row = task.labels.index("collision LLEG_LINK3 step_1")
    assert task.lower[row] == 0.03
    assert isinstance(task.distances.volumes[task.distances.pairs[row][1]].volume, SphereTorusVolume)


@pytest.mark.feature("001-F075")
def test_a_contact_is_leave_to_touch_what_lies_under_its_surface() -> None:
    """A hand on a table's top may not reach into a box on it that belongs to the table."""
    parts = {
        "top": ([0.6, 1.0, 0.04], [0.0, 0.0, 0.73]),
        "leg": ([0.05, 0.05, 0.71], [0.2, 0.4, 0.355]),
        "box": ([0.1, 0.1, 0.3], [0.2, 0.0, 0.9]),
    }
    geometries = tuple(
        Geometry(name, Box(np.array(size)), pin.SE3(np.eye(3), np.array(at)), np.ones(4))
        for name, (size, at) in parts.items()
    )
    place = pin.SE3(np.eye(3), np.array([0.45, -0.25, 0.0]))
    table = SceneBody("table", "", 0.0, np.zeros(3), np.zeros((3, 3)), place, np.zeros(6), geometries)
    top = Surface("top", "table", pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.75])))
    task = CollisionModel(HRP2, Scene("table", bodies=(table,), surfaces=(top,))).task(
        Stance((Contact(HRP2.contacts["right_hand_fingers"], top, -0.1, 0.0, 0.0),))
    )
    assert task is not None
    hand = {label for label in task.labels if label.startswith("collision RARM_LINK6 table")}
    assert hand == {"collision RARM_LINK6 table/box"}


@pytest.mark.feature("001-F044")
@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_a_margin_larger_than_usual_asks_no_more_than_it_says(model: CollisionModel, margin: float) -> None:
    """What is violated is what the distances say, however far the bodies are."""
    task = model.task(Stance(feet()), margin=margin)
    assert task is not None
    problem = PostureProblem(HRP2, Stance(()), PostureRequirements(stability="none"), start=HALF_SITTING)
    exact = DistancePairs(task.distances.volumes, task.distances.pairs)
    near = 0
    for pose in range(5):
        x = problem.start(HALF_SITTING) + 0.2 * np.random.default_rng(pose).standard_normal(problem.state.size)
        problem.state.set(x)
        values = task.value(problem.state).copy()
        exact.evaluate(problem.kinematics.rotations, problem.kinematics.origins)
        np.testing.assert_array_equal(values < task.lower, exact.values < task.lower)
        close = exact.values < task.lower + 0.1
        np.testing.assert_allclose(values[close], exact.values[close], atol=1e-7)
        near += np.count_nonzero(close & (exact.values > 0.3))
    assert near > 50 if margin else near == 0


@pytest.mark.feature("001-F044")
def test_own_postures_leave_their_margin(tmp_path: Path) -> None:
    """Two arms of four joints whose tips are 10 mm apart in the posture of the file, less than volumes add."""
    links, joints = ['<link name="trunk"/>'], []
    for side, sign in (("left", 1), ("right", -1)):
        parent = "trunk"
        for index in range(4):
            shape = '<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>' if index == 3 else ""
            links.append(f'<link name="{side}_{index}">{shape}</link>')
            ahead, aside = (0.3, 0.0) if index else (0.0, 0.055 * sign)
            joints.append(
                f'<joint name="{side}_j{index}" type="revolute"><parent link="{parent}"/>'
                f'<child link="{side}_{index}"/><origin xyz="{ahead} {aside} 0"/>'
                '<axis xyz="0 0 1"/><limit lower="-1.5" upper="1.5" effort="1" velocity="1"/></joint>'
            )
            parent = f"{side}_{index}"
    (tmp_path / "arms.urdf").write_text(f'<robot name="arms">{"".join(links + joints)}</robot>', encoding="utf-8")
    (tmp_path / "arms.yaml").write_text("postures: {ahead: {left_j0: 0.0}}\n", encoding="utf-8")
    robot = load_robot(tmp_path / "arms.urdf")
    with pytest.warns(RobotWarning, match=r"left_3 and right_3 by 1\d\.\d mm in 'ahead'"):
        model = CollisionModel(robot)
    (overlap,) = model.overlaps
    assert {overlap.first, overlap.second} == {"left_3", "right_3"}
    # Faces 10 mm apart; on either side 10 mm of margin and a bulge of half a diagonal squared by 2 R.
    assert overlap.distance == pytest.approx(-0.010 - 2 * 0.005 / 40.0, abs=1e-5)
    for margin in (0.0, 0.02):
        problem = PostureProblem(
            robot, Stance(()), PostureRequirements(stability="none", collisions=model, collision_margin=margin)
        )
        assert problem.collisions is not None
        assert problem.collisions.lower[0] == pytest.approx(overlap.distance - 1e-3)
        values = problem.program.constraints(problem.start(robot.postures["ahead"]))
        assert (values >= problem.program.constraint_lower).all()
    ruled = model.task(Stance(()), rules=[MarginRule("left_3", "right_3", 0.005)])
    assert ruled is not None
    assert ruled.lower[0] == 0.005


@pytest.mark.slow
@pytest.mark.timeout(1800)  # its convex parts are made once: minutes
@pytest.mark.filterwarnings("ignore::humanoid_model.errors.RobotWarning")
def test_talos_reaches_clear_of_itself() -> None:
    """Its thighs' volumes overlap in its own posture. The first time its volumes are made, which takes minutes."""
    try:
        robot = load_robot("talos")
    except RobotError:
        pytest.skip("needs the package example-robot-data")
    model, kinematics = CollisionModel(robot), RobotKinematics(robot)
    assert {(one.first, one.second) for one in model.overlaps} == {("leg_left_3_link", "leg_right_3_link")}
    q = robot.postures["half_sitting"]
    stance = Stance(tuple(where_it_is(name, robot=robot, q=q) for name in robot.contacts))
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(8):
        at = rng.uniform([0.2, -0.5, 0.7], [0.5, -0.1, 1.2])
        tasks = [point_at(kinematics, "arm_right_7_link", [0, 0, 0], at, 0.01)]
        near = NearReference(kinematics, q)
        found += generate_posture(robot, stance, tasks=tasks, criterion=near, collisions=model, explain=False).success
    assert found >= 7


SLIDES = """<robot name="slides">
<link name="trunk"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
<link name="grain"><collision><origin xyz="0 0 9"/><geometry><sphere radius="0.001"/></geometry></collision></link>
<link name="hand"><collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
<joint name="x" type="prismatic"><parent link="trunk"/><child link="grain"/><axis xyz="1 0 0"/>
  <limit lower="-0.5" upper="0.5" effort="9" velocity="1"/></joint>
<joint name="y" type="prismatic"><parent link="grain"/><child link="hand"/><axis xyz="0 1 0"/>
  <limit lower="-0.5" upper="0.5" effort="9" velocity="1"/></joint></robot>"""


@pytest.mark.feature("001-F042")
def test_what_no_distance_keeps_apart_is_looked_at_where_a_search_ends(tmp_path: Path) -> None:
    """Volumes that are in each other at rest, two joints apart, are left to none: the shapes themselves aren't."""
    (tmp_path / "slides.urdf").write_text(SLIDES, encoding="utf-8")
    (tmp_path / "slides.yaml").write_text("floating_base: false\npostures: {rest: {x: 0.155}}\n", encoding="utf-8")
    robot = load_robot(tmp_path / "slides.urdf", floating_base=False)
    kinematics, rest = RobotKinematics(robot), robot.postures["rest"]
    model = CollisionModel(robot)
    assert not len(model.self_pairs)

    def at(x: float, margin: float = 0.0) -> PostureResult:
        task = point_at(kinematics, "hand", [0, 0, 0], [x, 0, 0])
        return generate_posture(
            robot, Stance(()), initial=rest, tasks=[task], stability="none", collisions=model, restarts=2,
            collision_margin=margin,
        )  # fmt: skip

    # Faces 2 mm apart, and 20 mm in each other.
    assert at(0.152).success
    inside = at(0.13)
    assert not inside.success
    assert inside.violations[0].constraint == "collision trunk/0 hand/0"
    assert inside.violations[0].value == pytest.approx(-0.02, abs=1e-4)
    assert at(0.13, margin=-0.05).success  # asked for
