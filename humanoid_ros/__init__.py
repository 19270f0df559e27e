# SPDX-License-Identifier: Apache-2.0
"""ROS 2 nodes of the stack: thin, each with a parameter list, conversions and library calls."""
