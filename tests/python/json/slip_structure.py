"""Slips of commas, colons, closers, literals and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from documents import CLOSERS, OPENERS, SCALARS, Doc, Token
from slip_base import choose, plain, slip

if TYPE_CHECKING:
    import random


def replace(rng: random.Random, doc: Doc, kind: str, *signs: str) -> bool:
    """Another sign in place of one that stands between tokens."""
    at = choose(rng, doc, lambda i, t: t.kind == kind)
    if at is None:
        return False
    doc.set(at, rng.choice(signs))
    return True


def comma_between(rng: random.Random, doc: Doc, first: tuple[str, ...], gap: bool | None) -> bool:
    """A comma dropped behind one of some kinds; `gap`: with white space behind it, or none."""

    def fits(i: int, token: Token) -> bool:
        if token.kind != "," or doc.tokens[i - 1].kind not in first:
            return False
        # Two numbers or words without a space between are one.
        following = doc.next(i)
        if following is None or (gap is False and following.kind in ("number", "literal")):
            return False
        return gap is None or (doc.behind(i).kind == "space") == gap

    at = choose(rng, doc, fits)
    if at is None:
        return False
    doc.set(at, "")
    return True


def closes(token: Token) -> bool:
    return token.kind in CLOSERS


def filled(token: Token) -> bool:
    """A closer whose container is not empty."""
    return closes(token) and bool(token.value)


@slip(second=True)
def comma_trailing(rng: random.Random, doc: Doc) -> bool:
    at = choose(rng, doc, lambda i, t: filled(t))
    if at is None:
        return False
    # Right behind the last value, before the white space.
    while doc.tokens[at - 1].kind == "space":
        at -= 1
    doc.insert(at, ",")
    return True


@slip()
def comma_leading(rng: random.Random, doc: Doc) -> bool:
    at = choose(rng, doc, lambda i, t: t.kind in OPENERS and t.value)
    if at is None:
        return False
    doc.insert(at + 1, rng.choice([",", ", "]))
    return True


@slip()
def comma_doubled(rng: random.Random, doc: Doc) -> bool:
    return replace(rng, doc, ",", ",,", ", ,", ",,,")


@slip(second=True)
def comma_missing_between_lines(rng: random.Random, doc: Doc) -> bool:
    return bool(doc.style.indent) and comma_between(rng, doc, ("string", *CLOSERS), True)


@slip()
def comma_missing_with_space(rng: random.Random, doc: Doc) -> bool:
    return not doc.style.indent and comma_between(rng, doc, ("string", *CLOSERS), True)


@slip(hard=True)
def comma_missing_without_space(rng: random.Random, doc: Doc) -> bool:
    return comma_between(rng, doc, ("string", *CLOSERS), False)


@slip()
def comma_missing_behind_scalar(rng: random.Random, doc: Doc) -> bool:
    return comma_between(rng, doc, ("number", "literal"), True)


@slip(hard=True)
def comma_missing_right_behind_scalar(rng: random.Random, doc: Doc) -> bool:
    return comma_between(rng, doc, ("number", "literal"), False)


@slip()
def comma_is_semicolon(rng: random.Random, doc: Doc) -> bool:
    return replace(rng, doc, ",", ";")


@slip()
def full_width_sign(rng: random.Random, doc: Doc) -> bool:
    kind = rng.choice([",", ":"])
    return replace(rng, doc, kind, "\uff0c" if kind == "," else "\uff1a")


@slip()
def colon_missing(rng: random.Random, doc: Doc) -> bool:
    at = choose(rng, doc, lambda i, t: t.kind == ":" and doc.behind(i).kind == "space")
    if at is None:
        return False
    doc.set(at, "")
    return True


@slip(hard=True)
def colon_missing_without_space(rng: random.Random, doc: Doc) -> bool:
    at = choose(rng, doc, lambda i, t: t.kind == ":" and doc.behind(i).kind != "space")
    if at is None:
        return False
    doc.set(at, "")
    return True


@slip()
def colon_wrong(rng: random.Random, doc: Doc) -> bool:
    return replace(rng, doc, ":", "=", " =>", "::", " =")


@slip()
def value_missing(rng: random.Random, doc: Doc) -> bool:
    at = choose(rng, doc, lambda i, t: t.kind in SCALARS and t.within == "{")
    if at is None:
        return False
    doc.value(doc.tokens[at], None)
    doc.set(at, "")
    return True


@slip(alone=True)
def closers_missing_at_the_end(rng: random.Random, doc: Doc) -> bool:
    last = [i for i, t in enumerate(doc.tokens) if t.kind != "space"]
    count = 0
    while closes(doc.tokens[last[-1 - count]]):
        count += 1
    for at in last[len(last) - rng.randint(1, count) :]:
        doc.set(at, "")
    return True


@slip()
def closer_missing_inside(rng: random.Random, doc: Doc) -> bool:
    """The list before a key, or the object before an object of the same list."""

    def fits(i: int, token: Token) -> bool:
        comma = doc.next(i)
        if not filled(token) or comma is None or comma.kind != ",":
            return False
        after = doc.next(doc.at(comma))
        if token.kind == "]":
            last = doc.prev(i)
            # `[{..}, "key": 1` could go on in two places.
            return token.within == "{" and last is not None and last.kind in SCALARS
        return token.within == "[" and after is not None and after.kind == "{"

    at = choose(rng, doc, fits)
    if at is None:
        return False
    doc.set(at, "")
    return True


@slip()
def closer_missing_before_closer(rng: random.Random, doc: Doc) -> bool:
    """The last inner container ends with its outer one, of the other kind."""

    def fits(i: int, token: Token) -> bool:
        after = doc.next(i)
        return filled(token) and after is not None and closes(after) and after.kind != token.kind

    at = choose(rng, doc, fits)
    if at is None:
        return False
    doc.set(at, "")
    return True


@slip()
def closer_wrong(rng: random.Random, doc: Doc) -> bool:
    def fits(i: int, token: Token) -> bool:
        # Where the outer container is of the kind of the wrong closer, both readings are fair at
        # its last item.
        after = doc.next(i)
        return filled(token) and (after is None or after.kind == ",")

    at = choose(rng, doc, fits)
    if at is None:
        return False
    doc.set(at, "]" if doc.tokens[at].kind == "}" else "}")
    return True


@slip(hard=True)
def closer_is_round(rng: random.Random, doc: Doc) -> bool:
    at = choose(rng, doc, lambda i, t: filled(t))
    if at is None:
        return False
    doc.set(at, ")")
    return True


@slip()
def closer_surplus_at_the_end(rng: random.Random, doc: Doc) -> bool:
    last = doc.tokens[-1]
    if last.touched:
        return False
    doc.set(len(doc.tokens) - 1, last.text + rng.choice(["}", "]", last.text, last.text * 2]))
    return True


@slip()
def closer_surplus_inside(rng: random.Random, doc: Doc) -> bool:
    """A closer twice, with more keys or items of the outer container behind it."""

    def fits(i: int, token: Token) -> bool:
        after = doc.next(i)
        if not filled(token) or after is None or after.kind != ",":
            return False
        # Of `[[1]], [2]` and of two objects in one another both readings are fair.
        return token.mate is not None and token.within != ("{" if token.kind == "}" else "[")

    at = choose(rng, doc, fits)
    if at is None:
        return False
    doc.set(at, doc.tokens[at].text * 2)
    return True


def root_members(doc: Doc) -> list[int]:
    """The commas between the members of an object that is the root."""
    depth = 0
    found = []
    for i, token in enumerate(doc.tokens):
        depth += (token.kind in OPENERS) - (token.kind in CLOSERS)
        if depth == 1 and token.kind == ",":
            found.append(i)
    return found if isinstance(doc.truth, dict) and doc.untouched() else []


@slip(alone=True)
def closer_too_early(rng: random.Random, doc: Doc) -> bool:
    commas = root_members(doc)
    if not commas:
        return False
    doc.set(rng.choice(commas), "},")
    return True


@slip(hard=True, alone=True)
def closer_too_early_without_comma(rng: random.Random, doc: Doc) -> bool:
    commas = root_members(doc)
    if not commas:
        return False
    at = rng.choice(commas)
    doc.set(at, "}" if doc.behind(at).kind == "space" else "} ")
    return True


@slip(hard=True, alone=True)
def first_brace_missing(rng: random.Random, doc: Doc) -> bool:
    if not isinstance(doc.truth, dict) or len(doc.truth) < 2 or not doc.untouched():
        return False
    doc.set(0, "")
    if doc.tokens[1].kind == "space":
        doc.set(1, "")
    return True


@slip(hard=True)
def list_is_split(rng: random.Random, doc: Doc) -> bool:
    """`"key": ["a"], ["b"], "next": 1`: a list in two, the second without a key."""

    def fits(i: int, token: Token) -> bool:
        if token.kind != "," or token.within != "[":
            return False
        depth, at = 0, i
        while depth or doc.tokens[at].kind != "[":
            at -= 1
            if doc.tokens[at].kind in ("{", "}"):
                return False
            depth += (doc.tokens[at].kind == "]") - (doc.tokens[at].kind == "[" and depth > 0)
        opener = doc.tokens[at]
        items = opener.value
        close = doc.at(opener.mate) if opener.mate else i
        after = doc.next(close)
        return (
            opener.within == "{"
            and all(plain(item) for item in items)
            and after is not None
            and after.kind == ","
        )

    at = choose(rng, doc, fits)
    if at is None:
        return False
    doc.set(at, "], [")
    return True


@slip(hard=True)
def row_without_opener(rng: random.Random, doc: Doc) -> bool:
    def fits(i: int, token: Token) -> bool:
        rows = token.holder
        return (
            token.kind == "["
            and token.within == "["
            and all(isinstance(row, list) and len(row) > 1 for row in rows)
            and all(isinstance(item, str) for row in rows for item in row)
            and 0 < token.slot < len(rows) - 1
        )

    at = choose(rng, doc, fits)
    if at is None:
        return False
    doc.set(at, "")
    return True


@slip()
def tuple_for_list(rng: random.Random, doc: Doc) -> bool:
    at = choose(rng, doc, lambda i, t: t.kind == "[" and t.within and len(t.value) > 1)
    if at is None or doc.tokens[at].mate is None:
        return False
    doc.set(at, "(")
    doc.set(doc.at(doc.tokens[at].mate), ")")  # type: ignore[arg-type]
    return True


PYTHON = {True: "True", False: "False", None: "None"}


def literal(rng: random.Random, doc: Doc, written: dict[Any, list[str]]) -> bool:
    at = choose(rng, doc, lambda i, t: t.kind == "literal" and t.value in written)
    if at is None:
        return False
    doc.set(at, rng.choice(written[doc.tokens[at].value]))
    return True


@slip(second=True)
def python_literal(rng: random.Random, doc: Doc) -> bool:
    return literal(rng, doc, {True: ["True"], False: ["False"], None: ["None"]})


@slip()
def other_literal(rng: random.Random, doc: Doc) -> bool:
    return literal(rng, doc, {True: ["TRUE"], False: ["FALSE"], None: ["NULL", "undefined"]})


@slip()
def not_a_number(rng: random.Random, doc: Doc) -> bool:
    at = choose(rng, doc, lambda i, t: t.kind == "number")
    if at is None:
        return False
    written = rng.choice(["NaN", "Infinity", "-Infinity"])
    doc.value(doc.tokens[at], float(written))
    doc.set(at, written)
    return True


def positive(token: Token) -> bool:
    return token.kind == "number" and isinstance(token.value, int) and 10 <= token.value < 10**6


@slip()
def plus_sign(rng: random.Random, doc: Doc) -> bool:
    at = choose(rng, doc, lambda i, t: t.kind == "number" and t.value > 0)
    if at is None:
        return False
    doc.set(at, "+" + doc.tokens[at].text)
    return True


@slip(hard=True)
def leading_zero(rng: random.Random, doc: Doc) -> bool:
    at = choose(rng, doc, lambda i, t: positive(t))
    if at is None:
        return False
    doc.set(at, "0" + doc.tokens[at].text)
    return True


@slip()
def bare_point(rng: random.Random, doc: Doc) -> bool:
    at = choose(rng, doc, lambda i, t: t.kind == "number" and t.text.startswith("0."))
    if at is None:
        return False
    doc.set(at, doc.tokens[at].text[1:])
    return True


@slip()
def underscores(rng: random.Random, doc: Doc) -> bool:
    at = choose(
        rng, doc, lambda i, t: t.kind == "number" and type(t.value) is int and t.value > 999
    )
    if at is None:
        return False
    doc.set(at, f"{doc.tokens[at].value:_}")
    return True


@slip(hard=True)
def note_behind_scalar(rng: random.Random, doc: Doc) -> bool:
    at = choose(rng, doc, lambda i, t: t.kind in ("number", "literal"))
    if at is None:
        return False
    note = rng.choice(["(approx)", "(estimated)", "(see note)", "(unknown)"])
    doc.set(at, f"{doc.tokens[at].text} {note}")
    return True


@slip(hard=True)
def word_before_closer(rng: random.Random, doc: Doc) -> bool:
    def fits(i: int, token: Token) -> bool:
        last = doc.prev(i)
        return token.kind == "}" and last is not None and last.kind == "string"

    at = choose(rng, doc, fits)
    if at is None:
        return False
    doc.insert(at, rng.choice([" AAAA ", " end ", " ok ", " xx "]))
    return True


@slip()
def ellipsis(rng: random.Random, doc: Doc) -> bool:
    at = choose(rng, doc, lambda i, t: t.kind == "]" and t.value)
    if at is None:
        return False
    while doc.tokens[at - 1].kind == "space":
        at -= 1
    doc.insert(at, rng.choice([", ...", ",...", ", \u2026"]))
    return True
