//! The votes of a reply: objects and markers, in the order of the text.

use super::object::{Object, keys, speaker};
use super::tables::{self, Label, Say, Words, sign};
use super::tokens::{Kind, Tokens};
use super::value::{self, Pick, Score, Span, Value};
use crate::json::object_spans;

/// One vote: what an object or a marker says.
#[derive(Clone, Debug)]
pub(super) struct Vote {
    /// Where it starts and ends, in bytes.
    pub(super) span: (usize, usize),
    pub(super) object: bool,
    /// An object in the document's own form: key and type.
    pub(super) exact: bool,
    /// An object with the document's own key.
    pub(super) keyed: bool,
    /// Nothing around it takes it back: it is no mention and no quotation.
    pub(super) plain: bool,
    pub(super) verdict: Option<Value<Say>>,
    pub(super) score: Option<Value<Score>>,
    pub(super) winner: Option<Value<Pick>>,
    pub(super) reason: Option<Vec<u8>>,
    /// What a label is qualified by; `final` and the like are none.
    pub(super) of: Option<String>,
    /// The label is called final, overall or total.
    pub(super) is_final: bool,
}

/// What a reply is read for.
pub(super) struct Asked<'a> {
    pub(super) label: Label,
    pub(super) words: &'a Words<'a>,
    pub(super) count: u64,
    pub(super) labels: &'a [String],
}

/// The votes of a text, in order.
pub(super) fn votes(tokens: &Tokens<'_>, asked: &Asked<'_>) -> Vec<Vote> {
    let outside = whole_quote(tokens);
    let (mut votes, spans, unread) = objects(tokens, asked, &outside);
    let markers = markers(tokens, asked, &spans, unread, &outside);
    votes.extend(markers);
    votes.sort_by_key(|vote| vote.span);
    votes
}

/// The objects of a text: where each starts and ends, and whether it says something.
type Spans = Vec<(usize, usize, bool)>;

fn objects(tokens: &Tokens<'_>, asked: &Asked<'_>, outside: &Outside) -> (Vec<Vote>, Spans, usize) {
    let text = tokens.text;
    if memchr::memchr2(b'{', b'[', text).is_none() {
        return (Vec::new(), Vec::new(), usize::MAX);
    }
    let keys = keys(asked.label, asked.words);
    let names: Vec<&str> = keys.iter().map(String::as_str).collect();
    let found = object_spans(text, &names);
    let mut votes: Vec<Vote> = Vec::new();
    let mut spans = Vec::new();
    for span in &found.found {
        spans.push((span.span.0, span.span.1, false));
        let Some(root) = speaker(span.document.root(), &keys) else { continue };
        let object = Object { root, text: span.document.text(), words: asked.words };
        let mut vote = Vote {
            span: span.span,
            object: true,
            exact: false,
            keyed: false,
            plain: !in_a_mouth(tokens, span.span, outside.fence),
            verdict: None,
            score: None,
            winner: None,
            reason: object.reason(),
            of: None,
            is_final: false,
        };
        if asked.label == Label::Winner {
            vote.winner = object.winner(asked.count, asked.labels);
        } else {
            if let Some((verdict, keyed, typed)) = object.verdict() {
                (vote.verdict, vote.keyed, vote.exact) = (Some(verdict), keyed, keyed && typed);
            }
            vote.score = if asked.label == Label::Score { object.score() } else { None };
            // Beside a verdict that is cut or the form of one only a score that blocks speaks.
            let low = |score| matches!(score, Value::Said(Score { value, .. }, true) if value < asked.words.form.pass_at);
            if vote.verdict == Some(Value::Form) {
                vote.score = vote.score.filter(|&score| low(score));
            }
        }
        if let Some(span) = spans.last_mut() {
            span.2 = matches!(vote.verdict, Some(Value::Said(..)))
                || matches!(vote.score, Some(Value::Said(..)))
                || matches!(vote.winner, Some(Value::Said(..)));
        }
        votes.push(vote);
    }
    (votes, spans, found.unread.map_or(usize::MAX, |(from, _)| from))
}

