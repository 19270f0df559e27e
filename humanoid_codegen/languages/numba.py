# SPDX-License-Identifier: Apache-2.0
"""numba: functions of one state that write into arrays, to be called from other compiled functions."""

from __future__ import annotations

from humanoid_codegen.expression.function import Argument, Module, Result
from humanoid_codegen.languages.python_text import (
    assignment,
    bodies,
    check_python_name,
    file_text,
    function_text,
    indices,
    statement_lines,
)
from humanoid_codegen.languages.statements import Body, zero_entries


def write(module: Module) -> dict[str, str]:
    """One file, ``name_numba.py``.

    Raises:
        InputError: the module's name can't be imported.
    """
    check_python_name(module.name, "Python")
    written = bodies(module, lambda array, argument, position: f"{array}{_entry(argument, position)}", "math.")
    functions = [
        function_text(body, (*body.arguments, *body.results), _inside(body), ["@njit(cache=True)"]) for body in written
    ]
    example = [f"import {module.name}_numba", "import numpy as np"]
    for body in written[:1]:
        example += [
            f"{name} = np.zeros({array.shape})"
            for name, array in body.arrays
        ]
        call = f"{module.name}_numba.{body.function.name}({', '.join((*body.arguments, *body.results))})"
        example.append(f"{call}  # writes {', '.join(body.results)}")
    imports = ["import math", "", "from numba import njit"]
    return {f"{module.name}_numba.py": file_text(module, imports, example, functions)}


def _inside(body: Body) -> list[str]:
    lines = statement_lines(body)
    for name, result, values in zip(body.results, body.function.results, body.values, strict=True):
        lines.append("")
        zeros = set(zero_entries(result))
        if zeros:
            lines.append(f"{name}[...] = 0.0")
        for position, value in enumerate(values):
            if position not in zeros:
                lines += assignment(f"{name}{_entry(result, position)}", value)
    return lines if any(line for line in lines) else ["pass"]


def _entry(array: Argument | Result, position: int) -> str:
    return f"[{', '.join(map(str, indices(array.shape, position)))}]" if array.shape else "[()]"
