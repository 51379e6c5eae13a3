//! Which of the votes counts.

use super::tables::{self, Say, Words};
use super::tokens::{Kind, Tokens};
use super::value::{self, Pick, Score, Value};
use super::votes::Vote;

/// What the votes come to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Decision<T> {
    /// It is said; the index of the vote.
    Read(T, usize),
    /// What is in dispute.
    Disputed(&'static str),
    /// Nothing is said.
    Silent,
}

fn passes(vote: &Vote) -> bool {
    vote.plain && vote.verdict == Some(Value::Said(Say::Pass, true))
}

fn blocks(vote: &Vote) -> bool {
    matches!(vote.verdict, Some(Value::Said(Say::Block, _)))
}

/// What the verdicts come to.
pub(super) fn verdict(votes: &[Vote], tokens: &Tokens<'_>, words: &Words<'_>) -> Decision<Say> {
    let Some(last) = votes.iter().rposition(|vote| blocks(vote) || passes(vote)) else {
        let said = votes.iter().any(|v| matches!(v.verdict, Some(Value::Said(..))));
        return if said {
            Decision::Disputed("the pass is not plain")
        } else {
            other_label(votes, tokens, words)
        };
    };
    if blocks(&votes[last]) {
        return Decision::Read(Say::Block, last);
    }
    if let Some(object) = votes[..last].iter().rposition(|vote| vote.keyed && blocks(vote)) {
        return Decision::Read(Say::Block, object);
    }
    if votes[last].object && votes[..last].iter().any(blocks) {
        return Decision::Disputed("an object against a marker");
    }
    let deciding = &votes[last];
    let unreadable = |vote: &Vote| {
        let said = matches!(vote.verdict, Some(Value::Unknown | Value::Said(..)));
        said && !passes(vote) && (!vote.object || vote.plain)
    };
    if votes[last + 1..].iter().any(unreadable) {
        return Decision::Disputed("another verdict follows that is not plain");
    }
    if let Some(reason) = &deciding.reason
        && reason_blocks(reason)
    {
        return Decision::Disputed("the reason speaks of a block");
    }
    match behind(tokens, deciding.span.1, votes, words) {
        Some(what) => Decision::Disputed(what),
        None => Decision::Read(Say::Pass, last),
    }
}

/// Whether the reason of a pass takes it back.
fn reason_blocks(reason: &[u8]) -> bool {
    let tokens = Tokens::new(reason);
    (0..tokens.len()).any(|at| {
        let word = tokens.word(at);
        let none = value::is_denied(&tokens, at, 3);
        let blocks = matches!(word, "block" | "blocked" | "reject" | "rejected") && !none;
        let corrects = word == "correction" && matches!(tokens.mark(at + 1), Some(':'));
        let verb = blocks
            && at > 0
            && (matches!(
                tokens.word(at - 1),
                "be" | "should" | "must" | "this" | "normally" | "would" | "to" | "is" | "i"
            ) || tokens.word(at + 1) == "this");
        verb || corrects
    })
}