/// Whether a line puts an object in another's mouth: `The target ends with {…}`.
fn in_a_mouth(tokens: &Tokens<'_>, span: (usize, usize), fences: bool) -> bool {
    let first = tokens.from(span.0);
    let is_line = |at: usize| tokens.kind(at) == Some(Kind::Line);
    // The words before it on its line; else those of the line before, where that leads in.
    let mut at = first;
    let mut lines = 0;
    let mut colon = false;
    let mut words = 0;
    while at > 0 && words < 24 {
        at -= 1;
        if is_line(at) {
            lines += 1;
            if words > 0 || lines > 3 {
                break;
            }
            continue;
        }
        let fence = matches!(tokens.mark(at), Some('`' | '~'))
            || (fences && tokens.get(at).is_some_and(|t| t.fenced));
        if lines > 0 && words == 0 && !fence {
            colon |= matches!(tokens.mark(at), Some(':' | '：'));
            if !colon {
                break;
            }
        }
        if tokens.is_word(at) && !fence {
            words += 1;
            if tables::is_mouth(tokens.word(at)) {
                return true;
            }
        }
        if lines == 0 && words > 0 && matches!(tokens.mark(at), Some('.' | '!' | '?')) {
            break;
        }
    }
    // What is said of it right behind.
    let (mut at, mut lines, mut seen, mut quoted) = (tokens.from(span.1), 0, 0, false);
    while at < tokens.len() && seen < 12 {
        match tokens.kind(at) {
            Some(Kind::Line) => {
                lines += 1;
                if seen > 0 || lines > 2 {
                    break;
                }
            }
            Some(Kind::Word) => {
                seen += 1;
                let word = tokens.word(at);
                if seen == 1
                    && !matches!(word, "is" | "that" | "this" | "says" | "was" | "which" | "or")
                {
                    break;
                }
                quoted |= matches!(
                    word,
                    "target"
                        | "candidate"
                        | "wrote"
                        | "says"
                        | "said"
                        | "claims"
                        | "author"
                        | "submission"
                        | "or"
                );
            }
            _ => {}
        }
        at += 1;
    }
    quoted
}

/// A label in the text.
struct Mark {
    label: Label,
    /// Its first token, and the first one behind its separator.
    at: usize,
    value: usize,
    /// It stands in brackets as arenas write it, without a label: `[[A]]`.
    bare: bool,
    /// Another word for a label, under which other things are written too.
    synonym: bool,
    /// The best score of the scale that the label names.
    of: Option<f64>,
}

