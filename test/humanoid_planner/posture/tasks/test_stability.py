# SPDX-License-Identifier: Apache-2.0
"""The centre of mass above one sole, which may be anywhere: against the support polygon of that sole."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from fixtures.planner_robots import finite_difference, random_variables
from fixtures.posture_problems import (
    FLOOR,
    HALF_SITTING,
    HRP2,
    feet,
    feet_and_hand,
    hand_on_wall,
    kinematics_at,
    where_it_is,
)
from numpy.testing import assert_allclose

from humanoid_model import Contact, ContactLocation, Stance, Surface, load_robot, load_scene
from humanoid_model.contact import ContactKind
from humanoid_model.errors import InputError
from humanoid_planner.contacts import verify_plan
from humanoid_planner.equilibrium.force_distribution import check_equilibrium
from humanoid_planner.equilibrium.support_polygon import SupportPolygon
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.solve import solve
from humanoid_planner.posture import generate_posture
from humanoid_planner.posture.problem import PostureProblem, PostureRequirements
from humanoid_planner.posture.tasks.criteria import CentreOfMassNear, LeastTorque
from humanoid_planner.posture.tasks.force_tasks import (
    ForceBalance,
    FrictionCones,
    FrictionPyramids,
    TorqueLimits,
    TorqueVariables,
    cone_lift,
)
from humanoid_planner.posture.tasks.stability import (
    CentreOfMassOnLine,
    CentreOfMassOverPatch,
    contact_points,
    polygon_task,
    polytope_task,
)
from humanoid_planner.posture.tasks.state import ForceModel, Load
from humanoid_planner.posture.tasks.task import Task

SOLE = HRP2.contacts["left_sole"]


def test_jacobian() -> None:
    kinematics = RobotKinematics(HRP2)
    task = CentreOfMassOverPatch(kinematics, SOLE, 0.01)
    problem = PostureProblem(
        HRP2, Stance(()), PostureRequirements(tasks=[task], stability="none"), kinematics=kinematics
    )
    state = problem.state
    rng = np.random.default_rng(0)
    for _ in range(3):
        x = random_variables(kinematics, rng)

        def value(y: np.ndarray) -> np.ndarray:
            state.set(y)
            return task.value(state).copy()

        expected = finite_difference(value, x)
        state.set(x)
        assert_allclose(task.jacobian(state), expected, atol=1e-7)


def test_rows_are_the_support_polygon_of_a_flat_foot() -> None:
    kinematics = RobotKinematics(HRP2)
    task = CentreOfMassOverPatch(kinematics, SOLE)
    problem = PostureProblem(
        HRP2, Stance(()), PostureRequirements(tasks=[task], stability="none"), kinematics=kinematics
    )
    state = problem.state
    for shift in (np.zeros(3), np.array([0.3, -0.2, 0.1])):
        q = HALF_SITTING.copy()
        q[:3] += shift
        state.set(kinematics.coordinates(q))
        corners = [kinematics.point(SOLE.link, vertex) for vertex in SOLE.vertices_link]
        polygon = SupportPolygon.of_points(np.array(corners))
        assert_allclose(-np.max(task.value(state)), polygon.margin(kinematics.centre_of_mass()[:2]), atol=1e-9)


def test_standing_on_one_sliding_foot() -> None:
    kinematics = RobotKinematics(HRP2)
    contact = Contact(SOLE, FLOOR, 0.0, 0.0, 0.0, kind=ContactKind.SLIDING)
    problem = PostureProblem(
        HRP2,
        Stance((contact,)),
        PostureRequirements(tasks=[CentreOfMassOverPatch(kinematics, SOLE, 0.02)], stability="none"),
        kinematics=kinematics,
    )
    result = solve(problem.program, problem.start(HALF_SITTING))
    assert result.success
    q = problem.posture(result.x)
    placed = where_it_is("left_sole", q=q)
    again = PostureProblem(HRP2, Stance((placed,)), PostureRequirements(stability="polygon", stability_margin=0.019))
    values = again.program.constraints(again.start(q))
    excess = np.maximum(again.program.constraint_lower - values, values - again.program.constraint_upper)
    assert excess.max() < 1e-5


def test_bad_patches() -> None:
    kinematics = RobotKinematics(HRP2)
    point = ContactLocation("tip", SOLE.link, SOLE.placement_link_patch, np.zeros((1, 2)))
    with pytest.raises(InputError, match="1 points"):
        CentreOfMassOverPatch(kinematics, point)
    with pytest.raises(InputError, match="margin"):
        CentreOfMassOverPatch(kinematics, SOLE, -0.1)


GRAVITY = np.array([0.0, 0.0, -9.81])


def task_of(problem: PostureProblem, kind: type) -> Task:
    return next(task for task in problem.tasks if isinstance(task, kind))


def excess(task: Task, problem: PostureProblem) -> float:
    value = task.value(problem.state)
    return float(np.maximum(task.lower - value, value - task.upper).max())


PROBLEMS = {
    "feet and hand": (feet_and_hand(), {"torque_limits": True}),
    "sliding hand, loads": (
        feet_and_hand(kind=ContactKind.SLIDING),
        {"loads": [Load("LARM_LINK6", [1, 2, -20]), Load("LARM_LINK4", [1, 2, 3], [0.1, 0, 0], [1, 0, 1], True)]},
    ),
    "torques as variables": (feet_and_hand(), {"torque_variables": True, "torque_limits": True}),
    "hand on hand": (
        Stance(
            (
                *feet(),
                Contact(
                    HRP2.contacts["right_hand_back"],
                    Surface("left hand", "LARM_LINK5", pin.SE3(pin.utils.rotate("x", 0.3), np.array([0.1, 0.2, 0.3]))),
                    0.01,
                    0.02,
                    0.3,
                ),
            )
        ),
        {"torque_limits": True},
    ),
    "frictionless grasp": (feet_and_hand(bilateral=True), {"friction": 0.0, "torque_limits": True}),
    "margin": (feet_and_hand(), {"stability_margin": 5.0}),
}


@pytest.mark.feature("001-F045")
@pytest.mark.parametrize("name", PROBLEMS)
def test_derivatives_of_all_rows(name: str) -> None:
    stance, options = PROBLEMS[name]
    problem = PostureProblem(HRP2, stance, PostureRequirements(stability="forces", **options), start=HALF_SITTING)
    program = problem.program
    rng = np.random.default_rng(1)
    x = problem.start(HALF_SITTING) + 0.1 * rng.standard_normal(program.size)
    expected = finite_difference(lambda y: program.constraints(y).copy(), x)
    error = np.abs(program.jacobian(x) - expected)
    row = int(error.max(axis=1).argmax())
    assert error.max() < 1e-6, program.row_labels[row]


@pytest.mark.feature("001-F008")
def test_balance_is_newton_and_euler() -> None:
    problem = PostureProblem(HRP2, feet_and_hand(), PostureRequirements(stability="forces"), start=HALF_SITTING)
    state = problem.state
    x = problem.start(HALF_SITTING)
    x[state.first_force :] = np.random.default_rng(0).uniform(0, 0.2, state.size - state.first_force)
    state.set(x)
    model = state.place_forces()
    G, m = problem.kinematics.centre_of_mass(), problem.kinematics.total_mass
    wrench = task_of(problem, ForceBalance).value(state)
    np.testing.assert_allclose(wrench[:3], m * GRAVITY + state.forces.sum(axis=0), atol=1e-9)
    moment = np.cross(G - model.centre, m * GRAVITY) + np.cross(model.places - model.centre, model.forces).sum(axis=0)
    np.testing.assert_allclose(wrench[3:], moment, atol=1e-9)
    # Force variables are in the contact frame: tangents along the surface, normal out of it.
    hand = [i for i, point in enumerate(model.points) if point.placed.contact.surface.name == "wall"]
    np.testing.assert_allclose(-state.forces[hand][:, 0], state.force_variables[hand][:, 2] * model.weight)


def test_wrench_of_a_contact_on_another_link_cancels() -> None:
    stance, _ = PROBLEMS["hand on hand"]
    problem = PostureProblem(HRP2, stance, PostureRequirements(stability="forces"), start=HALF_SITTING)
    state = problem.state
    x = problem.start(HALF_SITTING)
    hand = [i for i, point in enumerate(problem.force_model.points) if point.placed.ground]
    assert len(hand) == 4
    # Only the hands press each other; where they coincide nothing is left outside, but elbows feel it.
    x[state.first_force :] = 0.0
    for i in hand:
        x[state.first_force + 3 * i + 2] = 0.1
    state.set(x)
    wrench = state.place_forces().wrench()
    np.testing.assert_allclose(wrench[:3], problem.kinematics.total_mass * GRAVITY, atol=1e-9)
    with_press = state.efforts.copy()
    x[state.first_force :] = 0.0
    state.set(x)
    press = with_press - state.efforts
    elbows = [problem.kinematics.names.index(name) for name in ("RARM_JOINT3", "LARM_JOINT3")]
    legs = [i for i, name in enumerate(problem.kinematics.names) if "LEG" in name]
    assert (np.abs(press[elbows]) > 0.1).all()
    np.testing.assert_allclose(press[legs], 0.0, atol=1e-9)


@pytest.mark.feature("001-F082")
@pytest.mark.parametrize("margin", [0.0, 30.0])
def test_cone_rows_have_the_sign_of_the_quadratic_cone(margin: float) -> None:
    """Not positive where a force is inside its cone, at least the margin [N] from its boundary."""
    problem = PostureProblem(
        HRP2,
        Stance(feet()),
        PostureRequirements(stability="forces", friction=0.6, stability_margin=margin),
        start=HALF_SITTING,
    )
    cones, state = task_of(problem, FrictionCones), problem.state
    rng = np.random.default_rng(0)
    x = problem.start(HALF_SITTING)
    for _ in range(200):
        x[state.first_force :] = 10.0 ** rng.uniform(-5, 0) * rng.standard_normal(state.size - state.first_force)
        state.set(x)
        f = state.force_variables
        distance = problem.force_model.weight * (0.6 * f[:, 2] - np.hypot(f[:, 0], f[:, 1])) / np.hypot(1.0, 0.6)
        inside = distance >= margin
        np.testing.assert_array_equal(cones.value(state) <= 0, inside)


def test_margin_keeps_forces_that_far_from_the_cone() -> None:
    """A force on the moved cone is at the margin's distance from the original one."""
    mu, margin = 0.6, 7.0
    lift = cone_lift(np.array([mu]), margin)[0]
    for normal in (lift + 1.0, lift + 50.0):
        tangent = mu * (normal - lift)
        distance = (mu * normal - tangent) / np.hypot(1, mu)
        assert distance == pytest.approx(margin)
    assert cone_lift(np.array([0.0]), margin)[0] == margin


