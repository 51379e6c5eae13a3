"""Slips of quotes, escapes, keys and bare text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from documents import CLOSERS, LATEX, Doc, Token, sentence
from slip_base import bare, choose, identifier, plain, slip

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

STRINGS = ("key", "string")
CURLY = ("\u201c", "\u201d")
CURLY_SINGLE = ("\u2018", "\u2019")


def body(token: Token) -> str:
    """What stands between the quotes."""
    return token.text[1:-1]


def one(
    rng: random.Random,
    doc: Doc,
    test: Callable[[int, Token], object],
    written: Callable[[Token], str],
) -> bool:
    """Writes one token in another way."""
    at = choose(rng, doc, test)
    if at is None:
        return False
    doc.set(at, written(doc.tokens[at]))
    return True


def all_strings(doc: Doc, written: Callable[[Token], str]) -> bool:
    """Writes all keys and strings in another way."""
    if not doc.untouched():
        return False
    for token in doc.tokens:
        if token.kind in STRINGS:
            token.text, token.touched = written(token), True
    return True


def single(token: Token) -> str:
    return "'" + body(token).replace('\\"', '"').replace("'", "\\'") + "'"


def ends_line(doc: Doc, at: int) -> bool:
    """Whether a value is followed by a comma and a line break, or by a line break alone."""
    after = doc.behind(at)
    if after.kind == ",":
        after = doc.behind(at + 1)
    return after.kind == "space" and "\n" in after.text


@slip()
def key_unquoted(rng: random.Random, doc: Doc) -> bool:
    return one(rng, doc, lambda i, t: t.kind == "key" and identifier(t.value), body)


@slip()
def keys_unquoted(rng: random.Random, doc: Doc) -> bool:
    return all_strings(
        doc, lambda t: body(t) if t.kind == "key" and identifier(t.value) else t.text
    )


@slip()
def value_unquoted(rng: random.Random, doc: Doc) -> bool:
    return one(rng, doc, lambda i, t: bare(t) and t.within, body)


@slip()
def quotes_single(rng: random.Random, doc: Doc) -> bool:
    return all_strings(doc, single)


@slip()
def quotes_single_one(rng: random.Random, doc: Doc) -> bool:
    return one(rng, doc, lambda i, t: t.kind in STRINGS, single)


@slip()
def apostrophe_in_single_quotes(rng: random.Random, doc: Doc) -> bool:
    """`'it's'`: the apostrophe is not escaped."""

    def fits(i: int, token: Token) -> bool:
        return token.kind == "string" and isinstance(token.value, str) and "'s " in token.value

    if not doc.untouched():
        return False
    picks = doc.picks(fits)
    if not picks:
        return False
    chosen = doc.tokens[rng.choice(picks)]
    return all_strings(doc, lambda t: f"'{body(t)}'" if t is chosen else single(t))


@slip()
def python_repr(rng: random.Random, doc: Doc) -> bool:
    if not doc.untouched():
        return False
    for token in doc.tokens:
        if token.kind in (*STRINGS, "literal"):
            token.text, token.touched = repr(token.value), True
    return True


@slip()
def quotes_curly(rng: random.Random, doc: Doc) -> bool:
    left, right = rng.choice([CURLY, CURLY_SINGLE])
    return all_strings(doc, lambda t: left + body(t) + right)


@slip()
def quotes_curly_one(rng: random.Random, doc: Doc) -> bool:
    return one(rng, doc, lambda i, t: t.kind in STRINGS, lambda t: CURLY[0] + body(t) + CURLY[1])


@slip(hard=True)
def quote_curly_closes_straight(rng: random.Random, doc: Doc) -> bool:
    return one(rng, doc, lambda i, t: bare(t), lambda t: f'"{body(t)}\u201d')


@slip()
def quote_straight_closes_curly(rng: random.Random, doc: Doc) -> bool:
    return one(rng, doc, lambda i, t: bare(t), lambda t: f'\u201c{body(t)}"')


@slip()
def quotes_backtick(rng: random.Random, doc: Doc) -> bool:
    return one(
        rng, doc, lambda i, t: t.kind in STRINGS and "`" not in t.text, lambda t: f"`{body(t)}`"
    )


@slip(hard=True)
def quotes_doubled(rng: random.Random, doc: Doc) -> bool:
    if not all(plain(t.value) for t in doc.tokens if t.kind == "string"):
        return False
    return all_strings(doc, lambda t: f'"{t.text}"')


@slip()
def quotes_triple(rng: random.Random, doc: Doc) -> bool:
    def fits(i: int, token: Token) -> bool:
        value = token.value
        return token.kind == "string" and value and "\\" not in value and value[-1] != '"'

    return one(rng, doc, fits, lambda t: f'"""{t.value}"""')


@slip()
def quotes_escaped(rng: random.Random, doc: Doc) -> bool:
    return one(
        rng,
        doc,
        lambda i, t: bare(t),
        lambda t: f'\\"{body(t)}\\"',
    )


@slip()
def key_quote_missing_before(rng: random.Random, doc: Doc) -> bool:
    return one(rng, doc, lambda i, t: t.kind == "key" and identifier(t.value), lambda t: t.text[1:])


@slip(hard=True)
def key_quote_missing_before_single(rng: random.Random, doc: Doc) -> bool:
    keys = [t for i, t in enumerate(doc.tokens) if t.kind == "key" and identifier(t.value)]
    if len(keys) < 2:
        return False
    chosen = rng.choice(keys[1:])
    return all_strings(doc, lambda t: f"{body(t)}'" if t is chosen else single(t))


@slip()
def key_quote_missing_behind(rng: random.Random, doc: Doc) -> bool:
    return one(
        rng, doc, lambda i, t: t.kind == "key" and identifier(t.value), lambda t: t.text[:-1]
    )


@slip()
def quote_missing_before(rng: random.Random, doc: Doc) -> bool:
    return one(
        rng,
        doc,
        lambda i, t: t.within == "{" and bare(t),
        lambda t: t.text[1:],
    )


@slip()
def quote_missing_behind(rng: random.Random, doc: Doc) -> bool:
    """At the end of a line, before a comma."""
    return one(
        rng,
        doc,
        lambda i, t: (
            t.within == "{" and bare(t) and ends_line(doc, i) and doc.behind(i).kind == ","
        ),
        lambda t: t.text[:-1],
    )


@slip()
def quote_missing_behind_same_line(rng: random.Random, doc: Doc) -> bool:
    def fits(i: int, token: Token) -> bool:
        after = doc.behind(i)
        return token.within == "{" and bare(token) and after.kind == "," and not ends_line(doc, i)

    return one(rng, doc, fits, lambda t: t.text[:-1])


@slip(hard=True)
def quote_missing_before_closer(rng: random.Random, doc: Doc) -> bool:
    def fits(i: int, token: Token) -> bool:
        after = doc.next(i)
        return bare(token) and after is not None and after.kind in CLOSERS

    return one(rng, doc, fits, lambda t: t.text[:-1])


def inner(rng: random.Random, doc: Doc, make: Callable[[str], str]) -> bool:
    """A string with unescaped quotes inside, made from words."""
    at = choose(rng, doc, lambda i, t: bare(t))
    if at is None:
        return False
    value = make(sentence(rng, 1, 3).rstrip(".!"))
    doc.value(doc.tokens[at], value)
    doc.set(at, f'"{value}"')
    return True


@slip()
def inner_quotes_words(rng: random.Random, doc: Doc) -> bool:
    forms = ('they said "{}" to us', 'the so-called "{}" rule, and more', 'use "{}" or "it"')
    form = rng.choice(forms)
    return inner(rng, doc, lambda words: form.format(words))


@slip()
def inner_quotes_at_an_edge(rng: random.Random, doc: Doc) -> bool:
    form = rng.choice(('"{}" was the answer', 'the answer was "{}"', '"{}" and "no"'))
    return inner(rng, doc, lambda words: form.format(words))


@slip()
def inner_quotes_markup(rng: random.Random, doc: Doc) -> bool:
    form = rng.choice(('see <a href="x.html">{}</a> here', 'an <img alt="{}" src="a.png"/> tag'))
    return inner(rng, doc, lambda words: form.format(words))


@slip(hard=True)
def inner_quotes_json(rng: random.Random, doc: Doc) -> bool:
    forms = (
        'it returned {{"status": "{}"}} twice',
        'expected ["{}", "b"] but got none',
        'set {{"a": {{"b": "{}"}}}} first',
    )
    form = rng.choice(forms)
    return inner(rng, doc, lambda words: form.format(words))


@slip(hard=True)
def inner_quotes_code(rng: random.Random, doc: Doc) -> bool:
    forms = (
        'call f("{}") and then stop',
        'read a["{}"]["k"] first',
        'match [^"]+ around {}',
        'print("{}", end="") is fine',
    )
    form = rng.choice(forms)
    return inner(rng, doc, lambda words: form.format(words.lower()))


@slip(second=True)
def raw_newline(rng: random.Random, doc: Doc) -> bool:
    return one(
        rng,
        doc,
        lambda i, t: t.kind == "string" and "\\n" in t.text and "\\\\" not in t.text,
        lambda t: t.text.replace("\\n", "\n"),
    )


@slip()
def raw_tab(rng: random.Random, doc: Doc) -> bool:
    at = choose(rng, doc, lambda i, t: bare(t))
    if at is None:
        return False
    token = doc.tokens[at]
    doc.value(token, token.value + "\tend")
    doc.set(at, f'"{token.value}"')
    return True


def with_backslashes(rng: random.Random, doc: Doc, *values: str) -> bool:
    """A string whose backslashes are written once."""
    at = choose(rng, doc, lambda i, t: bare(t))
    if at is None:
        return False
    value = rng.choice(values)
    doc.value(doc.tokens[at], value)
    doc.set(at, f'"{value}"')
    return True


@slip()
def bad_escape(rng: random.Random, doc: Doc) -> bool:
    return with_backslashes(
        rng, doc, r"^\d{3}-\w+$", r"\s*[,;]\s*", r"C:\Users\me\docs", r"a \* b \_ c", r"\[x\] \(y\)"
    )


@slip(hard=True)
def latex_with_single_backslashes(rng: random.Random, doc: Doc) -> bool:
    return with_backslashes(rng, doc, *LATEX)


@slip()
def apostrophe_escaped(rng: random.Random, doc: Doc) -> bool:
    return one(
        rng,
        doc,
        lambda i, t: t.kind == "string" and "'" in t.text and "\\" not in t.text,
        lambda t: t.text.replace("'", "\\'"),
    )


@slip()
def concatenation(rng: random.Random, doc: Doc) -> bool:
    def written(token: Token) -> str:
        cut = len(token.value) // 2
        halves = token.value[:cut], token.value[cut:]
        return " + ".join(json.dumps(half, ensure_ascii=False) for half in halves)

    return one(rng, doc, lambda i, t: bare(t), written)


@slip(hard=True)
def bold_keys(rng: random.Random, doc: Doc) -> bool:
    if rng.random() < 0.5:
        return one(rng, doc, lambda i, t: t.kind == "key", lambda t: f"**{t.text}**")
    return all_strings(doc, lambda t: f"**{t.text}**" if t.kind == "key" else t.text)


@slip()
def call_around_value(rng: random.Random, doc: Doc) -> bool:
    name = rng.choice(["Date", "ObjectId", "ISODate", "str"])
    return one(rng, doc, lambda i, t: bare(t), lambda t: f"{name}({t.text})")


@slip()
def string_prefix(rng: random.Random, doc: Doc) -> bool:
    letter = rng.choice("bur")
    return one(
        rng,
        doc,
        lambda i, t: bare(t),
        lambda t: letter + single(t),
    )
