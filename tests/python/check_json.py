"""Checks JSON reading over real outputs against plain Python: python check_json.py FILE.

FILE holds one `{"id", "output"}` object a line. Checked for each output:

- the strict tier gives what the plain-Python reference of `check_outputs` gives;
- valid JSON is unchanged by the repair tier, alone and inside prose, fences and tags;
- of every text, and of a text cut at every step, both tiers and a stream come to an end, and no
  prefix of a stream takes back what an earlier one gave.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import scoregate

sys.path.insert(0, str(Path(__file__).parent))

from check_outputs import NOTHING, lenient, strict  # type: ignore[import-not-found]

WRAPPERS = (
    "Here is the result:\n\n{}\n\nI hope this helps.",
    "Here is the result:\n\n```json\n{}\n```\n\nI hope this helps.",
    "```\n{}\n```",
    "<think>Should I use [1] or {{x}}?</think>\n{}",
    "<tool_call>\n{}\n</tool_call>",
)
#: A text is cut at so many places.
CUTS = 24


def equal(a: Any, b: Any) -> bool:
    """Equality of JSON values, in which True is not 1 and 1 is not 1.0."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def extends(earlier: Any, later: Any) -> bool:
    """True when `later` only adds to `earlier`."""
    if isinstance(earlier, dict):
        return isinstance(later, dict) and all(
            key in later and extends(value, later[key]) for key, value in earlier.items()
        )
    if isinstance(earlier, list):
        return (
            isinstance(later, list)
            and len(later) >= len(earlier)
            and all(extends(a, b) for a, b in zip(earlier, later, strict=False))
        )
    if isinstance(earlier, str):
        return isinstance(later, str) and later.startswith(earlier)
    return equal(earlier, later)


def wrapped(text: str, value: Any) -> list[str]:
    """The wrappers in which a document reads differently."""
    if not isinstance(value, dict) or not value or "```" in text or "<" in text:
        return []
    found = []
    for wrapper in WRAPPERS:
        around = wrapper.replace("{}", "\0").replace("{{", "{").replace("}}", "}")
        result = scoregate.parse_json(around.replace("\0", text))
        if not result.ok or not equal(result.value, value):
            found.append(wrapper)
    return found


def prefixes(text: str) -> list[str]:
    """What goes wrong on the way through a text."""
    found = []
    step = max(1, len(text) // CUTS)
    stream = scoregate.JSONStream()
    earlier: Any = None
    for at in range(0, len(text), step):
        scoregate.parse_json(text[:at])
        scoregate.parse_json(text[:at], partial=True, candidates="all")
        stream.feed(text[at : at + step])
        snapshot = stream.snapshot()
        if earlier is not None and not extends(earlier, snapshot):
            found.append(f"a stream takes back at {at}")
        earlier = snapshot
    # A key that comes again is set again.
    again = any(d.code == "duplicate_key" for d in stream.close().diagnostics)
    return [] if again else found


def compare(texts: list[str]) -> tuple[list[str], Counter[str], Counter[str]]:
    """The differences, how often each thing was checked, and the codes of all repairs."""
    differences: list[str] = []
    counts: Counter[str] = Counter()
    codes: Counter[str] = Counter()
    for i, text in enumerate(texts):
        shown = f"row {i}: {text[:80]!r}"
        wanted = lenient(text)
        found = scoregate.extract_json(text, default=NOTHING)
        counts["strict"] += found is not NOTHING
        if (found is NOTHING) != (wanted is NOTHING) or (
            found is not NOTHING and not equal(found, wanted)
        ):
            differences.append(f"{shown}: strict: wanted {wanted!r}, got {found!r}"[:400])
        result = scoregate.parse_json(text)
        counts["repair"] += result.ok
        counts["repaired"] += result.ok and result.severity is not None
        counts["beyond strict"] += result.ok and found is NOTHING
        codes.update({d.code for d in result.diagnostics})
        whole = strict(text.strip())
        if whole is not NOTHING:
            counts["valid"] += 1
            if not result.ok or not equal(result.value, whole):
                differences.append(f"{shown}: repair changes valid JSON")
        if found is not NOTHING:
            bare = json.dumps(found, ensure_ascii=False, indent=1)
            counts["wrapped"] += 1
            differences += [f"{shown}: differs in {wrapper!r}" for wrapper in wrapped(bare, found)]
        differences += [f"{shown}: {what}" for what in prefixes(text)]
    batch = scoregate.extract_json_batch(texts, repair=True, default=None)
    alone = [scoregate.parse_json(text).value for text in texts]
    if [repr(value) for value in batch] != [repr(value) for value in alone]:
        differences.append("a batch and single texts differ")
    return differences, counts, codes


def main(path: str) -> int:
    lines = Path(path).read_text(encoding="utf-8").split("\n")
    outputs = [json.loads(line)["output"] for line in lines if line.strip()]
    texts = [text for text in outputs if text is not None]
    started = time.perf_counter()
    differences, counts, codes = compare(texts)
    print("\n".join(differences[:20]), end="\n" if differences else "")
    print(
        f"{len(texts)} outputs, {sum(map(len, texts)) / 1e6:.1f} million characters, "
        f"{time.perf_counter() - started:.0f} s: {len(differences)} differences"
    )
    print(
        f"valid JSON {counts['valid']}, strict tier {counts['strict']}, repair tier "
        f"{counts['repair']} ({counts['beyond strict']} beyond strict, {counts['repaired']} with "
        f"diagnostics); {counts['wrapped']} wrapped"
    )
    print("outputs by code: " + ", ".join(f"{code} {n}" for code, n in codes.most_common()))
    return 1 if differences or not texts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
