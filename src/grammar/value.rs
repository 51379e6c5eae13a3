//! What stands behind a label: a word, a number, a variant, and whether it is plain.

use super::number::{Amount, amount};
use super::tables::{self, Say, Words, sign};
use super::tokens::{Kind, Tokens};

/// What a value says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<T> {
    /// It says so; the flag: nothing beside it takes it back.
    Said(T, bool),
    /// It is the form of an answer, and no vote.
    Form,
    /// Words that say nothing.
    Unknown,
    /// Nothing at all.
    Empty,
}

/// A span of tokens.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Skips what may wrap a value; the sign among it, and whether the value is struck out.
fn unwrap(tokens: &Tokens<'_>, span: Span, number: bool) -> (usize, Option<Say>) {
    let (mut at, mut said) = (span.from, None);
    while at < span.to {
        match tokens.kind(at) {
            Some(Kind::Mark('<' | '>')) if number => break,
            Some(Kind::Mark(
                '*' | '_' | '~' | '`' | '"' | '\'' | '“' | '”' | '‘' | '’' | '(' | '[' | '{' | '<'
                | '>' | '（' | '【' | '「' | '『' | '《' | '«' | '|',
            )) => {}
            Some(Kind::Mark('\\')) if matches!(tokens.word(at + 1), "boxed" | "text") => at += 1,
            Some(Kind::Mark('≈')) => break,
            Some(Kind::Mark(c))
                if u32::from(c) > 0x2000 && !c.is_alphanumeric() && !is_joint(c) =>
            {
                said = sign(c).or(said);
            }
            _ => break,
        }
        at += 1;
    }
    (at.min(span.to), said)
}

fn is_joint(c: char) -> bool {
    matches!(
        c,
        '，' | '、'
            | '。'
            | '：'
            | '＝'
            | '｜'
            | '／'
            | '！'
            | '？'
            | '；'
            | '→'
            | '—'
            | '–'
            | '…'
            | '−'
            | '★'
            | '⭐'
            | '🌟'
            | '☆'
            | '±'
    )
}

fn is_bar(c: char) -> bool {
    matches!(c, '|' | '/' | '\\' | '｜' | '／' | '│' | '¦' | '┃' | '⁄' | '∣' | '‖')
}

/// Leaves out what is struck out before another value: `~~PASS~~ BLOCK`.
fn unstruck(tokens: &Tokens<'_>, span: Span) -> Span {
    let strike = |at: usize| tokens.mark(at) == Some('~') && tokens.mark(at + 1) == Some('~');
    let mut from = span.from;
    loop {
        let open = (from..from + 4).find(|&at| strike(at) || tokens.is_word(at));
        let Some(open) = open.filter(|&at| strike(at)) else { break };
        let Some(close) = (open + 3..open + 8).find(|&at| strike(at)) else { break };
        let next = close + 2;
        let spaced = tokens.get(next).is_some_and(|token| token.spaced);
        let value = matches!(
            tokens.kind(next),
            Some(Kind::Word | Kind::Digits | Kind::Mark('*' | '~' | '`' | '#'))
        );
        if next >= span.to || !spaced || !value || tables::starts_remark(tokens.word(next)) {
            break;
        }
        from = next;
    }
    Span { from, to: span.to }
}

/// Reads a verdict.
pub(super) fn verdict(tokens: &Tokens<'_>, span: Span, words: &Words<'_>) -> Value<Say> {
    let span = unstruck(tokens, span);
    let (head, emoji) = unwrap(tokens, span, false);
    if head >= span.to {
        return emoji.map_or(Value::Empty, |say| Value::Said(say, true));
    }
    if let Some(next) = negated(tokens, Span { from: head, to: span.to }, words) {
        return next;
    }
    let phrases = tokens.phrases(head, span.to, 4);
    let found = phrases.iter().rev().find_map(|(text, end)| Some((words.say(text)?, *end)));
    let Some((say, end)) = found else {
        // A word that says nothing alone may lead to one that does: `probably PASS`.
        return led(tokens, Span { from: head, to: span.to }, emoji);
    };
    let rest = Span { from: end, to: span.to };
    if is_form(tokens, rest, words) {
        return Value::Form;
    }
    if say == Say::Block {
        return Value::Said(Say::Block, true);
    }
    let plain = emoji != Some(Say::Block) && plain_rest(tokens, rest, Some(words));
    Value::Said(Say::Pass, plain)
}

