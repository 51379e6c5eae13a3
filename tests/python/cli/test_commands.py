"""What the commands do when all is well, and their options."""

from __future__ import annotations

import base64
import json
import os
import stat
from typing import Any

import pytest
import scoregate


def test_version_and_help(cli: Any) -> None:
    assert cli("--version").out == f"scoregate {scoregate.__version__}\n"
    for command in ([], ["score"], ["check"], ["schema"], ["scorers"]):
        ran = cli(*command, "--help")
        assert (ran.code, ran.err) == (0, "")
        assert "\x1b" not in ran.out
    help_text = cli("score", "--help").out
    flags = "output field id-field details threads on-error max-errors fail-under limit progress"
    for flag in f"{flags} json phase quarantine".split():
        assert f"--{flag}" in help_text
    assert "scoregate score gate.json outputs.jsonl -o results.jsonl" in help_text


def test_usage_errors(cli: Any) -> None:
    cli.rows("in.jsonl", "ok")
    for args in (
        ["--details", "some"],
        ["--threads", "0"],
        ["--limit", "0"],
        ["--fail-under", "1.5"],
        ["--fail-under", "101%"],
        ["--fail-under", "most"],
        ["--max-errors", "few", "--on-error", "skip"],
        ["--max-errors", "-1", "--on-error", "skip"],
        ["--max-errors", "101%", "--on-error", "skip"],
        ["--max-errors", "nan%", "--on-error", "skip"],
        ["--max-errors", "1"],
        ["--on-error", "quarantine"],
        ["--quarantine", "bad.jsonl"],
        ["--nonsense"],
        ["-", "-"],
    ):
        ran = cli.score("in.jsonl", *args)
        assert (ran.code, ran.out) == (2, ""), args
        assert ran.err
    assert cli.score("in.jsonl", "--max-errors", "1").err == (
        "error: --max-errors: needs --on-error skip or quarantine\n"
    )
    assert cli("score").code == 2
    assert cli("nonsense").code == 2


def test_standard_streams(cli: Any) -> None:
    data = '{"id": "a", "output": "ok"}\n{"id": "b", "output": "no"}'
    for args in ([], ["-"], ["-", "-o", "-"]):
        ran = cli.score(*args, stdin=data)
        assert ran.code == 0
        assert [(row["id"], row["verdict"]) for row in ran.rows] == [("a", "pass"), ("b", "block")]
        assert ran.err.startswith("2 rows in ")
    bad = cli.score("-", stdin="{oops")
    assert bad.err.startswith("error: <stdin>:1: not JSON")


def test_several_inputs(cli: Any) -> None:
    cli.write("a.jsonl", '{"output": "ok"}\n{"output": "no"}')
    cli.write("b.jsonl", '\ufeff{"output": "ok"}\n{"output": 1}\n')
    ran = cli.score("a.jsonl", "-", "b.jsonl", "--on-error", "skip", stdin='{"output": "ok"}')
    assert ran.code == 0
    assert [(r["id"], r["verdict"]) for r in ran.rows] == [
        (0, "pass"),
        (1, "block"),
        (2, "pass"),
        (3, "pass"),
    ]
    assert "warning: b.jsonl:2: " in ran.err


def test_output_file(cli: Any) -> None:
    cli.rows("in.jsonl", "ok", "no")
    os.umask(umask := os.umask(0))
    ran = cli.score("in.jsonl", "-o", "out.jsonl")
    assert (ran.code, ran.out) == (0, "")
    assert "results: out.jsonl" in ran.err
    out = cli.folder / "out.jsonl"
    assert len(out.read_text().splitlines()) == 2
    assert stat.S_IMODE(out.stat().st_mode) == 0o666 & ~umask
    # An older file keeps its permissions, and a link stays a link.
    out.chmod(0o640)
    os.symlink("out.jsonl", cli.folder / "link.jsonl")
    assert cli.score("in.jsonl", "--limit", "1", "-o", "link.jsonl").code == 0
    assert len(out.read_text().splitlines()) == 1
    assert stat.S_IMODE(out.stat().st_mode) == 0o640
    assert (cli.folder / "link.jsonl").is_symlink()
    assert cli.files == {"gate.json", "in.jsonl", "out.jsonl", "link.jsonl"}


