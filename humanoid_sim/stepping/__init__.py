# SPDX-License-Identifier: Apache-2.0
"""One time step of a world in few compiled calls on preallocated arrays."""
