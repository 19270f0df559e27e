# SPDX-License-Identifier: Apache-2.0
"""Python: for reading with nothing but math, for many states by numpy, for one state in compiled code by numba."""

from __future__ import annotations

import builtins
import keyword
import sys
from collections.abc import Callable, Sequence

from humanoid_codegen.expression.function import Argument, Module, Result
from humanoid_codegen.languages.language import check_module_name, function_heading, joint_names, module_heading, plain
from humanoid_codegen.languages.statements import Body, Spelling, wrap_expression, write_body, zero_entries

_LIBRARIES = frozenset(("numpy", "numba", "casadi", "sympy"))
_OWN = frozenset(("Q_NAMES", "V_NAMES", "LINK_NAMES", "PARAMETER_NAMES", "PARAMETERS", "math", "np", "shape"))


def check_python_name(name: str, language: str) -> None:
    """Refuse names that Python can't import, or that would hide a library.

    Raises:
        InputError: the module's name is one of these.
    """
    check_module_name(name, language, {*keyword.kwlist, *keyword.softkwlist, *sys.stdlib_module_names, *_LIBRARIES})


def bodies(
    module: Module,
    load: Callable[[str, Argument, int], str],
    library: str = "",
    local_symbols: bool = True,
) -> list[Body]:
    """Return statements of a module's functions in Python.

    Args:
        module: the functions.
        load: text that reads an entry of an argument.
        library: that sine, cosine and square root come from, ``np.`` for instance; empty if they are imported by name.
        local_symbols: entries of the arguments get variables of their own.
    """
    reserved = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *_OWN, *_LIBRARIES, "sin", "cos", "sqrt"}
    reserved.update(function.name for function in module.functions)
    spelling = Spelling(frozenset(reserved), load, local_symbols, f"{library}sin", f"{library}cos", f"{library}sqrt")
    return [write_body(function, spelling, joint_names(module)) for function in module.functions]


def subscript(array: str, argument: Argument, position: int) -> str:
    """``wrenches[0][3]``: reading nested lists."""
    return array + "".join(f"[{index}]" for index in indices(argument.shape, position))


def indices(shape: Sequence[int], position: int) -> tuple[int, ...]:
    """Return indices of the entry at a row-major position."""
    found = []
    for size in reversed(shape):
        position, index = divmod(position, size)
        found.append(index)
    return tuple(reversed(found))


def file_text(module: Module, imports: Sequence[str], example: Sequence[str], functions: Sequence[str]) -> str:
    """Return a whole file: docstring, imports, names, functions."""
    lines = ['"""' + module_heading(module, example)[0]]
    lines += [*module_heading(module, example)[1:], '"""', "", *imports, ""]
    lines += _names("Q_NAMES", module.q_names) + _names("V_NAMES", module.v_names)
    lines += _names("LINK_NAMES", module.link_names)
    if module.parameter_names:
        lines += _names("PARAMETER_NAMES", module.parameter_names)
        lines.append("#: Values of the parameters in the URDF.")
        lines += _listed("PARAMETERS", [repr(value) for value in module.parameters])
    return "\n\n\n".join(["\n".join(lines), *functions]) + "\n"


def function_text(body: Body, parameters: Sequence[str], inside: Sequence[str], before: Sequence[str] = ()) -> str:
    """Return a function with its docstring.

    Args:
        body: the function.
        parameters: identifiers between the parentheses.
        inside: its lines after the docstring, without indentation.
        before: decorators.
    """
    head = function_heading(body.function, body.arguments, body.results)
    lines = [*before, f"def {body.function.name}({', '.join(parameters)}):"]
    lines += [f'    """{head[0]}', *(f"    {line}" if line else "" for line in head[1:]), '    """']
    return "\n".join([*lines, *(f"    {line}" if line else "" for line in inside)])


def statement_lines(body: Body) -> list[str]:
    """Return loads and statements with the comments of their sections."""
    lines = [f"{load.identifier} = {load.text}" for load in body.loads]
    for section in body.sections:
        if lines:
            lines.append("")
        if section.title:
            lines.append(f"# {plain(section.title)}")
        for statement in section.statements:
            lines += assignment(statement.identifier, statement.text)
    return lines


def assignment(target: str, text: str) -> list[str]:
    """Return an assignment, with parentheses around what takes several lines."""
    start = f"{target} = "
    if 4 + len(start) + len(text) <= 120:
        return [start + text]
    return [f"{start}(", *(f"    {part}" for part in wrap_expression(text, 8, 8)), ")"]


def nested(shape: Sequence[int], values: Sequence[str], indent: int) -> str:
    """Nested lists of texts; rows that don't fit in a line are broken."""
    if not shape:
        return values[0]
    if len(shape) == 1:
        flat = f"[{', '.join(values)}]"
        if indent + len(flat) <= 110:
            return flat
        return "[\n" + "".join(_filled(values, indent + 4)) + " " * indent + "]"
    size = len(values) // shape[0] if shape[0] else 0
    rows = [
        " " * (indent + 4) + nested(shape[1:], values[k * size : (k + 1) * size], indent + 4) + ",\n"
        for k in range(shape[0])
    ]
    return "[\n" + "".join(rows) + " " * indent + "]"


