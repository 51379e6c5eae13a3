//! The instructions of the matcher, and their compilation from the syntax tree.
//!
//! Lookbehind bodies are compiled right to left. A pattern without backreferences gets [`Op::Memo`]
//! instructions where control flow joins, which makes the matcher linear; small counted loops are
//! copied out, large ones become counters (and then nothing is memoised, since a counter is part
//! of the state).

use super::ast::{Assert, Ast, Node, Repeat, UNBOUNDED};
use super::first::{begins_at_word, first, first_of, is_word_set};
use super::set::CharSet;
use crate::text::push_scalar;

/// Instructions that a counted loop may be copied out to.
const MAX_COPIES: u64 = 2_000;
/// Instructions of a whole program above which loops are not copied out.
const MAX_COPIED_PROGRAM: usize = 20_000;

/// Nodes behind a loop that are looked at for what ends it.
const LOOK_AHEAD: usize = 4;

pub(super) type Pc = u32;

#[derive(Clone, Debug)]
pub(super) enum Op {
    /// The bytes that follow (or precede, right to left) the position.
    Bytes {
        bytes: Box<[u8]>,
        back: bool,
    },
    /// One character of a set of the program.
    Set {
        set: u32,
        back: bool,
    },
    /// All characters of a set that follow: what comes behind cannot begin with one of them.
    Run(u32),
    Assert(Assert),
    Jump(Pc),
    /// Tries the first target, later the second.
    Split(Pc, Pc),
    /// Fails where the slot was seen at this position.
    Memo(u32),
    /// Runs the body behind it, then goes on at `next` from the same position.
    Look {
        next: Pc,
        negative: bool,
        memo: u32,
    },
    LookEnd,
    /// Saves the position in a register.
    Save(u32),
    /// Unsets the registers from the first up to the second.
    Reset(u32, u32),
    BackRef {
        group: u32,
        back: bool,
    },
    /// Sets a counter to zero.
    Zero(u32),
    Add(u32),
    /// Enters the body behind it or leaves to `exit`, as the counter says.
    Count {
        counter: u32,
        min: u32,
        max: u32,
        greedy: bool,
        exit: Pc,
    },
    /// Fails where an iteration that was not demanded has consumed nothing since `mark`.
    Progress {
        mark: u32,
        counted: Option<(u32, u32)>,
    },
    Fail,
    Match,
}

/// A set with its ASCII members as bits.
#[derive(Debug)]
pub(super) struct SetTable {
    ascii: u128,
    set: CharSet,
}

impl SetTable {
    pub(super) fn new(set: CharSet) -> Self {
        let bits = (0..128).filter(|&c| set.contains(c)).fold(0, |bits, c| bits | 1_u128 << c);
        SetTable { ascii: bits, set }
    }

    #[inline]
    pub(super) fn contains(&self, c: u32) -> bool {
        if c < 128 { self.ascii >> c & 1 == 1 } else { self.set.contains(c) }
    }
}

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) ops: Vec<Op>,
    pub(super) sets: Vec<SetTable>,
    /// Memo slots; none are used where `memoised` is false.
    pub(super) slots: u32,
    pub(super) registers: usize,
    pub(super) memoised: bool,
    /// Some lookaround body has a loop that may iterate without consuming.
    pub(super) cyclic_look: bool,
    /// A match can only begin at the start of the text.
    pub(super) anchored: bool,
    /// What a match must begin with, where that is known.
    pub(super) first: Option<SetTable>,
    /// A match begins with a word character, at the start of a word.
    pub(super) at_word: bool,
    pub(super) ignore_case: bool,
    pub(super) code_points: bool,
}

