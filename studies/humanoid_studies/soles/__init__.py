# SPDX-License-Identifier: Apache-2.0
"""What soles of different materials do (specification 000 §19, E12)."""