/// What behind a deciding pass disputes it.
fn behind(
    tokens: &Tokens<'_>,
    from: usize,
    votes: &[Vote],
    words: &Words<'_>,
) -> Option<&'static str> {
    let inside = |at: usize| {
        let start = tokens.start_of(at);
        votes.iter().any(|vote| vote.object && vote.span.0 <= start && start < vote.span.1)
    };
    if prose_blocks(tokens, tokens.from(from) + 2) {
        return Some("words of a block behind the pass");
    }
    let mut line = true;
    for at in tokens.from(from)..tokens.len() {
        match tokens.kind(at) {
            Some(Kind::Line) => line = true,
            Some(Kind::Mark(c)) if line && tables::sign(c) == Some(Say::Block) && !inside(at) => {
                return Some("a sign of a block behind the pass");
            }
            Some(Kind::Word) => {
                let word = tokens.word(at);
                let none = value::is_denied(tokens, at, 3);
                let capitals =
                    word.len() > 3 && !tokens.bytes(at).iter().any(u8::is_ascii_lowercase);
                if capitals && tables::has_stem(word) && !none && !inside(at) {
                    return Some("a block word behind the pass");
                }
                let said = words.say(word) == Some(Say::Block);
                let alone = !tokens.is_word(at + 1) && !matches!(word, "no" | "false" | "error");
                if line
                    && said
                    && alone
                    && !none
                    && !inside(at)
                    && !tokens.mark(at + 1).is_some_and(|c| matches!(c, ':' | '：'))
                {
                    return Some("a line that blocks behind the pass");
                }
                let not = tables::is_negation(word)
                    && words.say(tokens.word(at + 1)) == Some(Say::Pass)
                    && !tokens.is_word(at + 2);
                if line && not && !inside(at) {
                    return Some("a line that blocks behind the pass");
                }
                if line && tables::is_or(word) {
                    continue;
                }
                let starts =
                    line || (at > 0 && matches!(tokens.mark(at - 1), Some('.' | '!' | '*')));
                let ends = matches!(tokens.mark(at + 1), Some(':' | ',' | '：' | '.'));
                let correction = tables::is_correction(word) && (ends || word == "actually");
                let reflection =
                    word == "on" && matches!(tokens.word(at + 1), "reflection" | "second");
                if starts
                    && (correction || reflection || (word == "hold" && tokens.word(at + 1) == "on"))
                {
                    return Some("a correction behind the pass");
                }
                line = false;
            }
            Some(Kind::Mark(':' | '：' | '=')) => {
                let phrases = tokens.phrases(skip(tokens, at + 1), tokens.len(), 3);
                let says =
                    phrases.iter().rev().find_map(|(text, end)| Some((words.say(text)?, *end)));
                let whole = |end: usize| !tokens.is_word(end);
                let no = phrases
                    .first()
                    .is_some_and(|(text, _)| matches!(text.as_str(), "no" | "false" | "error"));
                if let Some((Say::Block, end)) = says
                    && whole(end)
                    && !no
                    && !inside(at)
                    && !(at > 0 && tables::is_condition(tokens.word(at - 1)))
                {
                    return Some("a block under another label behind the pass");
                }
            }
            _ => {}
        }
    }
    None
}

fn skip(tokens: &Tokens<'_>, mut at: usize) -> usize {
    let start = at;
    while at < start + 8
        && matches!(tokens.mark(at), Some(c) if !matches!(c, '.' | ',' | ';' | '(' | '?'))
    {
        at += 1;
    }
    at
}

/// A reply without a vote: a word of the grammar alone on its first or last line, or a block under
/// another label.
fn other_label(votes: &[Vote], tokens: &Tokens<'_>, words: &Words<'_>) -> Decision<Say> {
    if votes.iter().any(|vote| vote.object || vote.verdict.is_some()) {
        return Decision::Silent;
    }
    let mut line = 0;
    let mut blocked = prose_blocks(tokens, 0);
    for at in 0..=tokens.len() {
        if at < tokens.len() && tokens.kind(at) != Some(Kind::Line) {
            continue;
        }
        let colon = (line..at.min(line + 8)).find(|&i| matches!(tokens.mark(i), Some(':' | '：')));
        let from = skip(tokens, colon.map_or(line, |colon| colon + 1)).min(at);
        let listed = (line..from).any(|i| matches!(tokens.mark(i), Some('[' | '|' | '{' | '"')));
        let phrases = tokens.phrases(from, at, 4);
        let says =
            phrases.iter().rev().find_map(|(text, end)| Some((words.say(text)?, *end, text)));
        if let Some((Say::Block, end, text)) = says
            && !listed
            && !matches!(text.as_str(), "no" | "false" | "error" | "wrong")
            && (colon.is_some() || (end..at).all(|i| !tokens.is_word(i)))
            && !tokens.is_word(end)
        {
            blocked = true;
        }
        line = at + 1;
    }
    if blocked { Decision::Disputed("a block without its label") } else { Decision::Silent }
}

