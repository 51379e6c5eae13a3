//! The reply grammars: the tables of readings, and linear work.
#![allow(
    clippy::float_cmp,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

use scoregate::Verdict;
use scoregate::grammar::{
    self, JudgeReading, OnUnparseable, ReplyForm, State, VerdictReading, WinnerReading,
    reading_steps,
};
use scoregate::json::Value;

fn parse_verdict(text: &[u8], policy: OnUnparseable) -> VerdictReading {
    grammar::parse_verdict(text, &ReplyForm::default(), policy)
}

fn parse_judge(text: &[u8], policy: OnUnparseable) -> JudgeReading {
    grammar::parse_judge(text, &ReplyForm::default(), policy)
}

fn parse_winner(text: &[u8], count: u64) -> WinnerReading {
    grammar::parse_winner(text, count, &[])
}

const TABLES: [&str; 5] = [
    include_str!("../data/gate_vectors.jsonl"),
    include_str!("../data/grammar_extra.jsonl"),
    include_str!("../data/grammar/verdict.jsonl"),
    include_str!("../data/grammar/winner.jsonl"),
    include_str!("../data/grammar/judge.jsonl"),
];

/// The rows of a function in every table.
fn rows(function: &str) -> Vec<(Value, String)> {
    let lines = TABLES.iter().flat_map(|table| table.split('\n')).filter(|line| !line.is_empty());
    let parsed = lines.map(|line| (Value::parse(line.as_bytes()).unwrap(), line.to_owned()));
    parsed.filter(|(row, _)| row.get("fn").unwrap().as_str() == Some(function)).collect()
}

fn text(row: &Value) -> &[u8] {
    row.get("args").unwrap().elements()[0].as_bytes().unwrap()
}

fn out<'v>(row: &'v Value, key: &str) -> Option<&'v Value> {
    row.get("out").unwrap().get(key)
}

fn reason(row: &Value) -> Option<Vec<u8>> {
    out(row, "reason").map(|reason| reason.as_bytes().unwrap().to_vec())
}

fn closed(row: &Value) -> bool {
    reason(row).is_some_and(|reason| reason.ends_with(b" (fail-closed)"))
}

fn flag(row: &Value, key: &str) -> Option<bool> {
    out(row, key).map(|value| value.as_bool().unwrap())
}

/// Every row's text and what is wrong with its reading.
fn failures(function: &str, check: impl Fn(&Value) -> Option<String>) {
    let rows = rows(function);
    let failed = |(row, line): &(Value, String)| Some(format!("{line}\n  {}", check(row)?));
    let failed: Vec<String> = rows.iter().filter_map(failed).collect();
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), rows.len(), failed.join("\n"));
}

#[test]
fn verdict_rows() {
    assert!(rows("parse_verdict").len() >= 234 + 9 + 100);
    failures("parse_verdict", |row| {
        let found = parse_verdict(text(row), OnUnparseable::Block);
        let open = parse_verdict(text(row), OnUnparseable::Pass);
        let silent = found.state == State::Silent;
        let good = Some(found.verdict.name()) == out(row, "verdict").unwrap().as_str()
            && found.reason == reason(row)
            && flag(row, "parsed").is_none_or(|parsed| parsed == (found.state == State::Read))
            && flag(row, "disputed").is_none_or(|is| is == (found.state == State::Disputed))
            && (!closed(row) || silent)
            && if silent { open.verdict == Verdict::Pass } else { open == found };
        (!good).then(|| {
            format!(
                "{found:?} REASON {}",
                found
                    .reason
                    .as_deref()
                    .map_or("-".into(), |r| format!("={}", String::from_utf8_lossy(r)))
            )
        })
    });
}

#[test]
fn winner_rows() {
    assert!(rows("parse_winner").len() >= 172 + 7 + 35);
    failures("parse_winner", |row| {
        let count = row.get("args").unwrap().elements()[1].as_f64().unwrap() as u64;
        let found = parse_winner(text(row), count);
        let winner = out(row, "winner").unwrap().as_f64().unwrap() as u64;
        let good = (found.winner, &found.reason) == (winner, &reason(row))
            && flag(row, "parsed").is_none_or(|parsed| parsed == found.parsed())
            && flag(row, "disputed").is_none_or(|is| is == (found.state == State::Disputed))
            && flag(row, "tie").is_none_or(|tie| tie == found.tie);
        (!good).then(|| {
            format!(
                "{found:?} REASON {}",
                found
                    .reason
                    .as_deref()
                    .map_or("-".into(), |r| format!("={}", String::from_utf8_lossy(r)))
            )
        })
    });
}

