# SPDX-License-Identifier: Apache-2.0
"""A robot on its controller: told where to walk, pushed, its balance drawn."""