@pytest.mark.feature("001-F045", "001-F083")
def test_torque_variables_and_elimination_say_the_same() -> None:
    """F083: tau within its limits is A f + b <= 0 with tau eliminated (3.67, E-08)."""
    eliminated = PostureProblem(
        HRP2, feet_and_hand(), PostureRequirements(stability="forces", torque_limits=True), start=HALF_SITTING
    )
    explicit = PostureProblem(
        HRP2,
        feet_and_hand(),
        PostureRequirements(stability="forces", torque_limits=True, torque_variables=True),
        start=HALF_SITTING,
    )
    limits, statics = task_of(eliminated, TorqueLimits), task_of(explicit, TorqueVariables)
    rng = np.random.default_rng(0)
    for _ in range(20):
        x = eliminated.start(HALF_SITTING) + 0.1 * rng.standard_normal(eliminated.program.size)
        eliminated.state.set(x)
        tau = limits.value(eliminated.state).copy()
        y = np.concatenate([x, tau / statics.units])
        explicit.state.set(y)
        np.testing.assert_allclose(statics.value(explicit.state), 0.0, atol=1e-9)
        within = bool((np.abs(tau) <= limits.upper + 1e-12).all())
        bounded = explicit.state.first_extra
        assert within == bool((np.abs(y[bounded:]) <= explicit.program.upper[bounded:] + 1e-12).all())


