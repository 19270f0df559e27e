# SPDX-License-Identifier: Apache-2.0
"""Generated postures, checked by Pinocchio and coal alone; and the reasons given when there is none."""

import dataclasses

import coal
import numpy as np
import pinocchio as pin
import pytest
from fixtures.planner_robots import reference_data
from fixtures.posture_problems import FLOOR, HALF_SITTING, HRP2, TABLE, feet, kinematics_at, where_it_is
from fixtures.scenes import box, place, scene

from examples.extending.links_apart import LinksApart
from humanoid_model import Contact, ContactKind, InputError, Robot, Scene, Stance, Surface, load_robot
from humanoid_planner.equilibrium.support_polygon import SupportPolygon
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.program import ReturnCode, SolverOptions
from humanoid_planner.posture import (
    CollisionModel,
    LeastTorque,
    Load,
    NearReference,
    PostureResult,
    Task,
    generate_posture,
    near_middle,
)
from humanoid_planner.posture.generate import solve_problem
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements
from humanoid_planner.posture.tasks import link_tasks
from humanoid_planner.posture.tasks.state import PostureState

HAND_ON_TABLE = Contact(HRP2.contacts["right_hand_fingers"], TABLE, 0.0, 0.0, 0.0)
ON_TABLE = Stance((*feet(), HAND_ON_TABLE))
NEAR = NearReference(RobotKinematics(HRP2), HALF_SITTING)
KINEMATICS = kinematics_at(HRP2, HALF_SITTING)
GRAVITY = np.array([0.0, 0.0, -9.81])


def perturbed(rng: np.random.Generator, size: float = 0.2) -> np.ndarray:
    """Half-sitting with all joints off by a fifth of a radian and the base by 5 cm, within the limits."""
    x = KINEMATICS.coordinates(HALF_SITTING)
    x[:3] += 0.25 * size * rng.standard_normal(3)
    x[3:] += size * rng.standard_normal(len(x) - 3)
    return KINEMATICS.configuration(np.clip(x, KINEMATICS.lower, KINEMATICS.upper))


def check_contacts(robot: Robot, stance: Stance, q: np.ndarray, scene: Scene | None = None) -> None:
    data = reference_data(robot, q)
    bodies = {} if scene is None else {body.name: body.placement_world_body for body in scene.bodies}
    for contact in stance.contacts:
        attachment = robot.parts.links[contact.location.link]
        patch = data.oMf[attachment.frame_id] * contact.location.placement_link_patch
        body = bodies.get(contact.surface.body, pin.SE3.Identity())
        target = body * contact.surface.placement_body_surface * contact.placement_surface_patch
        if contact.kind in (ContactKind.FIXED, ContactKind.RELEASED):
            np.testing.assert_allclose(pin.log6(target.actInv(patch)).vector, 0.0, atol=2e-6)


def check_statics(robot: Robot, result: PostureResult, friction: float, loads=()) -> None:
    """Newton-Euler by Pinocchio: gravity less the forces' work leaves the joints' torques and nothing on the base."""
    model, q = robot.model, result.q
    data = reference_data(robot, q)
    generalised = pin.computeGeneralizedGravity(model, model.createData(), q)
    wrenches = list(zip(result.force_points, result.forces, result.force_contacts, strict=True))
    for point, force, name in wrenches:
        joint = robot.parts.links[robot.contacts[name].link].joint_id
        J = np.zeros((6, model.nv))
        J = pin.computeJointJacobian(model, data, q, joint)
        at_joint = data.oMi[joint].actInv(point)
        local = data.oMi[joint].rotation.T @ force
        generalised = generalised - J.T @ np.concatenate([local, np.cross(at_joint, local)])
    weight = 9.81 * RobotKinematics(robot).total_mass
    np.testing.assert_allclose(generalised[:6], 0.0, atol=1e-4 * weight)
    np.testing.assert_allclose(generalised[6:], result.torques[6:], atol=1e-3)
    for _, force, _ in wrenches:
        normal = force[2]
        assert normal >= -1e-6 * weight
        assert np.hypot(*force[:2]) <= friction * normal + 3e-6 * weight


