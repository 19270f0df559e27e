# SPDX-License-Identifier: Apache-2.0
"""Kernels of the dynamics of trees: placements, twists, factorisation of the inertia, Delassus operator."""
