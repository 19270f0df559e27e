# SPDX-License-Identifier: Apache-2.0
"""Parametrisations of ball joints: three angles, rotation vector, quaternion, and what each is worth (E8)."""