@pytest.mark.feature("001-F045")
@pytest.mark.parametrize("limited", [False, True])
def test_torques_as_variables_are_limited_only_when_asked_for(limited: bool) -> None:
    problem = PostureProblem(
        HRP2,
        feet_and_hand(),
        PostureRequirements(stability="forces", torque_variables=True, torque_limits=limited),
        start=HALF_SITTING,
    )
    torques = slice(problem.state.first_extra, None)
    expected = HRP2.limits.effort[6:] if limited else np.inf
    units = task_of(problem, TorqueVariables).units
    np.testing.assert_allclose(problem.program.upper[torques] * units, expected)
    np.testing.assert_allclose(-problem.program.lower[torques] * units, expected)


@pytest.mark.feature("001-F084")
def test_polygon_polytope_and_forces_agree_on_flat_ground() -> None:
    """Friction is ample: all three are the support polygon."""
    problem = PostureProblem(HRP2, Stance(feet()), PostureRequirements(stability="none"), start=HALF_SITTING)
    kinematics = problem.kinematics
    polygon = polygon_task(kinematics, problem.contacts, GRAVITY, 0.0)
    model = ForceModel(kinematics, problem.contacts, (), GRAVITY)
    polytope = polytope_task(model, kinematics.total_mass, (), 0.0)
    points = contact_points(model)
    rng = np.random.default_rng(0)
    answers = []
    for _ in range(60):
        q = HRP2.place_base(
            HALF_SITTING,
            pin.SE3(np.eye(3), np.array([*rng.uniform(-0.2, 0.2, 2), 0.0])) * HRP2.placement_base(HALF_SITTING),
        )
        problem.state.set(problem.start(q))
        com = kinematics.centre_of_mass()
        by_polygon = excess(polygon, problem) <= 0
        assert (excess(polytope, problem) <= 0) == by_polygon
        forces = check_equilibrium(points, kinematics.total_mass, com, gravity=GRAVITY)
        assert forces.equilibrium == by_polygon
        answers.append(by_polygon)
    assert 5 < sum(answers) < 55


