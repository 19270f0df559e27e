# SPDX-License-Identifier: Apache-2.0
"""What files in Python have in common, whatever they compute with."""

from __future__ import annotations

import builtins
import keyword
import sys
from collections.abc import Callable, Sequence

from humanoid_codegen.expression.function import Argument, Module
from humanoid_codegen.languages.heading import function_heading, joint_names, module_heading, plain
from humanoid_codegen.languages.identifiers import check_module_name
from humanoid_codegen.languages.statements import Body, Spelling, wrap_expression, write_body

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
