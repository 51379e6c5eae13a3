//! Every row of the case tables, which Node 20 answered.

use std::collections::BTreeMap;

use scoregate::js_regex::JsRegex;
use scoregate::text::Text;

use crate::rows::{self, Row};

/// Kinds that follow Unicode versions or later editions, where a few rows may differ.
const LENIENT: [&str; 3] = ["property", "v_flag", "es2025"];

/// Says what differs from Node's answer, if anything; the matcher must agree with the plan.
pub(crate) fn difference(row: &Row) -> Option<String> {
    let pattern = String::from_utf8_lossy(&row.pattern[..row.pattern.len().min(200)]);
    let target = String::from_utf8_lossy(&row.target[..row.target.len().min(80)]);
    let told = |got: String| {
        Some(format!(
            "{} {} /{pattern}/{} on {target:?}: want {:?} {:?}, got {got}",
            row.place, row.kind, row.flags, row.matches, row.error
        ))
    };
    let regex = match (JsRegex::new(&row.pattern, &row.flags), &row.error) {
        (Ok(regex), None) => regex,
        (Ok(_), Some(_)) => return told("no error".to_owned()),
        (Err(got), want) if Some(got.to_string()) == *want => return None,
        (Err(got), _) => return told(got.to_string()),
    };
    let target = Text::from_wtf8(&row.target);
    let by_matcher = regex.test_by_matcher(&target).0;
    for (way, got) in [("", regex.test(&target)), ("matcher: ", by_matcher)] {
        match got {
            Ok(answer) if Some(answer) == row.matches => {}
            Err(_) if way == "matcher: " => {}
            other => return told(format!("{way}{other:?}")),
        }
    }
    None
}

#[test]
fn every_row_has_nodes_answer() {
    let mut kinds: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for row in rows::all() {
        let found = difference(&row);
        let count = kinds.entry(row.kind.clone()).or_default();
        count.0 += u32::from(found.is_none());
        count.1 += 1;
        if !LENIENT.contains(&row.kind.as_str()) {
            wrong.extend(found);
        }
    }
    assert!(wrong.is_empty(), "{} rows differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(kinds.len() >= 43, "kinds: {kinds:?}");
    for (kind, (right, all)) in kinds {
        assert!(all >= 9 && right * 10 >= all * 9, "{kind}: {right} of {all}");
    }
}

#[test]
fn one_regex_answers_texts_of_each_alphabet() {
    let regex = JsRegex::new(br"[\ud83c-\ud83e][\udc00-\udfff]", "").unwrap();
    for (text, want) in [("plain", false), ("é", false), ("a 🚀", true), ("⚠\u{FE0F} é 🤖 x", true)]
    {
        assert_eq!(regex.test(&Text::new(text)), Ok(want), "{text}");
    }
}
