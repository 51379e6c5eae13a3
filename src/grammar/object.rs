//! What the JSON object of a reply says.

use std::borrow::Cow;

use super::number::{Amount, js_number};
use super::tables::{self, Label, Say, Words};
use super::tokens::Tokens;
use super::value::{self, Pick, Score, Span, Value, scaled};
use crate::json::{Cursor, Kind};
use crate::text::trim_js;

const VERDICT_KEYS: [&str; 3] = ["continue", "pass", "verdict"];
/// Other names of the keys, which are read where the document's are absent.
const OTHER_VERDICT_KEYS: [&str; 3] = ["decision", "final_verdict", "overall_verdict"];
/// Keys that say something only as booleans: `passed` may count tests.
const BOOLEAN_KEYS: [&str; 4] = ["passed", "approved", "is_safe", "criteria_met"];
const OTHER_SCORE_KEYS: [&str; 3] = ["overall_score", "final_score", "total_score"];
const OTHER_WINNER_KEYS: [&str; 2] = ["best_variant", "best_response"];
const WINNER_KEYS: [&str; 3] = ["winner", "best", "choice"];

/// The keys that a grammar reads, in the letter cases that are looked for.
pub(super) fn keys(label: Label, words: &Words<'_>) -> Vec<String> {
    let form = words.form;
    let common: Vec<&str> = match label {
        Label::Verdict => [&VERDICT_KEYS[..], &OTHER_VERDICT_KEYS, &BOOLEAN_KEYS].concat(),
        Label::Score => {
            let verdicts = [&VERDICT_KEYS[..], &OTHER_VERDICT_KEYS, &BOOLEAN_KEYS].concat();
            [&["score"][..], &verdicts, &OTHER_SCORE_KEYS].concat()
        }
        Label::Winner => [&WINNER_KEYS[..], &OTHER_WINNER_KEYS].concat(),
    };
    let mut keys: Vec<String> = common.into_iter().map(str::to_owned).collect();
    if label != Label::Winner {
        keys.extend(form.verdict_keys.iter().cloned());
    }
    if label == Label::Score {
        keys.extend(form.score_keys.iter().cloned());
    }
    let mut all = Vec::new();
    for key in keys {
        let mut title = key.to_lowercase();
        if let Some(first) = title.get(..1).map(str::to_uppercase) {
            title.replace_range(..1, &first);
        }
        all.extend([key.to_lowercase(), key.to_uppercase(), title, key]);
    }
    all.sort();
    all.dedup();
    all
}

/// An object of the text.
#[derive(Clone, Copy)]
pub(super) struct Object<'d, 'w> {
    pub(super) root: Cursor<'d>,
    /// The text that it stands in.
    pub(super) text: &'d [u8],
    pub(super) words: &'w Words<'w>,
}

