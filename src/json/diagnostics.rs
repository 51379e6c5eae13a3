//! What a repair changed: stable codes, how much each may have cost, and where it stands.
//!
//! A [`Diagnostic`] holds byte offsets and static text only, so that a repair allocates nothing
//! for it; [`Positions`](crate::position::Positions) turns byte offsets into characters, lines and
//! columns when asked.

use std::borrow::Cow;
use std::fmt;

use crate::text::to_utf8;

/// How much a repair may have cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// One reading only: nothing is lost and nothing is guessed.
    Lossless,
    /// The likeliest of several readings.
    Guess,
    /// Something that the text holds, or would have held, is not in the value.
    Lossy,
}

impl Severity {
    /// `lossless`, `guess` or `lossy`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Lossless => "lossless",
            Severity::Guess => "guess",
            Severity::Lossy => "lossy",
        }
    }

    /// The severity of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Severity::Lossless, Severity::Guess, Severity::Lossy]
            .into_iter()
            .find(|s| s.name() == name)
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident $name:literal $severity:ident $message:literal,)*) => {
        /// What was repaired. Names are stable; messages may change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Code {
            $($(#[$doc])* #[doc = $message] $variant,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The stable name.
            pub fn name(self) -> &'static str {
                match self { $(Code::$variant => $name,)* }
            }

            /// How much it may have cost.
            pub fn severity(self) -> Severity {
                match self { $(Code::$variant => Severity::$severity,)* }
            }

            /// What it says to a reader.
            pub fn message(self) -> &'static str {
                match self { $(Code::$variant => $message,)* }
            }
        }
    };
}

codes! {
    TrailingComma "trailing_comma" Lossless "comma before a closer",
    ExtraComma "extra_comma" Lossless "comma without a value before it",
    MissingComma "missing_comma" Lossless "no comma between two values",
    MissingColon "missing_colon" Lossless "no colon after a key",
    WrongSeparator "wrong_separator" Lossless "another sign in place of a comma or colon",
    MissingCloser "missing_closer" Guess "a closer that fits an outer bracket closes the inner ones",
    WrongCloser "wrong_closer" Guess "a closer of the other kind",
    SurplusCloser "surplus_closer" Guess "a closer that closes nothing",
    SurplusOpener "surplus_opener" Guess "an opening brace where a key should stand",
    ClosedAtEof "closed_at_eof" Guess "the text ends before its brackets are closed",
    TruncatedString "truncated_string" Lossy "the text ends inside a string",
    TruncatedEscape "truncated_escape" Lossy "the text ends inside an escape or a surrogate pair",
    TruncatedNumber "truncated_number" Guess "the text ends at a number, which may be cut",
    TruncatedLiteral "truncated_literal" Guess "the text ends inside a literal",
    DroppedKey "dropped_key" Lossy "a key without a value",
    DroppedText "dropped_text" Lossy "text inside the document that is no part of a value",
    MissingValue "missing_value" Guess "no value after a key; null stands for it",
    SingleQuotes "single_quotes" Lossless "single quotes",
    CurlyQuotes "curly_quotes" Lossless "typographic quotes",
    BacktickQuotes "backtick_quotes" Lossless "back-ticks as quotes",
    TripleQuotes "triple_quotes" Lossless "triple quotes",
    EscapedQuotes "escaped_quotes" Lossless "quotes with a backslash before them",
    MissingQuote "missing_quote" Guess "a string without its closing quote",
    InnerQuote "inner_quote" Guess "an unescaped quote inside a string",
    UnquotedKey "unquoted_key" Lossless "a key without quotes",
    UnquotedValue "unquoted_value" Guess "text without quotes",
    StringPrefix "string_prefix" Lossless "a letter before a quote, as Python writes it",
    RawControl "raw_control_character" Lossless "a control character that is not escaped",
    InvalidEscape "invalid_escape_kept" Guess "an escape that JSON does not have; its backslash is kept",
    ForeignEscape "foreign_escape" Lossless "an escape of another language",
    Comment "comment" Lossless "a comment",
    UnusualSpace "unusual_space" Lossless "white space that JSON does not have",
    PythonLiteral "foreign_literal" Lossless "a literal as another language writes it",
    NotFinite "not_finite" Guess "a number that is not finite",
    NumberForm "number_form" Lossless "a number in a form that JSON does not have",
    NumberAsText "number_as_text" Guess "text that starts like a number",
    Ellipsis "ellipsis" Guess "an ellipsis in place of values",
    Concatenation "concatenation" Lossless "strings joined by a plus sign",
    CallWrapper "call_wrapper" Lossless "a call around a value",
    Tuple "tuple" Lossless "round brackets around values",
    Set "set" Guess "braces around values without keys",
    ArrayAsObject "array_as_object" Guess "square brackets around keys with values",
    MarkdownLink "markdown_link" Guess "a Markdown link in place of a string",
    EscapedDocument "escaped_document" Lossless "the whole document is escaped once more",
    DoubledQuotes "doubled_quotes" Lossless "two quotes in place of one",
    SuspiciousEscape "suspicious_escape" Guess "an escape that may have been meant as text",
    LatexEscape "latex_escape_kept" Guess "a LaTeX command; its backslash is kept",
    Markup "markup" Lossless "marks of Markdown between tokens",
    Entities "html_entities" Lossless "HTML entities in place of quotes",
    LinePrefix "line_prefix" Lossless "marks at the start of each line",
    MissingOpener "missing_opener" Guess "the opening bracket is missing",
    JoinedArrays "joined_arrays" Guess "a list without a key, added to the list before it",
    UnclosedRow "missing_row_opener" Guess "a row without its opening bracket",
    ReadsOtherwise "reads_otherwise" Lossy "the whole text reads otherwise than what a stream has shown",
    MoreRepairs "more_repairs" Lossless "further repairs that are not listed",
    DuplicateKey "duplicate_key" Lossy "a repeated key; the last value is kept",
    SeveralDocuments "several_documents" Guess "several documents; the value is the list of them",
    DiscardedText "discarded_text" Lossless "text around the document",
    OtherCandidate "other_candidate" Guess "another document in the text, which was not chosen",
    ReasoningSkipped "reasoning_skipped" Lossless "a document in a reasoning block, which was not chosen",
    ReasoningUsed "reasoning_used" Guess "the document stands in a reasoning block",
    CoercedNumber "coerced_number" Guess "text read as a number, as the schema wants",
    CoercedBoolean "coerced_boolean" Guess "text read as a boolean, as the schema wants",
    CoercedNull "coerced_null" Guess "text read as null, as the schema wants",
    CoercedString "coerced_string" Guess "a scalar read as text, as the schema wants",
    CoercedArray "coerced_array" Guess "a single value made an array, as the schema wants",
    CoercedEnum "coerced_enum" Guess "a value matched to the schema's enum by case or space",
    CoercedJson "coerced_json" Guess "JSON inside a string, as the schema wants",
    ListAsObject "list_as_object" Guess "a list read as the object that the schema wants",
    FilledValue "filled_value" Guess "a required value that is missing, as the schema names it",
    UnfitItem "unfit_item" Lossy "an item that does not fit the schema, left out",
    UnfitKey "unfit_key" Lossy "a key that the schema does not allow, left out",
}

