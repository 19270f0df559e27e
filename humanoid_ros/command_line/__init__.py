# SPDX-License-Identifier: Apache-2.0
"""What `ros2` says and asks on a command line, where there are only the wheels: `scripts/ros`."""
