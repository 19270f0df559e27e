# SPDX-License-Identifier: Apache-2.0
"""What postures have to fulfil: contacts, places of links, stability."""

from humanoid_planner.posture.tasks.link_tasks import centre_of_mass_at

__all__ = ["centre_of_mass_at"]
