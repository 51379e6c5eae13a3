//! Threads for a batch.
//!
//! Threads are started for one call and end with it (some tens of microseconds each, against
//! batches of many rows): there is no pool that a fork could break, and no lock held across one.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Under so many bytes the calling thread may do all the work and look up only when it is done.
pub const SMALL: usize = 1 << 20;

/// How often the calling thread looks up while work is done.
const WAKE: Duration = Duration::from_millis(50);

/// A worker's stack: enough for the deepest documents, so that no other is needed.
const STACK: usize = 16 << 20;

/// The most rows between two looks of a thread that works and watches.
const MAX_STRIDE: u32 = 15;

/// Rows are slow, and each is followed by a look, from this time between two looks on.
const SLOW: Duration = Duration::from_millis(2);

/// Watches whether work is to end early.
pub struct Watch<'a> {
    stop: AtomicBool,
    /// Rows until the next look.
    rows: AtomicU32,
    state: Mutex<Watching<'a>>,
}

struct Watching<'a> {
    /// Called about every 50 ms; true ends the work.
    idle: &'a mut (dyn FnMut() -> bool + Send),
    called: Instant,
    looked: Instant,
    stride: u32,
}

impl<'a> Watch<'a> {
    /// `idle` is called on the calling thread about every 50 ms; true ends the work.
    pub fn new(idle: &'a mut (dyn FnMut() -> bool + Send)) -> Self {
        let now = Instant::now();
        let state = Watching { idle, called: now, looked: now, stride: 0 };
        Watch { stop: AtomicBool::new(false), rows: AtomicU32::new(0), state: Mutex::new(state) }
    }

    /// A look at the clock after as many rows as are worth one.
    fn look(&self) {
        let left = self.rows.load(Ordering::Relaxed);
        if left > 0 {
            return self.rows.store(left - 1, Ordering::Relaxed);
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let slow = now.duration_since(state.looked) >= SLOW;
        state.stride = if slow { 0 } else { (2 * state.stride + 1).min(MAX_STRIDE) };
        state.looked = now;
        self.rows.store(state.stride, Ordering::Relaxed);
        if now.duration_since(state.called) >= WAKE {
            self.call(&mut state);
        }
    }

    fn call(&self, state: &mut Watching<'_>) {
        if (state.idle)() {
            self.stop.store(true, Ordering::Relaxed);
        }
        state.called = Instant::now();
    }
}

/// How a batch is spread over threads.
#[derive(Clone, Copy)]
pub struct Workers<'a> {
    threads: usize,
    watch: &'a Watch<'a>,
}

impl<'a> Workers<'a> {
    /// So many threads, at least 1.
    pub fn new(threads: usize, watch: &'a Watch<'a>) -> Self {
        Workers { threads, watch }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The calling thread alone.
    #[must_use]
    pub fn alone(self) -> Self {
        Workers { threads: 1, ..self }
    }

    /// True when the work is to end; to be asked before each row.
    #[inline]
    pub fn stopped(&self) -> bool {
        if self.threads == 1 {
            self.watch.look();
        }
        self.watch.stop.load(Ordering::Relaxed)
    }

    /// Runs `work` for each piece, in any order, and gives the results in the order of the pieces;
    /// a piece that was not run because the work was ended is None.
    ///
    /// One thread is the calling one, which has the texts in its caches.
    pub fn run<R: Send>(
        &self,
        pieces: usize,
        work: &(dyn Fn(usize) -> R + Sync),
    ) -> Vec<Option<R>> {
        if self.threads == 1 {
            return (0..pieces).map(|piece| (!self.stopped()).then(|| work(piece))).collect();
        }
        let next = AtomicUsize::new(0);
        let (done, finished) = channel();
        let mut results: Vec<Option<R>> = (0..pieces).map(|_| None).collect();
        let worker = |done: std::sync::mpsc::Sender<(usize, R)>| {
            loop {
                let piece = next.fetch_add(1, Ordering::Relaxed);
                if piece >= pieces || self.stopped() {
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
            let mut state = self.watch.state.lock().unwrap_or_else(PoisonError::into_inner);
            loop {
                let wake = state.called + WAKE;
                match finished.recv_timeout(wake.saturating_duration_since(Instant::now())) {
                    Ok((piece, result)) => results[piece] = Some(result),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                if Instant::now() >= wake {
                    self.watch.call(&mut state);
                }
            }
        });
        // No thread could be started: the calling thread does what is left.
        for (piece, result) in results.iter_mut().enumerate() {
            if result.is_none() && !self.stopped() {
                *result = Some(work(piece));
            }
        }
        results
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
    use super::*;

    #[test]
    fn results_come_in_order() {
        let mut idle = || false;
        let watch = Watch::new(&mut idle);
        for threads in [1, 3] {
            let found = Workers::new(threads, &watch).run(9, &|i| i * 2);
            assert_eq!(found, (0..9).map(|i| Some(i * 2)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn idle_is_called_while_results_come_fast() {
        for threads in [1, 2] {
            let mut woken = 0;
            let mut idle = || {
                woken += 1;
                false
            };
            let watch = Watch::new(&mut idle);
            Workers::new(threads, &watch).run(300, &|_| thread::sleep(Duration::from_millis(1)));
            assert!(woken > 0, "{threads} threads");
        }
    }

    #[test]
    fn idle_ends_the_work() {
        for threads in [1, 2] {
            let mut idle = || true;
            let watch = Watch::new(&mut idle);
            let work = |_| thread::sleep(Duration::from_millis(4));
            let found = Workers::new(threads, &watch).run(1000, &work);
            let done = found.iter().filter(|r| r.is_some()).count();
            assert!(done < 500, "{done} pieces of {threads} threads");
        }
    }

    #[test]
    fn slow_rows_are_each_followed_by_a_look() {
        let mut idle = || true;
        let watch = Watch::new(&mut idle);
        let workers = Workers::new(1, &watch);
        let fast = (0..100_000).take_while(|_| !workers.stopped()).count();
        let mut slow = 0;
        while !workers.stopped() {
            slow += 1;
            thread::sleep(Duration::from_millis(60));
        }
        assert!(fast == 100_000 || slow == 0);
        assert!(slow <= MAX_STRIDE as usize + 2, "{slow} rows of 60 ms");
    }
}
