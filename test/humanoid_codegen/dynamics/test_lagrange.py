# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import sympy

from humanoid_codegen.dynamics import newton_euler_body
from humanoid_codegen.dynamics.inertial_parameters import group_inertias
from humanoid_codegen.dynamics.lagrange import lagrange
from humanoid_codegen.dynamics.mechanism import BodyInertia, Mechanism
from humanoid_codegen.expression.differentiate import derivative
from humanoid_codegen.expression.function import Argument, Function, Result, evaluate
from humanoid_codegen.expression.graph import Expression, Graph, Operation
from humanoid_model import RobotError, load_robot

pytestmark = pytest.mark.feature("000-F035")

GRAVITY = (0.0, -9.81, 0.0)
SYMPY = {Operation.SINE: sympy.sin, Operation.COSINE: sympy.cos, Operation.SQUARE_ROOT: sympy.sqrt}
#: States of specification 004: section 4.2, and the full one of section 4.7.
S8 = ((0.3, -0.7), (0.5, -1.2), (2.0, -0.4))
TREE4_FULL = ((0.3, -0.5, 0.15, 0.8), (0.7, -1.1, 0.4, 0.9), (1.2, 0.6, -0.8, -1.5))


class Derived:
    """Lagrange's equations of a mechanism, ready to be computed."""

    def __init__(self, mechanism, graph=None, parameters=()):
        graph = graph or Graph()
        n = mechanism.nv
        self.q, self.v, self.a = (tuple(graph.symbol(f"{name}{k}") for k in range(n)) for name in "qva")
        self.parameters = parameters
        self.equations = lagrange(mechanism, self.q, self.v, self.a)

    def compute(self, results, q, v, a, parameters=(), elementary=None):
        symbols = (self.q, self.v, self.a, self.parameters)
        arguments = tuple(Argument(f"x{i}", (len(s),), s, "") for i, s in enumerate(symbols))
        function = Function("f", arguments, (Result("r", (len(results),), tuple(results), ""),), "")
        kinds = {} if elementary is None else {"elementary": elementary}
        return evaluate(function, [q, v, a, parameters], **kinds)[0]


def symbolic_2r() -> tuple[Derived, tuple[sympy.Symbol, ...], list[tuple[sympy.Symbol, ...]]]:
    """The planar 2R arm with symbols for its geometry and masses."""
    graph = Graph()
    names = ("l1", "c1", "c2", "m1", "m2", "I1", "I2", "g")
    l1, c1, c2, m1, m2, I1, I2, g = (graph.symbol(name) for name in names)
    mechanism = Mechanism.from_robot(load_robot("robot_2r_b"), GRAVITY)
    first, second = mechanism.bodies
    first = replace(first, inertia=rod(m1, c1, I1))
    second = replace(second, position=(l1, 0.0, 0.0), inertia=rod(m2, c2, I2))
    mechanism = replace(mechanism, bodies=(first, second), gravity=(0.0, -g, 0.0))
    derived = Derived(mechanism, graph, (l1, c1, c2, m1, m2, I1, I2, g))
    return derived, sympy.symbols(names), [sympy.symbols(f"{name}1 {name}2") for name in ("q", "v", "a")]


def rod(m: Expression, c: Expression, Izz: Expression) -> BodyInertia:
    """A body with its centre of mass on the x axis and the moment of inertia Izz about it."""
    return BodyInertia.from_parameters((m, m * c, 0.0, 0.0, 0.0, 0.0, Izz + m * c * c, 0.0, 0.0, Izz + m * c * c))


