# SPDX-License-Identifier: Apache-2.0
"""Buttons, texts and plots beside the picture, and what a person asks for with them."""
