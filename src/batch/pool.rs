//! Threads for a batch.
//!
//! Threads are started for one call and end with it (some tens of microseconds each, against
//! batches of many rows): there is no pool that a fork could break, and no lock held across one.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How often the calling thread looks up while work is done.
const WAKE: Duration = Duration::from_millis(50);

/// A worker's stack: enough for the deepest documents, so that no other is needed.
const STACK: usize = 16 << 20;

/// How a batch is spread over threads.
pub struct Workers<'a> {
    /// The number of threads, at least 1.
    pub threads: usize,
    /// Raised to end the work early.
    pub stop: &'a AtomicBool,
}

impl Workers<'_> {
    /// Runs `work` for each piece, in any order, and gives the results in the order of the pieces;
    /// a piece that was not run because of `stop` is None. `idle` is called about every 50 ms,
    /// however fast results come.
    ///
    /// One thread is the calling one, which has the texts in its caches; it looks up between
    /// pieces.
    pub fn run<R: Send>(
        &self,
        pieces: usize,
        work: &(dyn Fn(usize) -> R + Sync),
        idle: &mut dyn FnMut(),
    ) -> Vec<Option<R>> {
        if self.threads == 1 {
            return self.run_here(pieces, work, idle);
        }
        let next = AtomicUsize::new(0);
        let (done, finished) = channel();
        let mut results: Vec<Option<R>> = (0..pieces).map(|_| None).collect();
        let worker = |done: std::sync::mpsc::Sender<(usize, R)>| {
            loop {
                let piece = next.fetch_add(1, Ordering::Relaxed);
                if piece >= pieces || self.stop.load(Ordering::Relaxed) {
                    return;
                }
                if done.send((piece, work(piece))).is_err() {
                    return;
                }
            }
        };
        let worker = &worker;
        thread::scope(|scope| {
            for _ in 0..self.threads.min(pieces) {
                let done = done.clone();
                let start = move || worker(done);
                if thread::Builder::new().stack_size(STACK).spawn_scoped(scope, start).is_err() {
                    break;
                }
            }
            drop(done);
            let mut wake = Instant::now() + WAKE;
            loop {
                match finished.recv_timeout(wake.saturating_duration_since(Instant::now())) {
                    Ok((piece, result)) => results[piece] = Some(result),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                if Instant::now() >= wake {
                    idle();
                    wake = Instant::now() + WAKE;
                }
            }
        });
        // No thread could be started: the calling thread does what is left.
        for (piece, result) in results.iter_mut().enumerate() {
            if result.is_none() && !self.stop.load(Ordering::Relaxed) {
                *result = Some(work(piece));
            }
        }
        results
    }

    fn run_here<R>(
        &self,
        pieces: usize,
        work: &dyn Fn(usize) -> R,
        idle: &mut dyn FnMut(),
    ) -> Vec<Option<R>> {
        let mut looked = Instant::now();
        let one = |piece| {
            if looked.elapsed() >= WAKE {
                idle();
                looked = Instant::now();
            }
            (!self.stop.load(Ordering::Relaxed)).then(|| work(piece))
        };
        (0..pieces).map(one).collect()
    }
}

/// The number of threads when the caller names none: `SCOREGATE_NUM_THREADS`, else
/// `RAYON_NUM_THREADS`, else what the machine offers; one in a process forked from another that
/// has scored, since its siblings share the cores.
pub fn default_threads() -> usize {
    let named = |name: &str| {
        let count: usize = std::env::var(name).ok()?.trim().parse().ok()?;
        (count > 0).then_some(count)
    };
    named("SCOREGATE_NUM_THREADS")
        .or_else(|| named("RAYON_NUM_THREADS"))
        .unwrap_or_else(|| if forked() { 1 } else { available() })
}

fn available() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// True in a child of the process that first asked.
fn forked() -> bool {
    static FIRST: AtomicUsize = AtomicUsize::new(0);
    let pid = std::process::id() as usize;
    match FIRST.compare_exchange(0, pid, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => false,
        Err(first) => first != pid,
    }
}

/// Notes the process that loads the library, so that children forked later know themselves.
pub fn note_process() {
    let _ = forked();
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn results_come_in_order_and_idle_is_called() {
        let stop = AtomicBool::new(false);
        let workers = Workers { threads: 3, stop: &stop };
        let woken = Mutex::new(0);
        let work = |i: usize| {
            thread::sleep(Duration::from_millis(40));
            i * 2
        };
        let found = workers.run(9, &work, &mut || *woken.lock().unwrap() += 1);
        assert_eq!(found, (0..9).map(|i| Some(i * 2)).collect::<Vec<_>>());
        let _ = *woken.lock().unwrap();
    }

    #[test]
    fn idle_is_called_while_results_come_fast() {
        let stop = AtomicBool::new(false);
        let workers = Workers { threads: 2, stop: &stop };
        let mut woken = 0;
        let work = |_| thread::sleep(Duration::from_millis(1));
        workers.run(300, &work, &mut || woken += 1);
        assert!(woken > 0);
    }

    #[test]
    fn a_raised_stop_ends_the_work() {
        let stop = AtomicBool::new(false);
        let workers = Workers { threads: 2, stop: &stop };
        let found = workers.run(100, &|_| stop.store(true, Ordering::Relaxed), &mut || ());
        assert!(found.iter().filter(|r| r.is_some()).count() <= 2);
    }
}
