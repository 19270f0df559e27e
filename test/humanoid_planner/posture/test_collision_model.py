# SPDX-License-Identifier: Apache-2.0
"""Collision models: what is compared with what, and what is kept on disk."""

from pathlib import Path

import numpy as np
import pytest
from fixtures.planner_robots import finite_difference
from fixtures.posture_problems import HALF_SITTING, HRP2, feet, where_it_is

from humanoid_model import Contact, Stance, load_robot, load_scene
from humanoid_model.errors import RobotError, RobotWarning
from humanoid_planner.distance.collision_pairs import MarginRule
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture import CollisionModel, NearReference, PostureProblem, generate_posture
from humanoid_planner.posture.collision_store import load_pairs, save_pairs, store_path
from humanoid_planner.posture.compound_task import CompoundTask
from humanoid_planner.posture.link_tasks import point_at


@pytest.fixture(scope="module")
def model() -> CollisionModel:
    return CollisionModel(HRP2, load_scene("stairs"))


def test_what_contacts_hold_may_touch(model: CollisionModel) -> None:
    """F075: the sole's link against the step it stands on, and nothing else, leaves the pairs."""
    scene = load_scene("stairs")
    step = next(surface for surface in scene.surfaces if surface.name == "step_1")
    free = model.task(Stance(()))
    held = model.task(Stance((Contact(HRP2.contacts["left_sole"], step, 0.0, 0.0, 0.0),)))
    assert free is not None
    assert held is not None
    assert set(free.labels) - set(held.labels) == {"collision LLEG_LINK5 step_1"}


def test_neighbours_along_the_robot_have_no_pair(model: CollisionModel) -> None:
    """F077: joint limits keep them apart."""
    description = HRP2.description
    neighbours = {frozenset((joint.parent, joint.child)) for joint in description.joints.values()}
    for a, b in model.self_pairs:
        assert frozenset((model.volumes[a].owner, model.volumes[b].owner)) not in neighbours


def test_compound_joints_take_their_pairs_over(model: CollisionModel) -> None:
    limited = {frozenset(pair) for limit in model.limits for pair in limit.pairs}
    assert limited
    for a, b in model.self_pairs:
        assert frozenset((model.volumes[a].owner, model.volumes[b].owner)) not in limited


def test_margins_of_certain_pairs(model: CollisionModel) -> None:
    task = model.task(Stance(feet()), margin=0.02, rules=[MarginRule("RARM_*", "step_*", -0.01)])
    assert task is not None
    margins = dict(zip(task.labels, task.lower, strict=True))
    assert margins["collision RARM_LINK3 step_1"] == -0.01
    assert margins["collision LARM_LINK3 step_1"] == 0.02


def test_derivatives_of_compound_limits(model: CollisionModel) -> None:
    problem = PostureProblem(HRP2, Stance(feet()), start=HALF_SITTING, stability="none")
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


def test_a_robot_without_neighbours_has_nothing_to_avoid() -> None:
    assert CollisionModel(load_robot("robot_2r_a")).task(Stance(())) is None


def test_distances_are_computed_once_per_posture(model: CollisionModel) -> None:
    problem = PostureProblem(HRP2, Stance(feet()), start=HALF_SITTING, collisions=model)
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


def test_links_beside_a_contact_may_come_as_near_as_their_shapes(model: CollisionModel) -> None:
    """Their margins go, their shapes stay: a shin is a capsule, whose own radius is no margin."""
    scene = load_scene("stairs")
    step = next(surface for surface in scene.surfaces if surface.name == "step_1")
    task = model.task(Stance((Contact(HRP2.contacts["left_sole"], step, 0.0, 0.0, 0.0),)))
    assert task is not None
    margins = dict(zip(task.labels, task.lower, strict=True))
    assert -0.035 < margins["collision LLEG_LINK3 step_1"] < -0.02
    assert margins["collision LLEG_LINK2 step_1"] == 0.0
    assert margins["collision LLEG_LINK3 step_2"] == 0.0


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
        problem = PostureProblem(robot, Stance(()), stability="none", collisions=model, collision_margin=margin)
        assert problem.collisions is not None
        assert problem.collisions.lower[0] == pytest.approx(overlap.distance - 1e-3)
        values = problem.program.constraints(problem.start(robot.postures["ahead"]))
        assert (values >= problem.program.constraint_lower).all()
    ruled = model.task(Stance(()), rules=[MarginRule("left_3", "right_3", 0.005)])
    assert ruled is not None
    assert ruled.lower[0] == 0.005


@pytest.mark.slow
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