@pytest.mark.feature("001-F003", "001-F040", "001-F047", "001-F070", "001-F082")
def test_three_contacts_with_torque_limits_from_perturbed_starts() -> None:
    rng = np.random.default_rng(0)
    solved = 0
    for _ in range(20):
        result = generate_posture(
            HRP2,
            ON_TABLE,
            initial=perturbed(rng),
            criterion=NEAR,
            stability="forces",
            torque_limits=True,
            explain=False,
        )
        if not result.success:
            continue
        solved += 1
        check_contacts(HRP2, ON_TABLE, result.q)
        check_statics(HRP2, result, 0.5)
        limits = HRP2.limits
        assert (result.q[7:] >= limits.lower[7:] - 1e-6).all()
        assert (result.q[7:] <= limits.upper[7:] + 1e-6).all()
        assert (np.abs(result.torques[6:]) <= limits.effort[6:] * (1 + 1e-6)).all()
    assert solved >= 18


@pytest.mark.feature("001-F078")
def test_the_polygon_holds_the_centre_of_mass_and_a_margin_moves_it_inside() -> None:
    # Leaning forward pulls the centre of mass out over the toes.
    lean = [link_tasks.point_beyond(KINEMATICS, "WAIST", [0, 0, 0], [0.12, 0, 0], [1, 0, 0])]
    stance = Stance(feet())
    data = HRP2.model.createData()
    vertices = np.vstack(
        [
            (contact.placement_surface_patch * pin.SE3.Identity()).act(np.array([*vertex, 0.0]))
            for contact in stance.contacts
            for vertex in contact.location.patch
        ]
    )
    polygon = SupportPolygon.of_points(vertices)
    for margin in (0.0, 0.03):
        result = generate_posture(HRP2, stance, criterion=NEAR, tasks=lean, stability_margin=margin)
        assert result.success, result.explanation
        assert result.forces.shape == (0, 3)
        com = pin.centerOfMass(HRP2.model, data, result.q)
        assert polygon.margin(com[:2]) >= margin - 2e-6
        check_contacts(HRP2, stance, result.q)


@pytest.mark.feature("001-F081")
def test_reduced_feet_keep_the_centre_of_mass_near_their_middle() -> None:
    """F081: discs of 2 cm diameter for the feet."""
    angles = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    disc = 0.01 * np.column_stack([np.cos(angles), np.sin(angles)])
    foot = where_it_is("left_sole")
    small = dataclasses.replace(foot, location=dataclasses.replace(foot.location, patch=disc))
    result = generate_posture(HRP2, Stance((small,)), criterion=NEAR)
    assert result.success, result.explanation
    com = pin.centerOfMass(HRP2.model, HRP2.model.createData(), result.q)
    assert np.hypot(com[0] - foot.x, com[1] - foot.y) <= 0.01 + 2e-6


@pytest.mark.feature("001-F054")
def test_least_torque_needs_less_than_the_nearest_posture() -> None:
    weight = 9.81 * KINEMATICS.total_mass
    common = {"stability": "forces", "torque_limits": True}
    near = generate_posture(HRP2, ON_TABLE, criterion=NEAR, **common)
    least = generate_posture(HRP2, ON_TABLE, criterion=LeastTorque(KINEMATICS, weight), initial=near.q, **common)
    assert near.success
    assert least.success
    check_statics(HRP2, least, 0.5)
    units = HRP2.limits.effort[6:]
    assert np.sum((least.torques[6:] / units) ** 2) < 0.7 * np.sum((near.torques[6:] / units) ** 2)


def test_a_load_shifts_the_forces_by_its_weight() -> None:
    stance = Stance(feet())
    result = generate_posture(
        HRP2, stance, criterion=NEAR, stability="forces", loads=[Load("LARM_LINK6", [0, 0, -40.0])]
    )
    assert result.success
    total = result.forces.sum(axis=0)
    np.testing.assert_allclose(total, [0, 0, 9.81 * KINEMATICS.total_mass + 40.0], atol=1e-3)


@pytest.mark.feature("001-F047")
def test_on_the_moon_the_feet_bear_a_sixth() -> None:
    result = generate_posture(HRP2, Stance(feet()), criterion=NEAR, stability="forces", gravity=[0.0, 0.0, -1.62])
    assert result.success
    np.testing.assert_allclose(result.forces.sum(axis=0), [0, 0, 1.62 * KINEMATICS.total_mass], atol=1e-3)


