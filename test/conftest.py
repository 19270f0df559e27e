# SPDX-License-Identifier: Apache-2.0
"""What all tests of the product share."""

from fixtures.whole_run import give_domains_back, pytest_collection_finish  # noqa: F401 pytest finds them here
