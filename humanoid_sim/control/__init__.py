# SPDX-License-Identifier: Apache-2.0
"""Reference motions for the joints of a robot."""

from humanoid_sim.control.trajectory import JointTrajectory, TrajectorySample

__all__ = ["JointTrajectory", "TrajectorySample"]
