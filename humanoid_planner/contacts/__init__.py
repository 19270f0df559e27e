# SPDX-License-Identifier: Apache-2.0
"""Plans of contacts: which location of the robot on which surface, in which order, with a posture at each step."""

from humanoid_planner.contacts.candidates import PredefinedCandidates, RandomCandidates, SearchVolumes
from humanoid_planner.contacts.contact_problem import ContactProblem
from humanoid_planner.contacts.guides import GuideSampler, GuideSpace, find_guide
from humanoid_planner.contacts.plan import ContactPlan, load_plan, save_plan
from humanoid_planner.contacts.plan_contacts import ContactPlanner, plan_contacts
from humanoid_planner.contacts.potentials import (
    Attractor,
    BarycentreNear,
    CentreOfMassAttractor,
    ContactCount,
    CrossedPenalty,
    LocationPenalty,
    OnlyPenalty,
    PointAlongGuide,
    PointAttractor,
    StanceTerm,
)
from humanoid_planner.contacts.verify_motion import collisions_of, verify_motion
from humanoid_planner.contacts.verify_plan import PlanVerdict, verify_plan

__all__ = [
    "Attractor",
    "BarycentreNear",
    "CentreOfMassAttractor",
    "ContactCount",
    "ContactPlan",
    "ContactPlanner",
    "ContactProblem",
    "CrossedPenalty",
    "GuideSampler",
    "GuideSpace",
    "LocationPenalty",
    "OnlyPenalty",
    "PlanVerdict",
    "PointAlongGuide",
    "PointAttractor",
    "PredefinedCandidates",
    "RandomCandidates",
    "SearchVolumes",
    "StanceTerm",
    "collisions_of",
    "find_guide",
    "load_plan",
    "plan_contacts",
    "save_plan",
    "verify_motion",
    "verify_plan",
]