impl Code {
    /// The code of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Code::ALL.iter().copied().find(|code| code.name() == name)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What was repaired.
    pub code: Code,
    /// How much it may have cost: the code's severity, or less where the caller expects it.
    pub severity: Severity,
    /// First byte of the text that is meant.
    pub start: usize,
    /// The byte after it.
    pub end: usize,
    /// What it was read as, where that is one fixed text.
    pub read_as: &'static str,
}

impl Diagnostic {
    pub(crate) fn new(code: Code, start: usize, end: usize) -> Self {
        Diagnostic { code, severity: code.severity(), start, end, read_as: "" }
    }

    /// What it says to a reader.
    pub fn message(&self) -> &'static str {
        self.code.message()
    }

    /// The text that is meant, cut at 80 characters.
    pub fn before<'t>(&self, text: &'t [u8]) -> Cow<'t, str> {
        excerpt(text.get(self.start..self.end.min(text.len())).unwrap_or_default())
    }

    /// What it was read as; empty where it was dropped or depends on the value.
    pub fn after(&self) -> &'static str {
        self.read_as
    }
}

/// Text cut at 80 characters, as UTF-8.
fn excerpt(bytes: &[u8]) -> Cow<'_, str> {
    let text = to_utf8(bytes.get(..400).unwrap_or(bytes));
    match text.char_indices().nth(80) {
        Some((at, _)) => Cow::Owned(format!("{}…", text.get(..at).unwrap_or_default())),
        None => text,
    }
}

/// A set of codes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Codes(u128);

impl Codes {
    pub(super) const fn of(codes: &[Code]) -> Codes {
        let (mut bits, mut i) = (0, 0);
        while i < codes.len() {
            bits |= 1 << codes[i] as u8;
            i += 1;
        }
        Codes(bits)
    }

    pub(super) fn has(self, code: Code) -> bool {
        self.0 >> (code as u8) & 1 == 1
    }

    pub(super) fn any_of(self, codes: Codes) -> bool {
        self.0 & codes.0 != 0
    }
}

/// What a reader of a text did, as far as a decision may depend on it. Every repair counts here,
/// however many are listed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    /// The codes that happened.
    pub(super) codes: Codes,
    /// The first repair of the worst severity.
    pub(super) worst: Option<(Severity, Code, usize)>,
    /// How many repairs there were.
    pub(super) count: usize,
}

