# SPDX-License-Identifier: Apache-2.0
"""The thesis' mechanisms from parameter files: five-bar, RABBIT, BIP."""

from humanoid_planner.gait.models.bip import Bip, load_bip
from humanoid_planner.gait.models.five_bar import FiveBar, load_five_bar
from humanoid_planner.gait.models.planar_projection import planar_mechanism
from humanoid_planner.gait.models.rabbit import Rabbit, load_rabbit
from humanoid_planner.gait.models.sagittal_projection import SagittalProjection, project_to_sagittal_plane

__all__ = [
    "Bip",
    "FiveBar",
    "Rabbit",
    "SagittalProjection",
    "load_bip",
    "load_five_bar",
    "load_rabbit",
    "planar_mechanism",
    "project_to_sagittal_plane",
]
