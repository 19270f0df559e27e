# SPDX-License-Identifier: Apache-2.0
"""The optimal control problem of a phase and Pontryagin's conditions for it (specification 003, 2.16 to 2.25)."""
