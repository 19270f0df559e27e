# SPDX-License-Identifier: Apache-2.0
"""The thesis' mechanisms from parameter files: five-bar, RABBIT, BIP."""