@pytest.mark.feature("001-F088")
def test_a_start_takes_the_forces_that_are_known() -> None:
    """F088: those of a posture found before, in the world; without them the weight is shared."""
    problem = PostureProblem(HRP2, ON_TABLE, PostureRequirements(stability="forces"), start=HALF_SITTING)
    known = solve_problem(problem, HALF_SITTING)
    assert known.success
    problem.state.set(problem.start(known.q, known.forces))
    np.testing.assert_allclose(problem.state.place_forces().forces, known.forces, atol=1e-6)
    problem.state.set(problem.start(known.q))
    assert np.abs(problem.state.place_forces().forces - known.forces).max() > 1.0


@pytest.mark.feature("001-F046")
def test_torque_limits_bound_the_load_that_can_be_held() -> None:
    """F046: with its joints prescribed, a level forearm bears what Pinocchio says its weakest joint does, no more."""
    link, arm = "RARM_LINK6", [f"RARM_JOINT{i}" for i in range(7)]
    bent = {"RARM_JOINT1": -0.2, "RARM_JOINT3": -np.pi / 2}
    tasks = [link_tasks.joint_at(KINEMATICS, joint, bent.get(joint, 0.0), name=joint) for joint in arm]
    tasks.append(link_tasks.axis_along(KINEMATICS, "RARM_LINK2", [0, 0, 1], [0, 0, 1], name="upper arm"))

    def holding(load: float) -> PostureResult:
        return generate_posture(
            HRP2, Stance(feet()), criterion=NEAR, tasks=tasks, stability="forces", torque_limits=True,
            loads=[Load(link, [0, 0, -load])], explain=False,
        )  # fmt: skip

    free = holding(0.0)
    assert free.success, free.explanation
    # The arm's torques don't depend on how the base is turned about the vertical, nor on what the legs do.
    model, data = HRP2.model, HRP2.model.createData()
    own = pin.computeGeneralizedGravity(model, data, free.q)
    frame = HRP2.parts.links[link].frame_id
    pull = pin.computeFrameJacobian(model, data, free.q, frame, pin.LOCAL_WORLD_ALIGNED)[2]  # of a newton downwards
    bearable = np.inf
    for joint in arm:
        v = HRP2.index_v(joint)
        limit = HRP2.limits.effort[v]
        if abs(pull[v]) > 1e-6:
            bearable = min(bearable, (limit - np.sign(pull[v]) * own[v]) / abs(pull[v]))
    assert 10.0 < bearable < 100.0
    light, heavy = holding(0.98 * bearable), holding(1.02 * bearable)
    assert light.success, light.explanation
    assert not heavy.success
    assert heavy.violations[0].constraint.startswith("torque of RARM")


@pytest.mark.feature("001-F004", "001-F042", "001-F043")
def test_no_collision_with_itself_or_a_scene_by_coals_word() -> None:
    from humanoid_model import load_scene

    scene = load_scene("stairs")
    surfaces = {surface.name: surface for surface in scene.surfaces}
    step, floor = surfaces["step_1"], surfaces["floor"]
    stance = Stance(
        (
            Contact(HRP2.contacts["right_sole"], step, 0.0, -0.12, 0.0),
            Contact(HRP2.contacts["left_sole"], floor, 0.05, 0.12, 0.0),
        )
    )
    model = CollisionModel(HRP2, scene)
    result = generate_posture(HRP2, stance, scene=scene, criterion=NEAR, collisions=model)
    assert result.success, result.explanation
    assert result.distance_evaluations >= result.evaluations * len(model.self_pairs)
    check_contacts(HRP2, stance, result.q, scene)
    data = reference_data(HRP2, result.q)
    geometry = HRP2.collision_model
    placed = [(item, data.oMi[item.parentJoint] * item.placement) for item in geometry.geometryObjects]
    touching = {frozenset(("RLEG_LINK5", "step_1"))}
    checked = 0
    for item, at in placed:
        link = item.name.split("/")[0]
        for body in scene.bodies:
            for shape in body.geometries:
                from humanoid_model.coal_geometry import coal_geometry
                from humanoid_model.description import HalfSpace

                if isinstance(shape.shape, HalfSpace) or frozenset((link, body.name)) in touching:
                    continue
                there = body.placement_world_body * shape.placement
                gap = coal.distance(
                    item.geometry, coal.Transform3s(at.rotation, at.translation),
                    coal_geometry(shape.shape), coal.Transform3s(there.rotation, there.translation),
                    coal.DistanceRequest(), coal.DistanceResult(),
                )  # fmt: skip
                checked += 1
                assert gap > 0.0, (item.name, body.name)
    assert checked > 100
    volumes = model.volumes
    for a, b in model.self_pairs:
        # Of a pelvis one shape each: others are in hips by construction.
        names = volumes[a].name, volumes[b].name
        gap = min(
            coal.distance(
                one.geometry, coal.Transform3s(at.rotation, at.translation),
                two.geometry, coal.Transform3s(to.rotation, to.translation),
                coal.DistanceRequest(), coal.DistanceResult(),
            )
            for one, at in placed if f"{one.name}/".startswith(f"{names[0]}/")
            for two, to in placed if f"{two.name}/".startswith(f"{names[1]}/")
        )  # fmt: skip
        assert gap > 0.0, names


