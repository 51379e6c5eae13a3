//! Names and forms of other tools, and what says the same here.

use super::near::{clip, near_key, nearest, negation, normal};
use crate::json::{Value, quote};
use crate::text::to_utf8;

/// What a scorer of another tool checks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Check {
    Equal,
    EqualAnyCase,
    Contains,
    ContainsAnyCase,
    Any,
    All,
    AnyOfAnyCase,
    AllOfAnyCase,
    Starts,
    Ends,
    Regex,
    Json,
    Schema,
    Length,
    Least,
    Most,
    Words,
    Empty,
    Judge,
    Code,
    Likeness,
    Outside,
}

/// Names of other tools, as [`normal`] has them.
const CHECKS: &[(&str, Check)] = &[
    ("equals", Check::Equal),
    ("equal", Check::Equal),
    ("eq", Check::Equal),
    ("exact", Check::Equal),
    ("is", Check::Equal),
    ("stringcheck", Check::Equal),
    ("iequals", Check::EqualAnyCase),
    ("equalsignorecase", Check::EqualAnyCase),
    ("contains", Check::Contains),
    ("includes", Check::Contains),
    ("include", Check::Contains),
    ("substring", Check::Contains),
    ("has", Check::Contains),
    ("like", Check::Contains),
    ("icontains", Check::ContainsAnyCase),
    ("ilike", Check::ContainsAnyCase),
    ("containsignorecase", Check::ContainsAnyCase),
    ("containsany", Check::Any),
    ("includesany", Check::Any),
    ("containsall", Check::All),
    ("includesall", Check::All),
    ("icontainsany", Check::AnyOfAnyCase),
    ("icontainsall", Check::AllOfAnyCase),
    ("startswith", Check::Starts),
    ("beginswith", Check::Starts),
    ("prefix", Check::Starts),
    ("endswith", Check::Ends),
    ("suffix", Check::Ends),
    ("regex", Check::Regex),
    ("regexmatch", Check::Regex),
    ("matches", Check::Regex),
    ("match", Check::Regex),
    ("pattern", Check::Regex),
    ("isjson", Check::Json),
    ("isvalidjson", Check::Json),
    ("validjson", Check::Json),
    ("containsjson", Check::Json),
    ("json", Check::Json),
    ("jsonvalidity", Check::Json),
    ("jsonschemavalidation", Check::Schema),
    ("jsoncorrectness", Check::Schema),
    ("schema", Check::Schema),
    ("isvalidopenaitoolscall", Check::Schema),
    ("length", Check::Length),
    ("validlength", Check::Length),
    ("len", Check::Length),
    ("minlength", Check::Least),
    ("maxlength", Check::Most),
    ("wordcount", Check::Words),
    ("isempty", Check::Empty),
    ("empty", Check::Empty),
    ("blank", Check::Empty),
    ("llmrubric", Check::Judge),
    ("llmjudge", Check::Judge),
    ("llm", Check::Judge),
    ("judge", Check::Judge),
    ("geval", Check::Judge),
    ("modelgradedclosedqa", Check::Judge),
    ("modelgradedfactuality", Check::Judge),
    ("modelgradedqa", Check::Judge),
    ("modelgraded", Check::Judge),
    ("scoremodel", Check::Judge),
    ("labelmodel", Check::Judge),
    ("factuality", Check::Judge),
    ("faithfulness", Check::Judge),
    ("answerrelevance", Check::Judge),
    ("answerrelevancy", Check::Judge),
    ("contextrecall", Check::Judge),
    ("hallucination", Check::Judge),
    ("criteria", Check::Judge),
    ("toxicity", Check::Judge),
    ("moderation", Check::Judge),
    ("python", Check::Code),
    ("javascript", Check::Code),
    ("function", Check::Code),
    ("custom", Check::Code),
    ("webhook", Check::Code),
    ("ruby", Check::Code),
    ("similar", Check::Likeness),
    ("similarity", Check::Likeness),
    ("textsimilarity", Check::Likeness),
    ("embeddingsimilarity", Check::Likeness),
    ("levenshtein", Check::Likeness),
    ("rougen", Check::Likeness),
    ("rouge", Check::Likeness),
    ("bleu", Check::Likeness),
    ("meteor", Check::Likeness),
    ("fuzzy", Check::Likeness),
    ("cost", Check::Outside),
    ("latency", Check::Outside),
    ("perplexity", Check::Outside),
];

