# SPDX-License-Identifier: Apache-2.0
"""Random configurations that look like those of a robot at work (specification 001 section 7.6.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import vonmises_fisher

from humanoid_model.checks import check_array, check_number
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot


class GuideSampler:
    """Position, orientation and posture drawn independently of each other (6.13).

    Positions are uniform in a box, or of a Gaussian where ``spread`` is given. Orientations are of the law of von Mises
    and Fisher on unit quaternions (6.14), postures uniform in the simplex that key postures span (6.16, 6.17).
    """

    def __init__(
        self,
        robot: Robot,
        postures: Sequence[ArrayLike],
        position: tuple[ArrayLike, ArrayLike],
        *,
        gaussian: bool = False,
        upright: ArrayLike = (0.0, 0.0, 0.0, 1.0),
        concentration: float = 100.0,
    ) -> None:
        """Take the laws.

        Args:
            robot: with a floating base.
            postures: (nq,) key postures; their joints count.
            position: (3,) corners of the box of the base's position [m]; of a Gaussian mean and standard deviations.
            gaussian: read ``position`` as that of a Gaussian.
            upright: (4,) orientation q0 about which orientations are drawn, x, y, z, w.
            concentration: kappa; 0 is uniform.

        Raises:
            InputError: no floating base or no posture, or numbers that can't be used.
        """
        if robot.base_joint is None:
            raise InputError(f"robot '{robot.name}' has no floating base", element="guide", remedy="Give one that has")
        if not len(postures):
            raise InputError("are missing", element="key postures of the guide", remedy="Give at least one")
        self._keys = np.array([np.asarray(q, dtype=float) for q in postures])
        if self._keys.shape[1:] != (robot.model.nq,) or not np.isfinite(self._keys).all():
            raise InputError(
                f"have shape {self._keys.shape[1:]}",
                element="key postures",
                remedy=f"Give {robot.model.nq} numbers each",
            )
        self._low, self._high = (check_array(one, "position of the guide's samples") for one in position)
        if not gaussian and not (self._low <= self._high).all():
            raise InputError(
                f"{self._low} is above {self._high}", element="box of positions", remedy="Swap the corners"
            )
        self._gaussian = gaussian
        self._concentration = check_number(concentration, "concentration of orientations")
        self._upright = np.asarray(upright, dtype=float) / np.linalg.norm(upright)

    def draw(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """(nq,) a configuration."""
        shares = rng.dirichlet(np.ones(len(self._keys)))
        q = np.asarray(shares @ self._keys)
        q[:3] = rng.normal(self._low, self._high) if self._gaussian else rng.uniform(self._low, self._high)
        q[3:7] = self.orientation(rng)
        return q

    def orientation(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """(4,) unit quaternion x, y, z, w, that of the two of its rotation with the larger w."""
        if self._concentration == 0.0:
            found = rng.normal(size=4)
            found /= np.linalg.norm(found)
        else:
            found = vonmises_fisher(self._upright, self._concentration).rvs(1, random_state=rng)[0]
        return np.asarray(found if found[3] >= 0 else -found)
