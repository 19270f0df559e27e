# SPDX-License-Identifier: Apache-2.0
"""Scenes given as text instead of a file."""

from __future__ import annotations

import tempfile
from pathlib import Path

from humanoid_model import Scene, load_scene
from humanoid_model.errors import InputError, SceneError
from humanoid_ros.node.requested_files import requested_reading


def read_scene_text(text: str) -> Scene:
    """Read a scene from the text of an XML or YAML scene file.

    Files that it names have to be such that requests may name.

    Args:
        text: the file's content; XML if it begins with ``<``.

    Raises:
        SceneError: as :func:`humanoid_model.load_scene`, with ``text`` in place of the file's name.
    """
    suffix = ".xml" if text.lstrip().startswith("<") else ".yaml"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"text{suffix}"
        path.write_text(text, encoding="utf-8")
        try:
            with requested_reading(text, Path(folder)):
                return load_scene(path)
        except InputError as error:
            source = (error.source or "").replace(str(path), "text")
            raise SceneError(
                error.problem,
                source=source,
                line=error.line,
                element=error.element,
                remedy=error.remedy,
            ) from error
