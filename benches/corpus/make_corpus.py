"""Makes a corpus of model outputs: deterministic, offline, standard library only.

    python benches/corpus/make_corpus.py 100000 outputs.jsonl [--truth truth.jsonl] [--seed 7]

The first file has one {"id", "output"} a line, the second {"id", "kind", "defects", "truth"}:
`truth` is the JSON value that the output was made from, null where it holds none. For a truncated
output it is the value of what was written, a cut string as far as it got.

The mix: 45% clean JSON, 20% prose with a json fence, 10% prose with JSON inside, 10% broken JSON,
15% prose, most of it with a VERDICT, WINNER or SCORE marker. A tenth of the rows have CJK text or
emoji, one in 2,000 is large (50 to 200 KB). A row depends on the seed and its id alone, so the
first rows of a longer corpus are those of a shorter one.
"""

from __future__ import annotations

import argparse
import json
import random
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def words(text: str) -> list[str]:
    return text.split()


NOUNS = words(
    "account answer batch branch build cache client cluster column customer deploy document draft "
    "endpoint error event export feature field file filter form function gateway handler header "
    "image import index input invoice job label latency limit list log message metric model "
    "module node notice option order output page parser patch payload plan policy prompt query "
    "queue record region release replica report request response result review route row sample "
    "schedule schema score section server session setting shard source stage stream summary "
    "table task template tenant test ticket token trace user value version view window worker"
)
VERBS = words(
    "accepts adds blocks builds calls checks closes copies counts covers creates drops expects "
    "fails fills fixes follows holds keeps leaves lists loads logs maps marks merges misses moves "
    "needs opens parses passes prints reads refuses repeats replaces reports resets retries "
    "returns runs saves sends shows sorts splits starts stops stores takes trims uses writes"
)
LINKS = ("after", "although", "and", "because", "before", "but", "once", "unless", "when", "while")
KEYS = words(
    "id title name summary notes count total tags owner created_at updated_at price currency "
    "region priority category confidence source url email address rank label description limit "
    "offset kind state parent language unit duration comment checked retries"
)
CJK = (
    "请求已完成",
    "字段缺失请重试",
    "测试全部通过。",
    "結果を確認してください",
    "処理が終了しました",
    "この値は正しくありません",
    "요청이 완료되었습니다",
    "결과를 다시 확인하세요",
)
EMOJI = ("✅", "❌", "🚀", "⚠️", "🎯", "👩‍💻", "🔥", "🤖", "🇪🇺", "📦")
#: Texts whose quotes the defect `inner_quotes` leaves unescaped.
QUOTES = (
    'the "strict" mode is on by default',
    'they answered "not yet" and closed it',
    'a so-called "quick fix" of the parser',
    'rename "limit" and "offset" first',
)
DEFECTS = (
    "trailing_comma",
    "single_quotes",
    "truncated",
    "inner_quotes",
    "comments",
    "python_literals",
    "missing_close",
)
#: A defect that does not go with others: it is about where the text ends.
ENDS = {"truncated", "missing_close"}
LARGE = 1 / 2000


class Row(NamedTuple):
    """One output and what it was made from."""

    id: int
    output: str
    kind: str
    defects: list[str]
    truth: Any