def random_chain(kinds: str, folder: Path) -> Mechanism:
    """A spatial chain with skew axes, turned origins and full inertias."""
    random = np.random.default_rng(len(kinds))
    text = "<robot name='chain'><link name='l0'/>"
    for i, kind in enumerate(kinds, start=1):
        root = random.normal(size=(3, 3))
        second = root @ root.T
        inertia = np.trace(second) * np.eye(3) - second
        numbers = [" ".join(str(x) for x in random.normal(size=3)) for _ in range(5)]
        text += (
            f"<joint name='j{i}' type='{'continuous' if kind == 'R' else 'prismatic'}'><parent link='l{i - 1}'/>"
            f"<child link='l{i}'/><origin xyz='{numbers[0]}' rpy='{numbers[1]}'/><axis xyz='{numbers[2]}'/>"
            "<limit lower='-9' upper='9' velocity='1' effort='1'/></joint>"
            f"<link name='l{i}'><inertial><origin xyz='{numbers[3]}' rpy='{numbers[4]}'/><mass value='{1 + i}'/>"
            f"<inertia ixx='{inertia[0, 0]}' ixy='{inertia[0, 1]}' ixz='{inertia[0, 2]}' iyy='{inertia[1, 1]}' "
            f"iyz='{inertia[1, 2]}' izz='{inertia[2, 2]}'/></inertial></link>"
        )
    path = folder / "chain.urdf"
    path.write_text(text + "</robot>")
    return Mechanism.from_robot(load_robot(path))


def is_identically_zero(expression) -> bool:
    return sympy.nsimplify(sympy.simplify(sympy.expand(sympy.expand_trig(expression)))) == 0


@pytest.mark.feature("004-F04")
def test_2r_closed_form_comes_out_symbol_by_symbol():
    derived, parameters, (q, v, a) = symbolic_2r()
    computed = derived.compute(derived.equations.efforts, q, v, a, parameters, SYMPY)
    l1, c1, c2, m1, m2, I1, I2, g = parameters
    M12 = I2 + m2 * (c2**2 + l1 * c2 * sympy.cos(q[1]))
    M11 = I1 + I2 + m1 * c1**2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * sympy.cos(q[1]))
    coriolis = m2 * l1 * c2 * sympy.sin(q[1])
    boxed = [
        M11 * a[0]
        + M12 * a[1]
        - coriolis * (2 * v[0] * v[1] + v[1] ** 2)
        + g * ((m1 * c1 + m2 * l1) * sympy.cos(q[0]) + m2 * c2 * sympy.cos(q[0] + q[1])),
        M12 * a[0] + (I2 + m2 * c2**2) * a[1] + coriolis * v[0] ** 2 + m2 * c2 * g * sympy.cos(q[0] + q[1]),
    ]
    for left, right in zip(computed, boxed, strict=True):
        assert is_identically_zero(left - right)


@pytest.mark.feature("004-F05")
def test_2r_velocities_come_from_the_jacobian_of_the_position():
    derived, parameters, (q, v, a) = symbolic_2r()
    l1, c1, c2, *_ = parameters
    first, second = derived.equations.segments
    s1, k1, s12, k12 = sympy.sin(q[0]), sympy.cos(q[0]), sympy.sin(q[0] + q[1]), sympy.cos(q[0] + q[1])
    v12 = v[0] + v[1]
    expected = [
        *(c1 * k1, c1 * s1, 0),
        *(l1 * k1 + c2 * k12, l1 * s1 + c2 * s12, 0),
        *(-c1 * v[0] * s1, c1 * v[0] * k1, 0),
        *(-l1 * v[0] * s1 - c2 * v12 * s12, l1 * v[0] * k1 + c2 * v12 * k12, 0),
        *(0, 0, v[0], 0, 0, v12),
    ]
    quantities = [*first.centre, *second.centre, *first.velocity, *second.velocity, *first.rate, *second.rate]
    computed = derived.compute(quantities, q, v, a, parameters, SYMPY)
    for left, right in zip(computed, expected, strict=True):
        assert is_identically_zero(left - right)


@pytest.mark.feature("004-F06")
def test_2r_energies_at_s8():
    derived = Derived(Mechanism.from_robot(load_robot("robot_2r_b"), GRAVITY))
    equations = derived.equations
    parts = [*(s.kinetic_energy for s in equations.segments), *(s.potential_energy for s in equations.segments)]
    *parts, kinetic, potential = derived.compute([*parts, equations.kinetic_energy, equations.potential_energy], *S8)
    assert kinetic == pytest.approx(5.823052, abs=5e-7)
    assert potential == pytest.approx(18.586722, abs=5e-7)
    # Segment 1 turns at 0.5 rad/s about its end; segment 2's centre is where (2.14) says.
    assert parts[0] == pytest.approx(0.5 * (15.6 + 3.0) * 0.5**2)
    assert parts[2] == pytest.approx(3.0 * 9.81 * np.sin(0.3))
    assert sum(parts[:2]) == pytest.approx(kinetic)
    assert sum(parts[2:]) == pytest.approx(potential)


