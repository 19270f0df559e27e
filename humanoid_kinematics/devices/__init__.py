# SPDX-License-Identifier: Apache-2.0
"""Input devices: what a hand tells a mechanism to do, and what it feels of it."""
