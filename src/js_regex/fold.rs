//! Case folding as ECMA-262 defines it: `Canonicalize` without u, simple case folding with it.
//!
//! No table is stored. Without u the rule is the full upper-case mapping of the standard library,
//! refused where it is not one unit or would map a non-ASCII character to an ASCII one; with u
//! the ranges come from `regex-syntax`.

use std::sync::OnceLock;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::set::CharSet;
use super::tables::lookup;

/// `Canonicalize` of one UTF-16 unit under i without u.
pub(super) fn canonical_unit(unit: u32) -> u32 {
    let Some(c) = char::from_u32(unit) else { return unit };
    if c.is_ascii() {
        return u32::from(c.to_ascii_uppercase());
    }
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(up), None) if !up.is_ascii() && u32::from(up) <= 0xFFFF => u32::from(up),
        _ => unit,
    }
}

/// The simple case folding of a code point, as a stable representative of its class: the least
/// member, except that ASCII letters are represented in lower case.
pub(super) fn canonical_code_point(code: u32) -> u32 {
    let lower = |c: u32| char::from_u32(c).map_or(c, |c| u32::from(c.to_ascii_lowercase()));
    if code < 0x80 {
        return lower(code);
    }
    let table = code_points();
    let found = table.members.binary_search_by_key(&code, |m| m.0);
    found.map_or(code, |at| lower(table.class(table.members[at].1)[0]))
}

/// The set with every character that folds to a member's folding.
pub(super) fn close(set: &CharSet, unicode: bool) -> CharSet {
    if unicode {
        return code_points().close(set);
    }
    if set.ranges().last().is_none_or(|r| r.1 < 0x80) {
        // ASCII letters only fold among themselves.
        let others: Vec<u32> = (0x41..=0x5A)
            .chain(0x61..=0x7A)
            .filter(|&letter| !set.contains(letter) && set.contains(letter ^ 32))
            .collect();
        return set.with_sorted(&others);
    }
    units().close(set)
}

/// The classes of two and more characters with one canonical form.
struct Table {
    /// The members of all classes, sorted, each with the number of its class.
    members: Vec<(u32, usize)>,
    /// The members of each class, sorted.
    classes: Vec<Vec<u32>>,
}

/// Members of classes in a set up to which their classes are looked up one by one.
const FEW: usize = 64;

impl Table {
    fn new(classes: Vec<Vec<u32>>) -> Self {
        let numbered = classes.iter().enumerate();
        let mut members: Vec<(u32, usize)> =
            numbered.flat_map(|(i, class)| class.iter().map(move |&c| (c, i))).collect();
        members.sort_unstable();
        Table { members, classes }
    }

    fn class(&self, number: usize) -> &[u32] {
        &self.classes[number]
    }

    /// The members within each range of the set.
    fn hits(&self, set: &CharSet) -> impl Iterator<Item = &[(u32, usize)]> {
        let mut rest = &self.members[..];
        set.ranges().iter().map(move |&(low, high)| {
            let start = rest.partition_point(|m| m.0 < low);
            let count = rest[start..].partition_point(|m| m.0 <= high);
            let (found, tail) = rest[start..].split_at(count);
            rest = tail;
            found
        })
    }

    fn close(&self, set: &CharSet) -> CharSet {
        let mut count = 0;
        let few = set.ranges().len() <= FEW
            && self.hits(set).all(|found| {
                count += found.len();
                count <= FEW
            });
        if few {
            let classes = self.hits(set).flatten().flat_map(|m| self.class(m.1));
            let mut others: Vec<u32> = classes.copied().filter(|&c| !set.contains(c)).collect();
            others.sort_unstable();
            others.dedup();
            return set.with_sorted(&others);
        }
        // Two walks over all members: which classes are hit, then what they have outside.
        let mut hit = vec![false; self.classes.len()];
        let mut inside = vec![false; self.members.len()];
        let mut ranges = set.ranges().iter().peekable();
        for (&(c, class), inside) in self.members.iter().zip(&mut inside) {
            while ranges.next_if(|r| r.1 < c).is_some() {}
            *inside = ranges.peek().is_some_and(|r| r.0 <= c);
            hit[class] |= *inside;
        }
        let members = self.members.iter().zip(inside);
        let outside = members.filter(|((_, class), inside)| !inside && hit[*class]);
        set.with_sorted(&outside.map(|((c, _), _)| *c).collect::<Vec<u32>>())
    }
}