@pytest.mark.feature("001-F043")
def test_a_box_where_a_forearm_would_be_is_kept_clear_of() -> None:
    """F043: the nearest posture is in it, by coal's word; with distances the whole arm is beside it."""
    elbow = reference_data(HRP2, HALF_SITTING).oMf[HRP2.parts.links["RARM_LINK4"].frame_id].translation
    around = scene(box("crate", (0.12, 0.12, 0.12), place(*(elbow + np.array([0.03, -0.04, 0.0])))))
    common = {"scene": around, "criterion": NEAR, "stability": "none"}
    there = coal.Transform3s(np.eye(3), around.bodies[0].placement_world_body.translation)

    def gap(q: np.ndarray) -> float:
        data = reference_data(HRP2, q)
        placed = [(item, data.oMi[item.parentJoint] * item.placement) for item in HRP2.collision_model.geometryObjects]
        return min(
            coal.distance(
                item.geometry, coal.Transform3s(at.rotation, at.translation), coal.Box(0.12, 0.12, 0.12), there,
                coal.DistanceRequest(), coal.DistanceResult(),
            )
            for item, at in placed
        )  # fmt: skip

    free = generate_posture(HRP2, Stance(()), **common)
    clear = generate_posture(HRP2, Stance(()), collisions=True, **common)
    assert free.success
    assert clear.success, clear.explanation
    assert gap(free.q) < -0.02
    assert gap(clear.q) > 0.02 - 2e-6, "both volumes hold all that is within 1 cm of their shapes"


@pytest.mark.feature("001-F042", "001-F044")
def test_crossed_arms_are_taken_apart() -> None:
    """F042: without distances the forearms are in each other; with them they aren't."""
    tasks = [
        link_tasks.point_at(KINEMATICS, "RARM_LINK5", [0, 0, 0], [0.3, -0.03, 1.05], 0.02),
        link_tasks.point_at(KINEMATICS, "LARM_LINK5", [0, 0, 0], [0.3, 0.03, 1.05], 0.02),
    ]
    model = CollisionModel(HRP2)
    free = generate_posture(HRP2, Stance(feet()), criterion=NEAR, tasks=tasks)
    assert free.success

    def worst(q: np.ndarray) -> float:
        problem = PostureProblem(HRP2, Stance(feet()), PostureRequirements(collisions=model), start=q)
        problem.state.set(problem.start(q))
        assert problem.collisions is not None
        return float(problem.collisions.value(problem.state).min())

    assert worst(free.q) < -0.005
    tasks_apart = [
        link_tasks.point_at(KINEMATICS, "RARM_LINK5", [0, 0, 0], [0.3, -0.03, 1.05], 0.15),
        link_tasks.point_at(KINEMATICS, "LARM_LINK5", [0, 0, 0], [0.3, 0.03, 1.05], 0.15),
    ]
    apart = generate_posture(HRP2, Stance(feet()), criterion=NEAR, tasks=tasks_apart, collisions=model, initial=free.q)
    assert apart.success, apart.explanation
    assert worst(apart.q) > -2e-6
    overlapping = generate_posture(
        HRP2, Stance(feet()), criterion=NEAR, tasks=tasks, collisions=model, collision_margin=-0.2
    )
    assert overlapping.success, overlapping.explanation


