//! The parser itself: disjunctions, terms and quantifiers.

use std::collections::{HashMap, VecDeque};

use super::super::ast::{Assert, Ast, Node, Repeat, UNBOUNDED};
use super::super::flags::Flags;
use super::super::fold;
use super::super::set::{self, CharSet};
use super::class_set::ClassSet;

/// The deepest nesting of groups and of v classes.
const MAX_DEPTH: u32 = 250;
/// The most capturing groups, as in V8.
pub(super) const MAX_GROUPS: u32 = 32_767;
/// The longest pattern in UTF-16 units.
const MAX_UNITS: usize = 64 * 1024;

/// Ranges that the classes of a pattern may be computed from: thousands of times what a pattern
/// of every script takes, and a fraction of a second.
const MAX_RANGES: usize = 32_000_000;

pub(super) const TOO_LARGE: &str = "Regular expression too large";
const NOTHING_TO_REPEAT: &str = "Nothing to repeat";

/// A V8 message, without the part that quotes the pattern.
pub(super) type Parsed<T> = Result<T, &'static str>;

/// Parses a pattern of UTF-16 units.
pub(in super::super) fn parse(units: &[u16], flags: Flags) -> Parsed<Ast> {
    if units.len() > MAX_UNITS {
        return Err(TOO_LARGE);
    }
    let mut parser = Parser {
        units,
        at: 0,
        flags,
        depth: 0,
        groups: 0,
        scan: None,
        names: Vec::new(),
        has_names: false,
        open: Vec::new(),
        references: Vec::new(),
        has_backref: false,
        ranges: 0,
        properties: HashMap::new(),
        folded: VecDeque::new(),
    };
    let mut root = parser.disjunction()?;
    if parser.at < units.len() {
        return Err("Unmatched ')'");
    }
    parser.resolve_names(&mut root)?;
    let has_assert = |a, b| root.any(&|n| matches!(n, Node::Assert(k) if *k == a || *k == b));
    Ok(Ast {
        groups: parser.groups,
        has_backref: parser.has_backref,
        has_line_anchor: has_assert(Assert::LineStart, Assert::LineEnd),
        matches_inside_pair: flags.code_points() && !flags.sticky && root.matches_inside_pair(),
        has_folded_word: has_assert(Assert::WordFolded, Assert::NotWordFolded),
        root,
    })
}

pub(super) struct Parser<'p> {
    pub(super) units: &'p [u16],
    pub(super) at: usize,
    pub(super) flags: Flags,
    pub(super) depth: u32,
    /// Capturing groups opened so far.
    pub(super) groups: u32,
    /// What the scan over the rest of the pattern found, once it was needed.
    pub(super) scan: Option<Scan>,
    /// The names of groups, with their numbers.
    pub(super) names: Vec<(Vec<u32>, u32)>,
    /// Some named group was opened.
    pub(super) has_names: bool,
    /// The groups that are open here: number and name.
    pub(super) open: Vec<(u32, Vec<u32>)>,
    /// The names that `\k` used; a node refers to one by its place until the end.
    pub(super) references: Vec<Vec<u32>>,
    pub(super) has_backref: bool,
    /// Ranges of classes handled so far.
    pub(super) ranges: usize,
    /// The properties read so far, by their text and whether they are negated.
    pub(super) properties: HashMap<(&'p [u16], bool), ClassSet>,
    /// Sets folded last, before and after.
    pub(super) folded: VecDeque<(CharSet, CharSet)>,
}

/// The groups of the whole pattern.
#[derive(Clone, Copy)]
pub(super) struct Scan {
    pub(super) groups: u32,
    pub(super) has_names: bool,
}

