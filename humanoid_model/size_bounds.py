# SPDX-License-Identifier: Apache-2.0
"""How much a text may become: a few words can ask for more than any machine has.

The bounds hold for what is read from files and texts, and are looked at before anything is built. Who builds a
:class:`~humanoid_model.scene.Scene`, a :class:`~humanoid_model.description.HeightField` or
:func:`~humanoid_model.grains.grains` in Python has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from humanoid_model.errors import InputError

BOUNDS = {
    "bytes": 100_000_000,  # of text, with all that is included
    "bytes of arrays": 500_000_000,  # of an archive, unpacked
    "elements": 100_000,  # of XML, with what is included and replicated
    "attributes": 2_000_000,  # of XML, with what classes give
    "attributes of one element": 1_000,
    "values": 200_000,  # of YAML, an alias counts whenever it is followed
    "levels inside one another": 100,
    "included files": 1_000,
    "robots": 100,
    "bodies": 5_000,
    "moving coordinates": 12_000,  # velocities of a scene; 2000 free bodies take 0.3 GB
    "shapes": 20_000,
    "shapes of a robot": 2_000,  # Pinocchio takes time that grows with their cube
    "points of height fields": 250_000,  # 16 s until a simulation of them stands
    "vertices": 1_000,  # of a polygon
    "surfaces": 5_000,
    "loops": 500,
    "lights": 100,
    "rules of pairs": 1_000,
    "pairs that don't touch": 20_000,
    "positions of keyframes": 1_000_000,
    "cells of a sole": 2_000,  # whose surface has a full matrix
    "pixels": 20_000_000,  # of a camera or a texture
    "samples of delay": 100_000,
    "triangles": 2_000_000,  # of a mesh
    "points of a mesh": 20_000_000,
    "bytes of a mesh with its copies": 1_000_000_000,
    "words of VRML": 4_000_000,
    "numbers of faces": 4_000_000,  # of VRML, a shape that is used again counts again
    "words of MAD": 300_000,
    "characters of MAD": 10_000_000,
}
"""What a text may become at most."""


def check_size(count: float, what: str, fail: Callable[[str, str], InputError]) -> None:
    """Refuse what would become too much.

    Args:
        count: of what the text would become.
        what: key of :data:`BOUNDS`.
        fail: makes the error, which names file and place, of problem and remedy.

    Raises:
        InputError: it is more than the bound.
    """
    if count > BOUNDS[what]:
        raise fail(
            f"comes to {min(count, 1e300):.12g}, more than {BOUNDS[what]} {what}",
            "Give less, or parts in texts of their own",
        )


class Growth:
    """What a text has become so far, all its parts together."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._counts: Counter[str] = Counter()

    def add(self, count: int, what: str, fail: Callable[[str, str], InputError]) -> None:
        """Count more of something, before it is made; arguments and errors are those of :func:`check_size`."""
        self._counts[what] += count
        check_size(self._counts[what], what, fail)
