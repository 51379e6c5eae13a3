"""Realistic documents, as values and as tokens that a slip can change.

A document is what a model writes: tool calls, judges' replies, configurations, tables, records,
prose with quotes, code, links, LaTeX and other alphabets. It is a pure function of its generator's
seed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

Kind = Literal["{", "}", "[", "]", ",", ":", "key", "string", "number", "literal", "space", "raw"]
OPENERS = ("{", "[")
CLOSERS = ("}", "]")
SCALARS = ("string", "number", "literal")


def words(text: str) -> list[str]:
    return text.split()


WORDS = words(
    "the order was late because carrier lost one parcel and we sent another on Monday morning "
    "answer covers both parts of question but skips unit model keeps its tone result looks right "
    "please check again before release nothing else changed since last review many users agree "
    "slow query returns empty page after login small fix needs test good enough for now"
)
NAMES = words("Ada Bo Chidi Dana Elif Farid Greta Hiro Ines Jun Kofi Lena Mateo Noor Olga Priya")
KEYS = words(
    "id name title summary notes status total tags owner price currency region priority category "
    "confidence source address rank label offset kind state parent language unit duration comment"
)
FUNCTIONS = words("search_web get_weather create_ticket send_mail run_query book_room")
CODE = (
    "for i in range(3):\n    print(i)",
    'if (a[i] == "x") { return b; }',
    "SELECT id, name FROM users WHERE age >= 18;",
    'const f = (x) => ({ ...x, "k": 1 });',
    'grep -E "^[a-z]+:" file.txt | sort',
    '{"nested": [1, 2], "ok": true}',
    "def add(a: int, b: int) -> int:\n\treturn a + b  # sum",
)
LINKS = (
    "https://example.com/a?b=1&c=2#top",
    "http://localhost:8080/v1/items/42",
    "mailto:ada@example.org",
    "s3://bucket/key with space.csv",
)
LATEX = (
    r"\frac{1}{2} \alpha + \beta",
    r"\sum_{i=1}^{n} x_i \leq \nabla f",
    r"\(a \times b\) and \text{otherwise}",
    r"\sqrt{\rho} \cdot \theta",
)
REGEXES = (r"^\d{3}-\w+$", r"[^\s,]+\.(png|jpg)", r"(?i)\bword\b", r"C:\Users\me\dir")
FOREIGN = (
    "请求已完成",
    "結果を確認",
    "Größe prüfen",
    "déjà vu",
    "готово",
    "✅ done 🚀",
    "naïve café",
)


def sentence(rng: random.Random, least: int = 3, most: int = 12) -> str:
    """Plain words, with a comma now and then and a full stop at times."""
    words = rng.choices(WORDS, k=rng.randint(least, most))
    if len(words) > 5 and rng.random() < 0.3:
        words[2] += ","
    end = rng.choice(["", "", ".", "!"])
    return " ".join(words).capitalize() + end


def text(rng: random.Random) -> str:
    """A string as a model writes it."""
    choice = rng.random()
    if choice < 0.5:
        return sentence(rng)
    if choice < 0.58:
        return sentence(rng, 2, 5) + f" {rng.choice(NAMES)}'s {rng.choice(WORDS)}"
    if choice < 0.66:
        return f'{sentence(rng, 2, 5)} "{rng.choice(WORDS)}" {rng.choice(WORDS)}'
    if choice < 0.72:
        return rng.choice(CODE)
    if choice < 0.77:
        return rng.choice(LINKS)
    if choice < 0.81:
        return rng.choice(LATEX)
    if choice < 0.84:
        return rng.choice(REGEXES)
    if choice < 0.9:
        return rng.choice(FOREIGN)
    if choice < 0.94:
        return sentence(rng) + "\n" + sentence(rng)
    return rng.choice(["2026-03-0" + str(rng.randint(1, 9)), "12", "true", "", "a@b.org", "N/A"])


def number(rng: random.Random) -> int | float:
    """A number of the usual sizes."""
    choice = rng.random()
    if choice < 0.6:
        return rng.randint(0, 200)
    if choice < 0.85:
        return round(rng.uniform(0, 1), 2)
    return rng.choice([-3, -0.5, 1250.75, 10**12, 2**63 + 1, 1e-7, 86400])


def scalar(rng: random.Random) -> Any:
    """A string, number or literal."""
    return rng.choice([text(rng), text(rng), number(rng), rng.choice([True, False, None])])


def names(rng: random.Random) -> list[str]:
    """A few short plain strings."""
    return rng.sample(NAMES, rng.randint(1, 4))


def record(rng: random.Random, least: int = 2, most: int = 6) -> dict[str, Any]:
    """A flat object."""
    return {key: scalar(rng) for key in rng.sample(KEYS, rng.randint(least, most))}


def tool_call(rng: random.Random) -> Any:
    arguments = record(rng, 1, 4) | {"filters": names(rng)}
    call = {"name": rng.choice(FUNCTIONS), "arguments": arguments}
    return call if rng.random() < 0.7 else {"thought": text(rng), "tool": call, "final": False}


def judge(rng: random.Random) -> Any:
    criteria = [
        {"name": rng.choice(KEYS), "score": rng.randint(1, 5), "comment": text(rng)}
        for _ in range(rng.randint(1, 3))
    ]
    verdict = rng.choice(["pass", "block"])
    return {"reason": text(rng), "criteria": criteria, "score": number(rng), "verdict": verdict}


def config(rng: random.Random) -> Any:
    return {
        "version": rng.randint(1, 20),
        "server": {"host": "localhost", "port": rng.randint(1000, 9999), "tls": rng.random() < 0.5},
        "paths": [f"/srv/{rng.choice(WORDS)}" for _ in range(rng.randint(1, 3))],
        "retry": {"max": rng.randint(1, 9), "backoff": [0.5, 1, 2.5], "on": None},
        "content-type": "application/json",
    }


def table(rng: random.Random) -> Any:
    width = rng.randint(2, 4)
    rows = [[sentence(rng, 1, 2) for _ in range(width)] for _ in range(rng.randint(2, 4))]
    return {"columns": rng.sample(KEYS, width), "rows": rows, "total": rng.randint(1, 99)}


def numbers(rng: random.Random) -> Any:
    grid = [[number(rng) for _ in range(rng.randint(1, 4))] for _ in range(rng.randint(1, 4))]
    return {"name": rng.choice(NAMES), "matrix": grid, "mean": number(rng)}


def records(rng: random.Random) -> Any:
    keys = rng.sample(KEYS, rng.randint(2, 4))
    return [{key: scalar(rng) for key in keys} for _ in range(rng.randint(2, 5))]


def article(rng: random.Random) -> Any:
    parts = [{"heading": sentence(rng), "body": text(rng)} for _ in range(rng.randint(1, 3))]
    return {"title": text(rng), "url": rng.choice(LINKS), "sections": parts, "tags": names(rng)}


def nested(rng: random.Random, depth: int = 3) -> Any:
    if depth == 0 or rng.random() < 0.2:
        return scalar(rng)
    if rng.random() < 0.4:
        return [nested(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    return {key: nested(rng, depth - 1) for key in rng.sample(KEYS, rng.randint(1, 4))}


def deep(rng: random.Random) -> Any:
    return {"data": nested(rng), "meta": record(rng, 1, 3)}


SHAPES: tuple[Callable[[random.Random], Any], ...] = (
    tool_call,
    judge,
    config,
    table,
    numbers,
    records,
    article,
    deep,
    record,
)


@dataclass(eq=False, slots=True)
class Token:
    """A piece of a document's text. `within` is the bracket of the container it stands in."""

    kind: Kind
    text: str
    within: str = ""
    value: Any = None
    #: Where the value stands in the truth.
    holder: Any = None
    slot: Any = None
    #: Of a bracket, its other half.
    mate: Token | None = None
    touched: bool = False


