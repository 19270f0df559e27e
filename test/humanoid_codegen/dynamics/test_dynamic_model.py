# SPDX-License-Identifier: Apache-2.0
import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from fixtures.generated_functions import compute
from fixtures.pinocchio_dynamics import random_state, reference
from fixtures.random_urdf import random_urdf

from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_codegen.expression.function import count_operations
from humanoid_model import InputError, RobotError, load_robot
from humanoid_model.loop_closure import LoopClosure

ROBOTS = ("robot_2r_a", "robot_2r_b", "tree4", "syn3p33r", "hrp2", "hrp2_bushing", "bip", "bip_planar", "avatar")


def assert_close(actual, expected, tolerance=1e-10):
    assert np.abs(actual - expected).max(initial=0.0) <= tolerance * max(1.0, np.abs(expected).max(initial=0.0))


def check_against_pinocchio(model, seed=0, gravity=(0.0, 0.0, -9.81), functions=None):
    robot = model.robot
    state = random_state(model.mechanism, robot.model, np.random.default_rng(seed))
    values = dataclasses.asdict(state)
    computed = {}
    for (function, result), expected in reference(robot, model.mechanism, state, gravity).items():
        if functions is None or function in functions:
            if function not in computed:
                computed[function] = compute(model, function, parameters=model.parameters.values, **values)
            assert_close(computed[function][result], expected)


@pytest.fixture(scope="module", params=ROBOTS)
def model(request):
    return DynamicModel(request.param)


@pytest.mark.feature("004-F59")
def test_every_function_agrees_with_pinocchio(model):
    check_against_pinocchio(model)


@pytest.mark.parametrize("name", ["tree4", "hrp2"])
def test_ungrouped_parameters_give_the_same(name):
    check_against_pinocchio(DynamicModel(name, base_parameters=False))


@pytest.mark.feature("004-F12", "004-F15", "004-F59")
@pytest.mark.parametrize("seed", range(12))
def test_random_robots_agree_with_pinocchio(seed):
    rng = np.random.default_rng(seed)
    kinds = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
    robot = random_urdf(rng, int(rng.integers(3, 9)), kinds)
    for floating in (False, True):
        model = DynamicModel(robot, floating_base=floating)
        check_against_pinocchio(model, seed)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("name", ["tree4", "bip", "hrp2"])
def test_symbolic_parameters_take_the_urdfs_values(name, grouped):
    model = DynamicModel(name, symbolic_parameters=True, base_parameters=grouped)
    names, values = model.parameters.names, model.parameters.values
    assert len(names) == len(set(names)) == len(values)
    functions = set(model.builders)
    if grouped:
        functions -= {"energies"}
        with pytest.raises(InputError, match="'energies' needs the parameters of each link"):
            model.function("energies")
    else:
        assert len(names) == 10 * sum(link.inertial is not None for link in model.robot.description.links.values())
    check_against_pinocchio(model, functions=functions)


def test_symbolic_parameters_change_the_robot():
    model = DynamicModel("robot_2r_b", symbolic_parameters=True, base_parameters=False, gravity=(0.0, -9.81, 0.0))
    values = dict(zip(model.parameters.names, model.parameters.values, strict=True))
    values["link2_m"], values["link2_mx"] = 0.0, 0.0
    g = compute(model, "gravity", q=np.zeros(2), parameters=list(values.values()))["g"]
    np.testing.assert_allclose(g, [3 * 9.81, 0.0], atol=1e-12)


@pytest.mark.feature("004-F10")
def test_gravity_may_point_anywhere():
    gravity = (1.0, -9.81, 0.5)
    check_against_pinocchio(DynamicModel("tree4", gravity=gravity), gravity=gravity)
    check_against_pinocchio(DynamicModel("tree4", gravity=(0.0, 0.0, 0.0)), gravity=(0.0, 0.0, 0.0))


def test_fixed_and_floating_base_by_choice():
    for floating in (True, False):
        model = DynamicModel("hrp2", floating_base=floating)
        assert model.mechanism.nv == 30 + 6 * floating
        check_against_pinocchio(model, functions={"inverse_dynamics", "mass_matrix", "direct_dynamics"})


