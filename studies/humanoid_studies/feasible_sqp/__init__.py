# SPDX-License-Identifier: Apache-2.0
"""The planner thesis' two-phase feasible SQP (specification 001 section 4.3), to compare with the solvers in use."""
