# SPDX-License-Identifier: Apache-2.0
"""Output languages: each turns the functions of a module into files."""

from humanoid_codegen.languages import c, cpp, matlab, python, symbolic
from humanoid_codegen.languages.language import Language

#: Languages by name.
LANGUAGES: dict[str, Language] = {
    language.name: language
    for language in (
        Language("c", "C99 with a header; math.h only, no allocation, no state", c.write),
        Language("cpp", "C++11 header; a namespace, raw pointers and std::array", cpp.write),
        Language("matlab", "MATLAB and Octave, a file per function", matlab.write),
        Language("python", "Python for reading; math only", python.write_python),
        Language("numpy", "numpy, many states in one call", python.write_numpy),
        Language("numba", "numba, functions that write into arrays", python.write_numba),
        Language("casadi", "CasADi functions", symbolic.write_casadi),
        Language("sympy", "sympy expressions", symbolic.write_sympy),
    )
}
