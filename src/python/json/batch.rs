//! Many texts at once, on threads.

use pyo3::prelude::*;
use pyo3::types::PyList;

use super::super::gate::interruptible;
use super::super::input::{is_missing, iter_texts, thread_count};
use super::build::{Failure, build};
use super::input::Input;
use super::keys::Keys;
use crate::batch::{SMALL, Workers};
use crate::json::{Document, RepairOptions, extract, repair};

/// So many texts are held at a time, and so many bytes of them.
const SLICE: usize = 8192;
const SLICE_BYTES: usize = 32 << 20;

/// The JSON of each text: Python values, or with `as_text` canonical JSON text. `default` stands
/// for a text that is None or holds none.
#[pyfunction]
#[pyo3(signature = (texts, *, repair=false, as_text=false, default=None, threads=None))]
pub(in super::super) fn extract_json_batch<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyAny>,
    repair: bool,
    as_text: bool,
    default: Option<Bound<'py, PyAny>>,
    threads: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let threads = thread_count(threads)?;
    let default = default.unwrap_or_else(|| py.None().into_bound(py));
    let out = PyList::empty(py);
    let mut texts = iter_texts(texts)?.try_iter()?;
    let mut index = 0;
    loop {
        let mut slice = Vec::new();
        let mut bytes = 0;
        while slice.len() < SLICE && bytes < SLICE_BYTES {
            let Some(text) = texts.next() else { break };
            let text = text?;
            slice.push(if is_missing(&text) {
                None
            } else {
                let input = Input::of(&text, &format!("texts[{index}]"))?;
                bytes += input.as_ref().len();
                Some(input)
            });
            index += 1;
        }
        if slice.is_empty() {
            return Ok(out);
        }
        if as_text {
            let work = |text: &[u8]| find(text, repair).map(|document| document.to_json());
            for found in run(py, &slice, threads, &work)? {
                match found {
                    Some(text) => out.append(text)?,
                    None => out.append(&default)?,
                }
            }
        } else {
            let found = run(py, &slice, threads, &|text| find(text, repair))?;
            Keys::with(|keys| append(py, &out, &found, &default, keys))?;
        }
    }
}

fn find(text: &[u8], repaired: bool) -> Option<Document<'_>> {
    if repaired {
        let options = RepairOptions { duplicates: false, ..RepairOptions::default() };
        repair(text, &options).result.ok()
    } else {
        extract(text)
    }
}

fn append(
    py: Python<'_>,
    out: &Bound<'_, PyList>,
    found: &[Option<Document<'_>>],
    default: &Bound<'_, PyAny>,
    keys: &mut Keys,
) -> PyResult<()> {
    for document in found {
        match document.as_ref().map(|document| build(py, document, keys)) {
            Some(Ok(built)) => out.append(built.value)?,
            Some(Err(Failure::Python(error))) => return Err(error),
            Some(Err(Failure::Integer(_))) | None => out.append(default)?,
        }
    }
    Ok(())
}

/// Works on each text without the GIL.
fn run<'t, R: Send>(
    py: Python<'_>,
    texts: &'t [Option<Input>],
    threads: usize,
    work: &(dyn Fn(&'t [u8]) -> Option<R> + Sync),
) -> PyResult<Vec<Option<R>>> {
    let one = |text: &'t Option<Input>| {
        let text = text.as_ref().filter(|text| text.fault.is_none())?;
        work(text.as_ref())
    };
    interruptible(py, threads, |workers: &Workers<'_>| {
        let bytes: usize = texts.iter().flatten().map(|text| text.as_ref().len()).sum();
        let alone = texts.len() < 64 && bytes < SMALL;
        let workers = if alone { workers.alone() } else { *workers };
        let one = |text| (!workers.stopped()).then(|| one(text));
        if workers.threads() == 1 {
            return texts.iter().map(one).collect();
        }
        let size = texts.len().div_ceil(threads * 8).clamp(1, 1024);
        let pieces: Vec<&[Option<Input>]> = texts.chunks(size).collect();
        let part = |i: usize| -> Option<Vec<Option<R>>> {
            pieces.get(i).copied().unwrap_or_default().iter().map(one).collect()
        };
        let mut all = Vec::with_capacity(texts.len());
        for found in workers.run(pieces.len(), &part) {
            all.extend(found??);
        }
        Some(all)
    })
}
