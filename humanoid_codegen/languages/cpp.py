# SPDX-License-Identifier: Apache-2.0
"""C++11: one header, functions in a namespace, on raw pointers and on std::array."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_codegen.expression.function import Argument, Module, Result
from humanoid_codegen.languages.c import KEYWORDS, MATH, body_lines, comment
from humanoid_codegen.languages.language import check_module_name, function_heading, joint_names, module_heading, words
from humanoid_codegen.languages.statements import Body, Spelling, write_body

CPP_KEYWORDS = KEYWORDS | words(
    """alignas alignof and and_eq asm bitand bitor bool catch char8_t char16_t char32_t class co_await co_return
    co_yield std compl concept consteval constinit const_cast decltype delete dynamic_cast explicit export friend import
    module mutable namespace new noexcept not not_eq operator or or_eq override final private protected public
    reinterpret_cast requires static_cast template this throw try typeid typename using virtual wchar_t xor xor_eq"""
)
_SIZES = words("nq nv links parameter_values")


def write(module: Module) -> dict[str, str]:
    """One header.

    Raises:
        InputError: the module's name can't be the name of a namespace.
    """
    check_module_name(module.name, "C++", CPP_KEYWORDS | MATH)
    guard = f"{module.name.upper()}_HPP"
    spelling = Spelling(
        reserved=CPP_KEYWORDS | MATH | _SIZES | {guard, "i", *(function.name for function in module.functions)},
        load=lambda array, argument, position: f"{array}[{position}]",
        sine="std::sin",
        cosine="std::cos",
        square_root="std::sqrt",
    )
    bodies = [write_body(function, spelling, joint_names(module)) for function in module.functions]
    parts = [
        comment(module_heading(module, _example(module, bodies))),
        f"#ifndef {guard}\n#define {guard}",
        "#include <array>\n#include <cmath>",
        f"namespace {module.name} {{",
        f"constexpr int nq = {len(module.q_names)};\nconstexpr int nv = {len(module.v_names)};\n"
        f"constexpr int links = {len(module.link_names)};",
    ]
    if module.parameters:
        values = "\n".join(f"    {value!r}," for value in module.parameters)
        parts.append(
            "/* Values of the parameters in the URDF. */\n"
            f"constexpr double parameter_values[{len(module.parameters)}] = {{\n{values}\n}};"
        )
    for body in bodies:
        head = comment(function_heading(body.function, body.arguments, body.results))
        lines = [f"    {line}" if line else "" for line in body_lines(body)]
        parts.append("\n".join([head, _declaration(body, _pointers(body)), "{", *lines, "}"]))
        if body.arguments or body.results:
            parts.append("\n".join(_on_arrays(body)))
    parts += [f"}}  // namespace {module.name}", "#endif"]
    return {f"{module.name}.hpp": "\n\n".join(parts) + "\n"}


def _declaration(body: Body, parameters: Sequence[str]) -> str:
    text = f"inline void {body.function.name}({', '.join(parameters)})"
    if len(text) <= 120:
        return text
    return f"inline void {body.function.name}(\n    " + ",\n    ".join(parameters) + ")"


def _pointers(body: Body) -> list[str]:
    arguments = [f"const double *__restrict {name}" for name in body.arguments]
    return arguments + [f"double *__restrict {name}" for name in body.results]


def _on_arrays(body: Body) -> list[str]:
    """Return the same function on std::array, and on references to numbers."""
    parameters = [
        f"const {_type(argument)} &{name}"
        for name, argument in zip(body.arguments, body.function.arguments, strict=True)
    ]
    parameters += [
        f"{_type(result)} &{name}" for name, result in zip(body.results, body.function.results, strict=True)
    ]
    values = [
        f"{name}.data()" if array.shape else f"&{name}"
        for name, array in body.arrays
    ]
    return [_declaration(body, parameters), "{", f"    {body.function.name}({', '.join(values)});", "}"]


def _type(array: Argument | Result) -> str:
    return f"std::array<double, {len(array.entries)}>" if array.shape else "double"


def _example(module: Module, bodies: Sequence[Body]) -> list[str]:
    if not bodies:
        return []
    body = bodies[0]
    lines = [f'#include "{module.name}.hpp"']
    lines += [
        f"{_type(array)} {name}{{}};" for name, array in body.arrays
    ]
    return [*lines, f"{module.name}::{body.function.name}({', '.join((*body.arguments, *body.results))});"]