/// Whether the reply says in its own words that it blocks: `I block this`, `must be rejected`.
fn prose_blocks(tokens: &Tokens<'_>, from: usize) -> bool {
    (from.max(2)..tokens.len()).any(|at| {
        if !tables::has_stem(tokens.word(at)) {
            return false;
        }
        let (first, before) = (tokens.word(at - 2), tokens.word(at - 1));
        let own = matches!(first, "i" | "i'm")
            && matches!(before, "must" | "will" | "would" | "am" | "have")
            || before == "i"
            || before == "i'm";
        let must = matches!(first, "must" | "should" | "needs" | "has" | "to") && before == "be"
            || before == "should"
            || matches!(first, "so" | "therefore") && matches!(before, "this" | "it");
        own || must
    })
}

/// What the scores come to.
pub(super) fn score(votes: &[Vote], pass_at: f64, tokens: &Tokens<'_>) -> Decision<Score> {
    let said = |vote: &Vote| match vote.score {
        Some(Value::Said(score, plain)) => Some((score, plain)),
        _ => None,
    };
    let all: Vec<usize> = (0..votes.len()).filter(|&i| said(&votes[i]).is_some()).collect();
    if all.is_empty() {
        return Decision::Silent;
    }
    // A score that blocks needs no plain place; one that passes does, or a qualifier of its own.
    let placed = |i: usize| {
        let vote = &votes[i];
        let low = said(vote).is_some_and(|(score, _)| score.value < pass_at);
        vote.plain
            || vote.of.as_deref().is_some_and(|of| of != "no" && !tables::is_mouth(of))
                && line_starts(vote, tokens)
            || (low && vote.object)
    };
    let counted: Vec<usize> = all.iter().copied().filter(|&i| placed(i)).collect();
    let Some(&last) = counted.last() else {
        // Mentions alone: one that blocks says so.
        let low = all
            .iter()
            .rev()
            .find(|&&i| said(&votes[i]).is_some_and(|(s, plain)| plain && s.value < pass_at));
        return match low {
            Some(&i) => {
                said(&votes[i]).map_or(Decision::Silent, |(score, _)| Decision::Read(score, i))
            }
            None => Decision::Disputed("the score is not plain"),
        };
    };
    let finals = counted.iter().rev().copied().find(|&i| votes[i].is_final);
    let (chosen, by_final) = match finals {
        // A later score without a qualifier corrects it.
        Some(index) if votes[last].of.is_some() || votes[last].is_final => (index, true),
        _ => (last, false),
    };
    let Some((found, plain)) = said(&votes[chosen]) else { return Decision::Silent };
    if !plain {
        return Decision::Disputed("the score is not plain");
    }
    let side = |i: usize| said(&votes[i]).map(|(score, plain)| (score.value >= pass_at, plain));
    let qualified = counted.iter().any(|&i| votes[i].of.is_some());
    let differs = counted.iter().any(|&i| side(i) != side(chosen));
    if qualified && !by_final && differs && votes[chosen].of.is_some() {
        return Decision::Disputed("the scores disagree");
    }
    if found.value >= pass_at {
        if let Some(&object) = counted
            .iter()
            .find(|&&i| i < chosen && votes[i].object && side(i) == Some((false, true)))
        {
            return said(&votes[object])
                .map_or(Decision::Silent, |(score, _)| Decision::Read(score, object));
        }
        if votes[chosen].object
            && counted.iter().any(|&i| i < chosen && side(i) == Some((false, true)))
        {
            return Decision::Disputed("an object against a marker");
        }
        // What blocks needs only to be said, also in passing.
        let mentioned =
            |&i: &usize| i > chosen && side(i) == Some((false, true)) && votes[i].of.is_none();
        if all.iter().any(mentioned) && !by_final {
            return Decision::Disputed("a score that blocks follows");
        }
        // A bare 1 may be the lowest of another scale.
        if found.bare && bad_news(tokens, votes[chosen].span.1) {
            return Decision::Disputed("a bare 1 beside words that block");
        }
    }
    Decision::Read(found, chosen)
}

