//! Properties of the reply grammars: what can be added to a reply without changing what it says.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use scoregate::Verdict;
use scoregate::grammar::{
    self, JudgeReading, OnUnparseable, ReplyForm, State, VerdictReading, WinnerReading,
    reading_steps,
};
use scoregate::json::{Document, extract, object_spans};
use scoregate::text::wtf8;

fn parse_verdict(text: &[u8], policy: OnUnparseable) -> VerdictReading {
    grammar::parse_verdict(text, &ReplyForm::default(), policy)
}

fn parse_judge(text: &[u8], policy: OnUnparseable) -> JudgeReading {
    grammar::parse_judge(text, &ReplyForm::default(), policy)
}

fn parse_winner(text: &[u8], count: u64) -> WinnerReading {
    grammar::parse_winner(text, count, &[])
}

/// Looked-at bytes a byte of text, as in the tests of linear work.
const STEPS_A_BYTE: u64 = 40;

const ECHO: &str = r#"Return JSON {"score": 0.0-1.0, "verdict": "pass"|"block", "reason": "..."} (or end with VERDICT: PASS|BLOCK.)"#;

fn unparsed(text: &str) -> bool {
    let closed = parse_verdict(text.as_bytes(), OnUnparseable::Block);
    let judge = parse_judge(text.as_bytes(), OnUnparseable::Block);
    judge.state == State::Silent
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
    (judge.score.unwrap().to_bits(), judge.verdict, judge.state == State::Read)
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
        prop_assert!(judge.score.is_some_and(|s| (0.0..=1.0).contains(&s) && s.is_sign_positive()));
        prop_assert!(reading_steps(&text) <= STEPS_A_BYTE * text.len() as u64 + 256);
    }

    #[test]
    fn a_last_marker_that_blocks_is_no_pass(
        head in noise(),
        marker in prop::sample::select(vec![
            "VERDICT: BLOCK", "**VERDICT**: FAIL", "VERDICT = \"HALT\"", "VERDICT: NOT PASS", "Verdict：stopped",
        ]),
        tail in prop::sample::select(vec!["", ".", "\n", "\nThat is all.", " because of x", "**\n```"]),
    ) {
        // What stands in open reasoning is nobody's vote.
        let head = head.replace("<think>", "").replace("</think>", "");
        let text = format!("{head}\n{marker}{tail}");
        let keys = ["verdict", "VERDICT", "Verdict", "pass", "continue", "score", "SCORE", "Score"];
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
    fn dress_never_flips_a_marker((plain, dressed) in dressed(), before in "([a-z ]{0,18}[.] |[a-z ]{0,18}\n)?") {
        prop_assert_eq!(readings(&plain), readings(&dressed), "{}", dressed);
        let text = format!("{before}{dressed}");
        prop_assert_eq!(readings(&plain), readings(&text), "{}", text);
    }

    #[test]
    fn a_list_of_choices_is_no_pass(
        label in prop::sample::select(vec!["VERDICT: ", "**Verdict:** ", "verdict=\n", "End with VERDICT： "]),
        words in prop::sample::select(vec![
            vec!["PASS", "BLOCK"], vec!["Pass", "Fail"], vec!["ok", "stop"], vec!["PASS", "UNSURE", "BLOCK"],
            vec!["PASS", "NEEDS WORK", "BLOCK"], vec!["PASSED", "FAILED"], vec!["PASS", "NOT PASS"],
        ]),
        joint in prop::sample::select(vec![
            "|", " | ", "/", "\\|", "｜", " ／ ", "¦", "│", "&#124;", " or ", " OR ", " vs. ", " and/or ", "或", ", ", "; ",
            " - ", " – ", " -> ", "→", " · ", " |\n", "\n| ", "\n|\n", "\nor ", "\u{200B}|\u{200B}",
        ]),
        (open, close) in prop::sample::select(vec![
            ("", ""), ("<", ">"), ("[", "]"), ("{", "}"), ("**", "**"), ("`", "`"), ("\"", "\""), ("“", "”"), ("«", "»"),
        ]),
        bare in any::<bool>(),
        again in any::<bool>(),
        tail in prop::sample::select(vec!["", ".", "\n", " (choose one)", "\nReason: ...", "\n```"]),
    ) {
        // A label that is repeated over lines is one of its own: the last one counts.
        let again = again && !joint.contains('\n');
        let item = |(i, word): (usize, &&str)| {
            let label = if again && i > 0 { label.trim_start_matches("End with ") } else { "" };
            if bare && i == 0 { (*word).to_owned() } else { format!("{label}{open}{word}{close}") }
        };
        let items: Vec<String> = words.iter().enumerate().map(item).collect();
        let text = format!("{label}{}{tail}", items.join(joint));
        let judge = parse_judge(text.as_bytes(), OnUnparseable::Block);
        prop_assert_eq!(judge.verdict, Verdict::Block, "{}", text);
        prop_assert_eq!(parse_verdict(text.as_bytes(), OnUnparseable::Block).verdict, Verdict::Block, "{}", text);
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
        prose in "[ \n][ ,.!?()\n-]{0,3}([A-Za-z]{3}[A-Za-z0-9 ,.!?()\n-]{0,60})?",
        before in "[A-Za-z0-9 ,.!?\n-]{0,20}[ \n]",
    ) {
        // Prose may dispute a pass, and never makes one.
        let with = [format!("{reply}{prose}"), format!("{before}\n{reply}{prose}")];
        let (alone, winner) = (judged(&reply), parse_winner(reply.as_bytes(), 5));
        for text in with {
            let found = judged(&text);
            if alone.2 && alone.1 == Verdict::Block {
                prop_assert_eq!(found.1, Verdict::Block, "{}", text);
            }
            if found.2 && found.1 == Verdict::Pass {
                prop_assert_eq!(alone, found, "{}", text);
            }
            let other = parse_winner(text.as_bytes(), 5);
            prop_assert!(!other.parsed() || other.winner == winner.winner, "{}", text);
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
        head in prop::sample::select(vec!["", "So:\n", "```json\n", "```\n"]),
        words in "[a-z ]{0,12}",
        cut in any::<prop::sample::Index>(),
    ) {
        let reason = format!("\"reason\": \"it says \"{quoted}\" {words}\"");
        let members = if first { format!("{key}, {reason}") } else { format!("{reason}, {key}") };
        let object = format!("{{{members}}}");
        // Cut anywhere behind the key, or not at all.
        let kept = if first { object.len() - cut.index(object.len() - key.len() - 2) } else { object.len() };
        let text = format!("{head}{}", &object[..kept]);
        for policy in [OnUnparseable::Pass, OnUnparseable::Block] {
            prop_assert_eq!(parse_verdict(text.as_bytes(), policy).verdict, Verdict::Block, "{}", text);
            prop_assert_eq!(parse_judge(text.as_bytes(), policy).verdict, Verdict::Block, "{}", text);
        }
    }
}
