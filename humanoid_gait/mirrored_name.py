# SPDX-License-Identifier: Apache-2.0
"""Names and places of the other side."""

from __future__ import annotations

import re

import numpy as np
import pinocchio as pin

_SIDES = (("left", "right"), ("l", "r"), ("front", "rear"))
_LIMB = re.compile(r"([LR])(ARM|LEG|HAND.*)")
"""Names as HRP-2's, whose side is the first letter."""


def mirrored_name(name: str) -> str:
    """Return a name with the sides changed; itself where none is in it."""
    parts = name.split("_")
    for index, part in enumerate(parts):
        limb = _LIMB.fullmatch(part)
        word, rest = (limb.group(1), limb.group(2)) if limb else (part, "")
        for one, other in _SIDES:
            if word.lower() in (one, other):
                new = other if word.lower() == one else one
                parts[index] = (new.upper() if word.isupper() else new) + rest
                return "_".join(parts)
    return name


def flipped(place: pin.SE3) -> pin.SE3:
    """Return the image of a frame in the plane y = 0, its y axis turned round so that it stays right-handed."""
    flip = np.diag([1.0, -1.0, 1.0])
    return pin.SE3(flip @ place.rotation @ flip, flip @ place.translation)
