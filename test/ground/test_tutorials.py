# SPDX-License-Identifier: Apache-2.0
"""Tutorials say what their Python prints, as pages and as notebooks."""

from __future__ import annotations

import base64
import json
import re
import sys
from pathlib import Path

import pytest
from fixtures.ros_domain import claim_domain

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import notebooks  # noqa: E402

QUICK = ("tutorial_kinematics", "tutorial_model_generator")


def cells(page: str, kind: str) -> list[dict]:
    read = json.loads((ROOT / "notebooks" / f"{page}.ipynb").read_text())
    return [cell for cell in read["cells"] if cell["cell_type"] == kind]


def test_every_tutorial_is_a_notebook_or_needs_nodes():
    pages = {path.stem for path in (ROOT / "docs").glob("tutorial_*.md")}
    assert pages - set(notebooks.PAGES) == {"tutorial_bridge"}
    assert {path.stem for path in (ROOT / "notebooks").iterdir()} == set(notebooks.PAGES)


@pytest.mark.parametrize("page", notebooks.PAGES)
def test_a_notebook_has_the_python_of_its_page_and_is_small(page):
    codes = [content for kind, content in notebooks.pieces(page) if kind == "code"]
    assert ["".join(cell["source"]) for cell in cells(page, "code")] == codes
    assert (ROOT / "notebooks" / f"{page}.ipynb").stat().st_size < 100_000
    for cell in cells(page, "markdown"):
        for target in re.findall(r"\]\((?!\w+:|#)([^)#]+)", "".join(cell["source"])):
            assert (ROOT / "notebooks" / target).exists(), target


@pytest.mark.parametrize(
    "page", [page if page in QUICK else pytest.param(page, marks=pytest.mark.slow) for page in notebooks.PAGES]
)
@pytest.mark.filterwarnings("ignore")
def test_it_prints_what_its_notebook_shows(page):
    """Words to the letter; numbers may differ from machine to machine."""
    found = notebooks.outputs(["".join(cell["source"]) for cell in cells(page, "code")])
    told = [text for text, _ in found]
    number = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?")
    for (text, picture), cell in zip(found, cells(page, "code"), strict=True):
        shown = "".join(line for output in cell["outputs"] for line in output.get("text", []))
        assert number.sub("#", text) == number.sub("#", shown)
        assert (picture is not None) == any("data" in output for output in cell["outputs"])
    assert any(told)


@pytest.mark.parametrize("page", notebooks.PAGES)
def test_a_notebook_shows_a_picture(page):
    """One that its Python made, the same that its page shows; the model generator's is the report's."""
    given = [output for cell in cells(page, "code") for output in cell["outputs"]]
    drawn = [output["data"]["image/png"] for output in given if "data" in output]
    text = (ROOT / "docs" / f"{page}.md").read_text()
    kept = [(ROOT / "docs" / name).read_bytes() for name in re.findall(r"images/\w+\.png", text)]
    assert [base64.b64decode(picture) for picture in drawn] == kept
    assert drawn or (page == "tutorial_model_generator" and "images/hrp2_tree.svg" in text)


@pytest.mark.slow
@pytest.mark.ros
def test_the_tutorial_of_the_bridge_runs(monkeypatch):
    monkeypatch.setenv("ROS_DOMAIN_ID", str(claim_domain()))
    from examples.through_bridge import running_stack

    with running_stack("walk", 1.0):
        codes = [content for kind, content in notebooks.pieces("tutorial_bridge") if kind == "code"]
        told = "".join(text for text, _ in notebooks.outputs(codes)).splitlines()
    assert told[1].startswith("True ")
    assert told[2] == "False stable"
