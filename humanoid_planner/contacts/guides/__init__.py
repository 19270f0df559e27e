# SPDX-License-Identifier: Apache-2.0
"""Guides found by sampling: ways of stable postures near to contacts (specification 001 section 7.6)."""
