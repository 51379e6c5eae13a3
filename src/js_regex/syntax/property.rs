//! `\p{…}` and `\P{…}` under u and v.

use super::class_set::ClassSet;
use super::parser::{Parsed, Parser};
use super::property_names::{BINARY, CATEGORIES, FLAGS, SCRIPTS, STRINGS, find};
use crate::js_regex::fold;
use crate::js_regex::set::CharSet;
use crate::js_regex::tables::lookup;

const UNSUPPORTED: &str = "Property is not supported";
const SURROGATES: (u32, u32) = (0xD800, 0xDFFF);

/// What a character of a string costs, as ranges: it becomes a node.
const STRING_CHARGE: usize = 64;

impl<'p> Parser<'p> {
    /// A property; the cursor is after the `p`.
    pub(super) fn property(&mut self, negated: bool, message: &'static str) -> Parsed<ClassSet> {
        let units: &'p [u16] = self.units;
        let rest = units.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|&unit| unit == 0x7D).unwrap_or(rest.len());
        let key = (&rest[..length], negated);
        let class = match self.properties.get(&key) {
            Some(class) => {
                self.at += length + 1;
                class.clone()
            }
            None => {
                let class = self.new_property(negated, message)?;
                self.properties.insert(key, class.clone());
                class
            }
        };
        self.charge(1 + STRING_CHARGE * class.strings.iter().map(Vec::len).sum::<usize>())?;
        Ok(class)
    }

    fn new_property(&mut self, negated: bool, message: &'static str) -> Parsed<ClassSet> {
        let (name, value) = self.property_text().ok_or(message)?;
        let is_binary = value.is_none() && find(CATEGORIES, &name).is_none();
        let mut class = match value {
            Some(value) => ClassSet::new(with_value(&name, &value).ok_or(message)??),
            None => self.lone_property(&name, negated).ok_or(message)??,
        };
        let max = self.flags.max_char();
        // u folds the complement, v complements the folded set. V8 reads a binary property, negated,
        // as its value No: it folds that.
        if self.flags.unicode_sets && !is_binary {
            class.set = self.fold_set(class.set)?;
        }
        if negated {
            class.set = class.set.complement(max);
        }
        class.set = self.fold_set(class.set)?;
        Ok(class)
    }

    /// `{Name}` or `{Name=Value}`.
    fn property_text(&mut self) -> Option<(String, Option<String>)> {
        if !self.eat('{') {
            return None;
        }
        let mut name = String::new();
        let mut value: Option<String> = None;
        while let Some(c) = self.unit(0).and_then(char::from_u32) {
            self.at += 1;
            match c {
                '}' => return Some((name, value)),
                '=' if value.is_none() => value = Some(String::new()),
                _ if c.is_ascii_alphanumeric() || c == '_' => {
                    value.as_mut().unwrap_or(&mut name).push(c);
                }
                _ => return None,
            }
        }
        None
    }

    fn lone_property(&self, name: &str, negated: bool) -> Option<Parsed<ClassSet>> {
        if let Some(category) = find(CATEGORIES, name) {
            return Some(Ok(ClassSet::new(general_category(category)?)));
        }
        if let Some(name) = find(BINARY, name) {
            return Some(binary(name).map(ClassSet::new).ok_or(UNSUPPORTED));
        }
        if !self.flags.unicode_sets || negated || !STRINGS.contains(&name) {
            return None;
        }
        Some(strings(name, self.flags.ignore_case).ok_or(UNSUPPORTED))
    }
}

fn with_value(name: &str, value: &str) -> Option<Parsed<CharSet>> {
    match name {
        "General_Category" | "gc" => Some(Ok(general_category(find(CATEGORIES, value)?)?)),
        "Script" | "sc" => Some(script("sc", find(SCRIPTS, value)?).ok_or(UNSUPPORTED)),
        "Script_Extensions" | "scx" => {
            Some(script("scx", find(SCRIPTS, value)?).ok_or(UNSUPPORTED))
        }
        _ => None,
    }
}

fn general_category(name: &str) -> Option<CharSet> {
    let surrogates = CharSet::new(vec![SURROGATES]);
    match name {
        "Cs" => Some(surrogates),
        "C" => Some(lookup("gc=C")?.union(&surrogates)),
        _ => lookup(&format!("gc={name}")),
    }
}

fn script(property: &str, name: &str) -> Option<CharSet> {
    if name != "Unknown" {
        return lookup(&format!("{property}={name}"));
    }
    // Unknown is what has no script; scripts do not overlap.
    let known = SCRIPTS.split_ascii_whitespace().filter_map(|entry| {
        let name = entry.split('/').next()?;
        if name == "Unknown" { None } else { lookup(&format!("sc={name}")) }
    });
    let ranges: Vec<_> = known.flat_map(|set| set.ranges().to_vec()).collect();
    Some(CharSet::new(ranges).complement(0x10_FFFF))
}

/// A binary property by its long name.
pub(super) fn binary(name: &str) -> Option<CharSet> {
    match name {
        "Any" => Some(CharSet::default().complement(0x10_FFFF)),
        "Assigned" => Some(general_category("Cn")?.complement(0x10_FFFF)),
        "ASCII" => Some(CharSet::new(vec![(0, 0x7F)])),
        _ => lookup(name),
    }
}

/// The properties of strings that can be computed; the ZWJ sequences need a table.
fn strings(name: &str, ignore_case: bool) -> Option<ClassSet> {
    let mut class = ClassSet::folding(ignore_case);
    match name {
        "Basic_Emoji" => {
            let shown = lookup("Emoji_Presentation")?;
            let text =
                lookup("Emoji")?.difference(&shown).difference(&CharSet::new(vec![(0, 0x7F)]));
            class.set = shown.difference(&lookup("Regional_Indicator")?);
            each(&text, |c| class.add_string(&[c, 0xFE0F]));
        }
        "Emoji_Keycap_Sequence" => {
            for c in "0123456789#*".chars() {
                class.add_string(&[u32::from(c), 0xFE0F, 0x20E3]);
            }
        }
        "RGI_Emoji_Flag_Sequence" => {
            for region in FLAGS.split_ascii_whitespace() {
                let letters = region.bytes().map(|b| 0x1_F1E6 + u32::from(b) - u32::from(b'A'));
                class.add_string(&letters.collect::<Vec<u32>>());
            }
        }
        "RGI_Emoji_Modifier_Sequence" => {
            each(&lookup("Emoji_Modifier_Base")?, |base| {
                for tone in 0x1_F3FB..=0x1_F3FF {
                    class.add_string(&[base, tone]);
                }
            });
        }
        "RGI_Emoji_Tag_Sequence" => {
            for region in ["gbeng", "gbsct", "gbwls"] {
                let tags = region.bytes().map(|b| 0xE_0000 + u32::from(b));
                let flag: Vec<u32> =
                    std::iter::once(0x1_F3F4).chain(tags).chain([0xE_007F]).collect();
                class.add_string(&flag);
            }
        }
        _ => return None,
    }
    if ignore_case {
        class.set = fold::close(&class.set, true);
    }
    Some(class)
}

fn each(set: &CharSet, mut visit: impl FnMut(u32)) {
    for &(low, high) in set.ranges() {
        (low..=high).for_each(&mut visit);
    }
}
