# SPDX-License-Identifier: Apache-2.0
"""MAD, the manipulator description language: reader, static checks, builder and writer (specification §2)."""
