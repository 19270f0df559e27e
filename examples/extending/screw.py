# SPDX-License-Identifier: Apache-2.0
"""A joint of MAD: a screw, whose nut slides as it turns.

A file has both motions as links, and says what joins them::

    link 1 { parameters { theta 0 r 0 alpha 0 d 0 } type 2 pred 0 }
    link 2 { parameters { theta 0 r 10 alpha 0 d 0 } type 1 pred 1 }
    screw ( 1 2 5.0 )

Link 2 slides by 5 units of length for each turn of link 1.
"""

import dataclasses
import math

from humanoid_kinematics import Coupling
from humanoid_kinematics.mad import Extension, register_statement


def screw(mechanism, statement):
    """Return the mechanism with a turning and a sliding joint coupled."""
    turning, sliding, lead = statement.words[1:-1]  # without the brackets
    names = f"joint_{int(turning)}", f"joint_{int(sliding)}"
    pitch = float(lead) * mechanism.length_unit / (2.0 * math.pi)  # m/rad
    angle, slide = (mechanism.initial[mechanism.robot.index_q(name)] for name in names)
    law = Coupling(f"screw_{turning}_{sliding}", {names[1]: 1.0, names[0]: -pitch}, slide - pitch * angle)
    return dataclasses.replace(mechanism, couplings=(*mechanism.couplings, law))


def register():
    """Make it known; for the nodes a package has it as an entry point ``humanoid_stack.mad_statements``."""
    register_statement(Extension("screw", '"(" NUMBER NUMBER FLOAT ")"', screw))
