//! Character classes without v, and the choice between the two grammars.

use super::super::ast::Node;
use super::parser::{Parsed, Parser};
use crate::js_regex::set::CharSet;

pub(super) const UNTERMINATED: &str = "Unterminated character class";
pub(super) const INVALID_CLASS: &str = "Invalid character class";
pub(super) const OUT_OF_ORDER: &str = "Range out of order in character class";

/// More ranges than different ones in a pattern of the longest length.
const MANY_RANGES: usize = 1 << 17;

/// One operand of a range.
enum Atom {
    Char(u32),
    Set(CharSet),
}

impl Parser<'_> {
    /// A class; the cursor is at its `[`.
    pub(super) fn class(&mut self) -> Parsed<Node> {
        if self.flags.unicode_sets {
            return Ok(self.nested_class()?.into_node());
        }
        self.at += 1;
        let negated = self.eat('^');
        let ranges = self.class_ranges()?;
        let set = self.fold_set(ranges)?;
        Ok(Node::set(if negated { set.complement(self.flags.max_char()) } else { set }))
    }

    fn class_ranges(&mut self) -> Parsed<CharSet> {
        let mut ranges = Vec::new();
        loop {
            if self.eat(']') {
                return Ok(CharSet::new(ranges));
            }
            let from = self.class_atom()?;
            // A `-` that ends the class is a literal; so is one at the end of the pattern, which
            // is an error already.
            if !self.eat('-') {
                self.add_atom(&from, &mut ranges)?;
                continue;
            }
            if self.unit(0).is_none_or(|c| c == 0x5D) {
                self.add_atom(&from, &mut ranges)?;
                ranges.push((0x2D, 0x2D));
                continue;
            }
            match (from, self.class_atom()?) {
                (Atom::Char(low), Atom::Char(high)) if low > high => return Err(OUT_OF_ORDER),
                (Atom::Char(low), Atom::Char(high)) => ranges.push((low, high)),
                _ if self.flags.code_points() => return Err(INVALID_CLASS),
                (from, to) => {
                    self.add_atom(&from, &mut ranges)?;
                    ranges.push((0x2D, 0x2D));
                    self.add_atom(&to, &mut ranges)?;
                }
            }
        }
    }

    fn add_atom(&mut self, atom: &Atom, ranges: &mut Vec<(u32, u32)>) -> Parsed<()> {
        match atom {
            Atom::Char(c) => ranges.push((*c, *c)),
            Atom::Set(set) => self.add_set(set, ranges)?,
        }
        Ok(())
    }

    /// Adds a set to ranges that are sorted and joined later, or once there are very many.
    pub(super) fn add_set(&mut self, set: &CharSet, ranges: &mut Vec<(u32, u32)>) -> Parsed<()> {
        self.charge(set.ranges().len())?;
        ranges.extend_from_slice(set.ranges());
        if ranges.len() > MANY_RANGES {
            *ranges = CharSet::new(std::mem::take(ranges)).ranges().to_vec();
        }
        Ok(())
    }

    fn class_atom(&mut self) -> Parsed<Atom> {
        if self.unit(0) != Some(0x5C) {
            return self.bump().map(Atom::Char).ok_or(UNTERMINATED);
        }
        self.at += 1;
        match self.unit(0) {
            Some(0x62) => {
                self.at += 1;
                Ok(Atom::Char(8))
            }
            _ => match self.class_escape(true)? {
                Some(class) => Ok(Atom::Set(class.set)),
                None => self.character_escape(true).map(Atom::Char),
            },
        }
    }
}
