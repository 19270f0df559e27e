# SPDX-License-Identifier: Apache-2.0
"""Plain Python: numbers and lists, nothing but math."""

from __future__ import annotations

from humanoid_codegen.expression.function import Module
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


def write(module: Module) -> dict[str, str]:
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