@pytest.mark.parametrize("robot", ["robot_2r_a", "robot_2r_b", "tree4"])
def test_power_of_the_efforts_is_the_change_of_energy(robot):
    derived = Derived(Mechanism.from_robot(load_robot(robot), GRAVITY))
    equations = derived.equations
    random = np.random.default_rng(1)
    q, v, a = random.normal(size=(3, len(derived.q)))
    tau = np.array(derived.compute(equations.efforts, q, v, a))

    def energy(t):
        at = derived.compute(
            [equations.kinetic_energy + equations.potential_energy], q + v * t + a * t**2 / 2, v + a * t, a
        )
        return at[0]

    h = 1e-4
    change = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h)
    assert change == pytest.approx(v @ tau, rel=1e-9)


@pytest.mark.feature("004-F47")
@pytest.mark.parametrize("robot", ["robot_2r_a", "robot_2r_b", "tree4"])
def test_lagrange_equals_newton_euler_on_the_robots(robot):
    assert_equal_to_newton_euler(Mechanism.from_robot(load_robot(robot), GRAVITY))


@pytest.mark.parametrize("kinds", ["R", "P", "RP", "PR", "RRR", "RPR", "RRRR", "PRRP"])
def test_lagrange_equals_newton_euler_on_spatial_chains(kinds, tmp_path):
    assert_equal_to_newton_euler(random_chain(kinds, tmp_path))


def test_a_joint_that_follows_another_has_its_ratio_in_rates_and_rotor(tmp_path):
    free = random_chain("RRR", tmp_path)
    first, second, third = free.bodies
    third = replace(third, first_q=0, first_v=0, factor=-0.7, offset=0.2, armature=(0.3,))
    names = free.q_names[:2]
    assert_equal_to_newton_euler(
        replace(free, bodies=(first, second, third), nq=2, nv=2, q_names=names, v_names=names, joint_names=names)
    )


def test_a_base_of_three_slides_and_three_turns_equals_newton_euler(tmp_path):
    assert_equal_to_newton_euler(random_chain("PPPRRR", tmp_path))


def assert_equal_to_newton_euler(mechanism: Mechanism) -> None:
    derived = Derived(mechanism)
    states = np.random.default_rng(7).normal(size=(3, mechanism.nv, 100))
    computed = np.array(derived.compute(derived.equations.efforts, *states))
    expected = np.array(newton_euler_body.inverse_dynamics(mechanism, *states))
    np.testing.assert_allclose(computed, expected, rtol=0, atol=1e-9 * max(1.0, np.abs(expected).max()))


def test_tree4_efforts_are_those_of_the_specification():
    derived = Derived(Mechanism.from_robot(load_robot("tree4"), GRAVITY))
    tau = derived.compute(derived.equations.efforts, *TREE4_FULL)
    np.testing.assert_allclose(tau, (5.251747, 0.363426, 15.425169, 0.660416), atol=5e-7)


#: Specification 004 section 4.2: states, and efforts of the two 2R arms.
HALF = np.pi / 2
ARMS = [
    ((0, 0), (0, 0), (0, 0), (392.4, 73.575), (176.58, 49.05)),
    ((HALF, 0), (0, 0), (0, 0), (0, 0), (0, 0)),
    ((0, HALF), (0, 0), (0, 0), (318.825, 0), (127.53, 0)),
    ((0, 0), (0, 0), (1, 0), (648, 132.325), (250.18, 74.05)),
    ((0, 0), (0, 0), (0, 1), (451.15, 94.825), (201.58, 64.05)),
    ((0, HALF), (1, 0), (0, 0), (318.825, 37.5), (127.53, 10)),
    ((0, HALF), (0, 1), (0, 0), (281.325, 0), (117.53, 0)),
    ((0, HALF), (1, 1), (0, 0), (206.325, 37.5), (97.53, 10)),
    (*S8, (834.103873, 153.090686), (297.292545, 82.864341)),
    ((1.1, 0.4), (-0.8, 0.6), (-1.5, 2.5), (-76.460708, -16.009151), (16.147978, 7.146022)),
]


