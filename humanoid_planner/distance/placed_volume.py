# SPDX-License-Identifier: Apache-2.0
"""A volume that a body carries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from humanoid_model.value_equality import ValueEquality
from humanoid_planner.distance.half_space import HalfSpace
from humanoid_planner.distance.rounded_hull import RoundedHull
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume


@dataclass(frozen=True, eq=False)
class PlacedVolume(ValueEquality):
    """A volume expressed in the frame of the body that carries it.

    Attributes:
        name: unique, for messages: ``RARM_LINK4``, or ``table/top`` for one of several of an owner.
        body: index of the moving body; 0 is the world.
        volume: in the body's frame [m].
        owner: link or scene body that it covers; empty for a volume that stands for itself.
    """

    name: str
    body: int
    volume: SphereTorusVolume | HalfSpace | RoundedHull
    owner: str = ""


def part_names(owner: str, parts: Sequence[str]) -> list[str]:
    """Return names of the volumes of an owner: its own for a single one, else ``owner/part`` or ``owner/number``.

    Args:
        owner: link or scene body.
        parts: names of the parts, empty where they have none.
    """
    if len(parts) == 1:
        return [owner]
    return [f"{owner}/{part if part and parts.count(part) == 1 else index}" for index, part in enumerate(parts)]