fn markers(
    tokens: &Tokens<'_>,
    asked: &Asked<'_>,
    spans: &Spans,
    unread: usize,
    outside: &Outside,
) -> Vec<Vote> {
    let marks = marks(tokens, asked);
    let mut votes = Vec::new();
    let mut next_span = 0;
    for (index, mark) in marks.iter().enumerate() {
        let start = tokens.start_of(mark.at);
        while spans.get(next_span).is_some_and(|span| span.1 <= start) {
            next_span += 1;
        }
        let quoted = spans.get(next_span).filter(|span| span.0 <= start);
        // In an object that speaks a marker is quoted text; in one that says nothing it may block.
        if quoted.is_some_and(|span| span.2) {
            continue;
        }
        // A value ends where the next label or an object starts.
        let object = spans.get(next_span).map_or(tokens.len(), |span| tokens.from(span.0));
        let stop = marks.get(index + 1).map_or(tokens.len(), |next| next.at).min(object);
        let span = segment(tokens, mark, stop);
        if is_report(tokens, mark) {
            continue;
        }
        let place = place(tokens, mark, outside);
        if place.form {
            continue;
        }
        let last = tokens.end_of(span.to.saturating_sub(1)).max(start);
        // Where another vote stands before it, a vote in quotes is another's.
        let before = !votes.is_empty() || spans.first().is_some_and(|span| span.0 < start);
        let again = before && tokens.in_quotes(mark.at);
        let mut vote = Vote {
            span: (start, last),
            object: false,
            exact: false,
            keyed: false,
            plain: place.plain && start < unread && quoted.is_none() && !again,
            verdict: None,
            score: None,
            winner: None,
            reason: None,
            of: place.of,
            is_final: place.is_final,
        };
        let next = marks.get(index + 1).is_some_and(|next| next.at == stop);
        let repeated = next && stop == span.to && or_before(tokens, stop);
        match mark.label {
            Label::Verdict => {
                let value = value::verdict(tokens, span, asked.words);
                vote.verdict = Some(if repeated { Value::Form } else { value });
            }
            Label::Score => {
                let value = value::score(tokens, span, asked.words, mark.of);
                vote.score = Some(if repeated { Value::Form } else { value });
            }
            Label::Winner => {
                let value = value::winner(tokens, span, asked.count, asked.labels);
                vote.winner = Some(if repeated { Value::Form } else { value });
            }
        }
        let clear = matches!(vote.verdict, Some(Value::Said(Say::Block, _) | Value::Said(_, true)))
            || matches!(vote.score, Some(Value::Said(_, true)))
            || matches!(vote.winner, Some(Value::Said(_, true)));
        let blocks = matches!(vote.verdict, Some(Value::Said(Say::Block, _)));
        if (clear || !mark.synonym) && (quoted.is_none() || blocks) {
            votes.push(vote);
        }
    }
    votes
}

/// Whether a word for `or` stands right before a place.
fn or_before(tokens: &Tokens<'_>, at: usize) -> bool {
    let mut at = at;
    for _ in 0..6 {
        let Some(before) = at.checked_sub(1) else { return false };
        at = before;
        match tokens.kind(at) {
            Some(Kind::Word) => return tables::is_or(tokens.word(at)),
            // A bar that starts its line is a table's.
            Some(Kind::Mark('.' | '!' | '?' | '。')) => return false,
            Some(Kind::Mark('|')) => {
                return at > 0 && tokens.kind(at - 1) != Some(Kind::Line);
            }
            Some(Kind::Mark(_)) => {}
            _ => return false,
        }
    }
    false
}

/// The labels of a text with their separators, in order.
fn marks(tokens: &Tokens<'_>, asked: &Asked<'_>) -> Vec<Mark> {
    let most = asked.words.label_words();
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let labelled = found.last().is_some_and(|mark: &Mark| mark.value == at);
        if asked.label == Label::Winner && !labelled && arena(tokens, at) {
            found.push(Mark {
                label: Label::Winner,
                at,
                value: at + 2,
                bare: true,
                synonym: false,
                of: None,
            });
            at += 2;
            continue;
        }
        if !tokens.is_word(at) {
            at += 1;
            continue;
        }
        if let Some(mark) = framed(tokens, asked.label, at) {
            found.push(mark);
            at += 2;
            continue;
        }
        let phrases = tokens.phrases(at, tokens.len(), most);
        let known = phrases.iter().rev().find_map(|(text, end)| {
            let label = asked.words.label(text)?;
            let read = match asked.label {
                Label::Verdict => label == Label::Verdict,
                Label::Score => label != Label::Winner,
                Label::Winner => label == Label::Winner,
            };
            read.then_some((label, *end, asked.words.is_synonym(text)))
        });
        let Some((label, end, synonym)) = known else {
            at += 1;
            continue;
        };
        if let Some(value) = separator(tokens, at, end) {
            let of = if label == Label::Score { scale_of(tokens, end, value) } else { None };
            found.push(Mark { label, at, value, bare: false, synonym, of });
            at = value.max(at + 1);
        } else {
            at = end;
        }
    }
    found
}