class Maker:
    """Makes the parts of one row from one source of chance."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        chance = rng.random()
        self.foreign: tuple[str, ...] = CJK if chance < 0.08 else EMOJI if chance < 0.13 else ()
        self.large = rng.randint(50_000, 200_000) if rng.random() < LARGE else 0

    def maybe(self, share: float) -> bool:
        return self.rng.random() < share

    # -- text ------------------------------------------------------------------------------------

    def clause(self) -> str:
        pick = self.rng.choice
        said = f"the {pick(NOUNS)} {pick(VERBS)} the {pick(NOUNS)}"
        return f"{said} of the {pick(NOUNS)}" if self.maybe(0.4) else said

    def sentence(self) -> str:
        text = self.clause()
        while self.maybe(0.45) and len(text) < 160:
            text += f"{',' if self.maybe(0.4) else ''} {self.rng.choice(LINKS)} {self.clause()}"
        text = text[0].upper() + text[1:] + "."
        if self.foreign and self.maybe(0.5):
            text += " " + self.rng.choice(self.foreign)
        if self.maybe(0.04):
            text += "\nSee also:\tthe " + self.rng.choice(NOUNS) + "."
        if self.maybe(0.03):
            text += ' It says "done" in C:\\logs.'
        return text

    def paragraph(self, least: int, most: int) -> str:
        return " ".join(self.sentence() for _ in range(self.rng.randint(least, most)))

    # -- values ----------------------------------------------------------------------------------

    def scalar(self) -> Any:
        rng = self.rng
        makers: tuple[tuple[float, Callable[[], Any]], ...] = (
            (0.42, self.sentence),
            (0.58, lambda: rng.randint(0, 99_999)),
            (0.68, lambda: round(rng.uniform(0, 1000), 3)),
            (0.78, lambda: rng.random() < 0.5),
            (0.83, lambda: None),
            (0.92, lambda: f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}T08:30:00Z"),
            (1.0, lambda: f"https://example.com/{rng.choice(NOUNS)}/{rng.randint(1, 9999)}"),
        )
        at = rng.random()
        return next(make for share, make in makers if at < share)()

    def fields(self, count: int, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key in self.rng.sample(KEYS, count):
            chance = self.rng.random()
            if depth and chance < 0.1:
                made[key] = self.fields(self.rng.randint(2, 4), depth - 1)
            elif depth and chance < 0.2:
                made[key] = [self.fields(2, 0) for _ in range(self.rng.randint(1, 3))]
            elif chance < 0.3:
                made[key] = self.rng.sample(NOUNS, self.rng.randint(1, 5))
            else:
                made[key] = self.scalar()
        return made

    def answer(self) -> dict[str, Any]:
        """A response of an API; about seven in ten fit the schema of the benchmark gate."""
        made: dict[str, Any] = {}
        if not self.maybe(0.04):
            states = ("success", "error", "pending", "partial")
            made["status"] = self.rng.choices(states, (76, 15, 5, 4))[0]
        if self.large:
            items, size = [], 0
            while size < self.large:
                items.append(self.fields(8, 1))
                size += len(json.dumps(items[-1], ensure_ascii=False))
            made["data"] = {"items": items, "count": len(items)}
        elif self.maybe(0.8) or not made:
            made["data"] = self.fields(self.rng.randint(2, 9), 2)
        elif self.maybe(0.5):
            made["data"] = [self.fields(2, 1) for _ in range(self.rng.randint(1, 3))]
        if self.maybe(0.5):
            made["meta"] = {"request": f"req_{self.rng.getrandbits(32):08x}", "cached": True}
        if made.get("status") == "error":
            made["error"] = {"code": self.rng.randint(400, 519), "message": self.sentence()}
        return made

    def dump(self, value: Any) -> str:
        ascii_only = self.maybe(0.15)
        style = self.rng.random()
        if style < 0.45:
            return json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
        return json.dumps(value, ensure_ascii=ascii_only, indent=None if style < 0.65 else 2)

    # -- rows ------------------------------------------------------------------------------------

    def clean(self) -> tuple[str, list[str], Any]:
        value = self.answer()
        text = self.dump(value)
        while len(text) < 200:
            value[f"note_{len(value)}"] = self.sentence()
            text = self.dump(value)
        return text, [], value

    def fenced(self) -> tuple[str, list[str], Any]:
        value = self.answer()
        parts = [self.paragraph(1, 3)]
        if self.maybe(0.25):
            parts.append("```python\nfor row in rows:\n    print({'row': row})\n```")
        parts.append(f"```json\n{self.dump(value)}\n```")
        if self.maybe(0.5):
            parts.append(self.paragraph(1, 2))
        return "\n\n".join(parts), [], value

    def inline(self) -> tuple[str, list[str], Any]:
        value = self.answer()
        text = f"{self.paragraph(1, 2)} {json.dumps(value, ensure_ascii=False)}"
        return f"{text} {self.sentence()}" if self.maybe(0.7) else text, [], value

    def prose(self) -> tuple[str, list[str], Any]:
        pick = self.rng.choice
        parts = [self.paragraph(2, 5) for _ in range(self.rng.randint(1, 3))]
        while sum(map(len, parts)) < self.large:
            parts.append(self.paragraph(6, 9))
        verdict = pick(("PASS", "BLOCK", "FAIL", "OK", "STOP", "REJECT"))
        markers = (
            f"VERDICT: {verdict}",
            f"**VERDICT:** {verdict}",
            f"Verdict = `{verdict.lower()}`",
            f"WINNER: {pick(('', '#', 'variant '))}{self.rng.randint(1, 4)}",
            f"SCORE: {self.rng.random():.2f}\nVERDICT: {verdict}",
            f"- first [see note]\n- second\n\nFinal verdict: {verdict}",
        )
        if self.maybe(0.85):
            parts.append(pick(markers))
        return "\n\n".join(parts), [], None

    def broken(self) -> tuple[str, list[str], Any]:
        value = self.answer()
        defects = {self.rng.choice(DEFECTS)}
        if self.maybe(0.25):
            other = self.rng.choice(DEFECTS)
            # Either quote defect would make the other ambiguous.
            quotes = {"single_quotes", "inner_quotes"} <= defects | {other}
            if not quotes and not ENDS & (defects | {other}):
                defects.add(other)
        if "python_literals" in defects:
            value["cached"] = self.rng.choice((True, False, None))
        if "inner_quotes" in defects:
            value["comment"] = self.rng.choice(QUOTES)
        writer = Writer(self.rng, defects, pretty=self.maybe(0.6))
        writer.value(value, 0, "")
        text = "".join(writer.parts)
        if "truncated" in defects:
            text, value = writer.cut(text)
        elif "missing_close" in defects:
            text = text.rstrip()[:-1].rstrip()
        if self.maybe(0.2):
            end = "" if ENDS & defects else "\n```\n"
            text = f"{self.sentence()}\n\n```json\n{text}{end}"
        return text, sorted(defects), value


class Writer:
    """Writes JSON with defects, and notes the places where it may be cut."""

    def __init__(self, rng: random.Random, defects: set[str], *, pretty: bool) -> None:
        self.rng = rng
        self.defects = defects
        self.pretty = pretty
        self.parts: list[str] = []
        self.length = 0
        #: (length of the text, what would close it), after each value and inside strings.
        self.cuts: list[tuple[int, str]] = []

    def put(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)

    def string(self, text: str) -> str:
        quoted = json.dumps(text, ensure_ascii=False)
        if "inner_quotes" in self.defects and text in QUOTES:
            return f'"{text}"'
        if "single_quotes" in self.defects:
            return "'" + quoted[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"
        return quoted

    def value(self, value: Any, depth: int, closers: str) -> None:
        if isinstance(value, (dict, list)):
            self.container(value, depth, closers)
        elif isinstance(value, str):
            if len(value) > 1:
                head = json.dumps(value[: self.rng.randrange(1, len(value))], ensure_ascii=False)
                self.cuts.append((self.length + len(head) - 1, '"' + closers))
            self.put(self.string(value))
        elif "python_literals" in self.defects and (value is None or isinstance(value, bool)):
            self.put(repr(value))
        else:
            self.put(json.dumps(value))
        self.cuts.append((self.length, closers))

    def container(self, value: dict[str, Any] | list[Any], depth: int, closers: str) -> None:
        opener, closer = "{}" if isinstance(value, dict) else "[]"
        self.put(opener)
        self.cuts.append((self.length, closer + closers))
        if "comments" in self.defects and depth == 0:
            self.put(f" /* the {self.rng.choice(NOUNS)} */")
        last = len(value) - 1
        for place, item in enumerate(value):
            self.put("\n" + "  " * (depth + 1) if self.pretty else " " if place else "")
            if isinstance(value, dict):
                self.put(self.string(item) + ": ")
                self.value(value[item], depth + 1, closer + closers)
            else:
                self.value(item, depth + 1, closer + closers)
            trailing = "trailing_comma" in self.defects and (depth == 0 or self.rng.random() < 0.5)
            self.put("," if place < last or trailing else "")
            if "comments" in self.defects and self.pretty and self.rng.random() < 0.15:
                self.put(f"  // {self.rng.choice(NOUNS)}")
        self.put(("\n" + "  " * depth if self.pretty and value else "") + closer)

    def cut(self, text: str) -> tuple[str, Any]:
        """The text up to one of its cuts, and the value of that."""
        wanted = self.length * self.rng.uniform(0.35, 0.95)
        inner = [cut for cut in self.cuts if cut[1]]
        at, closers = min(inner, key=lambda cut: abs(cut[0] - wanted))
        return text[:at], json.loads(text[:at] + closers)


#: The kinds of rows and the share at which each ends.
KINDS = (("clean", 0.45), ("fenced", 0.65), ("inline", 0.75), ("broken", 0.85), ("prose", 1.0))


def row(number: int, seed: int = 7) -> Row:
    """One row, by its number."""
    rng = random.Random((seed << 40) + number)
    at = rng.random()
    kind = next(kind for kind, share in KINDS if at < share)
    output, defects, truth = getattr(Maker(rng), kind)()
    return Row(number, output, kind, defects, truth)


def rows(count: int, seed: int = 7) -> Iterator[Row]:
    """The first `count` rows of the corpus of a seed."""
    return (row(number, seed) for number in range(count))


def write(count: int, seed: int, outputs: TextIO, truths: TextIO | None = None) -> None:
    """Writes the rows as JSON lines."""
    for made in rows(count, seed):
        line = {"id": made.id, "output": made.output}
        outputs.write(json.dumps(line, ensure_ascii=False) + "\n")
        if truths:
            line = {"id": made.id, "kind": made.kind, "defects": made.defects, "truth": made.truth}
            truths.write(json.dumps(line, ensure_ascii=False) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rows", type=int)
    parser.add_argument("outputs")
    parser.add_argument("--truth")
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    with open(args.outputs, "w", encoding="utf-8", newline="\n") as outputs:
        if not args.truth:
            return write(args.rows, args.seed, outputs)
        with open(args.truth, "w", encoding="utf-8", newline="\n") as truths:
            write(args.rows, args.seed, outputs, truths)


if __name__ == "__main__":
    main()
