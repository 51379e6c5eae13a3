"""Texts that others wrote, as the judge layer keeps and shows them."""

from __future__ import annotations


def clean(text: str) -> str:
    """The text as UTF-8 can hold it: surrogate pairs are joined, lone halves become U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def cut(text: str, most: int) -> str:
    """The text, or its start and ``…``, in at most so many bytes of UTF-8."""
    if len(text) * 4 <= most:
        return text
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= most:
        return text
    end = most - len("…".encode())
    while end > 0 and data[end] & 0xC0 == 0x80:  # within a character
        end -= 1
    return data[: max(0, end)].decode("utf-8", "surrogatepass") + "…"
