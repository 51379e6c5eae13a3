//! Which failure details are most frequent, in bounded memory.

use std::collections::HashMap;

/// At most so many different details are counted.
const DIFFERENT: usize = 4096;

/// Of each detail so many bytes are kept: one may quote a long pattern.
const BYTES: usize = 512;

/// Details of failures and the number of rows that had each.
#[derive(Default)]
pub(super) struct FrequentDetails {
    by_scorer: Vec<HashMap<String, u64>>,
    different: usize,
}

impl FrequentDetails {
    /// Counts rows in which a scorer failed with a detail.
    pub(super) fn add(&mut self, scorer: usize, detail: &str, rows: u64) {
        let end = (0..=BYTES.min(detail.len())).rev().find(|&at| detail.is_char_boundary(at));
        let detail = &detail[..end.unwrap_or(0)];
        if self.by_scorer.len() <= scorer {
            self.by_scorer.resize_with(scorer + 1, HashMap::new);
        }
        let details = &mut self.by_scorer[scorer];
        if let Some(sum) = details.get_mut(detail) {
            *sum += rows;
        } else if self.different < DIFFERENT {
            self.different += 1;
            details.insert(detail.to_owned(), rows);
        }
    }

    /// Adds other counts.
    pub(super) fn merge(&mut self, other: &FrequentDetails) {
        for (scorer, details) in other.by_scorer.iter().enumerate() {
            for (detail, &rows) in details {
                self.add(scorer, detail, rows);
            }
        }
    }

    /// The most frequent ones: scorer, detail, rows.
    pub(super) fn most(&self, count: usize) -> Vec<(usize, &str, u64)> {
        let scorers = self.by_scorer.iter().enumerate();
        let mut all: Vec<(usize, &str, u64)> = scorers
            .flat_map(|(scorer, details)| {
                details.iter().map(move |(d, &n)| (scorer, d.as_str(), n))
            })
            .collect();
        all.sort_by(|a, b| b.2.cmp(&a.2).then(a.0.cmp(&b.0)).then(a.1.cmp(b.1)));
        all.truncate(count);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_bounded_and_sorted() {
        let mut details = FrequentDetails::default();
        for i in 0..DIFFERENT + 10 {
            details.add(1, &format!("length {i}"), 1);
        }
        details.add(1, "length 7", 2);
        details.add(0, &"é".repeat(400), 1);
        let mut all = FrequentDetails::default();
        all.add(0, "x", 2);
        all.merge(&details);
        assert_eq!(all.most(2), [(1, "length 7", 3), (0, "x", 2)]);
        assert!(all.different <= DIFFERENT);
    }
}
