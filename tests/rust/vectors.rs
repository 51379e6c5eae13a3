//! The table of the gate's behaviour, run on the core.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, clippy::cast_sign_loss)]

use scoregate::gate::{Mode, combine_scores, combine_with_judge, evaluate_scorer, format_report};
use scoregate::json::{Document, Value, extract};
use scoregate::{Outcome, Row, ScorerResult, Target, contract, gate};

fn rows(function: &str) -> Vec<(Value, String)> {
    let table = include_str!("../data/gate_vectors.jsonl");
    let rows = table.split('\n').filter(|line| !line.is_empty());
    let parsed = rows.map(|line| (Value::parse(line.as_bytes()).unwrap(), line.to_owned()));
    parsed.filter(|(row, _)| row.get("fn").unwrap().as_str() == Some(function)).collect()
}

fn args(row: &Value) -> &[Value] {
    row.get("args").unwrap().elements()
}

fn strings(value: &Value) -> Vec<String> {
    value.elements().iter().map(|v| v.as_str().unwrap().to_owned()).collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.elements().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn outcomes(value: &Value) -> Vec<Outcome<'static>> {
    let passed = value.elements().iter().map(|v| v.as_bool().unwrap());
    passed.map(|passed| if passed { Outcome::pass() } else { Outcome::fail("") }).collect()
}

/// Equality of values, numbers by value.
fn same(a: &Value, b: &Value) -> bool {
    let text = |v: &Value| contract::contract_violations(v, &enum_of(b), "$").is_empty();
    text(a)
}

fn enum_of(value: &Value) -> Value {
    Value::Object(vec![(b"enum".to_vec(), Value::Array(vec![value.clone()]))])
}

#[test]
fn lenient_parse() {
    let rows = rows("lenient_parse");
    assert_eq!(rows.len(), 150);
    for (row, line) in rows {
        let found =
            extract(args(&row)[0].as_bytes().unwrap()).map(|d| Value::from_cursor(d.root()));
        match row.get("out") {
            Some(out) => assert!(same(&found.expect(&line), out), "{line}"),
            None => assert_eq!(found, None, "{line}"),
        }
    }
}

#[test]
fn contracts() {
    let rows = rows("contract_violations");
    assert_eq!(rows.len(), 221);
    for (row, line) in rows {
        let found = contract::contract_violations(&args(&row)[0], &args(&row)[1], "$");
        assert_eq!(found, strings(row.get("out").unwrap()), "{line}");
        let schema = contract::Contract::new(&args(&row)[1]);
        let document = Document::from_value(&args(&row)[0]);
        assert_eq!(schema.holds(document.root()), found.is_empty(), "{line}");
    }
}

#[test]
fn shape_errors() {
    let (contracts, scores) = (rows("contract_shape_errors"), rows("score_shape_errors"));
    assert_eq!((contracts.len(), scores.len()), (12, 21));
    for (row, line) in contracts {
        let found = contract::contract_shape_errors(&args(&row)[0], "expect");
        assert_eq!(found, strings(row.get("out").unwrap()), "{line}");
    }
    for (row, line) in scores {
        let found = gate::score_shape_errors(&args(&row)[0], "score");
        let wanted = strings(row.get("out").unwrap());
        assert_eq!(found.len(), wanted.len(), "{line}: {found:?}");
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!(continues(found, wanted), "{line}: {found}");
        }
    }
}

/// True when two messages agree, where the lists of types, languages and fields may go on.
fn continues(found: &str, wanted: &str) -> bool {
    let open = wanted.strip_suffix(')').unwrap_or(wanted);
    let listed = wanted.contains("must be one of")
        || wanted.contains("(allowed:")
        || wanted.contains("(supported:");
    found == wanted || (listed && found.starts_with(open))
}

#[test]
fn scorers() {
    let rows = rows("evaluate_scorer");
    assert_eq!(rows.len(), 141);
    for (row, line) in rows {
        let (spec, out) = (&args(&row)[0], row.get("out").unwrap());
        let index = args(&row)[1].as_f64().unwrap() as usize;
        let target = Target::from_wtf8(args(&row)[2].as_bytes().unwrap());
        let found = evaluate_scorer(spec, index, &target, &Row::empty());
        assert_eq!(Some(&*found.name), out.get("name").unwrap().as_str(), "{line}");
        assert_eq!(Some(&*found.kind), out.get("type").unwrap().as_str(), "{line}");
        assert_eq!(Some(found.outcome.passed), out.get("passed").unwrap().as_bool(), "{line}");
        assert_eq!(Some(found.outcome.score), out.get("score").unwrap().as_f64(), "{line}");
        let detail = out.get("detail").map(|d| d.as_str().unwrap());
        assert_eq!(found.outcome.detail.as_deref(), detail, "{line}");
    }
}

#[test]
fn combinations() {
    let (combine, judged) = (rows("combine"), rows("combine_with_judge"));
    assert_eq!((combine.len(), judged.len()), (54, 28));
    for (row, line) in combine {
        let args = args(&row);
        let weights = numbers(&args[2]);
        let weights = matches!(args[2], Value::Array(_)).then_some(&weights[..]);
        let found = combine_scores(
            &outcomes(&args[0]),
            Mode::read(Some(&args[1])).unwrap(),
            weights,
            args[3].as_f64().unwrap_or(0.5),
            args[4].as_f64().unwrap(),
        );
        let out = row.get("out").unwrap();
        assert_eq!(Some(found.combined), out.get("combined").unwrap().as_f64(), "{line}");
        assert_eq!(Some(found.passed), out.get("passed").unwrap().as_bool(), "{line}");
    }
    for (row, line) in judged {
        let args = args(&row);
        let (weights, threshold) = (numbers(&args[1]), args[2].as_f64().unwrap_or(0.5));
        let score = args[3].as_f64().unwrap();
        let found = combine_with_judge(&outcomes(&args[0]), &weights, threshold, score);
        let out = row.get("out").unwrap();
        assert_eq!(Some(found.combined), out.get("combined").unwrap().as_f64(), "{line}");
        assert_eq!(Some(found.passed), out.get("passed").unwrap().as_bool(), "{line}");
    }
}

#[test]
fn reports() {
    let rows = rows("format_report");
    assert_eq!(rows.len(), 19);
    for (row, line) in rows {
        let args = args(&row);
        let text = |v: &Value, key: &str| v.get(key).map(|t| t.as_str().unwrap().to_owned());
        let result = |v: &Value| ScorerResult {
            name: text(v, "name").unwrap().into(),
            kind: text(v, "type").unwrap().into(),
            outcome: Outcome {
                passed: v.get("passed").unwrap().as_bool().unwrap(),
                score: v.get("score").unwrap().as_f64().unwrap(),
                detail: text(v, "detail").map(Into::into),
                repaired: None,
            },
        };
        let results: Vec<_> = args[0].elements().iter().map(result).collect();
        let found = format_report(&results, args[1].as_f64().unwrap(), args[2].as_f64());
        assert_eq!(Some(&*found), row.get("out").unwrap().as_str(), "{line}");
    }
}
