# SPDX-License-Identifier: Apache-2.0
"""The two trials that soles are chosen by: a drop and a lean (specification 000 §19 and E12).

The robot is approximated by one rigid body of its mass, inertia and height, which is what it is with stiff joints.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_model.sole import BlockSole, Material
from humanoid_sim.flexibility.deformable_sole import DeformableSole
from humanoid_sim.flexibility.sole_mesh import sole_mesh
from humanoid_studies.soles.soled_body import SoledBody

_FALLEN = 0.5
"""A body that leans further than this [rad] has fallen."""
_MAX_SETTLING_STEPS = 5000
"""A body that still moves after so many steps counts as fallen."""
_AT_REST = 1e-12
"""A body whose sway has no more kinetic energy than this is at rest [J]."""


@dataclass(frozen=True)
class SoleTrial:
    """A standing body whose two block soles are tried; HRP-2 by default.

    Attributes:
        shape: of each sole.
        mass: [kg].
        inertia: principal moments about the centre of mass [kg m^2].
        height: of the centre of mass over the feet [m].
        ahead: how far the centre of mass is before the middle of the feet, upright [m].
        stance: distance between the middles of the feet [m].
        drop_height: [m].
        lean: forward shift of the centre of mass in the second trial [m]; for HRP-2 about what its trunk, half of the
            mass, does at the thesis' 15.3 degrees.
        dt: time step [s].
    """

    shape: BlockSole = field(default_factory=lambda: BlockSole((0.22, 0.13, 0.02), (8, 5, 2)))
    mass: float = 58.0
    inertia: tuple[float, float, float] = (7.0, 6.0, 1.5)
    height: float = 0.8
    ahead: float = 0.0
    stance: float = 0.2
    drop_height: float = 0.01
    lean: float = 0.04
    dt: float = 1e-3

    def __call__(self, material: Material) -> dict[str, float]:
        """Both trials with one material.

        Returns:
            ``peak acceleration [m/s^2]``, the largest vertical one in the drop, and ``lean error [rad]``, how far the
            body leans at rest when its centre of mass is shifted; not a number when it falls.

        Raises:
            InputError: impossible constants of the material or of the trial.
        """
        return {"peak acceleration [m/s^2]": self.drop(material), "lean error [rad]": self.lean_error(material)}

    def drop(self, material: Material) -> float:
        """Largest vertical acceleration after a drop [m/s^2]."""
        body = self._body(material, self.drop_height, self.ahead)
        fall = np.sqrt(2.0 * self.drop_height / 9.8)
        peak = 0.0
        for _ in range(round((fall + 0.05) / self.dt)):
            body.step()
            peak = max(peak, abs(float(body.acceleration[2])))
        return peak

    def lean_error(self, material: Material) -> float:
        """Pitch at rest with the centre of mass shifted [rad]; not a number when the body falls."""
        body = self._body(material, 0.0, self.ahead + self.lean)
        energy = 0.0
        for _ in range(_MAX_SETTLING_STEPS):
            body.step()
            pitch = float(pin.log3(body.placement.rotation)[1])
            before, energy = energy, body.kinetic_energy
            if abs(pitch) > _FALLEN:
                break
            if energy < before:  # on the way back up: stopped here it soon finds its rest (dynamic relaxation)
                if energy < _AT_REST:
                    return pitch
                body.velocity, body.angular_velocity, energy = np.zeros(3), np.zeros(3), 0.0
        return float("nan")

    def _body(self, material: Material, above: float, ahead: float) -> SoledBody:
        mesh = sole_mesh(self.shape)
        soles = [
            DeformableSole(
                mesh, material, pin.SE3(np.eye(3), np.array([-ahead, 0.5 * side * self.stance, -self.height]))
            )
            for side in (1.0, -1.0)
        ]
        centre = np.array([ahead, 0.0, self.height + self.shape.size[2] + above])
        return SoledBody(soles, self.mass, np.diag(self.inertia), pin.SE3(np.eye(3), centre), dt=self.dt)
