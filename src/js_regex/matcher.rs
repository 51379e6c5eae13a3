//! Back ends C and D: the matcher for lookaround, line anchors and backreferences.
//!
//! Backtracking over an explicit stack. A memoised program keeps a bit per memo slot and position
//! and fails at the second visit, which makes it linear: without backreferences the future of a
//! state does not depend on what was captured. A lookaround is also answered once a position.
//! Every run counts its steps against a budget; there is no clock, so answers do not depend on
//! load.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use super::ast::{Assert, UNBOUNDED};
use super::fold;
use super::program::{Op, Pc, Program, SetTable};
use super::scratch::{Frame, Scratch, UNSET, clear, has, set};
use super::units::{decode, decode_last, is_line_end, is_word};

/// Steps of a run in which nothing can be memoised.
pub(super) const BUDGET: u64 = 5_000_000;
/// Steps of a memoised run: a megabyte of text times a hundred instructions.
pub(super) const MEMO_BUDGET: u64 = 100_000_000;
/// Frames on the stack.
const MAX_FRAMES: usize = 2_000_000;
/// Memo bits that lookarounds have in mind.
const MAX_LOG: usize = 8_000_000;
/// Bytes of the memo.
const MAX_MEMO: usize = 64 << 20;
/// Steps between two looks at the stop flag.
const POLL: u64 = 1 << 16;

/// Why a run has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The budget that ran out.
    Budget(u64),
    Interrupted,
}

/// The answer, and the steps that it took.
pub(super) type Run = (Result<bool, Stop>, u64);

/// Runs a program over CESU-8 or, under u and v, WTF-8.
pub(super) fn run(program: &Program, text: &[u8], stop: Option<&AtomicBool>) -> Run {
    SCRATCH.with(|cell| match cell.try_borrow_mut() {
        Ok(mut scratch) => Matcher::new(program, text, stop, &mut scratch).search(),
        Err(_) => Matcher::new(program, text, stop, &mut Scratch::default()).search(),
    })
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::default());
}

struct Matcher<'m> {
    program: &'m Program,
    text: &'m [u8],
    stop: Option<&'m AtomicBool>,
    scratch: &'m mut Scratch,
    memoised: bool,
    steps: u64,
    budget: u64,
    poll_at: u64,
}

/// Where to go on, or that the way failed.
enum Next {
    At(Pc, usize),
    Fail,
    Matched,
}

impl<'m> Matcher<'m> {
    fn new(
        program: &'m Program,
        text: &'m [u8],
        stop: Option<&'m AtomicBool>,
        scratch: &'m mut Scratch,
    ) -> Self {
        let words = usize::try_from(program.slots)
            .unwrap_or(usize::MAX)
            .saturating_mul(text.len() + 1)
            .div_ceil(64);
        let memoised = program.memoised && words.saturating_mul(16) <= MAX_MEMO;
        let budget = if memoised { MEMO_BUDGET } else { BUDGET };
        scratch.reset(if memoised { words } else { 0 }, program.registers);
        Matcher { program, text, stop, scratch, memoised, steps: 0, budget, poll_at: POLL }
    }

    fn search(mut self) -> Run {
        let mut at = 0;
        let answer = loop {
            match self.program.first.as_ref() {
                Some(first) if !self.program.anchored => match self.skip(first, at) {
                    Some(next) => at = next,
                    None => break Ok(false),
                },
                _ => {}
            }
            match self.run_at(at) {
                Ok(false) if !self.program.anchored && at < self.text.len() => {
                    at += self.next(at).1;
                }
                answer => break answer,
            }
        };
        self.scratch.shrink();
        (answer, self.steps)
    }

    /// The next position whose character is in the set.
    fn skip(&mut self, first: &SetTable, mut at: usize) -> Option<usize> {
        let start = at;
        let at_word = self.program.at_word;
        let found = loop {
            let Some(&byte) = self.text.get(at) else { break None };
            let (c, width) = if byte < 0x80 { (u32::from(byte), 1) } else { self.next(at) };
            let inside_word = |at: usize| at > 0 && is_word(u32::from(self.text[at - 1]));
            if first.contains(c) && !(at_word && inside_word(at)) {
                break Some(at);
            }
            at += width;
        };
        self.steps += (at - start) as u64 / 16;
        found
    }

