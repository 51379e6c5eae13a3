"""The examples that ``init`` writes and ``demo`` runs: a gate and outputs for each."""

from __future__ import annotations

from typing import Any, NamedTuple


class Example(NamedTuple):
    """A gate with outputs of which some pass and some do not.

    Attributes:
        about: what the outputs are, in a few words.
        gate: the text of the gate file.
        outputs: the texts.
        passing: the indices of those that pass.
    """

    about: str
    gate: str
    outputs: tuple[str, ...]
    passing: tuple[int, ...]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The outputs as rows of a file."""
        return [{"id": i, "output": text} for i, text in enumerate(self.outputs)]


EXAMPLES = {
    "json-api": Example(
        "answers that a program reads",
        """{
  // An answer is JSON with a status and data, and no apology around it.
  "scorers": [
    {
      "name": "shape",
      "type": "json-schema",
      "schema": {
        "type": "object",
        "required": ["status", "data"],
        "properties": {"status": {"enum": ["success", "error"]}, "data": {"type": "object"}}
      }
    },
    {"name": "no-apology", "type": "regex", "pattern": "as an AI|I cannot", "flags": "i", "negate": true},
    {"name": "size", "type": "length-range", "min": 10, "max": 4000}
  ]
}
""",
        (
            '{"status": "success", "data": {"city": "Oslo", "degrees": -3}}',
            'Here it is:\n```json\n{"status": "success", "data": {"city": "Lima"}}\n```',
            '{"status": "error", "data": {}}',
            '{"status": "done", "data": {"city": "Rome"}}',
            '{"status": "success"}',
            "I cannot answer that.",
            '{"status": "success", "data": {"city": "Bonn"',
            '{"status": "success", "data": {"note": "as an AI I would say 12"}}',
        ),
        (0, 1, 2),
    ),
    "rag": Example(
        "answers from documents",
        """{
  // An answer names its sources as [1], [2] and is neither a refusal nor an essay.
  "combine": "weighted",
  "weights": [5, 3, 2],
  "threshold": 0.8,
  "scorers": [
    {"name": "cites", "type": "regex", "pattern": "\\\\[\\\\d+\\\\]"},
    {"name": "answers", "type": "regex", "pattern": "not (in|part of) the (context|documents)", "flags": "i", "negate": true},
    {"name": "length", "type": "length-range", "unit": "word", "min": 5, "max": 120}
  ]
}
""",
        (
            "The warranty lasts two years from the day of delivery [2].",
            "Returns are free within 30 days [1], later ones cost 5 euros [3].",
            "See [4].",
            "This is not in the context, so I do not know [1].",
            "The warranty lasts two years.",
            "That is not part of the documents.",
        ),
        (0, 1, 2),
    ),
    "agent": Example(
        "reports of an agent that changed code",
        """{
  // The report says that the tests ran clean, and nothing destructive was run.
  "scorers": [
    {"name": "tests", "type": "regex", "pattern": "\\\\b\\\\d+ passed\\\\b(?!.*\\\\b[1-9]\\\\d* failed)", "flags": "s"},
    {"name": "no-force", "type": "regex", "pattern": "push --force|rm -rf /|--no-verify", "negate": true},
    {"name": "says-done", "type": "contains", "value": "DONE"}
  ]
}
""",
        (
            "Fixed the parser. 214 passed, 0 failed. DONE",
            "Renamed the field everywhere; 18 passed in 2.1s. DONE",
            "Fixed it. 213 passed, 1 failed. DONE",
            "Fixed it, 20 passed. I had to git push --force. DONE",
            "I think that it works now. DONE",
            "31 passed",
        ),
        (0, 1),
    ),
    "summary": Example(
        "summaries of articles",
        """{
  // Two to four plain sentences, without a heading or a phrase that says nothing.
  "scorers": [
    {"name": "length", "type": "length-range", "unit": "word", "min": 12, "max": 80},
    {"name": "plain", "type": "regex", "pattern": "^(#|[-*] )", "flags": "m", "negate": true},
    {"name": "no-filler", "type": "regex", "pattern": "this article|in conclusion|delves", "flags": "i", "negate": true}
  ]
}
""",
        (
            "The city council voted to close two streets to cars from May. Shops may be supplied "
            "before ten in the morning.",
            "Researchers measured the glacier for eleven years. It lost a third of its volume, most "
            "of it since 2021.",
            "# Summary\nThe council voted to close two streets to cars, and shops are supplied early.",
            "This article delves into the closing of two streets to cars by the city council.",
            "Two streets close.",
        ),
        (0, 1),
    ),
}