/// `<answer>` and `[RESULT]` as labels of whatever is asked for; the latter's scores are from 1
/// to 5, as its rubrics have it.
fn framed(tokens: &Tokens<'_>, asked: Label, at: usize) -> Option<Mark> {
    let before = at.checked_sub(1).and_then(|before| tokens.mark(before));
    let (word, behind) = (tokens.word(at), tokens.mark(at + 1));
    let (label, of) = match (word, before, behind) {
        ("answer", Some('<'), Some('>')) | ("result", Some('['), Some(']'))
            if asked == Label::Winner =>
        {
            (Label::Winner, None)
        }
        ("answer", Some('<'), Some('>')) => (Label::Verdict, None),
        ("result", Some('['), Some(']')) if asked == Label::Score => (Label::Score, Some(5.0)),
        _ => return None,
    };
    Some(Mark { label, at, value: at + 2, bare: false, synonym: true, of })
}

/// The best score that a label's note names, `(out of 10)` or `(1-5)`, or that of ratings in double
/// brackets, which are from 1 to 10.
fn scale_of(tokens: &Tokens<'_>, end: usize, value: usize) -> Option<f64> {
    let number = |at: usize| {
        let digits = tokens.kind(at) == Some(Kind::Digits);
        digits.then(|| tokens.word(at).parse::<f64>().ok()).flatten()
    };
    let open = (end..value).find(|&at| matches!(tokens.mark(at), Some('(' | '（')));
    if let Some(open) = open {
        let close = (open..value).find(|&at| matches!(tokens.mark(at), Some(')' | '）')))?;
        let scale = (open + 1..close).all(|at| {
            !tokens.is_word(at)
                || matches!(tokens.word(at), "out" | "of" | "from" | "to" | "scale" | "max")
        });
        let best = (open + 1..close).rev().find_map(number);
        return best.filter(|&best| scale && best > 1.0);
    }
    let double = tokens.mark(value) == Some('[') && tokens.mark(value + 1) == Some('[');
    let whole = tokens.mark(value + 3) == Some(']');
    let rating = double && whole && number(value + 2).is_some_and(|n| n > 1.0);
    rating.then_some(10.0)
}

/// Whether an arena's brackets start here: `[[A]]`, `[[A>>B]]`, `\boxed{A}`.
fn arena(tokens: &Tokens<'_>, at: usize) -> bool {
    let double = tokens.mark(at) == Some('[') && tokens.mark(at + 1) == Some('[');
    let boxed = tokens.mark(at) == Some('\\') && tokens.word(at + 1) == "boxed";
    double || boxed
}

/// Where the value starts behind a label; None without a separator.
fn separator(tokens: &Tokens<'_>, label: usize, end: usize) -> Option<usize> {
    let tag = label.checked_sub(1).is_some_and(|before| tokens.mark(before) == Some('<'));
    let mut at = end;
    let (mut line, mut noted) = (false, false);
    let limit = end + 24;
    while at < tokens.len() && at < limit {
        match tokens.kind(at)? {
            Kind::Mark('*' | '_' | '~' | '`' | '#') => {}
            Kind::Mark('>') if tag => return Some(at + 1),
            Kind::Line => line = true,
            Kind::Mark('(' | '[' | '（') if !noted => {
                noted = true;
                let close =
                    (at + 1..limit).find(|&i| matches!(tokens.mark(i), Some(')' | ']' | '）')))?;
                if (at..close).any(|i| tokens.kind(i) == Some(Kind::Line)) {
                    return None;
                }
                at = close;
            }
            Kind::Mark(':' | '=' | '：' | '＝') => return Some(at + 1),
            Kind::Mark('|') if !line => return Some(at + 1),
            Kind::Mark(c @ ('-' | '–' | '—')) if !line => {
                let spaced = tokens.get(at)?.spaced && tokens.get(at + 1)?.spaced;
                let mut next = at + 1;
                while matches!(tokens.mark(next), Some('*' | '_' | '~' | '`' | '#' | '"')) {
                    next += 1;
                }
                let number = tokens.kind(next) == Some(Kind::Digits)
                    || matches!(tokens.mark(next), Some('-'));
                return (spaced && !(c == '-' && number)).then_some(at + 1);
            }
            Kind::Word if tokens.word(at) == "is" && !line && at > end.saturating_sub(1) => {
                let colon = matches!(tokens.mark(at + 1), Some(':' | '：'));
                return Some(at + 1 + usize::from(colon));
            }
            _ if line => return heading(tokens, label, end),
            _ => return None,
        }
        at += 1;
    }
    None
}

