//! Replies of judges as models write them, with a careful reader's reading.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, clippy::cast_sign_loss)]

use scoregate::Verdict;
use scoregate::grammar::{
    OnUnparseable, ReplyForm, State, parse_judge, parse_verdict, parse_winner,
};
use scoregate::json::Value;

const TABLES: [(&str, &str); 2] = [
    ("public", include_str!("../data/grammar/replies_public.jsonl")),
    ("own", include_str!("../data/grammar/replies_own.jsonl")),
];

/// What a reading makes of a reply: `pass`, `block`, a winner, `tie`; its state.
fn read(row: &Value) -> (String, State) {
    let text = row.get("reply").unwrap().as_bytes().unwrap();
    let form = ReplyForm::default();
    match row.get("kind").unwrap().as_str().unwrap() {
        "verdict" => {
            let found = parse_verdict(text, &form, OnUnparseable::Block);
            (found.verdict.name().to_owned(), found.state)
        }
        "judge" => {
            let found = parse_judge(text, &form, OnUnparseable::Block);
            let score = found.score.unwrap();
            let low = found.verdict != Verdict::Pass;
            (format!("{} {score}", if low { "block" } else { "pass" }), found.state)
        }
        _ => {
            let count = row.get("count").unwrap().as_f64().unwrap() as u64;
            let found = parse_winner(text, count, &[]);
            let state = if found.clamped { State::Silent } else { found.state };
            (if found.tie { "tie".to_owned() } else { found.winner.to_string() }, state)
        }
    }
}

fn word(text: &str) -> &str {
    text.split(' ').next().unwrap_or_default()
}

/// A parsed pass that a careful reader would leave undecided: of a score and a later verdict the
/// verdict wins, as the gate's own table has it.
const UNDECIDED_PASSES: [&str; 1] = [r#""SCORE: 0.1\nVERDICT: PASS""#];

#[test]
fn a_careful_reader_agrees() {
    for (name, table) in TABLES {
        let (mut clear, mut same, mut disputed, mut wrong) = (0, 0, 0, Vec::new());
        for line in table.split('\n').filter(|line| !line.is_empty()) {
            let row = Value::parse(line.as_bytes()).unwrap();
            let human = row.get("human").unwrap().as_str().unwrap();
            let winner = row.get("kind").unwrap().as_str() == Some("winner");
            let (found, state) = read(&row);
            let parsed = state == State::Read;
            if parsed && winner && found != human {
                wrong.push(format!("winner {found}: {line}"));
            }
            let passed = parsed && !winner && word(&found) == "pass";
            if passed
                && word(human) != "pass"
                && !UNDECIDED_PASSES.iter().any(|row| line.contains(row))
            {
                wrong.push(format!("pass: {line}"));
            }
            if matches!(human, "undecided" | "unreadable") {
                continue;
            }
            clear += 1;
            let number = |text: &str| text.split(' ').nth(1).and_then(|n| n.parse::<f64>().ok());
            let close = number(human).is_none_or(|wanted| {
                number(&found).is_some_and(|score| (score - wanted).abs() < 1e-9)
            });
            if parsed && word(&found) == word(human) && close {
                same += 1;
            } else if state == State::Disputed && word(human) == "block" {
                disputed += 1;
            } else if std::env::var_os("MISSED").is_some() {
                println!("missed {found} {state:?}: {line}");
            }
        }
        println!("{name}: of {clear} clear replies {same} as read, {disputed} blocks disputed");
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
    }
}
