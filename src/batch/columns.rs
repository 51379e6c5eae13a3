//! The results of many rows, column by column.

use crate::gate::Gate;
use crate::json::Severity;
use crate::result::{Decision, GateResult, Outcome, Reason, Verdict};

/// Results by column; a row is the same index in each.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    /// 0 block, 1 pass, 2 undecided.
    pub verdict: Vec<u8>,
    /// The combined score, in [0, 1].
    pub combined: Vec<f64>,
    /// 0 for none, else the code of a [`Reason`].
    pub reason: Vec<u8>,
    /// Per scorer, 1 where it passed.
    pub passed: Vec<Vec<u8>>,
    /// Per scorer, its score; 0 for a missing text.
    pub score: Vec<Vec<f64>>,
    details: Details,
    /// (row, scorer, severity) of texts that were repaired before they were checked, in order.
    repaired: Vec<(u32, u32, u8)>,
}

/// The details of failures: texts in one string, by row and scorer.
#[derive(Clone, Debug, Default, PartialEq)]
struct Details {
    /// (row, scorer, start, end), in order.
    places: Vec<(u32, u32, usize, usize)>,
    text: String,
    /// Where each scorer's latest detail stands: many failures say the same.
    latest: Vec<(usize, usize)>,
}

impl Details {
    fn push(&mut self, row: u32, scorer: u32, detail: &str) {
        let at = scorer as usize;
        if self.latest.len() <= at {
            self.latest.resize(at + 1, (0, 0));
        }
        let (mut start, mut end) = self.latest[at];
        if self.text.get(start..end) != Some(detail) {
            start = self.text.len();
            self.text.push_str(detail);
            end = self.text.len();
            self.latest[at] = (start, end);
        }
        self.places.push((row, scorer, start, end));
    }

    fn get(&self, row: u32, scorer: u32) -> Option<&str> {
        let at = self.places.binary_search_by_key(&(row, scorer), |p| (p.0, p.1)).ok()?;
        let (_, _, start, end) = self.places[at];
        self.text.get(start..end)
    }
}

/// Columns as plain lists.
pub type Parts = (
    Vec<u8>,
    Vec<f64>,
    Vec<u8>,
    Vec<Vec<u8>>,
    Vec<Vec<f64>>,
    Vec<(u32, u32, String)>,
    Vec<(u32, u32, u8)>,
);

/// Counts over rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Rows by verdict: block, pass, undecided.
    pub verdicts: [u64; 3],
    /// Rows without text, which are among the blocked.
    pub missing: u64,
    /// Rows that each scorer passed.
    pub passed: Vec<u64>,
    /// Rows that each scorer passed after a repair.
    pub repaired: Vec<u64>,
}

impl Totals {
    /// No rows yet, for a gate with so many scorers.
    pub(super) fn new(scorers: usize) -> Self {
        let none = vec![0; scorers];
        Totals { passed: none.clone(), repaired: none, ..Totals::default() }
    }
}

impl Columns {
    /// Columns without rows, for a gate with so many scorers.
    pub fn new(scorers: usize) -> Self {
        Columns {
            verdict: Vec::new(),
            combined: Vec::new(),
            reason: Vec::new(),
            passed: vec![Vec::new(); scorers],
            score: vec![Vec::new(); scorers],
            details: Details::default(),
            repaired: Vec::new(),
        }
    }

    pub(super) fn reserve(&mut self, rows: usize) {
        self.verdict.reserve(rows);
        self.combined.reserve(rows);
        self.reason.reserve(rows);
        self.passed.iter_mut().for_each(|column| column.reserve(rows));
        self.score.iter_mut().for_each(|column| column.reserve(rows));
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.verdict.len()
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.verdict.is_empty()
    }