impl Program {
    /// Compiles a pattern.
    pub(super) fn new(ast: &Ast, ignore_case: bool, code_points: bool) -> Self {
        let memoised = !ast.has_backref && !needs_counter(&ast.root);
        let captures = if ast.has_backref { 2 * (ast.groups + 1) } else { 0 };
        let mut compiler = Compiler {
            ops: Vec::new(),
            sets: Vec::new(),
            slots: 0,
            registers: captures,
            memoised,
            captures: ast.has_backref,
            cyclic: false,
        };
        compiler.node(&ast.root, false, None);
        compiler.ops.push(Op::Match);
        let anchored = match &ast.root {
            Node::Assert(Assert::Start) => true,
            Node::Cat(nodes) => matches!(nodes.first(), Some(Node::Assert(Assert::Start))),
            _ => false,
        };
        let first = first(&ast.root);
        let at_word = begins_at_word(&ast.root) && first.as_ref().is_some_and(is_word_set);
        Program {
            ops: compiler.ops,
            sets: compiler.sets,
            slots: compiler.slots,
            registers: usize::try_from(compiler.registers).unwrap_or(0),
            memoised,
            cyclic_look: compiler.cyclic,
            anchored,
            first: first.map(SetTable::new),
            at_word,
            ignore_case,
            code_points,
        }
    }
}

impl Program {
    /// Bytes of memory, roughly.
    pub(super) fn memory(&self) -> usize {
        let sets = self.sets.iter().map(|table| 64 + 8 * table.set.ranges().len());
        self.ops.len() * std::mem::size_of::<Op>() + sets.sum::<usize>()
    }
}

/// The instructions that a node compiles to, roughly.
fn size(node: &Node) -> u64 {
    let sum = |nodes: &[Node]| nodes.iter().fold(0, |n: u64, x| n.saturating_add(2 + size(x)));
    match node {
        Node::Cat(nodes) | Node::Alt(nodes) => sum(nodes),
        Node::Group(body, _) => size(body).saturating_add(2),
        Node::Look(look) => size(&look.body).saturating_add(2),
        Node::Repeat(r) => {
            let (copies, body) = (copies(r), size(&r.body));
            if copies.saturating_mul(body) <= MAX_COPIES {
                copies.saturating_mul(body.saturating_add(2))
            } else {
                body.saturating_add(4)
            }
        }
        _ => 1,
    }
}

fn copies(r: &Repeat) -> u64 {
    u64::from(if r.max == UNBOUNDED { r.min.saturating_add(1) } else { r.max })
}

fn is_copied_out(r: &Repeat) -> bool {
    copies(r).saturating_mul(size(&r.body)) <= MAX_COPIES
}

/// True where some loop needs a counter, or the program would be too large without one.
fn needs_counter(root: &Node) -> bool {
    root.any(&|n| matches!(n, Node::Repeat(r) if !is_copied_out(r)))
        || size(root) > MAX_COPIED_PROGRAM as u64
}

struct Compiler {
    ops: Vec<Op>,
    sets: Vec<SetTable>,
    slots: u32,
    registers: u32,
    memoised: bool,
    captures: bool,
    cyclic: bool,
}

impl Compiler {
    fn pc(&self) -> Pc {
        Pc::try_from(self.ops.len()).unwrap_or(Pc::MAX)
    }

    fn push(&mut self, op: Op) -> usize {
        self.ops.push(op);
        self.ops.len() - 1
    }

    fn register(&mut self) -> u32 {
        self.registers += 1;
        self.registers - 1
    }

    fn memo(&mut self) {
        if self.memoised {
            self.push(Op::Memo(self.slots));
            self.slots += 1;
        }
    }

