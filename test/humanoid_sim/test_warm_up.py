# SPDX-License-Identifier: Apache-2.0
"""After `warm_up()` no step compiles or loads anything: each scene in a process that has met nothing yet."""

import subprocess
import sys
from pathlib import Path

import pytest
from fixtures.scenes import box, floor, place, scene

from humanoid_sim import Simulation

_CHILD = """
import gc, sys, warnings
import numpy as np
import pinocchio as pin
from numba.core.dispatcher import Dispatcher

import humanoid_studies
from fixtures.scenes import body, box, floor, place, scene
from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, Sphere
from humanoid_sim import Module, Simulation
from humanoid_sim.actuation.trajectory_player import TrajectoryPlayer
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_sim.control.joint_commands import JointCommands
from humanoid_sim.control.joint_trajectory_controller import JointTrajectoryController
from humanoid_sim.control.trajectory_request import GivenTrajectory, JointLimits, Tolerances, check_trajectory


def kernels():
    dispatchers = [found for found in gc.get_objects() if isinstance(found, Dispatcher)]
    return {(d.py_func.__module__, d.py_func.__qualname__, s) for d in dispatchers for s in d.overloads}


def tilted(name, **options):
    simulation = Simulation(name, **options)
    q = simulation.q.copy()
    q[2] += 0.1
    q[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(0.1, 0.6, 0.0)).coeffs()
    simulation.q = q
    return simulation


def heap(seed, **options):
    random = np.random.default_rng(seed)
    bodies = [floor()]
    for i in range(12):
        a, b, c = random.uniform(0.05, 0.15, 3)
        shapes = Box(2 * np.array([a, b, c])), Sphere(a), Capsule(a, b), Cylinder(a, b), Ellipsoid(np.array([a, b, c]))
        where = place(*random.uniform(-0.15, 0.15, 2), 0.2 + 0.2 * i, *random.uniform(-3.0, 3.0, 3))
        bodies.append(body(f"body{i}", shapes[random.integers(5)], 1.0, 0.01 * np.eye(3), where))
    return Simulation(scene(*bodies), **options)


def pushed():
    simulation = Simulation("stand")
    simulation.apply_wrench("hrp2/CHEST_LINK1", [400.0, 50.0, 0.0], duration=0.3)
    return simulation


def played():
    simulation = Simulation("stand")
    home = simulation.robots["hrp2"].joint_positions[:1]
    motion = JointTrajectory(["HEAD_JOINT0"], [0.0, 0.1], [home, home + 0.01], [[0.0], [0.0]])
    simulation.add_module(TrajectoryPlayer("hrp2", motion, start_time=0.02))
    return simulation


def commanded():
    simulation = Simulation("stand")
    robot = simulation.robots["hrp2"]
    joints, limits = ("HEAD_JOINT0",), JointLimits.none(1)
    controller = JointTrajectoryController(
        "head", joints, JointCommands(robot), limits=limits, period=1e-3, interpolate_from_desired_state=True
    )

    class Drive(Module):
        def before_step(self, simulation):
            if simulation.step_count == 5:
                rows = np.zeros((2, 1)), np.zeros((2, 1)), [None, None]
                given = GivenTrajectory(joints, np.array([0.0, 0.1]), rows, start=simulation.time)
                limited = dict(limits=limits, partial=False, moving_end=False)
                request = check_trajectory(given, joints, simulation.time, **limited)
                free = Tolerances.uniform(1, 0.0, 0.0, 0.01, 0.0)
                controller.start(request, free, simulation.time, lambda outcome: None)
            if controller.moving:
                controller.update(simulation.time, robot.joint_positions, robot.joint_velocities)

    simulation.add_module(Drive())
    return simulation


simulation = eval(sys.argv[1])
start = kernels()
simulation.warm_up()
warm = kernels()
simulation.run(float(sys.argv[2]))
print(len(warm - start), sorted(f"{module}.{name}" for module, name, _ in kernels() - warm))
"""


def loaded(simulation: str, duration: float) -> tuple[int, str]:
    """How many kernels warm_up loads for a simulation, and the names of those that its steps load then."""
    command = [sys.executable, "-W", "ignore", "-c", _CHILD, simulation, str(duration)]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE, text=True, check=True
    )
    count, _, names = done.stdout.strip().partition(" ")
    return int(count), names


@pytest.mark.feature("000-F026")
@pytest.mark.parametrize(
    ("simulation", "duration"), [("pushed()", 2.0), ("heap(1)", 1.0), ("played()", 0.05), ("commanded()", 0.05)]
)
def test_no_step_of_a_warm_simulation_loads_compiled_code(simulation: str, duration: float) -> None:
    count, names = loaded(simulation, duration)
    assert count >= 5
    assert names == "[]"


@pytest.mark.feature("000-F026")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("simulation", "duration"),
    [
        ("tilted('stand')", 1.5),
        ("tilted('bip_screws_stand')", 0.8),
        ("tilted('rough_ground')", 0.5),
        ("tilted('stand', method='nsgs')", 1.0),
        ("tilted('stand', method='alart_curnier_global')", 1.0),
        ("tilted('stand', impacts='separate')", 1.0),
        ("tilted('stand', dynamics='pinocchio')", 0.5),
        ("tilted('soft_soles')", 0.3),
        ("heap(2)", 1.0),
        ("heap(3)", 1.0),
        ("heap(4, impacts='separate')", 0.5),
        ("heap(5, detection='coal')", 0.5),
        ("heap(6, method='lemke_faceted')", 0.5),
        ("Simulation('haptic_object')", 0.5),
    ],
)
def test_no_step_of_other_warm_simulations_loads_any_either(simulation: str, duration: float) -> None:
    assert loaded(simulation, duration)[1] == "[]"


@pytest.mark.feature("000-F026")
def test_warming_up_changes_nothing() -> None:
    turned = place(0.05, 0.0, 0.35, 0.4, 0.3, 0.1)
    plain, warmed = (
        Simulation(scene(floor(), box("a", (0.3, 0.3, 0.1), place(0, 0, 0.05)), box("b", (0.2, 0.1, 0.1), turned)))
        for _ in range(2)
    )
    for simulation in (plain, warmed):
        simulation.apply_wrench("b", [3.0, 0.0, 0.0], duration=0.15)
        simulation.run(0.1)
    before = warmed.contacts.force
    warmed.warm_up()
    assert warmed.step_count == plain.step_count
    assert warmed.contacts.force.tobytes() == before.tobytes()
    for _ in range(5):
        plain.run(0.1)
        warmed.run(0.1)
        assert warmed.q.tobytes() == plain.q.tobytes()
        assert warmed.v.tobytes() == plain.v.tobytes()
