# SPDX-License-Identifier: Apache-2.0
"""Sagittal gaits lifted to the whole robot: lateral sway, inverse kinematics, dynamic filter, ground forces."""