/// Whether a label that is qualified begins its line.
fn line_starts(vote: &Vote, tokens: &Tokens<'_>) -> bool {
    let mut at = tokens.from(vote.span.0);
    let mut words = 0;
    while let Some(before) = at.checked_sub(1) {
        match tokens.kind(before) {
            Some(Kind::Line) => break,
            Some(Kind::Word) => words += 1,
            Some(Kind::Mark('"' | '“' | '.' | ',')) => return false,
            _ => {}
        }
        if words > 3 {
            return false;
        }
        at = before;
    }
    true
}

fn bad_news(tokens: &Tokens<'_>, from: usize) -> bool {
    (tokens.from(from)..tokens.len()).any(|at| {
        let word = tokens.word(at);
        let none = value::is_denied(tokens, at, 3);
        let bad = tables::has_stem(word)
            || matches!(
                word,
                "wrong"
                    | "incorrect"
                    | "unsafe"
                    | "invalid"
                    | "poor"
                    | "bad"
                    | "lowest"
                    | "worst"
                    | "unusable"
            );
        bad && !none
    })
}

/// What the winners come to.
pub(super) fn winner(votes: &[Vote], tokens: &Tokens<'_>) -> Decision<Pick> {
    let said = |vote: &Vote| match vote.winner {
        Some(Value::Said(pick, plain)) => Some((pick, plain && vote.plain)),
        _ => None,
    };
    // `Non-winner: 1` names no winner.
    let names = |vote: &Vote| vote.of.as_deref() != Some("no");
    let all: Vec<usize> = (0..votes.len())
        .filter(|&i| said(&votes[i]).is_some() && (votes.len() == 1 || names(&votes[i])))
        .collect();
    let Some(&last) = all.last() else { return Decision::Silent };
    let Some(&chosen) =
        all.iter().rev().find(|&&i| said(&votes[i]).is_some_and(|(_, plain)| plain))
    else {
        return Decision::Disputed("the vote is not plain");
    };
    let finals = all
        .iter()
        .rev()
        .copied()
        .find(|&i| votes[i].is_final && said(&votes[i]).is_some_and(|(_, plain)| plain));
    let chosen = match finals {
        Some(index) if votes[last].of.is_some() => index,
        _ => chosen,
    };
    let Some((pick, _)) = said(&votes[chosen]) else { return Decision::Silent };
    // An object is not taken back by a mention; a later vote that is not plain is no agreement.
    let against = |i: &usize| {
        let vote = &votes[*i];
        let mouth = vote.of.as_deref().is_none_or(tables::is_mouth);
        let quoted = vote.object || mouth && !vote.plain;
        said(vote).is_some_and(|(other, _)| other != pick) && !quoted && *i > chosen
    };
    if all.iter().any(against) {
        return Decision::Disputed("the votes disagree");
    }
    // An object and a marker that differ: neither takes the other back.
    let other_form = |i: &usize| {
        let (vote, chosen) = (&votes[*i], &votes[chosen]);
        let differs = said(vote).is_some_and(|(other, plain)| plain && other != pick);
        vote.object != chosen.object && vote.plain && differs
    };
    if all.iter().any(other_form) {
        return Decision::Disputed("the votes disagree");
    }
    let mut line = false;
    for at in tokens.from(votes[chosen].span.1)..tokens.len() {
        match tokens.kind(at) {
            Some(Kind::Line) => line = true,
            Some(Kind::Word) => {
                let word = tokens.word(at);
                let tie = matches!(word, "tie" | "tied" | "draw") && pick != Pick::Tie;
                let starts = line || matches!(tokens.mark(at - 1), Some('.'));
                let overall = tables::is_final(word) && matches!(tokens.mark(at + 1), Some(':'));
                if tie
                    || overall
                    || (starts
                        && tables::is_correction(word)
                        && matches!(tokens.mark(at + 1), Some(':' | ',')))
                {
                    return Decision::Disputed("a correction behind the vote");
                }
                line = false;
            }
            _ => {}
        }
    }
    Decision::Read(pick, chosen)
}
