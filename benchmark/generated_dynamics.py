# SPDX-License-Identifier: Apache-2.0
"""Generated dynamics beside Pinocchio's, in one run: one call from C, one call from Python, 1000 states from Python.

Calls from C go round 64 states: one state again and again would let the processor foretell every branch. "object" is
the shared object that Python's calls use, "-O2" and "native" the file that ``--lang c`` writes, compiled with -O2, and
with -O3 -march=native. Pinocchio's are loops of a C++ program (-O3) round the same states, over its own library and
headers from the Python wheel, on the same robot, handed over as text by the wheel, with the headers of Eigen from the
peers' environment. Without g++ the column is the call from Python less that of a trivial function of the same wheel,
and is marked so. The wheel is built for any x86-64, the object for the machine it runs on. Contestants take turns;
medians of the blocks are printed, in processor time.
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from humanoid_codegen.compiled import compile_functions
from humanoid_codegen.compiled.compiled_function import CompiledFunction
from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_codegen.generate import generate
from humanoid_model import Robot, load_robot

FUNCTIONS = {"inverse_dynamics": "rnea", "bias": "nle", "mass_matrix": "crba", "direct_dynamics": "aba"}
STATES = 1000
"""Given at once from Python."""
ROUND = 64
"""That calls from C go round."""
LOOP = 2000
"""Calls of a block."""

C_LOOP = """
#include <time.h>
double run(void (*f)(), long calls, int arrays, double **a, const long *sizes, long states)
{
    struct timespec start, end;
    long i;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    for (i = 0; i < calls; i++) {
        long s = i % states;
        double *x = a[0] + s * sizes[0], *y = a[1] + s * sizes[1];
        if (arrays == 2) ((void (*)(double *, double *))f)(x, y);
        else if (arrays == 3) ((void (*)(double *, double *, double *))f)(x, y, a[2] + s * sizes[2]);
        else ((void (*)(double *, double *, double *, double *))f)(x, y, a[2] + s * sizes[2], a[3] + s * sizes[3]);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    return ((end.tv_sec - start.tv_sec) + 1e-9 * (end.tv_nsec - start.tv_nsec)) / calls;
}
"""

CPP_LOOP = """
#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <time.h>
#include <iostream>
#include <string>
#include <vector>
using namespace pinocchio;
template <class F> double run(F f, long calls)
{
    timespec start, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    for (long i = 0; i < calls; i++) f(i);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    return ((end.tv_sec - start.tv_sec) + 1e-9 * (end.tv_nsec - start.tv_nsec)) / calls;
}
int main(int, char **arguments)
{
    Model model;
    model.loadFromText(arguments[1]);
    Data data(model);
    long n;
    std::cin >> n;
    std::vector<Eigen::VectorXd> q(n, Eigen::VectorXd(model.nq)), v(n, Eigen::VectorXd(model.nv)), a(v);
    for (auto *x : {&q, &v, &a}) for (auto &state : *x) for (auto &entry : state) std::cin >> entry;
    for (std::string name; std::cin >> name;) {
        long calls;
        std::cin >> calls;
        double t = 0.0;
        if (name == "rnea") t = run([&](long i) { rnea(model, data, q[i % n], v[i % n], a[i % n]); }, calls);
        if (name == "nle") t = run([&](long i) { nonLinearEffects(model, data, q[i % n], v[i % n]); }, calls);
        if (name == "crba") t = run([&](long i) { crba(model, data, q[i % n]); }, calls);
        if (name == "aba") t = run([&](long i) { aba(model, data, q[i % n], v[i % n], a[i % n]); }, calls);
        std::cout << t << std::endl;
    }
}
"""


class CppPinocchio:
    """Pinocchio's algorithms called by a C++ program."""

    def __init__(self, program: Path, robot: Robot, state: list[np.ndarray], folder: Path) -> None:
        """Start it on a robot at states q, v, a, each (n, ...)."""
        text = folder / f"{robot.name}.txt"
        robot.model.saveToText(str(text))
        self.process = subprocess.Popen(
            [str(program), str(text)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdin is not None
        numbers = " ".join(repr(float(x)) for array in state for x in array.ravel())
        self.process.stdin.write(f"{len(state[0])} {numbers}\n")

    def run(self, name: str) -> float:
        """Seconds per call in a block."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{name} {LOOP}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self) -> None:
        """End it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def build_cpp(folder: Path, eigen: Path) -> Path | None:
    """Return the C++ program; None where it can't be built."""
    prefix = Path(pin.__file__).parents[4]
    if shutil.which("g++") is None or not (eigen / "Eigen").exists() or not (prefix / "include").exists():
        return None
    source, program = folder / "loop.cpp", folder / "loop"
    source.write_text(CPP_LOOP)
    command = ["g++", "-O3", "-DNDEBUG", "-std=c++17", "-w", str(source), "-o", str(program)]
    # As Pinocchio itself is built: its list of joints is longer than Boost's default.
    command += ["-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS"]
    command += ["-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION", f"-I{prefix / 'include'}", f"-I{eigen}"]
    command += [f"-L{prefix / 'lib'}", "-lpinocchio_default", "-lboost_serialization", f"-Wl,-rpath,{prefix / 'lib'}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"The C++ program can't be built: {done.stderr[-300:]}", file=sys.stderr)
        return None
    return program


def build_c(folder: Path) -> Any:
    """Return the loop in C."""
    library = folder / "loop.so"
    command = ["cc", "-O2", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)]
    subprocess.run(command, input=C_LOOP, text=True, check=True)
    run = ctypes.CDLL(str(library)).run
    run.restype = ctypes.c_double
    return run


def build_generated(robot: Robot, folder: Path, options: list[str]) -> Any:
    """Return the file that `--lang c` writes, compiled with some options."""
    files = generate(robot, "c", tuple(FUNCTIONS)).files
    (source,) = (text for name, text in files.items() if name.endswith(".c"))
    for name, text in files.items():
        (folder / name).write_text(text)
    library = folder / f"{robot.name}{''.join(options)}.so"
    command = ["cc", "-std=c99", *options, "-shared", "-fPIC", f"-I{folder}", "-x", "c", "-", "-o", str(library), "-lm"]
    subprocess.run(command, input=source, text=True, check=True)
    return ctypes.CDLL(str(library))


def python_time(call: Callable[[], object], calls: int) -> float:
    """Seconds per call."""
    start = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - start) / calls


@dataclass(frozen=True)
class Case:
    """One function at random states."""

    function: CompiledFunction
    peer: str
    states: list[np.ndarray]

    def c_call(self, run: Any, address: int) -> Callable[[], float]:
        """Return a block of calls of a function from C; what they write has to be what the object does."""
        arrays = [np.ascontiguousarray(array[:ROUND]) for array in self.states]
        arrays.append(np.empty((ROUND, *self.function.function.results[0].shape)))
        pointers = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
        sizes = (ctypes.c_long * len(arrays))(*(array[0].size for array in arrays))

        def block() -> float:
            calls, states = ctypes.c_long(LOOP), ctypes.c_long(ROUND)
            return float(run(ctypes.c_void_p(address), calls, len(arrays), pointers, sizes, states))

        block()
        np.testing.assert_allclose(arrays[-1], self.function(*arrays[:-1]), rtol=1e-9, atol=1e-9)
        return block


def peer_call(model: pin.Model, peer: str) -> Callable[..., Any]:
    """Pinocchio's function from Python."""
    data = model.createData()
    function = {"rnea": pin.rnea, "nle": pin.nonLinearEffects, "crba": pin.crba, "aba": pin.aba}[peer]
    return lambda *state: function(model, data, *state)


def measure(robot: Robot, run: Any, program: Path | None, folder: Path, blocks: int) -> None:
    """Measures one robot and prints its table."""
    model = DynamicModel(robot)
    if model.mechanism.nv != robot.model.nv:
        sys.exit(f"{robot.name}: joints follow others; Pinocchio would be given another task")
    start = time.perf_counter()
    compiled = compile_functions([model.function(name) for name in FUNCTIONS])
    print(f"\n{robot.name}: nq {robot.model.nq}, nv {robot.model.nv}; ", end="")
    print(f"generated and compiled, or taken from the cache, in {time.perf_counter() - start:.1f} s")
    rng = np.random.default_rng(0)
    neutral = pin.neutral(robot.model)
    q = np.array([pin.integrate(robot.model, neutral, rng.normal(size=robot.model.nv)) for _ in range(STATES)])
    v, a = rng.normal(size=(2, STATES, robot.model.nv))
    cpp = None if program is None else CppPinocchio(program, robot, [q[:ROUND], v[:ROUND], a[:ROUND]], folder)
    files = [build_generated(robot, folder, options) for options in (["-O2"], ["-O3", "-march=native"])]
    print(f"{'':18}{'one call from C, round 64 states':^43}{'one call from Python':^32}{'1000 states from Python':^32}")
    heads = f"{'own us':>10}{'pin us':>11}{'ratio':>8}   " * 2
    print(f"{'':18}{'object':>10}{'-O2':>8}{'native':>8}{'pin us':>11}      {heads}")
    for name, peer in FUNCTIONS.items():
        function = compiled.functions[name]
        case = Case(function, peer, [q, v, a][: len(function.function.arguments)])
        symbols = [ctypes.cast(getattr(file, f"{robot.name}_{name}"), ctypes.c_void_p).value or 0 for file in files]
        own_c = [case.c_call(run, address) for address in (function.address, *symbols)]
        own_python, pin_python = function, peer_call(robot.model, peer)
        singles = [np.ascontiguousarray(array[0]) for array in case.states]
        rows = list(zip(*case.states, strict=True))
        trivial = robot.model.hasJointName if hasattr(robot.model, "hasJointName") else robot.model.existJointName
        out = np.empty((STATES, *function.function.results[0].shape))
        seconds = []
        for _ in range(blocks):
            one = python_time(lambda: pin_python(*singles), LOOP)  # noqa: B023
            overhead = python_time(lambda: trivial("x"), LOOP)  # noqa: B023
            seconds.append((
                *(call() for call in own_c),
                max(one - overhead, 0.0) if cpp is None else cpp.run(peer),
                python_time(lambda: own_python(*singles), LOOP),  # noqa: B023
                one,
                python_time(lambda: own_python(*case.states, out=out), 3),  # noqa: B023
                python_time(lambda: [pin_python(*row) for row in rows], 1),  # noqa: B023
            ))
        median = 1e6 * np.median(seconds, axis=0)
        text = "".join(
            f"{own:10.2f}{other:11.2f}{own / other:8.3f}   " for own, other in (median[4:6], median[6:])
        )
        print(f"{name:18}{median[0]:10.2f}{median[1]:8.2f}{median[2]:8.2f}{median[3]:11.2f}      {text}")
    if cpp is None:
        print("pin's calls from C: no C++ program; the call from Python less that of a trivial function")
    else:
        cpp.close()


def peers_folder(python: Path) -> Path:
    """Return where the peers' environment keeps headers and robots."""
    return next(python.parent.parent.glob("lib/python3.*/site-packages/cmeel.prefix"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=15, help="blocks of which the median is taken")
    parser.add_argument("--peers", type=Path, required=True, help="Python of the peers' environment")
    arguments = parser.parse_args()
    peers = peers_folder(arguments.peers)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run, program = build_c(folder), build_cpp(folder, peers / "include/eigen3")
        measure(load_robot("hrp2"), run, program, folder, arguments.blocks)
        path = peers / "share/example-robot-data/robots/simple_humanoid_description/urdf/simple_humanoid.urdf"
        humanoid = load_robot(path, floating_base=True, geometry=False)
        measure(humanoid, run, program, folder, arguments.blocks)


if __name__ == "__main__":
    main()
