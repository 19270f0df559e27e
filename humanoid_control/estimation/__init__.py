# SPDX-License-Identifier: Apache-2.0
"""State of a robot from its sensors: base pose and velocity, biases, contacts."""
