# SPDX-License-Identifier: Apache-2.0
"""A document of a robot's equations, with its diagram, in Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Callable

from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_codegen.expression.function import Module
from humanoid_codegen.report.content import content
from humanoid_codegen.report.latex import write_latex
from humanoid_codegen.report.markdown import write_markdown


def markdown(module: Module, model: DynamicModel) -> dict[str, str]:
    """Return the document in Markdown: ``<name>.md`` with its pictures in SVG beside it.

    Args:
        module: functions to write down.
        model: that they come from.
    """
    return write_markdown(module.name, content(module, model))


def latex(module: Module, model: DynamicModel) -> dict[str, str]:
    """Return the document in LaTeX: ``<name>.tex``, pictures included.

    Args:
        module: functions to write down.
        model: that they come from.
    """
    return write_latex(module.name, content(module, model))


#: Writers by name of the document's language; other packages add theirs (:mod:`humanoid_model.extensions`).
DOCUMENTS: dict[str, Callable[[Module, DynamicModel], dict[str, str]]] = {"markdown": markdown, "latex": latex}
