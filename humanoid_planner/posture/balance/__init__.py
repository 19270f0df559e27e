# SPDX-License-Identifier: Apache-2.0
"""Whether a stance holds a robot, by how much, and with which forces and joint efforts."""
