//! Classes under v: nested classes, `--`, `&&` and strings.
//!
//! ```text
//! Class   := "[" "^"? (Union | Operand ("--" Operand)+ | Operand ("&&" Operand)+) "]"
//! Union   := (Operand | Char "-" Char)*
//! Operand := Class | "\q{" Char* ("|" Char*)* "}" | Escape | Char
//! ```

use super::class::{INVALID_CLASS, OUT_OF_ORDER, UNTERMINATED};
use super::class_set::ClassSet;
use super::parser::{Parsed, Parser};
use crate::js_regex::set::CharSet;

const INVALID_CHARACTER: &str = "Invalid character in character class";
const INVALID_OPERATION: &str = "Invalid set operation in character class";
const NEGATED_STRINGS: &str = "Negated character class may contain strings";

enum Operand {
    Char(u32),
    Class(ClassSet),
}

impl Parser<'_> {
    /// A class of the v grammar; the cursor is at its `[`.
    pub(super) fn nested_class(&mut self) -> Parsed<ClassSet> {
        self.at += 1;
        self.enter()?;
        let negated = self.eat('^');
        let mut class = self.class_contents(negated)?;
        self.depth -= 1;
        if negated {
            if class.may_contain_strings {
                return Err(NEGATED_STRINGS);
            }
            class.set = class.set.complement(self.flags.max_char());
        }
        class.set = self.fold_set(class.set)?;
        Ok(class)
    }

    fn class_contents(&mut self, negated: bool) -> Parsed<ClassSet> {
        if self.eat(']') {
            return Ok(ClassSet::new(CharSet::default()));
        }
        let first = self.operand()?;
        if self.looking_at("--") || self.looking_at("&&") {
            return self.operation(first, negated);
        }
        self.class_union(first)
    }

    fn class_union(&mut self, first: Operand) -> Parsed<ClassSet> {
        let mut class = ClassSet::new(CharSet::default());
        let mut ranges = Vec::new();
        let mut last = Some(first);
        loop {
            match self.unit(0) {
                None => return Err(UNTERMINATED),
                Some(0x5D) => break,
                Some(0x2D) => {
                    if self.looking_at("--") {
                        return Err(INVALID_OPERATION);
                    }
                    self.at += 1;
                    let Some(Operand::Char(low)) = last.take() else { return Err(INVALID_CLASS) };
                    let Operand::Char(high) = self.operand()? else { return Err(INVALID_CLASS) };
                    if low > high {
                        return Err(OUT_OF_ORDER);
                    }
                    ranges.push((low, high));
                }
                Some(_) => {
                    self.add_operand(&mut class, last.take(), &mut ranges)?;
                    last = Some(self.operand()?);
                }
            }
        }
        self.at += 1;
        self.add_operand(&mut class, last, &mut ranges)?;
        class.set = self.fold_set(CharSet::new(ranges))?;
        Ok(class)
    }

    /// Adds an operand of a union; its characters go to the ranges, which are folded later.
    fn add_operand(
        &mut self,
        class: &mut ClassSet,
        operand: Option<Operand>,
        ranges: &mut Vec<(u32, u32)>,
    ) -> Parsed<()> {
        match operand {
            Some(Operand::Char(c)) => ranges.push((c, c)),
            Some(Operand::Class(mut other)) => {
                self.add_set(&other.set, ranges)?;
                // The fewer strings go to the more: nested classes hand theirs on at each level.
                if class.strings.len() < other.strings.len() {
                    std::mem::swap(&mut class.strings, &mut other.strings);
                }
                class.strings.extend(other.strings);
                class.ignore_case |= other.ignore_case;
                class.may_contain_strings |= other.may_contain_strings;
            }
            None => {}
        }
        Ok(())
    }

    /// `A--B--C` or `A&&B&&C`, after its first operand.
    fn operation(&mut self, first: Operand, negated: bool) -> Parsed<ClassSet> {
        let operator = if self.looking_at("--") { "--" } else { "&&" };
        let mut class = first.into_class();
        if operator == "--" && negated && class.may_contain_strings {
            return Err(NEGATED_STRINGS);
        }
        while !self.eat(']') {
            if self.unit(0).is_none() {
                return Err(UNTERMINATED);
            }
            if !self.looking_at(operator) {
                return Err(INVALID_OPERATION);
            }
            self.at += 2;
            if operator == "&&" && self.unit(0) == Some(0x26) {
                return Err(INVALID_CHARACTER);
            }
            let operand = self.operand()?;
            let other = operand.into_class();
            self.charge(class.set.ranges().len() + other.set.ranges().len())?;
            if operator == "--" {
                class.set = class.set.difference(&other.set);
                for string in &other.strings {
                    class.strings.remove(string);
                }
            } else {
                class.set = class.set.intersection(&other.set);
                class.strings.retain(|s| other.strings.contains(s));
                class.may_contain_strings &= other.may_contain_strings;
            }
        }
        Ok(class)
    }

    fn operand(&mut self) -> Parsed<Operand> {
        match self.unit(0) {
            None => Err(UNTERMINATED),
            Some(0x5B) => self.nested_class().map(Operand::Class),
            Some(0x5C) if self.unit(1) == Some(0x71) => self.strings().map(Operand::Class),
            Some(0x5C) => {
                self.at += 1;
                if let Some(class) = self.class_escape(true)? {
                    return Ok(Operand::Class(class));
                }
                self.at -= 1;
                self.set_character().map(Operand::Char)
            }
            Some(_) => self.set_character().map(Operand::Char),
        }
    }

    fn set_character(&mut self) -> Parsed<u32> {
        if self.eat('\\') {
            if self.eat('b') {
                return Ok(8);
            }
            return self.character_escape(true);
        }
        let unit = self.unit(0).and_then(char::from_u32).unwrap_or('\u{FFFD}');
        if "()[]{}/-\\|".contains(unit) {
            return Err(INVALID_CHARACTER);
        }
        if self.unit(0) == self.unit(1) && "&!#$%*+,.:;<=>?@^`~".contains(unit) {
            return Err(INVALID_OPERATION);
        }
        self.bump().ok_or(UNTERMINATED)
    }

    /// `\q{ab|c|}`; the cursor is at the backslash.
    fn strings(&mut self) -> Parsed<ClassSet> {
        self.at += 2;
        if !self.eat('{') {
            return Err("Invalid escape");
        }
        let mut class = ClassSet::new(CharSet::default());
        class.ignore_case = self.flags.ignore_case;
        let mut chars = Vec::new();
        let mut string = Vec::new();
        loop {
            match self.unit(0) {
                None => return Err(INVALID_CHARACTER),
                Some(0x7D | 0x7C) => {
                    let text = std::mem::take(&mut string);
                    match text[..] {
                        [c] if class.ignore_case => chars.push(lower(c)),
                        [c] => chars.push((c, c)),
                        _ => {
                            class.add_string(&text);
                        }
                    }
                    if self.eat('}') {
                        break;
                    }
                    self.at += 1;
                }
                Some(_) => string.push(self.set_character()?),
            }
        }
        class.set = CharSet::new(chars);
        Ok(class)
    }
}

/// The character in lower case, as a range, where that is one character.
fn lower(c: u32) -> (u32, u32) {
    let mut lower = char::from_u32(c).map(char::to_lowercase).into_iter().flatten();
    match (lower.next(), lower.next()) {
        (Some(l), None) => (l.into(), l.into()),
        _ => (c, c),
    }
}

impl Operand {
    fn into_class(self) -> ClassSet {
        match self {
            Operand::Char(c) => ClassSet::new(CharSet::one(c)),
            Operand::Class(class) => class,
        }
    }
}
