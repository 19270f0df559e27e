# SPDX-License-Identifier: Apache-2.0
"""MATLAB and Octave: one file per function."""

from __future__ import annotations

from humanoid_codegen.expression.function import Argument, Module, Result
from humanoid_codegen.languages.language import (
    MAX_LENGTH,
    check_module_name,
    function_heading,
    joint_names,
    module_heading,
    plain,
    words,
)
from humanoid_codegen.languages.statements import Body, Spelling, wrap_expression, write_body
from humanoid_model.errors import InputError

KEYWORDS = words(
    """break case catch classdef continue else elseif end for function global if otherwise parfor persistent return
    spmd switch try while do until unwind_protect unwind_protect_cleanup end_try_catch end_unwind_protect endfor
    endfunction endif endparfor endswitch endwhile endclassdef enumeration endenumeration events endevents methods
    endmethods properties endproperties spmd endspmd arguments endarguments"""
)
_FUNCTIONS = words("sin cos sqrt zeros i j pi e eps Inf NaN ans nargin nargout")


def write(module: Module) -> dict[str, str]:
    """Return a file per function, and one with the parameters' values where they are symbolic.

    Raises:
        InputError: the module's name can't stand in front of a function's, or makes it too long.
    """
    check_module_name(module.name, "MATLAB", KEYWORDS)
    if module.name.startswith("_"):
        check_module_name(module.name, "MATLAB", {module.name})
    spelling = Spelling(
        reserved=KEYWORDS | _FUNCTIONS,
        load=lambda array, argument, position: f"{array}{_subscript(argument, position)}",
    )
    files = {}
    for function in module.functions:
        name = f"{module.name}_{function.name}"
        if len(name) > MAX_LENGTH:
            raise InputError(
                f"'{name}' has {len(name)} letters, MATLAB reads {MAX_LENGTH}",
                element="name of the module",
                remedy="Give the robot a shorter name",
            )
        files[f"{name}.m"] = _file(module, name, write_body(function, spelling, joint_names(module)))
    if module.parameters:
        name = f"{module.name}_parameters"
        values = "\n".join(
            f"    {value!r} % {plain(own)}"
            for own, value in zip(module.parameter_names, module.parameters, strict=True)
        )
        files[f"{name}.m"] = (
            f"function parameters = {name}()\n"
            f"% Values of the parameters in the URDF.\nparameters = [\n{values}\n];\nend\n"
        )
    return files


def _file(module: Module, name: str, body: Body) -> str:
    outputs = body.results[0] if len(body.results) == 1 else f"[{', '.join(body.results)}]"
    call = f"{name}({', '.join(body.arguments)})"
    if body.results:
        call = f"{outputs} = {call}"
    example = [f"{own} = zeros{_size(a)};" for own, a in zip(body.arguments, body.function.arguments, strict=True)]
    head = [*function_heading(body.function, body.arguments, body.results), ""]
    head += module_heading(module, [*example, f"{call};"], index_base=1)
    lines = [f"function {call}", *(f"% {line}".rstrip() for line in head), ""]
    lines += [f"{load.identifier} = {load.text};" for load in body.loads]
    for section in body.sections:
        lines.append("")
        if section.title:
            lines.append(f"% {plain(section.title)}")
        for statement in section.statements:
            lines += _wrapped(f"{statement.identifier} = {statement.text};")
    for own, result, values in zip(body.results, body.function.results, body.values, strict=True):
        lines.append("")
        if not result.shape:
            lines.append(f"{own} = {values[0]};")
            continue
        lines.append(f"{own} = zeros{_size(result)};")
        lines += [
            f"{own}{_subscript(result, position)} = {value};"
            for position, value in enumerate(values)
            if value != "0.0"
        ]
    return "\n".join([*lines, "end"]) + "\n"


def _size(array: Argument | Result) -> str:
    sizes = (*array.shape, 1) if len(array.shape) == 1 else array.shape
    return f"({', '.join(map(str, sizes))})" if sizes else "(1, 1)"


def _subscript(array: Argument | Result, position: int) -> str:
    """Return indices from 1 of the entry at a row-major position."""
    if not array.shape:
        return ""
    indices = []
    for size in reversed(array.shape):
        position, index = divmod(position, size)
        indices.append(str(index + 1))
    return f"({', '.join(reversed(indices))})"


def _wrapped(line: str) -> list[str]:
    parts = wrap_expression(line, 0, 4, width=116)
    last = len(parts) - 1
    return [("    " if k else "") + part + (" ..." if k < last else "") for k, part in enumerate(parts)]