def test_different_criteria_and_starts_give_different_valid_postures() -> None:
    """X01."""
    squat = HRP2.postures["squat"]
    found = [
        generate_posture(HRP2, ON_TABLE, criterion=criterion, initial=start, stability="forces")
        for criterion, start in (
            (NEAR, HALF_SITTING),
            (near_middle(KINEMATICS), HALF_SITTING),
            (NearReference(KINEMATICS, squat), squat),
        )
    ]
    for result in found:
        assert result.success, result.explanation
        check_contacts(HRP2, ON_TABLE, result.q)
        check_statics(HRP2, result, 0.5)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert np.linalg.norm(found[one].q[7:] - found[other].q[7:]) > 0.2


@pytest.mark.feature("001-F088")
def test_a_warm_start_takes_fewer_iterations() -> None:
    """F088."""
    problem = PostureProblem(
        HRP2, ON_TABLE, PostureRequirements(criterion=NEAR, stability="forces", torque_limits=True), start=HALF_SITTING
    )
    cold = solve_problem(problem, HALF_SITTING)
    again = solve_problem(problem, HALF_SITTING, warm_start=cold.solution)
    assert cold.success
    assert again.success
    assert again.iterations < cold.iterations
    assert again.criterion == pytest.approx(cold.criterion, abs=1e-3)


@pytest.mark.feature("001-F066")
@pytest.mark.parametrize("solver", ["ipopt", "feasible_sqp"])
def test_other_solvers_find_a_posture_of_the_same_cost(solver: str) -> None:
    """F066: the problem knows nothing of the solver."""
    stance = Stance(feet())
    tasks = [link_tasks.point_at(KINEMATICS, "RARM_LINK6", [0, 0, 0], [0.3, -0.25, 0.8], 0.01)]
    expected = generate_posture(HRP2, stance, criterion=NEAR, tasks=tasks)
    many = SolverOptions(max_iterations=500)
    result = generate_posture(HRP2, stance, criterion=NEAR, tasks=tasks, solver=solver, options=many)
    assert result.success, result.explanation
    check_contacts(HRP2, stance, result.q)
    assert result.criterion == pytest.approx(expected.criterion, rel=0.02)


@pytest.mark.feature("001-F045")
def test_a_users_own_task_and_extra_variables() -> None:
    result = generate_posture(HRP2, Stance(feet()), criterion=NEAR, tasks=[LinksApart("RARM_LINK6", "LARM_LINK6", 1.0)])
    assert result.success, result.explanation
    data = reference_data(HRP2, result.q)
    hands = [data.oMf[HRP2.parts.links[link].frame_id].translation for link in ("RARM_LINK6", "LARM_LINK6")]
    assert np.linalg.norm(hands[0] - hands[1]) == pytest.approx(1.0, abs=2e-6)

    class HandAtHeight(Task):
        """The hand at a height that is a variable of its own."""

        def __init__(self) -> None:
            super().__init__("height", 0.0, 0.0)

        def value(self, state: PostureState) -> np.ndarray:
            return np.array([state.kinematics.point("RARM_LINK6", [0, 0, 0])[2] - state.extras[0]])

        def jacobian(self, state: PostureState) -> np.ndarray:
            J = np.zeros((1, state.size))
            J[0, : state.kinematics.size] = state.kinematics.point_jacobian("RARM_LINK6", [0, 0, 0])[2]
            J[0, state.first_extra] = -1.0
            return J

    result = generate_posture(
        HRP2, Stance(feet()), criterion=NEAR, tasks=[HandAtHeight()], extra_lower=[0.9], extra_upper=[1.0]
    )
    assert result.success, result.explanation
    height = reference_data(HRP2, result.q).oMf[HRP2.parts.links["RARM_LINK6"].frame_id].translation[2]
    assert 0.9 - 2e-6 <= height <= 1.0 + 2e-6
    assert result.x[-1] == pytest.approx(height, abs=2e-6)