# Wrenches ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tree4", "hrp2"])
def test_wrenches_on_links_agree_with_pinocchio(name):
    links = {"tree4": ("tool", "armA", "world"), "hrp2": ("r_sole", "LARM_LINK6", "CHEST_LINK1")}[name]
    robot = load_robot(name)
    model = DynamicModel(robot, wrench_links=links)
    rng = np.random.default_rng(3)
    state = random_state(model.mechanism, robot.model, rng)
    wrenches = rng.normal(size=(3, 6))
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, state.q)
    external = [pin.Force.Zero() for _ in range(robot.model.njoints)]
    for link, wrench in zip(links, wrenches, strict=True):
        frame = robot.model.getFrameId(link)
        placement = data.oMf[frame]
        local = pin.Force(placement.rotation.T @ wrench[:3], placement.rotation.T @ wrench[3:])
        joint = robot.parts.links[link].joint_id
        external[joint] += robot.parts.links[link].placement_joint_link.act(local)
    values = dataclasses.asdict(state)
    tau = compute(model, "inverse_dynamics", wrenches=wrenches, **values)["tau"]
    assert_close(tau, pin.rnea(robot.model, data, state.q, state.v, state.a, external))
    a = compute(model, "direct_dynamics", wrenches=wrenches, **values)["a"]
    assert_close(a, pin.aba(robot.model, data, state.q, state.v, state.tau, external))
    by_q = compute(model, "inverse_dynamics_derivatives", wrenches=wrenches, **values)["dtau_dq"]
    # The wrench keeps its direction in the world, where Pinocchio's turns with the link: compare with differences.
    step = 1e-6
    for k in range(robot.model.nv):
        along = np.zeros(robot.model.nv)
        along[k] = step
        ahead, behind = (
            compute(
                model,
                "inverse_dynamics",
                wrenches=wrenches,
                **(values | {"q": pin.integrate(robot.model, state.q, sign * along)}),
            )["tau"]
            for sign in (1, -1)
        )
        assert_close(by_q[:, k], (ahead - behind) / (2 * step), 1e-6)


# Regressor ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("name", ["robot_2r_b", "tree4", "bip", "hrp2"])
def test_efforts_are_the_regressor_times_the_parameters(name, grouped):
    model = DynamicModel(name, base_parameters=grouped)
    for seed in range(3):
        state = random_state(model.mechanism, model.robot.model, np.random.default_rng(seed))
        result = compute(model, "regressor", **dataclasses.asdict(state))
        expected = reference(model.robot, model.mechanism, state)["inverse_dynamics", "tau"]
        tau = expected - model.robot.model.armature * state.a
        assert_close(result["Y"] @ result["parameters"], tau)


def test_regressor_agrees_with_pinocchios():
    model = DynamicModel("tree4", base_parameters=False)
    robot = model.robot
    state = random_state(model.mechanism, robot.model, np.random.default_rng(0))
    Y = compute(model, "regressor", **dataclasses.asdict(state))["Y"]
    bodies = pin.computeJointTorqueRegressor(robot.model, robot.model.createData(), state.q, state.v, state.a)
    massive = [link for link in robot.description.links.values() if link.inertial is not None]
    for k, link in enumerate(massive):
        where = robot.parts.links[link.name]
        if np.abs(where.placement_joint_link.homogeneous - np.eye(4)).max() == 0.0:  # link frame is the joint frame
            first = 10 * (where.joint_id - 1)
            assert_close(Y[:, 10 * k : 10 * k + 10], bodies[:, first : first + 10])


