# SPDX-License-Identifier: Apache-2.0
"""The kinematics node: mechanisms with loops, driven live, replayed, and completed for robots that tell only drives."""
