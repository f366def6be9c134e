# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""An independent model of Weft's wire formats, written from the specification alone."""
