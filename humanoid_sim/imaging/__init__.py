# SPDX-License-Identifier: Apache-2.0
"""Pictures of a simulation, computed here: no browser, no graphics card, the same bits everywhere."""
