# SPDX-License-Identifier: Apache-2.0
"""Potentials that guide a search: of points, and of stances with their postures."""
