# SPDX-License-Identifier: Apache-2.0
"""Handles in the picture: to pull a link, and to edit a posture."""