    fn row(&self) -> u32 {
        u32::try_from(self.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn push(&mut self, decision: &Decision, outcomes: &[Outcome<'_>], details: bool) {
        let row = self.row();
        self.push_decision(decision);
        for (i, outcome) in outcomes.iter().enumerate() {
            self.passed[i].push(u8::from(outcome.passed));
            self.score[i].push(outcome.score);
            let scorer = u32::try_from(i).unwrap_or(u32::MAX);
            if details && let Some(detail) = &outcome.detail {
                self.details.push(row, scorer, detail);
            }
            self.repaired.extend(outcome.repaired.map(|worst| (row, scorer, worst as u8)));
        }
    }

    pub(super) fn push_missing(&mut self) {
        self.push_decision(&Decision::missing_input());
        self.passed.iter_mut().for_each(|column| column.push(0));
        self.score.iter_mut().for_each(|column| column.push(0.0));
    }

    fn push_decision(&mut self, decision: &Decision) {
        self.verdict.push(decision.verdict as u8);
        self.combined.push(decision.combined);
        self.reason.push(decision.reason.map_or(0, |reason| reason as u8));
    }

    /// Appends the rows of other columns of the same gate.
    pub fn append(&mut self, other: Columns) {
        let base = self.row();
        self.verdict.extend(other.verdict);
        self.combined.extend(other.combined);
        self.reason.extend(other.reason);
        self.passed.iter_mut().zip(other.passed).for_each(|(a, b)| a.extend(b));
        self.score.iter_mut().zip(other.score).for_each(|(a, b)| a.extend(b));
        let from = self.details.text.len();
        self.details.text.push_str(&other.details.text);
        let moved = other.details.places.iter();
        self.details.places.extend(moved.map(|&(r, s, a, b)| (r + base, s, a + from, b + from)));
        self.details.latest = vec![(0, 0); self.passed.len()];
        self.repaired.extend(other.repaired.iter().map(|&(r, s, worst)| (r + base, s, worst)));
    }

    /// The detail of a scorer's failure in a row, where it was kept.
    pub fn detail(&self, row: usize, scorer: usize) -> Option<&str> {
        self.details.get(u32::try_from(row).ok()?, u32::try_from(scorer).ok()?)
    }

    fn repaired(&self, row: usize, scorer: usize) -> Option<Severity> {
        let key = (u32::try_from(row).ok()?, u32::try_from(scorer).ok()?);
        let at =
            self.repaired.binary_search_by_key(&key, |&(row, scorer, _)| (row, scorer)).ok()?;
        let known = [Severity::Lossless, Severity::Guess, Severity::Lossy];
        known.into_iter().find(|&severity| severity as u8 == self.repaired[at].2)
    }

    /// The columns as plain lists: verdict, combined, reason, passed, score, the details as
    /// (row, scorer, text) and the repairs as (row, scorer, severity).
    pub fn to_parts(&self) -> Parts {
        let details = self.details.places.iter().map(|&(row, scorer, start, end)| {
            (row, scorer, self.details.text.get(start..end).unwrap_or_default().to_owned())
        });
        (
            self.verdict.clone(),
            self.combined.clone(),
            self.reason.clone(),
            self.passed.clone(),
            self.score.clone(),
            details.collect(),
            self.repaired.clone(),
        )
    }

    /// Columns from [`Columns::to_parts`], for a gate with so many scorers; None where the lists
    /// do not fit together.
    pub fn from_parts(parts: Parts, scorers: usize) -> Option<Self> {
        let (verdict, combined, reason, passed, score, details, repaired) = parts;
        let rows = verdict.len();
        let whole = combined.len() == rows
            && reason.len() == rows
            && passed.len() == scorers
            && score.len() == scorers
            && passed.iter().all(|column| column.len() == rows)
            && score.iter().all(|column| column.len() == rows)
            && details.is_sorted_by_key(|&(row, scorer, _)| (row, scorer))
            && details.iter().all(|&(_, scorer, _)| (scorer as usize) < scorers)
            && repaired.is_sorted_by_key(|&(row, scorer, _)| (row, scorer))
            && repaired
                .iter()
                .all(|&(row, scorer, _)| (row as usize) < rows && (scorer as usize) < scorers);
        let details_read = Details::default();
        let mut columns =
            Columns { verdict, combined, reason, passed, score, details: details_read, repaired };
        for (row, scorer, text) in details.into_iter().filter(|_| whole) {
            columns.details.push(row, scorer, &text);
        }
        whole.then_some(columns)
    }

    /// One row as a result of the gate that made the columns.
    pub fn result(&self, gate: &Gate, row: usize) -> Option<GateResult> {
        let verdict = match self.verdict.get(row)? {
            0 => Verdict::Block,
            1 => Verdict::Pass,
            _ => Verdict::Undecided,
        };
        let known = [Reason::BelowThreshold, Reason::OutOfReach, Reason::MissingInput];
        let reason = known.into_iter().find(|&reason| reason as u8 == self.reason[row]);
        let decision = Decision { verdict, combined: self.combined[row], reason };
        if reason == Some(Reason::MissingInput) {
            return Some(gate.missing_input());
        }
        let outcome = |i: usize| Outcome {
            passed: self.passed[i][row] == 1,
            score: self.score[i][row],
            detail: self.detail(row, i).map(|text| text.to_owned().into()),
            repaired: self.repaired(row, i),
        };
        Some(gate.result(decision, (0..self.passed.len()).map(outcome).collect()))
    }

    /// Counts over all rows.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::new(self.passed.len());
        for &verdict in &self.verdict {
            totals.verdicts[usize::from(verdict.min(2))] += 1;
        }
        let missing = Reason::MissingInput as u8;
        totals.missing = self.reason.iter().filter(|&&reason| reason == missing).count() as u64;
        let passes = |column: &Vec<u8>| column.iter().map(|&p| u64::from(p)).sum();
        totals.passed = self.passed.iter().map(passes).collect();
        for &(row, scorer, _) in &self.repaired {
            let passed = self.passed[scorer as usize][row as usize];
            totals.repaired[scorer as usize] += u64::from(passed);
        }
        totals
    }
}
