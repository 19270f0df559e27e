# SPDX-License-Identifier: Apache-2.0
"""What postures have to fulfil: contacts, places of links, stability."""
