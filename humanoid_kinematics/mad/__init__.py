# SPDX-License-Identifier: Apache-2.0
"""MAD, the manipulator description language: reader, static checks, builder and writer (specification §2)."""

from humanoid_kinematics.mad.grammar import Extension
from humanoid_kinematics.mad.load import register_statement
from humanoid_kinematics.mad.write import describe_mechanism, write_mad

__all__ = ["Extension", "describe_mechanism", "register_statement", "write_mad"]
