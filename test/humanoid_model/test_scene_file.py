# SPDX-License-Identifier: Apache-2.0
"""Finding scenes by name and by path."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixtures.scene_files import TETRAHEDRON_WRL

from humanoid_model import load_scene
from humanoid_model.errors import SceneError

BALL_YAML = "name: {}\nbodies: {{ball: {{mass: 1, shapes: [{{sphere: 1}}]}}}}\n"
BALL_XML = '<Universe id="{}"><Body id="ball"><Mass>1</Mass><Sphere radius="1"/></Body></Universe>'


@pytest.fixture
def scenes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of scenes before the stack's own; its parent's sibling ``later`` comes after it."""
    for place in ("first", "later"):
        (tmp_path / place / "config" / "scenes").mkdir(parents=True)
    monkeypatch.setenv("HUMANOID_STACK_PATH", f"{tmp_path / 'first'}:{tmp_path / 'later'}")
    return tmp_path / "first" / "config" / "scenes"


def test_yaml_and_xml_by_name(scenes: Path) -> None:
    (scenes / "a.yaml").write_text(BALL_YAML.format("in yaml"), encoding="utf-8")
    (scenes / "b.xml").write_text(BALL_XML.format("in xml"), encoding="utf-8")
    assert load_scene("a").name == "in yaml"
    assert load_scene("b").name == "in xml"


def test_yaml_before_xml_but_the_first_folder_before_all(scenes: Path, tmp_path: Path) -> None:
    later = tmp_path / "later" / "config" / "scenes"
    (later / "a.yaml").write_text(BALL_YAML.format("yaml, later"), encoding="utf-8")
    (scenes / "a.xml").write_text(BALL_XML.format("xml, first"), encoding="utf-8")
    assert load_scene("a").name == "xml, first"
    (scenes / "a.yaml").write_text(BALL_YAML.format("yaml, first"), encoding="utf-8")
    assert load_scene("a").name == "yaml, first"


def test_paths_of_either_kind(tmp_path: Path) -> None:
    for name, text in (("a.yaml", BALL_YAML), ("b.yml", BALL_YAML), ("c.xml", BALL_XML), ("d.XML", BALL_XML)):
        (tmp_path / name).write_text(text.format("ball"), encoding="utf-8")
        assert load_scene(tmp_path / name).name == "ball"
        assert load_scene(str(tmp_path / name)).source == str(tmp_path / name)


def test_unknown_name_lists_each_scene_once() -> None:
    with pytest.raises(SceneError, match="unknown scene 'stnad'") as caught:
        load_scene("stnad")
    assert caught.value.remedy is not None
    listed = caught.value.remedy.split("one of ")[1].split(", ")
    assert listed == sorted(set(listed))
    assert {"stand", "stairs", "boxes", "table", "box_on_slope", "bip_stand", "avatar"} <= set(listed)


@pytest.mark.parametrize("kind", ["yaml", "xml"])
def test_examples_of_the_documentation(tmp_path: Path, kind: str) -> None:
    document = Path(__file__).parents[2] / "docs" / "scenes.md"
    (_, example) = document.read_text(encoding="utf-8").split(f"```{kind}\n")
    (tmp_path / f"example.{kind}").write_text(example.split("```")[0], encoding="utf-8")
    (tmp_path / "crate.wrl").write_text(TETRAHEDRON_WRL, encoding="utf-8")
    (tmp_path / "crate.stl").write_text(
        "solid t\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
        "endsolid t\n",
        encoding="utf-8",
    )
    scene = load_scene(tmp_path / f"example.{kind}")
    assert scene.name == "example"
    assert [body.name for body in scene.bodies] == ["floor", "crate"]
    assert [surface.name for surface in scene.surfaces] == ["floor", "crate_top", "handle"]
    assert scene.surfaces[2].radius == 0.02
    assert scene.camera is not None


@pytest.mark.parametrize("path", ["scene.urdf", Path("scene"), "folder/scene"])
def test_files_of_another_kind(path: str | Path) -> None:
    with pytest.raises(SceneError, match=r"is no scene file\. Give a file that ends in \.yaml, \.yml, \.xml"):
        load_scene(path)
