# SPDX-License-Identifier: Apache-2.0
import math
import re

import numpy as np
import pinocchio as pin
import pytest

from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_codegen.expression.function import Module, count_operations
from humanoid_codegen.generate import generate
from humanoid_codegen.report import latex, markdown


def document(robot, functions, gravity=(0.0, 0.0, -9.81), writer=markdown, **options):
    """The model of a robot and the text of its document."""
    model = DynamicModel(robot, gravity=gravity, **options)
    mechanism = model.mechanism
    module = Module(
        name="robot",
        robot=model.robot.name,
        functions=tuple(model.function(name) for name in functions),
        q_names=mechanism.q_names,
        v_names=mechanism.v_names,
        link_names=tuple(link.name for link in mechanism.links),
        notes=("Gravity is as it is.",),
        parameter_names=model.parameters.names,
        parameters=model.parameters.values,
    )
    files = writer(module, model)
    return model, next(text for name, text in files.items() if name.endswith((".md", ".tex")))


class Formula:
    """Reader of the document's mathematics: sums of products of numbers, symbols, sines, roots and fractions."""

    TOKEN = re.compile(
        r"\s*(?:(?P<number>\d+(?:\.\d+)?(?: \\cdot 10\^\{-?\d+\})?)|(?P<power>\^\{\d+\})|(?P<operator>[-+(){}])"
        r"|(?P<function>\\(?:sin|cos|sqrt|frac)(?![A-Za-z]))"
        r"|(?P<symbol>(?:\{\}\^0 [Rp]|\\(?:ddot|dot|mathrm)\{[^}]*\}|\\[A-Za-z]+|[A-Za-z])(?:_\{[^}]*\})?))"
    )

    def __init__(self, text, values):
        self.values = values
        self.tokens = []
        place = 0
        text = text.strip()
        while place < len(text):
            match = self.TOKEN.match(text, place)
            assert match, f"not understood: {text[place:]}"
            self.tokens.append((match.lastgroup, match.group(match.lastgroup)))
            place = match.end()
        self.tokens.append(("end", ""))

    def value(self):
        value = self.sum()
        assert self.tokens == [("end", "")]
        return value

    def next(self):
        return self.tokens.pop(0)[1]

    def sum(self):
        negative = self.tokens[0][1] == "-"
        if negative:
            self.next()
        total = -self.product() if negative else self.product()
        while self.tokens[0][1] in ("+", "-"):
            total = total + self.product() if self.next() == "+" else total - self.product()
        return total

    def product(self):
        value = self.factor()
        while self.tokens[0][0] in ("number", "function", "symbol") or self.tokens[0][1] == "(":
            value *= self.factor()
        return value

    def factor(self):
        value = self.atom()
        if self.tokens[0][0] == "power":
            value **= int(self.next()[2:-1])
        return value

    def atom(self):
        kind, text = self.tokens.pop(0)
        if kind == "number":
            mantissa, _, exponent = text.partition(r" \cdot 10^{")
            return float(mantissa) * 10.0 ** int(exponent[:-1] or 0) if exponent else float(mantissa)
        if kind == "function":
            if text == r"\frac":
                above = self.braces()
                return above / self.braces()
            if text == r"\sqrt":
                return math.sqrt(self.braces())
            return (math.sin if text == r"\sin" else math.cos)(self.atom())
        if text == "(":
            value = self.sum()
            assert self.next() == ")"
            return value
        return self.values[text]

    def braces(self):
        assert self.next() == "{"
        value = self.sum()
        assert self.next() == "}"
        return value


def compute(text, heading, values):
    """Carries out the equations below a heading of a Markdown document; returns the values of all symbols."""
    section = text.split(f"{heading}\n", 1)[1]
    section = re.split(r"\n##+ ", section)[0]
    values = dict(values)
    for block in re.findall(r"\\begin\{aligned\}\n(.*?)\n\\end\{aligned\}", section, flags=re.DOTALL):
        for line in block.replace(" \\\\\n&\\quad", "").split(" \\\\\n"):
            heads, right = line.split(" &= ")
            if "ID(" in right or "^{-1}" in right:
                continue  # the function's definition
            value = Formula(right, values).value()
            for head in heads.split(" = "):
                values[head] = value
    return values


def state(model, seed=3):
    """A random state: q, v, a, and the symbols' values that the document starts from."""
    random = np.random.default_rng(seed)
    robot, n = model.robot, model.mechanism.nv
    q = pin.integrate(robot.model, pin.neutral(robot.model), random.normal(size=n))
    v, a = random.normal(size=(2, n))
    minimal = len(q) == n
    values = {}
    for k in range(len(q)):
        values[f"q_{{{k + 1}}}"] = q[k]
        values[f"s_{{{k + 1}}}"], values[f"c_{{{k + 1}}}"] = math.sin(q[k]), math.cos(q[k])
    for k in range(n):
        values[f"\\dot{{q}}_{{{k + 1}}}" if minimal else f"v_{{{k + 1}}}"] = v[k]
        values[f"\\ddot{{q}}_{{{k + 1}}}" if minimal else f"\\dot{{v}}_{{{k + 1}}}"] = a[k]
    return q, v, a, values


