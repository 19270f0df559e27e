# SPDX-License-Identifier: Apache-2.0
"""Parameters of the simulator node, and what they say."""

from __future__ import annotations

import warnings
from dataclasses import fields

from rclpy.node import Node

from humanoid_model import Scene
from humanoid_model.errors import RobotWarning
from humanoid_ros.node.parameter_declaration import (
    declare_flag,
    declare_number,
    declare_text,
    declare_texts,
    flag,
    number,
    texts,
)
from humanoid_ros.simulator.joint_trajectory_server import ControllerSettings
from humanoid_ros.simulator.option_parameters import declare_options, options_of
from humanoid_ros.simulator.simulation_session import SessionSettings
from humanoid_sim import Simulation
from humanoid_sim.world.shapeless_robots import shapeless_robots

_RATES = {
    "clock_rate": (100.0, "/clock"),
    "joint_state_rate": (100.0, "joint_states"),
    "transform_rate": (50.0, "/tf"),
    "odometry_rate": (100.0, "odometry"),
    "imu_rate": (100.0, "imu"),
    "wrench_rate": (100.0, "wrenches/<sensor>"),
    "camera_rate": (10.0, "cameras/<sensor>/image_raw, depth and camera_info"),
    "contact_rate": (50.0, "contacts"),
    "marker_rate": (25.0, "markers"),
    "controller_state_rate": (50.0, "<limb>_controller/controller_state"),
    "action_monitor_rate": (20.0, "the feedback of trajectory goals"),
    "device_rate": (200.0, "devices/<device>/force"),
    "trace_rate": (5.0, "traces"),
}
"""Rates by parameter: default [Hz], and of what."""


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
    declare_number(
        node,
        "real_time_factor",
        1.0,
        0.0,
        100.0,
        "Simulated seconds per second to aim at; 0: as fast as possible",
    )
    declare_number(
        node,
        "lockstep",
        0.0,
        0.0,
        3600.0,
        "How long time waits for a command that was promised on lockstep [s of wall-clock time]; 0: not at all",
    )
    for name, (default, topic) in _RATES.items():
        declare_number(
            node,
            name,
            default,
            0.1,
            10000.0,
            f"Messages per simulated second of {topic} [Hz]; a whole number of steps lies between two",
        )
    declare_number(node, "status_rate", 10.0, 0.1, 100.0, "Messages per wall-clock second of status [Hz]")
    declare_number(node, "diagnostics_rate", 1.0, 0.1, 10.0, "Likewise of /diagnostics [Hz]")
    declare_number(
        node,
        "control_rate",
        1000.0,
        1.0,
        10000.0,
        "Updates of a moving controller per simulated second [Hz]",
        read_only=True,
    )
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
    declare_flag(
        node,
        "allow_partial_joints_goal",
        False,
        "Whether a trajectory may leave out joints of its controller; they are held",
    )
    declare_flag(
        node,
        "allow_nonzero_velocity_at_trajectory_end",
        False,
        "Whether the last point of a trajectory may have a velocity",
    )
    declare_flag(
        node,
        "interpolate_from_desired_state",
        True,
        "Whether a trajectory begins where the joints should be instead of where they are",
        read_only=True,
    )
    for name, default, description in (
        ("trajectory", 0.0, "Joint error allowed while moving [rad or m]; 0: any"),
        ("goal", 0.05, "Joint error allowed at the end of a goal [rad or m]; 0: any"),
        ("stopped_velocity_tolerance", 0.01, "Velocity allowed at the end [rad/s, m/s]; 0: any"),
        ("goal_time", 5.0, "How late the end may be reached [s]; 0: any time"),
    ):
        declare_number(node, f"constraints.{name}", default, 0.0, 1e6, description)


def session_settings(node: Node) -> SessionSettings:
    """Return what the parameters say to a session."""
    rates = {name: number(node, name) for name in _RATES}
    rates["feedback_rate"] = rates.pop("action_monitor_rate")
    return SessionSettings(
        **rates,
        real_time_factor=number(node, "real_time_factor"),
        lockstep=number(node, "lockstep"),
        control_rate=number(node, "control_rate"),
        status_rate=number(node, "status_rate"),
        diagnostics_rate=number(node, "diagnostics_rate"),
        interpolate_from_desired_state=flag(node, "interpolate_from_desired_state"),
        controllers=ControllerSettings(
            partial=flag(node, "allow_partial_joints_goal"),
            moving_end=flag(node, "allow_nonzero_velocity_at_trajectory_end"),
            path=number(node, "constraints.trajectory"),
            goal=number(node, "constraints.goal"),
            stopped_velocity=number(node, "constraints.stopped_velocity_tolerance"),
            goal_time=number(node, "constraints.goal_time"),
        ),
        devices=tuple(texts(node, "devices")),
        traces=tuple(texts(node, "traces")),
    )


def new_simulation(node: Node, scene: Scene) -> Simulation:
    """Return a scene's simulation with the options that the parameters say; what is doubtful in it is logged.

    Raises:
        HumanoidError: the scene can't be simulated.
    """
    time_step = number(node, "time_step")
    options = options_of(node)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)  # the log has them
        simulation = Simulation(
            scene,
            time_step if time_step > 0.0 else None,
            **{field.name: getattr(options, field.name) for field in fields(options)},
        )
    simulation.warm_up()
    for doubt in shapeless_robots(scene):
        node.get_logger().warning(f"{doubt}.")
    return simulation
