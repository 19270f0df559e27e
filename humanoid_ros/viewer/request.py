# SPDX-License-Identifier: Apache-2.0
"""What a person asks for on the page. The node turns each into a service call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Pause:
    """Stop simulated time, or let it run."""

    paused: bool


@dataclass(frozen=True)
class Step:
    """Advance a paused simulation by some steps."""

    steps: int


@dataclass(frozen=True)
class Reset:
    """Start the scene anew."""


@dataclass(frozen=True)
class LoadScene:
    """Replace the scene by another, given by name or path."""

    scene: str


@dataclass(frozen=True)
class Push:
    """Apply a force to a body's centre of mass.

    Attributes:
        body: Link or free body, as the simulator names it.
        force: (x, y, z) in the world frame [N].
        duration: Simulated time [s].
    """

    body: str
    force: tuple[float, float, float]
    duration: float


@dataclass(frozen=True)
class PickLink:
    """Put the pulling handle on a link; an empty name takes it away."""

    link: str


@dataclass(frozen=True)
class Show:
    """Show or hide a part of the drawing: robot, forces, cones, balance or floor."""

    part: str
    visible: bool


Request: TypeAlias = Pause | Step | Reset | LoadScene | Push | PickLink | Show