@pytest.mark.parametrize("state", range(10), ids=lambda k: f"S{k}")
def test_both_2r_arms_have_the_specifications_efforts(state):
    q, v, a, *efforts = ARMS[state]
    for robot, expected in zip(("robot_2r_a", "robot_2r_b"), efforts, strict=True):
        derived = Derived(Mechanism.from_robot(load_robot(robot), GRAVITY))
        np.testing.assert_allclose(derived.compute(derived.equations.efforts, q, v, a), expected, atol=6e-7)


@pytest.mark.feature("004-F03")
def test_efforts_are_mass_matrix_times_acceleration_and_the_rest():
    for robot, H, C, G in (
        ("robot_2r_a", [[237.963164, 49.931582], [49.931582, 21.25]], (378.150178, 61.727522), (372.352219, 67.767063)),
        ("robot_2r_b", [[68.896844, 22.648422], [22.648422, 15]], (168.558227, 43.567498), (167.012104, 45.178042)),
    ):
        derived = Derived(Mechanism.from_robot(load_robot(robot), GRAVITY))
        q, v, a = S8
        efforts = derived.equations.efforts
        rows = derivative(derived.equations.momenta, derived.v)
        matrix = np.reshape(derived.compute([*rows[0], *rows[1]], q, v, a), (2, 2))
        np.testing.assert_allclose(matrix, H, atol=6e-7)
        np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)
        assert np.all(np.linalg.eigvalsh(matrix) > 0)
        rest = derived.compute(efforts, q, v, (0, 0))
        np.testing.assert_allclose(rest, C, atol=6e-7)
        np.testing.assert_allclose(derived.compute(efforts, q, (0, 0), (0, 0)), G, atol=6e-7)
        np.testing.assert_allclose(matrix @ a + rest, derived.compute(efforts, q, v, a), atol=1e-10)


@pytest.mark.feature("004-F07")
def test_products_of_inertia_matter_and_an_ellipsoid_has_none():
    mechanism = Mechanism.from_robot(load_robot("tree4"), GRAVITY)
    full = Derived(mechanism)
    ellipsoids = Derived(replace(mechanism, bodies=tuple(as_ellipsoid(body) for body in mechanism.bodies)))
    difference = np.subtract(
        full.compute(full.equations.efforts, *TREE4_FULL), ellipsoids.compute(ellipsoids.equations.efforts, *TREE4_FULL)
    )
    assert np.abs(difference).max() > 1e-3


def as_ellipsoid(body):
    """The body with the products of its central inertia left out."""
    inertia = body.inertia
    xx, xy, xz, yy, yz, zz = inertia.tensor
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    c = np.array(inertia.first) / inertia.mass
    central = tensor - inertia.mass * (c @ c * np.eye(3) - np.outer(c, c))
    return replace(body, inertia=BodyInertia.from_pinocchio(pin.Inertia(inertia.mass, c, np.diag(np.diag(central)))))


def test_rotor_inertia_is_part_of_the_kinetic_energy():
    mechanism = Mechanism.from_robot(load_robot("robot_2r_b"), GRAVITY)
    first, second = mechanism.bodies
    geared = replace(mechanism, bodies=(replace(first, armature=(0.4,)), second))
    bare, loaded = Derived(mechanism), Derived(geared)
    difference = np.subtract(
        loaded.compute(loaded.equations.efforts, *S8), bare.compute(bare.equations.efforts, *S8)
    )
    np.testing.assert_allclose(difference, (0.4 * 2.0, 0.0), atol=1e-12)


def test_a_free_flying_base_is_refused_by_name():
    mechanism = Mechanism.from_robot(load_robot("hrp2"))
    with pytest.raises(RobotError, match=r"joint 'root_joint'.*free-flyer.* 7 coordinates for 6.*three of each"):
        Derived(mechanism)


def test_grouped_inertias_are_refused():
    grouped = group_inertias(Mechanism.from_robot(load_robot("robot_2r_b"), GRAVITY))
    with pytest.raises(RobotError, match=r"joint 'joint2'.*not grouped"):
        Derived(grouped)
