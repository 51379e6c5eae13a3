//! Sets of characters: sorted, disjoint ranges of UTF-16 units or code points.

use std::sync::Arc;

/// A set of characters, kept as sorted ranges that neither touch nor overlap. Copies share them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct CharSet {
    ranges: Arc<[(u32, u32)]>,
}

impl CharSet {
    /// The set of the given ranges, in any order.
    pub(super) fn new(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort_unstable();
        let mut out: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (low, high) in ranges {
            match out.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => out.push((low, high)),
            }
        }
        CharSet { ranges: out.into() }
    }

    /// The set of one character.
    pub(super) fn one(c: u32) -> Self {
        CharSet { ranges: [(c, c)].into() }
    }

    /// The ranges, sorted.
    pub(super) fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The only member, where there is exactly one.
    pub(super) fn single(&self) -> Option<u32> {
        match self.ranges[..] {
            [(low, high)] if low == high => Some(low),
            _ => None,
        }
    }

    pub(super) fn contains(&self, c: u32) -> bool {
        let after = self.ranges.partition_point(|r| r.0 <= c);
        after > 0 && self.ranges[after - 1].1 >= c
    }

    /// True where the set holds some character of the range.
    pub(super) fn overlaps(&self, low: u32, high: u32) -> bool {
        let at = self.ranges.partition_point(|r| r.1 < low);
        self.ranges.get(at).is_some_and(|r| r.0 <= high)
    }

    /// The set and sorted members that it lacks.
    pub(super) fn with_sorted(&self, others: &[u32]) -> Self {
        if others.is_empty() {
            return self.clone();
        }
        let mut out: Vec<(u32, u32)> = Vec::with_capacity(self.ranges.len() + others.len());
        let mut others = others.iter().copied().peekable();
        let mut ranges = self.ranges.iter().copied().peekable();
        loop {
            let (low, high) = match (ranges.peek(), others.peek()) {
                (Some(&range), other) if other.is_none_or(|&c| range.0 < c) => {
                    ranges.next();
                    range
                }
                (_, Some(&c)) => {
                    others.next();
                    (c, c)
                }
                _ => return CharSet { ranges: out.into() },
            };
            match out.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => out.push((low, high)),
            }
        }
    }

    /// True where the set holds every character up to `max`.
    pub(super) fn is_full(&self, max: u32) -> bool {
        matches!(self.ranges[..], [(0, high)] if high >= max)
    }

    /// The members that are not in this set, up to `max`.
    pub(super) fn complement(&self, max: u32) -> Self {
        let mut out = Vec::with_capacity(self.ranges.len() + 1);
        let mut next = 0;
        for &(low, high) in &*self.ranges {
            if low > next {
                out.push((next, low - 1));
            }
            next = high.saturating_add(1);
        }
        if next <= max {
            out.push((next, max));
        }
        CharSet { ranges: out.into() }
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        CharSet::new(self.ranges.iter().chain(other.ranges()).copied().collect())
    }

    pub(super) fn intersection(&self, other: &Self) -> Self {
        let (mut a, mut b) = (self.ranges.iter().peekable(), other.ranges.iter().peekable());
        let mut out = Vec::new();
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            let (low, high) = (x.0.max(y.0), x.1.min(y.1));
            if low <= high {
                out.push((low, high));
            }
            if x.1 < y.1 {
                a.next()
            } else {
                b.next()
            };
        }
        CharSet { ranges: out.into() }
    }

    pub(super) fn difference(&self, other: &Self) -> Self {
        self.intersection(&other.complement(0x10_FFFF))
    }
}

impl FromIterator<(u32, u32)> for CharSet {
    fn from_iter<I: IntoIterator<Item = (u32, u32)>>(ranges: I) -> Self {
        CharSet::new(ranges.into_iter().collect())
    }
}

/// `\d`.
pub(super) fn digit() -> CharSet {
    CharSet { ranges: [(0x30, 0x39)].into() }
}

/// `\w` without the two letters that `iu` adds.
pub(super) fn word() -> CharSet {
    CharSet { ranges: [(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)].into() }
}

/// `\s`: `WhiteSpace` and `LineTerminator`.
pub(super) fn space() -> CharSet {
    CharSet {
        ranges: [
            (0x09, 0x0D),
            (0x20, 0x20),
            (0xA0, 0xA0),
            (0x1680, 0x1680),
            (0x2000, 0x200A),
            (0x2028, 0x2029),
            (0x202F, 0x202F),
            (0x205F, 0x205F),
            (0x3000, 0x3000),
            (0xFEFF, 0xFEFF),
        ]
        .into(),
    }
}

/// The line terminators, which `.` does not match.
pub(super) fn line_end() -> CharSet {
    CharSet { ranges: [(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)].into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_operations_agree_with_membership() {
        let a = CharSet::new(vec![(5, 9), (1, 2), (10, 12), (20, 30)]);
        let b = CharSet::new(vec![(2, 6), (12, 25), (40, 40)]);
        assert_eq!(a.ranges(), [(1, 2), (5, 12), (20, 30)]);
        for c in 0..60 {
            let (x, y) = (a.contains(c), b.contains(c));
            assert_eq!(a.union(&b).contains(c), x || y);
            assert_eq!(a.intersection(&b).contains(c), x && y);
            assert_eq!(a.difference(&b).contains(c), x && !y);
            assert_eq!(a.complement(50).contains(c), !x && c <= 50);
        }
        assert!(CharSet::default().complement(9).is_full(9));
        assert_eq!(CharSet::one(7).single(), Some(7));
    }
}
