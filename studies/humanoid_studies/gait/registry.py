# SPDX-License-Identifier: Apache-2.0
"""The experiments of the gait thesis (specification 003 Part 4) by name, loaded when they are asked for."""

from __future__ import annotations

from humanoid_studies.experiments.catalogue import experiments_of

EXPERIMENTS = experiments_of(
    "humanoid_studies.gait",
    ("F1", "small_transfer", "Five-bar mechanism, small transfer of a load"),
    ("F2", "large_transfer", "Five-bar mechanism, large transfer of a load"),
    ("R1", "rabbit_double_support", "RABBIT, double support"),
    ("R2", "rabbit_single_support", "RABBIT, single support and the whole step"),
    ("B1", "start_step", "BIP, from rest into the walk"),
    ("B2", "cyclic_double_support", "BIP, cyclic double support"),
    ("B3", "cyclic_single_support", "BIP, cyclic single support"),
    ("B4", "braking_double_support", "BIP, braking double support"),
    ("B5", "stop_step", "BIP, from the walk to rest"),
    ("B6", "whole_walk", "BIP, the five phases from rest to rest"),
)
"""All experiments, in the order of specification 003 Part 4."""
