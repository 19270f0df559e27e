# SPDX-License-Identifier: Apache-2.0
"""Actuators that follow commanded efforts late and with a bandwidth, as those of real robots do."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from humanoid_model.arrays import Array
from humanoid_model.fields import Described, number
from humanoid_sim.module import Module

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation
    from humanoid_sim.stepping.world_arrays import Servos


@dataclass(frozen=True)
class ActuatorSettings(Described):
    """How far actuators are from giving at once what they are commanded."""

    effort_bandwidth: float = number(
        0.0, "of the drives' efforts, those of a first-order filter; 0: any", "Hz", low=0.0, high=1e4
    )
    effort_delay: float = number(0.0, "by how much commanded efforts come late, in whole steps", "s", low=0.0, high=0.1)

    @property
    def ideal(self) -> bool:
        """Whether efforts are given at once."""
        return self.effort_bandwidth == 0.0 and self.effort_delay == 0.0


class ActuatorLag(Module):
    r"""Delays and filters the efforts that joints of all robots are commanded directly.

    A commanded effort u waits for ``effort_delay`` and passes the filter :math:`e \mathrel{+}= (1-e^{-\omega T})(u-e)`,
    :math:`\omega=2\pi` times the bandwidth; what is commanded when the module is added is given already. The servos'
    own stiffness and damping act at once, as loops within the drive do. For example::

        simulation.add_module(ActuatorLag(ActuatorSettings(effort_bandwidth=40.0, effort_delay=2e-3)))

    Attributes:
        name: ``"actuator_lag"``.
        settings: of the actuators.
    """

    name = "actuator_lag"

    def __init__(self, settings: ActuatorSettings) -> None:
        """Choose bandwidth and delay."""
        self.settings = settings
        self._servos: Servos | None = None
        self._waiting: Array = np.zeros((0, 0))
        self._given: Array = np.zeros(0)

    def attach(self, simulation: Simulation) -> None:
        """Tell what is commanded from what is given."""
        self._servos, bandwidth = simulation.servos, self.settings.effort_bandwidth
        servos = simulation.servos
        servos.wanted = servos.feedforward.copy()
        self._blend = -math.expm1(-2.0 * math.pi * bandwidth * simulation.dt) if bandwidth > 0.0 else 1.0
        late = round(self.settings.effort_delay / simulation.dt)
        self._waiting, self._given = np.tile(servos.wanted, (late, 1)), servos.wanted.copy()

    def before_step(self, simulation: Simulation) -> None:
        """Give what has come through."""
        servos = simulation.servos
        line = np.vstack([self._waiting, servos.wanted])
        self._given += self._blend * (line[0] - self._given)
        self._waiting = line[1:]
        servos.feedforward[:] = self._given

    def detach(self, simulation: Simulation) -> None:
        """Give what is commanded at once again."""
        servos = simulation.servos
        servos.feedforward[:] = servos.wanted
        servos.wanted = servos.feedforward

    def save(self) -> object:
        """Return what is wanted, waits and is given."""
        assert self._servos is not None
        return copy.deepcopy((self._servos.wanted, self._waiting, self._given))

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` returned."""
        assert isinstance(state, tuple)
        assert self._servos is not None
        wanted, self._waiting, self._given = copy.deepcopy(state)
        if self._servos.wanted is self._servos.feedforward:  # in a copy, whose servos know nothing of the lag
            self._servos.wanted = wanted
        self._servos.feedforward[:] = self._given
