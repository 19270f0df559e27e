# SPDX-License-Identifier: Apache-2.0
"""Examples of records of arrays, to read their compiled types off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast, get_args, get_type_hints

import numpy as np

_Record = TypeVar("_Record", bound=tuple[Any, ...])


def smallest(record: type[_Record], **dimensions: int) -> _Record:
    """Return a record of arrays of one element each.

    Args:
        record: named tuple whose fields are whole numbers, or arrays of the type that their annotation says.
        dimensions: of the fields that are not vectors, by name.
    """
    fields: dict[str, Any] = {}
    for name, kind in get_type_hints(record).items():
        if kind is int:
            fields[name] = 1
        else:
            element = get_args(get_args(kind)[1])[0]
            fields[name] = np.zeros((1,) * dimensions.pop(name, 1), dtype=element)
    assert not dimensions, f"{record.__name__} has no {', '.join(dimensions)}"
    return cast(Callable[..., _Record], record)(**fields)
