# SPDX-License-Identifier: Apache-2.0
"""Writes what the public calls behind each area give today, into a file per area beside this one.

``scripts/run python test/recorded/record.py [AREA ...]``: after a change that is meant to give other results, which
then show in its diff. What isn't meant to must not: ``test_recorded_results.py`` compares.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from recorded.areas import AREAS, Quantity

FOLDER = Path(__file__).parent
DIGITS = 12
"""Written of each number: more than any tolerance asks for."""


def plain(quantity: Quantity) -> Any:
    """Return a value as JSON has it: numbers that may differ rounded, the rest as it is."""
    if quantity.tolerance:
        return json.loads(json.dumps(np.asarray(quantity.value, dtype=float).round(DIGITS).tolist()))
    return json.loads(json.dumps(quantity.value))


def differences(found: Quantity, recorded: Any) -> str:
    """Say how a result differs from what was recorded; empty where it doesn't by more than its tolerance."""
    if not found.tolerance:
        return "" if plain(found) == recorded else f"{plain(found)!r} in place of {recorded!r}"
    value, before = np.asarray(found.value, dtype=float), np.asarray(recorded, dtype=float)
    if value.shape != before.shape:
        return f"shape {value.shape} in place of {before.shape}"
    apart = np.abs(value - before)
    if np.all(apart <= found.tolerance):  # false where one is NaN
        return ""
    place = np.unravel_index(int(np.argmax(np.nan_to_num(apart, nan=np.inf))), apart.shape)
    here, there, entry = value[place], before[place], list(map(int, place))
    return f"{here:.12g} in place of {there:.12g} at {entry}, {apart[place]:.2g} apart of {found.tolerance:g}"


def main() -> None:
    """Write the areas that are named, all without names."""
    for name in sys.argv[1:] or AREAS:
        rows = [f"{json.dumps(key)}: {json.dumps(plain(value))}" for key, value in AREAS[name]().items()]
        (FOLDER / f"{name}.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")
        print(f"test/recorded/{name}.json")


if __name__ == "__main__":
    main()
