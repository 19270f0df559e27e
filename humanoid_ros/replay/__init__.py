# SPDX-License-Identifier: Apache-2.0
"""The replay node: a recorded run on its topics once more."""
