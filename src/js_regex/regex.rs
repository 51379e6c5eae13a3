//! A compiled pattern and its test.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use memchr::memmem::Finder;

use super::ast::{Assert, Ast, Node};
use super::first::{FirstBytes, first_bytes};
use super::flags::Flags;
use super::plan::Plan;
use super::program::Program;
use crate::stack::with_room;
use crate::text::{Text, to_utf8};

use super::error::{BudgetExceeded, JsRegexError};
use super::{automata, matcher, plan, syntax};

/// Bytes of a literal that most texts do not contain.
const TELLING: usize = 2;

/// A compiled JavaScript regular expression.
///
/// Immutable and `Send + Sync`; share it by reference or in an `Arc`.
pub struct JsRegex {
    pattern: Box<[u8]>,
    flags: Flags,
    sorted_flags: String,
    plan: Plan,
    ast: Ast,
    /// Has `\B`. Between the bytes of a character an automaton drops its empty match, and with it
    /// a longer one that starts there: texts beyond ASCII go to the matcher.
    has_not_word: bool,
    /// What a match from the start may begin with, where that is known.
    first: Option<Box<FirstBytes>>,
    /// Literals that every match contains, the longest first, sought before an engine runs.
    required: Vec<Finder<'static>>,
    /// Compiled when the matcher is first needed.
    program: OnceLock<Program>,
}

impl JsRegex {
    /// Compiles a pattern (WTF-8) with flags from `dgimsuvy`.
    ///
    /// Fails with V8's message where V8 refuses the pattern or the flags.
    pub fn new(pattern: &[u8], flags: &str) -> Result<Self, JsRegexError> {
        with_room(|| Self::build(pattern, flags, false))
    }

    /// Compiles a pattern that someone else wrote: backreferences are refused, so that every test
    /// takes time linear in the text.
    pub fn untrusted(pattern: &[u8], flags: &str) -> Result<Self, JsRegexError> {
        with_room(|| Self::build(pattern, flags, true))
    }

    fn build(pattern: &[u8], flag_text: &str, untrusted: bool) -> Result<Self, JsRegexError> {
        let flags = Flags::parse(flag_text).ok_or_else(|| JsRegexError::flags(flag_text))?;
        let sorted_flags = flags.sorted();
        let refuse = |reason: &str| JsRegexError::pattern(pattern, &sorted_flags, reason);
        let mut ast = syntax::parse(&utf16(pattern), flags).map_err(refuse)?;
        if untrusted && ast.has_backref {
            return Err(refuse("Backreferences are not allowed in an untrusted pattern"));
        }
        let plan = plan::plan(&mut ast, flags);
        // A pattern that can match inside a pair may begin where no character does.
        let first = if ast.matches_inside_pair { None } else { first_bytes(&ast.root) };
        let has_not_word = ast
            .root
            .any(&|node| matches!(node, Node::Assert(Assert::NotWord | Assert::NotWordFolded)));
        let required = plan::required(&ast.root);
        Ok(JsRegex {
            pattern: pattern.into(),
            flags,
            sorted_flags,
            plan,
            has_not_word,
            first,
            required: required.iter().map(|literal| Finder::new(literal).into_owned()).collect(),
            ast,
            program: OnceLock::new(),
        })
    }

    /// JavaScript's `new RegExp(pattern, flags).test(text)`.
    ///
    /// Fails where the step budget runs out, which depends on the pattern and the text only.
    pub fn test(&self, target: &Text<'_>) -> Result<bool, BudgetExceeded> {
        self.run(target, None).0
    }

    /// As [`test`](Self::test), with the steps that the matcher took (zero where it did not run).
    pub fn test_counted(&self, target: &Text<'_>) -> (Result<bool, BudgetExceeded>, u64) {
        self.run(target, None)
    }

    /// As [`test`](Self::test), and gives up soon after the flag is set.
    pub fn test_with_stop(
        &self,
        target: &Text<'_>,
        stop: &AtomicBool,
    ) -> Result<bool, BudgetExceeded> {
        self.run(target, Some(stop)).0
    }

