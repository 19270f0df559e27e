# SPDX-License-Identifier: Apache-2.0
"""The thesis' mechanisms from parameter files: five-bar, RABBIT, BIP."""

from humanoid_studies.planar_gait.models.bip import load_bip
from humanoid_studies.planar_gait.models.five_bar import load_five_bar
from humanoid_studies.planar_gait.models.planar_projection import planar_mechanism
from humanoid_studies.planar_gait.models.rabbit import load_rabbit

__all__ = ["load_bip", "load_five_bar", "load_rabbit", "planar_mechanism"]