@pytest.mark.feature("001-F081")
def test_stability_margin_shrinks_the_polygon() -> None:
    problem = PostureProblem(HRP2, Stance(feet()), PostureRequirements(stability="polygon"), start=HALF_SITTING)
    tight = PostureProblem(
        HRP2, Stance(feet()), PostureRequirements(stability="polygon", stability_margin=0.03), start=HALF_SITTING
    )
    np.testing.assert_allclose(problem.tasks[-1].upper - tight.tasks[-1].upper, 0.03)


@pytest.mark.feature("001-F081")
@pytest.mark.parametrize("hand", [False, True])
def test_a_centre_margin_is_one_in_metres_on_level_contacts_and_on_others(hand: bool) -> None:
    """Leaning as far as the margin allows leaves it, by the linear programs of the plan's verifier."""
    scene = load_scene("gap_before_wall")
    surfaces = {surface.name: surface for surface in scene.surfaces}
    contacts = [Contact(HRP2.contacts["left_sole"], surfaces["near_side"], 0.35, 0.0, 0.0)]
    if hand:
        contacts.append(Contact(HRP2.contacts["right_hand_fingers"], surfaces["wall"], 0.35, -0.2, 0.0))
    stance, margins = Stance(tuple(contacts)), []
    for asked in (0.0, 0.02):
        found = generate_posture(
            HRP2, stance, initial=HALF_SITTING, scene=scene, stability="forces", centre_margin=asked,
            criterion=CentreOfMassNear([1.0, 0.0]),
        )  # fmt: skip
        assert found.success, found.explanation
        margins.append(verify_plan(HRP2, scene, [stance], [found.q]).margin)
    assert margins[0] < 1e-3  # beyond the pyramids it is minus infinity
    # The region is known to 2 mm; the verifier's pyramids leave a hand on a wall some millimetres less than cones do.
    assert 0.015 < margins[1] < 0.023


