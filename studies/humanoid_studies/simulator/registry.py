# SPDX-License-Identifier: Apache-2.0
"""The experiments of the simulator's thesis (specification 000 §27) by name, loaded when they are asked for."""

from __future__ import annotations

from humanoid_studies.experiments.catalogue import experiments_of

EXPERIMENTS = experiments_of(
    "humanoid_studies.simulator",
    ("E0", "can_grasp", "A gripper closes on a can"),
    ("E1", "four_leg_table", "A table on four legs"),
    ("E2", "reaching_far", "Reaching a far object with a hand on the table"),
    ("E3", "carried_box", "A large box carried while walking"),
    ("E4", "cost_of_contacts", "Cost against the number of contacts"),
    ("E5", "delassus_standing", "Delassus operator of a standing HRP-2"),
    ("E6", "delassus_one_branch", "Delassus operator of two bodies of one limb"),
    ("E7", "collision_groups", "Cubes and collision groups"),
    ("E8", "ball_joint", "Parametrisations of a ball joint"),
    ("E9", "haptic_object", "Haptic manipulation of one object"),
    ("E10", "haptic_arm", "Haptic manipulation of HRP-2's arm"),
    ("E11", "collaborative_carrying", "Carrying a board with HRP-2, and a push"),
    ("E12", "sole_materials", "Which material soles should be made of"),
    ("E12b", "walking_materials", "Walking on soles of several materials"),
    ("E13", "walking", "Walking on rigid feet, flexible ankles and soles"),
    ("E14", "grains", "Walking on grains"),
    ("E15", "shaped_soles", "Walking on shaped soles"),
    ("E16", "toppling", "Toppling onto a table with an object"),
    ("E17", "friction_identification", "Friction of a foot, found by pulling"),
    ("E18", "pressing_a_beam", "A force sensor while a hand presses a beam"),
    ("E19", "dynamic_lifting", "Swinging a box up that is too far"),
    ("E20", "weight_lifting", "Lifting a weight above the head"),
    ("E21", "posture_replay", "Motions along stances, played every 5 ms"),
    ("E22", "solver_table", "Contact solvers on HRP-2 standing on 16 contacts"),
    ("E23", "pivoting_and_facets", "Gauss–Seidel against pivoting, and facets"),
    ("E24", "cube_on_plane", "Contact points of a cube on a plane"),
    shows_progress=True,
)
"""All experiments, in the order of specification 000 §27."""
