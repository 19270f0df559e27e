# SPDX-License-Identifier: Apache-2.0
"""CasADi functions compiled by the system's C compiler, kept on disk; the functions themselves where there is none."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from humanoid_codegen.compiled.shared_object import CompilerError, cached_object, find_compiler

_OPTIMISE = '#pragma GCC optimize ("O1")\n'
"""More takes minutes over functions of hundreds of thousands of statements, and they are no faster."""


def compiled(functions: Sequence[ca.Function]) -> list[ca.Function]:
    """Return functions of the same names, arguments and results.

    The first time that takes 10 s for BIP and a minute for HRP-2 in double support; afterwards it takes what writing
    the text takes.
    """
    compiler = find_compiler()
    if compiler is None:
        return list(functions)
    generator = ca.CodeGenerator("stage", {"with_header": False, "with_mem": False})
    for function in functions:
        generator.add(function)
    try:
        path = cached_object(_OPTIMISE + generator.dump(), compiler)
    except CompilerError:
        return list(functions)
    return [ca.external(function.name(), str(path)) for function in functions]
