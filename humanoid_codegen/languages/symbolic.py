# SPDX-License-Identifier: Apache-2.0
"""CasADi and sympy: functions for optimisation and equations as expressions, as files and as live objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from humanoid_codegen.expression.function import Argument, Function, Module, Result, evaluate
from humanoid_codegen.expression.graph import Expression, Operation
from humanoid_codegen.languages.python import (
    assignment,
    bodies,
    check_python_name,
    file_text,
    function_text,
    nested,
    statement_lines,
    subscript,
)
from humanoid_codegen.languages.statements import Body
from humanoid_model.extensions import optional_library

if TYPE_CHECKING:
    import casadi
    import sympy


def write_casadi(module: Module) -> dict[str, str]:
    """One file, ``name_casadi.py``, whose functions make ``casadi.Function`` objects.

    Raises:
        InputError: the module's name can't be imported.
    """
    check_python_name(module.name, "Python")
    written = bodies(module, lambda array, argument, position: f"{array}{_entry(argument, position)}", "casadi.")
    functions = [function_text(body, (), _casadi_lines(body)) for body in written]
    example = [f"import {module.name}_casadi"]
    for body in written[:1]:
        example += [
            f"{body.function.name} = {module.name}_casadi.{body.function.name}()  # a casadi.Function",
            f"{', '.join(body.results)} = {body.function.name}({', '.join(body.arguments)})",
        ]
    return {f"{module.name}_casadi.py": file_text(module, ["import casadi"], example, functions)}


def casadi_function(function: Function) -> casadi.Function:
    """Return a function as CasADi's, for derivatives, sparsity and optimisation.

    Vectors are columns, matrices stay matrices, and of arrays with three dimensions the first two are rows: the
    rotations of L links are a matrix of shape (3 L, 3). Structural zeros are left out of the sparsity.

    Args:
        function: any function of a dynamic model.
    """
    casadi = optional_library("casadi", "models")
    symbols = [casadi.SX.sym(argument.name, *_matrix_shape(argument)) for argument in function.arguments]
    entries = [
        [symbol[_row_column(argument, k)] for k in range(len(argument.entries))]
        for symbol, argument in zip(symbols, function.arguments, strict=True)
    ]
    elementary = {Operation.SINE: casadi.sin, Operation.COSINE: casadi.cos, Operation.SQUARE_ROOT: casadi.sqrt}
    values = evaluate(function, entries, elementary)
    results = [_filled(casadi, result, own) for result, own in zip(function.results, values, strict=True)]
    names = [argument.name for argument in function.arguments], [result.name for result in function.results]
    return casadi.Function(function.name, symbols, results, *names)


def _filled(casadi: Any, result: Result, values: Sequence[Any]) -> Any:
    matrix = casadi.SX(*_matrix_shape(result))
    for k, (entry, value) in enumerate(zip(result.entries, values, strict=True)):
        if isinstance(entry, Expression) or entry != 0.0:
            matrix[_row_column(result, k)] = value
    return matrix


def _casadi_lines(body: Body) -> list[str]:
    lines = [
        f'{name} = casadi.SX.sym("{name}", {", ".join(map(str, _matrix_shape(argument)))})'
        for name, argument in zip(body.arguments, body.function.arguments, strict=True)
    ]
    lines += ["", *statement_lines(body)]
    for name, result, values in zip(body.results, body.function.results, body.values, strict=True):
        lines += ["", f"{name} = casadi.SX({', '.join(map(str, _matrix_shape(result)))})"]
        for position, value in enumerate(values):
            if value != "0.0":
                lines += assignment(f"{name}{_entry(result, position)}", value)
    inputs, outputs = ", ".join(body.arguments), ", ".join(body.results)
    input_names = ", ".join(f'"{name}"' for name in body.arguments)
    output_names = ", ".join(f'"{name}"' for name in body.results)
    return [
        *lines,
        "",
        "return casadi.Function(",
        f'    "{body.function.name}",',
        f"    [{inputs}],",
        f"    [{outputs}],",
        f"    [{input_names}],",
        f"    [{output_names}],",
        ")",
    ]


def _matrix_shape(array: Argument | Result) -> tuple[int, int]:
    if len(array.shape) < 2:
        return (len(array.entries), 1)
    return (int(np.prod(array.shape[:-1])), array.shape[-1])


def _row_column(array: Argument | Result, position: int) -> tuple[int, int]:
    return divmod(position, _matrix_shape(array)[1])


def _entry(array: Argument | Result, position: int) -> str:
    row, column = _row_column(array, position)
    return f"[{row}, {column}]"


def write_sympy(module: Module) -> dict[str, str]:
    """One file, ``name_sympy.py``, whose functions take sympy symbols or numbers and return sympy arrays.

    Raises:
        InputError: the module's name can't be imported.
    """
    check_python_name(module.name, "Python")
    written = bodies(module, subscript)
    functions = [
        function_text(body, body.arguments, [*statement_lines(body), *_sympy_returned(body)]) for body in written
    ]
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


def _sympy_returned(body: Body) -> list[str]:
    lines = [""]
    for name, result, values in zip(body.results, body.function.results, body.values, strict=True):
        if not result.shape:
            lines.append(f"{name} = {values[0]}")
            continue
        text = f"{name} = sympy.Array({nested((len(values),), values, 0)}, {result.shape})"
        lines += text.split("\n")
    lines.append(f"return {', '.join(body.results)}" if body.results else "return ()")
    return lines
