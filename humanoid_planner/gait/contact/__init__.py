# SPDX-License-Identifier: Apache-2.0
"""Forces under the feet of a phase: affine in the controls, centres of pressure, friction needed."""
