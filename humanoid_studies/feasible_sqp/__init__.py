# SPDX-License-Identifier: Apache-2.0
"""The planner thesis' two-phase feasible SQP, to compare with the solvers in use."""