def test_base_set_is_minimal():
    # A planar arm with gravity in its plane: a moment of inertia and two first moments of each link.
    planar = DynamicModel("robot_2r_b", gravity=(0.0, -9.81, 0.0)).function("regressor")
    assert planar.results[1].shape == (6,)
    for name in ("tree4", "bip"):
        model = DynamicModel(name)
        count = model.function("regressor").results[1].shape[0]
        rng = np.random.default_rng(0)
        states = [
            random_state(model.mechanism, model.robot.model, rng) for _ in range(2 + 3 * count // model.mechanism.nv)
        ]
        rows = [compute(model, "regressor", **dataclasses.asdict(state))["Y"] for state in states]
        assert np.linalg.matrix_rank(np.vstack(rows), tol=1e-8) == count
        assert count < model.mechanism.nv * 10


# Joints that follow others -----------------------------------------------------------------------------------------

GRIPPER = """<robot name="gripper"><link name="palm"/>
<link name="left"><inertial><origin xyz="0.1 0.02 0"/><mass value="0.5"/>
<inertia ixx="0.01" ixy="0.001" ixz="0" iyy="0.02" iyz="0" izz="0.03"/></inertial></link>
<link name="tip"><inertial><origin xyz="0.05 0 0.01"/><mass value="0.2"/>
<inertia ixx="0.001" ixy="0" ixz="0" iyy="0.002" iyz="0" izz="0.003"/></inertial></link>
<link name="right"><inertial><origin xyz="0.1 -0.02 0"/><mass value="0.4"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.03"/></inertial></link>
<joint name="open" type="revolute"><parent link="palm"/><child link="left"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="bend" type="revolute"><parent link="left"/><child link="tip"/><origin xyz="0.2 0 0"/>
<axis xyz="0 0.6 0.8"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="open" multiplier="0.5" offset="0.1"/></joint>
<joint name="slide" type="prismatic"><parent link="palm"/><child link="right"/><origin rpy="0.1 0.2 0.3"/>
<axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="open" multiplier="-0.3" offset="0.05"/></joint>
</robot>"""


def test_joints_that_follow_others_have_no_coordinate():
    model = DynamicModel(GRIPPER)
    assert model.mechanism.joint_names == ("open",)
    assert model.mechanism.nv == 1
    for seed in range(3):
        check_against_pinocchio(model, seed)
    check_against_pinocchio(DynamicModel(GRIPPER, floating_base=True))
    check_against_pinocchio(DynamicModel(GRIPPER, symbolic_parameters=True, base_parameters=False))


# Closed loops ------------------------------------------------------------------------------------------------------


def four_bar() -> str:
    """A four-bar linkage in the xz plane, opened between coupler and rocker."""
    link = (
        '<link name="{0}"><inertial><origin xyz="{1} 0 0"/><mass value="{2}"/>'
        '<inertia ixx="0.01" ixy="0" ixz="0" iyy="{3}" iyz="0" izz="{3}"/></inertial></link>'
    )
    joint = (
        '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/><origin xyz="{3} 0 0"/>'
        '<axis xyz="0 1 0"/></joint>'
    )
    return (
        '<robot name="four bar"><link name="world"/>'
        + link.format("crank", 0.2, 1.0, 0.02)
        + link.format("coupler", 0.5, 2.0, 0.2)
        + link.format("rocker", 0.4, 1.5, 0.1)
        + joint.format("a", "world", "crank", 0.0)
        + joint.format("b", "crank", "coupler", 0.4)
        + joint.format("d", "world", "rocker", 1.0)
        + "</robot>"
    )


def four_bar_loop(rows=("x", "z")):
    at = [pin.SE3(np.eye(3), np.array([x, 0.0, 0.0])) for x in (1.0, 0.8)]
    return LoopClosure("c", "coupler", at[0], "rocker", at[1], rows)


def test_four_bar_moves_as_its_equations_say():
    model = DynamicModel(four_bar(), loops=[four_bar_loop()])
    pinocchio = model.robot.model
    data = pinocchio.createData()
    rng = np.random.default_rng(0)
    q, v, tau = rng.normal(size=3), rng.normal(size=3), rng.normal(size=3)
    values = {"q": q, "v": v, "tau": tau}
    closure = compute(model, "loop_closure", **values)

    def gap(q):
        pin.framesForwardKinematics(pinocchio, data, q)
        a, b = data.oMf[pinocchio.getFrameId("coupler")], data.oMf[pinocchio.getFrameId("rocker")]
        return (a.rotation.T @ (b.act(np.array([0.8, 0, 0])) - a.act(np.array([1.0, 0, 0]))))[[0, 2]]

    assert_close(closure["residual"], gap(q))
    step = 1e-5
    J = np.array([(gap(q + step * e) - gap(q - step * e)) / (2 * step) for e in np.eye(3)]).T
    assert_close(closure["J"], J, 1e-8)
    drift = (gap(q + step * v) - 2 * gap(q) + gap(q - step * v)) / step**2
    assert_close(closure["drift"], drift, 1e-4)
    M = pin.crba(pinocchio, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    b = pin.rnea(pinocchio, data, q, v, np.zeros(3))
    kkt = np.block([[M, -closure["J"].T], [closure["J"], np.zeros((2, 2))]])
    expected = np.linalg.solve(kkt, np.concatenate([tau - b, -closure["drift"]]))
    result = compute(model, "constrained_dynamics", **values)
    assert_close(result["a"], expected[:3])
    assert_close(result["multipliers"], expected[3:])


def test_four_bar_keeps_its_energy():
    # Closed by Newton's method, then swung freely: no work is done at the cut.
    model = DynamicModel(four_bar(), loops=[four_bar_loop()])
    q = np.array([-0.9, 0.3, -1.2])
    for _ in range(30):
        closure = compute(model, "loop_closure", q=q, v=np.zeros(3))
        q = q - np.linalg.pinv(closure["J"]) @ closure["residual"]
    assert np.abs(closure["residual"]).max() < 1e-13
    v = np.zeros(3)

    def slope(state):
        at = {"q": state[:3], "v": state[3:], "tau": np.zeros(3)}
        return np.concatenate([state[3:], compute(model, "constrained_dynamics", **at)["a"]])

    def energy(state):
        parts = compute(model, "energies", q=state[:3], v=state[3:])
        return parts["kinetic_energy"] + parts["potential_energy"]

    state, h = np.concatenate([q, v]), 2e-3
    before = energy(state)
    for _ in range(100):
        k1 = slope(state)
        k2 = slope(state + h / 2 * k1)
        k3 = slope(state + h / 2 * k2)
        k4 = slope(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    assert np.abs(state[3:]).max() > 0.5  # it does move
    assert abs(energy(state) - before) < 1e-7
    assert np.abs(compute(model, "loop_closure", q=state[:3], v=state[3:])["residual"]).max() < 1e-7


def test_a_welded_loop_takes_six_rows():
    model = DynamicModel("hrp2", loops=[
        LoopClosure("hands", "RARM_LINK6", pin.SE3.Identity(), "LARM_LINK6", pin.SE3.Random(),
                    ("x", "y", "z", "rx", "ry", "rz"))
    ])  # fmt: skip
    q = model.robot.postures["zero"]
    closure = compute(model, "loop_closure", q=q, v=np.zeros(36))
    assert closure["J"].shape == (6, 36)
    a = compute(model, "constrained_dynamics", q=q, v=np.zeros(36), tau=np.ones(36))["a"]
    assert np.abs(closure["J"] @ a).max() < 1e-8


TURNS = ("rx", "ry", "rz")


def turned_against(loop, model, q):
    """The rotation vector between the frames of a cut, from Pinocchio's placements."""
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    a = data.oMf[model.getFrameId(loop.link_a)].rotation @ loop.placement_a.rotation
    b = data.oMf[model.getFrameId(loop.link_b)].rotation @ loop.placement_b.rotation
    return pin.log3(a.T @ b)


@pytest.mark.parametrize("seed", range(6))
def test_a_held_rotation_is_open_by_twice_the_sine_of_half_the_angle(seed):
    rng = np.random.default_rng(seed)
    robot = load_robot(random_urdf(rng, 7, ("revolute", "continuous", "prismatic", "floating")), geometry=False)
    for other in range(5, -1, -1):  # enough joints lie between some of the links
        loop = LoopClosure("cut", f"link{other}", pin.SE3.Random(), "link6", pin.SE3.Random(), TURNS)
        try:
            model = DynamicModel(robot, loops=[loop])
        except InputError:
            continue
        break
    state = random_state(model.mechanism, robot.model, rng)

    def residual(velocity, time):
        vector = turned_against(loop, robot.model, pin.integrate(robot.model, state.q, time * velocity))
        angle = np.linalg.norm(vector)
        return 2.0 * np.sin(angle / 2) / angle * vector

    closure = compute(model, "loop_closure", q=state.q, v=state.v)
    assert_close(closure["residual"], residual(state.v, 0.0))
    step = 1e-5
    J = [(residual(e, step) - residual(e, -step)) / (2 * step) for e in np.eye(robot.model.nv)]
    assert_close(closure["J"], np.transpose(J), 1e-8)
    drift = (residual(state.v, step) - 2 * residual(state.v, 0.0) + residual(state.v, -step)) / step**2
    assert_close(closure["drift"], drift, 1e-4)


def wrist() -> str:
    """A body that turns about z, x and y of the axes before."""
    text = '<robot name="wrist"><link name="world"/>'
    for parent, child, axis in (("world", "one", "0 0 1"), ("one", "two", "1 0 0"), ("two", "three", "0 1 0")):
        text += (
            f'<link name="{child}"><inertial><mass value="1"/>'
            '<inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="3"/></inertial></link>'
            f'<joint name="to_{child}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
            f'<axis xyz="{axis}"/></joint>'
        )
    return text + "</robot>"


def wrist_loop(yaw):
    turned = pin.SE3(pin.utils.rotate("z", yaw), np.zeros(3))
    return LoopClosure("cut", "world", pin.SE3.Identity(), "three", turned, TURNS)


@pytest.mark.parametrize(
    ("q", "yaw"),
    [
        ((0.0, 0.0, np.pi), 0.0),
        ((0.0, np.pi, 0.0), 0.0),
        ((np.pi, 0.0, 0.0), 0.0),
        ((-np.pi, 4e-9, 3e-9), 0.0),
        ((0.0, 0.0, 0.0), np.pi),  # half a turn of constants: its cosine is exactly zero
        ((2 * np.pi, 0.0, 0.0), np.pi),
    ],
)
def test_half_a_turn_is_not_closed(q, yaw):
    closure = compute(DynamicModel(wrist(), loops=[wrist_loop(yaw)]), "loop_closure", q=q, v=np.zeros(3))
    assert np.linalg.norm(closure["residual"]) == pytest.approx(2.0, rel=1e-12)
    assert np.isfinite(closure["J"]).all()


@pytest.mark.parametrize(("turn", "yaw"), [(0.0, 0.0), (2 * np.pi, 0.0), (np.pi, np.pi), (-np.pi, np.pi)])
def test_a_full_turn_is_closed_and_held_by_the_same_moment(turn, yaw):
    """However the joints got there: the moment at the cut, along the first frame's axes, balances the effort."""
    model = DynamicModel(wrist(), loops=[wrist_loop(yaw)])
    q, tau = np.array([turn, 0.0, 0.0]), np.array([3.0, 1.0, 2.0])
    closure = compute(model, "loop_closure", q=q, v=np.zeros(3))
    np.testing.assert_allclose(closure["residual"], 0.0, atol=1e-15)
    result = compute(model, "constrained_dynamics", q=q, v=np.zeros(3), tau=tau)
    np.testing.assert_allclose(result["a"], 0.0, atol=1e-12)
    about = pin.utils.rotate("z", turn) @ np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(result["multipliers"], -about @ tau, atol=1e-12)


def test_a_rotation_across_a_planar_joint_is_refused():
    robot = wrist().replace('name="to_one" type="continuous"', 'name="to_one" type="planar"')
    with pytest.raises(InputError, match="joint 'to_one': rows rx, ry and rz can't be held across a planar joint"):
        DynamicModel(robot, loops=[wrist_loop(0.0)])
    above = LoopClosure("cut", "one", pin.SE3.Identity(), "three", pin.SE3.Identity(), ("rx", "ry"))
    assert compute(DynamicModel(robot, loops=[above]), "loop_closure", q=[0, 0, 1, 0, 0, 0], v=np.zeros(5))


def test_rows_that_hold_by_themselves_are_refused():
    with pytest.raises(InputError, match=r"loop 'c': the loops hold 3 directions, of which 2 are independent"):
        DynamicModel(four_bar(), loops=[four_bar_loop(("x", "y", "z"))])


# Bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gravity": (0.0, 0.0)}, "gravity: is"),
        ({"gravity": (0.0, 0.0, np.nan)}, "gravity: is"),
        ({"wrench_links": ("tool", "tool")}, "wrench_links: link 'tool' is named twice"),
        ({"wrench_links": ("nobody",)}, "wrench_links: no link is named 'nobody'"),
        ({"loops": [LoopClosure("cut", "tool", pin.SE3.Identity(), "foo", pin.SE3.Identity())]}, "'foo'"),
    ],
)
def test_bad_choices_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        DynamicModel("tree4", **options)


def test_a_robot_that_cannot_move_is_refused():
    rigid = '<robot name="rock"><link name="world"/></robot>'
    with pytest.raises(RobotError, match="robot 'rock': has no joint that moves"):
        DynamicModel(rigid)


def test_unknown_functions_are_refused():
    with pytest.raises(InputError, match=r"no function 'dance'.*Choose from inverse_dynamics"):
        DynamicModel("tree4").function("dance")
    with pytest.raises(InputError, match="Give the cuts of the robot's closed loops"):
        DynamicModel("tree4").function("constrained_dynamics")


# Figures -----------------------------------------------------------------------------------------------------------


def test_operations_of_a_humanoid_stay_few():
    # 30 joints and a free base. adam 0.5 counts 3789 and 9158 for a robot of 29 joints.
    model = DynamicModel("hrp2")
    assert count_operations(model.function("bias")).arithmetic <= 2500
    assert count_operations(model.function("mass_matrix")).arithmetic <= 2500
    assert count_operations(model.function("inverse_dynamics")).arithmetic <= 2600
    # Grouping is what saves a good part.
    plain = DynamicModel("hrp2", base_parameters=False)
    few, many = (count_operations(one.function("bias")).arithmetic for one in (model, plain))
    assert many > 1.1 * few