def test_a_failed_run_keeps_the_older_output(cli: Any) -> None:
    cli.rows("in.jsonl", "ok", 1)
    cli.write("out.jsonl", "old")
    assert cli.score("in.jsonl", "-o", "out.jsonl").code == 3
    assert (cli.folder / "out.jsonl").read_text() == "old"


def test_devices_are_written_to(cli: Any) -> None:
    ran = cli.score(cli.rows("in.jsonl", "ok"), "-o", "/dev/null", "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["rows"] == 1
    assert cli.score("in.jsonl", "-o", "/dev/stdout").rows[0]["verdict"] == "pass"


def test_field_and_id_field(cli: Any) -> None:
    cli.write("in.jsonl", '{"key": "x", "a.b": "ok"}\n{"key": 1.50, "a.b": "ok"}\n{"a.b": "ok"}\n')
    ran = cli.score("in.jsonl", "--field", "a.b", "--id-field", "key")
    assert [line.split(",")[0] for line in ran.out.splitlines()] == [
        '{"id":"x"',
        '{"id":1.50',
        '{"id":2',
    ]


@pytest.mark.parametrize(("details", "shown"), [("failed", [0, 1]), ("all", [1, 1]), ("none", [])])
def test_details(cli: Any, details: str, shown: list[int]) -> None:
    ran = cli.score(cli.rows("in.jsonl", "ok", "no"), "--details", details)
    assert [len(row["results"]) for row in ran.rows if "results" in row] == shown


def test_limit(cli: Any) -> None:
    cli.rows("in.jsonl", *["ok"] * 5, 1)
    for threads in ("1", "2"):
        ran = cli.score("in.jsonl", "in.jsonl", "--limit", "3", "--threads", threads)
        assert (ran.code, len(ran.rows)) == (0, 3)
    # Bad rows are read rows.
    ran = cli.score("in.jsonl", "in.jsonl", "--limit", "8", "--on-error", "skip")
    assert [row["id"] for row in ran.rows] == [0, 1, 2, 3, 4, 6, 7]


def test_threads_give_the_same(cli: Any) -> None:
    cli.rows("in.jsonl", *[f"{'ok' * (i % 3)}{'x' * (i % 500)}" for i in range(5000)])
    one, two = (cli.score("in.jsonl", "--threads", n).out for n in ("1", "2"))
    assert one == two
    assert len(one.splitlines()) == 5000


def test_fail_under(cli: Any) -> None:
    cli.rows("in.jsonl", *["ok"] * 7, *["no"] * 3)
    assert cli.score("in.jsonl", "--fail-under", "70%").code == 0
    assert cli.score("in.jsonl", "--fail-under", "0.7").code == 0
    ran = cli.score("in.jsonl", "--fail-under", "0.71", "-o", "out.jsonl")
    assert ran.code == 1
    assert "error: 7 of 10 rows pass, which is under --fail-under 0.71" in ran.err
    # The results are complete all the same.
    assert len((cli.folder / "out.jsonl").read_text().splitlines()) == 10


def test_bad_rows_count_against_fail_under(cli: Any) -> None:
    cli.rows("in.jsonl", "ok", 1, 2, 3)
    skip = ["in.jsonl", "-o", "out.jsonl", "--on-error", "skip", "--fail-under"]
    ran = cli.score(*skip, "0.5")
    assert ran.code == 1
    told = "error: 1 of 4 rows pass (3 bad), which is under --fail-under 0.5"
    assert told in ran.err
    assert "3 bad (25.0% of all rows pass)" in ran.err
    assert cli.score(*skip, "0.25").code == 0
    cli.rows("in.jsonl", 1, 2)
    for rate in ("0", "0.5"):
        ran = cli.score(*skip, rate)
        assert ran.code == 1
        assert "error: no row was scored, so --fail-under is not met" in ran.err


def test_quarantine(cli: Any) -> None:
    lines = [b'{"output": "ok"}', b"{oops\r", b'{"output": "\xff"}', b'{"output": 1}']
    cli.write("in.jsonl", b"\n".join(lines))
    ran = cli.score("in.jsonl", "-o", "out.jsonl", "--on-error", "quarantine")
    assert ran.code == 0
    assert "bad rows: out.bad.jsonl" in ran.err
    rows = [json.loads(line) for line in (cli.folder / "out.bad.jsonl").read_text().splitlines()]
    assert [base64.b64decode(row["raw_b64"]) for row in rows] == lines[1:]
    assert [row["line"] for row in rows] == [2, 3, 4]
    assert [row["byte_offset"] for row in rows] == [17, 24, 40]
    assert {row["source"] for row in rows} == {"in.jsonl"}
    assert rows[1]["error"] == "invalid UTF-8 at byte 12"
    assert list(rows[0]) == ["source", "line", "byte_offset", "error", "raw_b64"]
    # Without bad rows the file is empty, so that no older one is taken for this run's.
    cli.rows("in.jsonl", "ok")
    assert cli.score("in.jsonl", "-o", "out.jsonl", "--on-error", "quarantine").code == 0
    assert (cli.folder / "out.bad.jsonl").read_bytes() == b""
    ran = cli.score("in.jsonl", "--on-error", "quarantine", "--quarantine", "q.jsonl")
    assert ran.code == 0
    assert "q.jsonl" in cli.files


def test_max_errors(cli: Any) -> None:
    cli.rows("in.jsonl", "ok", 1, "ok", 2, "ok", "ok", "ok", "ok", "ok", "ok")
    before = cli.files
    for most, code in (("2", 0), ("1", 4), ("0", 4), ("20%", 0), ("19.9%", 4), ("0%", 4)):
        for policy in ("skip", "quarantine"):
            ran = cli.score(
                "in.jsonl", "-o", "out.jsonl", "--on-error", policy, "--max-errors", most
            )
            assert ran.code == code, (most, ran.err)
            if code:
                assert cli.files == before
            for name in cli.files - before:
                (cli.folder / name).unlink()
    ran = cli.score("in.jsonl", "--on-error", "skip", "--max-errors", "1")
    assert ran.err == (
        'error: in.jsonl:4: field "output": expected a string or null, got number '
        "(bad row 2, and at most 1 are tolerated)\n"
    )
    ran = cli.score("in.jsonl", "--on-error", "skip", "--max-errors", "5%")
    assert "2 of 10 rows are bad, and at most 5% are tolerated; the first: in.jsonl:2: " in ran.err


def test_json_summary(cli: Any) -> None:
    cli.rows("in.jsonl", "ok", "no", None, 1)
    ran = cli.score("in.jsonl", "-o", "out.jsonl", "--json", "--on-error", "skip")
    summary = json.loads(ran.out)
    assert summary.pop("seconds") >= 0
    assert summary == {
        "rows": 3,
        "pass": 1,
        "block": 2,
        "undecided": 0,
        "missing": 1,
        "pass_rate": 1 / 3,
        "bad_rows": 1,
        "bad_messages": [
            'in.jsonl:4: field "output": expected a string or null, got number',
        ],
        "scorers": [{"name": "says-ok", "type": "contains", "passed": 1, "pass_rate": 1 / 3}],
        "details": [{"scorer": "says-ok", "detail": 'target does not contain "ok"', "rows": 1}],
        "output": "out.jsonl",
        "quarantine": None,
        "bytes": (cli.folder / "in.jsonl").stat().st_size,
    }
    # Standard output holds results, so the summary is the last line of standard error.
    ran = cli.score("in.jsonl", "--json", "--on-error", "skip")
    assert len(ran.rows) == 3
    assert json.loads(ran.err.splitlines()[-1])["rows"] == 3


def test_summary(cli: Any) -> None:
    texts = ["ok"] * 6 + ["no", "no", None]
    ran = cli.score(cli.rows("in.jsonl", *texts))
    lines = ran.err.splitlines()
    assert lines[0].startswith("9 rows in ")
    assert lines[1:] == [
        "",
        "verdict    rows  share",
        "pass          6  66.6%",
        "block         3  33.3%  1 without text",
        "undecided     0   0.0%",
        "",
        "scorer   type      passed   rate",
        "says-ok  contains       6  66.6%  ################--------",
        "",
        "failed  scorer   most frequent details",
        '     2  says-ok  target does not contain "ok"',
    ]


def test_control_characters_are_escaped(cli: Any) -> None:
    name = "a\x1b[31m.jsonl"
    cli.write(name, "{}\n")
    ran = cli.score(name)
    assert ran.err == 'error: a\\x1b[31m.jsonl:1: no field "output"\n'


def test_progress_without_a_terminal(cli: Any) -> None:
    cli.rows("in.jsonl", "ok")
    for when in ("auto", "always", "never"):
        ran = cli.score("in.jsonl", "--progress", when)
        assert ran.code == 0
        assert "\x1b" not in ran.err
        assert ran.err.startswith("1 row in ") or "progress: " in ran.err


PHASE = {"id": "review", "type": "gate", "score": {"scorers": [{"type": "contains", "value": "a"}]}}
OTHER = {"id": "final", "type": "gate", "score": {"scorers": [{"type": "contains", "value": "b"}]}}
AGENT = {"id": "draft", "task": "write"}
EVAL = {"id": "eval", "type": "gate", "eval": ["x contains y"]}


def test_gate_phase(cli: Any) -> None:
    cli.write("phase.json", json.dumps(PHASE))
    cli.rows("in.jsonl", "a", "b")
    ran = cli("score", "phase.json", "in.jsonl")
    assert [row["verdict"] for row in ran.rows] == ["pass", "block"]
    assert cli("score", "phase.json", "in.jsonl", "--phase", "review").code == 0
    ran = cli("score", "phase.json", "in.jsonl", "--phase", "final")
    assert (ran.code, ran.err) == (
        2,
        "error: phase.json: holds the phase 'review', not 'final'\n",
    )
    ran = cli("score", "gate.json", "in.jsonl", "--phase", "final")
    assert ran.code == 2


def test_flow(cli: Any) -> None:
    cli.rows("in.jsonl", "a", "b")
    cli.write("one.json", json.dumps({"name": "f", "phases": [AGENT, EVAL, PHASE]}))
    ran = cli("score", "one.json", "in.jsonl")
    assert [row["verdict"] for row in ran.rows] == ["pass", "block"]

    cli.write("two.json", json.dumps({"name": "f", "phases": [AGENT, PHASE, OTHER]}))
    ran = cli("score", "two.json", "in.jsonl")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "error: two.json: holds 2 gates; choose one with --phase: review, final\n"
    ran = cli("score", "two.json", "in.jsonl", "--phase", "final")
    assert [row["verdict"] for row in ran.rows] == ["block", "pass"]
    ran = cli("score", "two.json", "in.jsonl", "--phase", "nope")
    assert "has no phase 'nope' (gate phases with a score block: review, final)" in ran.err
    ran = cli("score", "two.json", "in.jsonl", "--phase", "draft")
    assert "Phase 'draft': is no gate phase with a score block (those: review, final)" in ran.err
    ran = cli("check", "two.json")
    assert (ran.code, len(ran.out.splitlines())) == (0, 2)


def test_what_a_phase_also_does_is_told(cli: Any) -> None:
    cli.write("phase.json", json.dumps({**PHASE, "eval": ["a"], "task": "judge it"}))
    ran = cli("score", "phase.json", cli.rows("in.jsonl", "a"))
    for key in ("eval", "task"):
        words = f"Phase 'review': '{key}' is not run, only the score block is"
        assert f"note: phase.json: {words}\n" in ran.err


def test_check(cli: Any) -> None:
    assert cli("check", "gate.json").out == "ok: gate.json: 1 scorer, combine all\n"
    spec = {
        "scorers": [{"type": "regex", "pattern": "("}, {"type": "contains"}, {"type": "what"}],
        "combine": "most",
    }
    cli.write("bad.json", json.dumps(spec))
    ran = cli("check", "bad.json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines() == [
        "error: bad.json:1:49: score.scorers[1].value: required string for 'contains'",
        "error: bad.json:1:80: score.scorers[2].type: must be one of "
        + "|".join(scoregate.scorer_types()),
        "error: bad.json:1:101: score.combine: must be one of all|any|weighted",
    ]
    cli.write("warn.json", json.dumps({"scorers": spec["scorers"][:1]}))
    ran = cli("check", "warn.json")
    assert ran.code == 0
    assert ran.err.startswith(
        "warning: warn.json:1:14: score.scorers[0] (regex-0): invalid pattern"
    )
    flow = {"name": "f", "phases": [PHASE, {**OTHER, "score": {"scorers": []}}]}
    column = json.dumps(flow).index("[]") + 1
    cli.write("flow.json", json.dumps(flow))
    ran = cli("check", "flow.json")
    assert ran.code == 2
    assert ran.out == "ok: flow.json: Phase 'review': 1 scorer, combine all\n"
    assert ran.err == (
        f"error: flow.json:1:{column}: Phase 'final': score.scorers: must be a non-empty array of scorers\n"
    )


def test_schema(cli: Any) -> None:
    value = json.loads(cli("schema").out)
    assert value["title"] == "score block"
    assert len(value["properties"]["scorers"]["items"]["oneOf"]) == len(scoregate.scorer_types())


def test_scorers(cli: Any) -> None:
    ran = cli("scorers")
    for name in scoregate.scorer_types():
        assert f"\n{name}  " in f"\n{ran.out}"
    assert not any(line.endswith(" ") for line in ran.out.splitlines())
    table = json.loads(cli("scorers", "--json").out)
    assert [row["type"] for row in table] == scoregate.scorer_types()
    for row in table:
        scoregate.Gate({"scorers": [row["example"]]})
        assert {"type", "summary", "fields", "example", "passes", "fails", "impure"} == set(row)


def test_completion(cli: Any) -> None:
    ran = cli(
        env={
            "_SCOREGATE_COMPLETE": "complete_bash",
            "COMP_WORDS": "scoregate sco",
            "COMP_CWORD": "1",
        }
    )
    assert ran.out.split() == ["score", "scorers"]
    assert "_SCOREGATE_COMPLETE" in cli("--show-completion", "bash").out


def test_hints_follow_their_errors(cli: Any) -> None:
    cli.write("gate.json", json.dumps({"scorers": [{"type": "contian", "value": "a"}]}))
    ran = cli("check", "gate.json")
    assert ran.code == 2
    assert ran.err.startswith("error: gate.json:1:23: score.scorers[0].type: must be one of ")
    assert ran.err.endswith("hint: got 'contian'; did you mean 'contains'?\n")


def test_a_gate_on_standard_input(cli: Any) -> None:
    gate = (cli.folder / "gate.json").read_text()
    ran = cli("check", "-", stdin=gate)
    assert (ran.code, ran.out) == (0, "ok: <stdin>: 1 scorer, combine all\n")
    ran = cli("check", "-", stdin="{")
    assert (ran.code, ran.err.split(":")[1]) == (2, " <stdin>")
    cli.rows("in.jsonl", "ok")
    assert cli("score", "-", "in.jsonl", stdin=gate).code == 0
    ran = cli("score", "-", stdin=gate)
    assert ran.code == 2
    assert "standard input cannot hold both the gate and the outputs" in ran.err


def test_repeated_keys_are_told_once(cli: Any) -> None:
    block = '{"scorers": [{"type": "contains", "value": "a", "value": "ok"}]}'
    phases = ", ".join(f'{{"id": "{n}", "type": "gate", "score": {block}}}' for n in ("a", "b"))
    gates = {
        "block": block,
        "phase": f'{{"id": "a", "score": {block}}}',
        "flow": f'{{"name": "f", "phases": [{phases}]}}',
    }
    for kind, text in gates.items():
        cli.write("gate.json", text)
        told = cli("check", "gate.json").err
        count = 2 if kind == "flow" else 1
        assert told.count('repeated key "value"') == count, kind


def test_what_starts_compilers_is_told(cli: Any) -> None:
    shown = cli("scorers").out.partition("code-compiles")[2]
    assert "starts compilers" in shown


def test_flags_show_no_type(cli: Any) -> None:
    for command in ("score", "check", "scorers", "extract", "repair", "cache"):
        lines = cli(command, "--help").out.splitlines()
        assert [line for line in lines if "<bool>" in line and "--help" not in line] == []


def test_negative_indentation_is_refused(cli: Any) -> None:
    cli.write("a.json", "{}")
    assert cli("extract", "--indent", "-1", "a.json").code == 2
    assert cli("repair", "--indent", "-1", "a.json").code == 2


def test_pruning_needs_an_age(cli: Any) -> None:
    cli.write("c.db", "")
    ran = cli("cache", "c.db", "--prune")
    assert (ran.code, ran.err) == (
        2,
        "error: --prune needs --ttl: how many seconds a reply is good\n",
    )
    ran = cli("cache", "c.db", "--prune", "--ttl", "5")
    assert (ran.code, ran.err) == (0, "note: c.db: 0 replies removed\n")
