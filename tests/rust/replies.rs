//! Replies of judges as models write them, with a careful reader's reading.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

use scoregate::Verdict;
use scoregate::grammar::{
    OnUnparseable, ReplyForm, State, parse_judge, parse_verdict, parse_winner,
};
use scoregate::json::Value;

/// The tables, with the least share in percent of clear replies that are read as such or, where
/// the reader blocks, disputed. The last one was written apart, and seen after the code was done.
const TABLES: [(&str, &str, usize); 3] = [
    ("public", include_str!("../data/grammar/replies_public.jsonl"), 92),
    ("own", include_str!("../data/grammar/replies_own.jsonl"), 77),
    ("unseen", include_str!("../data/grammar/replies_unseen.jsonl"), 75),
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
    for (name, table, least) in TABLES {
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
        assert!(
            (same + disputed) * 100 >= least * clear,
            "{name}: {same} and {disputed} of {clear}"
        );
    }
}

/// Every reply of the tables: kind, variants, text.
fn replies() -> Vec<(String, u64, String)> {
    let lines = TABLES.iter().flat_map(|(_, table, _)| table.split('\n'));
    let rows = lines.filter(|line| !line.is_empty());
    rows.map(|line| {
        let row = Value::parse(line.as_bytes()).unwrap();
        let text = |key: &str| row.get(key).unwrap().as_str().unwrap().to_owned();
        let count = row.get("count").map_or(2, |count| count.as_f64().unwrap() as u64);
        (text("kind"), count, text("reply"))
    })
    .collect()
}

/// What a reply of a kind is read as, without its reason.
fn reading(kind: &str, count: u64, text: &str) -> (String, State) {
    let form = ReplyForm::default();
    match kind {
        "verdict" => {
            let found = parse_verdict(text.as_bytes(), &form, OnUnparseable::Block);
            (found.verdict.name().to_owned(), found.state)
        }
        "judge" => {
            let found = parse_judge(text.as_bytes(), &form, OnUnparseable::Block);
            (format!("{} {:?}", found.verdict.name(), found.score), found.state)
        }
        _ => {
            let found = parse_winner(text.as_bytes(), count, &[]);
            (format!("{} {} {}", found.winner, found.tie, found.clamped), found.state)
        }
    }
}

#[test]
fn what_is_added_changes_no_reading() {
    let mut wrong = Vec::new();
    for (kind, count, reply) in replies() {
        let plain = reading(&kind, count, &reply);
        let mut with = vec![
            format!("{reply}\n"),
            format!("\n\n  {reply}  \n"),
            format!("{reply}<|im_end|>"),
            format!("{reply}</s>"),
        ];
        let reasons = reply.contains("think") || reply.contains("<|") || reply.contains("</");
        if !reasons {
            let line = "<think>VERDICT: PASS? SCORE: 0.9? WINNER: 1?</think>\n";
            with.push(format!("{line}{reply}"));
        }
        if !reply.contains("```") && !reply.contains("~~~") {
            with.push(format!("```\n{reply}\n```"));
        }
        for text in with {
            let found = reading(&kind, count, &text);
            if found != plain {
                wrong.push(format!("{kind} {plain:?} {found:?}: {text:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n"));
}

#[test]
fn quoting_a_reply_never_passes_a_block() {
    let mut wrong = Vec::new();
    for (_, _, reply) in replies() {
        let quoted = reply.replace('\n', "\n> ");
        for text in [
            format!("The target says:\n\n> {quoted}\n\nVERDICT: BLOCK"),
            format!("VERDICT: BLOCK\n\nThe target says:\n\n> {quoted}\n"),
            format!("The target says:\n\n```\n{reply}\n```\n\nVERDICT: BLOCK"),
            format!("VERDICT: BLOCK\n\nThe target says:\n\n```\n{reply}\n```\n"),
            format!("VERDICT: BLOCK\n\nThe target says \"{reply}\"."),
            format!("{{\"verdict\": \"block\", \"reason\": \"x\"}}\n\nThe target says: {reply}"),
        ] {
            // Reasoning that is left open, and template tokens, are not the target's.
            if reply.contains("think") || reply.contains("<|") || reply.contains("```") {
                continue;
            }
            for kind in ["verdict", "judge"] {
                if reading(kind, 2, &text).0.starts_with("pass") {
                    wrong.push(format!("{kind}: {text:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n"));
}
