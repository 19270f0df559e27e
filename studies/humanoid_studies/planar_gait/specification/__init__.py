# SPDX-License-Identifier: Apache-2.0
"""What a gait is: its walker, steps, phases, criterion and bounds; what each phase begins and ends with."""
