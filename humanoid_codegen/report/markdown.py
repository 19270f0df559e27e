# SPDX-License-Identifier: Apache-2.0
"""Documents in Markdown with formulas between dollar signs and pictures in SVG."""

from __future__ import annotations

import re
from collections.abc import Sequence

from humanoid_codegen.report.document import (
    Block,
    Equations,
    Figure,
    Formula,
    Heading,
    Items,
    Paragraph,
    Table,
    Text,
)
from humanoid_codegen.report.svg import svg

_LINES_TOGETHER = 40


def write_markdown(name: str, blocks: Sequence[Block]) -> dict[str, str]:
    """Return files of a document: ``name.md`` and its pictures beside it.

    Args:
        name: identifier.
        blocks: of the document.
    """
    files: dict[str, str] = {}
    parts: list[str] = []
    for block in blocks:
        if isinstance(block, Figure):
            file = f"{name}_{block.name}.svg"
            title = "".join(part for part in block.caption if not isinstance(part, Formula))
            files[file] = svg(block.drawing, title)
            parts.append(f"![{markdown_text(title)}]({file})\n\n*{_line(block.caption)}*")
        else:
            parts.append(_block(block))
    return {f"{name}.md": "\n\n".join(parts) + "\n", **files}


def markdown_text(words: str) -> str:
    """Words in which no character is taken for markup."""
    words = re.sub(r"[\x00-\x20\x7f]+", " ", words)
    words = re.sub(r"([\\`*_\[\]#|$~!])", r"\\\1", words)
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {_line(block.content)}"
    if isinstance(block, Paragraph):
        return _line(block.content)
    if isinstance(block, Items):
        return "\n".join(f"- {_line(item)}" for item in block.items)
    if isinstance(block, Equations):
        chunks = [block.lines[k : k + _LINES_TOGETHER] for k in range(0, len(block.lines), _LINES_TOGETHER)]
        return "\n\n".join(
            "$$\n\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}\n$$" for lines in chunks
        )
    assert isinstance(block, Table)
    rows = [[_line(cell) for cell in row] for row in (block.header, *block.rows)]
    rule = [{"r": "---:"}.get(column, ":---") for column in block.columns]
    return "\n".join("| " + " | ".join(row) + " |" for row in (rows[0], rule, *rows[1:]))


def _line(content: Text) -> str:
    return "".join(f"${part}$" if isinstance(part, Formula) else markdown_text(part) for part in content)