/// `NOT A PASS` blocks; `NOT BLOCKED` says nothing.
fn negated(tokens: &Tokens<'_>, span: Span, words: &Words<'_>) -> Option<Value<Say>> {
    let mut at = span.from;
    let mut negation = false;
    while at < span.to && at < span.from + 8 {
        let word = tokens.word(at);
        if tables::is_negation(word) || (word == "no" && negates(tokens, at, span, words)) {
            negation = true;
        } else {
            let dress =
                matches!(tokens.mark(at), Some('*' | '_' | '~' | '`' | '"' | '\'' | '“' | '-'));
            let helps = matches!(word, "do" | "does" | "did" | "should" | "must" | "can")
                || (negation && tables::is_filler(word));
            if !dress && !helps {
                break;
            }
        }
        at += 1;
    }
    if !negation || at >= span.to {
        return None;
    }
    let phrases = tokens.phrases(at, span.to, 4);
    // The whole phrase may be one of the list, such as `nicht bestanden`, `not ready`.
    if tokens
        .phrases(span.from, span.to, 4)
        .iter()
        .any(|(text, _)| text.contains(' ') && words.say(text).is_some())
    {
        return None;
    }
    match phrases.iter().rev().find_map(|(text, _)| words.say(text)) {
        Some(Say::Pass) => Some(Value::Said(Say::Block, true)),
        _ => Some(Value::Unknown),
    }
}

/// Whether a `no` belongs to the next word: `NO PASS`, `no blockers`.
fn negates(tokens: &Tokens<'_>, at: usize, span: Span, words: &Words<'_>) -> bool {
    let next = tokens.word(at + 1);
    at + 1 < span.to && (words.say(next).is_some() || next == "longer" || tables::has_stem(next))
}

/// What a value says that starts with other words.
fn led(tokens: &Tokens<'_>, span: Span, emoji: Option<Say>) -> Value<Say> {
    let (mut pass, mut block) = (false, emoji == Some(Say::Block));
    for at in span.from..span.to {
        if !tokens.is_word(at) {
            continue;
        }
        let none =
            (1..3).any(|back| at >= span.from + back && tables::makes_none(tokens.word(at - back)));
        let negation = (1..4)
            .any(|back| at >= span.from + back && tables::is_negation(tokens.word(at - back)));
        let word = tokens.word(at);
        block |= tables::has_stem(word) && !none;
        let passes =
            matches!(word, "pass" | "passes" | "passed" | "ok" | "okay" | "approve" | "approved");
        block |= passes && negation;
        pass |= passes;
    }
    match (pass, block) {
        (_, true) => Value::Said(Say::Block, true),
        (true, false) => Value::Said(Say::Pass, false),
        _ => Value::Unknown,
    }
}

/// Whether another choice follows behind a bar or a word for `or`.
fn is_form(tokens: &Tokens<'_>, rest: Span, words: &Words<'_>) -> bool {
    let (mut at, mut joint, mut glued) = (rest.from, false, false);
    while at < rest.to && at < rest.from + 12 {
        match tokens.kind(at) {
            Some(Kind::Mark(c)) => {
                joint |= is_bar(c);
                // `PASS|OTHER`: no cell of a table is written so.
                let spaced = |i: usize| tokens.get(i).is_none_or(|token| token.spaced);
                glued |= is_bar(c) && !spaced(at) && !spaced(at + 1) && tokens.is_word(at + 1);
                // Choices in quotes or brackets of their own.
                glued |= is_bar(c) && matches!(tokens.mark(at + 1), Some('"' | '“' | '[' | '\''));
            }
            Some(Kind::Word) if tables::is_or(tokens.word(at)) => joint = true,
            _ => break,
        }
        at += 1;
    }
    if !joint {
        return false;
    }
    let known = tokens.phrases(at, rest.to, 3).iter().any(|(text, _)| words.say(text).is_some());
    known || glued || at >= rest.to || matches!(tokens.word(at), "not" | "do")
}

