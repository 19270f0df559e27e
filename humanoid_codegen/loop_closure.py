# SPDX-License-Identifier: Apache-2.0
"""Cuts of kinematic loops from a file of their own, beside any URDF."""

from __future__ import annotations

from pathlib import Path

from humanoid_model import InputError
from humanoid_model.loop_closure import LoopClosure, read_loop_closures
from humanoid_model.yaml_node import read_yaml


def read_loops(path: str | Path) -> tuple[LoopClosure, ...]:
    """Read cuts from a YAML file, under ``loops``; see :func:`~humanoid_model.loop_closure.read_loop_closures`.

    Raises:
        InputError: the file can't be read or used; the message names file, line, element and remedy.
    """
    loops: list[LoopClosure] = []
    for node in read_yaml(path, InputError).mapping(("loops",)).values():
        loops += read_loop_closures(node)
    return tuple(loops)
