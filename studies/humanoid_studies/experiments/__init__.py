# SPDX-License-Identifier: Apache-2.0
"""Experiments beside numbers printed elsewhere (specifications 000 §27, 003 Part 4): results, and finding by name."""

from humanoid_studies.experiments.catalogue import Experiment, experiments_of, find_experiment
from humanoid_studies.experiments.compared_numbers import ComparedNumbers

__all__ = ["ComparedNumbers", "Experiment", "experiments_of", "find_experiment"]
