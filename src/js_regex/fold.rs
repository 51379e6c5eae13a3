//! Case folding as ECMA-262 defines it: `Canonicalize` without u, simple case folding with it.
//!
//! No table is stored. Without u the rule is the full upper-case mapping of the standard library,
//! refused where it is not one unit or would map a non-ASCII character to an ASCII one; with u
//! the ranges come from `regex-syntax`.

use std::sync::OnceLock;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::set::CharSet;

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

/// The simple case folding of a code point, as a stable representative of its class.
pub(super) fn canonical_code_point(code: u32) -> u32 {
    if code < 0x80 {
        return char::from_u32(code).map_or(code, |c| u32::from(c.to_ascii_lowercase()));
    }
    // The class of a code point has at most four members; its least one stands for it, except
    // that ASCII letters are represented in lower case, as above.
    let class = close(&CharSet::one(code), true);
    let least = class.ranges().first().map_or(code, |r| r.0);
    if least < 0x80 { canonical_code_point(least) } else { least }
}

/// The set with every character that folds to a member's folding.
pub(super) fn close(set: &CharSet, unicode: bool) -> CharSet {
    if unicode { close_code_points(set) } else { close_units(set) }
}

fn close_code_points(set: &CharSet) -> CharSet {
    let scalar = |low: u32, high: u32| {
        let start = if (0xD800..0xE000).contains(&low) { 0xE000 } else { low };
        let end = if (0xD800..0xE000).contains(&high) { 0xD7FF } else { high };
        Some(ClassUnicodeRange::new(char::from_u32(start)?, char::from_u32(end)?))
            .filter(|_| start <= end)
    };
    let ranges = set.ranges().iter().filter_map(|&(low, high)| scalar(low, high));
    let mut class = ClassUnicode::new(ranges);
    if class.try_case_fold_simple().is_err() {
        return set.clone();
    }
    let folded = class.iter().map(|r| (u32::from(r.start()), u32::from(r.end())));
    folded.chain(set.ranges().iter().copied()).collect()
}

fn close_units(set: &CharSet) -> CharSet {
    if set.is_full(0xFFFF) {
        return set.clone();
    }
    let mut out = set.ranges().to_vec();
    if set.ranges().last().is_none_or(|r| r.1 < 0x80) {
        // ASCII letters only fold among themselves.
        for letter in 0x41..=0x5A {
            if set.contains(letter) || set.contains(letter + 32) {
                out.extend([(letter, letter), (letter + 32, letter + 32)]);
            }
        }
        return CharSet::new(out);
    }
    for class in unit_classes() {
        if class.iter().any(|&c| set.contains(c)) {
            out.extend(class.iter().map(|&c| (c, c)));
        }
    }
    CharSet::new(out)
}

/// The classes of two and more units with one canonical form, computed at the first use.
fn unit_classes() -> &'static [Vec<u32>] {
    static CLASSES: OnceLock<Vec<Vec<u32>>> = OnceLock::new();
    if CLASSES.get().is_none() {
        // Computed outside of the lock: a fork in between must not leave it held.
        let mut pairs: Vec<(u32, u32)> = (0..=0xFFFF).map(|u| (canonical_unit(u), u)).collect();
        pairs.sort_unstable();
        let classes = pairs.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1);
        let _ = CLASSES.set(classes.map(|run| run.iter().map(|p| p.1).collect()).collect());
    }
    CLASSES.get().map_or(&[], Vec::as_slice)
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
}
