# SPDX-License-Identifier: Apache-2.0
import ctypes
import dataclasses
import importlib.util
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from fixtures.language_functions import (
    assert_same,
    expected,
    module_of,
    random_arguments,
    random_function,
    robot_module,
)

from humanoid_codegen.expression.function import Function, Module, Result, evaluate
from humanoid_codegen.languages import LANGUAGES
from humanoid_codegen.languages.symbolic import casadi_function, sympy_function
from humanoid_model.errors import InputError

pytestmark = pytest.mark.feature("004-F46")

STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-fPIC", "-shared")
Caller = Callable[[Module, Path, Function, list[np.ndarray]], list[np.ndarray]]

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
needs_gpp = pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler")
needs_octave = pytest.mark.skipif(shutil.which("octave-cli") is None, reason="needs Octave: apt install octave")


def write(module: Module, language: str, folder: Path) -> dict[str, str]:
    files = LANGUAGES[language].write(module)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return files


def compiled(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


def imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def called_by_ctypes(library: Path, symbol: str, function: Function, arguments: list[np.ndarray]) -> list[np.ndarray]:
    results = [np.full(result.shape, np.nan) for result in function.results]
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*arguments, *results)]
    getattr(ctypes.CDLL(str(library)), symbol)(*pointers)
    return results


def run_c(module: Module, folder: Path, function: Function, arguments: list[np.ndarray]) -> list[np.ndarray]:
    write(module, "c", folder)
    compiled(["gcc", "-std=c99", *STRICT, "-o", "model.so", f"{module.name}.c", "-lm"], folder)
    return called_by_ctypes(folder / "model.so", f"{module.name}_{function.name}", function, arguments)


def run_cpp(module: Module, folder: Path, function: Function, arguments: list[np.ndarray]) -> list[np.ndarray]:
    write(module, "cpp", folder)
    count = len(function.arguments)
    pointers = [f"{'const ' if k < count else ''}double *x{k}" for k in range(count + len(function.results))]
    names = ", ".join(f"x{k}" for k in range(len(pointers)))
    (folder / "call.cpp").write_text(
        f'#include "{module.name}.hpp"\nextern "C" void call({", ".join(pointers)});\n'
        f"void call({', '.join(pointers)}) {{ {module.name}::{function.name}({names}); }}\n"
    )
    compiled(["g++", "-std=c++11", *STRICT, "-o", "model.so", "call.cpp"], folder)
    return called_by_ctypes(folder / "model.so", "call", function, arguments)


def run_python(module: Module, folder: Path, function: Function, arguments: list[np.ndarray]) -> list[np.ndarray]:
    write(module, "python", folder)
    results = getattr(imported(folder / f"{module.name}.py"), function.name)(*(a.tolist() for a in arguments))
    return [np.array(result) for result in (results if len(function.results) > 1 else [results])]


def run_numpy(module: Module, folder: Path, function: Function, arguments: list[np.ndarray]) -> list[np.ndarray]:
    write(module, "numpy", folder)
    results = getattr(imported(folder / f"{module.name}_numpy.py"), function.name)(*arguments)
    return results if len(function.results) > 1 else [results]


def run_numba(module: Module, folder: Path, function: Function, arguments: list[np.ndarray]) -> list[np.ndarray]:
    write(module, "numba", folder)
    results = [np.full(result.shape, np.nan) for result in function.results]
    getattr(imported(folder / f"{module.name}_numba.py"), function.name)(*arguments, *results)
    return results


def run_casadi(module: Module, folder: Path, function: Function, arguments: list[np.ndarray]) -> list[np.ndarray]:
    write(module, "casadi", folder)
    built = getattr(imported(folder / f"{module.name}_casadi.py"), function.name)()
    return called_casadi(built, function, arguments)


def run_live_casadi(module: Module, folder: Path, function: Function, arguments: list[np.ndarray]) -> list[np.ndarray]:
    return called_casadi(casadi_function(function), function, arguments)


def called_casadi(built: Callable, function: Function, arguments: list[np.ndarray]) -> list[np.ndarray]:
    results = built(*arguments)
    results = results if len(function.results) > 1 else [results]
    return [np.array(own).reshape(result.shape) for own, result in zip(results, function.results, strict=True)]


def run_sympy(module: Module, folder: Path, function: Function, arguments: list[np.ndarray]) -> list[np.ndarray]:
    # Numbers instead of symbols: expressions of this size take sympy long.
    write(module, "sympy", folder)
    results = getattr(imported(folder / f"{module.name}_sympy.py"), function.name)(*arguments)
    results = results if len(function.results) > 1 else [results]
    return [np.array(own.tolist() if hasattr(own, "tolist") else own, dtype=float) for own in results]


