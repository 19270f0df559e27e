# SPDX-License-Identifier: Apache-2.0
"""Parameters of the simulator node, those of a simulation's options among them, and what they say."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from rclpy.node import Node

from humanoid_model import Scene
from humanoid_model.errors import InputError, RobotWarning
from humanoid_model.fields import descriptions
from humanoid_ros.node.parameter_declaration import (
    declare_field,
    declare_flag,
    declare_number,
    declare_text,
    declare_texts,
    number,
    texts,
    values,
)
from humanoid_ros.simulator.joint_trajectory_server import ControllerSettings
from humanoid_ros.simulator.simulation_session import SessionSettings
from humanoid_sim import Simulation
from humanoid_sim.actuation import ActuatorLag, ActuatorSettings
from humanoid_sim.contact.solve import solver_names
from humanoid_sim.sensing import NoisySensors
from humanoid_sim.sensing.sensor_settings import SensorSettings
from humanoid_sim.stepping.options import SimulationOptions, read_solver_file, scheme_names
from humanoid_sim.world.scene_check import shapeless_robots

FROM_THEN_ON = "Counts for scenes loaded from then on"
FIELDS = descriptions(SimulationOptions)
PARAMETERS = {**{name: name for name in FIELDS}, "method": "contact_solver"}
"""Parameters by the options that they are; they count for scenes that are loaded from then on."""
MORE = {"method": solver_names, "integrator": scheme_names}
"""Names that there are of what packages may add to."""


def declare_options(node: Node) -> None:
    """Declare the parameters with the simulation's own defaults."""
    for option, one in FIELDS.items():
        known = f": {', '.join(MORE[option]())}" if option in MORE else ""
        declare_field(node, PARAMETERS[option], one, f"{known}. {FROM_THEN_ON}")
    solver_file = "Start-up file with two keywords that name the contact solver; empty: contact_solver"
    declare_text(node, "solver_file", "", f"{solver_file}. {FROM_THEN_ON}")


def options_of(node: Node, changes: Mapping[str, Any] | None = None) -> SimulationOptions:
    """Return what the parameters say.

    Args:
        node: that has declared them.
        changes: values that parameters are about to take, by name.

    Raises:
        InputError: an option that can't be used, with what there is.
    """

    def value(name: str) -> Any:
        return changes[name] if changes and name in changes else node.get_parameter(name).value

    given = {option: one.read(value(PARAMETERS[option])) for option, one in FIELDS.items()}
    if value("solver_file"):
        given["method"] = read_solver_file(str(value("solver_file")))
    try:
        return SimulationOptions(**given)
    except InputError as error:
        if error.element != "method":
            raise
        raise InputError(error.problem, element=PARAMETERS["method"], remedy=error.remedy) from error


CONTROLLERS = {
    "partial": "allow_partial_joints_goal",
    "moving_end": "allow_nonzero_velocity_at_trajectory_end",
    "path": "constraints.trajectory",
    "goal": "constraints.goal",
    "stopped_velocity": "constraints.stopped_velocity_tolerance",
    "goal_time": "constraints.goal_time",
}
"""Parameters by the controllers' settings that they are; ros2_control has the same names."""
FIXED = ("control_rate", "interpolate_from_desired_state")
"""Settings that are read once."""


def declare_parameters(node: Node) -> None:
    """Declare all parameters of the simulator node."""
    declare_text(node, "scene", "stand", "Scene to simulate: a name or a path", read_only=True)
    declare_text(
        node,
        "robot",
        "",
        "Robot in the place of the scene's only one: a name, or the path of a URDF; empty: the scene's own",
        read_only=True,
    )
    declare_number(
        node,
        "time_step",
        0.0,
        0.0,
        0.1,
        "Simulated time of one step [s]; 0: as the scene says",
        read_only=True,
    )
    declare_flag(node, "paused", False, "Begin paused", read_only=True)
    declare_text(node, "world_frame", "world", "Name of the world frame", read_only=True)
    for name, one in descriptions(SessionSettings).items():
        declare_field(node, name, one, read_only=name in FIXED)
    for name, one in (descriptions(SensorSettings) | descriptions(ActuatorSettings)).items():
        declare_field(node, name, one, f". {FROM_THEN_ON}")
    for setting, one in descriptions(ControllerSettings).items():
        declare_field(node, CONTROLLERS[setting], one)
    declare_options(node)
    declare_texts(
        node,
        "devices",
        "Devices that are coupled when a scene is loaded; each holds what it is at while its button 0 is down",
        read_only=True,
    )
    declare_texts(node, "traces", "Bodies and links (hrp2/RARM_LINK6) whose ways are drawn")
    declare_number(node, "sole_magnification", 1.0, 0.0, 1e4, "Displacements of soles are drawn so much larger")
    declare_number(node, "sole_scale", 1e-4, 1e-9, 1.0, "Displacement of a sole that is drawn red [m]")
    declare_number(node, "cone_scale", 0.0016, 1e-6, 1.0, "Height of a friction cone per force [m/N]")
    declare_number(node, "arrow_scale", 0.0018, 1e-6, 1.0, "Length of a force arrow [m/N]")


def session_settings(node: Node) -> SessionSettings:
    """Return what the parameters say to a session."""
    controllers = {setting: node.get_parameter(name).value for setting, name in CONTROLLERS.items()}
    return SessionSettings(
        **values(node, SessionSettings),
        controllers=ControllerSettings(**controllers),
        devices=tuple(texts(node, "devices")),
        traces=tuple(texts(node, "traces")),
    )


def sensor_settings(node: Node, changes: Mapping[str, Any]) -> SensorSettings:
    """Return what the parameters say of sensors, with changes by name that are about to be made.

    Raises:
        InputError: a value that can't be used.
    """
    given = values(node, SensorSettings)
    return SensorSettings(**{name: changes.get(name, value) for name, value in given.items()})


def new_simulation(node: Node, scene: Scene) -> Simulation:
    """Return a scene's simulation with the options that the parameters say; what is doubtful in it is logged.

    Raises:
        HumanoidError: the scene can't be simulated.
    """
    time_step = number(node, "time_step") or scene.time_step
    options = options_of(node)
    sensors, actuators = sensor_settings(node, {}), ActuatorSettings(**values(node, ActuatorSettings))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)  # the log has them
        simulation = Simulation(
            scene if sensors.ideal else sensors.disturbed(scene, time_step),
            time_step,
            **{field.name: getattr(options, field.name) for field in fields(options)},
        )
    if not sensors.ideal:
        simulation.add_module(NoisySensors(sensors.sensor_seed))
    if not actuators.ideal:
        simulation.add_module(ActuatorLag(actuators))
    simulation.warm_up()
    for doubt in shapeless_robots(scene):
        node.get_logger().warning(f"{doubt}.")
    return simulation
