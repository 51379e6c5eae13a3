//! Unicode properties, from the tables of `regex-syntax`.

use regex_syntax::hir::{Class, HirKind};

use super::set::CharSet;

/// The ranges that the tables of `regex-syntax` have.
pub(super) fn lookup(query: &str) -> Option<CharSet> {
    let hir = regex_syntax::parse(&format!(r"\p{{{query}}}")).ok()?;
    match hir.into_kind() {
        HirKind::Class(Class::Unicode(class)) => {
            Some(class.iter().map(|r| (u32::from(r.start()), u32::from(r.end()))).collect())
        }
        // A property of one character, such as `Zl`.
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            Some(text.chars().map(|c| (u32::from(c), u32::from(c))).collect())
        }
        _ => None,
    }
}