impl<'d> Object<'d, '_> {
    /// The value of a key in any letter case; the last one counts.
    fn get(self, name: &str) -> Option<(Cursor<'d>, bool)> {
        let found = self
            .root
            .members()
            .filter(|(key, _)| String::from_utf8_lossy(&key.content()).to_lowercase() == name);
        found.last().map(|(key, value)| (value, key.content_is(name.as_bytes())))
    }

    /// The `reason`: a string that is not blank, trimmed.
    pub(super) fn reason(self) -> Option<Vec<u8>> {
        let own = self.words.form.reason_keys.iter().map(|key| key.to_lowercase());
        let mut names = std::iter::once("reason".to_owned()).chain(own);
        names.find_map(|name| {
            let reason = self.get(&name).filter(|(v, _)| v.kind() == Kind::String)?.0.content();
            let trimmed = trim_js(&reason);
            (!trimmed.is_empty()).then(|| trimmed.to_vec())
        })
    }

    /// Whether the end of the text cuts a value: nothing stands behind it, not even its quote.
    fn is_cut(self, value: Cursor<'_>) -> bool {
        if !matches!(value.kind(), Kind::String | Kind::Number) {
            return false;
        }
        let Some((_, end)) = value.text_span() else {
            return !matches!(trim_js(self.text).last(), Some(b'}' | b']' | b'"' | b'\'' | b'`'));
        };
        let behind = trim_js(self.text.get(end..).unwrap_or_default());
        behind.is_empty() || behind.starts_with(b"```")
    }

    /// Whether a bar or a word for `or` follows a value: the form of an answer.
    fn is_form(self, value: Cursor<'_>) -> bool {
        let Some((_, end)) = value.text_span() else { return false };
        let behind = self.text.get(end..end + 24).or(self.text.get(end..)).unwrap_or_default();
        let behind = behind.strip_prefix(b"\"").or(behind.strip_prefix(b"'")).unwrap_or(behind);
        let behind = trim_js(behind);
        let bar =
            matches!(behind, [b'|' | b'/' | b'\\', ..]) || behind.starts_with("｜".as_bytes());
        let or = [&b"or "[..], b"or\"", b"OR "].iter().any(|or| behind.starts_with(or));
        bar || or
    }

    /// What the verdict, `pass` and `continue` say together; one that blocks wins.
    pub(super) fn verdict(self) -> Option<(Value<Say>, bool, bool)> {
        let own = self.words.form.verdict_keys.iter().map(|key| key.to_lowercase());
        let names = VERDICT_KEYS.iter().chain(&OTHER_VERDICT_KEYS).chain(&BOOLEAN_KEYS);
        let names = names.map(|name| (*name).to_owned()).chain(own);
        let mut best: Option<(Value<Say>, bool, bool)> = None;
        for name in names {
            let Some((value, exact)) = self.get(&name) else { continue };
            let boolean = matches!(value.kind(), Kind::True | Kind::False);
            if BOOLEAN_KEYS.contains(&name.as_str()) && !boolean {
                continue;
            }
            let Some((read, typed)) = self.say(value, !VERDICT_KEYS[..2].contains(&name.as_str()))
            else {
                continue;
            };
            let rank = |value: &Value<Say>| match value {
                Value::Said(Say::Block, _) => 4,
                Value::Said(Say::Pass, false) => 3,
                Value::Said(Say::Pass, true) => 2,
                _ => 1,
            };
            if best.as_ref().is_none_or(|(old, _, _)| rank(&read) > rank(old)) {
                best = Some((read, exact, typed));
            }
        }
        // A list of what blocks, in the same object, is against a pass.
        let against = |(key, value): (Cursor<'_>, Cursor<'_>)| {
            let says = value.kind() == Kind::True || !value.is_empty();
            says && key.content().to_ascii_lowercase().starts_with(b"block")
        };
        match best {
            Some((Value::Said(Say::Pass, _), keyed, typed)) if self.root.members().any(against) => {
                Some((Value::Said(Say::Pass, false), keyed, typed))
            }
            best => best,
        }
    }

    /// What one value says, and whether it is of the type that the document gives it.
    fn say(self, value: Cursor<'_>, word: bool) -> Option<(Value<Say>, bool)> {
        let boolean = |passes: bool| {
            let say = if passes { Say::Pass } else { Say::Block };
            if self.is_form(value) { Value::Form } else { Value::Said(say, true) }
        };
        match value.kind() {
            Kind::True => Some((boolean(true), !word)),
            Kind::False => Some((boolean(false), !word)),
            Kind::Number => match value.number_text() {
                "1" => Some((boolean(true), false)),
                "0" => Some((boolean(false), false)),
                _ => None,
            },
            Kind::String => {
                let text = value.content();
                let read = self.string(&text);
                let read = match read {
                    Value::Said(Say::Pass, _) if self.is_cut(value) || self.is_form(value) => {
                        Value::Form
                    }
                    Value::Said(Say::Block, _) if self.is_form(value) => Value::Form,
                    _ if self.is_cut(value) && !matches!(read, Value::Said(Say::Block, _)) => {
                        Value::Form
                    }
                    _ => read,
                };
                Some((read, word))
            }
            _ => None,
        }
    }

    /// What the text of a JSON string says: the document's five words block anywhere in it.
    fn string(self, text: &[u8]) -> Value<Say> {
        let tokens = Tokens::new(text);
        let all = Span { from: 0, to: tokens.len() };
        let read = value::verdict(&tokens, all, self.words);
        if matches!(read, Value::Form | Value::Said(Say::Block, _)) {
            return read;
        }
        let none = |at: usize| value::is_denied(&tokens, at, 2);
        let blocks = |at: usize| {
            let word = tokens.word(at);
            let inside = tables::STEMS.iter().any(|stem| {
                word.find(stem)
                    .is_some_and(|i| !word[..i].ends_with("un") && !word[..i].ends_with("non"))
            });
            inside && !none(at)
        };
        if (0..tokens.len()).any(blocks) {
            return Value::Said(Say::Block, true);
        }
        match read {
            // Only a whole word passes, or one with a remark.
            Value::Empty => Value::Unknown,
            other => other,
        }
    }

    /// Whether the word that says nothing is an empty text.
    pub(super) fn score(self) -> Option<Value<Score>> {
        let own = self.words.form.score_keys.iter().map(|key| key.to_lowercase());
        let others = OTHER_SCORE_KEYS.iter().map(|name| (*name).to_owned());
        let mut names = std::iter::once("score".to_owned()).chain(own).chain(others);
        let (mut value, _) = names.find_map(|name| self.get(&name))?;
        // `{"score": {"value": 0.2}}`
        if value.kind() == Kind::Object {
            let mut numbers = value.members().map(|(_, value)| value);
            let number = numbers.find(|value| value.kind() == Kind::Number)?;
            let others = numbers.any(|value| value.kind() == Kind::Number);
            value = Some(number).filter(|_| !others)?;
        }
        let scale = self.words.form.scale;
        let read = match value.kind() {
            Kind::Number => {
                // Broken JSON may go on: `85%`, `8/10`, `0.0-1.0`.
                let span = value.text_span();
                let rest = span.and_then(|(start, _)| self.text.get(start..));
                let behind = span.and_then(|(_, end)| self.text.get(end..)).unwrap_or_default();
                let ends = matches!(
                    trim_js(behind),
                    [] | [b',' | b'}' | b']' | b'"' | b'`' | b'/' | b'r', ..]
                );
                let joined = matches!(behind, [b',', b'0'..=b'9', ..]);
                let plain = ends && !joined && !matches!(trim_js(behind), [b'/', ..]);
                if !plain && let Some(rest) = rest {
                    let line =
                        rest.split(|&b| matches!(b, b'\n' | b'}' | b'"')).next().unwrap_or(rest);
                    let line = line.strip_suffix(b", ").or(line.strip_suffix(b",")).unwrap_or(line);
                    return Some(self.written(line));
                }
                let number: f64 = value.number_text().parse().ok()?;
                number.is_finite().then(|| scaled(plain_amount(number), scale))?
            }
            Kind::String => {
                let text = value.content();
                let text = trim_js(&text);
                if text.is_empty() {
                    return Some(Value::Empty);
                }
                if self.is_cut(value) {
                    return Some(Value::Form);
                }
                match js_number(text) {
                    Some(number) => scaled(plain_amount(number), scale),
                    None => return Some(self.written(text)),
                }
            }
            _ => return None,
        };
        Some(match read {
            Some(score) if self.is_cut(value) && score.value >= self.words.form.pass_at => {
                Value::Form
            }
            Some(score) => Value::Said(Score { bare: false, ..score }, true),
            None => Value::Unknown,
        })
    }

    /// A score that is written as text.
    fn written(self, text: &[u8]) -> Value<Score> {
        let tokens = Tokens::new(text);
        value::score(&tokens, Span { from: 0, to: tokens.len() }, self.words, None)
    }

    /// What the first key of a winner that is present says, and whether its number was changed.
    pub(super) fn winner(self, count: u64, labels: &[String]) -> Option<Value<Pick>> {
        let present = |key: &str| self.get(key).filter(|(value, _)| value.kind() != Kind::Null);
        let mut names = WINNER_KEYS.iter().chain(&OTHER_WINNER_KEYS);
        let (value, _) = names.find_map(|key| present(key))?;
        let text: Cow<'_, [u8]> = match value.kind() {
            Kind::Number if self.is_form(value) => return Some(Value::Form),
            Kind::Number => {
                let number: f64 = value.number_text().parse().ok()?;
                let number = Some(number).filter(|n| n.is_finite())?;
                return Some(Value::Said(Pick::Variant(number), true));
            }
            Kind::String => value.content(),
            Kind::Array if value.len() > 1 => {
                return Some(Value::Said(Pick::Tie, value.len() as u64 == count));
            }
            _ => return Some(Value::Unknown),
        };
        if let (true, Some(number)) = (labels.is_empty(), js_number(&text)) {
            return Some(Value::Said(Pick::Variant(number), true));
        }
        let tokens = Tokens::new(&text);
        Some(value::winner(&tokens, Span { from: 0, to: tokens.len() }, count, labels))
    }
}

fn plain_amount(value: f64) -> Amount {
    Amount { value, of: None, percent: false, bare: false, bytes: 0 }
}

/// The object that speaks for a document: itself, that of an array of one, or the only one under
/// a key.
pub(super) fn speaker<'d>(root: Cursor<'d>, keys: &[String]) -> Option<Cursor<'d>> {
    let mut at = root;
    loop {
        match at.kind() {
            Kind::Array if at.len() == 1 => at = at.element(0)?,
            Kind::Object => {
                let holds = |(key, _): (Cursor<'_>, Cursor<'_>)| {
                    keys.iter().any(|k| key.content_is(k.as_bytes()))
                };
                if at.members().any(holds) {
                    return Some(at);
                }
                let mut inner = at.members().map(|(_, value)| value).filter(|value| {
                    matches!(value.kind(), Kind::Object | Kind::Array) && !value.is_empty()
                });
                let only = inner.next()?;
                if inner.next().is_some() {
                    return None;
                }
                at = only;
            }
            _ => return None,
        }
    }
}