    /// Compiles a node. `follow` are the characters that must come behind it, where that is known.
    fn node(&mut self, node: &Node, back: bool, follow: Option<&CharSet>) {
        match node {
            Node::Empty => {}
            Node::Char(c) => self.char(*c, back),
            Node::Set(set) if set.is_empty() => {
                self.push(Op::Fail);
            }
            Node::Set(set) => {
                let set = self.set(set);
                self.push(Op::Set { set, back });
            }
            Node::Cat(nodes) if back => nodes.iter().rev().for_each(|n| self.node(n, true, None)),
            Node::Cat(nodes) => self.sequence(nodes, follow),
            Node::Alt(branches) => self.alternation(branches, back, follow),
            Node::Group(body, _) if !self.captures => self.node(body, back, follow),
            Node::Group(body, index) => {
                let (enter, leave) = if back { (1, 0) } else { (0, 1) };
                self.push(Op::Save(2 * index + enter));
                self.node(body, back, follow);
                self.push(Op::Save(2 * index + leave));
            }
            Node::Look(look) => {
                let memo = self.slots;
                self.slots += u32::from(self.memoised);
                let at = self.push(Op::Fail);
                self.node(&look.body, !look.ahead, None);
                self.push(Op::LookEnd);
                let (next, negative) = (self.pc(), look.negative);
                self.cyclic |= self.memoised && is_cyclic(&look.body);
                self.ops[at] = Op::Look { next, negative, memo };
            }
            Node::BackRef(group) => {
                self.push(Op::BackRef { group: *group, back });
            }
            Node::Assert(kind) => {
                self.push(Op::Assert(*kind));
            }
            Node::Repeat(r) => self.repeat(r, back, follow),
        }
    }

    /// The number of the set; copies of one loop body share it.
    fn set(&mut self, set: &CharSet) -> u32 {
        let recent = self.sets.len().saturating_sub(16);
        let known = self.sets.iter().skip(recent).position(|table| table.set == *set);
        let index = known.map_or(self.sets.len(), |at| at + recent);
        if known.is_none() {
            self.sets.push(SetTable::new(set.clone()));
        }
        u32::try_from(index).unwrap_or(u32::MAX)
    }

    fn char(&mut self, c: u32, back: bool) {
        let mut bytes = Vec::new();
        push_scalar(&mut bytes, c);
        self.push(Op::Bytes { bytes: bytes.into(), back });
    }

    /// Left to right: neighbouring characters become one comparison.
    fn sequence(&mut self, nodes: &[Node], follow: Option<&CharSet>) {
        let mut bytes = Vec::new();
        for (i, node) in nodes.iter().enumerate() {
            if let Node::Char(c) = node {
                push_scalar(&mut bytes, *c);
                continue;
            }
            self.flush(&mut bytes);
            let may_end_in_run = matches!(node, Node::Repeat(_) | Node::Group(..) | Node::Alt(_));
            let behind = if may_end_in_run && !self.memoised {
                let rest = &nodes[i + 1..];
                if rest.len() > LOOK_AHEAD {
                    first_of(&rest[..LOOK_AHEAD], None)
                } else {
                    first_of(rest, follow)
                }
            } else {
                None
            };
            self.node(node, false, behind.as_ref());
        }
        self.flush(&mut bytes);
    }

    fn flush(&mut self, bytes: &mut Vec<u8>) {
        if !bytes.is_empty() {
            self.push(Op::Bytes { bytes: std::mem::take(bytes).into(), back: false });
        }
    }

    fn alternation(&mut self, branches: &[Node], back: bool, follow: Option<&CharSet>) {
        let mut jumps = Vec::new();
        for (i, branch) in branches.iter().enumerate() {
            if i + 1 == branches.len() {
                self.node(branch, back, follow);
                break;
            }
            let split = self.push(Op::Fail);
            self.node(branch, back, follow);
            jumps.push(self.push(Op::Fail));
            self.ops[split] = Op::Split(pc_after(split), self.pc());
        }
        let end = self.pc();
        for jump in jumps {
            self.ops[jump] = Op::Jump(end);
        }
        self.memo();
    }

    fn repeat(&mut self, r: &Repeat, back: bool, follow: Option<&CharSet>) {
        if r.max == 0 {
            return;
        }
        if let Some(set) = self.run_set(r, back, follow) {
            let set = self.set(&set);
            for _ in 0..r.min {
                self.push(Op::Set { set, back });
            }
            self.push(Op::Run(set));
            return;
        }
        if self.memoised || is_copied_out(r) && self.ops.len() < MAX_COPIED_PROGRAM {
            self.copied_loop(r, back);
        } else if (r.min, r.max) == (0, UNBOUNDED) {
            self.star(r, back);
        } else {
            self.counted_loop(r, back);
        }
    }

