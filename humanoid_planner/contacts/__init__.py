# SPDX-License-Identifier: Apache-2.0
"""Plans of contacts: which location of the robot on which surface, in which order, with a posture at each step."""

from humanoid_planner.contacts.contact_problem import ContactProblem
from humanoid_planner.contacts.plan import ContactPlan, PlanStatistics
from humanoid_planner.contacts.plan_contacts import ContactPlanner, plan_contacts
from humanoid_planner.contacts.plan_file import load_plan, save_plan
from humanoid_planner.contacts.posture_workers import WorkerError
from humanoid_planner.contacts.potentials.attractors import Attractor
from humanoid_planner.contacts.potentials.places import CentreOfMassAttractor, PointAlongGuide, PointAttractor
from humanoid_planner.contacts.potentials.stance_terms import (
    BarycentreNear,
    ContactCount,
    CrossedPenalty,
    LocationPenalty,
    OnlyPenalty,
    StanceTerm,
)
from humanoid_planner.contacts.search.best_first import End
from humanoid_planner.contacts.stances.candidates import PredefinedCandidates, RandomCandidates, SearchVolumes
from humanoid_planner.contacts.stances.planned_stance import PlannedStance, Role
from humanoid_planner.contacts.stances.stance_posture import StancePosture
from humanoid_planner.contacts.stances.stance_set import StanceMetric
from humanoid_planner.contacts.verify_plan import PlanLimits, PlanVerdict, PlanViolation, verify_plan

__all__ = [
    "Attractor",
    "BarycentreNear",
    "CentreOfMassAttractor",
    "ContactCount",
    "ContactPlan",
    "ContactPlanner",
    "ContactProblem",
    "CrossedPenalty",
    "End",
    "LocationPenalty",
    "OnlyPenalty",
    "PlanLimits",
    "PlanStatistics",
    "PlanVerdict",
    "PlanViolation",
    "PlannedStance",
    "PointAlongGuide",
    "PointAttractor",
    "PredefinedCandidates",
    "RandomCandidates",
    "Role",
    "SearchVolumes",
    "StanceMetric",
    "StancePosture",
    "StanceTerm",
    "WorkerError",
    "load_plan",
    "plan_contacts",
    "save_plan",
    "verify_plan",
]
