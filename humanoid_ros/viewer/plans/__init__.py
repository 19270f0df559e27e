# SPDX-License-Identifier: Apache-2.0
"""Contact plans on the page: where they are to lead, the search as it goes on, and what was found."""
