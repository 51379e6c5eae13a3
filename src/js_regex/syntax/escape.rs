//! Escapes outside and inside classes.

use super::super::ast::Node;
use super::class_set::ClassSet;
use super::parser::{Parsed, Parser};
use crate::js_regex::ast::Assert;
use crate::js_regex::fold;
use crate::js_regex::set::{self, CharSet};

const INVALID_ESCAPE: &str = "Invalid escape";
/// What folding a set costs beside its ranges.
const FOLD_CHARGE: usize = 256;
/// The folded sets that are remembered.
const MOST_FOLDED: usize = 8;
const INVALID_UNICODE_ESCAPE: &str = "Invalid Unicode escape";

impl Parser<'_> {
    /// An escape outside of a class; the cursor is at the backslash.
    pub(super) fn atom_escape(&mut self) -> Parsed<Node> {
        self.at += 1;
        let code_points = self.flags.code_points();
        let Some(letter) = self.unit(0) else { return Err("\\ at end of pattern") };
        match char::from_u32(letter) {
            Some(c @ ('b' | 'B')) => {
                self.at += 1;
                let folded = code_points && self.flags.ignore_case;
                return Ok(Node::Assert(match (c, folded) {
                    ('b', false) => Assert::Word,
                    ('b', true) => Assert::WordFolded,
                    (_, false) => Assert::NotWord,
                    (_, true) => Assert::NotWordFolded,
                }));
            }
            Some('1'..='9') => {
                if let Some(node) = self.numbered_reference() {
                    return Ok(node);
                }
                if code_points {
                    return Err(INVALID_ESCAPE);
                }
            }
            Some('0') if code_points && is_digit(self.unit(1)) => {
                return Err("Invalid decimal escape");
            }
            Some('k') if code_points || self.has_names() => {
                self.at += 1;
                return self.named_reference();
            }
            _ => {}
        }
        if let Some(class) = self.class_escape(false)? {
            return Ok(class.into_node());
        }
        let c = self.character_escape(false)?;
        Ok(self.literal(c))
    }

    /// `\d`, `\s`, `\w`, `\p{…}` and their complements; the cursor is after the backslash.
    pub(super) fn class_escape(&mut self, in_class: bool) -> Parsed<Option<ClassSet>> {
        let max = self.flags.max_char();
        let Some(letter) = self.unit(0).and_then(char::from_u32) else { return Ok(None) };
        let set = match letter {
            'd' | 'D' => set::digit(),
            's' | 'S' => set::space(),
            'w' | 'W' if self.flags.code_points() && self.flags.ignore_case => {
                fold::close(&set::word(), true)
            }
            'w' | 'W' => set::word(),
            'p' | 'P' if self.flags.code_points() => {
                self.at += 1;
                let message = if in_class {
                    "Invalid property name in character class"
                } else {
                    "Invalid property name"
                };
                return self.property(letter == 'P', message).map(Some);
            }
            _ => return Ok(None),
        };
        self.at += 1;
        let negated = letter.is_ascii_uppercase();
        Ok(Some(ClassSet::new(if negated { set.complement(max) } else { set })))
    }

    /// An escape that stands for one character; the cursor is after the backslash.
    pub(super) fn character_escape(&mut self, in_class: bool) -> Parsed<u32> {
        let code_points = self.flags.code_points();
        let c = self.bump().ok_or("\\ at end of pattern")?;
        let control = match char::from_u32(c) {
            Some('f') => 0x0C,
            Some('n') => 0x0A,
            Some('r') => 0x0D,
            Some('t') => 0x09,
            Some('v') => 0x0B,
            Some('c') => return self.control(in_class),
            Some('0') if !is_digit(self.unit(0)) => 0,
            Some('0'..='7') if code_points => {
                return Err(if in_class {
                    "Invalid class escape"
                } else {
                    "Invalid decimal escape"
                });
            }
            Some('0'..='7') => return Ok(self.octal(c - 0x30)),
            Some('x') => match self.hex(2) {
                Some(value) => value,
                None if code_points => return Err(INVALID_ESCAPE),
                None => c,
            },
            Some('u') => match self.unicode_escape(code_points) {
                Some(value) => value,
                None if code_points => return Err(INVALID_UNICODE_ESCAPE),
                None => c,
            },
            _ => return self.identity(c, in_class),
        };
        Ok(control)
    }

    fn identity(&mut self, c: u32, in_class: bool) -> Parsed<u32> {
        let known = char::from_u32(c).unwrap_or('\u{FFFD}');
        let allowed = if self.flags.code_points() {
            "^$\\.*+?()[]{}|/".contains(known)
                || in_class && known == '-'
                || in_class && self.flags.unicode_sets && "&-!#%,:;<=>@`~".contains(known)
        } else {
            known != 'k' || !self.has_names()
        };
        if allowed { Ok(c) } else { Err(INVALID_ESCAPE) }
    }

    /// `\c` and a letter; without one (and without u) the backslash stands for itself.
    fn control(&mut self, in_class: bool) -> Parsed<u32> {
        let next = self.unit(0).and_then(char::from_u32).unwrap_or('\u{FFFD}');
        let is_control = next.is_ascii_alphabetic()
            || !self.flags.code_points() && in_class && (next.is_ascii_digit() || next == '_');
        if is_control {
            self.at += 1;
            return Ok(u32::from(next) & 0x1F);
        }
        if self.flags.code_points() {
            return Err(INVALID_UNICODE_ESCAPE);
        }
        // Only the backslash was taken: the `c` is read again.
        self.at -= 1;
        Ok(u32::from('\\'))
    }

    /// The rest of an octal escape below 256.
    fn octal(&mut self, first: u32) -> u32 {
        let mut value = first;
        for limit in [u32::MAX, 32] {
            match self.unit(0) {
                Some(digit @ 0x30..=0x37) if value < limit => {
                    value = value * 8 + digit - 0x30;
                    self.at += 1;
                }
                _ => break,
            }
        }
        value
    }

    /// Exactly that many hexadecimal digits, or nothing is taken.
    fn hex(&mut self, digits: usize) -> Option<u32> {
        let mut value = 0;
        for offset in 0..digits {
            let digit = self.unit(offset).and_then(char::from_u32)?.to_digit(16)?;
            value = value * 16 + digit;
        }
        self.at += digits;
        Some(value)
    }

    /// What follows `\u`: four digits, and with code points a pair of halves or braces.
    pub(super) fn unicode_escape(&mut self, code_points: bool) -> Option<u32> {
        if code_points && self.unit(0) == Some(0x7B) {
            return self.braced_escape();
        }
        let value = self.hex(4)?;
        if code_points && value & 0xFC00 == 0xD800 && self.looking_at("\\u") {
            let start = self.at;
            self.at += 2;
            match self.hex(4) {
                Some(low) if low & 0xFC00 == 0xDC00 => {
                    return Some(0x1_0000 + ((value & 0x3FF) << 10 | low & 0x3FF));
                }
                _ => self.at = start,
            }
        }
        Some(value)
    }

    fn braced_escape(&mut self) -> Option<u32> {
        let mut value: u32 = 0;
        let mut offset = 1;
        loop {
            let c = self.unit(offset).and_then(char::from_u32)?;
            if c == '}' && offset > 1 {
                self.at += offset + 1;
                return Some(value);
            }
            value = value * 16 + c.to_digit(16)?;
            if value > 0x10_FFFF {
                return None;
            }
            offset += 1;
        }
    }

    /// The set under i: closed over folding, where the flag is on.
    pub(super) fn fold_set(&mut self, set: CharSet) -> Parsed<CharSet> {
        self.charge(set.ranges().len())?;
        if !self.flags.ignore_case {
            return Ok(set);
        }
        if let Some((_, folded)) = self.folded.iter().find(|pair| pair.0 == set || pair.1 == set) {
            return Ok(folded.clone());
        }
        self.charge(FOLD_CHARGE)?;
        let folded = fold::close(&set, self.flags.code_points());
        self.folded.truncate(MOST_FOLDED - 1);
        self.folded.push_front((set, folded.clone()));
        Ok(folded)
    }
}

fn is_digit(unit: Option<u32>) -> bool {
    matches!(unit, Some(0x30..=0x39))
}