/// A heading or a bold label on its own line: the value stands below.
fn heading(tokens: &Tokens<'_>, label: usize, end: usize) -> Option<usize> {
    let mut start = label;
    let mut marked = false;
    for _ in 0..12 {
        let Some(before) = start.checked_sub(1) else { break };
        match tokens.kind(before)? {
            Kind::Line => break,
            Kind::Mark('#') => marked = true,
            Kind::Mark('*') if tokens.mark(end) == Some('*') => marked = true,
            Kind::Mark('*' | '_' | '.' | ')' | '>') | Kind::Digits => {}
            Kind::Word if tables::leads(tokens.word(before)) => {}
            _ => return None,
        }
        start = before;
    }
    let mut at = end;
    while matches!(tokens.mark(at), Some('*' | '_' | '#')) {
        at += 1;
    }
    (marked && tokens.kind(at) == Some(Kind::Line)).then_some(at)
}

/// The tokens of a value: to the end of its line, or of the next one that is not blank.
fn segment(tokens: &Tokens<'_>, mark: &Mark, stop: usize) -> Span {
    let is_line = |at: usize| tokens.kind(at) == Some(Kind::Line);
    let blank =
        |at: usize| matches!(tokens.mark(at), Some('*' | '_' | '`' | '~' | '>' | '"' | '|' | '#'));
    let mut from = mark.value;
    let mut at = from;
    while at < stop && (is_line(at) || blank(at)) {
        if is_line(at) {
            from = at + 1;
        }
        at += 1;
    }
    // A fence that closes, or a block that ends, holds no value.
    let mut to = at;
    while to < stop && !is_line(to) {
        let tag = tokens.mark(to) == Some('<') && tokens.mark(to + 1) == Some('/');
        let closed = mark.bare && matches!(tokens.mark(to), Some(']' | '}'));
        if tag || closed {
            break;
        }
        to += 1;
    }
    Span { from: from.min(to), to }
}

/// The report's own line (`Combined score: 0.667`), which a judge may repeat.
fn is_report(tokens: &Tokens<'_>, mark: &Mark) -> bool {
    let Some(before) = mark.at.checked_sub(1) else { return false };
    mark.label == Label::Score
        && tokens.bytes(before) == b"Combined"
        && tokens.bytes(mark.at) == b"score"
}

struct Place {
    plain: bool,
    of: Option<String>,
    is_final: bool,
    /// It is one of a list of choices.
    form: bool,
}

