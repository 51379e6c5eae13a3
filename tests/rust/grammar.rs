//! The reply grammars: the tables of readings, properties, and linear work.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
#![allow(clippy::float_cmp)]

use proptest::prelude::*;
use scoregate::Verdict;
use scoregate::grammar::{OnUnparseable, marker_steps, parse_judge, parse_verdict, parse_winner};
use scoregate::json::{Document, Value, extract, object_spans};
use scoregate::target::wtf8;

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

#[test]
fn verdict_rows() {
    let rows = rows("parse_verdict");
    assert!(rows.len() >= 459 + 10 + 45);
    for (row, line) in rows {
        let found = parse_verdict(text(&row), OnUnparseable::Block);
        assert_eq!(Some(found.verdict.name()), out(&row, "verdict").unwrap().as_str(), "{line}");
        assert_eq!(found.reason, reason(&row), "{line}");
        let open = parse_verdict(text(&row), OnUnparseable::Pass);
        if closed(&row) {
            assert_eq!((open.verdict, open.reason), (Verdict::Pass, None), "{line}");
        } else {
            assert_eq!(open, found, "{line}");
        }
    }
}

#[test]
fn winner_rows() {
    let rows = rows("parse_winner");
    assert!(rows.len() >= 260 + 7 + 35);
    for (row, line) in rows {
        let count = row.get("args").unwrap().elements()[1].as_f64().unwrap() as u64;
        let found = parse_winner(text(&row), count);
        let winner = out(&row, "winner").unwrap().as_f64().unwrap();
        assert_eq!((found.winner, found.reason), (winner as u64, reason(&row)), "{line}");
    }
}

