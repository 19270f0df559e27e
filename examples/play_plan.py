# SPDX-License-Identifier: Apache-2.0
"""HRP-2 plans where to step on five stairs, makes a motion of it, verifies it and plays it in the simulator.

Run with ``python examples/play_plan.py stairs.png``. What takes how long is printed; ``--seed`` chooses other
footholds, ``--stances 5`` plays the beginning alone, ``--stabilise`` closes the loop.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

import matplotlib
import numpy as np
from tqdm import tqdm

from humanoid_model import Contact, HumanoidError, Robot, Scene, Stance, load_robot, load_scene
from humanoid_model.picture_file import check_picture_file
from humanoid_model.progress import progress_bar
from humanoid_planner.contacts import (
    Attractor,
    CentreOfMassAttractor,
    ContactCount,
    RandomCandidates,
    plan_contacts,
    verify_plan,
)
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.motion import Motion, MotionSettings, PlannedPostures, generate_motion
from humanoid_planner.posture import NearReference
from humanoid_planner.posture.tasks.link_tasks import centre_of_mass_at
from humanoid_sim import Simulation
from humanoid_sim.walking import PlayedMotion, play_motion
