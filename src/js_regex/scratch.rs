//! The memory of the matcher: its stack, its registers and its memo.

use super::program::Pc;

/// Elements of a buffer that a thread keeps between runs.
const KEPT: usize = 1 << 16;
/// A register without a value.
pub(super) const UNSET: usize = usize::MAX;

/// Buffers that are reused from run to run.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) stack: Vec<Frame>,
    pub(super) registers: Vec<usize>,
    /// The stack indices of the lookarounds that are being answered.
    pub(super) looks: Vec<usize>,
    /// Memo bits: states that were entered.
    pub(super) seen: Vec<u64>,
    /// Memo bits of states in lookaround bodies that lead to success.
    pub(super) good: Vec<u64>,
    /// Memo bits on the way to the current state, inside lookarounds.
    pub(super) path: Vec<usize>,
    /// All memo bits set inside a lookaround with an empty loop.
    pub(super) marked: Vec<usize>,
}

#[derive(Clone, Copy)]
pub(super) enum Frame {
    /// Another way on.
    Branch { pc: Pc, at: usize, path: usize },
    /// A register to restore.
    Undo { register: u32, value: usize },
    /// A lookaround whose body is above.
    Look { pc: Pc, at: usize, path: usize, marked: usize },
}

impl Scratch {
    pub(super) fn reset(&mut self, words: usize, registers: usize) {
        self.stack.clear();
        self.looks.clear();
        self.path.clear();
        self.marked.clear();
        self.registers.clear();
        self.registers.resize(registers, UNSET);
        self.seen.clear();
        self.seen.resize(words, 0);
        self.good.clear();
        self.good.resize(words, 0);
    }

    /// Gives large buffers back.
    pub(super) fn shrink(&mut self) {
        self.stack.clear();
        self.stack.shrink_to(KEPT);
        for buffer in [&mut self.seen, &mut self.good] {
            buffer.clear();
            buffer.shrink_to(KEPT);
        }
        for buffer in [&mut self.registers, &mut self.looks, &mut self.path, &mut self.marked] {
            buffer.clear();
            buffer.shrink_to(KEPT);
        }
    }
}

pub(super) fn has(bits: &[u64], bit: usize) -> bool {
    bits.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
}

pub(super) fn set(bits: &mut [u64], bit: usize) {
    if let Some(word) = bits.get_mut(bit / 64) {
        *word |= 1 << (bit % 64);
    }
}

pub(super) fn clear(bits: &mut [u64], bit: usize) {
    if let Some(word) = bits.get_mut(bit / 64) {
        *word &= !(1 << (bit % 64));
    }
}
