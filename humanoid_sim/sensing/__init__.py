# SPDX-License-Identifier: Apache-2.0
"""Sensors as they are: gains, offsets, noise, and what they tell of contact forces (specification 000 §20.2)."""

from humanoid_sim.sensing.force_sensor import ForceSensor, identify_force_sensor
from humanoid_sim.sensing.noisy_sensors import NoisySensors

__all__ = ["ForceSensor", "NoisySensors", "identify_force_sensor"]
