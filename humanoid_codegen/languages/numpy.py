# SPDX-License-Identifier: Apache-2.0
"""numpy: many states in one call, in leading dimensions of the arrays."""

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
from humanoid_codegen.languages.statements import Body


def write(module: Module) -> dict[str, str]:
    """One file, ``name_numpy.py``.

    Raises:
        InputError: the module's name can't be imported.
    """
    check_python_name(module.name, "Python")
    written = bodies(module, lambda array, argument, position: f"{array}{_entry(argument, position)}", "np.")
    functions = [function_text(body, body.arguments, _inside(body)) for body in written]
    example = [f"import {module.name}_numpy", "import numpy as np"]
    for body in written[:1]:
        example += [
            f"{name} = np.zeros({(1000, *argument.shape)})  # 1000 states"
            for name, argument in zip(body.arguments, body.function.arguments, strict=True)
        ]
        call = f"{module.name}_numpy.{body.function.name}({', '.join(body.arguments)})"
        example.append(f"{', '.join(body.results)} = {call}")
    return {f"{module.name}_numpy.py": file_text(module, ["import numpy as np"], example, functions)}


def _inside(body: Body) -> list[str]:
    lines = [
        "# Arguments may have leading dimensions, which are broadcast and which the results have too.",
        *(f"{name} = np.asarray({name}, dtype=float)" for name in body.arguments),
    ]
    shapes = [
        f"{name}.shape[:-{len(argument.shape)}]" if argument.shape else f"{name}.shape"
        for name, argument in zip(body.arguments, body.function.arguments, strict=True)
    ]
    lines += [f"shape = np.broadcast_shapes({', '.join(shapes)})", "", *statement_lines(body), ""]
    for name, result, values in zip(body.results, body.function.results, body.values, strict=True):
        size = f"(*shape, {', '.join(map(str, result.shape))})" if result.shape else "shape"
        lines.append(f"{name} = np.zeros({size})")
        for position, value in enumerate(values):
            if value != "0.0":
                lines += assignment(f"{name}{_entry(result, position)}", value)
    lines.append(f"return {', '.join(body.results)}" if body.results else "return ()")
    return lines


def _entry(array: Argument | Result, position: int) -> str:
    return f"[{', '.join(('...', *map(str, indices(array.shape, position))))}]"
