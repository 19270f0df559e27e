# SPDX-License-Identifier: Apache-2.0
"""sympy: equations as expressions, quantity by quantity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from humanoid_codegen.expression.function import Function, Module, evaluate
from humanoid_codegen.expression.graph import Operation
from humanoid_codegen.languages.python_text import (
    bodies,
    check_python_name,
    file_text,
    function_text,
    nested,
    statement_lines,
    subscript,
)
from humanoid_codegen.languages.statements import Body
from humanoid_model.optional_library import optional_library

if TYPE_CHECKING:
    import sympy


def write(module: Module) -> dict[str, str]:
    """One file, ``name_sympy.py``, whose functions take sympy symbols or numbers and return sympy arrays.

    Raises:
        InputError: the module's name can't be imported.
    """
    check_python_name(module.name, "Python")
    written = bodies(module, subscript)
    functions = [function_text(body, body.arguments, [*statement_lines(body), *_returned(body)]) for body in written]
    example = [f"import {module.name}_sympy", "import sympy"]
    for body in written[:1]:
        example += [
            f"{name} = sympy.symarray({name!r}, {argument.shape})"
            for name, argument in zip(body.arguments, body.function.arguments, strict=True)
        ]
        call = f"{module.name}_sympy.{body.function.name}({', '.join(body.arguments)})"
        example.append(f"{', '.join(body.results)} = {call}")
    imports = ["import sympy", "from sympy import cos, sin, sqrt"]
    return {f"{module.name}_sympy.py": file_text(module, imports, example, functions)}


def sympy_function(function: Function) -> tuple[list[list[sympy.Symbol]], list[sympy.Array | sympy.Expr]]:
    """Return a function as sympy expressions, written out: meant for small robots, large ones grow beyond all bounds.

    Args:
        function: any function of a dynamic model.

    Returns:
        Symbols of each argument, row-major, and an array or a number for each result, as ``sympy.lambdify`` takes them:
        ``sympy.lambdify(symbols, results, cse=True)``.
    """
    sympy = optional_library("sympy", "models")
    symbols = [[sympy.Symbol(entry.name, real=True) for entry in argument.entries] for argument in function.arguments]
    elementary: dict[Operation, Any] = {
        Operation.SINE: sympy.sin,
        Operation.COSINE: sympy.cos,
        Operation.SQUARE_ROOT: sympy.sqrt,
    }
    values = evaluate(function, symbols, elementary)
    results = [
        sympy.Array(own, result.shape) if result.shape else sympy.sympify(own[0])
        for result, own in zip(function.results, values, strict=True)
    ]
    return symbols, results


def _returned(body: Body) -> list[str]:
    lines = [""]
    for name, result, values in zip(body.results, body.function.results, body.values, strict=True):
        if not result.shape:
            lines.append(f"{name} = {values[0]}")
            continue
        text = f"{name} = sympy.Array({nested((len(values),), values, 0)}, {result.shape})"
        lines += text.split("\n")
    lines.append(f"return {', '.join(body.results)}" if body.results else "return ()")
    return lines
