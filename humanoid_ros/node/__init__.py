# SPDX-License-Identifier: Apache-2.0
"""What every node is made of: parameters, quality of service, workers, answers, checks of requests."""
