# SPDX-License-Identifier: Apache-2.0
"""Guides found by sampling: ways of stable postures near to contacts (specification 001 section 7.6)."""

from humanoid_planner.contacts.guides.automatic_guide import AutomaticGuide, find_guide
from humanoid_planner.contacts.guides.guide_space import GuideSpace
from humanoid_planner.contacts.guides.sampling import GuideSampler

__all__ = ["AutomaticGuide", "GuideSampler", "GuideSpace", "find_guide"]
