# SPDX-License-Identifier: Apache-2.0
"""Texts and plots beside the picture."""
