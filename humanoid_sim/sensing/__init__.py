# SPDX-License-Identifier: Apache-2.0
"""Real sensors: gains, offsets, noise, and contact forces identified from them (specification 000 §20.2)."""

from humanoid_sim.sensing.noisy_sensors import NoisySensors
from humanoid_sim.sensing.sensor_settings import with_usual_noise

__all__ = ["NoisySensors", "with_usual_noise"]
