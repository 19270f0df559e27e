# SPDX-License-Identifier: Apache-2.0
"""Runs the Python of tutorials and writes them as notebooks with what it printed, into notebooks/.

``scripts/run python scripts/notebooks.py``; names of pages after it for some of them.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = (
    "own_robot",
    *(f"tutorial_{name}" for name in ("simulator", "contact_planner", "kinematics", "gait", "model_generator")),
)
"""What needs no running nodes."""
BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<=\]\()(?!\w+:|#|\.\./)")


def pieces(page: str) -> list[tuple[str, str]]:
    """Return the text and the Python of a page in their order, each with its kind of cell."""
    found, end = [], 0
    text = (ROOT / "docs" / f"{page}.md").read_text()
    for block in BLOCK.finditer(text):
        found += [("markdown", text[end : block.start()].strip()), ("code", block[1].rstrip("\n"))]
        end = block.end()
    found.append(("markdown", text[end:].strip()))
    return [(kind, content) for kind, content in found if content]


def printed(codes: list[str]) -> list[str]:
    """Return what each of several pieces of Python prints, one after the other in an empty folder."""
    known: dict[str, Any] = {"__name__": "__main__"}
    told, before = [], Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for code in codes:
                with contextlib.redirect_stdout(io.StringIO()) as output:
                    exec(compile(code, "<tutorial>", "exec"), known)
                told.append(output.getvalue())
        finally:
            os.chdir(before)
    return told


def notebook(page: str) -> str:
    """Return a page as a notebook, its Python run."""
    cells: list[dict[str, Any]] = []
    found = pieces(page)
    outputs = iter(printed([content for kind, content in found if kind == "code"]))
    for number, (kind, content) in enumerate(found):
        if kind == "markdown":
            # A notebook lies beside docs/.
            content = LINK.sub("../docs/", content)
        cell: dict[str, Any] = {
            "cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": content.splitlines(keepends=True)
        }  # fmt: skip
        if kind == "code":
            text = next(outputs).splitlines(keepends=True)
            cell["execution_count"] = None
            cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": text}] if text else []
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps(
        {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5},
        indent=1, ensure_ascii=False,
    ) + "\n"  # fmt: skip


def main() -> None:
    """Write them."""
    (ROOT / "notebooks").mkdir(exist_ok=True)
    for page in sys.argv[1:] or PAGES:
        (ROOT / "notebooks" / f"{page}.ipynb").write_text(notebook(page))
        print(f"notebooks/{page}.ipynb")


if __name__ == "__main__":
    main()
