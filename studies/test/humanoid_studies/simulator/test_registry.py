# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import inspect
from importlib import import_module

from humanoid_studies.simulator.registry import EXPERIMENTS


def test_each_experiment_runs_without_being_told_anything() -> None:
    assert len({e.id for e in EXPERIMENTS}) == len({e.name for e in EXPERIMENTS}) == len(EXPERIMENTS)
    for experiment in EXPERIMENTS:
        module = import_module(f"humanoid_studies.simulator.{experiment.name}")
        assert f"xperiment {experiment.id}" in module.__doc__
        parameters = inspect.signature(experiment.run).parameters
        assert parameters["progress"].default is False
        assert all(p.default is not inspect.Parameter.empty for p in parameters.values())