def run_octave(module: Module, folder: Path, function: Function, arguments: list[np.ndarray]) -> list[np.ndarray]:
    write(module, "matlab", folder)
    lines = []
    for k, array in enumerate(arguments):
        sizes = array.shape if array.ndim > 1 else (array.size, 1)
        flat = ", ".join(map(repr, array.ravel(order="F").tolist()))
        lines.append(f"x{k} = reshape([{flat}], {', '.join(map(str, sizes))});")
    names = ", ".join(f"r{k}" for k in range(len(function.results)))
    inputs = ", ".join(f"x{k}" for k in range(len(arguments)))
    lines.append(f"[{names}] = {module.name}_{function.name}({inputs});")
    lines += [f'printf("%.17g ", r{k}(:)); printf("\\n");' for k in range(len(function.results))]
    done = subprocess.run(
        ["octave-cli", "--no-gui", "--norc", "--eval", "\n".join(lines)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = [np.array(line.split(), dtype=float) for line in done.stdout.splitlines()]
    return [row.reshape(result.shape, order="F") for row, result in zip(rows, function.results, strict=True)]


RUNNERS = [
    pytest.param(run_c, marks=needs_gcc, id="c"),
    pytest.param(run_cpp, marks=needs_gpp, id="cpp"),
    pytest.param(run_octave, marks=needs_octave, id="matlab"),
    pytest.param(run_python, id="python"),
    pytest.param(run_numpy, id="numpy"),
    pytest.param(run_numba, id="numba"),
    pytest.param(run_casadi, id="casadi"),
    pytest.param(run_live_casadi, id="casadi_function"),
    pytest.param(run_sympy, id="sympy"),
]


@pytest.mark.parametrize("run", RUNNERS)
@pytest.mark.parametrize("seed", [1, 2])
def test_same_as_evaluated_whatever_things_are_called(run: Caller, seed: int, tmp_path: Path) -> None:
    function = random_function(seed)
    arguments = random_arguments(function, seed)
    assert_same(run(module_of(function), tmp_path, function, arguments), expected(function, arguments))


@pytest.mark.parametrize("run", RUNNERS)
@pytest.mark.parametrize(
    ("robot", "name"), [("urdf/tree4.urdf", "inverse_dynamics"), ("urdf/tree4.urdf", "kinematics"), ("hrp2", "bias")]
)
def test_same_as_evaluated_on_robots(run: Caller, robot: str, name: str, tmp_path: Path) -> None:
    if robot == "hrp2" and run is run_numba:
        pytest.skip("numba takes long; the seeds and tree4 are run")
    module = robot_module(robot, name)
    function = module.functions[0]
    arguments = random_arguments(function, 5)
    assert_same(run(module, tmp_path, function, arguments), expected(function, arguments))


@pytest.mark.parametrize("language", LANGUAGES)
def test_text_is_the_same_every_time_and_fits_the_page(language: str) -> None:
    first = LANGUAGES[language].write(module_of(random_function(3)))
    assert first == LANGUAGES[language].write(module_of(random_function(3)))
    for text in first.values():
        assert text.endswith("\n")
        assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("language", LANGUAGES)
def test_heads_tell_shapes_meanings_and_operations(language: str) -> None:
    text = "".join(LANGUAGES[language].write(robot_module("urdf/tree4.urdf", "inverse_dynamics")).values())
    order = "q: 1 j0, 2 j1" if language == "matlab" else "q: 0 j0, 1 j1"
    for part in ("tree4", "coordinates [rad, m]", "joint efforts [N m, N]", "multiplications", "Example:", order):
        assert part in text, part


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["2r", "a b", "é", ""])
def test_module_names_that_are_no_identifiers_are_refused(language: str, name: str) -> None:
    with pytest.raises(InputError, match="name of the module") as caught:
        LANGUAGES[language].write(module_of(random_function(1), name=name))
    assert f"'{name}'" in str(caught.value)
    assert "<robot name" in str(caught.value)


@pytest.mark.parametrize(
    ("language", "name"),
    [("c", "double"), ("c", "math"), ("cpp", "namespace"), ("cpp", "std"), ("matlab", "end"), ("python", "lambda"),
     ("python", "math"), ("numpy", "numpy"), ("numba", "class"), ("casadi", "casadi"), ("sympy", "None")],
)  # fmt: skip
def test_words_of_the_language_are_refused_as_module_names(language: str, name: str) -> None:
    with pytest.raises(InputError, match=f"'{name}' is a word of"):
        LANGUAGES[language].write(module_of(random_function(1), name=name))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_module_without_functions_is_written(language: str, tmp_path: Path) -> None:
    files = write(module_of(), language, tmp_path)
    for name, text in files.items():
        if name.endswith(".py"):
            compile(text, name, "exec")
    if language == "c" and shutil.which("gcc"):
        compiled(["gcc", "-std=c99", *STRICT, "-c", "-o", "x.o", "hostile.c"], tmp_path)


@needs_gpp
def test_c_header_serves_cpp_too(tmp_path: Path) -> None:
    module = robot_module("urdf/tree4.urdf", "bias")
    write(module, "c", tmp_path)
    (tmp_path / "use.cpp").write_text(
        '#include "tree4.h"\ndouble first(const double *q, const double *v);\n'
        "double first(const double *q, const double *v)"
        " { double b[TREE4_NV]; tree4_bias(q, v, b); return b[0]; }\n"
    )
    compiled(["gcc", "-std=c99", *STRICT, "-c", "-o", "model.o", "tree4.c"], tmp_path)
    command = ["g++", "-std=c++11", *STRICT, "-Wl,--no-undefined", "-o", "use.so", "use.cpp", "model.o", "-lm"]
    compiled(command, tmp_path)


@needs_gpp
def test_cpp_functions_take_arrays(tmp_path: Path) -> None:
    module = robot_module("urdf/tree4.urdf", "energies")
    write(module, "cpp", tmp_path)
    links = len(module.link_names)
    arrays = f"std::array<double, {len(module.q_names)}> q{{}}; std::array<double, {len(module.v_names)}> v{{}}; "
    (tmp_path / "use.cpp").write_text(
        f'#include "tree4.hpp"\ndouble use();\ndouble use() {{ {arrays}'
        f"std::array<double, {links}> kinetic, potential; double total, height; "
        "tree4::energies(q, v, kinetic, potential, total, height); return total; }\n"
    )
    compiled(["g++", "-std=c++11", *STRICT, "-o", "use.so", "use.cpp"], tmp_path)


@needs_gcc
def test_c_with_symbolic_parameters_gives_their_values(tmp_path: Path) -> None:
    function = random_function(4)
    module = dataclasses.replace(module_of(function), parameter_names=("mass */", "length"), parameters=(0.1, 2e-5))
    write(module, "c", tmp_path)
    compiled(["gcc", "-std=c99", *STRICT, "-o", "model.so", "hostile.c", "-lm"], tmp_path)
    values = (ctypes.c_double * 2).in_dll(ctypes.CDLL(str(tmp_path / "model.so")), "hostile_parameters")
    assert list(values) == [0.1, 2e-5]


def test_numpy_takes_many_states_at_once(tmp_path: Path) -> None:
    module = robot_module("urdf/tree4.urdf", "mass_matrix", "inverse_dynamics")
    write(module, "numpy", tmp_path)
    functions = imported(tmp_path / "tree4_numpy.py")
    rng = np.random.default_rng(1)
    q, v = rng.standard_normal((2, 3, 1, 4))
    a = rng.standard_normal((5, 4))
    tau = functions.inverse_dynamics(q, v, a)
    assert tau.shape == (3, 5, 4)
    single = evaluate(module.functions[1], (q[2, 0], v[2, 0], a[3]))[0]
    np.testing.assert_allclose(tau[2, 3], np.array(single, dtype=float), rtol=1e-12, atol=1e-12)
    assert functions.mass_matrix(q).shape == (3, 1, 4, 4)


def test_live_casadi_keeps_structural_zeros_sparse() -> None:
    function = robot_module("urdf/tree4.urdf", "jacobians").functions[0]
    built = casadi_function(function)
    nonzero = sum(not (isinstance(entry, float) and entry == 0.0) for entry in function.results[0].entries)
    assert built.nnz_out(0) == nonzero < built.numel_out(0)


def test_live_sympy_gives_the_closed_form_of_two_joints() -> None:
    import sympy

    function = robot_module("urdf/robot_2r_b.urdf", "inverse_dynamics").functions[0]
    symbols, results = sympy_function(function)
    arguments = random_arguments(function, 7)
    computed = sympy.lambdify(symbols, results, cse=True)(*arguments)
    assert_same([np.array(computed[0], dtype=float)], expected(function, arguments))
    (_, second), _, (a1, a2) = symbols
    assert sympy.simplify(sympy.diff(results[0][0], a1).diff(a2)) == 0
    assert sympy.diff(results[0][1], a2).free_symbols == set()
    assert second in results[0][0].free_symbols


@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_that_are_not_finite_are_refused(language: str) -> None:
    function = Function("f", (), (Result("x", (), (float("inf"),), ""),), "")
    with pytest.raises(ValueError, match="inf"):
        LANGUAGES[language].write(module_of(function))


def test_matlab_files_are_called_after_their_functions() -> None:
    files = LANGUAGES["matlab"].write(module_of(random_function(1)))
    assert list(files) == ["hostile_mixture.m"]
    text = files["hostile_mixture.m"]
    assert text.startswith("function [tau, M, R, energy, constant] = hostile_mixture(q, unused, wrenches)\n")
    assert text.rstrip().endswith("end")
    assert "R(1, 2, 2) = " in text


def test_matlab_refuses_names_longer_than_it_reads() -> None:
    with pytest.raises(InputError, match="MATLAB reads 63"):
        LANGUAGES["matlab"].write(module_of(random_function(1), name="r" * 60))