@pytest.mark.feature("001-F087")
def test_a_released_contact_keeps_its_place_and_bears_nothing() -> None:
    """F087: the transition posture holds the geometry of both feet and stands on one."""
    stance = Stance((where_it_is("left_sole"), where_it_is("right_sole", kind=ContactKind.RELEASED)))
    result = generate_posture(HRP2, stance, criterion=NEAR, stability="forces", torque_limits=True)
    assert result.success, result.explanation
    check_contacts(HRP2, stance, result.q)
    check_statics(HRP2, result, 0.5)
    assert set(result.force_contacts) == {"left_sole"}


def test_a_grasp_may_pull() -> None:
    """Leaning back, held by a rail: without the grasp's pull nothing balances."""
    rail = Surface("rail", "world", pin.SE3(np.eye(3), np.array([0.30, -0.25, 0.80])))
    hand = Contact(HRP2.contacts["right_hand_fingers"], rail, 0.0, 0.0, 0.0)
    feet_back = tuple(dataclasses.replace(contact, x=contact.x + 0.15) for contact in feet())
    back = [link_tasks.centre_of_mass_at([-0.03, 0, 0.7], horizontal=True)]
    pushing = generate_posture(
        HRP2, Stance((*feet_back, hand)), criterion=NEAR, tasks=back, stability="forces", explain=False
    )
    pulling = generate_posture(
        HRP2, Stance((*feet_back, dataclasses.replace(hand, bilateral=True))), criterion=NEAR, tasks=back,
        stability="forces",
    )  # fmt: skip
    assert not pushing.success
    assert pulling.success, pulling.explanation
    held = [force for force, name in zip(pulling.forces, pulling.force_contacts, strict=True) if "hand" in name]
    total = np.sum(held, axis=0)
    assert total[0] > 1.0 or total[2] < -1.0


@pytest.mark.feature("001-F002", "001-F048")
def test_other_robots_go_through_the_same_code() -> None:
    """F002: a biped of 15 joints, a planar biped, an arm fixed to the world."""
    bip = load_robot("bip")
    q = bip.postures["zero"]
    soles = [name for name, location in bip.contacts.items() if location.support]
    stance = Stance(tuple(where_it_is(name, FLOOR, bip, q) for name in soles))
    result = generate_posture(bip, stance, initial=q, criterion=NearReference(RobotKinematics(bip), q))
    assert result.success, result.explanation
    check_contacts(bip, stance, result.q)
    arm = load_robot("tree4")
    link = list(arm.description.links)[-1]
    kinematics = RobotKinematics(arm)
    x = np.clip(np.full(kinematics.size, 0.3), kinematics.lower, kinematics.upper)
    kinematics.set(x)
    target = kinematics.point(link, [0.1, 0, 0])
    result = generate_posture(
        arm, Stance(()), tasks=[link_tasks.point_at(kinematics, link, [0.1, 0, 0], target)], torque_limits=True
    )
    assert result.success, result.explanation
    assert result.criterion == 0.0, "any posture will do"