@pytest.mark.feature("001-F084")
def test_margin_of_the_polytope_is_one_of_the_exact_cones() -> None:
    """Pyramids are inside the cones: where they leave 20 N, the cones do; where they balance at all, not everywhere."""
    problem = PostureProblem(HRP2, Stance(feet()), PostureRequirements(stability="none"), start=HALF_SITTING)
    kinematics = problem.kinematics
    model = ForceModel(kinematics, problem.contacts, (), GRAVITY)
    held, safe = (polytope_task(model, kinematics.total_mass, (), margin) for margin in (0.0, 20.0))
    points = contact_points(model)
    rng = np.random.default_rng(0)
    between = 0
    for _ in range(200):
        shift = pin.SE3(np.eye(3), np.array([*rng.uniform(-0.2, 0.2, 2), 0.0]))
        problem.state.set(problem.start(HRP2.place_base(HALF_SITTING, shift * HRP2.placement_base(HALF_SITTING))))
        exact = check_equilibrium(points, kinematics.total_mass, kinematics.centre_of_mass(), gravity=GRAVITY)
        if excess(safe, problem) <= 0:
            assert exact.margin >= 20.0 - 1e-3
        elif excess(held, problem) <= 0:
            between += 1
    assert between > 5


@pytest.mark.feature("001-F099")
def test_two_sliding_feet_keep_the_centre_of_mass_on_their_line() -> None:
    """F099."""
    stance = Stance(feet(kind=ContactKind.SLIDING))
    problem = PostureProblem(HRP2, stance, PostureRequirements(stability="polygon"), start=HALF_SITTING)
    task = task_of(problem, CentreOfMassOnLine)
    state = problem.state
    rng = np.random.default_rng(0)
    x = problem.start(HALF_SITTING) + 0.1 * rng.standard_normal(state.size)

    def value(y: np.ndarray) -> np.ndarray:
        state.set(y)
        return task.value(state).copy()

    expected = finite_difference(value, x)
    state.set(x)
    np.testing.assert_allclose(task.jacobian(state), expected, atol=5e-8)
    kinematics = problem.kinematics
    G = kinematics.centre_of_mass()[:2]
    middles = []
    for contact in stance.contacts:
        R, p = kinematics.placement(contact.location.link)
        middles.append((p + R @ contact.location.vertices_link.mean(axis=0))[:2])
    first, second = middles
    along = (second - first) / np.linalg.norm(second - first)
    side, after, before = task.value(state)
    np.testing.assert_allclose(first + after * along + side * np.array([-along[1], along[0]]), G, atol=1e-12)
    assert after + before == pytest.approx(np.linalg.norm(second - first))
    tight = PostureProblem(
        HRP2, stance, PostureRequirements(stability="polygon", stability_margin=0.02), start=HALF_SITTING
    )
    np.testing.assert_array_equal(task_of(tight, CentreOfMassOnLine).lower, [0.0, 0.02, 0.02])


@pytest.mark.feature("001-F086")
def test_auto_takes_the_polygon_only_where_it_suffices() -> None:
    flat = Stance(feet())
    tilted = Surface("ramp", "world", pin.SE3(pin.utils.rotate("y", 0.2), np.zeros(3)))
    ramp = Stance((where_it_is("left_sole"), Contact(HRP2.contacts["right_sole"], tilted, 0.0, -0.1, 0.0)))

    def chosen(stance: Stance, **options) -> str:
        return PostureProblem(HRP2, stance, PostureRequirements(**options), start=HALF_SITTING).stability

    assert chosen(flat) == "polygon"
    assert chosen(ramp) == "forces"
    assert chosen(feet_and_hand()) == "forces"
    # A wall that is only touched on the way bears nothing.
    assert chosen(Stance((*feet(), hand_on_wall(kind=ContactKind.RELEASED)))) == "polygon"
    assert chosen(flat, torque_limits=True) == "forces"
    assert chosen(flat, loads=[Load("LARM_LINK6", [0, 0, -5])]) == "forces"
    assert chosen(Stance(feet(bilateral=True))) == "forces"
    # Where a sliding foot ends up isn't known, and with it the polygon.
    assert chosen(Stance((where_it_is("left_sole"), where_it_is("right_sole", kind=ContactKind.SLIDING)))) == "forces"
    kinematics = kinematics_at(HRP2, HALF_SITTING)
    assert chosen(flat, criterion=LeastTorque(kinematics, 570.0)) == "forces"