/// Whether the rest of a line is empty, or a remark that takes nothing back. With `words` block
/// words count too.
pub(super) fn plain_rest(tokens: &Tokens<'_>, rest: Span, words: Option<&Words<'_>>) -> bool {
    let (mut at, mut mark) = (rest.from, false);
    while at < rest.to {
        match tokens.kind(at) {
            Some(Kind::Mark('?' | '？' | '→' | '←')) => return false,
            Some(Kind::Mark(c)) => {
                let arrow = matches!(c, '-' | '=') && tokens.mark(at + 1) == Some('>');
                if arrow {
                    return false;
                }
                mark |= !matches!(c, '*' | '_' | '~' | '`' | '"' | '\'' | '“' | '”');
            }
            _ => break,
        }
        at += 1;
    }
    if at >= rest.to {
        return true;
    }
    if !mark && !tables::starts_remark(tokens.word(at)) {
        return false;
    }
    (at..rest.to).all(|i| !doubts(tokens, i, Span { from: at, to: rest.to }, words))
}

/// Whether a token of a remark takes a vote back.
fn doubts(tokens: &Tokens<'_>, at: usize, span: Span, words: Option<&Words<'_>>) -> bool {
    if matches!(tokens.mark(at), Some('→' | '?' | '？')) {
        return true;
    }
    if !tokens.is_word(at) {
        return false;
    }
    let word = tokens.word(at);
    if tables::is_condition(word) {
        // `minor nits only`
        return word != "only" || (at + 1 < span.to && tokens.is_word(at + 1));
    }
    let none =
        (1..4).any(|back| at >= span.from + back && tables::makes_none(tokens.word(at - back)));
    let next_blocks = (1..4).any(|i| at + i < span.to && tables::has_stem(tokens.word(at + i)));
    if tables::is_negation(word) {
        return !next_blocks;
    }
    if word == "no" {
        return !(at + 1 < span.to && tokens.is_word(at + 1));
    }
    let Some(words) = words else { return false };
    let alone = !matches!(word, "no" | "error" | "errors");
    alone && words.say(word) == Some(Say::Block) && !none
}

/// A score on its scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Score {
    pub(super) value: f64,
    /// It was below its scale.
    pub(super) clamped: bool,
    /// A bare digit, which may be one of another scale.
    pub(super) bare: bool,
}

/// A number on the scale; None where it is off it.
pub(super) fn scaled(number: Amount, scale: Option<(f64, f64)>) -> Option<Score> {
    let (value, clamped) = match scale {
        Some((worst, best)) => {
            let x = match number.of {
                None => number.value,
                Some(of) if (of - worst.max(best)).abs() < f64::EPSILON => number.value,
                Some(_) => return None,
            };
            ((x - worst) / (best - worst), false)
        }
        None => {
            let value = number.of.map_or(number.value, |of| number.value / of);
            (if value < 0.0 { 0.0 } else { value }, value < 0.0)
        }
    };
    (0.0..=1.0).contains(&value).then_some(Score { value: value + 0.0, clamped, bare: number.bare })
}