IMPOSSIBLE = {
    "hand out of reach": (
        {"stance": Stance((*feet(), dataclasses.replace(HAND_ON_TABLE, x=3.0)))},
        "contact right_hand_fingers on table",
    ),
    "centre of mass away from the feet": (
        {"stance": Stance(feet()), "tasks": [link_tasks.centre_of_mass_at([1.0, 0, 0.7], name="goal")]},
        "goal",
    ),
    "joint beyond its limit": (
        {"stance": Stance(feet()), "tasks": [link_tasks.joint_at(KINEMATICS, "RARM_JOINT3", 0.5, name="elbow")]},
        "elbow",
    ),
    "gaze behind": (
        {
            "stance": Stance(feet()),
            "tasks": [
                link_tasks.gaze(KINEMATICS, "HEAD_LINK1", [0.1, 0, 0], [1, 0, 0], [-2, 0, 1], 0.05, name="gaze"),
                link_tasks.orientation(KINEMATICS, "WAIST", np.eye(3), 0.1, name="upright"),
            ],
        },
        "gaze",
    ),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_a_failure_says_what_is_in_conflict_and_what_would_have_to_go(name: str) -> None:
    problem, culprit = IMPOSSIBLE[name]
    problem = dict(problem)
    result = generate_posture(HRP2, problem.pop("stance"), criterion=NEAR, **problem)
    assert not result.success
    assert result.status != ReturnCode.SUCCESS
    assert result.violations
    assert culprit in result.conflicting
    assert result.removal in result.conflicting
    assert f"Without '{result.removal}' there is a posture" in result.explanation
    # The worst violation is named with its value, bound and unit.
    assert str(result.violations[0]) in result.explanation
    assert result.violations[0].excess == pytest.approx(result.residual, rel=1e-6)
    # The least-violating posture is a posture: within the limits, and nearer than the start.
    assert np.isfinite(result.q).all()


def test_limits_on_iterations_and_time_are_kept() -> None:
    result = generate_posture(
        HRP2, ON_TABLE, criterion=NEAR, stability="forces", options=SolverOptions(max_iterations=2), explain=False
    )
    assert result.status == ReturnCode.MAX_ITERATIONS
    assert "No posture found" in result.explanation
    result = generate_posture(
        HRP2, ON_TABLE, criterion=NEAR, stability="forces", options=SolverOptions(time_limit=0.0), explain=False
    )
    assert result.status == ReturnCode.TIME_LIMIT


def test_a_posture_that_may_not_be_the_best_is_a_posture_all_the_same() -> None:
    held = Stance(tuple(where_it_is(name, FLOOR, HRP2, HALF_SITTING) for name in ("left_sole", "right_sole")))
    straight = NearReference(RobotKinematics(HRP2), HRP2.postures["zero"])
    result = generate_posture(
        HRP2, held, initial=HALF_SITTING, criterion=straight, options=SolverOptions(max_iterations=0)
    )
    assert result.success
    assert result.violations == ()
    assert result.status == ReturnCode.MAX_ITERATIONS
    assert result.explanation.startswith("Found, but")
    best = generate_posture(HRP2, held, initial=HALF_SITTING, criterion=straight)
    assert best.status == ReturnCode.SUCCESS
    assert best.criterion < result.criterion


def test_the_time_limit_is_for_the_explanation_too() -> None:
    beyond = Stance((*feet(), dataclasses.replace(HAND_ON_TABLE, x=3.0)))
    problem = PostureProblem(HRP2, beyond, PostureRequirements(criterion=NEAR))
    asked = solve_problem(problem, HALF_SITTING)
    assert asked.removal
    hurried = solve_problem(problem, HALF_SITTING, options=SolverOptions(time_limit=0.0))
    assert not hurried.success
    assert hurried.conflicting
    assert not hurried.removal


def test_the_users_arrays_stay_as_they_are() -> None:
    start = HALF_SITTING.copy()
    before = start.copy()
    generate_posture(HRP2, Stance(feet()), criterion=NEAR, initial=start)
    np.testing.assert_array_equal(start, before)


def test_unknown_solver_is_named() -> None:
    with pytest.raises(InputError, match="unknown solver 'snopt'"):
        generate_posture(HRP2, Stance(feet()), solver="snopt")


def test_a_start_far_away_is_moved_to_the_contacts() -> None:
    far = pin.SE3(pin.utils.rotate("z", 2.5), np.array([30.0, -12.0, 1.0])) * HRP2.placement_base(HALF_SITTING)
    problem = PostureProblem(HRP2, ON_TABLE, PostureRequirements(stability="forces"), start=HALF_SITTING)
    near = problem.start(HALF_SITTING)
    moved = problem.start(HRP2.place_base(HALF_SITTING, far))
    # Feet and hand of one posture don't fit exactly; the feet's share of it is within the hand's way to the table.
    assert np.linalg.norm(moved[:3] - near[:3]) < 0.6
    result = generate_posture(
        HRP2, ON_TABLE, initial=HRP2.place_base(HALF_SITTING, far), criterion=NEAR, stability="forces"
    )
    assert result.success, result.explanation
    check_contacts(HRP2, ON_TABLE, result.q)
    # Nearby the start is what it was.
    np.testing.assert_allclose(near[:6], KINEMATICS.coordinates(HALF_SITTING)[:6])
