# SPDX-License-Identifier: Apache-2.0
import ctypes
import subprocess

import numpy as np
import pytest
from fixtures.language_functions import module_of, random_arguments, random_function, robot_module

from humanoid_codegen.expression.function import evaluate
from humanoid_codegen.languages import c
from humanoid_codegen.languages.c import Step, cut


def run(module, folder):
    """Compiles a module strictly and compares its functions with their expressions."""
    files = c.write(module)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, "-o", "model.so", f"{module.name}.c", "-lm"], cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "model.so"))
    for function in module.functions:
        arguments = random_arguments(function, 0)
        results = [np.full(result.shape, np.nan) for result in function.results]
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*arguments, *results)]
        getattr(library, f"{module.name}_{function.name}")(*pointers)
        expected = evaluate(function, [argument.reshape(-1) for argument in arguments])
        for result, entries in zip(results, expected, strict=True):
            np.testing.assert_allclose(result.reshape(-1), np.array(entries, dtype=float), rtol=1e-12, atol=1e-12)
    return files[f"{module.name}.c"]


@pytest.fixture
def short_parts(monkeypatch):
    monkeypatch.setattr(c, "WHOLE", 5)
    monkeypatch.setattr(c, "MAX_STATEMENTS", 4)


@pytest.mark.parametrize("seed", range(4))
def test_parts_compute_what_the_whole_does_whatever_things_are_called(short_parts, seed, tmp_path):
    text = run(module_of(random_function(seed)), tmp_path)
    assert text.count("static void hostile_mixture_part_") > 10


def test_parts_of_a_robots_functions(short_parts, tmp_path):
    text = run(robot_module("tree4", "kinematics", "direct_dynamics", "inverse_dynamics_derivatives"), tmp_path)
    for function in ("kinematics", "direct_dynamics", "inverse_dynamics_derivatives"):
        assert f"static void tree4_{function}_part_2(" in text


def test_only_long_functions_are_cut():
    assert "_part_" not in c.write(robot_module("tree4", "direct_dynamics"))["tree4.c"]
    assert "_part_2(" in c.write(robot_module("hrp2", "inverse_dynamics_derivatives"))["hrp2.c"]


def test_values_are_handed_on_once(monkeypatch):
    monkeypatch.setattr(c, "MAX_STATEMENTS", 2)
    steps = [
        Step("t1", ("const double t1 = q_a + 1.0;",)),
        Step("t2", ("const double t2 = t1*t1;", "r[0] = t2;")),
        Step("t3", ("const double t3 = t1 - t2;",)),
        Step("", ("r[1] = t3;",)),
    ]
    first, second = cut(steps, {"q_a": "const double q_a = q[0];"}, ["q", "r"], "w")[0]
    assert first.lines == (
        "const double q_a = q[0];",
        "const double t1 = q_a + 1.0;",
        "w[0] = t1;",
        "const double t2 = t1*t1;",
        "r[0] = t2;",
        "w[1] = t2;",
    )
    assert second.lines[:2] == ("const double t1 = w[0];", "const double t2 = w[1];")
    assert (first.arrays, second.arrays) == (("q", "r"), ("r",))