/// The texts that a scorer of another tool looks for.
fn wanted(scorer: &Value) -> Vec<String> {
    let given = ["value", "values", "text", "expected", "pattern", "substring", "reference"];
    let Some(given) = given.iter().find_map(|key| scorer.get(key)) else { return Vec::new() };
    let texts = match given {
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::Number(number) => vec![number.text().to_owned()],
        _ => given.as_str().map(str::to_owned).into_iter().collect::<Vec<_>>(),
    };
    let short = texts.iter().map(String::len).sum::<usize>() <= 120;
    if short { texts } else { Vec::new() }
}

/// A text as a pattern that matches it.
fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    for c in text.chars() {
        if r"\^$.*+?()[]{}|/".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// What says the same as a scorer of another tool; None for an unknown name.
pub(crate) fn scorer_type(kind: &Value, scorer: &Value, known: &[&str]) -> Option<String> {
    let name = to_utf8(kind.as_bytes()?);
    let plain = normal(&name);
    let of = |plain: &str| CHECKS.iter().find(|(n, _)| *n == plain).map(|(_, check)| *check);
    let known_as = |plain: &str| {
        let ours = known.iter().find(|ours| normal(ours) == plain);
        ours.and_then(|ours| match *ours {
            "exact-match" => Some(Check::Equal),
            "json-schema" => Some(Check::Schema),
            "length-range" => Some(Check::Length),
            _ => None,
        })
    };
    let stripped = negation(&plain);
    let base = stripped.unwrap_or(&plain);
    if let Some(check) = of(base).or_else(|| known_as(base).filter(|_| stripped.is_some())) {
        return Some(format!(
            "got '{}'; {}",
            clip(name.as_bytes()),
            said(check, stripped.is_some(), scorer)
        ));
    }
    let near = nearest(&name, known)?;
    Some(format!("got '{}'; did you mean '{near}'?", clip(name.as_bytes())))
}

/// What says the same here.
fn said(check: Check, negated: bool, scorer: &Value) -> String {
    let texts = wanted(scorer);
    let one = texts.first().map_or("VALUE", |text| text);
    let each = || -> Vec<String> {
        let list: Vec<&str> = match &*texts {
            [] => vec!["ONE", "TWO"],
            // A text with commas is a list in some tools.
            [text] => text.split(',').map(str::trim).collect(),
            texts => texts.iter().map(String::as_str).collect(),
        };
        list.into_iter().map(escaped).collect()
    };
    let regex = |pattern: &str, flags: &str| {
        let flags = if flags.is_empty() { "" } else { r#", "flags": "i""# };
        let negate = if negated { r#", "negate": true"# } else { "" };
        let pattern = quote(pattern.as_bytes());
        format!("here it is {{\"type\": \"regex\", \"pattern\": {pattern}{flags}{negate}}}")
    };
    let all = |flags: &str| {
        let parts = each();
        if negated {
            // Not all of them: the pattern that wants each somewhere, negated.
            let ahead: String = parts.iter().map(|part| format!("(?=[^]*{part})")).collect();
            return regex(&format!("^{ahead}"), flags);
        }
        let ahead: String = parts.iter().map(|part| format!("(?=[^]*{part})")).collect();
        let regex = regex(&format!("^{ahead}"), flags);
        format!("{regex}, or a contains scorer for each part, with combine all")
    };
    match check {
        Check::Equal if !negated => {
            format!(
                "here it is {{\"type\": \"exact-match\", \"value\": {}}}",
                quote(one.as_bytes())
            )
        }
        Check::Equal => regex(&format!("^{}$", escaped(one)), ""),
        Check::EqualAnyCase => regex(&format!("^{}$", escaped(one)), "i"),
        Check::Contains if !negated => {
            format!("here it is {{\"type\": \"contains\", \"value\": {}}}", quote(one.as_bytes()))
        }
        Check::Contains => regex(&escaped(one), ""),
        Check::ContainsAnyCase => regex(&escaped(one), "i"),
        Check::Any => regex(&each().join("|"), ""),
        Check::AnyOfAnyCase => regex(&each().join("|"), "i"),
        Check::All => all(""),
        Check::AllOfAnyCase => all("i"),
        Check::Starts => regex(&format!("^{}", escaped(one)), ""),
        Check::Ends => regex(&format!("{}$", escaped(one)), ""),
        // A pattern stays one.
        Check::Regex => regex(one, ""),
        Check::Empty if negated => r#"here it is {"type": "length-range", "min": 1}"#.to_owned(),
        Check::Empty => r#"here it is {"type": "length-range", "max": 0}"#.to_owned(),
        _ if negated => {
            "no scorer says the opposite of this; a regex takes \"negate\": true".to_owned()
        }
        Check::Json => {
            "here it is {\"type\": \"json-schema\", \"schema\": {}}, which also finds JSON \
                        inside other text"
                .to_owned()
        }
        Check::Schema => r#"here it is {"type": "json-schema", "schema": {…}}"#.to_owned(),
        Check::Length => r#"here it is {"type": "length-range", "min": 1, "max": 100}"#.to_owned(),
        Check::Least => r#"here it is {"type": "length-range", "min": N}"#.to_owned(),
        Check::Most => r#"here it is {"type": "length-range", "max": N}"#.to_owned(),
        Check::Words => {
            r#"here it is {"type": "length-range", "min": 1, "max": 100, "unit": "word"}"#
                .to_owned()
        }
        Check::Judge => "scorers ask no model; the gate does: beside \"scorers\", \
                         \"judge\": {\"task\": \"what to ask\"}"
            .to_owned(),
        Check::Code => {
            "scorers run no code of yours; check in Python what regex, json-schema and the \
                        others cannot, or ask a judge"
                .to_owned()
        }
        Check::Likeness => {
            "no scorer measures likeness; use regex for what must be there, or ask a judge"
                .to_owned()
        }
        Check::Outside => {
            "a gate sees the text alone, not what it cost or how long it took".to_owned()
        }
    }
}

/// Keys of a score block in other tools.
const BLOCK: &[(&str, &str)] = &[
    ("assert", "scorers"),
    ("asserts", "scorers"),
    ("assertions", "scorers"),
    ("checks", "scorers"),
    ("rules", "scorers"),
    ("evaluators", "scorers"),
    ("metrics", "scorers"),
    ("graders", "scorers"),
    ("tests", "scorers"),
    ("validators", "scorers"),
    ("conditions", "scorers"),
    ("mode", "combine"),
    ("operator", "combine"),
    ("logic", "combine"),
    ("aggregate", "combine"),
    ("aggregation", "combine"),
    ("combination", "combine"),
    ("strategy", "combine"),
    ("minscore", "threshold"),
    ("passscore", "threshold"),
    ("passingscore", "threshold"),
    ("cutoff", "threshold"),
    ("llm", "judge"),
    ("grader", "judge"),
    ("llmjudge", "judge"),
    ("rubric", "judge"),
];

/// Keys of a judge in other tools.
const JUDGE: &[(&str, &str)] = &[
    ("prompt", "task"),
    ("rubric", "task"),
    ("criteria", "task"),
    ("instructions", "task"),
    ("question", "task"),
    ("run", "when"),
    ("condition", "when"),
    ("fallback", "onUnparseable"),
    ("default", "onUnparseable"),
];

/// Keys of scorers in other tools; those that the scorer has are offered.
const SCORER: &[(&str, &str)] = &[
    ("text", "value"),
    ("string", "value"),
    ("substring", "value"),
    ("expected", "value"),
    ("phrase", "value"),
    ("needle", "value"),
    ("reference", "value"),
    ("contains", "value"),
    ("equals", "value"),
    ("value", "pattern"),
    ("regex", "pattern"),
    ("regexp", "pattern"),
    ("expression", "pattern"),
    ("value", "schema"),
    ("jsonschema", "schema"),
    ("shape", "schema"),
    ("invert", "negate"),
    ("inverse", "negate"),
    ("negated", "negate"),
    ("not", "negate"),
    ("minimum", "min"),
    ("minlength", "min"),
    ("atleast", "min"),
    ("maximum", "max"),
    ("maxlength", "max"),
    ("atmost", "max"),
    ("lang", "language"),
    ("label", "name"),
    ("id", "name"),
    ("title", "name"),
    ("metric", "name"),
];

fn translated<'k>(key: &[u8], table: &[(&str, &str)], known: &[&'k str]) -> Option<&'k str> {
    let plain = normal(&to_utf8(key));
    let ours = table.iter().filter(|(word, _)| *word == plain).map(|(_, ours)| *ours);
    ours.into_iter().find_map(|ours| known.iter().find(|name| **name == ours)).copied()
}

