# sequences.py - whether lists of sequences fit their rows, as far as the host sees them
# SPDX-License-Identifier: Apache-2.0
"""Whether cu_seqlens and max_seqlen fit the rows that they divide. Those of a device are not read: the library clamps
what leads outside, and cuts off sequences that are longer than the maximum."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np


def check(cu: np.ndarray, rows: int, what: str, of: str) -> None:
    """Refuses what is not the beginnings of sequences and the end of the last one, with clattn-run's words."""
    if cu[0] != 0:
        raise ValueError('%s begins with %d, not with 0' % (what, cu[0]))
    down = np.flatnonzero(cu[1:] < cu[:-1])
    if down.size:
        at = int(down[0]) + 1
        raise ValueError('%s: value %d at [%d] is less than the one before' % (what, cu[at], at))
    if cu[-1] != rows:
        raise ValueError('%s ends with %d, not with the rows of %s, which are %d' % (what, cu[-1], of, rows))


def longest(cu: Any, x: Any, given: Optional[int], name: str, of: str) -> Optional[int]:
    """Rows of the longest sequence; None where that is on a device and not given: all rows stand for it then."""
    shape = getattr(x, 'shape', ())
    if not isinstance(cu, np.ndarray) or cu.ndim != 1 or not cu.size or len(shape) != 3:
        return given
    check(cu, int(shape[0]), 'cu_seqlens_' + name[-1], of)
    found = int((cu[1:] - cu[:-1]).max()) if cu.size > 1 else 0
    if given is not None and given < found:
        raise ValueError('%s is %d, and the longest sequence has %d rows' % (name, given, found))
    return found if given is None else given