/// Reads a score. Unknown where the number is off the scale.
///
/// `of` is the best score of a scale that the label names.
pub(super) fn score(
    tokens: &Tokens<'_>,
    span: Span,
    words: &Words<'_>,
    of: Option<f64>,
) -> Value<Score> {
    let span = unstruck(tokens, span);
    let (head, _) = unwrap(tokens, span, true);
    if head >= span.to {
        return Value::Empty;
    }
    let unclear = Value::Said(Score { value: 0.0, clamped: false, bare: false }, false);
    if let Some(stars) = stars(tokens, head, span.to) {
        return Value::Said(stars, true);
    }
    let last = tokens.end_of(span.to.saturating_sub(1));
    let start = tokens.start_of(head);
    let numeric = tokens.kind(head) == Some(Kind::Digits)
        || matches!(tokens.mark(head), Some('+' | '-' | '.') if tokens.kind(head + 1) == Some(Kind::Digits));
    if !numeric {
        if let Some(score) = spelled(tokens, head, span.to) {
            return Value::Said(score, true);
        }
        let number = (head..span.to).any(|i| tokens.kind(i) == Some(Kind::Digits));
        return if number { unclear } else { Value::Unknown };
    }
    let Some(mut number) = amount(&tokens.text[start..last.max(start)]) else { return unclear };
    if number.of.is_none() && of.is_some() {
        (number.of, number.bare) = (of, false);
    }
    let end = tokens.from(start + number.bytes).min(span.to);
    let rest = Span { from: end, to: span.to };
    let declared = words.form.scale.is_some();
    let Some(score) = scaled(number, words.form.scale) else {
        return if declared || plain_number(tokens, rest) { Value::Unknown } else { unclear };
    };
    // `1 |` before another number is the form of an answer over two lines.
    let bar = rest.to > end && matches!(tokens.mark(rest.to - 1), Some(c) if is_bar(c));
    let goes_on = bar
        && tokens.kind(rest.to) == Some(Kind::Line)
        && tokens.kind(rest.to + 1) == Some(Kind::Digits);
    Value::Said(score, !goes_on && (declared || plain_number(tokens, rest)))
}

/// `four out of five`.
fn spelled(tokens: &Tokens<'_>, head: usize, to: usize) -> Option<Score> {
    const NUMBERS: [&str; 11] =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let number = |at: usize| NUMBERS.iter().position(|word| *word == tokens.word(at));
    let joined = tokens.word(head + 1) == "out" && tokens.word(head + 2) == "of";
    let (some, all) = (number(head)?, number(head + 3)?);
    #[allow(clippy::cast_precision_loss)] // up to ten
    let value = some as f64 / all.max(1) as f64;
    let plain = joined && head + 3 < to && value <= 1.0 && all > 1;
    plain.then_some(Score { value, clamped: false, bare: false })
}

/// Filled and empty stars, where both or five of them stand.
fn stars(tokens: &Tokens<'_>, head: usize, to: usize) -> Option<Score> {
    let (mut filled, mut all) = (0u32, 0u32);
    for at in head..to {
        match tokens.mark(at) {
            Some('★' | '⭐' | '🌟') => filled += 1,
            Some('☆') => {}
            _ => break,
        }
        all += 1;
    }
    let scale = all > 1 && (all == 5 || filled < all);
    let value = f64::from(filled) / f64::from(all.max(1));
    scale.then_some(Score { value, clamped: false, bare: false })
}

/// Whether nothing behind a number gives it another meaning.
fn plain_number(tokens: &Tokens<'_>, rest: Span) -> bool {
    let mut seen = 0;
    for at in rest.from..rest.to {
        match tokens.kind(at) {
            Some(Kind::Digits | Kind::Mark('→' | '?' | '？' | '+' | '×' | '±')) => {
                return false;
            }
            Some(Kind::Mark('=' | '<' | '>')) if tokens.mark(at + 1) != Some('/') => return false,
            Some(Kind::Word) => {
                seen += 1;
                let word = tokens.word(at);
                if tables::is_condition(word) || (seen < 4 && tables::is_scale(word)) {
                    return false;
                }
            }
            _ => {}
        }
    }
    true
}

/// Whether a word that denies stands shortly before another: `no blocking issues`.
pub(super) fn is_denied(tokens: &Tokens<'_>, at: usize, reach: usize) -> bool {
    (1..=reach.min(at)).any(|back| {
        let word = tokens.word(at - back);
        tables::makes_none(word) || tables::is_negation(word)
    })
}

/// A variant that a reply names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pick {
    /// Its number as written, and whether it is a whole one.
    Variant(f64),
    Tie,
}

