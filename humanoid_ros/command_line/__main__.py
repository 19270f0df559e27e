# SPDX-License-Identifier: Apache-2.0
"""``python -m humanoid_ros.command_line topic echo /joint_states``."""

import signal
import sys

from humanoid_ros.command_line.command import main

# `scripts/ros topic echo /imu | head` ends with its reader.
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
sys.exit(main(sys.argv[1:]))
