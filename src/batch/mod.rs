//! Scoring many texts.
//!
//! * [`score_texts`]: texts in memory, results in [`Columns`].
//! * [`LineScorer`]: JSON lines in, JSON lines out, in bounded memory.

pub mod arrow;
mod columns;
mod frequent;
mod jsonl;
mod pool;
mod writer;

pub use columns::{Columns, Parts, Totals};
pub use jsonl::{BadLine, Fed, LineOptions, LineScorer, Supplied};
pub use pool::{SMALL, Watch, Workers, default_threads, note_process};
pub use writer::Shown;

use crate::gate::Gate;
use crate::result::Outcome;
use crate::row::Row;
use crate::target::Target;

/// Fewer rows than this are scored on the calling thread.
const SERIAL_ROWS: usize = 500;

/// The texts of a batch and what comes with them.
pub struct Batch<'a, T> {
    /// The texts (WTF-8); None is missing input.
    pub texts: &'a [Option<T>],
    /// The other fields of each row, or none at all.
    pub rows: &'a [Row<'static>],
    /// Outcomes of impure scorers: index of the scorer, one outcome a row.
    pub impure: &'a [(usize, Vec<Outcome<'static>>)],
    /// Whether details of failures are kept.
    pub details: bool,
}

/// Scores texts on several threads; None when the work was ended.
pub fn score_texts<T: AsRef<[u8]> + Sync>(
    gate: &Gate,
    batch: &Batch<'_, T>,
    workers: &Workers<'_>,
) -> Option<Columns> {
    let count = batch.texts.len();
    let names = gate.scorers().len();
    let bytes = || batch.texts.iter().flatten().map(|text| text.as_ref().len()).sum::<usize>();
    if workers.threads() == 1 || count < SERIAL_ROWS && bytes() < SMALL {
        return score_slice(gate, batch, 0..count, &workers.alone());
    }
    let smallest = if count < SERIAL_ROWS { 1 } else { 64 };
    let size = count.div_ceil(workers.threads() * 4).clamp(smallest, 4096);
    let work = |i: usize| {
        let start = i * size;
        score_slice(gate, batch, start..(start + size).min(count), workers)
    };
    let parts = workers.run(count.div_ceil(size), &work);
    let mut all = Columns::new(names);
    all.reserve(count);
    for part in parts {
        all.append(part??);
    }
    Some(all)
}

fn score_slice<T: AsRef<[u8]>>(
    gate: &Gate,
    batch: &Batch<'_, T>,
    range: std::ops::Range<usize>,
    workers: &Workers<'_>,
) -> Option<Columns> {
    let empty = Row::empty();
    let mut columns = Columns::new(gate.scorers().len());
    columns.reserve(range.len());
    let mut outcomes = Vec::new();
    for i in range {
        if workers.stopped() {
            return None;
        }
        let Some(text) = &batch.texts[i] else {
            columns.push_missing();
            continue;
        };
        let target = Target::from_wtf8(text.as_ref());
        let row = batch.rows.get(i).unwrap_or(&empty);
        let impure = |index: usize| {
            let column = batch.impure.iter().find(|(at, _)| *at == index)?;
            column.1.get(i).cloned()
        };
        gate.outcomes(&target, row, &impure, &mut outcomes);
        columns.push(&gate.decide(&outcomes), &outcomes, batch.details);
    }
    Some(columns)
}