    /// The set of a loop that can only end where its characters do. Memoised programs go step by
    /// step: their memo stands between the characters.
    fn run_set(&self, r: &Repeat, back: bool, follow: Option<&CharSet>) -> Option<CharSet> {
        if self.memoised || back || r.max != UNBOUNDED || u64::from(r.min) > MAX_COPIES {
            return None;
        }
        let set = match &*r.body {
            Node::Char(c) => CharSet::one(*c),
            Node::Set(set) => set.clone(),
            _ => return None,
        };
        follow?.intersection(&set).is_empty().then_some(set)
    }

    fn copied_loop(&mut self, r: &Repeat, back: bool) {
        for _ in 0..r.min {
            self.iteration(r, back, None);
        }
        if r.max == UNBOUNDED {
            return self.star(r, back);
        }
        let mut exits = Vec::new();
        for _ in r.min..r.max {
            exits.push(self.push(Op::Fail));
            let mark = self.mark(r);
            self.iteration(r, back, mark);
        }
        let end = self.pc();
        for exit in &exits {
            self.ops[*exit] = split(r.greedy, pc_after(*exit), end);
        }
        if !exits.is_empty() {
            self.memo();
        }
    }

    fn star(&mut self, r: &Repeat, back: bool) {
        let head = self.pc();
        self.memo();
        let at = self.push(Op::Fail);
        let mark = self.mark(r);
        self.iteration(r, back, mark);
        self.push(Op::Jump(head));
        self.ops[at] = split(r.greedy, pc_after(at), self.pc());
    }

    /// A register for the check that an iteration consumes something. The memo makes that check
    /// needless: an empty iteration comes back to a seen state.
    fn mark(&mut self, r: &Repeat) -> Option<u32> {
        (!self.memoised && r.body.can_be_empty()).then(|| self.register())
    }

    fn iteration(&mut self, r: &Repeat, back: bool, mark: Option<u32>) {
        if let Some(mark) = mark {
            self.push(Op::Save(mark));
        }
        if self.captures && r.groups.0 < r.groups.1 {
            self.push(Op::Reset(2 * r.groups.0, 2 * r.groups.1));
        }
        self.node(&r.body, back, None);
        if let Some(mark) = mark {
            self.push(Op::Progress { mark, counted: None });
        }
    }

    fn counted_loop(&mut self, r: &Repeat, back: bool) {
        let counter = self.register();
        self.push(Op::Zero(counter));
        let head = self.push(Op::Fail);
        self.push(Op::Add(counter));
        let mark = r.body.can_be_empty().then(|| self.register());
        if let Some(mark) = mark {
            self.push(Op::Save(mark));
        }
        self.iteration(r, back, None);
        if let Some(mark) = mark {
            self.push(Op::Progress { mark, counted: Some((counter, r.min)) });
        }
        self.push(Op::Jump(Pc::try_from(head).unwrap_or(Pc::MAX)));
        let exit = self.pc();
        self.ops[head] = Op::Count { counter, min: r.min, max: r.max, greedy: r.greedy, exit };
    }
}

fn pc_after(at: usize) -> Pc {
    Pc::try_from(at + 1).unwrap_or(Pc::MAX)
}

fn split(greedy: bool, body: Pc, exit: Pc) -> Op {
    if greedy { Op::Split(body, exit) } else { Op::Split(exit, body) }
}

/// True where some loop may iterate without consuming: its states form a cycle.
fn is_cyclic(node: &Node) -> bool {
    node.any(&|n| matches!(n, Node::Repeat(r) if r.max > 1 && r.body.can_be_empty()))
}
