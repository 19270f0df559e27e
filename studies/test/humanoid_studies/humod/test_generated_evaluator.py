# SPDX-License-Identifier: Apache-2.0
import numpy as np

from humanoid_model import load_robot
from humanoid_studies.humod.evaluator import pinocchio_evaluator
from humanoid_studies.humod.generated_evaluator import generated_evaluator
from humanoid_studies.humod.replay import replay
from humanoid_studies.humod.synthetic import synthetic_recording


def test_the_generated_model_replays_the_run_as_pinocchio_does() -> None:
    """Specification 004 section 4.4, criterion (iii): over 2 s and more, in more than one batch."""
    robot = load_robot("syn3p33r")
    run = synthetic_recording(robot, duration=2.5)
    own, reference = replay(run, generated_evaluator(robot)), replay(run, pinocchio_evaluator(robot))
    assert len(run.time) > 1000
    np.testing.assert_allclose(own.positions, reference.positions, atol=1e-9)
    np.testing.assert_allclose(own.efforts, reference.efforts, atol=1e-9)
    np.testing.assert_allclose(own.unsupported, reference.unsupported, atol=1e-9)
    assert own.all_within("estimated")
    assert np.abs(own.errors["smoothed"]).max() < 1e-9
