# SPDX-License-Identifier: Apache-2.0
"""Robots and bodies of a scene in one model: its parts, names, joints and loops."""