fn key(key: &[u8], table: &[(&str, &str)], known: &[&str]) -> Option<String> {
    match translated(key, table, known) {
        Some(ours) => Some(format!("did you mean '{ours}'?")),
        None => near_key(key, known),
    }
}

/// A hint for an unknown key of a score block.
pub(crate) fn block_key(name: &[u8], known: &[&str]) -> Option<String> {
    key(name, BLOCK, known)
}

/// A hint for an unknown key of a judge.
pub(crate) fn judge_key(name: &[u8], known: &[&str]) -> Option<String> {
    match &*normal(&to_utf8(name)) {
        "model" | "provider" | "temperature" | "apikey" | "baseurl" => Some(
            "which model is asked is said where the judge runs: --judge openai:MODEL, or judge= \
             in Python"
                .to_owned(),
        ),
        _ => key(name, JUDGE, known),
    }
}

/// A hint for a key that scorers of a type do not read.
pub(crate) fn scorer_key(name: &[u8], scorer: &Value, known: &[&str]) -> Option<String> {
    if let Some(ours) = translated(name, SCORER, known) {
        return Some(format!("did you mean '{ours}'?"));
    }
    let texts = wanted(scorer);
    let pattern = quote(escaped(texts.first().map_or("VALUE", |text| text)).as_bytes());
    match &*normal(&to_utf8(name)) {
        "negate" | "invert" | "inverse" | "negated" | "not" => {
            Some(format!("only regex negates: {{\"type\": \"regex\", \"pattern\": {pattern}, \"negate\": true}}"))
        }
        "ignorecase" | "caseinsensitive" | "icase" | "i" | "nocase" if known.contains(&"flags") => {
            Some("write \"flags\": \"i\"".to_owned())
        }
        "ignorecase" | "caseinsensitive" | "icase" | "i" | "nocase" | "casesensitive" | "flags" => Some(
            format!("case counts here; without it: {{\"type\": \"regex\", \"pattern\": {pattern}, \"flags\": \"i\"}}"),
        ),
        "weight" => Some(
            "weights stand beside the scorers: \"combine\": \"weighted\", \"weights\": [one a scorer]"
                .to_owned(),
        ),
        "threshold" | "minscore" => {
            Some("a threshold stands beside the scorers, with \"combine\": \"weighted\"".to_owned())
        }
        _ => near_key(name, known),
    }
}

