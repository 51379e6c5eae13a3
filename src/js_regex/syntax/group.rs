//! Groups, their names, and references to them.

use super::super::ast::Node;
use super::parser::{MAX_GROUPS, Parsed, Parser, Scan};
use crate::js_regex::ast::Look;

const INVALID_NAME: &str = "Invalid capture group name";

/// References by name are numbered from here until the groups are known.
const NAMED: u32 = 1 << 24;

impl Parser<'_> {
    /// A group of any kind; the cursor is at its `(`.
    pub(super) fn group(&mut self) -> Parsed<Node> {
        self.at += 1;
        self.enter()?;
        let node = if self.unit(0) == Some(0x3F) { self.special_group()? } else { self.capture()? };
        self.depth -= 1;
        Ok(node)
    }

    fn special_group(&mut self) -> Parsed<Node> {
        for (opening, ahead, negative) in
            [("?=", true, false), ("?!", true, true), ("?<=", false, false), ("?<!", false, true)]
        {
            if self.looking_at(opening) {
                self.at += opening.len();
                let body = Box::new(self.group_body()?);
                return Ok(Node::Look(Look { ahead, negative, body }));
            }
        }
        if self.looking_at("?:") {
            self.at += 2;
            return self.group_body();
        }
        if !self.looking_at("?<") {
            return Err("Invalid group");
        }
        self.at += 2;
        self.capture_with_name()
    }

    fn capture_with_name(&mut self) -> Parsed<Node> {
        // The group counts before its name is read, and its name after it is closed, as in V8.
        self.has_names = true;
        self.count_group()?;
        let name = self.name()?;
        let number = self.groups;
        self.open.push((number, name));
        let node = self.capture_body(number)?;
        let (_, name) = self.open.pop().unwrap_or_default();
        if self.names.iter().any(|(known, _)| *known == name) {
            return Err("Duplicate capture group name");
        }
        self.names.push((name, number));
        Ok(node)
    }

    fn count_group(&mut self) -> Parsed<()> {
        if self.groups >= MAX_GROUPS {
            return Err("Too many captures");
        }
        self.groups += 1;
        Ok(())
    }

    fn capture(&mut self) -> Parsed<Node> {
        self.count_group()?;
        self.open.push((self.groups, Vec::new()));
        let node = self.capture_body(self.groups)?;
        self.open.pop();
        Ok(node)
    }

    fn capture_body(&mut self, number: u32) -> Parsed<Node> {
        Ok(Node::Group(Box::new(self.group_body()?), number))
    }

    fn group_body(&mut self) -> Parsed<Node> {
        let body = self.disjunction()?;
        if self.eat(')') { Ok(body) } else { Err("Unterminated group") }
    }

    /// A group name up to its `>`; the cursor is after the `<`.
    fn name(&mut self) -> Parsed<Vec<u32>> {
        let mut name = Vec::new();
        loop {
            let (mut c, width) = self.char_at(self.at, true).ok_or(INVALID_NAME)?;
            self.at += width;
            if c == u32::from('\\') && self.eat('u') {
                c = self.unicode_escape(true).ok_or("Invalid Unicode escape")?;
            } else if c == u32::from('>') && !name.is_empty() {
                return Ok(name);
            }
            let c = char::from_u32(c).ok_or(INVALID_NAME)?;
            let fits = if name.is_empty() { is_name_start(c) } else { is_name_part(c) };
            if !fits {
                return Err(INVALID_NAME);
            }
            name.push(u32::from(c));
        }
    }

    /// What follows `\k` where it is a reference.
    pub(super) fn named_reference(&mut self) -> Parsed<Node> {
        if !self.eat('<') {
            return Err("Invalid named reference");
        }
        let name = self.name()?;
        if self.open.iter().any(|(_, open)| *open == name) {
            return Ok(Node::Empty);
        }
        self.has_backref = true;
        self.references.push(name);
        let place = u32::try_from(self.references.len() - 1).unwrap_or(0);
        Ok(Node::BackRef(NAMED + place))
    }

    /// `\1` and so on, where that many groups exist; the cursor is at the first digit.
    pub(super) fn numbered_reference(&mut self) -> Option<Node> {
        let start = self.at;
        let mut number: u32 = 0;
        while let Some(digit) = self.unit(0).and_then(char::from_u32).and_then(|c| c.to_digit(10)) {
            number = number * 10 + digit;
            self.at += 1;
            if number > MAX_GROUPS {
                break;
            }
        }
        if number > self.groups && number > self.scan().groups {
            self.at = start;
            return None;
        }
        if self.open.iter().any(|(open, _)| *open == number) {
            // Nothing can have been captured yet.
            return Some(Node::Empty);
        }
        self.has_backref = true;
        Some(Node::BackRef(number))
    }

    /// True where `\k` is a reference and not a letter.
    pub(super) fn has_names(&mut self) -> bool {
        self.has_names || self.scan().has_names
    }

    /// Counts the groups of the rest of the pattern, as V8 does.
    fn scan(&mut self) -> Scan {
        if let Some(scan) = self.scan {
            return scan;
        }
        let mut scan = Scan { groups: self.groups, has_names: self.has_names };
        let mut rest = self.units[self.at.min(self.units.len())..].iter();
        let mut classes: u32 = 0;
        while let Some(&unit) = rest.next() {
            match u8::try_from(unit).unwrap_or(0) {
                b'\\' => drop(rest.next()),
                b'[' if classes == 0 || self.flags.unicode_sets => classes += 1,
                b']' => classes = classes.saturating_sub(1),
                b'(' if classes == 0 => match rest.as_slice() {
                    [0x3F, 0x3C, after, ..] if ![0x3D, 0x21].contains(after) => {
                        scan.groups += 1;
                        scan.has_names = true;
                    }
                    [0x3F, ..] => {}
                    _ => scan.groups += 1,
                },
                _ => {}
            }
        }
        self.scan = Some(scan);
        scan
    }

    /// Puts group numbers in the place of names. Every name must exist, also one that a dropped
    /// node had.
    pub(super) fn resolve_names(&self, root: &mut Node) -> Parsed<()> {
        let number = |name| self.names.iter().find(|(known, _)| known == name).map(|n| n.1);
        let numbers: Option<Vec<u32>> = self.references.iter().map(number).collect();
        let numbers = numbers.ok_or("Invalid named capture referenced")?;
        if !numbers.is_empty() {
            replace_names(root, &numbers);
        }
        Ok(())
    }
}

fn replace_names(node: &mut Node, numbers: &[u32]) {
    match node {
        Node::BackRef(number) if *number >= NAMED => {
            let place = usize::try_from(*number - NAMED).unwrap_or(usize::MAX);
            *number = numbers.get(place).copied().unwrap_or(0);
        }
        Node::Cat(nodes) | Node::Alt(nodes) => {
            for node in nodes {
                replace_names(node, numbers);
            }
        }
        Node::Group(body, _) => replace_names(body, numbers),
        Node::Look(look) => replace_names(&mut look.body, numbers),
        Node::Repeat(repeat) => replace_names(&mut repeat.body, numbers),
        _ => {}
    }
}

fn is_name_start(c: char) -> bool {
    match c {
        '$' | '_' => true,
        _ if c.is_ascii() => c.is_ascii_alphabetic(),
        _ => super::property::binary("ID_Start").is_some_and(|set| set.contains(c.into())),
    }
}

fn is_name_part(c: char) -> bool {
    match c {
        '$' | '_' | '\u{200C}' | '\u{200D}' => true,
        _ if c.is_ascii() => c.is_ascii_alphanumeric(),
        _ => super::property::binary("ID_Continue").is_some_and(|set| set.contains(c.into())),
    }
}
