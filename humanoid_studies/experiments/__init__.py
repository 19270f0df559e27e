# SPDX-License-Identifier: Apache-2.0
"""Experiments beside numbers printed elsewhere: what one gives, their catalogue, the command that does them."""

from humanoid_studies.experiments.catalogue import Experiment, ExperimentCatalogue
from humanoid_studies.experiments.command import add_experiment_command
from humanoid_studies.experiments.compared_numbers import ComparedNumbers, ComparedRow

__all__ = ["ComparedNumbers", "ComparedRow", "Experiment", "ExperimentCatalogue", "add_experiment_command"]
