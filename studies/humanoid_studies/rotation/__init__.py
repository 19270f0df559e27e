# SPDX-License-Identifier: Apache-2.0
"""Parametrisations of ball joints (specification 000 §14.2, E8): three angles, rotation vector, quaternion."""