    /// Takes all characters of a set from a position on.
    fn run_of(&mut self, set: &SetTable, mut at: usize) -> usize {
        let start = at;
        while let Some(&byte) = self.text.get(at) {
            let (c, width) = if byte < 0x80 { (u32::from(byte), 1) } else { self.next(at) };
            if !set.contains(c) {
                break;
            }
            at += width;
        }
        self.steps += (at - start) as u64 / 8;
        at
    }

    /// Runs from one position of the text.
    fn run_at(&mut self, start: usize) -> Result<bool, Stop> {
        let (mut pc, mut at): (Pc, usize) = (0, start);
        loop {
            self.steps += 1;
            if self.steps >= self.poll_at {
                self.poll()?;
            }
            let Some(op) = self.program.ops.get(pc as usize) else { return Ok(false) };
            match self.step(op, pc, at) {
                Next::At(next, position) => (pc, at) = (next, position),
                Next::Matched => return Ok(true),
                Next::Fail => match self.backtrack() {
                    Some((next, position)) => (pc, at) = (next, position),
                    None => return Ok(false),
                },
            }
        }
    }

    fn poll(&mut self) -> Result<(), Stop> {
        let logged = self.scratch.path.len() + self.scratch.marked.len();
        if self.steps > self.budget || self.scratch.stack.len() > MAX_FRAMES || logged > MAX_LOG {
            return Err(Stop::Budget(self.budget));
        }
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(Stop::Interrupted);
        }
        self.poll_at = (self.steps + POLL).min(self.budget + 1);
        Ok(())
    }

    #[inline]
    fn step(&mut self, op: &Op, pc: Pc, at: usize) -> Next {
        match op {
            Op::Set { set, back } => {
                let (c, width) = if *back { self.previous(at) } else { self.next(at) };
                let fits = self.program.sets.get(*set as usize).is_some_and(|s| s.contains(c));
                match (width > 0 && fits, *back) {
                    (true, false) => Next::At(pc + 1, at + width),
                    (true, true) => Next::At(pc + 1, at - width),
                    _ => Next::Fail,
                }
            }
            Op::Run(set) => {
                let program = self.program;
                let end = program.sets.get(*set as usize).map_or(at, |set| self.run_of(set, at));
                Next::At(pc + 1, end)
            }
            Op::Bytes { bytes, back } => self.literal(bytes, *back, pc, at),
            Op::Split(first, second) => {
                self.branch(*second, at);
                Next::At(*first, at)
            }
            Op::Jump(next) => Next::At(*next, at),
            Op::Memo(slot) if self.memoised => self.memo(*slot, pc, at),
            Op::Memo(_) => Next::At(pc + 1, at),
            Op::Assert(kind) if self.holds(*kind, at) => Next::At(pc + 1, at),
            Op::Assert(_) | Op::Fail => Next::Fail,
            Op::Look { .. } => self.look(op, pc, at),
            Op::LookEnd => self.look_succeeds(),
            Op::Save(register) => {
                self.set_register(*register, at);
                Next::At(pc + 1, at)
            }
            Op::Reset(from, to) => {
                for register in *from..*to {
                    if self.register(register) != UNSET {
                        self.set_register(register, UNSET);
                    }
                }
                Next::At(pc + 1, at)
            }
            Op::BackRef { group, back } => self.back_reference(*group, *back, pc, at),
            Op::Zero(register) => {
                self.set_register(*register, 0);
                Next::At(pc + 1, at)
            }
            Op::Add(register) => {
                self.set_register(*register, self.register(*register).wrapping_add(1));
                Next::At(pc + 1, at)
            }
            Op::Count { counter, min, max, greedy, exit } => {
                self.count(*counter, (*min, *max), *greedy, *exit, pc, at)
            }
            Op::Progress { mark, counted } => self.progress(*mark, *counted, pc, at),
            Op::Match => Next::Matched,
        }
    }

    fn branch(&mut self, pc: Pc, at: usize) {
        let path = self.scratch.path.len();
        self.scratch.stack.push(Frame::Branch { pc, at, path });
    }

    /// Takes frames off the stack until one offers a way on.
    fn backtrack(&mut self) -> Option<(Pc, usize)> {
        while let Some(frame) = self.scratch.stack.pop() {
            match frame {
                Frame::Branch { pc, at, path } => {
                    self.scratch.path.truncate(path);
                    return Some((pc, at));
                }
                Frame::Undo { register, value } => self.restore(register, value),
                Frame::Look { pc, at, path, marked } => {
                    self.scratch.looks.pop();
                    self.scratch.path.truncate(path);
                    self.scratch.marked.truncate(marked);
                    if let Some(Op::Look { next, negative, memo, .. }) =
                        self.program.ops.get(pc as usize)
                    {
                        self.remember_look(*memo, at, false);
                        if *negative {
                            return Some((*next, at));
                        }
                    }
                }
            }
        }
        None
    }

    fn literal(&self, bytes: &[u8], back: bool, pc: Pc, at: usize) -> Next {
        let width = bytes.len();
        if back {
            let begins =
                at.checked_sub(width).filter(|&from| self.text.get(from..at) == Some(bytes));
            begins.map_or(Next::Fail, |from| Next::At(pc + 1, from))
        } else if self.text.get(at..at + width) == Some(bytes) {
            Next::At(pc + 1, at + width)
        } else {
            Next::Fail
        }
    }

    fn bit(&self, slot: u32, at: usize) -> usize {
        slot as usize * (self.text.len() + 1) + at
    }

    fn memo(&mut self, slot: u32, pc: Pc, at: usize) -> Next {
        let bit = self.bit(slot, at);
        let scratch = &mut *self.scratch;
        let inside = !scratch.looks.is_empty();
        if has(&scratch.seen, bit) {
            return if inside && has(&scratch.good, bit) {
                self.look_succeeds()
            } else {
                Next::Fail
            };
        }
        set(&mut scratch.seen, bit);
        if inside {
            scratch.path.push(bit);
            if self.program.cyclic_look {
                scratch.marked.push(bit);
            }
        }
        Next::At(pc + 1, at)
    }

    /// Answers a lookaround from the memo, or begins its body.
    fn look(&mut self, op: &Op, pc: Pc, at: usize) -> Next {
        let Op::Look { next, negative, memo, .. } = op else { return Next::Fail };
        let bit = self.bit(*memo, at);
        if self.memoised && has(&self.scratch.seen, bit) {
            let holds = has(&self.scratch.good, bit) != *negative;
            return if holds { Next::At(*next, at) } else { Next::Fail };
        }
        let scratch = &mut *self.scratch;
        scratch.looks.push(scratch.stack.len());
        let (path, marked) = (scratch.path.len(), scratch.marked.len());
        scratch.stack.push(Frame::Look { pc, at, path, marked });
        Next::At(pc + 1, at)
    }

    fn remember_look(&mut self, memo: u32, at: usize, matched: bool) {
        if self.memoised {
            let bit = self.bit(memo, at);
            set(&mut self.scratch.seen, bit);
            if matched {
                set(&mut self.scratch.good, bit);
            }
        }
    }

    /// The body of the innermost lookaround has matched.
    fn look_succeeds(&mut self) -> Next {
        let Some(base) = self.scratch.looks.pop() else { return Next::Fail };
        let Some(&Frame::Look { pc, at, path, marked }) = self.scratch.stack.get(base) else {
            return Next::Fail;
        };
        let Some(Op::Look { next, negative, memo }) = self.program.ops.get(pc as usize) else {
            return Next::Fail;
        };
        if self.memoised {
            self.keep_path(path, marked);
            self.remember_look(*memo, at, true);
        }
        if *negative {
            self.undo_to(base);
            return Next::Fail;
        }
        self.cut(base);
        Next::At(*next, at)
    }

    /// The states on the way to the success lead to it from now on.
    fn keep_path(&mut self, path: usize, marked: usize) {
        let scratch = &mut *self.scratch;
        for bit in scratch.path.drain(path..) {
            set(&mut scratch.good, bit);
        }
        for bit in scratch.marked.drain(marked..) {
            // In an empty loop a state may have failed only because the loop was open.
            if !has(&scratch.good, bit) {
                clear(&mut scratch.seen, bit);
            }
        }
    }

    /// Drops the ways into the body, and keeps what restores registers.
    fn cut(&mut self, base: usize) {
        let stack = &mut self.scratch.stack;
        let mut kept = base;
        for i in base..stack.len() {
            if matches!(stack[i], Frame::Undo { .. }) {
                stack.swap(kept, i);
                kept += 1;
            }
        }
        stack.truncate(kept);
    }

    fn undo_to(&mut self, base: usize) {
        while self.scratch.stack.len() > base {
            if let Some(Frame::Undo { register, value }) = self.scratch.stack.pop() {
                self.restore(register, value);
            }
        }
    }

    fn register(&self, register: u32) -> usize {
        self.scratch.registers.get(register as usize).copied().unwrap_or(UNSET)
    }

    fn restore(&mut self, register: u32, value: usize) {
        if let Some(slot) = self.scratch.registers.get_mut(register as usize) {
            *slot = value;
        }
    }

    fn set_register(&mut self, register: u32, value: usize) {
        let old = self.register(register);
        self.scratch.stack.push(Frame::Undo { register, value: old });
        self.restore(register, value);
    }

    fn count(
        &mut self,
        counter: u32,
        (min, max): (u32, u32),
        greedy: bool,
        exit: Pc,
        pc: Pc,
        at: usize,
    ) -> Next {
        let count = self.register(counter);
        if count >= max as usize && max != UNBOUNDED {
            return Next::At(exit, at);
        }
        if count < min as usize {
            return Next::At(pc + 1, at);
        }
        let (now, later) = if greedy { (pc + 1, exit) } else { (exit, pc + 1) };
        self.branch(later, at);
        Next::At(now, at)
    }

    fn progress(&self, mark: u32, counted: Option<(u32, u32)>, pc: Pc, at: usize) -> Next {
        let demanded = counted.is_some_and(|(counter, min)| self.register(counter) <= min as usize);
        if !demanded && self.register(mark) == at { Next::Fail } else { Next::At(pc + 1, at) }
    }

    fn back_reference(&mut self, group: u32, back: bool, pc: Pc, at: usize) -> Next {
        let (from, to) = (self.register(2 * group), self.register(2 * group + 1));
        let Some(captured) = self.text.get(from..to) else { return Next::At(pc + 1, at) };
        self.steps += captured.len() as u64 / 8;
        if !self.program.ignore_case {
            return self.literal(captured, back, pc, at);
        }
        let (mut left, mut position) = (captured, at);
        while !left.is_empty() {
            let ((a, used), (b, width)) = if back {
                (decode_last(left), decode_last(&self.text[..position]))
            } else {
                (decode(left), decode(&self.text[position..]))
            };
            if width == 0 || used == 0 || !self.same(a, b) {
                return Next::Fail;
            }
            left = if back { &left[..left.len() - used] } else { &left[used..] };
            position = if back { position - width } else { position + width };
        }
        Next::At(pc + 1, position)
    }

    /// Equality under i.
    fn same(&self, a: u32, b: u32) -> bool {
        let canonical = if self.program.code_points {
            fold::canonical_code_point
        } else {
            fold::canonical_unit
        };
        a == b || canonical(a) == canonical(b)
    }

    fn next(&self, at: usize) -> (u32, usize) {
        decode(self.text.get(at..).unwrap_or_default())
    }

    fn previous(&self, at: usize) -> (u32, usize) {
        decode_last(self.text.get(..at).unwrap_or_default())
    }

    fn holds(&self, kind: Assert, at: usize) -> bool {
        let (before, after) = self.text.split_at(at.min(self.text.len()));
        match kind {
            Assert::Start => before.is_empty(),
            Assert::End => after.is_empty(),
            Assert::LineStart => before.is_empty() || is_line_end(decode_last(before).0),
            Assert::LineEnd => after.is_empty() || is_line_end(decode(after).0),
            Assert::Word | Assert::NotWord => {
                let is_word = |b: Option<&u8>| b.is_some_and(|&b| is_word(u32::from(b)));
                (is_word(before.last()) != is_word(after.first())) == (kind == Assert::Word)
            }
            Assert::WordFolded | Assert::NotWordFolded => {
                let is_word = |(c, width): (u32, usize)| {
                    width > 0 && (is_word(c) || c == 0x017F || c == 0x212A)
                };
                let at_edge = is_word(decode_last(before)) != is_word(decode(after));
                at_edge == (kind == Assert::WordFolded)
            }
        }
    }
}