/// Reads a winner.
pub(super) fn winner(
    tokens: &Tokens<'_>,
    span: Span,
    count: u64,
    labels: &[String],
) -> Value<Pick> {
    let span = unstruck(tokens, span);
    let (head, _) = unwrap(tokens, span, false);
    if head >= span.to {
        return Value::Empty;
    }
    if let Some((pick, end)) = named(tokens, Span { from: head, to: span.to }, labels) {
        let rest = Span { from: end, to: span.to };
        return Value::Said(pick, plain_rest(tokens, rest, None));
    }
    let Some((first, end)) = variant(tokens, Span { from: head, to: span.to }, count) else {
        let word = (head..span.to.min(head + 6)).any(|i| tables::is_tie(tokens.word(i)));
        let negation = tables::is_negation(tokens.word(head));
        return if word && !negation {
            Value::Said(Pick::Tie, true)
        } else if negation {
            Value::Said(Pick::Tie, false)
        } else {
            Value::Unknown
        };
    };
    let rest = Span { from: end, to: span.to };
    let (mut at, mut joint) = (end, ' ');
    while at < rest.to && at < end + 8 {
        match tokens.kind(at) {
            Some(Kind::Mark(c)) => {
                if matches!(
                    c,
                    '>' | '<' | '=' | '→' | '|' | '/' | '&' | ',' | '.' | '?' | '-' | '–' | '…'
                ) {
                    joint = if c == '>' && joint == '-' {
                        '→'
                    } else if joint == '=' {
                        joint
                    } else {
                        c
                    };
                }
            }
            Some(Kind::Word)
                if tables::is_or(tokens.word(at))
                    || matches!(tokens.word(at), "and" | "und" | "et") =>
            {
                joint = '&';
            }
            _ => break,
        }
        at += 1;
    }
    let second =
        if at > end { variant(tokens, Span { from: at, to: rest.to }, count) } else { None };
    // Of two variants both are a tie.
    let joint = if joint == '&' && count == 2 && second.is_some() { '=' } else { joint };
    match (joint, second) {
        ('>', Some(_)) => Value::Said(first, true),
        ('<', Some((second, _))) => Value::Said(second, true),
        ('=', Some(_)) => Value::Said(Pick::Tie, true),
        ('|' | '/', Some(_)) => Value::Form,
        ('&' | '→' | '-' | '–' | '…' | '?' | '.', Some(_)) | ('→' | '?' | '=', None) => {
            Value::Said(first, false)
        }
        ('.', None) if tokens.mark(end) == Some('.') && tokens.mark(end + 1) == Some('.') => {
            Value::Form
        }
        _ => Value::Said(first, plain_rest(tokens, rest, None) || starts_clause(tokens, rest)),
    }
}

/// Whether a rest goes on without taking back: `2 is clearer`.
/// The one variant that a sentence without a label calls better: `Variant 2 wins`, `Option B is the
/// better answer`; or that is all there is: `Output (b)`.
pub(super) fn prose(tokens: &Tokens<'_>, count: u64) -> Option<Pick> {
    let mut found = None;
    let dress = |&i: &usize| !matches!(tokens.kind(i), Some(Kind::Line | Kind::Mark('`')));
    let first = (0..tokens.len()).find(dress).unwrap_or(0);
    for at in first..tokens.len() {
        if !(tables::is_variant(tokens.word(at)) || tokens.word(at) == "output") {
            continue;
        }
        let bracket = matches!(tokens.mark(at + 1), Some('('));
        let from = at + 1 + usize::from(bracket);
        let Some((pick, mut end)) = variant(tokens, Span { from, to: tokens.len() }, count) else {
            continue;
        };
        end += usize::from(bracket);
        let praised = tokens.word(end) == "wins"
            || tokens.word(end) == "is"
                && (end + 1..end + 4)
                    .any(|i| matches!(tokens.word(i), "better" | "best" | "winner"))
                && !(end + 1..end + 4).any(|i| tables::is_negation(tokens.word(i)));
        let alone = at == first && (end..tokens.len()).all(|i| !tokens.is_word(i));
        let inside = matches!(pick, Pick::Variant(n) if n >= 1.0 && n <= count as f64);
        if (praised || alone) && inside {
            if found.is_some_and(|other| other != pick) {
                return None;
            }
            found = Some(pick);
        }
    }
    found
}