def assert_equal_to_printed_digits(computed, expected):
    expected = np.asarray(expected)
    np.testing.assert_allclose(computed, expected, rtol=0, atol=2e-5 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("robot", "gravity"),
    [("robot_2r_b", (0, -9.81, 0)), ("tree4", (0, -9.81, 0)), ("bip", (0, 0, -9.81)), ("hrp2", (0, 0, -9.81))],
)
def test_printed_inverse_dynamics_gives_pinocchios_efforts(robot, gravity):
    model, text = document(robot, ["inverse_dynamics"], gravity)
    q, v, a, values = state(model)
    computed = compute(text, r"### inverse\_dynamics", values)
    pinocchio = model.robot.model.copy()
    pinocchio.gravity.linear = np.array(gravity)
    expected = pin.rnea(pinocchio, pinocchio.createData(), q, v, a)
    n = model.mechanism.nv
    assert_equal_to_printed_digits([computed.get(f"\\tau_{{{k + 1}}}", 0.0) for k in range(n)], expected)


@pytest.mark.parametrize("robot", ["tree4", "hrp2"])
def test_printed_mass_matrix_is_pinocchios(robot):
    model, text = document(robot, ["mass_matrix"])
    q, _, _, values = state(model)
    computed = compute(text, r"### mass\_matrix", values)
    pinocchio = model.robot.model
    M = pin.crba(pinocchio, pinocchio.createData(), q)
    M = np.triu(M) + np.triu(M, 1).T
    n = model.mechanism.nv
    printed = [[computed.get(f"M_{{{i + 1},{j + 1}}}", 0.0) for j in range(n)] for i in range(n)]
    assert_equal_to_printed_digits(printed, M)


@pytest.mark.parametrize("robot", ["robot_2r_b", "tree4"])
def test_printed_direct_dynamics_inverts_the_inverse(robot):
    model, text = document(robot, ["direct_dynamics"])
    q, v, a, values = state(model)
    pinocchio = model.robot.model
    tau = pin.rnea(pinocchio, pinocchio.createData(), q, v, a)
    given = {name: value for name, value in values.items() if "ddot" not in name}
    given |= {f"\\tau_{{{k + 1}}}": effort for k, effort in enumerate(tau)}
    computed = compute(text, r"### direct\_dynamics", given)
    printed = [computed[f"\\ddot{{q}}_{{{k + 1}}}"] for k in range(len(v))]
    np.testing.assert_allclose(printed, a, rtol=0, atol=1e-3 * np.abs(a).max())


def test_2r_arm_has_its_closed_form():
    _, text = document("robot_2r_b", ["gravity"], (0.0, -9.81, 0.0))
    for line in (
        r"E_p &= 127.53 \sin q_{1} + 49.05 \sin(q_{1} + q_{2})",
        r"M_{1,1} &= 53.6 + 20 \cos q_{2}",
        r"M_{1,2} = M_{2,1} &= 15 + 10 \cos q_{2}",
        r"M_{2,2} &= 15",
        r"c_{1} &= -20 \dot{q}_{1} \dot{q}_{2} \sin q_{2} - 10 \dot{q}_{2}^{2} \sin q_{2}",
        r"c_{2} &= 10 \dot{q}_{1}^{2} \sin q_{2}",
        r"g_{1} &= 127.53 \cos q_{1} + 49.05 \cos(q_{1} + q_{2})",
    ):
        assert f"\n{line}" in text


def test_equations_of_motion_of_tree4_add_up_to_the_specifications_efforts():
    _, text = document("tree4", [], (0.0, -9.81, 0.0))
    q, v, a = (0.3, -0.5, 0.15, 0.8), (0.7, -1.1, 0.4, 0.9), (1.2, 0.6, -0.8, -1.5)
    values = {f"q_{{{k + 1}}}": value for k, value in enumerate(q)}
    values |= {f"\\dot{{q}}_{{{k + 1}}}": value for k, value in enumerate(v)}
    found = compute(text, "## Equations of motion", values)
    tau = [
        sum(found.get(f"M_{{{i},{j}}}", 0.0) * a[j - 1] for j in range(1, 5))
        + found.get(f"c_{{{i}}}", 0.0)
        + found.get(f"g_{{{i}}}", 0.0)
        for i in range(1, 5)
    ]
    np.testing.assert_allclose(tau, (5.251747, 0.363426, 15.425169, 0.660416), atol=2e-4)


