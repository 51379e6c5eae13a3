//! Fenced code blocks, against `CommonMark`'s own reading by another parser.
#![allow(clippy::unwrap_used)]

use proptest::prelude::{
    Just, ProptestConfig, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest,
};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use scoregate::fence::{Block, fenced_blocks};
use scoregate::json::{Value, quote};
use scoregate::scorers::code_compiles::{Snippet, what_to_compile};

fn oracle(text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                open = Some(Block { info: info.as_bytes().to_vec(), body: Vec::new() });
            }
            Event::End(TagEnd::CodeBlock) => found.extend(open.take()),
            Event::Text(part) => {
                if let Some(block) = &mut open {
                    block.body.extend_from_slice(part.as_bytes());
                }
            }
            _ => {}
        }
    }
    found
}

/// Pieces of Markdown that bear upon each other.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just("```js\n".to_owned()),
        3 => Just("```\n".to_owned()),
        1 => Just("~~~ py x\n".to_owned()),
        1 => Just("~~~\n".to_owned()),
        1 => Just("````\n".to_owned()),
        3 => Just("code\n".to_owned()),
        3 => Just("\n".to_owned()),
        3 => Just("> ".to_owned()),
        3 => Just("- ".to_owned()),
        1 => Just("1. ".to_owned()),
        1 => Just("2) ".to_owned()),
        1 => Just("-\n".to_owned()),
        4 => Just("  ".to_owned()),
        2 => Just("   ".to_owned()),
        2 => Just("    ".to_owned()),
        1 => Just(" ".to_owned()),
        1 => Just("# h\n".to_owned()),
        1 => Just("---\n".to_owned()),
        1 => Just("* * *\n".to_owned()),
        1 => Just("<div>\n".to_owned()),
        1 => Just("<!--\n".to_owned()),
        1 => Just("-->\n".to_owned()),
        1 => Just("<b>\n".to_owned()),
        1 => Just("<b a='1' c>\n".to_owned()),
        1 => Just("text `code` more\n".to_owned()),
        1 => Just("```a`b\n".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn blocks_are_those_of_commonmark(pieces in prop::collection::vec(piece(), 1..14)) {
        let text = pieces.concat();
        let mut ours = fenced_blocks(text.as_bytes());
        let mut its = oracle(&text);
        // A last line without an end is one that the other parser may end.
        for block in ours.iter_mut().chain(&mut its) {
            block.body = block.body.trim_ascii_end().to_vec();
        }
        prop_assert_eq!(ours, its, "{:?}", text);
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        fenced_blocks(&bytes);
    }
}

#[test]
fn what_is_compiled_is_as_the_table_says() {
    let path = format!("{}/tests/data/compile/fences.jsonl", env!("CARGO_MANIFEST_DIR"));
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let row = Value::parse(line.as_bytes()).unwrap();
        let of = |key| row.get(key).unwrap();
        let found = what_to_compile(of("spec"), of("text").as_bytes().unwrap());
        let said = |text: &str| quote(text.as_bytes());
        let found = match found {
            Ok(all) => {
                let pair = |s: &Snippet| format!("[{}, {}]", said(&s.language), said(&s.code));
                format!("[{}]", all.iter().map(pair).collect::<Vec<_>>().join(", "))
            }
            Err(detail) => said(&detail),
        };
        let found = Value::parse(found.as_bytes()).unwrap();
        assert_eq!(found.to_json(), of("gives").to_json(), "{}", of("name").to_json());
    }
}

#[test]
fn deep_and_long_texts_take_linear_time() {
    let deep = [">".repeat(100_000), "- ".repeat(100_000), "1. ".repeat(60_000)];
    for start in deep {
        let text = format!("{start}a\n{}```\n", "\n".repeat(100_000));
        fenced_blocks(text.as_bytes());
        let text = format!("{start}a\n{}```\n", format!("{}b\n", " ".repeat(1000)).repeat(1000));
        fenced_blocks(text.as_bytes());
    }
}
