//! Errors of authors, as data: what is wrong with a gate, of which kind, and where.

use std::fmt;

use crate::position::Position;
use crate::text::to_utf8;

macro_rules! kinds {
    ($($variant:ident $name:literal $doc:literal,)*) => {
        /// What kind of mistake an issue is. Names are stable; messages may change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum IssueKind {
            $(#[doc = $doc] $variant,)*
        }

        impl IssueKind {
            /// Every kind.
            pub const ALL: &'static [IssueKind] = &[$(IssueKind::$variant,)*];

            /// The stable name.
            pub fn name(self) -> &'static str {
                match self { $(IssueKind::$variant => $name,)* }
            }

            /// What it means, in one line.
            pub fn doc(self) -> &'static str {
                match self { $(IssueKind::$variant => $doc,)* }
            }
        }
    };
}

kinds! {
    NotJson "not_json" "the text is not JSON",
    TooDeep "too_deep" "arrays and objects nest too deep",
    Missing "missing" "something that must be there is not",
    WrongType "wrong_type" "a value of another JSON type is wanted",
    WrongValue "wrong_value" "the value is of the right type and not one that is allowed",
    UnknownKey "unknown_key" "a key that has no meaning here",
    UnknownType "unknown_type" "no scorer has this type",
    NotApplicable "not_applicable" "a key that scorers of this type do not read",
    Conflict "conflict" "two values that cannot stand together",
    BadSchema "bad_schema" "a contract or JSON Schema that is malformed",
    RepeatedKey "repeated_key" "warning: a key stands twice in one object, and the last one counts",
    NeverPasses "never_passes" "warning: the scorer fails on every text",
    AlwaysPasses "always_passes" "warning: the scorer passes on every text",
    LooseSchema "loose_schema" "warning: the schema lets more pass than it seems to",
    DoubtfulPattern "doubtful_pattern" "warning: the pattern means something else in JavaScript",
    InexactBorder "inexact_border" "warning: the weights do not add up exactly at the threshold",
}

/// A step from a value to one inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Into the member of an object.
    Key(Vec<u8>),
    /// Into the element of an array.
    Index(usize),
}

/// Where something stands in a score block: in words, and as steps from its root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    text: String,
    steps: Vec<Step>,
}

impl Path {
    /// The root, under a name such as `score`.
    pub fn root(name: &str) -> Self {
        Path { text: name.to_owned(), steps: Vec::new() }
    }

    /// The member of an object.
    #[must_use]
    pub fn key(&self, key: impl AsRef<[u8]>) -> Self {
        let key = key.as_ref();
        self.then(format!("{}.{}", self.text, to_utf8(key)), Step::Key(key.to_vec()))
    }

    /// The element of an array.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.then(format!("{}[{index}]", self.text), Step::Index(index))
    }

    fn then(&self, text: String, step: Step) -> Self {
        let mut steps = self.steps.clone();
        steps.push(step);
        Path { text, steps }
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// One mistake of an author, or one thing that an author should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecIssue {
    kind: IssueKind,
    path: Path,
    message: String,
    /// The message names the place itself.
    whole: bool,
    hint: Option<String>,
    place: Option<(usize, usize)>,
}

impl SpecIssue {
    /// An issue at a path; `message` is what is wrong, without the path.
    #[cold]
    pub fn new(kind: IssueKind, path: Path, message: impl Into<String>) -> Self {
        SpecIssue { kind, path, message: message.into(), whole: false, hint: None, place: None }
    }

    /// An issue whose message is the whole line and names the place inside `path` itself.
    #[cold]
    pub(crate) fn line(kind: IssueKind, path: Path, line: String) -> Self {
        SpecIssue { whole: true, ..SpecIssue::new(kind, path, line) }
    }

    /// The issue with what its author may have meant.
    #[must_use]
    pub(crate) fn hinted(self, hint: Option<String>) -> Self {
        SpecIssue { hint, ..self }
    }

    pub(crate) fn set_place(&mut self, at: Position) {
        self.place = Some((at.line, at.column));
    }

    /// What kind of mistake it is.
    pub fn kind(&self) -> IssueKind {
        self.kind
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What its author may have meant.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Its line in the text that the gate was read from, from 1.
    pub fn line_number(&self) -> Option<usize> {
        self.place.map(|(line, _)| line)
    }

    /// Its column there in characters, from 1.
    pub fn column(&self) -> Option<usize> {
        self.place.map(|(_, column)| column)
    }
}

impl fmt::Display for SpecIssue {
    /// `path: what is wrong`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.whole {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

/// The issues of one score block, in order. Hints are looked for a bounded number of times, since
/// a hostile block may hold any number of misspelt keys.
#[derive(Debug)]
pub struct Issues {
    list: Vec<SpecIssue>,
    hints_left: usize,
}

impl Issues {
    /// Past so many issues nobody reads hints.
    const HINTED: usize = 64;

    /// No issues.
    pub(crate) fn new() -> Self {
        Issues { list: Vec::new(), hints_left: Self::HINTED }
    }

    /// Adds an issue.
    pub fn add(&mut self, kind: IssueKind, path: Path, message: impl Into<String>) {
        self.list.push(SpecIssue::new(kind, path, message));
    }

    /// Adds an issue with what `hint` finds.
    pub fn add_hinted(
        &mut self,
        kind: IssueKind,
        path: Path,
        message: impl Into<String>,
        hint: impl FnOnce() -> Option<String>,
    ) {
        let wanted = self.hints_left > 0;
        self.hints_left = self.hints_left.saturating_sub(1);
        let hint = if wanted { hint() } else { None };
        self.list.push(SpecIssue::new(kind, path, message).hinted(hint));
    }

    /// Adds an issue whose message is the whole line.
    pub(crate) fn add_line(&mut self, kind: IssueKind, path: Path, line: String) {
        self.list.push(SpecIssue::line(kind, path, line));
    }

    /// The issues, in order.
    pub(crate) fn into_list(self) -> Vec<SpecIssue> {
        self.list
    }
}

/// A gate that cannot be built: every shape error, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    issues: Vec<SpecIssue>,
}

impl SpecError {
    #[cold]
    pub(crate) fn new(issues: Vec<SpecIssue>) -> Self {
        SpecError { issues }
    }

    #[cold]
    pub(crate) fn one(issue: SpecIssue) -> Self {
        SpecError { issues: vec![issue] }
    }

    /// The errors as data, in order.
    pub fn issues(&self) -> &[SpecIssue] {
        &self.issues
    }

    pub(crate) fn issues_mut(&mut self) -> &mut [SpecIssue] {
        &mut self.issues
    }

    /// The messages, each as `path: what is wrong`.
    pub fn errors(&self) -> Vec<String> {
        self.issues.iter().map(SpecIssue::to_string).collect()
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.errors().join("\n"))
    }
}

impl std::error::Error for SpecError {}
