# SPDX-License-Identifier: Apache-2.0
"""The recorder node: what is said on topics, in a file."""
