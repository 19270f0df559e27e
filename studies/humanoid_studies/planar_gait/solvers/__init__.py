# SPDX-License-Identifier: Apache-2.0
"""Solvers of a phase: transcription, boundary value problems, continuation, and one call for all (2.26)."""
