# SPDX-License-Identifier: Apache-2.0
"""The simulator node: scenes simulated in real time, commanded and observed through ROS 2."""
