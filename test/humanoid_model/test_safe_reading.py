# SPDX-License-Identifier: Apache-2.0
"""Files of robots and scenes run no code, fetch nothing and don't grow while they are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from humanoid_model import load_robot, load_scene
from humanoid_model.errors import InputError

BOMB = "\n".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10 if k else "x"}">' for k in range(20))


@pytest.mark.parametrize("declared", ['<!ENTITY e SYSTEM "file:///etc/hostname">', BOMB])
def test_entities_are_refused(declared: str) -> None:
    text = f'<!DOCTYPE robot [\n{declared}\n]>\n<robot name="&e;"/>'
    with pytest.raises(InputError, match=r":2: declares the entity 'e0?'.*aren't expanded"):
        load_robot("<?xml version='1.0'?>" + text)


@pytest.mark.parametrize(
    "tag", ["!!python/object/apply:os.system ['touch {path}']", "!!python/name:os.system", "!!python/module:os"]
)
def test_yaml_runs_no_code(tag: str, tmp_path: Path) -> None:
    path = tmp_path / "scene.yaml"
    path.write_text(f"robots: {tag.format(path=tmp_path / 'done')}\n")
    with pytest.raises(InputError, match=r"scene\.yaml"):
        load_scene(path)
    assert not (tmp_path / "done").exists()


@pytest.mark.timeout(20)
def test_yaml_that_refers_to_itself_doesnt_grow(tmp_path: Path) -> None:
    lists = ["a0: &a0 {box: [1, 1, 1]}"] + [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 20)]
    path = tmp_path / "scene.yaml"
    path.write_text("bodies:\n  floor:\n    shapes: *a19\n" + "\n".join(lists))
    with pytest.raises(InputError):
        load_scene(path)
    path.write_text("\n".join(lists) + "\nbodies:\n  floor:\n    shapes: *a19\n")
    with pytest.raises(InputError):
        load_scene(path)
    path.write_text("bodies:\n  floor: &floor\n    shapes: [*floor]\n")
    with pytest.raises(InputError):
        load_scene(path)