/// The table of a grammar, computed at the first use.
fn table(slot: &'static OnceLock<Table>, classes: fn() -> Vec<Vec<u32>>) -> &'static Table {
    if slot.get().is_none() {
        // Computed outside of the lock: a fork in between must not leave it held.
        let _ = slot.set(Table::new(classes()));
    }
    slot.get_or_init(|| Table::new(classes()))
}

fn units() -> &'static Table {
    static UNITS: OnceLock<Table> = OnceLock::new();
    table(&UNITS, || {
        let mut pairs: Vec<(u32, u32)> = (0..=0xFFFF).map(|u| (canonical_unit(u), u)).collect();
        pairs.sort_unstable();
        let classes = pairs.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1);
        classes.map(|run| run.iter().map(|p| p.1).collect()).collect()
    })
}

fn code_points() -> &'static Table {
    static CODE_POINTS: OnceLock<Table> = OnceLock::new();
    table(&CODE_POINTS, || {
        // What folds with another character has a case mapping; a test holds this against all.
        let cased = lookup("Changes_When_Casemapped").unwrap_or_default();
        let cased = cased.ranges().iter().flat_map(|&(low, high)| low..=high);
        // Each class once: at its least member.
        let classes = cased.map(|c| (c, folds_with(c)));
        classes.filter(|(c, class)| class.len() > 1 && class[0] == *c).map(|p| p.1).collect()
    })
}

/// The characters with the simple folding of the code point, sorted.
fn folds_with(code: u32) -> Vec<u32> {
    let Some(c) = char::from_u32(code) else { return vec![code] };
    let mut class = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
    match class.try_case_fold_simple() {
        Ok(()) => class.iter().flat_map(|r| u32::from(r.start())..=u32::from(r.end())).collect(),
        Err(_) => vec![code],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_fold_as_v8_folds_them() {
        for (a, b, same) in [
            ('k', '\u{212A}', false),
            ('s', 'ſ', false),
            ('å', '\u{212B}', false),
            ('ß', 'ẞ', false),
            ('ı', 'I', false),
            ('ᾳ', 'ᾼ', false),
            ('σ', 'ς', true),
            ('µ', 'μ', true),
            ('ǆ', 'ǅ', true),
        ] {
            assert_eq!(canonical_unit(a.into()) == canonical_unit(b.into()), same, "{a} {b}");
            assert_eq!(close(&CharSet::one(a.into()), false).contains(b.into()), same, "{a} {b}");
        }
    }

    #[test]
    fn code_points_fold_simply() {
        for (a, b, same) in
            [('k', '\u{212A}', true), ('s', 'ſ', true), ('ß', 'ẞ', true), ('ı', 'I', false)]
        {
            assert_eq!(canonical_code_point(a.into()) == canonical_code_point(b.into()), same);
            assert_eq!(close(&CharSet::one(a.into()), true).contains(b.into()), same, "{a} {b}");
        }
    }

    #[test]
    fn the_table_has_what_the_library_folds() {
        for code in 0..=0x10_FFFF {
            let table = code_points();
            let class = match table.members.binary_search_by_key(&code, |m| m.0) {
                Ok(at) => table.class(table.members[at].1).to_vec(),
                Err(_) => vec![code],
            };
            assert_eq!(class, folds_with(code), "{code:X}");
        }
    }

    #[test]
    fn large_sets_fold_as_small_ones_do() {
        for table in [units(), code_points()] {
            for low in (0..0x3000).step_by(7) {
                for length in [90, 700, 60_000] {
                    let set = CharSet::new(vec![(low, low + length), (0x1_0400, 0x1_0410)]);
                    let classes = table.members.iter().filter(|m| set.contains(m.0));
                    let classes = classes.flat_map(|m| table.class(m.1)).map(|&c| (c, c));
                    let want: CharSet = classes.chain(set.ranges().iter().copied()).collect();
                    assert_eq!(table.close(&set), want, "{low:X} {length}");
                }
            }
        }
    }
}
