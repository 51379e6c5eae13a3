//! The flags of a pattern.

/// The flags `dgimsuvy`, as V8's `RegExp` constructor reads them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) has_indices: bool,
    pub(super) global: bool,
    pub(super) ignore_case: bool,
    pub(super) multiline: bool,
    pub(super) dot_all: bool,
    pub(super) unicode: bool,
    pub(super) unicode_sets: bool,
    pub(super) sticky: bool,
}

impl Flags {
    /// The flags of the text, or nothing for an unknown or repeated one, or for u with v.
    pub(super) fn parse(text: &str) -> Option<Flags> {
        let mut flags = Flags::default();
        for letter in text.chars() {
            let flag = match letter {
                'd' => &mut flags.has_indices,
                'g' => &mut flags.global,
                'i' => &mut flags.ignore_case,
                'm' => &mut flags.multiline,
                's' => &mut flags.dot_all,
                'u' => &mut flags.unicode,
                'v' => &mut flags.unicode_sets,
                'y' => &mut flags.sticky,
                _ => return None,
            };
            if std::mem::replace(flag, true) {
                return None;
            }
        }
        (!(flags.unicode && flags.unicode_sets)).then_some(flags)
    }

    /// True for u and for v: characters are code points.
    pub(super) fn code_points(self) -> bool {
        self.unicode || self.unicode_sets
    }

    /// The greatest character.
    pub(super) fn max_char(self) -> u32 {
        if self.code_points() { 0x10_FFFF } else { 0xFFFF }
    }

    /// The flags in the order in which V8 prints them.
    pub(super) fn sorted(self) -> String {
        let all = [
            (self.has_indices, 'd'),
            (self.global, 'g'),
            (self.ignore_case, 'i'),
            (self.multiline, 'm'),
            (self.dot_all, 's'),
            (self.unicode, 'u'),
            (self.unicode_sets, 'v'),
            (self.sticky, 'y'),
        ];
        all.iter().filter(|(on, _)| *on).map(|(_, letter)| letter).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_checked_and_sorted() {
        assert_eq!(Flags::parse("yvsmigd").unwrap().sorted(), "dgimsvy");
        for bad in ["gg", "x", "uv", "G", "i i"] {
            assert_eq!(Flags::parse(bad), None, "{bad}");
        }
    }
}