    fn run(
        &self,
        target: &Text<'_>,
        stop: Option<&AtomicBool>,
    ) -> (Result<bool, BudgetExceeded>, u64) {
        if self.refuted_by_first(target.bytes()) {
            return (Ok(false), 0);
        }
        if let (Plan::Regular(_), Some(literal)) = (&self.plan, self.required.first())
            && literal.needle().len() >= TELLING
            && literal.find(target.bytes()).is_none()
        {
            return (Ok(false), 0);
        }
        // Facts cost a look at the whole text, so they are asked for where they matter only.
        if self.ast.matches_inside_pair && target.facts().has_astral {
            return (Ok(true), 0);
        }
        let automata_are_exact = (!self.ast.has_line_anchor || !target.facts().has_cr_ls_ps)
            && (!(self.ast.has_folded_word || self.has_not_word) || target.facts().is_ascii);
        if automata_are_exact && let Some(answer) = self.plan.test(target) {
            return (Ok(answer), 0);
        }
        self.match_program(target, stop)
    }

    /// True where a look at the first character may refute a match.
    pub fn looks_at_first(&self) -> bool {
        self.first.is_some()
    }

    /// True where the first character of a text (WTF-8), or the lack of one, refutes a match.
    pub fn refuted_by_first(&self, text: &[u8]) -> bool {
        let byte = text.first();
        let may = |first: &FirstBytes| byte.is_some_and(|&byte| first[usize::from(byte)]);
        self.first.as_deref().is_some_and(|first| !may(first))
    }

    /// The matcher's answer where another back end would be asked; for tests.
    #[doc(hidden)]
    pub fn test_by_matcher(&self, target: &Text<'_>) -> (Result<bool, BudgetExceeded>, u64) {
        if self.ast.matches_inside_pair && target.facts().has_astral {
            return (Ok(true), 0);
        }
        self.match_program(target, None)
    }

    fn match_program(
        &self,
        target: &Text<'_>,
        stop: Option<&AtomicBool>,
    ) -> (Result<bool, BudgetExceeded>, u64) {
        if self.required.iter().any(|literal| literal.find(target.bytes()).is_none()) {
            return (Ok(false), 0);
        }
        let text = if self.flags.code_points() { target.bytes() } else { target.cesu8() };
        let (answer, steps) = matcher::run(self.program(), text, stop);
        let refuse = |stop| BudgetExceeded::new(&self.pattern, &self.sorted_flags, target, stop);
        (answer.map_err(refuse), steps)
    }

    fn program(&self) -> &Program {
        // Not a lock that a fork could leave held: compiled before it is set.
        if self.program.get().is_none() {
            let new = || Program::new(&self.ast, self.flags.ignore_case, self.flags.code_points());
            let _ = self.program.set(with_room(new));
        }
        self.program.get_or_init(|| {
            Program::new(&self.ast, self.flags.ignore_case, self.flags.code_points())
        })
    }

    /// True where the pattern is known to match every text.
    pub fn always_matches(&self) -> bool {
        with_room(|| self.ast.root.matches_at_start())
    }

    /// The pattern as it was given, WTF-8.
    pub fn pattern(&self) -> &[u8] {
        &self.pattern
    }

    /// The flags in the order in which V8 prints them: `dgimsuvy`.
    pub fn flags(&self) -> &str {
        &self.sorted_flags
    }

    /// The pattern in the syntax of the `regex` crate, where that can say it: a regular pattern
    /// with flag u. The two agree on every text without surrogate halves.
    pub fn rust_syntax(&self) -> Option<String> {
        let regular = self.ast.root.is_regular() && !self.ast.has_line_anchor && !self.has_not_word;
        (regular && self.flags.code_points()).then(|| automata::rust_syntax(&self.ast.root))
    }

    /// Bytes of memory that the compiled pattern takes now, roughly; automata grow with use.
    pub fn memory_usage(&self) -> usize {
        let program = self.program.get().map_or(0, Program::memory);
        std::mem::size_of::<Self>() + self.pattern.len() * 40 + self.plan.memory() + program
    }
}

impl fmt::Debug for JsRegex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/{}", to_utf8(&self.pattern), self.sorted_flags)
    }
}

/// The UTF-16 units of WTF-8 text.
fn utf16(bytes: &[u8]) -> Vec<u16> {
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        let (c, width) = super::units::decode(rest);
        if let Ok(unit) = u16::try_from(c) {
            units.push(unit);
        } else {
            let c = char::from_u32(c).unwrap_or('\u{FFFD}');
            units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
        }
        rest = rest.get(width.max(1)..).unwrap_or_default();
    }
    units
}
