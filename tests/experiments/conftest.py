"""The scripts of `experiments/` and `tools/` as modules."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
for folder in ("experiments", "tools"):
    if str(ROOT / folder) not in sys.path:
        sys.path.append(str(ROOT / folder))
