# SPDX-License-Identifier: Apache-2.0
"""The state of a simulation: what a person reads of it, and what a file keeps."""
