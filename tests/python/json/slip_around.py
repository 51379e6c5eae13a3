"""Slips around a document: comments, prose, fences, wrappers, cuts, several documents."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any

from documents import CLOSERS, OPENERS, Doc, Token, record, sentence
from slip_base import choose, slip

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

NOTES = (
    "checked by hand",
    'was "old": 3, before',
    "TODO: confirm [1]",
    "don't change",
    "see the docs, section 4",
)


def comment(rng: random.Random, doc: Doc, form: str) -> bool:
    """A comment at the end of a line, behind a comma or an opener."""

    def fits(i: int, token: Token) -> bool:
        return token.kind == "space" and "\n" in token.text and i > 0

    at = choose(rng, doc, fits)
    if at is None:
        return False
    doc.insert(at, form.format(rng.choice(NOTES)))
    return True


@slip(second=True)
def comment_line(rng: random.Random, doc: Doc) -> bool:
    return comment(rng, doc, " // {}")


@slip()
def comment_hash(rng: random.Random, doc: Doc) -> bool:
    return comment(rng, doc, " # {}")


@slip(second=True)
def comment_block(rng: random.Random, doc: Doc) -> bool:
    at = choose(rng, doc, lambda i, t: t.kind in (",", ":", *OPENERS) and t.within)
    if at is None:
        return False
    doc.insert(at + 1, f" /* {rng.choice(NOTES)} */ ")
    return True


@slip()
def comment_own_line(rng: random.Random, doc: Doc) -> bool:
    at = choose(rng, doc, lambda i, t: t.kind == "space" and "\n" in t.text)
    if at is None:
        return False
    sign = rng.choice(["//", "#"])
    doc.insert(at, f'{doc.tokens[at].text}{sign} "draft": {rng.randint(1, 9)},')
    return True


def wrap(doc: Doc, wrapper: Callable[[str], str]) -> bool:
    doc.wrappers.append(wrapper)
    return True


def around(rng: random.Random, doc: Doc, *forms: str) -> bool:
    form = rng.choice(forms)
    return wrap(doc, lambda text: form.replace("{}", text))


@slip(second=True)
def prose_before(rng: random.Random, doc: Doc) -> bool:
    return around(
        rng,
        doc,
        "Here is the result:\n\n{}",
        "Sure! The JSON you asked for: {}",
        "I've checked it; \"it's fine\" they say.\n{}",
    )


@slip(second=True)
def prose_behind(rng: random.Random, doc: Doc) -> bool:
    return around(
        rng,
        doc,
        "{}\n\nLet me know if you need anything else.",
        '{}\nNote: "score" is on a scale from 1 to 5, and I can\'t be sure.',
        "{} Done.",
    )


@slip()
def prose_on_both_sides(rng: random.Random, doc: Doc) -> bool:
    return prose_before(rng, doc) and prose_behind(rng, doc)


@slip(second=True)
def fence_with_tag(rng: random.Random, doc: Doc) -> bool:
    return around(
        rng, doc, "```json\n{}\n```", "Here:\n```JSON\n{}\n```\nDone.", "```json5\n{}\n```"
    )


@slip(second=True)
def fence_without_tag(rng: random.Random, doc: Doc) -> bool:
    return around(rng, doc, "```\n{}\n```", "Result:\n\n```\n{}\n```")


@slip()
def fence_unclosed(rng: random.Random, doc: Doc) -> bool:
    return around(rng, doc, "```json\n{}", "Here:\n```json\n{}\n", "```\n{}")


@slip()
def fence_of_tildes(rng: random.Random, doc: Doc) -> bool:
    return around(rng, doc, "~~~json\n{}\n~~~", "~~~\n{}\n~~~\nThat is all.")


@slip()
def fence_closed_only(rng: random.Random, doc: Doc) -> bool:
    return around(rng, doc, "{}\n```")


@slip(hard=True)
def text_in_fence(rng: random.Random, doc: Doc) -> bool:
    """The document is assigned to a name inside of a fence."""
    return isinstance(doc.truth, dict) and around(
        rng, doc, "```python\nresult = {}\n```", "```js\nconst data = {};\n```"
    )


@slip()
def reasoning_before(rng: random.Random, doc: Doc) -> bool:
    return around(
        rng,
        doc,
        '<think>The user wants {"a": 1} or a list [1, 2]. I\'ll answer.</think>\n{}',
        "<thinking>\nMaybe [x]? No: {y}.\n</thinking>\n\n{}",
        "Let me see.\n</think>\n{}",
    )


@slip()
def citations_before(rng: random.Random, doc: Doc) -> bool:
    return isinstance(doc.truth, dict) and around(
        rng,
        doc,
        "According to [1] and [2, 3], this holds.\n{}",
        "See [docs](https://example.com/a) first: {}",
        "Fill in {name} and [date] as follows:\n{}",
    )


@slip()
def tagged(rng: random.Random, doc: Doc) -> bool:
    return around(
        rng,
        doc,
        "<tool_call>\n{}\n</tool_call>",
        "<json>{}</json>",
        "<answer>\n{}\n</answer> I hope it helps.",
        "<|tool_call|>{}<|end|>",
    )


@slip()
def call_around_document(rng: random.Random, doc: Doc) -> bool:
    return around(rng, doc, "callback({});", "json.loads({})", "print({})", "f({})")


@slip()
def assigned(rng: random.Random, doc: Doc) -> bool:
    return around(rng, doc, "result = {}", "const x = {};", "json: {}", "Output: {}")


@slip(hard=True)
def section_marks(rng: random.Random, doc: Doc) -> bool:
    return isinstance(doc.truth, dict) and around(
        rng,
        doc,
        "[[ ## answer ## ]]\n{}",
        "[[ ## y ## ]]\n{}\n\n[[ ## completed ## ]]",
        "# Result\n\n## Part 1\n{}",
    )


@slip(alone=True)
def escaped_document(rng: random.Random, doc: Doc) -> bool:
    return wrap(doc, lambda text: json.dumps(text, ensure_ascii=False)[1:-1])


@slip(hard=True, alone=True)
def html_entities(rng: random.Random, doc: Doc) -> bool:
    return wrap(doc, lambda text: html.escape(text, quote=True).replace("&#x27;", "'"))


@slip(hard=True, alone=True)
def block_quote(rng: random.Random, doc: Doc) -> bool:
    return "\n" in doc.inner() and wrap(
        doc, lambda text: "\n".join("> " + line for line in text.split("\n"))
    )


@slip(hard=True, alone=True)
def list_marks(rng: random.Random, doc: Doc) -> bool:
    mark = rng.choice(["* ", "  * ", "- ", "    "])
    return "\n" in doc.inner() and wrap(
        doc, lambda text: "\n".join(mark + line for line in text.split("\n"))
    )


@slip()
def unusual_space(rng: random.Random, doc: Doc) -> bool:
    at = choose(rng, doc, lambda i, t: t.kind == "space")
    if at is None:
        return False
    doc.set(at, rng.choice(["\u00a0", "\u3000", "\u200b", "\ufeff"]) + doc.tokens[at].text)
    return True


@slip()
def byte_order_mark(rng: random.Random, doc: Doc) -> bool:
    return around(rng, doc, "\ufeff{}", "\u200b{}")


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@slip(alone=True)
def newline_delimited(rng: random.Random, doc: Doc) -> bool:
    rows = doc.truth
    if not isinstance(rows, list) or len(rows) < 2 or not all(isinstance(r, dict) for r in rows):
        return False
    text = rng.choice(["\n", "\n\n", ",\n"]).join(compact(row) for row in rows)
    return wrap(doc, lambda _: text)


@slip(hard=True, alone=True)
def comments_between_documents(rng: random.Random, doc: Doc) -> bool:
    rows = doc.truth
    if not isinstance(rows, list) or len(rows) < 2 or not all(isinstance(r, dict) for r in rows):
        return False
    text = "\n// next\n".join(compact(row) for row in rows)
    return wrap(doc, lambda _: text)


@slip(hard=True, alone=True)
def two_tool_calls(rng: random.Random, doc: Doc) -> bool:
    if not isinstance(doc.truth, dict):
        return False
    first, second = doc.truth, {"name": "finish", "arguments": record(rng, 1, 3)}
    doc.truth = [first, second]
    text = "\n".join(f"<tool_call>\n{compact(v)}\n</tool_call>" for v in (first, second))
    return wrap(doc, lambda _: text)


@slip(hard=True, alone=True)
def tuple_in_fence(rng: random.Random, doc: Doc) -> bool:
    doc.truth = [rng.randint(1, 99), sentence(rng), True]
    text = "```python\n" + repr(tuple(doc.truth)) + "\n```"
    return wrap(doc, lambda _: text)


#: An escape, whole or cut; what stands before a cut one counts.
ESCAPE = re.compile(r"\\(u[0-9a-f]{0,4}|.)?", re.DOTALL)


def cut_string(written: str) -> str:
    """The value of a string's text without its closing quote."""
    kept, at = written[1:], 0
    for found in ESCAPE.finditer(kept):
        escape = found[0]
        if escape == "\\" or (escape.startswith("\\u") and len(escape) < 6):
            at = found.start()
            kept = kept[:at]
            break
    # The first half of a pair whose second half is gone.
    kept = re.sub(r"\\ud[89ab][0-9a-f]{2}$", "", kept)
    value: str = json.loads(f'"{kept}"')
    return value


