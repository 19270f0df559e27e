# SPDX-License-Identifier: Apache-2.0
"""Optimal gaits of mechanisms with loops, by Pontryagin's principle (specification 003)."""
