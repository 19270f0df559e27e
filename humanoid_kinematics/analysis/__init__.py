# SPDX-License-Identifier: Apache-2.0
"""What a mechanism can do: mobility, dexterity, singularities, workspace, distances, and how to show them."""
