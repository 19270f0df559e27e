# SPDX-License-Identifier: Apache-2.0
"""A humanoid lifts objects in its sagittal plane: statics, optimal and dynamic lifts, and their replay."""

from humanoid_model.extensions import optional_library

optional_library("casadi", "planner")  # what is below imports it without asking
