# SPDX-License-Identifier: Apache-2.0
"""Scalar expressions and functions made of them."""
