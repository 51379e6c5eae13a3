"""The gate against plain Python, over the demo set and the project's own corpus."""

from __future__ import annotations

import importlib.util
import sys

from .check_outputs import compare
from .conftest import ROOT, read_rows


def test_demo_set() -> None:
    texts = [row["output"] for row in read_rows(ROOT / "examples" / "outputs.jsonl")]
    texts = [text for text in texts if text is not None]
    prefixes = [text[:n] for text in texts for n in range(0, len(text), 7)]
    assert len(texts) > 40
    assert compare(texts + prefixes) == []


def test_own_corpus() -> None:
    path = ROOT / "benches" / "corpus" / "make_corpus.py"
    spec = importlib.util.spec_from_file_location("make_corpus", path)
    assert spec is not None
    assert spec.loader is not None
    corpus = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = corpus
    spec.loader.exec_module(corpus)
    texts = [row.output for row in corpus.rows(3000)]
    assert len(texts) == 3000
    assert compare(texts) == []