/// What stands before a label on its line.
fn place(tokens: &Tokens<'_>, mark: &Mark, outside: &Outside) -> Place {
    let is_final = tables::is_final(tokens.word(mark.at));
    let mut place = Place { plain: true, of: None, is_final, form: or_before(tokens, mark.at) };
    let fenced = tokens.get(mark.at).is_some_and(|token| token.fenced);
    if (fenced && outside.fence) || (outside.quote && tokens.in_block_quote(mark.at)) {
        place.plain = false;
    }
    let (mut at, mut words, mut quote) = (mark.at, 0, false);
    for _ in 0..24 {
        let Some(before) = at.checked_sub(1) else { return place };
        at = before;
        match tokens.kind(at) {
            None | Some(Kind::Line) => return place,
            Some(Kind::Word) => {
                let word = tokens.word(at);
                // `MYFINAL` is `my final`.
                let cut = word.strip_prefix("my").or(word.strip_prefix("the")).unwrap_or(word);
                let word = if tables::leads(cut) { cut } else { word };
                if tables::is_final(word) {
                    place.is_final = true;
                } else if quote || mark.bare {
                    place.plain = mark.bare && !quote && !led_in(tokens, at);
                    return place;
                } else if !tables::leads(word) {
                    if place.of.is_none() && words < 3 {
                        place.of = Some(word.to_owned());
                    }
                    place.plain = false;
                    if tables::is_negation(word) || word == "no" {
                        place.of = Some("no".to_owned());
                    }
                }
                words += 1;
            }
            Some(Kind::Mark('>')) if block_quote(tokens, at) => return place,
            Some(Kind::Mark('"' | '\'' | '“' | '”' | '«' | '「' | '‘')) => quote = true,
            Some(Kind::Mark(
                '.' | '!' | '?' | ';' | '。' | ')' | '}' | ']' | '|' | '！' | '；' | '，',
            )) if words == 0 || place.plain || place.of.is_some() => {
                // A sentence of its own, but a quoted one.
                place.plain &= !quote;
                return place;
            }
            Some(
                Kind::Mark(
                    '*' | '_' | '~' | '`' | '#' | '<' | '(' | '[' | '-' | '+' | '•' | '–' | '—',
                )
                | Kind::Digits,
            ) => {}
            Some(Kind::Mark(c)) if sign(c).is_some() || u32::from(c) > 0x2600 => {}
            Some(Kind::Mark(':' | '：')) if mark.bare => {}
            Some(Kind::Mark(':' | '：')) => {
                place.plain =
                    place.plain && !quote && words > 0 && place.of.is_none() && place.is_final;
                return place;
            }
            Some(Kind::Mark(_)) => {
                place.plain = false;
                return place;
            }
        }
    }
    place.plain = false;
    place
}

/// Whether words before an arena's brackets name them as another's or as a choice.
fn led_in(tokens: &Tokens<'_>, at: usize) -> bool {
    (at.saturating_sub(8)..=at).any(|i| {
        matches!(
            tokens.word(i),
            "or" | "if"
                | "writes"
                | "says"
                | "output"
                | "choose"
                | "leaning"
                | "not"
                | "use"
                | "like"
        )
    })
}

fn block_quote(tokens: &Tokens<'_>, at: usize) -> bool {
    at == 0 || tokens.kind(at - 1) == Some(Kind::Line) || tokens.mark(at - 1) == Some('>')
}

/// What stands outside of fences and of block quotes.
struct Outside {
    fence: bool,
    quote: bool,
}

fn whole_quote(tokens: &Tokens<'_>) -> Outside {
    let mut outside = Outside { fence: false, quote: false };
    let (mut start, mut quoted, mut label, mut fence) = (true, false, false, false);
    for at in 0..tokens.len() {
        match tokens.kind(at) {
            Some(Kind::Line) => (start, quoted) = (true, false),
            Some(Kind::Mark('>')) if start => quoted = true,
            Some(Kind::Mark('`' | '~')) if start || fence => fence = true,
            Some(Kind::Word) => {
                let fenced = tokens.get(at).is_some_and(|token| token.fenced);
                outside.fence |= !fenced && !fence;
                // A line that holds one word may be the value of a label in the quote above.
                let alone = tokens.kind(at + 1).is_none_or(|kind| kind != Kind::Word) && start;
                outside.quote |= !quoted && !alone && !label;
                label = false;
            }
            _ => {}
        }
        if !matches!(tokens.kind(at), Some(Kind::Line | Kind::Mark(_))) {
            start = false;
        }
        fence &= matches!(tokens.mark(at), Some('`' | '~')) || (fence && tokens.is_word(at));
    }
    outside
}
