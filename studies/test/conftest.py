# SPDX-License-Identifier: Apache-2.0
"""What all tests of the studies share."""

import os
import tempfile

from fixtures.whole_run import give_domains_back, pytest_collection_finish  # noqa: F401 pytest finds them here

# Where the page of lifts may write, and a place where nothing is.
os.environ.setdefault("HUMANOID_STACK_FILES", os.pathsep.join((tempfile.gettempdir(), "/no")))