impl Parser<'_> {
    /// The character at the cursor: a unit, or a code point under u and v.
    pub(super) fn peek(&self) -> Option<u32> {
        self.char_at(self.at, self.flags.code_points()).map(|c| c.0)
    }

    pub(super) fn char_at(&self, at: usize, code_points: bool) -> Option<(u32, usize)> {
        let unit = u32::from(*self.units.get(at)?);
        if code_points && unit & 0xFC00 == 0xD800 {
            let next = self.units.get(at + 1).map_or(0, |&u| u32::from(u));
            if next & 0xFC00 == 0xDC00 {
                return Some((0x1_0000 + ((unit & 0x3FF) << 10 | next & 0x3FF), 2));
            }
        }
        Some((unit, 1))
    }

    /// The unit some places after the cursor.
    pub(super) fn unit(&self, offset: usize) -> Option<u32> {
        self.units.get(self.at + offset).map(|&u| u32::from(u))
    }

    pub(super) fn looking_at(&self, text: &str) -> bool {
        text.bytes().enumerate().all(|(i, b)| self.unit(i) == Some(u32::from(b)))
    }

    /// Takes the character at the cursor.
    pub(super) fn bump(&mut self) -> Option<u32> {
        let (c, width) = self.char_at(self.at, self.flags.code_points())?;
        self.at += width;
        Some(c)
    }

    /// Takes the ASCII character where it stands at the cursor.
    pub(super) fn eat(&mut self, c: char) -> bool {
        let found = self.unit(0) == Some(u32::from(c));
        self.at += usize::from(found);
        found
    }

    pub(super) fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(TOO_LARGE) } else { Ok(()) }
    }

    /// Counts ranges that an operation on classes handles.
    pub(super) fn charge(&mut self, ranges: usize) -> Parsed<()> {
        self.ranges += ranges;
        if self.ranges > MAX_RANGES { Err(TOO_LARGE) } else { Ok(()) }
    }

    /// A disjunction up to the end or the `)` that closes it, which stays.
    pub(super) fn disjunction(&mut self) -> Parsed<Node> {
        let mut branches = Vec::new();
        let mut terms = Vec::new();
        loop {
            match self.unit(0) {
                None | Some(0x29) => break,
                Some(0x7C) => {
                    self.at += 1;
                    branches.push(Node::cat(std::mem::take(&mut terms)));
                }
                Some(_) => self.term(&mut terms)?,
            }
        }
        branches.push(Node::cat(terms));
        Ok(Node::alt(branches))
    }

    /// One term, with its quantifier.
    pub(super) fn term(&mut self, terms: &mut Vec<Node>) -> Parsed<()> {
        let groups_before = self.groups;
        let Some(c) = self.peek() else { return Ok(()) };
        let is_look = ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|o| self.looking_at(o));
        let multiline = self.flags.multiline;
        let atom = match char::from_u32(c) {
            Some('*' | '+' | '?') => return Err(NOTHING_TO_REPEAT),
            Some('^') => {
                self.at += 1;
                let kind = if multiline { Assert::LineStart } else { Assert::Start };
                terms.push(Node::Assert(kind));
                return Ok(());
            }
            Some('$') => {
                self.at += 1;
                let kind = if multiline { Assert::LineEnd } else { Assert::End };
                terms.push(Node::Assert(kind));
                return Ok(());
            }
            Some('(') => self.group()?,
            Some('.') => {
                self.at += 1;
                self.dot()
            }
            Some('[') => self.class()?,
            Some('\\') => match self.atom_escape()? {
                Node::Assert(kind) => {
                    terms.push(Node::Assert(kind));
                    return Ok(());
                }
                atom => atom,
            },
            Some('{') if self.interval().is_some() => return Err(NOTHING_TO_REPEAT),
            Some('{' | '}' | ']') if self.flags.code_points() => {
                return Err("Lone quantifier brackets");
            }
            _ => {
                self.bump();
                self.literal(c)
            }
        };
        let node = self.quantified(atom, is_look, groups_before)?;
        if !matches!(node, Node::Empty) {
            terms.push(node);
        }
        Ok(())
    }

    /// A literal character, with its equals under i.
    pub(super) fn literal(&self, c: u32) -> Node {
        if self.flags.ignore_case {
            Node::set(fold::close(&CharSet::one(c), self.flags.code_points()))
        } else {
            Node::Char(c)
        }
    }

    pub(super) fn dot(&self) -> Node {
        let excluded = if self.flags.dot_all { CharSet::default() } else { set::line_end() };
        Node::Set(excluded.complement(self.flags.max_char()))
    }

    /// The atom under the quantifier that follows it, if one does.
    pub(super) fn quantified(
        &mut self,
        atom: Node,
        is_look: bool,
        groups_before: u32,
    ) -> Parsed<Node> {
        let Some((min, max)) = self.quantifier() else {
            let incomplete = self.unit(0) == Some(0x7B) && self.flags.code_points();
            return if incomplete { Err("Incomplete quantifier") } else { Ok(atom) };
        };
        if min > max {
            return Err("numbers out of order in {} quantifier");
        }
        let greedy = !self.eat('?');
        if is_look
            && let Node::Look(look) = &atom
            && (self.flags.code_points() || !look.ahead)
        {
            return Err("Invalid quantifier");
        }
        if atom.is_empty_width() {
            // An iteration that consumes nothing is refused once the minimum is met.
            return Ok(if min == 0 { Node::Empty } else { atom });
        }
        let groups = (groups_before + 1, self.groups + 1);
        Ok(Node::Repeat(Repeat { body: Box::new(atom), min, max, greedy, groups }))
    }

    pub(super) fn quantifier(&mut self) -> Option<(u32, u32)> {
        let bounds = match self.unit(0).and_then(char::from_u32)? {
            '*' => (0, UNBOUNDED),
            '+' => (1, UNBOUNDED),
            '?' => (0, 1),
            '{' => return self.interval(),
            _ => return None,
        };
        self.at += 1;
        Some(bounds)
    }

    /// `{n}`, `{n,}` or `{n,m}`; anything else is left in place.
    pub(super) fn interval(&mut self) -> Option<(u32, u32)> {
        let start = self.at;
        let bounds = self.interval_bounds();
        if bounds.is_none() {
            self.at = start;
        }
        bounds
    }

    pub(super) fn interval_bounds(&mut self) -> Option<(u32, u32)> {
        self.at += 1;
        let min = self.count()?;
        let max = if !self.eat(',') {
            min
        } else if self.unit(0) == Some(0x7D) {
            UNBOUNDED
        } else {
            self.count()?
        };
        self.eat('}').then_some((min, max))
    }

    /// A run of decimal digits; a huge count is as good as no bound.
    pub(super) fn count(&mut self) -> Option<u32> {
        let mut value = None;
        while let Some(digit) = self.unit(0).and_then(char::from_u32).and_then(|c| c.to_digit(10)) {
            let so_far: u32 = value.unwrap_or(0);
            // V8 clamps at 2^31 - 1, which is its "no bound".
            let next = so_far.checked_mul(10).and_then(|v| v.checked_add(digit));
            value = Some(next.filter(|&v| v < 0x7FFF_FFFF).unwrap_or(UNBOUNDED));
            self.at += 1;
        }
        value
    }
}
