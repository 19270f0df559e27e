# SPDX-License-Identifier: Apache-2.0
"""Search trees in files: saved whole or not at all, and read again with a clear word about what is wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, TypeVar

from humanoid_model.errors import InputError
from humanoid_model.input_file import read_text
from humanoid_planner.contacts.search.best_first import BestFirstSearch, SearchSpace

_FORMAT = "humanoid_stack search tree 2"

S = TypeVar("S")


def save_tree(search: BestFirstSearch[S], path: str | Path, problem: str) -> None:
    """Write a search tree, so that the search can go on later; an older file stays until the new one is complete.

    Args:
        search: to save.
        path: of the file, JSON.
        problem: name of what is searched; :func:`load_tree` asks for the same.
    """
    write_whole(path, {"format": _FORMAT, "problem": problem, **search.to_data()})


def write_whole(path: str | Path, data: dict[str, Any]) -> None:
    """Write JSON such that an older file stays until the new one is complete."""
    path = Path(path)
    beside = path.with_name(path.name + ".part")
    beside.write_text(json.dumps(data, allow_nan=False))
    os.replace(beside, path)


def load_tree(space: SearchSpace[S], path: str | Path, problem: str) -> BestFirstSearch[S]:
    """Read a search tree.

    Args:
        space: what was searched, fresh.
        path: of the file.
        problem: name of what was searched.

    Raises:
        InputError: the file is missing, cut short, no tree, or that of another problem.
    """
    element = f"tree file '{path}'"
    data = read_whole(path, element, _FORMAT, problem)
    try:
        return BestFirstSearch.from_data(space, data)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(f"has a field missing or spoilt: {error!r}", element=element) from None


def read_whole(path: str | Path, element: str, form: str, problem: str) -> dict[str, Any]:
    """Read what :func:`write_whole` wrote.

    Args:
        path: of the file.
        element: how messages call it.
        form: what its field ``format`` has to be.
        problem: what its field ``problem`` has to be.

    Raises:
        InputError: the file is missing, no plain file, cut short, of another format or of another problem.
    """
    try:
        data = json.loads(read_text(path))
    except InputError as error:
        raise InputError(error.problem, element=element, remedy=error.remedy) from None
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"is cut short or no JSON: {error}", element=element, remedy="Take an older file, or start anew"
        ) from None
    if not isinstance(data, dict) or data.get("format") != form:
        raise InputError("is of another format", element=element, remedy=f"Its field 'format' has to be '{form}'")
    if data.get("problem") != problem:
        raise InputError(
            f"belongs to the problem '{data.get('problem')}'", element=element, remedy=f"Give one of '{problem}'"
        )
    return data