impl Facts {
    fn add(&mut self, severity: Severity, code: Code, start: usize) {
        self.codes.0 |= 1 << code as u8;
        self.count += 1;
        self.raise(Some((severity, code, start)));
    }

    fn raise(&mut self, worst: Option<(Severity, Code, usize)>) {
        if worst.is_some_and(|w| self.worst.is_none_or(|mine| mine.0 < w.0)) {
            self.worst = worst;
        }
    }

    fn merge(&mut self, other: Facts) {
        self.codes.0 |= other.codes.0;
        self.count += other.count;
        self.raise(other.worst);
    }
}

/// The repairs of one reading: a list with a bound, which is only written, and the [`Facts`],
/// which decisions read.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    list: Vec<Diagnostic>,
    facts: Facts,
    /// The worst severity that is not in the list.
    unlisted: Option<Severity>,
    /// A cut end is expected.
    partial: bool,
}

/// A place in a log to go back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogMark {
    len: usize,
    facts: Facts,
    unlisted: Option<Severity>,
}

/// What a cut end brings about.
const CUT: Codes = Codes::of(&[
    Code::ClosedAtEof,
    Code::TruncatedString,
    Code::TruncatedEscape,
    Code::TruncatedNumber,
    Code::TruncatedLiteral,
    Code::DroppedKey,
]);

impl Log {
    /// Past this many they are only counted: a hostile text has one a byte.
    const KEPT: usize = 1024;

    /// A log in which what a cut end brings about costs nothing, if that is expected.
    pub(super) fn new(partial: bool) -> Self {
        Log { partial, ..Log::default() }
    }

    pub(super) fn facts(&self) -> &Facts {
        &self.facts
    }

    pub(super) fn has(&self, code: Code) -> bool {
        self.facts.codes.has(code)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.facts.count == 0
    }

    pub(super) fn listed(&self) -> &[Diagnostic] {
        &self.list
    }

    pub(super) fn add(&mut self, code: Code, start: usize, end: usize) {
        self.push(Diagnostic::new(code, start, end));
    }

    pub(super) fn push(&mut self, mut found: Diagnostic) {
        if self.partial && CUT.has(found.code) {
            found.severity = Severity::Lossless;
        }
        self.facts.add(found.severity, found.code, found.start);
        if self.list.len() < Self::KEPT {
            self.list.push(found);
        } else {
            self.unlisted = self.unlisted.max(Some(found.severity));
        }
    }

    /// Adds to the last one where that ends here, so that a run is one diagnostic.
    pub(super) fn extend(&mut self, code: Code, start: usize, end: usize) {
        match self.list.last_mut() {
            Some(last) if last.code == code && last.end == start => last.end = end,
            _ => self.add(code, start, end),
        }
    }

    pub(super) fn append(&mut self, other: Log) {
        self.facts.merge(other.facts);
        self.unlisted = self.unlisted.max(other.unlisted);
        for found in other.list {
            if self.list.len() < Self::KEPT {
                self.list.push(found);
            } else {
                self.unlisted = self.unlisted.max(Some(found.severity));
            }
        }
    }

    pub(super) fn mark(&self) -> LogMark {
        LogMark { len: self.list.len(), facts: self.facts, unlisted: self.unlisted }
    }

    pub(super) fn go_back(&mut self, mark: LogMark) {
        self.list.truncate(mark.len);
        (self.facts, self.unlisted) = (mark.facts, mark.unlisted);
    }

    /// The same log without one code.
    pub(super) fn without(self, code: Code) -> Self {
        let mut log = Log::new(self.partial);
        for found in self.list.into_iter().filter(|found| found.code != code) {
            log.push(found);
        }
        log
    }

    /// The same log over places of another text.
    pub(super) fn map(mut self, place: impl Fn(usize) -> usize) -> Self {
        for found in &mut self.list {
            (found.start, found.end) = (place(found.start), place(found.end));
        }
        if let Some(worst) = &mut self.facts.worst {
            worst.2 = place(worst.2);
        }
        self
    }

    /// The list, with an entry at the end for those that were left out: it has the worst severity
    /// among them. Also how many those are.
    pub(super) fn finish(mut self, end: usize) -> (Vec<Diagnostic>, usize) {
        let more = self.facts.count.saturating_sub(self.list.len());
        if let Some(severity) = self.unlisted {
            self.list.push(Diagnostic { severity, ..Diagnostic::new(Code::MoreRepairs, end, end) });
        }
        (self.list, more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lead_back() {
        for (i, &code) in Code::ALL.iter().enumerate() {
            assert_eq!(Code::from_name(code.name()), Some(code));
            assert_eq!(code as usize, i);
            assert!(code.name().bytes().all(|b| b.is_ascii_lowercase() || b == b'_'));
        }
    }
}
