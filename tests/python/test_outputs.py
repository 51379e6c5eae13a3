"""The gate against plain Python, over the bundled demo set."""

from __future__ import annotations

from .check_outputs import compare
from .conftest import ROOT, read_rows


def test_demo_set() -> None:
    texts = [row["output"] for row in read_rows(ROOT / "examples" / "outputs.jsonl")]
    texts = [text for text in texts if text is not None]
    prefixes = [text[:n] for text in texts for n in range(0, len(text), 7)]
    assert len(texts) > 40
    assert compare(texts + prefixes) == []