def standing(tokens: list[Token]) -> Any:
    """The value that the tokens of a cut document hold; a key without its value is none."""
    root: list[Any] = []
    open_containers: list[Any] = [root]
    key: str | None = None
    for token in tokens:
        holder = open_containers[-1]
        if token.kind == "key":
            key = token.value
        elif token.kind in CLOSERS:
            open_containers.pop()
        elif token.kind not in (",", ":", "space"):
            value = token.value
            if token.kind in OPENERS:
                value = {} if token.kind == "{" else []
                open_containers.append(value)
            if isinstance(holder, dict):
                holder[key] = value
            else:
                holder.append(value)
    return root[0]


def cut(rng: random.Random, doc: Doc, fits: Callable[[Token], object]) -> bool:
    """Ends the document inside or right behind a token."""
    if not doc.untouched():
        return False
    picks = [i for i, t in enumerate(doc.tokens[:-1]) if i > 3 and fits(t)]
    if not picks:
        return False
    at = rng.choice(picks)
    token = doc.tokens[at]
    kept = token.text[: rng.randint(1, len(token.text))]
    whole = kept == token.text
    last = Token(token.kind, kept, token.within, token.value)
    before = doc.tokens[:at]
    if token.kind == "string" and not whole:
        last.value = cut_string(kept)
    elif token.kind == "number":
        # What goes on behind a sign, point or exponent is not known.
        if not kept[-1].isdigit():
            return False
        last.value = json.loads(kept)
    elif token.kind == "literal" and len(kept) < 3:
        return False
    doc.truth = standing(before if token.kind == "key" else [*before, last])
    doc.tokens = [*before, last]
    for kept_token in doc.tokens:
        kept_token.touched = True
    return True


@slip(alone=True)
def cut_anywhere(rng: random.Random, doc: Doc) -> bool:
    return cut(rng, doc, lambda t: True)


@slip(alone=True)
def cut_in_string(rng: random.Random, doc: Doc) -> bool:
    return cut(rng, doc, lambda t: t.kind == "string" and len(t.text) > 2)


@slip(alone=True)
def cut_behind_comma_or_colon(rng: random.Random, doc: Doc) -> bool:
    return cut(rng, doc, lambda t: t.kind in (",", ":"))


@slip(alone=True)
def cut_in_fence(rng: random.Random, doc: Doc) -> bool:
    return cut(rng, doc, lambda t: t.kind != "key") and around(
        rng, doc, "```json\n{}", "Here it is:\n```\n{}"
    )