@pytest.mark.feature("001-F087")
def test_released_contacts_bear_nothing() -> None:
    stance = Stance((where_it_is("left_sole"), where_it_is("right_sole", kind=ContactKind.RELEASED)))
    problem = PostureProblem(HRP2, stance, PostureRequirements(stability="forces"), start=HALF_SITTING)
    assert {point.placed.contact.location.name for point in problem.force_model.points} == {"left_sole"}


def test_fixed_robots_need_no_balance_and_planar_roots_do() -> None:
    arm = load_robot("tree4")
    problem = PostureProblem(arm, Stance(()), PostureRequirements(torque_limits=True))
    assert not [task for task in problem.tasks if isinstance(task, ForceBalance)]
    planar = load_robot("bip_planar")
    problem = PostureProblem(planar, Stance(()), PostureRequirements(stability="forces"))
    floating = task_of(problem, TorqueLimits)
    assert len(floating.rows) == 3
    np.testing.assert_array_equal(floating.lower, 0.0)
    np.testing.assert_array_equal(floating.upper, 0.0)


def test_passive_joints_give_the_effort_of_their_springs() -> None:
    robot = load_robot("hrp2_bushing")
    stance = Stance((where_it_is("left_sole", FLOOR, robot, robot.postures["half_sitting"]),))
    problem = PostureProblem(
        robot, stance, PostureRequirements(stability="forces"), start=robot.postures["half_sitting"]
    )
    passive = task_of(problem, TorqueLimits)
    assert len(passive.rows) == len(robot.springs)
    x = problem.start(robot.postures["half_sitting"])
    problem.state.set(x)
    before = passive.value(problem.state).copy()
    efforts = problem.state.efforts[passive.rows].copy()
    variables = problem.kinematics.variables
    np.testing.assert_allclose(
        before, efforts + variables.stiffness[passive.rows] * (x[passive.rows] - variables.rests[passive.rows])
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"stability": "magic"}, "stability: is 'magic'. Give one of auto, none"),
        ({"stability": "polygon", "torque_limits": True}, "need contact forces"),
        ({"stability": "polygon", "gravity": [1.0, 0, -9]}, "gravity is"),
        ({"stability": "polygon", "stability_margin": 1.0}, "leaves nothing of the support polygon"),
        ({"stability": "polytope", "loads": [Load("WAIST", [0, 0, 1])]}, "need contact forces"),
        ({"stability_margin": -1.0}, "stability_margin: is -1"),
        ({"centre_margin": -1.0}, "centre_margin: is -1"),
        ({"stability": "polygon", "centre_margin": 0.01}, "need contact forces"),
        ({"loads": [Load("WAIST", [0, 0, 1])], "centre_margin": 0.01}, "centre_margin: there are loads"),
        ({"joint_margin": 3.0}, "joint_margin: 3 leaves nothing of the range of joint"),
        ({"friction": float("nan")}, "friction: is nan"),
        ({"gravity": [0, 0]}, "gravity: is"),
        ({"loads": [Load("TAIL", [0, 0, 1])]}, "there is no link 'TAIL'"),
        ({"loads": [Load("WAIST", [0, np.inf, 1])]}, "force of load 0 on link 'WAIST'"),
        ({"start": np.zeros(3)}, "configuration q: has shape"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict, said: str) -> None:
    wanted = {name: value for name, value in options.items() if name != "start"}
    with pytest.raises(InputError, match=said):
        PostureProblem(HRP2, Stance(feet()), PostureRequirements(**wanted), start=options.get("start"))


def test_a_link_has_one_contact_at_most() -> None:
    sole, toe = where_it_is("left_sole"), where_it_is("left_toe")
    with pytest.raises(InputError, match="link 'LLEG_LINK5' has the locations left_sole and left_toe"):
        PostureProblem(HRP2, Stance((sole, toe)))


