# SPDX-License-Identifier: Apache-2.0
"""Mechanisms on the embedded view: dragged by their parts, driven by sliders, edited and measured while they move."""
