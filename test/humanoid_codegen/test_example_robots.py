# SPDX-License-Identifier: Apache-2.0
"""Every function of every robot of example-robot-data, where that is installed, held against Pinocchio."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import os
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.generated_functions import compute
from fixtures.pinocchio_dynamics import State, expand, random_state, reference

from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_model import RobotError, load_robot

ROOT = Path(__file__).parents[2]
PLACE = Path("share/example-robot-data/robots")

ILLEGAL = {
    "alex_psyonic_hands": "<mimic>: of <joint name='Left_index_q2'> names the unknown joint 'index_q1'",
    "romeo_laas_small": "<inertia>: of <link name='body'>: inertia is not positive",
    "tiago": "<inertia>: of <link name='base_antenna_left_link'>: inertia is not positive",
    "tiago_dual": "<inertia>: of <link name='base_antenna_left_link'>: inertia is not positive",
    "tiago_no_hand": "<inertia>: of <link name='base_antenna_left_link'>: inertia is not positive",
    "ur3": "<robot>: attribute 'name' is missing or empty",
}
"""Files that are no legal robot, and why."""

QUICK = ("TwoDofs", "borinot_flying_arm_2", "double_pendulum", "ur5_robot", "iris_simple")
"""Robots that take a fraction of a second."""


def example_robots() -> list[Path]:
    """The URDFs, from a Python package here or in the peers' environment, or from ROS; empty where there are none."""
    places = [Path(prefix) / PLACE for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(":") if prefix]
    places += sorted(ROOT.glob(f".venv-peers/lib/python3.*/site-packages/cmeel.prefix/{PLACE}"))
    try:
        package = importlib.metadata.distribution("example-robot-data")
        places.insert(0, Path(str(package.locate_file(f"cmeel.prefix/{PLACE}"))))
    except importlib.metadata.PackageNotFoundError:
        pass
    return next((found for place in places if (found := sorted(place.rglob("*.urdf")))), [])


ROBOTS = example_robots()
LEGAL = [
    pytest.param(path, id=path.stem, marks=() if path.stem in QUICK else pytest.mark.slow)
    for path in ROBOTS
    if path.stem not in ILLEGAL
]
pytestmark = pytest.mark.filterwarnings("ignore::humanoid_model.RobotWarning")


@pytest.mark.skipif(not ROBOTS, reason="example-robot-data is not installed")
@pytest.mark.parametrize("path", LEGAL)
def test_every_function_agrees_with_pinocchio(path: Path) -> None:
    robot = load_robot(path, geometry=False)
    model = DynamicModel(robot)
    state = random_state(model.mechanism, robot.model, np.random.default_rng(0))
    expected = reference(robot, model.mechanism, state)
    values = dataclasses.asdict(state)
    # Joints that move no mass have no accelerations at all: the oracle leaves these out.
    computed = {name: compute(model, name, **values) for name in {*(function for function, _ in expected), "regressor"}}
    for energy, by_link in link_energies(model, state).items():
        assert_close(computed["energies"][energy], by_link, energy)
    regressor = computed["regressor"]
    assert_close(regressor["Y"] @ regressor["parameters"], expected["inverse_dynamics", "tau"], "regressor")
    for (function, result), wanted in expected.items():
        assert_close(computed[function][result], wanted, f"{function}: {result}")


def link_energies(model: DynamicModel, state: State) -> dict[str, np.ndarray]:
    """Kinetic and potential energy of each link, from its own mass and motion [J]."""
    robot = model.robot
    q, G = expand(model.mechanism, robot.model, state.q)
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q, G @ state.v)
    kinetic, potential = [], []
    for name, link in robot.description.links.items():
        where = robot.parts.links[name]
        if link.inertial is None or where.joint_id == 0:  # what stands in the world has no energy
            kinetic.append(0.0)
            potential.append(0.0)
            continue
        com = where.placement_joint_link * link.inertial.placement_link_com
        v = com.actInv(data.v[where.joint_id])
        kinetic.append(0.5 * (link.inertial.mass * v.linear @ v.linear + v.angular @ link.inertial.inertia @ v.angular))
        potential.append(9.81 * link.inertial.mass * (data.oMi[where.joint_id] * com).translation[2])
    return {"kinetic": np.array(kinetic), "potential": np.array(potential)}


def assert_close(actual: np.ndarray, expected: np.ndarray, what: str) -> None:
    """The largest difference is below 1e-10 of the largest value."""
    size = np.abs(expected).max(initial=0.0)
    error = np.abs(actual - expected).max(initial=0.0)
    assert error <= 1e-10 * max(size, 1e-6), f"{what} differs by {error:.3g}, its size is {size:.3g}"


@pytest.mark.skipif(not ROBOTS, reason="example-robot-data is not installed")
@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in ROBOTS if path.stem in ILLEGAL])
def test_files_that_are_no_robot_say_why(path: Path) -> None:
    with pytest.raises(RobotError) as caught:
        load_robot(path, geometry=False)
    assert ILLEGAL[path.stem] in str(caught.value)
    assert str(path) in str(caught.value)
