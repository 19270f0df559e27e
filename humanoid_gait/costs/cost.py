# SPDX-License-Identifier: Apache-2.0
"""What every cost has: a smooth rate at an instant, summed up over the motion."""

from __future__ import annotations

from typing import Protocol

import casadi as ca

from humanoid_gait.costs.instant import Instant


class Cost(Protocol):
    """A cost; one's own is a class with this one method."""

    def rate(self, instant: Instant) -> ca.SX:
        """Return the cost per second at an instant, twice differentiable."""
        ...