def _filled(values: Sequence[str], indent: int) -> list[str]:
    lines = []
    line = ""
    for value in values:
        if line and indent + len(line) + len(value) + 2 > 116:
            lines.append(" " * indent + line + "\n")
            line = ""
        line += f" {value}," if line else f"{value},"
    return [*lines, " " * indent + line + "\n"] if line else lines


def _names(variable: str, names: Sequence[str]) -> list[str]:
    return _listed(variable, [ascii(name) for name in names])


def _listed(variable: str, values: Sequence[str]) -> list[str]:
    text = f"{variable} = [{', '.join(values)}]"
    return [text] if len(text) <= 120 else [f"{variable} = [", *(line.rstrip() for line in _filled(values, 4)), "]"]


def write_python(module: Module) -> dict[str, str]:
    """One file, ``name.py``, for reading and for use without any library.

    Raises:
        InputError: the module's name can't be imported.
    """
    check_python_name(module.name, "Python")
    written = bodies(module, subscript)
    functions = [function_text(body, body.arguments, [*statement_lines(body), *_returned(body)]) for body in written]
    used = " ".join(statement.text for body in written for statement in body.statements)
    imported = [name for name in ("cos", "sin", "sqrt") if f"{name}(" in used]
    imports = [f"from math import {', '.join(imported)}"] if imported else []
    return {f"{module.name}.py": file_text(module, imports, _example(module, written), functions)}


def _returned(body: Body) -> list[str]:
    texts = [
        nested(result.shape, values, 4) for result, values in zip(body.function.results, body.values, strict=True)
    ]
    lines = [""]
    if len(texts) == 1:
        lines += f"return {texts[0]}".split("\n")
    else:
        names = ", ".join(body.results)
        for name, text in zip(body.results, texts, strict=True):
            lines += f"{name} = {text}".split("\n")
        lines.append(f"return {names}" if names else "return ()")
    return [line.removeprefix("    ") if k and line.startswith("    ") else line for k, line in enumerate(lines)]


def _example(module: Module, written: list[Body]) -> list[str]:
    if not written:
        return []
    body = written[0]
    lines = [f"import {module.name}"]
    lines += [
        f"{name} = {_zeros(argument.shape)}"
        for name, argument in zip(body.arguments, body.function.arguments, strict=True)
    ]
    return [*lines, f"{', '.join(body.results)} = {module.name}.{body.function.name}({', '.join(body.arguments)})"]


def _zeros(shape: tuple[int, ...]) -> str:
    text = "0.0"
    for level, size in enumerate(reversed(shape)):
        text = f"[{text}] * {size}" if level == 0 else f"[{text} for _ in range({size})]"
    return text


def write_numpy(module: Module) -> dict[str, str]:
    """One file, ``name_numpy.py``.

    Raises:
        InputError: the module's name can't be imported.
    """
    check_python_name(module.name, "Python")
    written = bodies(module, lambda array, argument, position: f"{array}{_numpy_entry(argument, position)}", "np.")
    functions = [function_text(body, body.arguments, _numpy_lines(body)) for body in written]
    example = [f"import {module.name}_numpy", "import numpy as np"]
    for body in written[:1]:
        example += [
            f"{name} = np.zeros({(1000, *argument.shape)})  # 1000 states"
            for name, argument in zip(body.arguments, body.function.arguments, strict=True)
        ]
        call = f"{module.name}_numpy.{body.function.name}({', '.join(body.arguments)})"
        example.append(f"{', '.join(body.results)} = {call}")
    return {f"{module.name}_numpy.py": file_text(module, ["import numpy as np"], example, functions)}


def _numpy_lines(body: Body) -> list[str]:
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
                lines += assignment(f"{name}{_numpy_entry(result, position)}", value)
    lines.append(f"return {', '.join(body.results)}" if body.results else "return ()")
    return lines


def _numpy_entry(array: Argument | Result, position: int) -> str:
    return f"[{', '.join(('...', *map(str, indices(array.shape, position))))}]"


def write_numba(module: Module) -> dict[str, str]:
    """One file, ``name_numba.py``.

    Raises:
        InputError: the module's name can't be imported.
    """
    check_python_name(module.name, "Python")
    written = bodies(module, lambda array, argument, position: f"{array}{_numba_entry(argument, position)}", "math.")
    functions = [
        function_text(body, (*body.arguments, *body.results), _numba_lines(body), ["@njit(cache=True)"])
        for body in written
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


def _numba_lines(body: Body) -> list[str]:
    lines = statement_lines(body)
    for name, result, values in zip(body.results, body.function.results, body.values, strict=True):
        lines.append("")
        zeros = set(zero_entries(result))
        if zeros:
            lines.append(f"{name}[...] = 0.0")
        for position, value in enumerate(values):
            if position not in zeros:
                lines += assignment(f"{name}{_numba_entry(result, position)}", value)
    return lines if any(line for line in lines) else ["pass"]


def _numba_entry(array: Argument | Result, position: int) -> str:
    return f"[{', '.join(map(str, indices(array.shape, position)))}]" if array.shape else "[()]"