@dataclass(slots=True)
class Style:
    """How a document is written."""

    indent: str | None
    comma: str
    colon: str
    ascii_only: bool

    @classmethod
    def random(cls, rng: random.Random) -> Style:
        if rng.random() < 0.5:
            return cls(rng.choice(["  ", "    ", "\t"]), ",", ": ", rng.random() < 0.2)
        comma, colon = rng.choice([(", ", ": "), (",", ":"), (", ", ": ")])
        return cls(None, comma, colon, rng.random() < 0.2)


@dataclass(slots=True)
class Doc:
    """A value, its tokens, and what stands around them."""

    truth: Any
    style: Style
    tokens: list[Token] = field(default_factory=list)
    wrappers: list[Callable[[str], str]] = field(default_factory=list)

    @classmethod
    def write(cls, value: Any, style: Style) -> Doc:
        """The tokens of `value`, which becomes the truth."""
        doc = cls(value, style)
        doc._write(value, "", 0, None, None)
        return doc

    def _write(self, value: Any, within: str, depth: int, holder: Any, slot: Any) -> None:
        if not isinstance(value, (dict, list)):
            written = json.dumps(value, ensure_ascii=self.style.ascii_only)
            kind: Kind = "number" if isinstance(value, (int, float)) else "literal"
            if isinstance(value, str):
                kind = "string"
            elif isinstance(value, bool):
                kind = "literal"
            self.tokens.append(Token(kind, written, within, value, holder, slot))
            return
        left: Kind = "{" if isinstance(value, dict) else "["
        opener = Token(left, left, within, value, holder, slot)
        self.tokens.append(opener)
        items: Any = value.items() if isinstance(value, dict) else enumerate(value)
        for at, (key, item) in enumerate(items):
            if at:
                self.tokens.append(Token(",", ",", left))
                if self.style.indent is None and len(self.style.comma) > 1:
                    self.tokens.append(Token("space", self.style.comma[1:], left))
            self._break(depth + 1, left)
            if isinstance(value, dict):
                written = json.dumps(key, ensure_ascii=self.style.ascii_only)
                self.tokens.append(Token("key", written, left, key))
                self.tokens.append(Token(":", ":", left))
                if len(self.style.colon) > 1:
                    self.tokens.append(Token("space", self.style.colon[1:], left))
            self._write(item, left, depth + 1, value, key)
        if value:
            self._break(depth, left)
        right: Kind = "}" if left == "{" else "]"
        opener.mate = Token(right, right, within, value, holder, slot, opener)
        self.tokens.append(opener.mate)

    def _break(self, depth: int, within: str) -> None:
        if self.style.indent is not None:
            self.tokens.append(Token("space", "\n" + self.style.indent * depth, within))

    def text(self) -> str:
        """The document with its wrappers."""
        text = self.inner()
        for wrapper in self.wrappers:
            text = wrapper(text)
        return text

    def inner(self) -> str:
        """The document without its wrappers."""
        return "".join(token.text for token in self.tokens)

    def at(self, token: Token) -> int:
        return next(i for i, other in enumerate(self.tokens) if other is token)

    def step(self, at: int, by: int) -> Token | None:
        """The next token that is not white space, forwards or backwards."""
        at += by
        while 0 <= at < len(self.tokens):
            if self.tokens[at].kind != "space":
                return self.tokens[at]
            at += by
        return None

    def behind(self, at: int) -> Token:
        """The token right behind one, white space too; an empty one behind the last."""
        return self.tokens[at + 1] if at + 1 < len(self.tokens) else Token("raw", "")

    def next(self, at: int) -> Token | None:
        return self.step(at, 1)

    def prev(self, at: int) -> Token | None:
        return self.step(at, -1)

    def untouched(self) -> bool:
        return not any(token.touched for token in self.tokens)

    def free(self, at: int, radius: int = 6) -> bool:
        """Whether no slip was made near a token."""
        return not any(t.touched for t in self.tokens[max(0, at - radius) : at + radius + 1])

    def picks(self, test: Callable[[int, Token], object]) -> list[int]:
        """The free tokens that pass a test."""
        return [i for i, t in enumerate(self.tokens) if t.text and test(i, t) and self.free(i)]

    def set(self, at: int, text: str) -> None:
        """Changes the text of a token."""
        self.tokens[at].text = text
        self.tokens[at].touched = True

    def insert(self, at: int, text: str) -> None:
        """Puts raw text before a token."""
        self.tokens.insert(at, Token("raw", text, touched=True))

    def value(self, token: Token, value: Any) -> None:
        """Changes the value of a token in the truth."""
        token.value = value
        token.holder[token.slot] = value


def document(rng: random.Random) -> Doc:
    """A document of a random shape in a random style."""
    return Doc.write(rng.choice(SHAPES)(rng), Style.random(rng))
