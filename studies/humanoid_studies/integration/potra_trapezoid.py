# SPDX-License-Identifier: Apache-2.0
"""The linearly implicit trapezoid of Potra and others, 2006 (specification 000 §7.4, equations 2.69 to 2.72)."""

from __future__ import annotations

from humanoid_studies.integration.contact_step import DEFAULT_SOLVER, ContactSolver
from humanoid_studies.integration.gavrea import Gavrea


class PotraTrapezoid(Gavrea):
    r"""Order 2, also through collisions, which are located on the cubic through both ends of a step.

    .. math::

        [M - \tfrac{\delta t}{2} B_v - \tfrac{\delta t^2}{4} B_q]\,\Delta v =
        \tfrac{\delta t}{2}(B^t + B^{t*} + \delta t B_q v) + N^T p, \qquad q^+ = q + \tfrac{\delta t}{2}(v + v^+)

    with :math:`v^+ + v \ge 0` at closed contacts. This is the family of :class:`Gavrea` at
    :math:`\zeta = \tfrac12`. (The thesis prints 1/2 before the last term, which leaves order 1, and counts the time
    step twice.)
    """

    def __init__(self, solver: ContactSolver = DEFAULT_SOLVER) -> None:
        super().__init__(0.5, solver)