@pytest.mark.parametrize("stability", ["polygon", "polytope"])
def test_a_polygon_needs_contacts_whose_place_is_known(stability: str) -> None:
    stance = Stance((where_it_is("left_sole"), where_it_is("right_sole", kind=ContactKind.SLIDING)))
    with pytest.raises(InputError, match="right_sole on floor has no place that is known"):
        PostureProblem(HRP2, stance, PostureRequirements(stability=stability))
    with pytest.raises(InputError, match="no contact bears load"):
        PostureProblem(HRP2, Stance(()), PostureRequirements(stability=stability))


def test_friction_comes_from_the_scene() -> None:
    from humanoid_model import load_scene

    scene = load_scene("stairs")
    surface = next(surface for surface in scene.surfaces if surface.name == "floor")
    contact = dataclasses.replace(where_it_is("left_sole"), surface=surface)
    problem = PostureProblem(
        HRP2, Stance((contact,)), PostureRequirements(scene=scene, stability="forces"), start=HALF_SITTING
    )
    np.testing.assert_allclose(problem.force_model.friction, 0.8)


def test_curvature_of_the_cones_is_their_hessian() -> None:
    problem = PostureProblem(
        HRP2, Stance(feet()), PostureRequirements(stability="forces", friction=0.6), start=HALF_SITTING
    )
    cones, state = task_of(problem, FrictionCones), problem.state
    rng = np.random.default_rng(3)
    x = problem.start(HALF_SITTING)
    f = x[state.first_force :].reshape(-1, 3)
    f[:, :2] = 0.05 * rng.standard_normal((len(f), 2))
    # On the cones' surface: off it the rows bend by more than the cone does.
    f[:, 2] = np.linalg.norm(f[:, :2], axis=1) / 0.6
    multipliers = rng.uniform(0, 1, cones.size)

    def tangential_gradient(y: np.ndarray) -> np.ndarray:
        state.set(y)
        t = state.force_variables[:, :2]
        gradient = np.zeros((len(t), 3))
        gradient[:, :2] = multipliers[:, None] * t / np.linalg.norm(t, axis=1)[:, None]
        return np.concatenate([np.zeros(state.first_force), gradient.ravel()])

    expected = finite_difference(tangential_gradient, x)
    state.set(x)
    size = np.abs(expected).max()
    np.testing.assert_allclose(cones.curvature(state, multipliers), expected, rtol=2e-3, atol=2e-3 * size)
    assert np.linalg.eigvalsh(cones.curvature(state, multipliers)).min() > -1e-12
    program = problem.program
    signed = np.zeros(len(program.constraint_lower))
    rows = np.flatnonzero(program.row_tasks == problem.tasks.index(cones))
    signed[rows] = multipliers
    np.testing.assert_allclose(program.constraint_curvature(x, signed), cones.curvature(state, multipliers))
    np.testing.assert_array_equal(program.constraint_curvature(x, -signed), 0.0)


def test_pyramids_forbid_nothing_that_the_cones_allow() -> None:
    problem = PostureProblem(
        HRP2, Stance(feet()), PostureRequirements(stability="forces", friction=0.6, stability_margin=4.0)
    )
    cones, pyramids = task_of(problem, FrictionCones), task_of(problem, FrictionPyramids)
    state = problem.state
    rng = np.random.default_rng(0)
    x = problem.start(HALF_SITTING)
    allowed = 0
    for _ in range(300):
        x[state.first_force :] = 0.1 * rng.standard_normal(state.size - state.first_force)
        state.set(x)
        sides = (pyramids.value(state) - pyramids.upper).reshape(cones.size, -1)
        inside = (cones.value(state) <= 0) & (state.force_variables[:, 2] >= cones._lift)
        assert (sides[inside] <= 1e-12).all()
        allowed += int(inside.sum())
        # At the apex they leave no tangential force at all.
    assert allowed > 50
    x[state.first_force :] = 0.0
    x[state.first_force + 2 :: 3] = cones._lift
    state.set(x)
    np.testing.assert_allclose(pyramids.value(state), pyramids.upper, atol=1e-15)