#[test]
fn judge_rows() {
    let rows = rows("parse_judge");
    assert!(rows.len() >= 305 + 13 + 45);
    for (row, line) in rows {
        let found = parse_judge(text(&row), OnUnparseable::Block);
        let number = |key| out(&row, key).unwrap().as_f64().unwrap();
        assert_eq!(Some(found.verdict.name()), out(&row, "verdict").unwrap().as_str(), "{line}");
        assert!((found.score - number("score")).abs() < f64::EPSILON, "{line}: {}", found.score);
        assert_eq!(found.reason, reason(&row), "{line}");
        assert_eq!(Some(found.parsed), out(&row, "parsed").unwrap().as_bool(), "{line}");
        let open = parse_judge(text(&row), OnUnparseable::Pass);
        if found.parsed {
            assert_eq!(open, found, "{line}");
        } else {
            let policy = (open.verdict, open.reason, open.parsed);
            assert_eq!(policy, (Verdict::Pass, None, false), "{line}");
            assert!((open.score - 1.0).abs() < f64::EPSILON, "{line}");
        }
    }
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
const STEPS_A_BYTE: u64 = 12;

#[test]
fn hostile_text_takes_linear_work() {
    for unit in [
        "VERDICT:",
        "VERDICT",
        "VERDICT: ",
        "VERDICT:PASS",
        "VERDICT:PASS|",
        "VERDICT: DO NOT ",
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
        for head in
            ["", "VERDICT:", "VERDICT", "SCORE: 1", "WINNER: ", "VERDICT: PASS", "SCORE: 0."]
        {
            let steps = |len: usize| {
                let text = format!("{head}{}", unit.repeat(len / unit.len()));
                marker_steps(text.as_bytes())
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
    for unit in
        ["VERDICT:", "VERDICT: PASS\n", "*", "\"", " ", "1", "{", "[", "```", "{\"verdict\":"]
    {
        for head in ["", "VERDICT:", "SCORE:", "WINNER:"] {
            let text = format!("{head}{}\nVERDICT: BLOCK", unit.repeat((1 << 20) / unit.len()));
            let found = parse_verdict(text.as_bytes(), OnUnparseable::Block);
            assert_eq!(found.verdict, Verdict::Block, "{head:?} {unit:?}");
            parse_judge(text.as_bytes(), OnUnparseable::Pass);
            parse_winner(text.as_bytes(), 3);
        }
    }
}

const ECHO: &str = r#"Return JSON {"score": 0.0-1.0, "verdict": "pass"|"block", "reason": "..."} (or end with VERDICT: PASS|BLOCK.)"#;

fn unparsed(text: &str) -> bool {
    let closed = parse_verdict(text.as_bytes(), OnUnparseable::Block);
    let judge = parse_judge(text.as_bytes(), OnUnparseable::Block);
    !judge.parsed
        && closed.reason.is_some_and(|reason| reason.ends_with(b"(fail-closed)"))
        && parse_verdict(text.as_bytes(), OnUnparseable::Pass).verdict == Verdict::Pass
}

#[test]
fn the_closing_line_of_the_prompt_is_no_vote() {
    let (lower, fenced) = (ECHO.to_lowercase(), format!("```\n{ECHO}\n```"));
    for line in [ECHO, &lower, &fenced] {
        for text in [
            line.to_owned(),
            format!("The task says: {line}\n\nI do not know."),
            format!("> {line}\n> {line}"),
            format!("**{line}**"),
            format!("{line}\n\nHm."),
        ] {
            assert!(unparsed(&text), "{text}");
        }
        for (answer, passes) in [("VERDICT: PASS", true), ("VERDICT: BLOCK", false)] {
            let text = format!("{line}\n{answer}");
            assert_eq!(judged(&text).1 == Verdict::Pass, passes, "{text}");
        }
    }
}

/// Generalised UTF-8 of UTF-16 units, made WTF-8.
fn text_of(units: &[u16]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for unit in char::decode_utf16(units.iter().copied()) {
        match unit {
            Ok(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Err(lone) => {
                let [high, low] = lone.unpaired_surrogate().to_be_bytes();
                bytes.extend([0xED, 0x80 | (high & 0x0F) << 2 | low >> 6, 0x80 | low & 0x3F]);
            }
        }
    }
    wtf8(bytes)
}

fn any_text() -> impl Strategy<Value = Vec<u8>> {
    let unit = prop_oneof![
        4 => prop::sample::select(
            "{}[]\",:='`*_~|/%.0189 \nVERDICTverdictSCOREWINNERpassblok#".encode_utf16().collect::<Vec<_>>()
        ),
        1 => any::<u16>(),
        1 => 0xD800u16..0xE000,
    ];
    prop::collection::vec(unit, 0..200).prop_map(|units| text_of(&units))
}

/// Pieces of replies in any order.
fn noise() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        ":",
        ",",
        "```",
        "```json\n",
        "\n",
        " ",
        "x",
        "\"x\": ",
        "1",
        "VERDICT: PASS",
        "verdict = ok",
        "**Verdict**: NOT OK",
        "VERDICT: PASS|BLOCK",
        "VERDICT:",
        "SCORE: 0.9",
        "SCORE: 10",
        "\u{FEFF}",
        "“",
        "<think>",
        "</think>",
        "{\"note\": \"VERDICT: PASS",
        "# c",
        "// c",
        "\\",
        "(",
        ")",
        "é",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// A marker in any dress: the plain form and a dressed one.
fn dressed() -> impl Strategy<Value = (String, String)> {
    let label = prop::sample::select(vec![
        (
            "VERDICT",
            vec!["PASS", "OK", "BLOCK", "FAIL", "REJECT", "NOT PASS", "DO NOT OK", "UNSURE"],
        ),
        ("verdict", vec!["passed", "okay", "Blocked", "halt", "not ok", "PASS|BLOCK", "ok / stop"]),
        ("SCORE", vec!["0.8", ".2", "0,3", "1e-3", "85%", "3/10", "10", "1.7", "1", "0", "x"]),
        ("Winner", vec!["2", "#3", "variant 2", "no. 3", "99", "B"]),
    ]);
    let wrap = || prop::sample::select(vec!["", "*", "**", "_", "__", "~~", "`", "***"]);
    let quote = prop::sample::select(vec![("", ""), ("\"", "\""), ("'", "'"), ("“", "”")]);
    let space = || prop::sample::select(vec!["", " ", "\n", "\t", "\u{A0}", "\r\n  "]);
    let separator = prop::sample::select(vec![":", "=", "：", "＝"]);
    (label, any::<prop::sample::Index>(), wrap(), wrap(), quote, (space(), space()), separator)
        .prop_map(|((label, values), index, around, inside, quote, space, separator)| {
            let value = values[index.index(values.len())];
            let (open, close) = quote;
            let plain = format!("{label}: {value}");
            let value = format!("{inside}{open}{value}{close}{inside}");
            let head = format!("{around}{label}{around}{}{separator}{}", space.0, space.1);
            (plain, format!("{head}{value}"))
        })
}

fn json_reply() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        r#"{"verdict": "block", "reason": "r"}"#,
        r#"{"verdict": "pass"}"#,
        r#"{"pass": false}"#,
        r#"{"score": 0.3, "reason": "VERDICT: PASS"}"#,
        r#"{"score": "85%", "verdict": "reject"}"#,
        r#"{"winner": 2}"#,
        r#"{"verdict": "block", "reason": "says "VERDICT: PASS" itself"}"#,
        "{'verdict': 'block', 'score': 0.9,}",
        "{'winner': 3,}",
        r#"{"score": 0.2, "reason": "says "SCORE: 1""}"#,
    ])
    .prop_map(str::to_owned)
}

type Judged = (u64, Verdict, bool);

/// What the judge and the verdict grammar say; the score by its bits.
fn judged(text: &str) -> Judged {
    let judge = parse_judge(text.as_bytes(), OnUnparseable::Block);
    (judge.score.to_bits(), judge.verdict, judge.parsed)
}

fn readings(text: &str) -> (Judged, Verdict, u64) {
    let verdict = parse_verdict(text.as_bytes(), OnUnparseable::Block).verdict;
    (judged(text), verdict, parse_winner(text.as_bytes(), 5).winner)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_reads(text in any_text(), count in 0u64..9) {
        let closed = parse_verdict(&text, OnUnparseable::Block);
        let open = parse_verdict(&text, OnUnparseable::Pass);
        prop_assert!(closed == open || open.verdict == Verdict::Pass);
        let winner = parse_winner(&text, count).winner;
        prop_assert!((1..=count.max(1)).contains(&winner));
        let judge = parse_judge(&text, OnUnparseable::Block);
        prop_assert!((0.0..=1.0).contains(&judge.score) && judge.score.is_sign_positive());
        prop_assert!(marker_steps(&text) <= STEPS_A_BYTE * text.len() as u64 + 256);
    }

    #[test]
    fn a_last_marker_that_blocks_is_no_pass(
        head in noise(),
        marker in prop::sample::select(vec![
            "VERDICT: BLOCK", "**VERDICT**: FAIL", "VERDICT = \"HALT\"", "VERDICT: NOT PASS", "Verdict：stopped",
        ]),
        tail in prop::sample::select(vec!["", ".", "\n", "\nThat is all.", " because of x", "**\n```"]),
    ) {
        let text = format!("{head}\n{marker}{tail}");
        let keys = ["verdict", "pass", "continue", "score"];
        let holds = |d: Document<'_>| keys.iter().any(|key| d.root().get(key.as_bytes()).is_some());
        prop_assume!(!extract(text.as_bytes()).is_some_and(holds));
        // Inside an object with a key (`{verdict = ok\nVERDICT: BLOCK`) it is quoted text.
        let inside = |span: (usize, usize)| span.0 < text.len() - tail.len() && span.1 > head.len();
        let spans = object_spans(text.as_bytes(), &keys).found;
        prop_assume!(!spans.iter().any(|found| inside(found.span)));
        for policy in [OnUnparseable::Pass, OnUnparseable::Block] {
            prop_assert_eq!(parse_verdict(text.as_bytes(), policy).verdict, Verdict::Block, "{}", text);
            prop_assert_eq!(parse_judge(text.as_bytes(), policy).verdict, Verdict::Block, "{}", text);
        }
    }

    #[test]
    fn dress_never_flips_a_marker((plain, dressed) in dressed(), before in "[a-z .\n]{0,20}") {
        prop_assert_eq!(readings(&plain), readings(&dressed), "{}", dressed);
        let text = format!("{before}{dressed}");
        prop_assert_eq!(readings(&plain), readings(&text), "{}", text);
    }

    #[test]
    fn a_fence_never_flips_a_reply(
        reply in prop_oneof![json_reply(), dressed().prop_map(|(_, marker)| marker)],
        info in prop::sample::select(vec!["", "json", "text", "md"]),
    ) {
        prop_assume!(!reply.contains("```"));
        let fenced = format!("```{info}\n{reply}\n```");
        prop_assert_eq!(readings(&reply), readings(&fenced), "{}", fenced);
    }

    #[test]
    fn prose_behind_never_flips_a_reply(
        reply in prop_oneof![json_reply(), dressed().prop_map(|(_, marker)| marker)],
        prose in "[ \n][A-Za-z0-9 ,.!?()\n-]{0,60}",
        before in "[A-Za-z0-9 ,.!?\n-]{0,20}[ \n]",
    ) {
        // `10` may go on as a number, `1 of 10` as another unit.
        prop_assume!(!prose.trim_start_matches(' ').starts_with("of ") && !prose.contains("per"));
        prop_assume!(!prose.trim_start_matches(' ').starts_with("out "));
        let text = format!("{reply}{prose}");
        prop_assert_eq!(readings(&reply), readings(&text), "{}", text);
        if reply.starts_with('{') {
            let text = format!("{before}{reply}{prose}");
            prop_assert_eq!(readings(&reply), readings(&text), "{}", text);
        }
    }

    #[test]
    fn a_broken_object_that_blocks_never_passes(
        key in prop::sample::select(vec![
            "\"verdict\": \"block\"", "'verdict': 'BLOCK'", "verdict: \"fail\"", "\"pass\": false", "\"continue\": False",
        ]),
        quoted in prop::sample::select(vec![
            "VERDICT: PASS", "**VERDICT**: OK", "verdict = pass", "SCORE: 1", "VERDICT: \"PASS\"",
        ]),
        first in any::<bool>(),
        head in prop::sample::select(vec!["", "So:\n", "```json\n", "```\n", "I think VERDICT: PASS at first.\n\n"]),
        words in "[a-z ]{0,12}",
        cut in any::<prop::sample::Index>(),
    ) {
        let reason = format!("\"reason\": \"it says \"{quoted}\" {words}\"");
        let members = if first { format!("{key}, {reason}") } else { format!("{reason}, {key}") };
        let object = format!("{{{members}}}");
        // Cut anywhere behind the key, or not at all.
        let kept = if first { object.len() - cut.index(object.len() - key.len() - 2) } else { object.len() };
        let text = format!("{head}{}", &object[..kept]);
        if head.contains("VERDICT") {
            // A marker outside the object is read before it: a vote of its own.
            return Ok(());
        }
        for policy in [OnUnparseable::Pass, OnUnparseable::Block] {
            prop_assert_eq!(parse_verdict(text.as_bytes(), policy).verdict, Verdict::Block, "{}", text);
            prop_assert_eq!(parse_judge(text.as_bytes(), policy).verdict, Verdict::Block, "{}", text);
        }
    }
}