def test_quantities_of_the_recursion_have_their_symbols():
    _, text = document("hrp2", ["inverse_dynamics"])
    names = [line.split(" &= ")[0] for line in text.splitlines() if " &= " in line]
    assert r"\omega_{3,y}" in names
    assert r"\dot{\omega}_{3,y}" in names
    assert r"a_{2,x}" in names


def test_no_symbol_is_given_two_meanings():
    for robot in ("tree4", "hrp2", "avatar"):
        _, text = document(robot, ["inverse_dynamics"])
        section = text.split("### inverse\\_dynamics\n", 1)[1]
        heads = [
            head
            for line in re.split(r"\n## ", section)[0].splitlines()
            if " &= " in line
            for head in line.split(" &= ")[0].split(" = ")
        ]
        assert len(heads) == len(set(heads))


def test_tables_name_every_joint_and_link_with_their_numbers():
    model, text = document("tree4", [])
    rows = {row[1:].split(" | ")[0].strip(): row for row in text.splitlines() if row.startswith("|")}
    assert "−1 to 1" in next(row for row in text.splitlines() if row.startswith("| j2 | 3 | prismatic | base | armB"))
    for name in (*model.robot.description.joints, "base", "armA", "armB", "tool"):
        assert name in rows
    assert "| 1.5 | 0.2, 0, −0.03 |" in rows["armA"]
    assert "| 0, 0.6, 0.8 |" in rows["j3"]


def test_grouped_parameters_are_shown_only_when_they_are_used():
    assert "## Base parameters" in document("tree4", [])[1]
    assert "## Base parameters" not in document("tree4", [], base_parameters=False)[1]


def test_operations_are_those_of_the_functions():
    model, text = document("tree4", ["inverse_dynamics"])
    count = count_operations(model.function("inverse_dynamics"))
    numbers = f"{count.multiplications} | {count.additions} | 0 | {count.negations} | 6 | 0"
    assert f"| inverse\\_dynamics | {numbers} |" in text


def test_symbolic_parameters_are_listed_and_make_the_efforts():
    model, text = document("tree4", ["inverse_dynamics"], symbolic_parameters=True)
    q, v, a, values = state(model)
    for k, (name, value) in enumerate(zip(model.parameters.names, model.parameters.values, strict=True), start=1):
        assert f"| $\\pi_{{{k}}}$ | {name.replace('_', chr(92) + '_')} |" in text
        values[f"\\pi_{{{k}}}"] = value
    computed = compute(text, r"### inverse\_dynamics", values)
    expected = pin.rnea(model.robot.model, model.robot.model.createData(), q, v, a)
    assert_equal_to_printed_digits([computed[f"\\tau_{{{k}}}"] for k in range(1, 5)], expected)


@pytest.mark.parametrize("writer", [markdown, latex])
def test_a_large_robots_document_is_made_of_statements_not_of_closed_forms(writer):
    _, text = document("syn3p33r", ["inverse_dynamics"], writer=writer)
    assert "Equations of motion" not in text
    assert len(text) < 1_000_000


@pytest.mark.parametrize("kind", ["continuous", "prismatic"])
def test_a_robot_of_one_joint_has_its_document(kind):
    text = (
        "<robot name='one'><link name='world'/><link name='b'><inertial><mass value='2'/>"
        "<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link><joint name='j' "
        f"type='{kind}'><parent link='world'/><child link='b'/><axis xyz='0 0 1'/></joint></robot>"
    )
    _, document_text = document(text, ["inverse_dynamics"])
    effort = r"\ddot{q}_{1}" if kind == "continuous" else r"2 \ddot{q}_{1} + 19.62"
    assert f"\n\\tau_{{1}} &= {effort}\n" in document_text


def test_a_follower_is_shown_with_its_leader_and_ratio():
    link = (
        "<link name='{0}'><inertial><mass value='2'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/>"
        "</inertial></link>"
    )
    text = (
        f"<robot name='two'><link name='world'/>{link.format('a')}{link.format('b')}"
        "<joint name='j' type='continuous'><parent link='world'/><child link='a'/><axis xyz='0 0 1'/></joint>"
        "<joint name='k' type='continuous'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/>"
        "<mimic joint='j' multiplier='0.5' offset='0.1'/></joint></robot>"
    )
    _, document_text = document(text, ["inverse_dynamics"])
    assert "| k | 1 | 0.5 × j + 0.1 | a | b |" in document_text
    # One turns at the rate of j, the other half as fast again.
    assert "\n\\tau_{1} &= 3.25 \\ddot{q}_{1}\n" in document_text


def test_generate_writes_both_documents_with_the_notes(tmp_path):
    made = generate("robot_2r_b", ("latex", "markdown"), ["idm"], tmp_path, gravity=(0.0, -9.81, 0.0))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(made.files)
    for name in ("robot_2r_b.tex", "robot_2r_b.md"):
        assert "Gravity (0, " in made.files[name]
