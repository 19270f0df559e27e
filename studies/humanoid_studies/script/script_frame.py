# SPDX-License-Identifier: Apache-2.0
"""What every script says before and after the equations of its robot."""

from __future__ import annotations

HEADER = '''\
"""Inverse dynamic model of the robot {robot}.

Equations of Newton and Euler,{source}.

Part Forward carries positions, velocities and accelerations from the root
link to the tips, part Backward carries forces and torques back. All vectors
are along the axes of the world; units are m, rad, s, kg, N, N m.

array_of_variables has one row [position, velocity, acceleration] per joint:
{rows}

values_robot, which dynamic_model returns, has for each joint and each link
    position_<joint>      origin of the frame of the link that the joint moves
    rotation_<joint>      orientation of that frame
    position_<link>       centre of mass (of an empty link: its origin)
    velocity_, acceleration_<joint or link>    of the same points
    forces_<joint>        force exerted through the joint on the link it moves
    torques_<joint>       moment exerted likewise, about position_<joint>
    effort_<joint>        what the actuator gives along or about the axis
Accelerations are proper ones, the true acceleration minus gravity: that of a
body at rest points upwards. This is how weights come into the forces.

Names in the equations
    q_, qd_, qdd_<joint>      position, velocity, acceleration on the axis
    frame_<joint>             orientation of the joint's frame before it turns
    rotation_<joint>          orientation of the link that it moves
    omega_rev_, omegap_rev_   angular velocity and acceleration of that link
    lever_<joint>             from the previous joint to this one
    arm_<link>                from the joint to the link's centre of mass
    axes_, inertia_<link>     orientation of the inertial frame; inertia about
                              the centre of mass, along the axes of the world
{notes}"""

import numpy as np

# Acceleration of gravity
GRAVITY = {gravity}

# Joints in the order of array_of_variables
JOINTS = {joints}

# Links on which extern forces can act
LINKS = {links}


def cross(a, b):
    """Cross product of two vectors."""
    return np.array(
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    )


def matrix_rotation_rpy(rpy):
    """Rotation by roll about x, then pitch about y, then yaw about z."""
    cr, cp, cy = np.cos(rpy)
    sr, sp, sy = np.sin(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def matrix_rotation(q):
    """Rotation about an axis: q is the unit axis times the angle."""
    angle = np.sqrt(q @ q)
    if angle == 0.0:
        return np.eye(3)
    x, y, z = q / angle
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    sine, cosine = np.sin(angle), np.cos(angle)
    return np.eye(3) + sine * skew + (1.0 - cosine) * skew @ skew


def general_variables(variables, axis):
    """Position, velocity, acceleration of a joint as vectors on its axis."""
    return np.outer(variables, axis)


def extern_forces_and_torques(external_forces):
    """Force and torque on each link, zero on those that aren't named."""
    extern = {{link: np.zeros((2, 3)) for link in LINKS}}
    for link, wrench in (external_forces or {{}}).items():
        if link not in extern:
            raise ValueError(f"external_forces: no joint moves link '{{link}}'")
        if np.size(wrench) != 6:
            raise ValueError(f"external_forces of '{{link}}': give 6 numbers")
        extern[link] = np.reshape(np.asarray(wrench, dtype=float), (2, 3))
    return extern


def dynamic_model(array_of_variables, external_forces=None, gravity=GRAVITY):
    """Compute the forces and torques of the robot in a given motion.

    array_of_variables: (n, 3), a row [position, velocity, acceleration] for
        each joint of JOINTS.
    external_forces: what the environment exerts on links, world axes:
        {{link: [fx, fy, fz, tx, ty, tz]}}, torques about the link's origin.
    gravity: acceleration of gravity.
    """
    extern = extern_forces_and_torques(external_forces)
'''

ROW_CHECK = """\
    array_of_variables = np.asarray(array_of_variables, dtype=float)
    if array_of_variables.shape != (len(JOINTS), 3):
        raise ValueError(f"array_of_variables: give {len(JOINTS)} rows of 3")

"""

FOOTER = '''

if __name__ == "__main__":
    for name, value in dynamic_model(np.zeros((len(JOINTS), 3))).items():
        print(name, value)
'''
