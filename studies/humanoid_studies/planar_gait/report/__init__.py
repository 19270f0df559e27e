# SPDX-License-Identifier: Apache-2.0
"""Reports of solved phases: figures, tables and files (specification 003 sections 2.27, 2.28 and 2.32.3)."""

from humanoid_studies.planar_gait.report.gait_animation import gait_strip, write_animation
from humanoid_studies.planar_gait.report.gait_figure import write_gait_figure
from humanoid_studies.planar_gait.report.gait_report import gait_report
from humanoid_studies.planar_gait.report.phase_figure import write_figure
from humanoid_studies.planar_gait.report.phase_report import phase_report

__all__ = [
    "gait_report",
    "gait_strip",
    "phase_report",
    "write_animation",
    "write_figure",
    "write_gait_figure",
]
