# SPDX-License-Identifier: Apache-2.0
"""Integrators of mechanical systems with contacts, general and plain: to compare, and to check the compiled step."""