#[test]
fn judge_rows() {
    assert!(rows("parse_judge").len() >= 225 + 9 + 100);
    failures("parse_judge", |row| {
        let found = parse_judge(text(row), OnUnparseable::Block);
        let score = out(row, "score").unwrap().as_f64().unwrap();
        let open = parse_judge(text(row), OnUnparseable::Pass);
        let policy = (open.verdict, open.state, open.score);
        let good = Some(found.verdict.name()) == out(row, "verdict").unwrap().as_str()
            && (found.score.unwrap() - score).abs() < f64::EPSILON
            && found.reason == reason(row)
            && flag(row, "parsed") == Some(found.state == State::Read)
            && flag(row, "disputed").is_none_or(|is| is == (found.state == State::Disputed))
            && if found.state == State::Silent {
                policy == (Verdict::Pass, State::Silent, Some(1.0))
            } else {
                open == found
            };
        (!good).then(|| {
            format!(
                "{found:?} REASON {}",
                found
                    .reason
                    .as_deref()
                    .map_or("-".into(), |r| format!("={}", String::from_utf8_lossy(r)))
            )
        })
    });
}

#[test]
fn every_own_row_has_a_name_of_its_own() {
    for table in &TABLES[2..] {
        let mut names: Vec<String> = table
            .split('\n')
            .filter(|line| !line.is_empty())
            .map(|line| Value::parse(line.as_bytes()).unwrap())
            .map(|row| row.get("name").unwrap().as_str().unwrap().to_owned())
            .collect();
        let rows = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), rows);
    }
}

/// Looked-at bytes a byte of text: the scan, and what is looked at behind a label.
const STEPS_A_BYTE: u64 = 40;

#[test]
fn hostile_text_takes_linear_work() {
    for unit in [
        "VERDICT:",
        "VERDICT",
        "VERDICT: ",
        "VERDICT:PASS",
        "VERDICT:PASS|",
        "VERDICT: DO NOT ",
        "VERDICT:PASS|x|",
        "VERDICT:PASS|x y z|VERDICT:x|",
        "VERDICT:PASS or ",
        "VERDICT:PASS if x, ",
        "VERDICT:PASS if x, VERDICT=",
        "VERDICT:PASS(",
        "VERDICT:PASS (x) ",
        "VERDICT:PASS\n|",
        "VERDICT:BLOCK, ",
        "SCORE:1 (",
        "SCORE:1 to ",
        "SCORE:1, SCORE",
        "PASS|",
        "|x",
        " or ",
        "x, ",
        "X\n",
        "(x) ",
        "SCORE:",
        "SCORE: 1/",
        "SCORE: 0.",
        "SCORE:1",
        "SCORE: 1 out of ",
        "WINNER: variant ",
        "*",
        "_",
        "`",
        "~*",
        "\"",
        "“",
        "'\"",
        " ",
        "\n",
        "\u{3000}",
        "1",
        "0.",
        "1,",
        "|",
        "/\\",
        "VERDICT: PASS \n",
        "VERDICTVERDICT:",
        "SCORESCORE",
        ":",
        "＝",
        "\u{FFFF}",
        "{",
        "[",
        "{\"",
    ] {
        for head in [
            "",
            "VERDICT:",
            "VERDICT",
            "SCORE: 1",
            "WINNER: ",
            "VERDICT: PASS",
            "SCORE: 0.",
            "VERDICT: PASS if ",
        ] {
            let steps = |len: usize| {
                let text = format!("{head}{}", unit.repeat(len / unit.len()));
                reading_steps(text.as_bytes())
            };
            for len in [1 << 12, 1 << 16] {
                let found = steps(len);
                assert!(found <= STEPS_A_BYTE * len as u64 + 256, "{head:?} {unit:?}: {found}");
            }
        }
    }
}

#[test]
fn a_megabyte_of_anything_is_read() {
    for unit in [
        "VERDICT:",
        "VERDICT: PASS\n",
        "*",
        "\"",
        " ",
        "1",
        "{",
        "[",
        "```",
        "{\"verdict\":",
        "verdict ",
        "{verdict; block} VERDICT: PASS ",
    ] {
        for head in ["", "VERDICT:", "SCORE:", "WINNER:"] {
            let text = format!("{head}{}\nVERDICT: BLOCK", unit.repeat((1 << 20) / unit.len()));
            let found = parse_verdict(text.as_bytes(), OnUnparseable::Block);
            assert_eq!(found.verdict, Verdict::Block, "{head:?} {unit:?}");
            parse_judge(text.as_bytes(), OnUnparseable::Pass);
            parse_winner(text.as_bytes(), 3);
        }
    }
}
