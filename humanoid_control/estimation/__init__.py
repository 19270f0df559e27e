# SPDX-License-Identifier: Apache-2.0
"""Where a robot is and how it moves, from inertia, encoders, wrenches and what it touches."""

from humanoid_control.estimation.estimate import Estimate
from humanoid_control.estimation.estimator import Estimator
from humanoid_control.estimation.settings import EstimatorSettings

__all__ = ["Estimate", "Estimator", "EstimatorSettings"]
