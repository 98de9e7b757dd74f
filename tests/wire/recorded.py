"""What was recorded of conversations with clients; QUERYGATE_RECORD=1 records it anew."""

from __future__ import annotations

import os
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def compare(name: str, said: str) -> None:
    file = GOLDEN / name
    if os.environ.get("QUERYGATE_RECORD"):
        file.write_text(said)
    assert said == file.read_text()
