# SPDX-License-Identifier: Apache-2.0
"""Postures, smooth distances, equilibrium: what a robot that moves by pushing on its surroundings can do."""
