# SPDX-License-Identifier: Apache-2.0
"""Messages that several nodes read or write, and the library's terms for them."""