/// What an object without scorers is, or which of its keys is meant to be `scorers`.
pub(crate) fn missing_scorers(block: &Value, known: &[&str], types: &[&str]) -> Option<String> {
    if block.get("scorers").is_some_and(Value::is_object) {
        return Some("an array, even for one: \"scorers\": [{…}]".to_owned());
    }
    if block.get("scorers").is_some() {
        return None;
    }
    if block.get("phases").is_some() {
        return Some(
            "this is a flow: the score block of a gate phase is under phases[i].score; the command \
             line reads flows"
                .to_owned(),
        );
    }
    if block.get("score").is_some() {
        return Some("this is a gate phase: its score block is under score".to_owned());
    }
    if block.get("type").and_then(Value::as_str).is_some_and(|kind| types.contains(&kind)) {
        return Some(r#"this is one scorer; a gate is {"scorers": [...]}"#.to_owned());
    }
    let keys = || block.members().iter().map(|(key, _)| key);
    // A hostile block may have any number of keys.
    for name in keys().take(64) {
        let plain = to_utf8(name);
        let meant = translated(name, BLOCK, known).or_else(|| nearest(&plain, known));
        if meant == Some("scorers") {
            return Some(format!("the block has '{}'; did you mean 'scorers'?", clip(name)));
        }
    }
    let unknown = keys().find(|name| !known.iter().any(|k| k.as_bytes() == *name))?;
    Some(format!("the block has '{}', which means nothing here", clip(unknown)))
}