fn starts_clause(tokens: &Tokens<'_>, rest: Span) -> bool {
    matches!(tokens.word(rest.from), "is" | "wins" | "has" | "号" | "and" | "by")
        && (rest.from + 1..rest.to).all(|i| !doubts(tokens, i, rest, None))
}

/// A variant by its name.
fn named(tokens: &Tokens<'_>, span: Span, labels: &[String]) -> Option<(Pick, usize)> {
    if labels.is_empty() {
        return None;
    }
    let text = &tokens.text[tokens.start_of(span.from)..tokens.end_of(span.to - 1)];
    let text = String::from_utf8_lossy(text);
    let wanted = |label: &&String| {
        let head: String = text.chars().take(label.chars().count()).collect();
        let next = text.chars().nth(label.chars().count());
        head.to_lowercase() == label.to_lowercase() && !next.is_some_and(char::is_alphanumeric)
    };
    let longest = labels.iter().filter(wanted).max_by_key(|label| label.len())?;
    let number = labels.iter().position(|label| label == longest)? + 1;
    let bytes: usize = text.chars().take(longest.chars().count()).map(char::len_utf8).sum();
    let end = tokens.from(tokens.start_of(span.from) + bytes);
    #[allow(clippy::cast_precision_loss)] // there are few labels
    Some((Pick::Variant(number as f64), end.min(span.to)))
}

/// A variant by number or letter, and where it ends.
fn variant(tokens: &Tokens<'_>, span: Span, count: u64) -> Option<(Pick, usize)> {
    let mut at = span.from;
    while at < span.to && at < span.from + 10 {
        let word = tokens.word(at);
        let joint = matches!(
            tokens.mark(at),
            Some('#' | '.' | '*' | '_' | '`' | '-' | '"' | '\'' | '(' | '[' | ':' | '“')
        );
        let sign = matches!(tokens.mark(at), Some('-'))
            && (at == span.from || tokens.mark(at - 1) == Some('#'));
        if sign || !(joint || (tables::is_variant(word) && tokens.is_word(at))) {
            break;
        }
        // `NO. 2`, but `no` alone is no variant's word.
        at += 1;
    }
    if at >= span.to {
        return None;
    }
    let word = tokens.word(at);
    if tokens.kind(at) == Some(Kind::Digits) {
        let mut text = word.to_owned();
        let mut end = at + 1;
        if tokens.mark(end) == Some('.')
            && tokens.kind(end + 1) == Some(Kind::Digits)
            && !tokens.get(end + 1).is_some_and(|t| t.spaced)
            && end + 1 < span.to
        {
            text.push('.');
            text.push_str(tokens.word(end + 1));
            end += 2;
        }
        let glued = tokens.is_word(end)
            && !tokens.get(end).is_some_and(|t| t.spaced)
            && tokens.word(end).is_ascii()
            && end < span.to;
        return if glued { None } else { Some((Pick::Variant(text.parse().ok()?), end)) };
    }
    let spelled = ["one", "two", "three", "four", "five"].iter().position(|w| *w == word);
    let ordinal = ["first", "second", "third", "fourth", "fifth"].iter().position(|w| *w == word);
    if let Some(index) = spelled.or(ordinal) {
        return Some((Pick::Variant([1.0, 2.0, 3.0, 4.0, 5.0][index]), at + 1));
    }
    let [letter @ b'a'..=b'z'] = *word.as_bytes() else { return None };
    // An article is no variant.
    if letter == b'a' && at + 1 < span.to && tokens.is_word(at + 1) && tokens.bytes(at) == b"a" {
        return None;
    }
    let index = u64::from(letter - b'a') + 1;
    if index == 3 && count == 2 {
        return Some((Pick::Tie, at + 1));
    }
    #[allow(clippy::cast_precision_loss)] // up to 26
    (index <= count).then_some((Pick::Variant(index as f64), at + 1))
}
